#!/bin/sh
# SPDX-License-Identifier: ISC
# POST /v1/graph/fix: tool calls without a result.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/threads.sh"

# asks ID CALL...: an assistant message with these calls; answers ID CALL...: a tool message with their results.
asks() {
	jq -nc --args '{message_id: $ARGS.positional[0], role: "assistant",
		content: ($ARGS.positional[1:] | map({type: "tool_call", id: ., name: "f", args: {}}))}' "$@"
}

answers() {
	jq -nc --args '{message_id: $ARGS.positional[0], role: "tool",
		content: ($ARGS.positional[1:] | map({type: "tool_result", call_id: ., output: 1}))}' "$@"
}

# fixed THREAD COUNT LEFT NAME: a repair removes that many messages and leaves these, a second one finds nothing.
fixed() {
	api POST /v1/graph/fix "{\"thread_id\":\"$1\"}"
	text="Successfully removed $2 message(s)"
	[ "$2" -gt 0 ] || text='No messages with empty tool calls found'
	is "$STATUS $(data '| [.success, .message, .removed_count] | tojson')" "200 [true,\"$text\",$2]" "$4"
	shown=$(data '.state.context | map(.message_id) | join(" ")')
	is "$shown|$(ids "$1")|$(context "$1")" "$3|$3|$3" 'the answer, the list and the context agree'
	api POST /v1/graph/fix "{\"thread_id\":\"$1\"}"
	is "$(data .removed_count)" 0 'the second time nothing is left to remove'
}

# ---- a thread without a fault ----

api POST /v1/graph/fix '{"thread_id":"t"}'
not_found 'Thread not found' 'an unknown thread is not repaired'
api GET /v1/threads/t
not_found 'Thread not found' 'nor created'
api PUT /v1/threads/t/state '{"state":{}}'
api POST /v1/graph/fix '{"thread_id":"t","config":{},"unknown":1}'
is "$STATUS $(data '| [.success, .message, .removed_count] | tojson')" \
	'200 [true,"No messages found in state",0]' 'a thread without messages'
is "$(data '| keys_unsorted | tojson')" '["success","message","removed_count","state"]' 'the answer has these members'
api GET /v1/threads/t/state
state=$(data .state)
api POST /v1/graph/fix '{"thread_id":"t","config":null}'
is "$(data .state)" "$state" 'with the state as it is read'
put t "$(user m1 hello)"
fixed t 0 m1 'a thread without calls'
put t "$(asks a1 c1 c2)" "$(answers r1 c2)" "$(user m2 x)" "$(answers r2 c1)"
fixed t 0 'm1 a1 r1 m2 r2' 'calls that are answered, in any order and number'
put both "$(asks a1 c1 c2)" "$(answers r1 c1 c2)"
fixed both 0 'a1 r1' 'or by one message'
api GET /v1/threads/both
updated=$(data .thread_data.updated_at)
api POST /v1/graph/fix '{"thread_id":"both"}'
api GET /v1/threads/both
is "$(data .thread_data.updated_at)" "$updated" 'a repair that changes nothing is no change'

# ---- repairs ----

put again "$(asks a1 c1 c2)" "$(answers r1 c1)" "$(asks a2 c1)" "$(answers r2 c1)"
fixed again 2 'a2 r2' 'an id that a later message uses for a call of its own is left to that'
put again2 "$(asks a1 c1)" "$(answers r1 c1)" "$(asks a2 c1 c2)" "$(answers r2 c1)" "$(asks a3 c1)" "$(answers r3 c1)"
fixed again2 2 'a1 r1 a3 r3' 'as it is to an earlier one'
put o1 "$(user m1 x)" "$(asks a1 c1)"
fixed o1 1 m1 'a call without a result'
put o2 "$(user m1 x)" "$(asks a1 c1)" "$(user m2 y)" "$(asks a2 c2)" "$(answers r2 c2)" "$(asks a3 c3)"
fixed o2 2 'm1 m2 a2 r2' 'several of them'
put o3 "$(asks a1 c1 c2 c3)" "$(answers r1 c1)" "$(answers r2 c3)" "$(user m1 x)"
fixed o3 3 m1 'the results of its other calls go with a message'
put o4 "$(answers r1 c1)" "$(asks a1 c1)" "$(user m1 x)"
fixed o4 1 'r1 m1' 'a result that came before is none'
put o5 "$(asks a1 c1)" "$(answers r0 other)"
fixed o5 1 r0 'nor is that of another call'
put o6 '{"message_id":"a1","role":"assistant","content":"","tools_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}' \
	"$(user m1 x)"
fixed o6 1 m1 'calls in tools_calls count'
put o7 '{"message_id":"a1","role":"assistant","content":[{"type":"text","text":"Let me see"},{"type":"remote_tool_call","id":"c1","name":"f"}]}' \
	"$(user m1 x)"
fixed o7 1 m1 'so do remote calls, with a text beside them'
put o8 "$(asks a1 c1 c2)" "$(answers r1 c1 d1)" "$(asks a2 d1)" "$(user m1 x)"
fixed o8 3 m1 'a result that comes before its call is none for another message'
put o9 "$(asks a1 c1 c2)" "$(asks a2 d1)" "$(answers r1 c1 d1)" "$(user m1 x)"
fixed o9 3 m1 'a result that goes leaves no other call without one'
put o10 "$(asks a1 c1 c2)" '{"message_id":"m1","role":"user","content":[{"type":"tool_result","call_id":"c1","output":1}]}'
fixed o10 1 m1 'only messages of the assistant and of tools go'
put o11 "$(asks a1 c1)" "$(asks a2 d1 e1)" "$(asks a3 c2 x1)" "$(answers r1 c1 d1)" "$(answers r2 c2 e1)" "$(user m1 x)"
fixed o11 5 m1 'in a chain of any length'

api POST /v1/threads/long/messages "$(jq -nc '{messages: [range(1500) |
	{message_id: "a\(.)", role: "assistant", content: [{type: "tool_call", id: "c\(.)", name: "f"}]},
	{message_id: "r\(.)", role: "tool", content: [{type: "tool_result", call_id: "c\(. + . % 2)", output: 1}]}]}')"
trigger="TRIGGER keep BEFORE DELETE ON messages"
if [ -n "$PG_DIR" ]; then
	change "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''kept''; END'"
	change "CREATE $trigger FOR EACH ROW WHEN (old.message_id = 'a1') EXECUTE FUNCTION refuse()"
else
	change "CREATE $trigger WHEN old.message_id = 'a1' BEGIN SELECT raise(ABORT, 'kept'); END"
fi
api POST /v1/graph/fix '{"thread_id":"long"}'
is "$STATUS" 500 'a long history whose repair fails in the end'
left=$(change "SELECT count(*) FROM messages JOIN threads ON thread = threads.row WHERE thread_id = 'long'")
ok '[ "$left" -lt 3000 ] && [ "$left" -gt 2250 ]' 'has lost a part by then, for it goes in pieces'
[ -n "$PG_DIR" ] && change 'DROP FUNCTION refuse CASCADE' || change 'DROP TRIGGER keep'
api POST /v1/graph/fix '{"thread_id":"long"}'
is "$STATUS $(data .removed_count)" "200 $((left - 2250))" 'and is repaired later'
is "$(data '.state.context | length')" 2250 'in all its length'

# ---- the context ----

put c "$(asks a1 c1)" "$(user m1 x)"
api DELETE /v1/threads/c/state
put c "$(user m2 y)"
api POST /v1/graph/fix '{"thread_id":"c"}'
is "$(data '| [.removed_count, (.state.context | map(.message_id) | join(" "))] | tojson')" '[1,"m2"]' \
	'calls outside the context are removed as well'
is "$(ids c)" 'm1 m2' 'from the list'

# ---- what waits ----

serve_stop
cat >agent.json <<'JSON'
{"agent": "builtin:demo", "remote_tools": [
	{"node": "tools", "name": "pick", "description": "Picks."}, {"node": "tools", "name": "look", "description": "Looks."}]}
JSON
api_start --config agent.json || tap_bail 'the rest needs a service'
meta='| [.status, .interrupt_reason, .interrupted_node, .interrupt_data] | tojson'
say w '/remote pick {"n":1} && look {}'
api GET /v1/threads/w/state
is "$(data ".state.execution_meta | [.status, .interrupt_reason, (.interrupt_data.call_ids | length)] | tojson")" \
	'["completed","remote_tool_call",2]' 'remote calls wait'
call=$(data '.state.execution_meta.interrupt_data.call_ids[0]')
api POST /v1/graph/fix '{"thread_id":"w"}'
is "$(data .removed_count)" 1 'a waiting call is removed'
is "$(data ".state.execution_meta $meta")" '["completed",null,null,null]' 'and waits no longer'
api POST /v1/graph/invoke "$(jq -nc --arg call "$call" '{config: {thread_id: "w"}, messages: [{role: "tool",
	content: [{type: "tool_result", call_id: $call, output: 1}]}]}')"
refused 422 INVALID_INPUT "No remote tool call '$call' is waiting for a result" 'its answer is refused'
say w /context
is "$(data '.messages[1].content[0].text')" 'context: 2' 'the next turn starts without it'

say v '/remote pick {"n":1} && look {}'
api GET /v1/threads/v/state
call=$(data '.state.execution_meta.interrupt_data.call_ids[0]')
api POST /v1/graph/invoke "$(jq -nc --arg call "$call" '{config: {thread_id: "v"}, messages: [{role: "tool",
	message_id: "answer", content: [{type: "tool_result", call_id: $call, output: 1}]}]}')"
api POST /v1/graph/fix '{"thread_id":"v"}'
is "$(data .removed_count)" 2 'an answer goes with the calls that still wait'
is "$(data ".state.execution_meta $meta")" '["completed",null,null,null]' 'nothing waits then'

say u '/remote pick {}'
api GET /v1/threads/u/messages
removed=$(data '.messages[0].message_id')
api DELETE "/v1/threads/u/messages/$removed"
api GET /v1/threads/u/state
is "$(data .state.execution_meta.interrupt_reason)" remote_tool_call 'deleting another message leaves a call waiting'
asking=$(data '.state.context[0].message_id')
api DELETE "/v1/threads/u/messages/$asking"
api GET /v1/threads/u/state
is "$(data ".state.execution_meta $meta")" '["completed",null,null,null]' 'deleting its own ends that'

put p "$(asks a1 c1)"
say p '/ask Which?'
api POST /v1/graph/fix '{"thread_id":"p"}'
is "$(data '| [.removed_count, .state.execution_meta.is_interrupted, .state.execution_meta.interrupt.data.question] | tojson')" \
	'[1,true,"Which?"]' 'a pause that has nothing to do with it stays'
api POST /v1/graph/invoke '{"resume":"this","config":{"thread_id":"p"}}'
is "$(data '.messages[-1].content[0].text')" 'answer: this' 'and can be answered'

# ---- a pause before the tools ----

serve_stop
cat >tool.sh <<'SH'
#!/bin/sh
echo '{"message":{"role":"assistant","content":[{"type":"tool_call","id":"call-'$$'","name":"t","args":{}}]}}'
SH
chmod +x tool.sh
cat >graph.json <<'JSON'
{"g": {
	"interrupt_before": ["tools"],
	"nodes": {
		"ask": {"kind": "exec", "command": ["./tool.sh"]},
		"tools": {"kind": "tools", "tools": [{"kind": "exec", "name": "t", "description": "T.", "command": ["/bin/echo", "7"]}]}},
	"edges": [{"from": "START", "to": "ask"}, {"from": "ask", "to": "tools"}, {"from": "tools", "to": "END"}]}}
JSON
echo '{"agent": "graph.json:g"}' >agent.json
api_start --config agent.json || tap_bail 'the rest needs a service'
paused='.state.execution_meta | [.is_interrupted, .status, .interrupt.node] | tojson'
put b "$(user old x)"
say b go
api GET /v1/threads/b/state
is "$(data "$paused")" '[true,"interrupted","tools"]' 'a run is paused before its tools'
api DELETE /v1/threads/b/messages/old
api GET /v1/threads/b/state
is "$(data "$paused")" '[true,"interrupted","tools"]' 'deleting another message leaves the pause'
api POST /v1/graph/fix '{"thread_id":"b"}'
is "$(data .removed_count)" 1 'the calls it rests on are removed'
is "$(data "$paused")" '[false,"completed",null]' 'and the pause with them'
api POST /v1/graph/invoke '{"resume":null,"config":{"thread_id":"b"}}'
refused 422 INVALID_INPUT 'Nothing to resume: this thread is not paused at an interrupt' 'there is nothing to resume'
say b again
api GET /v1/threads/b/state
asking=$(data '.state.context[-1].message_id')
api DELETE "/v1/threads/b/messages/$asking"
api GET /v1/threads/b/state
is "$(data "$paused")" '[false,"completed",null]' 'deleting the message that asked ends the pause as well'
say b 'once more'
api POST /v1/graph/invoke '{"resume":null,"config":{"thread_id":"b"}}'
is "$STATUS $(data '.messages[-1].content[0].output')" '200 7' 'a pause that was left alone goes on'
fixed b 0 "$(ids b)" 'and leaves nothing to repair'
serve_stop
jq '.s = {nodes: {in: {kind: "graph", graph: "g"}}, edges: [{from: "START", to: "in"}, {from: "in", to: "END"}]}
	| del(.g.interrupt_before) | .g.nodes.tools.approval = true' graph.json >within.json
echo '{"agent": "within.json:s"}' >agent.json
api_start --config agent.json || tap_bail 'the rest needs a service'
say w go
api GET /v1/threads/w/state
is "$(data "$paused")" '[true,"interrupted","in/tools"]' 'a graph within the graph is paused'
api POST /v1/graph/fix '{"thread_id":"w"}'
is "$(data .removed_count) $(data "$paused")" '1 [false,"completed",null]' 'a repair ends that pause as well'
say w again
api GET /v1/threads/w/state
asking=$(data '.state.context[-1].message_id')
api DELETE "/v1/threads/w/messages/$asking"
api GET /v1/threads/w/state
is "$(data "$paused")" '[false,"completed",null]' 'so does deleting the message that asked'

# ---- many

jq -nc '{messages: ([range(20000) | {role: "assistant", content: [{type: "tool_call", id: "c\(.)", name: "f", args: {}}]}]
	+ [range(1; 20000) | {role: "tool", content: [{type: "tool_result", call_id: "c\(.)", output: 1}]}])}' >many.json
api POST /v1/threads/many/messages "$(cat many.json)"
API_TIMEOUT=20 api POST /v1/graph/fix '{"thread_id":"many","config":{}}'
is "$(data .removed_count)" 1 'a repair takes time in proportion to the messages'
jq -nc '{messages: [{role: "assistant", content: [range(80000) | {type: "tool_call", id: "c\(.)", name: "f", args: {}}]}]}' >many.json
api POST /v1/threads/calls/messages "$(cat many.json)"
API_TIMEOUT=20 api POST /v1/graph/fix '{"thread_id":"calls"}'
is "$(data .removed_count)" 1 'and to the calls in one of them'
api POST /v1/graph/fix '{"config":7}'
places 'body.thread_id|missing body.config|type_error' 'all mistakes of its body are told'

done_testing
