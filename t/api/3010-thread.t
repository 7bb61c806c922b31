#!/bin/sh
# SPDX-License-Identifier: ISC
# GET and DELETE /v1/threads/{thread_id}, and which ids are valid, wherever one occurs.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/threads.sh"

blank='thread_id cannot be empty or whitespace'
shape='thread_id must be 1 to 255 characters without control characters'
positive='thread_id must be a positive integer'
e255=$(repeat 255 '%F0%9F%98%80')

# ---- ids in paths ----

# takes ID NAME: the path gets as far as looking for the thread.
takes() {
	api GET "/v1/threads/$1"
	not_found 'Thread not found' "$2"
}

# refuses ID TEXT NAME
refuses() {
	api GET "/v1/threads/$1"
	invalid "$2" "$3"
}

refuses '' "$blank" 'an empty id is refused'
places 'path.thread_id|value_error' 'and the details say where'
refuses %20 "$blank" 'a blank is no id'
refuses %20%09%0A%20 "$blank" 'nor is white space'
refuses %C2%A0%E3%80%80 "$blank" 'of any alphabet'
refuses 0 "$positive" 'nor is 0'
refuses -1 "$positive" 'nor a negative number'
refuses -99999999999999999999 "$positive" 'of any size'
refuses -0 "$positive" 'nor -0'
refuses 000 "$positive" 'nor any other 0'
refuses %2B0 "$positive" 'with a sign or without'
refuses a%01 "$shape" 'control characters are refused'
refuses a%0Ab "$shape" 'a line feed is one'
refuses a%7F "$shape" 'as is DEL'
refuses a%C2%9F "$shape" 'and those above it'
refuses "$(repeat 256 a)" "$shape" '256 characters are too many'
refuses "$(repeat 10240 a)" "$shape" 'as are 10 kB'
refuses "$e255%F0%9F%98%80" "$shape" 'characters count, of whatever length'
takes "$(repeat 255 a)" '255 are not'
takes "$e255" 'not even when they are long'
takes 1 'a positive number is an id'
takes 99999999999999999999 'of any size'
takes +5 'a sign is no harm'
for id in 1.5 - + -x 0x0 1e3 -1a '0%20' %200 new null true ... a..b '..%2F..' %2F %2E%2E%2Fx '%25' '%3F' '%23' \
	'%22' '%27' '%5C' "';DROP%20TABLE%20threads;--" '*' '%C3%A9' '%F0%9F%91%8D' '%E2%80%8B'; do
	takes "$id" "$id is an id"
done
api GET /v1/threads/%00
refused 400 BAD_REQUEST 'Invalid path' 'NUL is refused with the path'
api GET /v1/threads/a%C3
refused 400 BAD_REQUEST 'Invalid path' 'and so is what is not UTF-8'
api GET /v1/threads/..
refused 404 NOT_FOUND 'Not Found' 'two dots lead to another path'
api GET /v1/threads/.
invalid "$blank" 'one dot leads to no id'
api GET /v1/threads/%2E%2E
refused 404 NOT_FOUND 'Not Found' 'encoded or not'

# Every other route below the thread looks at the id in the same way, before the body matters.
for route in 'DELETE ' 'PATCH ' 'GET /state' 'PUT /state' 'DELETE /state' 'GET /messages' 'POST /messages' \
	'GET /messages/m' 'DELETE /messages/m'; do
	case $route in
	GET*) body= ;;
	PUT*) body='{"state":{}}' ;;
	POST*) body='{"messages":[{"role":"user","content":"x"}]}' ;;
	*) body='{}' ;;
	esac
	api "${route%% *}" "/v1/threads/%20${route#* }" "$body"
	invalid "$blank" "$route refuses a blank id"
	api "${route%% *}" "/v1/threads/-7${route#* }" "$body"
	invalid "$positive" "$route refuses a number below 1"
	api "${route%% *}" "/v1/threads/$(repeat 256 a)${route#* }" "$body"
	invalid "$shape" "$route refuses a long id"
done
api GET /v1/threads
is "$(data .threads)" '[]' 'nothing of all this made a thread'

# ---- get ----

put 7 "$(user m1 one)"
put 07 "$(user m1 two)"
put a%2Fb "$(user m1 three)"
put ..%2Fx "$(user m1 four)"
put %F0%9F%91%8D%20ok "$(user m1 five)"
put "$e255" "$(user m1 six)"
for id in '7 7' '07 07' 'a%2Fb a/b' '..%2Fx ../x' '%F0%9F%91%8D%20ok 👍 ok'; do
	api GET "/v1/threads/${id%% *}"
	is "$STATUS $(data .thread_data.thread_id)" "200 ${id#* }" "the thread ${id#* } is there under its id"
done
api GET /v1/threads/+7
not_found 'Thread not found' 'ids are compared as text'
api GET "/v1/threads/$e255/messages"
is "$(data '.messages[0].content[0].text')" six 'a long id works throughout'
say a/b hello
api GET /v1/threads/a%2Fb/messages
is "$(data '.messages | length')" 3 'paths and bodies name the same thread'

api GET /v1/threads/7
is "$STATUS" 200 'a thread is read'
is "$(json '"\(.success) \(.message)"' "$BODY")" 'true OK' 'in the envelope'
is "$(data '| keys | join(" ")')" thread_data 'data has only the record'
is "$(data '.thread_data | keys_unsorted | join(" ")')" \
	'thread_id thread_name user_id metadata created_at updated_at run_id status thread' 'which holds itself once more'
is "$(data '.thread_data | del(.thread) == .thread')" true 'without a difference'
created=$(data .thread_data.created_at)
updated=$(data .thread_data.updated_at)
put 7 "$(user m2 more)"
api GET /v1/threads/7
is "$(data .thread_data.created_at)" "$created" 'the time of creation stays'
expr "$(data .thread_data.updated_at)" '>' "$updated" >/dev/null
ok $? 'that of the latest change moves'
now=$(date -u +%Y-%m-%dT%H:%M)
like "$(data .thread_data.updated_at)" "^(${now%:*}|$(date -u -d '-1 minute' +%Y-%m-%dT%H))" 'and is the time'
api POST /v1/graph/invoke \
	'{"messages":[{"role":"user","content":"x"}],"config":{"thread_id":7,"run_id":"my-run"}}'
api GET /v1/threads/7
is "$(data .thread_data.run_id)" my-run 'an integer in a body names the same thread'

# ---- delete ----

api DELETE /v1/threads/7
invalid 'Request body is required' 'deleting a thread takes a body'
for body in '{"config":1}' '{"config":[]}' '{"config":"x"}'; do
	api DELETE /v1/threads/7 "$body"
	invalid 'config must be an object' "$body is refused"
	places 'body.config|type_error' 'and the details say where'
done
api DELETE /v1/threads/7 '[]'
invalid 'Request body must be a JSON object' 'an array is no body'
api DELETE /v1/threads/unknown '{"config":1}'
invalid 'config must be an object' 'the body is looked at before the thread'
api DELETE /v1/threads/7 '{"config":{"thread_id":"07"},"thread_id":"07"}'
is "$STATUS $(data '')" '200 {"success":true,"message":"Thread deleted successfully","data":true}' \
	'the thread of the path is deleted'
api GET /v1/threads/07
is "$STATUS" 200 'not one that the body names'
api DELETE /v1/threads/7 '{"config":null}'
not_found 'Thread not found' 'it can be deleted once'
for path in '' /state /messages /messages/m1; do
	api GET "/v1/threads/7$path"
	not_found 'Thread not found' "GET ...$path finds nothing of it"
done
api DELETE /v1/threads/7/state
not_found 'Thread not found' 'nor does DELETE ...state'
api DELETE /v1/threads/7/messages/m1 '{}'
not_found 'Thread not found' 'nor DELETE of a message'
api POST /v1/graph/fix '{"thread_id":"7"}'
not_found 'Thread not found' 'nor fix'

say 7 /context
is "$(data .meta.is_new_thread)" true 'the id can be used again'
is "$(data '.messages[1].content[0].text')" 'context: 1' 'and nothing is left from before'
api GET /v1/threads/7
expr "$(data .thread_data.created_at)" '>' "$created" >/dev/null
ok $? 'it has an age of its own'

say paused '/ask Which?'
api DELETE /v1/threads/paused '{}'
say paused hello
is "$(data '.messages[1].content[0].text')" 'echo: hello' 'a pause goes with its thread'

# ---- ids in bodies ----

for route in stop fix; do
	api POST "/v1/graph/$route" '{}'
	invalid "$blank" "$route needs an id"
	places 'body.thread_id|missing' 'and says where'
	for body in '{"thread_id":null}' '{"thread_id":""}' '{"thread_id":" \t"}' '{"thread_id":"\u3000"}'; do
		api POST "/v1/graph/$route" "$body"
		invalid "$blank" "$route refuses $body"
	done
	for body in '{"thread_id":0}' '{"thread_id":-1}' '{"thread_id":-99999999999999999999}' '{"thread_id":"-1"}' \
		'{"thread_id":"+0"}' '{"thread_id":-0}'; do
		api POST "/v1/graph/$route" "$body"
		invalid "$positive" "$route refuses $body"
	done
	for body in '{"thread_id":true}' '{"thread_id":1.5}' '{"thread_id":{}}' '{"thread_id":["t"]}'; do
		api POST "/v1/graph/$route" "$body"
		invalid 'thread_id must be a string or an integer' "$route refuses $body"
		places 'body.thread_id|type_error' 'and says where'
	done
	api POST "/v1/graph/$route" "{\"thread_id\":\"$(repeat 256 a)\"}"
	invalid "$shape" "$route refuses a long id"
	api POST "/v1/graph/$route" '{"thread_id":"a\n"}'
	invalid "$shape" "$route refuses control characters"
	api POST "/v1/graph/$route" '{"thread_id":"t","config":[]}'
	invalid 'config must be an object' "$route refuses a config that is none"
done
put 18446744073709551616 "$(user m1 big)"
api POST /v1/graph/fix '{"thread_id":18446744073709551616}'
is "$STATUS" 200 'an integer beyond 64 bits is its digits'
api POST /v1/graph/fix '{"thread_id":7.0}'
is "$STATUS" 200 '7.0 is the integer 7'

done_testing
