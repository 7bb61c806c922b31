#!/bin/sh
# SPDX-License-Identifier: ISC
# The agents of examples/, in a running service.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# example NAME: a copy of it is what is served.
example() {
	cp -r "$TOP_SRCDIR/examples/$1" .
	chmod -R u+w "$1"
	export GRAPH_PATH="$WORK/$1/agentgraph.json"
}

# ---- C

example c-agent
# shellcheck disable=SC2086 # flags are words
${CC:-cc} -std=c11 -Wall -Wextra ${CPPFLAGS:-} -I"$TOP_SRCDIR/common" -shared -fPIC -o c-agent/agent.so c-agent/agent.c -lcjson
ok $? 'the plug-in is built with the public header alone'
invoke 21.5 "$(thread c),\"response_granularity\":\"full\""
is "$STATUS" 200 'it is served'
facts <<'TABLE'
it calls its tool and says the result :: .data.messages[1:] | map(.role) == ["assistant", "tool", "assistant"] and (.[2] | text == "70.7 °F. Readings so far: 1.")
its field is in the state :: .data.state.readings == 1
TABLE
invoke -300 "$(thread c)"
facts <<'TABLE'
a tool's failure reaches the node :: [.data.messages[2].content[0].is_error, (last | text)] == [true, "That went wrong: -300 is below absolute zero."]
TABLE
invoke 0 "$(thread c)"
facts <<'TABLE'
the state grows with the thread :: last | text == "32 °F. Readings so far: 2."
TABLE
invoke cold
facts <<'TABLE'
anything else is answered by a sentence :: said[1] == "Give me a number of degrees Celsius."
TABLE
api GET /v1/graph
facts <<'TABLE'
the graph is told :: [.data.info.state_type, [.data.nodes[].id]] == ["ThermometerState", ["START", "agent", "tools", "END"]]
TABLE
api GET /v1/graph/tools
facts <<'TABLE'
the tool as well :: .data.nodes[0].tools[0] | [.name, .source, .parameters.required] == ["fahrenheit", "local", ["celsius"]]
TABLE
serve_stop

# ---- branches, maps, subgraphs

example research-agent
invoke berlin
facts <<'TABLE'
searches side by side meet at the join :: said[1:] == ["People: Konrad Zuse, Berlin. Places: Technikmuseum, Berlin. Events: 1941: the Z3 is shown in Berlin."]
TABLE
invoke paris
facts <<'TABLE'
what is not found is told :: said[1:] == ["People: nothing. Places: nothing. Events: nothing."]
TABLE
serve_stop
example documents-agent
invoke go "$(thread d)"
facts <<'TABLE'
each document is read, in order :: said[1:] == ["20 words: [\"first.txt: 3\",\"second.txt: 12\",\"third.txt: 5\"]"]
TABLE
rm documents-agent/second.txt
ln -s nowhere documents-agent/second.txt
invoke go
facts <<'TABLE'
one that cannot be read is passed over :: said[1:] == ["I could not read second.txt.", "8 words: [\"first.txt: 3\",\"third.txt: 5\"]"]
TABLE
serve_stop
example desks-agent
invoke 'My lamp is broken'
facts <<'TABLE'
a request goes to the desk that it concerns :: said[1:] == ["Switch your device off and on again.", "This was said by: [\"technical\"]"]
TABLE
invoke 'My invoice is wrong and the lamp is broken' "$(thread t)"
facts <<'TABLE'
or to both, one of which asks :: [.data.meta.interrupt.node, .data.meta.interrupt.value.question, said[1:]] == ["billing too/number", "Which invoice?", ["Two desks look at this.", "Switch what you paid for off and on again."]]
TABLE
resume 17 t '"response_granularity":"full"'
facts <<'TABLE'
its answer goes on inside :: [said, .data.state.asked, .data.state.invoice] == [["Invoice 17 will be looked at.", "This was said by: [\"billing\",\"technical\"]"], ["billing", "technical"], 17]
TABLE
serve_stop

# ---- shell

example shell-agent
stream 'sum 1 2 39'
chunks <<'TABLE'
the shell agent streams what its script writes :: finals | texts == ["42\n"]
TABLE
invoke 'disk'
is "$STATUS" 200 'it tells of the disk'
# shellcheck disable=SC2016 # for another shell
invoke '$(touch pwned); `touch pwned` \"; touch pwned'
is "$STATUS" 200 'what the user says is text'
[ ! -e pwned ] && [ ! -e shell-agent/pwned ]
ok $? 'and no command'
invoke ''
is "$STATUS|$(json .error_code "$BODY")" '500|NODE_ERROR' 'without a text it fails'
like "$(json .detail "$BODY")" 'there is no text to answer' 'with its own words'
serve_stop

# ---- JSON

example json-agent
invoke 'weekday 2026-09-02'
facts <<'TABLE'
the JSON agent uses its tool :: last | text == "It is: Wednesday"
TABLE
invoke 'ticket the printer smokes' "$(thread j)"
facts <<'TABLE'
it asks before it opens a ticket :: .data.meta.interrupt | [.reason, .value] == ["approval", {"question": "Open this ticket?", "ticket": "ticket the printer smokes"}]
TABLE
resume '"yes"' j '"response_granularity":"partial"'
facts <<'TABLE'
then opens it :: [(last | text), .data.state.tickets] == ["The ticket is open.", ["ticket the printer smokes"]]
TABLE
invoke 'ticket another' "$(thread j)"
resume null j
facts <<'TABLE'
or not :: last | text == "No ticket was opened; the answer was: null" or text == "No ticket was opened; the answer was: "
TABLE
invoke tickets "$(thread j)"
like "$(json 'last(.data.messages[]).content[0].text' "$BODY")" 'the printer smokes' 'it lists the open ones'
invoke help
like "$(json 'last(.data.messages[]).content[0].text' "$BODY")" '^Hello anonymous' 'and helps'
serve_stop

# ---- Python

if command -v python3 >/dev/null; then
	example python-agent
	invoke 'add milk' "$(thread p)"
	facts <<'TABLE'
the Python agent keeps a list :: last | text == "Noted: milk. That makes 1."
TABLE
	invoke 'add grüne \"Äpfel\"' "$(thread p),\"response_granularity\":\"full\""
	facts <<'TABLE'
in the state :: .data.state.items == ["milk", "grüne \"Äpfel\""]
TABLE
	invoke clear "$(thread p)"
	facts <<'TABLE'
it asks before it throws the list away :: .data.meta.interrupt.reason == "approval" and (.data.meta.interrupt.value.items | length == 2)
TABLE
	kept=$STATE
	serve_stop
	STATE=$kept
	resume '"yes"' p '"response_granularity":"full"'
	facts <<'TABLE'
and does so after the answer, over a restart :: [(last | text), .data.state.items] == ["The list is empty now.", []]
TABLE
	invoke clear "$(thread p)"
	resume null p
	facts <<'TABLE'
a cancelled question leaves it :: last | text == "The list stays as it is."
TABLE
	invoke list "$(thread p)"
	facts <<'TABLE'
it lists what there is :: last | text == "Nothing to buy."
TABLE
	serve_stop
fi

# ---- plug-ins that cannot be loaded

unset GRAPH_PATH
# refused AGENT PATTERN NAME: no start.
refused() {
	printf '{"agent":"%s"}\n' "$1" >agentgraph.json
	"$AGENTGRAPH" check --state "$WORK/checked" >out 2>&1
	is "$?" 1 "$3 is refused"
	like "$(cat out)" "$2" 'with a sentence that names it'
}
build() {
	# shellcheck disable=SC2086 # flags are words
	printf '%s\n' "$1" | ${CC:-cc} ${CPPFLAGS:-} -I"$TOP_SRCDIR/common" -shared -fPIC -o plugin.so -x c - -lcjson
}
cp c-agent/agent.so good.so
refused none.so:x 'none\.so' 'a plug-in that is not there'
refused good.so:nothing 'nothing' 'a function that it does not have'
printf 'no elf' >text.so
refused text.so:x 'text\.so' 'a file that is no plug-in'
build '#include <agentgraph.h>
int x(ag_graph *g) { ag_graph_edge(g, AG_START, AG_END); return 0; }'
refused plugin.so:x 'plugin\.so' 'a plug-in that states no version'
build 'const unsigned ag_plugin_abi = 999; int x(void *g) { return 0; }'
refused plugin.so:x '999|version' 'one for another version'
build '#include <agentgraph.h>
AG_PLUGIN;
int x(ag_graph *g) { (void)g; return 1; }'
refused plugin.so:x 'plugin\.so' 'one whose function fails'
build '#include <agentgraph.h>
AG_PLUGIN;
int x(ag_graph *g) { ag_graph_edge(g, AG_START, "nowhere"); ag_graph_field(g, "f", "colour", AG_REPLACE, NULL, NULL); return 0; }'
refused plugin.so:x 'nowhere' 'an edge to nowhere'
like "$(cat out)" "field 'f'" 'every mistake is named'
refused 'graph' 'agent' 'an agent without attribute'
refused 'builtin:none' 'none' 'a built-in graph that there is not'

done_testing
