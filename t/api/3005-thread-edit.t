#!/bin/sh
# SPDX-License-Identifier: ISC
# POST /v1/threads and PATCH /v1/threads/{thread_id}: threads are made empty, named and labelled from outside.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/threads.sh"
. "$TOP_SRCDIR/t/api/auth.sh"

name_rule='thread_name must be a text of at most 255 characters without control characters'
metadata_rule='metadata must be an object of at most 16384 bytes'
kept='metadata.resumption_handle is kept by the server and cannot be set'

# shown: name, metadata and status of the thread of the last answer.
shown() { data '.thread_data | [.thread_name, (.metadata | tojson), .status] | join("|")'; }

# ---- made ----

api POST /v1/threads
is "$STATUS" 200 'a thread is made without a body'
like "$(data .thread_data.thread_id)" '^[0-9a-f]{8}-[0-9a-f]{4}-7' 'under an id of the server'
is "$(data '.thread_data | [.thread_name, .user_id, (.metadata | tojson), .run_id, .status] | map(tostring) | join("|")')" \
	'|anonymous|{}|null|idle' 'it is empty'
is "$(data '.thread_data | .created_at == .updated_at')" true 'and new'
first=$(data .thread_data.thread_id)
for body in '{}' '{"thread_id":null}' '{"thread_id":""}' '{"thread_id":" "}' '{"thread_id":"new"}' \
	'{"thread_name":null,"metadata":null}'; do
	api POST /v1/threads "$body"
	like "$STATUS $(data .thread_data.thread_id)" '^200 [0-9a-f]{8}-[0-9a-f]{4}-7' "so it is with $body"
done
api POST /v1/threads '{"thread_id":"t","thread_name":"mine","metadata":{"a":"b","n":1.5,"deep":{"x":[null,1],"y":null},"z":null}}'
is "$STATUS $(shown)" '200 mine|{"a":"b","n":1.5,"deep":{"x":[null,1]}}|idle' 'id, name and metadata can be given'
answer=$(data .thread_data)
api GET /v1/threads/t
is "$(data .thread_data)" "$answer" 'reading it shows the same'
api GET /v1/threads
is "$(data '.threads[0].thread_id')" t 'it is listed'
is "$(data '.threads[0] == '"$(printf '%s' "$answer" | jq -c .thread)")" true 'in the same way'
api GET /v1/threads/t/messages
is "$STATUS $(data '')" '200 {"messages":[]}' 'it has no messages'
api GET /v1/threads/t/state
is "$STATUS $(data '.state | [(.context | length), .execution_meta.status, .execution_meta.current_node] | join(" ")')" \
	'200 0 idle START' 'and an empty state'
api GET /v1/threads/t/runs
is "$STATUS $(data '')" '200 {"runs":[]}' 'and no runs'
api POST /v1/threads '{"thread_id":7}'
is "$(data .thread_data.thread_id)" 7 'an integer is an id'
api POST /v1/threads '{"thread_id":"t","metadata":{"other":1}}'
refused 409 THREAD_EXISTS 'Thread t exists already' 'an id can be given once'
api POST /v1/threads "{\"thread_id\":\"$first\"}"
refused 409 THREAD_EXISTS "Thread $first exists already" 'also one of the server'
api GET /v1/threads/t
is "$(data .thread_data)" "$answer" 'and nothing has changed there'
api DELETE /v1/threads/t '{}'
api POST /v1/threads '{"thread_id":"t"}'
is "$STATUS $(shown)" '200 |{}|idle' 'after it was deleted it is free'

say t '/context'
is "$STATUS $(data '| [.meta.is_new_thread, .messages[1].content[0].text] | map(tostring) | join(" ")')" \
	'200 false context: 1' 'a run on it is one on a thread that is there'
api GET /v1/threads/t
is "$(data '.thread_data | [.status, (.run_id != null)] | map(tostring) | join(" ")')" 'completed true' 'and leaves its status'

# ---- described ----

api PATCH /v1/threads/t '{"thread_name":"ours"}'
is "$STATUS $(shown)" '200 ours|{}|completed' 'a thread is renamed'
updated=$(data .thread_data.updated_at)
api PATCH /v1/threads/t '{"metadata":{"a":1,"o":{"x":1,"y":2},"l":[1,2]}}'
is "$STATUS $(shown)" '200 ours|{"a":1,"o":{"x":1,"y":2},"l":[1,2]}|completed' 'metadata is added'
ok '[ "$(data .thread_data.updated_at)" ">" "$updated" ]' 'which is a change'
api PATCH /v1/threads/t '{"metadata":{"b":2,"o":{"x":null,"z":3},"l":[null]}}'
is "$(shown)" 'ours|{"a":1,"o":{"y":2,"z":3},"l":[null],"b":2}|completed' 'and merged, objects deeply, other values replace'
api PATCH /v1/threads/t '{"metadata":{"a":null,"o":null,"nothing":null}}'
is "$(shown)" 'ours|{"l":[null],"b":2}|completed' 'null takes a key away'
api PATCH /v1/threads/t '{"metadata":{"b":{"c":{"d":null}}}}'
is "$(shown)" 'ours|{"l":[null],"b":{"c":{}}}|completed' 'an object replaces another value'
updated=$(data .thread_data.updated_at)
for body in '{}' '{"thread_name":null,"metadata":null}' '{"thread_id":"other","status":"idle","user_id":"bob"}'; do
	api PATCH /v1/threads/t "$body"
	is "$STATUS $(shown) $(data .thread_data.updated_at)" "200 ours|{\"l\":[null],\"b\":{\"c\":{}}}|completed $updated" \
		"$body changes nothing"
done
api PATCH /v1/threads/t '{"thread_name":"","metadata":{"b":null,"l":null}}'
is "$(shown)" '|{}|completed' 'an empty name is none'
api GET /v1/threads/t/messages
is "$(data '.messages | length')" 2 'messages have stayed'
api PATCH /v1/threads/nobody '{"thread_name":"x"}'
not_found 'Thread not found' 'an unknown thread cannot be described'
api GET /v1/threads/nobody
not_found 'Thread not found' 'and is not made by that'
api PATCH /v1/threads/ '{}'
invalid 'thread_id cannot be empty or whitespace' 'an empty id is refused'

# ---- mistakes ----

# wrong BODY TEXT PLACES: refused by both routes.
wrong() {
	api POST /v1/threads "$1"
	invalid "$2" "POST refuses $(printf '%.60s' "$1")"
	places "$3" 'and says where'
	api PATCH /v1/threads/t "$1"
	invalid "$2" 'PATCH as well'
	places "$3" 'in the same place'
}

long=$(repeat 255 ä)
api PATCH /v1/threads/t "{\"thread_name\":\"$long\"}"
is "$STATUS $(data .thread_data.thread_name)" "200 $long" 'a name may have 255 characters'
wrong "{\"thread_name\":\"${long}x\"}" "$name_rule" 'body.thread_name|value_error'
wrong '{"thread_name":"a\nb"}' "$name_rule" 'body.thread_name|value_error'
for value in 7 true '[]' '{}'; do wrong "{\"thread_name\":$value}" "$name_rule" 'body.thread_name|type_error'; done
for value in 7 false '"{}"' '[]'; do wrong "{\"metadata\":$value}" "$metadata_rule" 'body.metadata|type_error'; done
wrong '{"metadata":{"resumption_handle":"h"}}' "$kept" 'body.metadata.resumption_handle|value_error'
wrong '{"metadata":{"resumption_handle":null,"a":1}}' "$kept" 'body.metadata.resumption_handle|value_error'
wrong '{"thread_name":7,"metadata":7}' "$name_rule" 'body.thread_name|type_error body.metadata|type_error'
wrong '[]' 'Request body must be a JSON object' 'body|type_error'
wrong '{' 'Request body must be valid JSON' 'body|json_invalid'
wrong '{"thread_name":"a\u0000"}' 'Request body must not contain the character U+0000' 'body|json_invalid'
api PATCH /v1/threads/t
invalid 'Request body is required' 'PATCH takes a body'
for value in true 1.5 '[]' '{}'; do
	api POST /v1/threads "{\"thread_id\":$value,\"thread_name\":7}"
	invalid 'thread_id must be a string or an integer' "$value is no id"
	places 'body.thread_id|type_error body.thread_name|type_error' 'which is told with the rest'
done
for value in 0 -1 '"+0"'; do
	api POST /v1/threads "{\"thread_id\":$value}"
	invalid 'thread_id must be a positive integer' "nor is $value"
done
api POST /v1/threads "{\"thread_id\":\"$(repeat 256 a)\"}"
invalid 'thread_id must be 1 to 255 characters without control characters' 'nor a long text'

most="{\"metadata\":{\"a\":\"$(repeat 16376 x)\"}}"
api POST /v1/threads "$most"
is "$STATUS $(data '.thread_data.metadata | tojson | length')" '200 16384' 'metadata may have 16384 bytes'
full=$(data .thread_data.thread_id)
api POST /v1/threads "{\"metadata\":{\"a\":\"$(repeat 16377 x)\"}}"
invalid "$metadata_rule" 'and no more'
places 'body.metadata|value_error' 'as the details say'
api PATCH "/v1/threads/$full" '{"metadata":{"b":1}}'
invalid "$metadata_rule" 'nor by what is added'
api PATCH "/v1/threads/$full" '{"metadata":{"a":null,"b":1}}'
is "$STATUS $(shown)" '200 |{"b":1}|idle' 'but what takes away is no matter'
serve_stop

# ---- names, and what the server keeps ----

printf '{"agent":"builtin:demo","thread_name_generator":"builtin:names"}\n' >agentgraph.json
api POST /v1/threads '{"thread_id":"nameless","metadata":{"a":1}}'
is "$(shown)" '|{"a":1}|idle' 'an empty thread has no name'
say nameless hello
is "$(data '.meta | has("thread_name")')" false 'its first run tells none'
api GET /v1/threads/nameless
like "$(shown)" '^[a-z]+-[a-z]+\|\{"a":1\}\|completed$' 'but has given it one'
name=$(data .thread_data.thread_name)
say nameless again
api GET /v1/threads/nameless
is "$(data .thread_data.thread_name)" "$name" 'which stays'
api PATCH /v1/threads/nameless '{"thread_name":""}'
say nameless again
api GET /v1/threads/nameless
is "$(data .thread_data.thread_name)" '' 'one that was taken away does not come back'
api POST /v1/threads '{"thread_id":"named","thread_name":"by me"}'
say named hello
api GET /v1/threads/named
is "$(data .thread_data.thread_name)" 'by me' 'a name that was given is kept by runs'
if command -v sqlite3 >/dev/null; then
	change "UPDATE threads SET metadata = '{\"resumption_handle\":\"h1\"}' WHERE thread_id = 'named'"
	api PATCH /v1/threads/named '{"metadata":{"a":"b"}}'
	is "$(shown)" 'by me|{"resumption_handle":"h1","a":"b"}|completed' 'what the server keeps stays beside'
	api PATCH /v1/threads/named '{"metadata":{"resumption_handle":null}}'
	invalid "$kept" 'and is not taken away'
fi
serve_stop

# ---- whose it is ----

configure '"auth":"jwt","authorization":"ownership"'
alice=$(token alice) bob=$(token bob)
with "$alice" POST /v1/threads '{"thread_id":"hers","metadata":{"team":"a"}}'
is "$STATUS $(data .thread_data.user_id)" '200 alice' 'a thread belongs to who made it'
with "$bob" POST /v1/threads '{"thread_id":"hers"}'
is "$(said)" '403 PERMISSION_ERROR Not authorized to write checkpointer' 'somebody else cannot make it'
with "$bob" PATCH /v1/threads/hers '{"thread_name":"x"}'
is "$(said)" '403 PERMISSION_ERROR Not authorized to write checkpointer' 'nor describe it'
with "$bob" GET '/v1/threads?metadata.team=a'
is "$STATUS $(data .threads)" '200 []' 'nor find it'
with "$bob" GET '/v1/threads?status=idle'
is "$STATUS $(data .threads)" '200 []' 'by its status either'
with "$alice" GET '/v1/threads?metadata.team=a&status=idle'
is "$(data '.threads | map(.thread_id) | join(" ")')" hers 'she does'
with "$alice" POST /v1/graph/invoke "$(a_run hello hers)"
is "$STATUS" 200 'and runs it'
with "$bob" POST /v1/graph/invoke "$(a_run hello hers)"
is "$STATUS" 403 'as he does not'
serve_stop

configure '"auth":"jwt","authorization":"allow_all"'
with "$alice" POST /v1/threads '{"thread_id":"open"}'
with "$bob" POST /v1/threads '{"thread_id":"open"}'
is "$(said)" '409 THREAD_EXISTS Thread open exists already' 'where everybody may everything, it exists'
with "$bob" PATCH /v1/threads/open '{"thread_name":"x"}'
is "$STATUS $(data '.thread_data | "\(.user_id) \(.thread_name)"')" '200 alice x' 'and keeps its owner'

done_testing
