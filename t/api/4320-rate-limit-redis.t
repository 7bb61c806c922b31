#!/bin/sh
# SPDX-License-Identifier: ISC
# The rate limit's shared backend: instances count together, and what happens when it fails is defined.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/api/limit.sh"
. "$TOP_SRCDIR/t/api/redis.sh"

# shared REQUESTS WINDOW [MORE]: a worker that counts at REDIS.
shared() {
	limit "\"backend\":\"cache\",\"requests\":$1,\"window\":$2,\"cache\":\"unix://$REDIS\"${3:+,$3}"
	api_start
}

# ask: a request; IN_TIME has its status, and whether the answer came without waiting for one who never
# says anything; the bound leaves room for a busy machine.
ask() {
	ask_at=$(milliseconds)
	api GET /v1/graph
	ask_for=$(($(milliseconds) - ask_at))
	IN_TIME="$STATUS in time"
	[ "$ask_for" -lt 10000 ] || IN_TIME="$STATUS after $ask_for ms"
}

redis_start
shared 3 600
api GET /v1/graph
is "$(counts)" '3 2 600 ' 'requests are counted at the server'
is "$(redis keys '*')" agentgraph:rate-limit:127.0.0.1 'under prefix and key'
ttl=$(redis ttl agentgraph:rate-limit:127.0.0.1)
ok "[ $ttl -gt 590 ] && [ $ttl -le 600 ]" 'which goes with the window'
first=$SERVE_PID
SOCKET= STATE=
api_start
api GET /v1/graph
is "$(left)" '200 1' 'by all instances together'
redis script flush >/dev/null
api GET /v1/graph
is "$(left)" '200 0' 'also after the server has forgotten its scripts'
api GET /v1/graph
retry=$(header Retry-After)
is "$STATUS $(counts)" "429 3 0 $retry $retry" 'one too many is refused'
ok "[ $retry -gt 580 ] && [ $retry -le 600 ]" 'until the first one leaves'
is "$(redis llen agentgraph:rate-limit:127.0.0.1)" 3 'refused requests are not counted'
tap_stop "$first"

# A longer window where a busy machine takes too long for a short one.
for window in 8 24 72; do
	shared 2 $window '"exclude_paths":["/v1/graph/tools"]'
	redis flushall >/dev/null
	api GET /v1/graph
	sleep $((window / 2))
	api GET /v1/graph
	api GET /v1/graph
	refused=$STATUS retry=$(header Retry-After)
	sleep "${retry:-0}"
	api GET /v1/graph
	[ "$refused $(left)" != '429 200 0' ] || break
done
is "$refused" 429 'the window slides'
ok "[ $retry -ge 1 ] && [ $retry -le $((window / 2)) ]" "until the first one leaves it ($retry s)"
is "$(left)" '200 0' 'each request leaves it by itself'
api GET /v1/graph/tools
is "$(left)" '200 ' 'an excluded path asks nobody'
ok 'wait_for 20 sh -c "[ \"\$(redis-cli -s $REDIS exists agentgraph:rate-limit:127.0.0.1)\" = 0 ]"' 'nothing is left behind'

limit "\"backend\":\"redis\",\"requests\":2,\"by\":\"global\",\"redis\":{\"url\":\"\${WHERE}\",\"prefix\":\"mine\"}"
export WHERE="unix://$REDIS"
api_start
api GET /v1/graph
is "$(left) $(redis keys '*')" '200 1 mine:__global__' 'the prefix is a choice, and redis another word for cache'

# ---- failures ----

shared 1 600 '"fail_open":true'
redis set agentgraph:rate-limit:127.0.0.1 'not a list' >/dev/null
ask
is "$IN_TIME $(header X-RateLimit-Limit)" '200 in time ' 'a key that is something else counts as a failure'
redis del agentgraph:rate-limit:127.0.0.1 >/dev/null
api GET /v1/graph
is "$(left)" '200 0' 'for that key alone'
redis_stop
ask
is "$IN_TIME $(header X-RateLimit-Limit)" '200 in time ' 'without the server requests are let in uncounted'
ask
is "$IN_TIME" '200 in time' 'again and again'
is "$(grep -c 'backend of the rate limit failed: requests are let in' "$SERVE_ERR")" "$([ -n "$PAIR" ] && echo 2 || echo 1)" 'which is told once'
redis_fake silent
sleep 1.1
ask
is "$IN_TIME" '200 in time' 'a server that hangs is not waited for'
redis_stop
redis_fake garbage
sleep 1.1
ask
is "$IN_TIME" '200 in time' 'nor one that talks nonsense'
redis_stop
redis_fake agreeable
sleep 1.1
ask
is "$IN_TIME $(header X-RateLimit-Limit)" '200 in time ' 'an answer that is no count is none'
redis_stop
redis_start
sleep 1.1
api GET /v1/graph
is "$(left)" '200 0' 'when the server is back it counts'
api GET /v1/graph
is "$STATUS" 429 'and refuses'
redis_stop
redis_start
api GET /v1/graph
is "$(left)" '200 0' 'a restart is not noticed'
kill -STOP "$REDIS_PID"
ask
is "$IN_TIME" '200 in time' 'a server that is stopped in the middle is a failure'
kill -CONT "$REDIS_PID"
redis_stop

shared 1 600 '"fail_open":false'
ask
is "$IN_TIME $(counts)" '429 in time 1 0 1 1' 'with fail_open false requests are refused, for a second'
is "$(json '[.error_code, .error.retry_after_seconds] | join(" ")' "$BODY")" 'RATE_LIMIT_EXCEEDED 1' 'with the same body'
api GET /ping
is "$STATUS" 200 'but for those that are never counted'
like "$(cat "$SERVE_ERR")" 'backend of the rate limit failed: requests are refused' 'the log says so'
redis_fake silent
sleep 1.1
ask
is "$IN_TIME" '429 in time' 'also when the server hangs'
redis_stop
redis_start
sleep 1.1
api GET /v1/graph
is "$(left)" '200 0' 'until it is back'

# ---- configuration ----

# refused TEXT MEMBERS...: a block that the start is refused for.
refused() {
	text=$1
	limit "$2" "${3-}"
	"$AGENTGRAPH" check >out 2>&1
	is $? 1 "refused: $text"
	like "$(cat out)" "$text" 'with a sentence'
	ok '! grep -q s3cret out' 'that does not show the password'
}
refused 'rate_limit.cache: rediss:// is not supported' '"backend":"cache","cache":"rediss://:s3cret@localhost"'
refused 'rate_limit.cache.url: expected redis://' '"backend":"cache","cache":{"url":"http://:s3cret@localhost"}'
refused 'rate_limit.redis: expected redis://' '"backend":"redis","redis":"http://:s3cret@localhost"'
refused 'rate_limit.cache.*found nothing' '"backend":"cache"'

limit "\"backend\":\"cache\",\"cache\":\"unix://$WORK/none.sock\""
"$AGENTGRAPH" check >out 2>&1
is $? 0 'a server that does not answer is no reason not to start'
like "$(cat out)" 'warning: rate_limit.cache: the server at .*none.sock does not answer' 'but one for a warning'

done_testing
