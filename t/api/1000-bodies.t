#!/bin/sh
# SPDX-License-Identifier: ISC
# What a request body must be.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

# refused TEXT BODY [HEADER]: by /v1/graph/stop.
refused() {
	text=$1
	shift
	api POST /v1/graph/stop "$@"
	is "$STATUS" 422 "a body is refused: $(printf '%.30s' "$1") ${2-}"
	is "$(json .detail "$BODY")" "$text" 'with a sentence'
}

# place: loc and type of the only detail.
place() { json '.error.details | map("\(.loc | join("."))|\(.type)") | join(" ")' "$BODY"; }

refused 'Request body is required' ''
is "$(place)" 'body|missing' 'and the place'
refused 'Request body must be valid JSON' '{"thread_id":'
is "$(place)" 'body|json_invalid' 'and the place'
refused 'Request body must be valid JSON' '{"thread_id":"t"} x'
refused 'Request body must be valid JSON' "{'thread_id':1}"
refused 'Request body must be valid JSON' '{"thread_id":01}'
refused 'Request body must be valid JSON' '{"thread_id":NaN}'
refused 'Request body must be valid JSON' "$(printf '{"thread_id":"\377"}')"
refused 'Request body must be a JSON object' '[{"thread_id":"t"}]'
is "$(place)" 'body|type_error' 'and the place'
refused 'Request body must be a JSON object' 'null'
refused 'Request body must be a JSON object' '"t"'
refused 'Content-Type must be application/json' '{"thread_id":"t"}' 'Content-Type: text/plain'
is "$(place)" 'header.content-type|value_error' 'and the place'
refused 'Content-Type must be application/json' '{"thread_id":"t"}' 'Content-Type: application/x-www-form-urlencoded'
coded='Content-Encoding must be identity: compressed bodies are not read'
refused "$coded" "$(printf '\037\213\b')" 'Content-Encoding: gzip'
is "$(place)" 'header.content-encoding|value_error' 'and the place'
api POST /v1/graph/stop '{"thread_id":"t"}' 'Content-Encoding: gzip'
is "$STATUS" 200 'but one that is JSON all the same will do'

for type in 'application/json; charset=utf-8' Application/JSON application/vnd.agent+json ''; do
	api POST /v1/graph/stop '{"thread_id":"t"}' "Content-Type: $type"
	is "$STATUS" 200 "the media type '$type' will do"
done

deep() { printf '{"thread_id":"t","x":%s1%s}' "$(printf "%$1s" | tr ' ' '[')" "$(printf "%$1s" | tr ' ' ']')"; }
api POST /v1/graph/stop "$(deep 99)"
is "$STATUS" 200 '100 levels are read'
api POST /v1/graph/stop "$(deep 100)"
is "$STATUS" 422 '101 are not'
api POST /v1/graph/stop "$(deep 100000)"
is "$STATUS" 422 'nor are 100,000'
api POST /v1/graph/stop '{"thread_id":"a\u0000b"}'
is "$STATUS" 422 'U+0000 is refused'
like "$(json .detail "$BODY")" '^Request body ' 'with a sentence'
api POST /v1/graph/stop '{"thread_id":"a","thread_id":"b","unknown":{}}'
is "$(json .data.thread_id "$BODY")" b 'of a field that comes twice the last one counts'

api DELETE /v1/threads/t
is "$STATUS" 422 'deleting a thread takes a body'
for body in '' '{}' '{"config":{}}' '{"config":null}'; do
	api DELETE /v1/threads/t/state "$body"
	is "$STATUS" 404 "deleting a state does not: '$body' gets as far as the thread"
done
api DELETE /v1/threads/t/state '[]'
is "$STATUS" 422 'but what is sent must be right'
api GET /v1/graph '{' 'Content-Type: text/plain'
is "$STATUS" 200 'the body of a GET is not looked at'

done_testing
