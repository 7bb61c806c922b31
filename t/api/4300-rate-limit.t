#!/bin/sh
# SPDX-License-Identifier: ISC
# The rate limit: what is counted, what the answers say about it, and the window.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/api/limit.sh"

configure ''
api GET /v1/graph
unlike "$HEADERS" '^(X-RateLimit|Retry-After)' 'without a rate limit no answer speaks of one'

limit '"requests":3,"window":60,"exclude_paths":["/v1/graph/tools","/v1/graph/ws"]'
now=$(date +%s)
api GET /v1/graph
is "$(counts)" '3 2 60 ' 'an allowed request says limit, what is left, and the window'
reset=$(header X-RateLimit-Reset)
ok "[ $reset -ge $((now + 60)) ] && [ $reset -le $(($(date +%s) + 60)) ]" 'and when that is, in Unix seconds'
api HEAD /v1/graph
is "$(left)" '200 1' 'HEAD counts'
api GET /nope
is "$(left)" '404 0' 'an unknown path counts, and its error says so'
api GET /v1/graph
is "$STATUS" 429 'then it is enough'
is "$(header Status)" '429 Too Many Requests' 'by that name'
retry=$(header Retry-After)
is "$(counts)" "3 0 $retry $retry" 'the headers say when to come again'
ok "[ $retry -ge 50 ] && [ $retry -le 60 ]" 'when the first request leaves the window'
ok "[ $(header X-RateLimit-Reset) -le $((reset + 1)) ]" 'which is the same time as before'
text="Too many requests. Limit: 3 per 60s. Retry after ${retry}s."
is "$(json '[.detail, .error_code, .error.code, .error.message, .metadata.message] | join("|")' "$BODY")" \
	"$text|RATE_LIMIT_EXCEEDED|RATE_LIMIT_EXCEEDED|$text|$text" 'the body has the text'
is "$(json -c '.error | del(.message)' "$BODY" 2>/dev/null || printf '%s' "$BODY" | jq -c '.error | del(.message)')" \
	"{\"code\":\"RATE_LIMIT_EXCEEDED\",\"details\":[],\"limit\":3,\"window_seconds\":60,\"retry_after_seconds\":$retry}" \
	'and the numbers'
ok '[ "$(header X-Request-ID)" = "$(json .metadata.request_id "$BODY")" ]' 'like any other error'

api GET /v1/graph '' 'Host: elsewhere'
is "$STATUS" 429 'the limit comes before the rest'
api POST /v1/graph/invoke '{'
is "$STATUS" 429 'before the body'
api GET /v1/../..
is "$STATUS" 429 'before the path'
api OPTIONS /v1/graph
is "$STATUS" 429 'OPTIONS alone counts'
api OPTIONS /v1/graph '' 'Origin: http://app.example' 'Access-Control-Request-Method: GET'
is "$(left)" '200 ' 'a preflight does not'
api GET /v1/graph '' 'Origin: http://app.example'
is "$STATUS $(header Access-Control-Allow-Origin)" '429 http://app.example' 'a refusal has the headers for other origins'
for path in /ping '/ping?x=1' /%70ing; do
	api GET "$path"
	is "$(left)" '200 ' "$path is never counted"
done
api POST /ping
is "$(left)" '405 ' 'whatever the method'
api GET /v1/graph/tools
is "$(left)" '200 ' 'nor is an excluded path'
api GET '/v1/graph/tools?x=1'
is "$(left)" '200 ' 'with a query or without'
api GET /v1/graph/tools/
is "$STATUS" 429 'a path that is almost excluded is counted'
handshake /v1/graph/ws
is "$(left)" '200 ' 'an excluded handshake is let in'
api HEAD /v1/graph
is "$STATUS $BODY" '429 ' 'a refused HEAD has no body'

# A longer window where a busy machine does not ask so often within a short one.
for window in 2 10 60; do
	limit "\"requests\":2,\"window\":$window"
	for _ in 1 2 3; do api GET /v1/graph; done
	third=$STATUS
	api GET /v1/graph
	[ "$third $STATUS" != '429 429' ] || break
done
is "$third" 429 'over a short limit'
sleep "$(header Retry-After)"
api GET /v1/graph
is "$STATUS" 200 'who waits as long as told is let in, however often it asked meanwhile'

limit '"requests":1,"window":60,"enabled":false'
api GET /v1/graph
api GET /v1/graph
is "$(left)" '200 ' 'a block that is not enabled counts nothing'

# Streams and what fails later carry the headers as well.
limit '"requests":9,"window":60'
api POST /v1/graph/stream "$(a_run hello)"
is "$(left)" '200 8' 'a stream says what is left'
api POST /v1/graph/invoke '{"messages":1}'
is "$(left)" '422 7' 'so does a mistake in the body'
api GET /v1/threads/none
is "$(left)" '404 6' 'and what does not exist'
api DELETE /v1/graph
is "$(left)" '405 5' 'and a method that is not allowed'

# ---- handshakes ----

limit '"requests":1,"window":60'
handshake /v1/graph/ws
is "$(left)" '200 0' 'a handshake counts'
handshake /v1/graph/live
is "$STATUS $(header X-WebSocket-Close-Code)" '429 1013' 'one too many is refused with the close code'
is "$(json '[.detail, .error_code, .close_code, .error.limit, .error.window_seconds] | join("|")' "$BODY")" \
	'Rate limit exceeded|RATE_LIMIT_EXCEEDED|1013|1|60' 'and the same numbers'
is "$(counts)" "1 0 $(header Retry-After) $(json .error.retry_after_seconds "$BODY")" 'and headers'
api GET /v1/graph/ws
is "$STATUS $(json 'has("close_code")' "$BODY")" '429 false' 'what is no handshake has no close code'
like "$BODY" 'Too many requests' 'but the text of all others'

# ---- all processes count together ----

# Sixteen clients, each with eight requests, against two workers.
limit '"requests":100,"window":600'
SOCKET=$WORK/pool.sock
serve_run --no-nginx --processes 2 --threads 4 --socket "$SOCKET"
client() {
	for _ in 1 2 3 4 5 6 7 8; do
		env -i PATH="$PATH" REQUEST_METHOD=GET REQUEST_URI=/v1/graph SERVER_PROTOCOL=HTTP/1.1 \
			REMOTE_ADDR=192.0.2.1 HTTP_HOST=localhost cgi-fcgi -bind -connect "$SOCKET" </dev/null |
			sed -n '1s/^Status: \([0-9]*\).*/\1/p'
	done
}
clients=
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	client >"statuses.$i" &
	clients="$clients $!"
done
# shellcheck disable=SC2086 # a list
wait $clients
is "$(cat statuses.* | sort | uniq -c | tr -s ' ' | paste -sd ' ' -)" ' 100 200  28 429' \
	'of many at once exactly as many as the limit are let in'
set -- $(children "$SERVE_PID")
kill -9 "$1"
wait_for 30 gone "$1"
API_ADDRESS=192.0.2.1
for _ in 1 2 3 4; do api GET /v1/graph; echo "$STATUS"; done >after
is "$(sort -u after)" 429 'the count survives the death of a worker'
serve_stop
unset API_ADDRESS

limit '"requests":1,"window":600'
STATE=$WORK/kept
mkdir "$STATE"
api GET /v1/graph
api GET /v1/graph
is "$STATUS" 429 'a limit that is reached'
serve_stop
STATE=$WORK/kept
api GET /v1/graph
is "$STATUS" 200 'is forgotten when the service starts again'

done_testing
