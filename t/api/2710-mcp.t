#!/bin/sh
# SPDX-License-Identifier: ISC
# MCP servers: their tools, and what happens when they misbehave.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
. "$TOP_SRCDIR/t/api/mcp.sh"

server=$TOP_SRCDIR/t/api/mcp-server.sh

# mcp MODES [MEMBERS]: the tools of the bad server.
mcp() {
	mkdir -p server
	printf '{"name": "bad", "mcp": {"command": ["%s"%s], "cwd": "server"}%s}' "$server" \
		"$(printf '%s' "$1" | sed 's/[a-z]\{1,\}/, "&"/g')" "${2:+, $2}"
}

# again TOOLS: a service of its own with these tools, in a folder without traces.
again() {
	[ -z "$SOCKET" ] || serve_stop
	rm -rf server
	mkdir server
	tools_graph "$1"
	api_start --config agentgraph.json
}

logged() { grep -Eq "$1" "$SERVE_ERR"; }
names() { api GET /v1/graph/tools; json '[.data.nodes[0].tools[].name] | join(" ")' "$BODY"; }

# left: how many of the server's processes there are.
left() {
	left_count=0
	for left_pid in $(cat server/pids); do
		gone "$left_pid" || left_count=$((left_count + 1))
	done
	echo "$left_count"
}
none_left() { [ "$(left)" = 0 ]; }

# ---- a server as it should be

again "$(mcp asks)"
api GET /v1/graph/tools
is "$(json '.data | "\(.node_count) \(.tool_count)"' "$BODY")" '1 6' 'all pages of the list are read'
is "$(json '[.data.nodes[0].tools[] | .name + ":" + .source] | join(" ")' "$BODY")" \
	'echo:mcp die:mcp hang:mcp count:mcp big:mcp change:mcp' 'in their order, and their source is mcp'
is "$(printf '%s' "$BODY" | sorted .data.nodes[0].tools[0].parameters)" \
	'{"properties":{"text":{"type":"string"}},"required":[],"type":"object"}' 'their schema is complete'
is "$(told 'echo {"text":"hi"}')" hi 'a tool is called'
is "$(told 'echo {"text":5}')" '! arguments.text: expected a string, found number' \
	'arguments that do not fit are not sent'
is "$(told 'echo {"text":"a"} && echo {"text":"b"} && count')" 'a | b | 1' \
	'calls share one session and keep their order'
is "$(told nothing)" '! unknown tool: nothing' 'an unknown tool is an error result'
is "$(told big | tail -c 301 | tr -d '\n' | wc -c | tr -d ' ')" 300 'a large result arrives'
# shellcheck disable=SC2016 # jq's
is "$(jq -s -c 'sort_by(.id | tostring) | map([.id, (.result // .error.code)])' server/answers)" \
	'[[7,-32601],[8,{"roots":[]}],["p-1",{}]]' 'its own requests are answered or refused'
is "$(told change)" 'done' 'a tool changes the tools'
changed() { [ "$(names)" = 'echo die hang count big later' ]; }
wait_for 30 changed
is "$(names)" 'echo die hang count big later' 'and they are listed again'
is "$(left)" 1 'the server runs'
serve_stop
ok 'wait_for 30 none_left' 'and ends with the service'

# Where none of the variables is set that a server may have, it has none.
printf '#!/bin/sh\nunset PATH HOME USER LANG TZ TMPDIR\nSECRET=s exec %s "$@"\n' "$AGENTGRAPH" >bare
chmod +x bare
whole=$AGENTGRAPH AGENTGRAPH=$WORK/bare
again "$(mcp)"
AGENTGRAPH=$whole
is "$(told 'echo {"text":"hi"}')" hi 'a server needs no variables'
is "$(tr '\0' '\n' <"/proc/$(tail -n 1 server/pids)/environ" | grep -c SECRET)" 0 'and gets none of the service'

# ---- a choice of tools, and a prefix

again "{\"name\": \"x_count\", \"description\": \"\", \"command\": [\"true\"]},
	$(mcp '' '"tools": ["echo", "count"], "prefix": "x_"')"
is "$(names)" 'x_count x_echo' 'an allow-list and a prefix'
is "$(told 'x_echo {"text":"hi"}')" hi 'a tool is called by its name here'
is "$(told 'die')" '! unknown tool: die' 'what is not on the list cannot be called'
is "$(names)" 'x_count x_echo' 'the name of another one is not had twice'
is "$(sed -n "s/.*\[\([0-9]*\)\].*'x_count' is left out.*/\1/p" "$SERVE_ERR" | sort | uniq -c | awk '{print $1}' | sort -u)" 1 \
	'which the log of a process says once'

# ---- bad days

again "$(mcp noise)"
is "$(told 'echo {"text":"hi"}')" 'hi�' 'lines that are no messages are skipped, and a text that was cut is mended'
ok 'logged "mcp bad: INFO a log line"' 'and told in the log'

again "$(mcp round)"
is "$(names)" 'echo count' 'a list whose pages go round is read once'
is "$(wc -l <server/lists | tr -d ' ')" 2 'and the page that comes again is the last'
ok '! logged "is left out"' 'nothing is said of its tools'

again "$(mcp '')"
is "$(told 'echo {"text":"hi"}')" hi 'a server that will die answers first'
like "$(told die)" '^! mcp bad: the server ended' 'its death is the result of the call'
is "$(told 'echo {"text":"hi"} && count')" 'hi | 2' 'it is started again'
kill -9 "$(tail -n 1 server/pids)"
wait_for 30 logged 'signal 9'
is "$(told count)" 3 'also after it was killed'

# Between the end of what it says and its own end there is a while.
again "$(mcp lingers)"
die_slowly() { told die >died; }
in_background dying die_slowly
ok 'wait_for 20 test -e server/lingering' 'a server says no more before it is gone'
is "$(told 'echo {"text":"hi"}')" hi 'who calls then has the next one'
collect dying
is "$(cat died)" '! mcp bad: the server ended (signal 9)' 'and who called before knows what became of it'

again "$(mcp '' '"timeout": 3')"
told count >/dev/null
start=$(date +%s)
is "$(told hang)" '! timed out' 'a server that hangs does not hold up the run'
ok "[ $(($(date +%s) - start)) -lt 45 ]" 'longer than its time-out'
ok 'wait_for 30 grep -q requestId server/cancelled' 'and is told to give up'
is "$(told 'hang && echo {"text":"x"}')" '! timed out | x' 'others are answered meanwhile'

again "$(mcp dumb), {\"name\": \"own\", \"description\": \"\", \"command\": [\"echo\", \"fine\"]}"
start=$(date +%s)
api GET /v1/graph/tools
is "$STATUS $(json '.data.nodes[0] | "\(.tool_count) \(.tools | length)"' "$BODY")" '200 0 0' \
	'a server that never answers: the node has no tools'
ok "[ $(($(date +%s) - start)) -le 45 ]" 'within seconds'
is "$(told own)" fine 'its own tools work'
is "$(told 'echo {"text":"x"}' '"config":{"tool_timeout":1}')" \
	'! unknown tool: echo (a server of tools is not available)' 'those of the server do not'

again "$(mcp stillborn)"
api GET /v1/graph/tools
is "$STATUS $(json '.data.nodes[0].tool_count' "$BODY")" '200 0' 'a server that does not start has no tools'
ok 'wait_for 10 logged "mcp bad: no licence"' 'what it wrote to standard error is in the log'
ok 'wait_for 10 logged "mcp bad: not available: "' 'and that it is not available'

again "$(mcp stillborn), $(mcp stillborn '"prefix": "y_"')"
api GET /v1/graph/tools
ok 'wait_for 10 logged "mcp bad: not available: "' 'of two servers of the same name'
ok 'wait_for 10 logged "mcp bad \(2\): not available: "' 'the log tells which one'

for mode in flood long; do
	again "$(mcp $mode)"
	api GET /v1/graph/tools
	is "$STATUS $(json '.data.nodes[0].tool_count' "$BODY")" '200 0' "a server that does nothing but write ($mode)"
	api GET /ping
	is "$STATUS" 200 'does not hold up the service'
	ok "[ $(wc -l <"$SERVE_ERR") -lt 200 ]" 'nor fill the log'
done

again "$(mcp 'deaf children')"
is "$(told 'echo {"text":"hi"}')" hi 'a server with children'
is "$(left)" 2 'which run'
serve_stop
ok 'wait_for 30 none_left' 'a server that ignores all signs is killed, with its group'
kill "$(cat server/strays)" 2>/dev/null || : # one that left the group

done_testing
