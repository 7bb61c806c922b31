#!/bin/sh
# SPDX-License-Identifier: ISC
# GET, PUT and DELETE /v1/threads/{thread_id}/state.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/threads.sh"

cat >desk.json <<'JSON'
{"g": {
	"state": {"type": "Desk", "fields": {
		"title": {"type": "string", "default": "untitled"},
		"count": {"type": "integer", "reducer": "add", "default": 40},
		"ratio": {"type": "number"},
		"flag": {"type": "boolean"},
		"notes": {"type": "array", "reducer": "append"},
		"profile": {"type": "object", "reducer": "merge", "default": {"lang": "en", "tags": {"a": 1}}},
		"other": {"type": "any"}}},
	"nodes": {"n": {"kind": "reply", "text": "{{title}} {{count}}"}},
	"edges": [{"from": "START", "to": "n"}, {"from": "n", "to": "END"}]}}
JSON
echo '{"agent": "desk.json:g"}' >agent.json
api_start --config agent.json || tap_bail 'the rest needs a service'

# put_state THREAD STATE
put_state() {
	api PUT "/v1/threads/$1/state" "{\"state\":$2}"
}

# becomes STATE EXPRESSION EXPECTED NAME: after an update of the thread t, as answered and as read.
becomes() {
	put_state t "$1"
	answered=$(data ".state$2")
	api GET /v1/threads/t/state
	is "$answered|$(data ".state$2")" "$3|$3" "$4"
}

# wrong STATE FIELD TEXT: the type is refused, and nothing is changed.
wrong() {
	api GET /v1/threads/t/state
	before=$(data .state)
	put_state t "$1"
	invalid "$3" "$1 is refused"
	places "body.state.$2|type_error" 'and the details say where'
	api GET /v1/threads/t/state
	is "$(data .state)" "$before" 'and nothing has changed'
}

fields='"title":"untitled","count":40,"ratio":0,"flag":false,"notes":[],"profile":{"lang":"en","tags":{"a":1}},"other":null'
meta='{"current_node":"START","step":0,"is_running":false,"is_interrupted":false,"is_stopped_requested":false,"status":"idle","interrupted_node":null,"interrupt_reason":null,"interrupt_data":null,"thread_id":"t","stop_current_execution":"none","internal_data":{}}'
empty="{\"context\":[],\"context_summary\":null,\"execution_meta\":$meta,$fields}"

# ---- an unknown thread ----

api GET /v1/threads/t/state
not_found 'Thread not found' 'an unknown thread has no state'
api DELETE /v1/threads/t/state
not_found 'Thread not found' 'that could be cleared'
for body in '{}' '{"state":null}'; do
	api PUT /v1/threads/t/state "$body"
	invalid 'state is required and must be an object' "$body is no update"
	places 'body.state|missing' 'and the details say where'
done
for body in '{"state":[]}' '{"state":"x"}' '{"state":1}'; do
	api PUT /v1/threads/t/state "$body"
	invalid 'state is required and must be an object' "$body is no update"
	places 'body.state|type_error' 'and the details say where'
done
api PUT /v1/threads/t/state '{"state":{},"config":"x"}'
invalid 'config must be an object' 'config must be an object'
api PUT /v1/threads/t/state '{"state":[],"config":[]}'
is "$STATUS $(json '.error.details | length' "$BODY")" '422 2' 'two mistakes are both told'
api PUT /v1/threads/t/state
invalid 'Request body is required' 'an update needs a body'
put_state t '{"count":"x"}'
is "$STATUS" 422 'an update that is refused'
put_state t '{"context":[{"role":"user"}]}'
is "$STATUS" 422 'in one way or another'
api GET /v1/threads/t
not_found 'Thread not found' 'creates no thread'

put_state t '{}'
is "$STATUS $(data '')" "200 {\"updated\":true,\"ignored\":[],\"state\":$empty}" 'an update creates the thread'
api GET /v1/threads/t
is "$(data '.thread_data | [.user_id, .run_id] | tojson')" '["anonymous",null]' 'owned by who sent it'
api GET /v1/threads/t/state
is "$(data '')" "{\"state\":$empty}" 'its state is the empty one'
api HEAD /v1/threads/t/state
is "$STATUS $BODY" '200 ' 'HEAD has no body'

# ---- fields ----

becomes '{"title":"A"}' .title A 'a string is replaced'
becomes '{"title":""}' .title '' 'also by an empty one'
becomes '{"count":2}' .count 2 'a number is replaced: reducers are for nodes'
becomes '{"count":3.0}' .count 3 '3.0 is an integer'
like "$BODY" '"count":3,' 'and written as one'
becomes '{"ratio":0.5}' .ratio 0.5 'a fraction is a number'
becomes '{"flag":true}' .flag true 'a boolean is replaced'
becomes '{"notes":[1,"b"]}' '.notes|tojson' '[1,"b"]' 'an array is replaced'
becomes '{"notes":[{"c":null}]}' '.notes|tojson' '[{"c":null}]' 'it is not appended'
becomes '{"profile":{"name":"Ann"}}' '.profile|tojson' '{"lang":"en","tags":{"a":1},"name":"Ann"}' 'an object is merged'
becomes '{"profile":{"tags":{"b":{"c":2}}}}' '.profile.tags|tojson' '{"a":1,"b":{"c":2}}' 'deeply'
becomes '{"profile":{"tags":{"a":null,"b":{"c":null,"d":3}}}}' '.profile.tags|tojson' '{"a":1,"b":{"c":2,"d":3}}' \
	'null leaves what is there, however deep'
becomes '{"profile":{"tags":{"b":[1]}}}' '.profile.tags|tojson' '{"a":1,"b":[1]}' 'what is no object replaces'
becomes '{"profile":{"tags":7}}' .profile.tags 7 'also an object'
becomes '{"profile":{}}' '.profile|tojson' '{"lang":"en","tags":7,"name":"Ann"}' 'an empty object changes nothing'
becomes '{"other":[1]}' '.other|tojson' '[1]' 'a field of any type takes an array'
becomes '{"other":{"x":1}}' '.other|tojson' '{"x":1}' 'an object'
becomes '{"other":{"y":2}}' '.other|tojson' '{"x":1,"y":2}' 'merges it'
becomes '{"other":false}' .other false 'takes a boolean'
becomes '{"title":null,"count":null,"ratio":null,"flag":null,"notes":null,"profile":null,"other":null,"context":null,"context_summary":null}' \
	'|[.title,.count,.ratio,.flag,(.notes|length),.other]|tojson' '["",3,0.5,true,1,false]' 'null leaves every field as it is'
becomes '{"title":"first","title":"second"}' .title second 'of a field that comes twice the last one counts'
put_state t '{"other":9223372036854775807,"count":-9223372036854775808}'
api GET /v1/threads/t/state
like "$BODY" '"other":9223372036854775807[,}]' 'large integers are exact'
like "$BODY" '"count":-9223372036854775808,' 'in both directions'

wrong '{"title":1}' title 'state.title must be of type string'
wrong '{"count":"2"}' count 'state.count must be of type integer'
wrong '{"count":2.5}' count 'state.count must be of type integer'
wrong '{"count":true}' count 'state.count must be of type integer'
wrong '{"ratio":"1"}' ratio 'state.ratio must be of type number'
wrong '{"flag":0}' flag 'state.flag must be of type boolean'
wrong '{"notes":{}}' notes 'state.notes must be of type array'
wrong '{"profile":[]}' profile 'state.profile must be of type object'
wrong '{"context_summary":1}' context_summary 'state.context_summary must be a string or null'
wrong '{"context":{}}' context 'state.context must be an array of messages'
wrong '{"context":"hello"}' context 'state.context must be an array of messages'
wrong '{"title":"kept back","count":"2"}' count 'state.count must be of type integer'
api PUT /v1/threads/0/state '{"state":{"count":"2"},"config":7}'
places 'path.thread_id|value_error body.config|type_error body.state.count|type_error' 'all mistakes are told, of path and body'
put_state t '{"count":"2","title":2}'
places 'body.state.count|type_error body.state.title|type_error' 'all wrong types are told'

put_state t '{"nope":1,"title":"B","execution_meta":{"step":5,"status":"running"},"Title":"x","":0,"zap":null}'
is "$STATUS $(data '.ignored|tojson')" '200 ["nope","execution_meta","Title","","zap"]' 'names that the state does not have are told'
is "$(data '.state|[.title,.execution_meta.step,.execution_meta.status,.nope]|tojson')" '["B",0,"idle",null]' \
	'and have no effect'
put_state t '{"internal_data":{}}'
is "$(data '.ignored|tojson')" '["internal_data"]' 'even when all of them are ignored it is no error'

# ---- context and summary ----

becomes '{"context_summary":"so far"}' .context_summary 'so far' 'the summary is replaced'
becomes '{"context_summary":""}' .context_summary '' 'also by an empty text'
say t x
is "$(data '.messages[1].content[0].text')" 'B -9223372036854775808' 'nodes see what was put'

put_state u '{"context":[{"role":"user","content":"one","message_id":"m1"},{"role":"assistant","content":"two","message_id":2}]}'
is "$STATUS $(data '.state.context|map(.message_id)|tojson')" '200 ["m1","2"]' 'messages are put into the context'
put_state u '{"context":[{"role":"user","content":"again","message_id":"m1"},{"role":"user","content":"new","message_id":"m3"},{"role":"user","content":"twice","message_id":"m3"}]}'
is "$(data '.state.context|map(.message_id + ":" + .content[0].text)|tojson')" '["m1:one","2:two","m3:new"]' \
	'they are appended, but for those that are there'
is "$(ids u)" 'm1 2 m3' 'and stand in the list as well'
put_state u '{"context":[]}'
is "$(data '.state.context|length')" 3 'an empty array appends nothing'
put_state u '{"context":[{"role":"user","content":"x"},{"role":"king","content":"x"}]}'
invalid 'role must be one of user, assistant, system, tool' 'messages are checked'
places 'body.state.context.1.role|value_error' 'and the details say where'
put_state u '{"context":[{"role":"user","content":[{"type":"image","file_id":"nope"}]}],"title":"x"}'
refused 422 INVALID_INPUT 'File not found: nope' 'a file that does not exist is refused'
api GET /v1/threads/u/state
is "$(data '.state|[.title,(.context|length)]|tojson')" '["untitled",3]' 'with all that came with it'
put_state v '{"context":[{"role":"user","content":[{"type":"image","file_id":"nope"}]}]}'
api GET /v1/threads/v
not_found 'Thread not found' 'and creates no thread'
put_state u '{"context":[{"role":"assistant","content":[{"type":"remote_tool_call","id":"c1","name":"pick","args":{}}]}]}'
is "$STATUS" 200 'a tool call is history'
api GET /v1/threads/u/state
is "$(data '.state.execution_meta|[.status,.interrupt_reason]|tojson')" '["idle",null]' 'and waits for nothing'

# ---- clear ----

api DELETE /v1/threads/u/state '{"config":1}'
invalid 'config must be an object' 'config must be an object here as well'
put_state u '{"title":"Z","context_summary":"S","profile":{"x":1}}'
say u hello
run=$(data .meta.run_id)
listed=$(ids u)
api DELETE /v1/threads/u/state '{"config":{"thread_id":"t"}}'
is "$STATUS $(data '')" '200 {"deleted":true,"success":true,"message":"State cleared successfully","data":true}' \
	'a state is cleared'
api GET /v1/threads/u/state
is "$STATUS $(data .state)" "200 $(printf '%s' "$empty" | sed 's/"thread_id":"t"/"thread_id":"u"/')" \
	'and is the empty one again'
is "$(ids u)" "$listed" 'the list of messages stays'
api GET /v1/threads/u
is "$(data .thread_data.run_id)" "$run" 'as does the record'
api DELETE /v1/threads/u/state
is "$STATUS" 200 'it can be cleared again'
api GET /v1/threads/t/state
is "$(data .state.title)" B 'another thread has its state still'

put u "$(user m1 repeated)" "$(user new text)"
is "$STATUS $(data '.data.message_ids|tojson')" '200 ["m1","new"]' 'a message that had left the context enters it again'
is "$(context u)" 'm1 new' 'at its end'
is "$(ids u)" "$listed new" 'and keeps its place in the list'
api GET /v1/threads/u/messages/m1
is "$(data '.content[0].text')" one 'with the content that it had'
put u "$(user m1 x)"
is "$(data '.data.message_ids|tojson')" '[]' 'but only once'
put u "$(user m3 x)" "$(user m3 y)" "$(user m1 z)"
is "$(data '.data.message_ids|tojson')" '["m3"]' 'also when it comes twice in one request'
is "$(context u)" 'm1 new m3' 'the context has it once'
put u "$(user last x)" "$(user 2 y)"
is "$(data '.data.message_ids|tojson')" '["last","2"]' 'the order of the request is kept'
is "$(context u)" 'm1 new m3 last 2' 'in the context'
api DELETE /v1/threads/u/messages/m3
is "$(context u)|$(ids u)" "m1 new last 2|$(printf '%s new last' "$listed" | sed 's/ m3//')" 'and a deleted message leaves both'
say u hello
is "$(data '.meta.is_new_thread')" false 'the next run goes on from there'
is "$(data '.messages[1].content[0].text')" 'untitled 40' 'with the fields as they began'

# ---- what clearing ends ----

serve_stop
api_start || tap_bail 'the rest needs a service'
say p '/ask Which?'
api GET /v1/threads/p/state
is "$(data '.state.execution_meta|[.is_interrupted,.status,.current_node,.interrupt.data.question]|tojson')" \
	'[true,"interrupted","agent","Which?"]' 'a paused thread'
api PUT /v1/threads/p/state '{"state":{"notes":["n"]}}'
is "$(data '.state|[.execution_meta.is_interrupted,.notes[0]]|tojson')" '[true,"n"]' 'stays paused when its state is updated'
api DELETE /v1/threads/p/state
api GET /v1/threads/p/state
is "$(data '.state.execution_meta|[.is_interrupted,.status,.current_node,.interrupt,.interrupt_reason]|tojson')" \
	'[false,"idle","START",null,null]' 'is not paused when it has been cleared'
api POST /v1/graph/invoke '{"resume":1,"config":{"thread_id":"p"}}'
refused 422 INVALID_INPUT 'Nothing to resume: this thread is not paused at an interrupt' 'there is nothing to resume'
say p /context
is "$(data '.messages[1].content[0].text')" 'context: 1' 'the next turn starts from nothing'
api GET /v1/threads/p/messages
is "$(data '.messages|map(.content[0].text)|tojson')" '["/ask Which?","/context","context: 1"]' \
	'but the list has all of it'

done_testing
