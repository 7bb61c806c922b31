#!/bin/sh
# SPDX-License-Identifier: ISC
# The messages of a thread: list, search, add, read, delete.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/threads.sh"

# add THREAD MESSAGE: one message; sets ID to the id it was stored under.
add() {
	put "$1" "$2"
	ID=$(data '.data.message_ids[0]')
}

# message THREAD ID: is read.
message() {
	api GET "/v1/threads/$1/messages/$2"
}

# added_id JSON: the id under which a message with that message_id is stored.
added_id() {
	add ids "{\"role\":\"user\",\"content\":\"x\",\"message_id\":$1}"
	[ "$STATUS" = 200 ] && echo "$ID" || data ''
}

# bad_message MESSAGE LOC TEXT: a message is refused, as the second of two.
bad_message() {
	put bad '{"role":"user","content":"fine"}' "$1"
	invalid "$3" "$1 is refused"
	places "body.messages.1$2" 'and the details say where'
}

uuid7='^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'

# ---- unknown ----

api GET /v1/threads/t/messages
not_found 'Thread not found' 'an unknown thread has no list'
message t m
not_found 'Thread not found' 'no message'
api DELETE /v1/threads/t/messages/m
not_found 'Thread not found' 'and none to delete'
api GET '/v1/threads/t/messages?limit=0'
invalid 'limit must be > 0' 'the query is looked at before the thread'
api DELETE /v1/threads/t/messages/m '{"config":7}'
invalid 'config must be an object' 'so is a body'
for id in %20 %09%E2%80%83; do
	message t "$id"
	invalid 'message_id is required and cannot be empty' "the message id '$id' is refused"
	places 'path.message_id|value_error' 'and the details say where'
	api DELETE "/v1/threads/t/messages/$id" '{}'
	invalid 'message_id is required and cannot be empty' 'also for deleting'
done
message t "$(repeat 256 a)"
invalid 'message_id must be 1 to 255 characters without control characters' 'a long id is refused'
message t a%07
invalid 'message_id must be 1 to 255 characters without control characters' 'as are control characters'

api GET '/v1/threads/%20/messages?limit=x&offset=-1&search=%ff'
places 'query.search|value_error path.thread_id|value_error query.limit|type_error query.offset|value_error' \
	'all mistakes of a request are told, of path and query'
api DELETE /v1/threads/0/messages/%20 '{"config":7}'
places 'path.thread_id|value_error path.message_id|value_error body.config|type_error' 'and of path and body'

# ---- add ----

for body in '{}' '{"messages":null}' '{"messages":[]}'; do
	api POST /v1/threads/t/messages "$body"
	invalid 'messages must not be empty' "$body adds nothing"
done
places 'body.messages|value_error' 'and the details say where'
for body in '{"messages":{}}' '{"messages":"hello"}' '{"messages":1}'; do
	api POST /v1/threads/t/messages "$body"
	invalid 'messages must be an array' "$body is refused"
	places 'body.messages|type_error' 'and the details say where'
done
one='"messages":[{"role":"user","content":"x"}]'
api POST /v1/threads/t/messages "{$one,\"metadata\":[]}"
invalid 'metadata must be an object' 'metadata must be an object'
places 'body.metadata|type_error' 'and the details say where'
api POST /v1/threads/t/messages "{$one,\"config\":\"c\"}"
invalid 'config must be an object' 'config must be an object'
api POST /v1/threads/t/messages
invalid 'Request body is required' 'a body is required'
members() { jq -nc --argjson count "$1" '[range($count) | {key: "k\(.)", value: .}] | from_entries'; }
API_TIMEOUT=10 api POST /v1/threads/wide/messages "{$one,\"metadata\":$(members 200000)}"
is "$STATUS" 200 'metadata of very many members takes no time'
api POST /v1/threads/wide/messages "$(jq -nc --argjson metadata "$(members 9000)" \
	'{metadata: $metadata, messages: [range(200) | {role: "user", content: "x"}]}')"
invalid 'metadata must not exceed 10485760 bytes in all messages together' \
	'metadata are not multiplied beyond what could be sent'
bad_message '"hello"' '|type_error' 'messages[1] must be an object'
bad_message null '|type_error' 'messages[1] must be an object'
roles='role must be one of user, assistant, system, tool'
bad_message '{"content":"x"}' '.role|missing' "$roles"
bad_message '{"content":"x","role":null}' '.role|missing' "$roles"
bad_message '{"content":"x","role":"User"}' '.role|value_error' "$roles"
bad_message '{"content":"x","role":""}' '.role|value_error' "$roles"
bad_message '{"content":"x","role":1}' '.role|type_error' "$roles"
needs='messages[1].content must be a string or an array of blocks'
bad_message '{"role":"user"}' '.content|missing' "$needs"
bad_message '{"role":"user","content":null}' '.content|missing' "$needs"
bad_message '{"role":"user","content":5}' '.content|type_error' "$needs"
bad_message '{"role":"user","content":{"type":"text","text":"x"}}' '.content|type_error' "$needs"
bad_message '{"role":"user","content":["x"]}' '.content.0|type_error' 'messages[1].content[0] must be an object'
bad_message '{"role":"user","content":"x","message_id":true}' '.message_id|type_error' \
	'messages[1].message_id must be a string or an integer'
bad_message '{"role":"user","content":"x","message_id":1.5}' '.message_id|type_error' \
	'messages[1].message_id must be a string or an integer'
bad_message '{"role":"user","content":"x","message_id":{}}' '.message_id|type_error' \
	'messages[1].message_id must be a string or an integer'
bad_message '{"role":"user","content":"x","message_id":"a\tb"}' '.message_id|value_error' \
	'messages[1].message_id must be 1 to 255 characters without control characters'
bad_message "{\"role\":\"user\",\"content\":\"x\",\"message_id\":\"$(repeat 256 a)\"}" '.message_id|value_error' \
	'messages[1].message_id must be 1 to 255 characters without control characters'
bad_message '{"role":"user","content":"x","timestamp":"2026-09-02T10:30:00Z"}' '.timestamp|type_error' \
	'messages[1].timestamp must be a number'
bad_message '{"role":"user","content":"x","metadata":"m"}' '.metadata|type_error' 'messages[1].metadata must be an object'
bad_message '{"role":"assistant","content":"x","tools_calls":{}}' '.tools_calls|type_error' \
	'messages[1].tools_calls must be an array'
for member in tool_call_id call_id; do
	for id in 5 true '[]' '{}'; do
		bad_message "{\"role\":\"tool\",\"content\":\"x\",\"$member\":$id}" ".$member|type_error" \
			"messages[1].$member must be a string"
	done
done
bad_message '{"role":"tool","content":"x","tool_call_id":5,"call_id":"c1"}' '.tool_call_id|type_error' \
	'messages[1].tool_call_id must be a string'
for call in 1 '{}' '{"id":"c1"}' '{"id":1,"function":{"name":"n","arguments":"{}"}}' \
	'{"id":"c1","function":{"name":"n","arguments":{}}}'; do
	put bad "{\"role\":\"assistant\",\"content\":\"x\",\"tools_calls\":[$call]}"
	is "$STATUS" 422 "tools_calls [$call] are refused"
	places 'body.messages.0.tools_calls|value_error' 'and the details say where'
done
put bad '{"role":"king"}' '{"content":"x"}'
places 'body.messages.0.role|value_error body.messages.0.content|missing body.messages.1.role|missing' \
	'all mistakes are told'
api GET /v1/threads/bad
not_found 'Thread not found' 'nothing of all this made a thread'

put t "$(user m1 one)" '{"role":"assistant","content":"two"}'
is "$STATUS $(data '| [.success, .message, (keys | length)] | tojson')" '200 [true,"Messages put successfully",3]' \
	'messages are added to an unknown thread'
is "$(data '.data.thread_id')" t 'the answer names it'
is "$(data '.data | keys_unsorted | tojson')" '["thread_id","message_ids"]' 'and the messages'
is "$(data '.data.message_ids[0]')" m1 'by the id that was given'
like "$(data '.data.message_ids[1]')" "$uuid7" 'or made'
api GET /v1/threads/t
is "$STATUS $(data '.thread_data | [.user_id, .run_id] | tojson')" '200 ["anonymous",null]' 'the thread exists'
put t "$(user m1 other)" "$(user m2 x)" "$(user m2 y)"
is "$(data '.data.message_ids | tojson')" '["m2"]' 'only what is new is stored'
message t m1
is "$(data '.content[0].text')" one 'what is there stays'
message t m2
is "$(data '.content[0].text')" x 'of two with one id the first counts'
put t "$(user m1 x)"
is "$STATUS $(data '.data.message_ids | tojson')" '200 []' 'nothing new is no error'
put 07 "$(user m1 x)"
is "$(ids 07)" m1 'ids are unique within their thread only'
api POST /v1/threads/07/messages '{"messages":[],"messages":[{"role":"user","role":"system","content":"y","message_id":"dup"}]}'
message 07 dup
is "$(data .role)" system 'of a field that comes twice the last one counts'
say t /context
is "$(data '.messages[1].content[0].text')" 'context: 4' 'what was added is context of the next run'

# ---- ids ----

for id in null 0 '"0"' '""' '" "' 0.0 -0; do
	like "$(added_id "$id")" "$uuid7" "for message_id $id one is made"
done
is "$(added_id 7)" 7 'an integer becomes its digits'
is "$(added_id -7)" -7 'also a negative one'
is "$(added_id 25.0)" 25 '25.0 is the integer 25'
is "$(added_id 9007199254740993)" 9007199254740993 'large ones are exact'
is "$(added_id 9223372036854775807)" 9223372036854775807 'up to 64 bits'
is "$(added_id 123456789012345678901234567890)" 123456789012345678901234567890 'and beyond'
is "$(added_id '"7"')" null '7 and "7" are one'
is "$(added_id '"07"')" 07 '"07" is another'
is "$(added_id '"00"')" 00 '"00" is an id'
is "$(added_id '" x "')" ' x ' 'blanks around it belong to it'
for id in 'a/b a%2Fb' '.. ..%2F' 'é😀 %C3%A9%F0%9F%98%80' '100% 100%25' "it's it%27s"; do
	added_id "\"${id%% *}\"" >/dev/null
done
message ids a%2Fb
is "$STATUS $(data .message_id)" '200 a/b' 'a slash may be part of it'
message ids %C3%A9%F0%9F%98%80
is "$STATUS $(data .message_id)" '200 é😀' 'as may any character'
message ids 100%25
is "$STATUS $(data .message_id)" '200 100%' 'a percent sign'
message ids it%27s
is "$STATUS $(data .message_id)" "200 it's" 'a quotation mark'
added_id "\"$(repeat 255 ü)\"" >/dev/null
message ids "$(repeat 255 %C3%BC)"
is "$STATUS" 200 'and 255 of them'

# ---- what a message holds ----

add m '{"role":"user","content":"hi"}'
message m "$ID"
is "$(data '| keys_unsorted | join(" ")')" \
	'message_id role content delta tools_calls reasoning timestamp metadata usages raw parsed_content' \
	'a message has these members'
is "$(data '| [.role, .content, .delta, .tools_calls, .reasoning, .metadata, .usages, .raw, .parsed_content] | tojson')" \
	'["user",[{"type":"text","text":"hi","annotations":[]}],false,null,null,{},null,null,null]' 'with these values'
now=$(date +%s)
is "$(data "| .timestamp > $now - 60 and .timestamp <= $now + 1")" true 'its time is now, in seconds'
add m '{"role":"user","content":"x","delta":true,"raw":{"a":1},"usages":{"total_tokens":5},"reasoning":"r","parsed_content":{"x":1},"unknown":1}'
message m "$ID"
is "$(data '| [.delta, .raw, .usages, .reasoning, .parsed_content, has("unknown")] | tojson')" \
	'[false,null,null,null,null,false]' 'what only a model or the server sets is not taken'
for role in user assistant system tool; do
	add m "{\"role\":\"$role\",\"content\":\"x\"}"
	message m "$ID"
	is "$(data .role)" "$role" "the role $role is kept"
done
add m '{"role":"user","content":""}'
message m "$ID"
is "$(data '.content | tojson')" '[{"type":"text","text":"","annotations":[]}]' 'an empty text is a text'
add m '{"role":"user","content":[]}'
message m "$ID"
is "$STATUS $(data '.content | tojson')" '200 []' 'no block is no mistake'
add m '{"role":"user","content":"\u00e9\ud83d\ude00\t\"\\\/ \u0001\u2028"}'
message m "$ID"
is "$(data '.content[0].text | tojson')" "$(printf '"\\u00e9\\ud83d\\ude00\\t\\"\\\\/ \\u0001\\u2028"' | jq -c .)" 'every character but U+0000 is kept'
put m "{\"role\":\"user\",\"content\":\"a\\u0000b\"}"
is "$STATUS" 422 'U+0000 is refused'
put m "$(printf '{"role":"user","content":"\377"}')"
invalid 'Request body must be valid JSON' 'as is what is not UTF-8'

for pair in '1788256800.25 1788256800.25' '1788256800250 1788256800.25' '1000000000000 1000000000000' \
	'1000000000001 1000000000.001' '0 0' '-5 -5'; do
	add m "{\"role\":\"user\",\"content\":\"x\",\"timestamp\":${pair%% *}}"
	message m "$ID"
	is "$(data ".timestamp == ${pair#* }")" true "the timestamp ${pair%% *} is ${pair#* } seconds"
done
add m '{"role":"user","content":"x","timestamp":null}'
message m "$ID"
is "$(data ".timestamp > $now - 60")" true 'the timestamp null is none'

calls='[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]'
add m "{\"role\":\"assistant\",\"content\":\"\",\"tools_calls\":$calls}"
message m "$ID"
is "$(data '.tools_calls | tojson')" "$calls" 'tool calls are kept as history'
add m '{"role":"assistant","content":"","tools_calls":[{"id":"c1","index":0,"function":{"arguments":"{\"a\":1}","name":"f","x":1}}]}'
message m "$ID"
is "$(data '.tools_calls | tojson')" "$calls" 'in their own shape'
add m '{"role":"assistant","content":[{"type":"tool_call","id":"c1","name":"f","args":{"a":1}}],"tools_calls":[]}'
message m "$ID"
is "$(data '.tools_calls | tojson')" "$calls" 'blocks of calls are repeated there'
is "$(context m | wc -w)" "$(ids m | wc -w)" 'all of these stand in the context'
api GET /v1/threads/m/state
is "$(data '.state.execution_meta | [.status, .is_interrupted, .interrupt_reason] | tojson')" '["idle",false,null]' \
	'and none of the calls waits'

# ---- metadata ----

api POST /v1/threads/meta/messages '{"metadata":{"a":1,"b":{"x":1},"n":null},"messages":[
	{"message_id":"none","role":"user","content":"x"},
	{"message_id":"own","role":"user","content":"x","metadata":{"b":{"y":2},"c":3,"n":0}},
	{"message_id":"null","role":"user","content":"x","metadata":{"a":null}}]}'
message meta none
is "$(data '.metadata | tojson')" '{"a":1,"b":{"x":1},"n":null}' 'metadata of the request is that of each message'
message meta own
is "$(data '.metadata | tojson')" '{"b":{"y":2},"c":3,"n":0,"a":1}' 'but for keys that the message has'
message meta null
is "$(data '.metadata.a')" null 'whatever their value'
api POST /v1/threads/meta/messages '{"metadata":null,"config":null,"messages":[
	{"message_id":"big","role":"user","content":"x","metadata":{"i":9223372036854775807,"j":-9223372036854775808,"d":0.1,"e":1e-7,"k":"\u00e9"}}]}'
message meta big
like "$BODY" '"i":9223372036854775807,"j":-9223372036854775808,"d":0\.1,' 'large integers are exact'
is "$(data '.metadata.e == 1e-7')" true 'and fractions as well'
deep() { printf '{"messages":[{"message_id":"deep","role":"user","content":"x","metadata":{"x":%s1%s}}]}' "$(repeat "$1" '[')" "$(repeat "$1" ']')"; }
api POST /v1/threads/meta/messages "$(deep 97)"
is "$STATUS" 422 '101 levels are refused'
api POST /v1/threads/meta/messages "$(deep 100000)"
is "$STATUS" 422 'as are 100,000'
api POST /v1/threads/meta/messages "$(deep 96)"
is "$STATUS" 200 '100 levels are stored'
message meta deep
is "$(data '.metadata.x | flatten | tojson')" '[1]' 'and read'
api GET '/v1/threads/meta/messages?search=x&limit=2&offset=3'
is "$(data '.messages | map(.message_id) | tojson')" '["big","deep"]' 'listed and searched'
api GET /v1/threads/meta/state
is "$(data '.state.context | map(.message_id) | last')" deep 'and are part of the state'

# ---- list and search ----

put s "$(user s1 'Hello World')" "$(user s2 '100% under_score back\slash')" \
	'{"message_id":"s3","role":"assistant","content":[{"type":"text","text":"first"},{"type":"text","text":"Second block"}]}' \
	'{"message_id":"s4","role":"tool","content":[{"type":"tool_result","call_id":"call-x","output":"Needle text"}]}' \
	'{"message_id":"s5","role":"tool","content":[{"type":"tool_result","call_id":"call-y","output":{"key":"Needle object"}}]}' \
	'{"message_id":"s6","role":"assistant","content":[{"type":"tool_call","id":"c1","name":"Needle-tool","args":{"q":"Needle"}},{"type":"reasoning","summary":"Needle reason"}]}' \
	'{"message_id":"s7","role":"user","content":"Ärger und ß","metadata":{"tag":"Needle"}}'

# finds TEXT IDS NAME
finds() {
	api GET "/v1/threads/s/messages?search=$1"
	is "$(data '.messages | map(.message_id) | join(" ")')" "$2" "$3"
}

is "$(ids s)" 's1 s2 s3 s4 s5 s6 s7' 'the oldest message comes first'
api GET /v1/threads/s/messages
listed=$(data '.messages[3]')
message s s4
is "$(data .message_id)|$(data '')" "s4|$listed" 'a message is read as it is listed'
finds hello s1 'a search is blind to the case of ASCII letters'
finds 'O+W' s1 'it looks for a part'
finds '%25' s2 'a percent sign is a percent sign'
finds '0%25+u' s2 'also within words'
finds _ s2 'so is an underscore'
finds 'k%5Cs' s2 'and a backslash'
finds 'd%Frs' '' 'what is no escape is text'
finds 'second' s3 'every text block counts'
finds 'first%22' '' 'but not the JSON around it'
finds 'firstSecond' '' 'nor two blocks as one'
finds needle s4 'text results of tools count, and nothing else'
finds call-x '' 'no ids'
finds assistant '' 'no roles'
finds '%C3%84rger' s7 'other letters are found as they are'
finds '%C3%A4rger' '' 'in their own case'
finds 'e&offset=1&limit=2' 's2 s3' 'pages are pages of what was found'
finds '%22%27%3B--' '' 'a search is no SQL'
for query in 'limit=2 s1,s2' 'limit=2&offset=5 s6,s7' 'offset=6 s7' 'offset=7 ' 'offset=100 ' \
	'limit=5000&offset=6 s7' 'offset=9223372036854775807 '; do
	api GET "/v1/threads/s/messages?${query%% *}"
	is "$(data '.messages | map(.message_id) | join(",")')" "${query#* }" "?${query%% *}"
done
for query in 'limit=0 limit must be > 0' 'limit=-1 limit must be > 0' 'offset=-1 offset must be >= 0' \
	'limit=abc limit must be an integer' 'offset=1.5 offset must be an integer' 'limit= limit must not be empty'; do
	api GET "/v1/threads/s/messages?${query%% *}"
	invalid "${query#* }" "?${query%% *} is refused"
done
api POST /v1/threads/many/messages "$(jq -nc '{messages: [range(1100) | {message_id: "n\(.)", role: "user", content: "x"}]}')"
is "$(data '.data.message_ids | length')" 1100 'many messages are added at once'
is "$(ids many | wc -w | tr -d ' ')" 100 'without a limit 100 are listed'
api GET '/v1/threads/many/messages?limit=1001'
is "$(data '.messages | [length, .[0].message_id, .[999].message_id] | tojson')" '[1000,"n0","n999"]' 'at most 1000'
api GET '/v1/threads/many/messages?limit=2000&offset=1000'
is "$(data '.messages | [length, .[0].message_id] | tojson')" '[100,"n1000"]' 'the rest is on the next page'

# ---- delete ----

for body in '' '{}' '{"config":{}}' '{"config":null}'; do
	put d "$(user gone x)"
	api DELETE /v1/threads/d/messages/gone "$body"
	is "$STATUS $(data '')" '200 {"success":true,"message":"Message deleted successfully"}' "a message is deleted with '$body'"
	api DELETE /v1/threads/d/messages/gone "$body"
	not_found 'Message not found' 'once'
done
message d gone
not_found 'Message not found' 'and is not there any more'
message d 0
not_found 'Message not found' 'a message that never was'
api HEAD /v1/threads/d/messages/gone
is "$STATUS $BODY" '404 ' 'is not there for HEAD'
put d "$(user a x)" "$(user b x)" "$(user c x)"
api DELETE /v1/threads/d/messages/b
is "$(ids d)|$(context d)" 'a c|a c' 'it leaves list and context'
put d "$(user b back)"
is "$(ids d)|$(context d)" 'a c b|a c b' 'its id can be used again'
for id in a b c; do
	api DELETE "/v1/threads/d/messages/$id"
done
api GET /v1/threads/d/messages
is "$STATUS $(data '')" '200 {"messages":[]}' 'a thread may have no message'

done_testing
