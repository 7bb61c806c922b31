#!/bin/sh
# SPDX-License-Identifier: ISC
# The shared cache of owners: it is used while it is there, and never needed.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/api/redis.sh"

owner() { redis-cli -s "$REDIS" get "agentgraph:authz:owner:$1"; }

milliseconds() { echo $(($(date +%s%N) / 1000000)); }

# works NAME: alice has her thread, bob has not, and neither waits for a cache that says nothing.
works() {
	start=$(milliseconds)
	as alice POST /v1/graph/invoke "$(a_run hello "$2")"
	is "$STATUS" 200 "$1: a thread is made"
	as alice GET "/v1/threads/$2"
	is "$STATUS" 200 "$1: it is read"
	as bob GET "/v1/threads/$2"
	is "$STATUS" 403 "$1: by nobody else"
	as alice DELETE "/v1/threads/$2" '{}'
	is "$STATUS" 200 "$1: it is deleted"
	took=$(($(milliseconds) - start))
	ok "[ $took -lt 10000 ]" "$1: and it took no time ($took ms)"
}

configure "\"auth\":\"jwt\",\"authorization\":\"ownership\",\"cache\":\"unix://$REDIS\""
redis_start
api_start --processes 2
ok '! grep -q "cache" "$SERVE_ERR"' 'a cache that answers is no cause for a warning'
as alice POST /v1/graph/invoke "$(a_run hello t1)"
is "$(owner t1)" '' 'that there is no thread is not kept'
as alice GET /v1/threads/t1
is "$(owner t1)" alice 'an owner is kept for everybody'
is "$(redis-cli -s "$REDIS" ttl agentgraph:authz:owner:t1)" -1 'for ever'
as bob GET /v1/threads/none
is "$(owner none)" '' 'an unknown thread is not'
as alice DELETE /v1/threads/t1 '{}'
is "$(owner t1)" '' 'until the thread is deleted'
as bob POST /v1/graph/invoke "$(a_run hello t1)"
as bob GET /v1/threads/t1
is "$STATUS $(owner t1)" '200 bob' 'then it belongs to who made it again'
as alice GET /v1/threads/t1
is "$STATUS" 403 'and to nobody else'

redis_stop
works 'a cache that died' d1
redis_start
tries=0
used_again() {
	tries=$((tries + 1))
	as alice POST /v1/graph/invoke "$(a_run hello "d2-$tries")"
	as alice GET "/v1/threads/d2-$tries"
	[ "$STATUS $(owner "d2-$tries")" = '200 alice' ]
}
ok 'wait_for 30 used_again' 'when it is back it is used again'
redis_stop
redis_fake silent
works 'a cache that hangs' d4
redis_stop
sleep 1.2
redis_fake garbage
works 'a cache that talks nonsense' d5
redis_stop
serve_stop

api_start
like "$(cat "$SERVE_ERR")" 'warning: cache: the server at .* does not answer' 'a cache that is not there is a warning'
works 'without the cache' d6
"$AGENTGRAPH" check >out 2>&1
is $? 0 'check finds no error in that'
serve_stop

redis_start --requirepass 'p@ss word'
configure "\"auth\":\"jwt\",\"authorization\":\"ownership\",\"cache\":\"unix://$REDIS\""
api_start
like "$(cat "$SERVE_ERR")" 'does not answer \(NOAUTH' 'a password that is missing is told'
works 'without the password' d7
serve_stop
redis_stop

# refuses URL TEXT: a URL that is none stops the start, and nothing of it is shown.
refuses() {
	configure "\"auth\":\"jwt\",\"authorization\":\"ownership\",\"cache\":\"$1\""
	"$AGENTGRAPH" check >out 2>&1
	is $? 1 "$1 is refused"
	like "$(cat out)" "$2" 'with a sentence'
	ok '! grep -q s3cret out' 'that does not show it'
}
refuses 'rediss://:s3cret@localhost' 'rediss:// is not supported'
refuses 'http://me:s3cret@localhost' 'agentgraph.json: cache: expected redis://'
refuses 'redis://:s3cret@localhost:none' 'cache: expected redis://'
configure '"auth":"jwt","authorization":"ownership"'
like "$(REDIS_URL=http://localhost "$AGENTGRAPH" check 2>&1)" 'error: REDIS_URL: expected redis://' 'a variable is named'

done_testing
