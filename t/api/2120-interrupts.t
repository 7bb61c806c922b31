#!/bin/sh
# SPDX-License-Identifier: ISC
# Nodes with several interrupts, values of every type, and what they say before they ask.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

cat >asks.sh <<'SH'
#!/bin/sh
read -r state
echo '{"delta": "let me "}'
echo '{"message": "let me ask"}'
echo '{"update": {"tries": 1}}'
echo '{"interrupt": {"value": "first"}}'
echo '{"interrupt": {"reason": "confirm", "value": [1, {"two": 2}]}}'
echo '{"interrupt": {}}'
answers=${state##*\"answers\":}
printf '{"message": {"content": "done", "metadata": {"answers": %s}}}\n' "${answers%?}"
SH
cat >value.sh <<'SH'
#!/bin/sh
jq -c '{interrupt: {value: (.user_text | fromjson)}}, {message: "got \(.answers | tojson)"}'
SH
chmod +x asks.sh value.sh
cat >graph.json <<'JSON'
{"asks": {
  "state": {"fields": {"tries": {"type": "integer", "reducer": "add"}}},
  "nodes": {"asks": {"kind": "exec", "command": "./asks.sh"}},
  "edges": [{"from": "START", "to": "asks"}, {"from": "asks", "to": "END"}]},
 "value": {
  "nodes": {"value": {"kind": "exec", "command": "./value.sh"}},
  "edges": [{"from": "START", "to": "value"}, {"from": "value", "to": "END"}]},
 "form": {
  "state": {"fields": {"colour": {"type": "any"}}},
  "nodes": {
    "ask": {"kind": "interrupt", "value": {"for": "{{user_text}}"}, "reason": "colour", "field": "colour",
      "reply": "you said {{answer}}"},
    "tell": {"kind": "reply", "text": "it is {{colour}}"}},
  "edges": [{"from": "START", "to": "ask"}, {"from": "ask", "to": "tell"}, {"from": "tell", "to": "END"}]}}
JSON
serves() { printf '{"agent":"graph.json:%s"}\n' "$1" >agentgraph.json; }

serves asks
invoke go "$(thread t),\"response_granularity\":\"full\""
facts <<'TABLE'
the first interrupt pauses :: .data.meta.interrupt | [.value, .data, .reason, .node] == ["first", {"value": "first"}, "input_required", "asks"]
a paused node's update is not kept :: .data.state.tries == 0
TABLE
first=$(json .data.meta.interrupt.id "$BODY")
resume '"A"' t
facts <<'TABLE'
its answer leads to the second :: .data.meta.interrupt | [.value, .data, .reason] == [[1, {"two": 2}], {"value": [1, {"two": 2}]}, "confirm"]
the thread stays paused :: .data.meta.is_new_thread == false
TABLE
[ "$first" != "$(json .data.meta.interrupt.id "$BODY")" ]
ok $? 'which has another id'
kept=$STATE
serve_stop
STATE=$kept
resume null t
facts <<'TABLE'
after a restart the next answer leads to the third :: .data.meta.interrupt | [.value, .data, .reason] == [null, {}, "input_required"]
TABLE
api POST /v1/graph/invoke "$(run_body "[$(user meanwhile)]" "\"resume\":{\"n\":9007199254740993},$(thread t),\"response_granularity\":\"full\"")"
like "$BODY" '"metadata":[{]"answers":\["A",null,[{]"n":9007199254740993[}]\][}]' 'all answers come in the order of the questions'
facts <<'TABLE'
the update is made once :: .data.state.tries == 1
TABLE
api GET /v1/threads/t/messages
facts <<'TABLE'
what it says on the way is kept once :: [.data.messages[] | select(text == "let me ask")] | length == 1
TABLE
invoke go "$(thread t)"
facts <<'TABLE'
a new turn asks from the first one again :: .data.meta.interrupt.value == "first"
TABLE
stream go "$(thread s)"
chunks <<'TABLE'
a stream pauses with the same :: .[-2].data | [.status, .interrupt.value, .node, .step] == ["interrupted", "first", "asks", 1]
TABLE
serve_stop

serves value
n=0
# shows VALUE DATA: as an interrupt's value.
shows() {
	n=$((n + 1))
	invoke "$(printf '%s' "$1" | sed 's/"/\\"/g')" "$(thread "v$n")"
	is "$(json '.data.meta.interrupt | "\(.value | tojson) \(.data | tojson)"' "$BODY")" "$1 $2" \
		"a value $1 has the data $2"
}
shows null '{}'
shows '{}' '{}'
shows '{"a":{"b":[1]}}' '{"a":{"b":[1]}}'
shows '"text"' '{"value":"text"}'
shows '""' '{"value":""}'
shows 0 '{"value":0}'
shows false '{"value":false}'
shows '[]' '{"value":[]}'
shows '[null]' '{"value":[null]}'
serve_stop

serves form
invoke 'the wall' "$(thread f)"
facts <<'TABLE'
a declared interrupt asks with its template :: .data.meta.interrupt | [.value, .reason, .node] == [{"for": "the wall"}, "colour", "ask"]
TABLE
resume '"green"' f '"response_granularity":"partial"'
facts <<'TABLE'
its answer is said and kept in the field :: [said, .data.state.colour] == [["you said green", "it is green"], "green"]
TABLE
serve_stop

# ---- the same from a plug-in

cat >asks.c <<'C'
#include <agentgraph.h>

AG_PLUGIN;

static ag_result ask(ag_run *run, const ag_state *state, void *data)
{
	const cJSON *one, *two;
	(void)state, (void)data;
	ag_say(run, "before");
	if (ag_interrupt(run, NULL, cJSON_CreateString("one"), &one) != AG_OK)
		return AG_PAUSE;
	if (ag_interrupt(run, "second", NULL, &two) != AG_OK)
		return AG_PAUSE;
	return ag_say(run, "%s and %s", cJSON_IsString(one) ? one->valuestring : "?",
	    cJSON_IsNull(two) ? "nothing" : "something");
}

int asks(ag_graph *graph)
{
	ag_graph_node(graph, "ask", ask, NULL);
	ag_graph_edge(graph, AG_START, "ask");
	ag_graph_edge(graph, "ask", AG_END);
	return 0;
}
C
# shellcheck disable=SC2086 # flags are words
${CC:-cc} ${CPPFLAGS:-} -I"$TOP_SRCDIR/common" -shared -fPIC -o asks.so asks.c
ok $? 'a plug-in is built'
printf '{"agent":"asks.so:asks"}\n' >agentgraph.json
invoke go "$(thread c)"
facts <<'TABLE'
its interrupt pauses :: .data.meta.interrupt | [.value, .reason] == ["one", "input_required"]
TABLE
resume '"A"' c
facts <<'TABLE'
its second one as well :: .data.meta.interrupt | [.value, .reason] == [null, "second"]
TABLE
resume null c
facts <<'TABLE'
both answers arrive :: said == ["before", "A and nothing"]
TABLE
api GET /v1/threads/c/messages
facts <<'TABLE'
what was said before the pauses is stored once :: .data.messages | texts == ["go", "before", "A and nothing"]
TABLE

done_testing
