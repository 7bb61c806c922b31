#!/bin/sh
# SPDX-License-Identifier: ISC
# Bodies that are too large, cut short, or announced wrongly.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/fastcgi.sh"

# take TEXT: an answer as `raw` prints it.
take() {
	HEADERS=$(printf '%s\n' "$1" | tr -d '\r' | sed '/^$/q')
	BODY=$(printf '%s\n' "$1" | tr -d '\r' | sed '1,/^$/d')
	STATUS=$(header Status)
	STATUS=${STATUS%% *}
}

stop=/v1/graph/stop
body='{"thread_id":"t"}'

api_start
take "$(raw ask POST $stop 10485761 "$body")"
is "$STATUS" 413 'an announced body over the limit is refused'
is "$(json .detail "$BODY")" 'Request body too large. Maximum size is 10.0MB' 'with the limit'
is "$(json .error_code "$BODY")" REQUEST_TOO_LARGE 'a code'
is "$(json '.error | [.max_size_bytes, .max_size_mb] | join(" ")' "$BODY")" '10485760 10' 'and numbers'
serve_stop

export MAX_REQUEST_SIZE=40000
api_start
take "$(raw ask POST $stop '' "$body")"
is "$STATUS" 200 'a body of unknown length is read'
take "$(raw flood POST $stop '' "$(printf '%1000s' '')")"
is "$STATUS" 413 'until it is over the limit'
is "$(json .error.max_size_mb "$BODY")" 0.03814697265625 'which is told as it is'
take "$(raw ask POST $stop 17 "$body")"
is "$STATUS" 200 'an announced one is read'

for length in -1 1x 0x11 ' 17' 17,17 99999999999999999999; do
	take "$(raw ask POST $stop "$length" "$body")"
	is "$STATUS" 400 "the length '$length' is refused"
	is "$(json .error_code "$BODY")" INVALID_CONTENT_LENGTH 'with its code'
done
is "$(json .detail "$BODY")" 'Invalid Content-Length header.' 'and a sentence'

# many N: an object with N values in it, beside itself and the thread's id.
many() {
	printf '{"thread_id":"t","x":[1%s]}' "$(printf '%*s' $(($1 - 2)) '' | sed 's/ /,1/g')"
}

api POST $stop "$(many 4998)"
is "$STATUS" 200 'a body may have a value for every 8 bytes that it may have'
api POST $stop "$(many 4999)"
is "$STATUS" 422 'one more is refused'
is "$(json .detail "$BODY")" 'Request body must not have more values than an eighth of the bytes that it may have' 'with a sentence'

say='{"messages":[{"role":"user","content":"hello"}]}'
take "$(raw ask POST /v1/threads/cut/messages 48 "$say")"
is "$STATUS" 200 'messages that arrive whole are stored'
take "$(raw cut POST /v1/threads/cut/messages 60 "$say")"
is "$STATUS" 400 'those that end before their length are not'
is "$(json .error_code "$BODY")" BAD_REQUEST 'they are a bad request'
take "$(raw ask POST /v1/threads/cut/messages 60 "$say")"
is "$STATUS" 400 'whether the connection broke or not'
take "$(raw cut POST /v1/threads/cut/messages '' "$say")"
is "$STATUS" 400 'nor is a body of unknown length without its end'
api GET /v1/threads/cut/messages
is "$(json '.data.messages | length' "$BODY")" 1 'nothing of them is stored'

done_testing
