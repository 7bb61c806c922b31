#!/bin/sh
# SPDX-License-Identifier: ISC
# A primary PostgreSQL is lost, and a standby takes its place: a service that names both goes on by itself, and has
# everything that it ever acknowledged.
set -u
AGENTGRAPH_ENGINE=postgresql
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

server() { "$TOP_SRCDIR/t/postgresql-server" "$@"; }
STANDBY=$(server standby "$PG_DIR" $$) || tap_bail 'there is no standby'
STATE=$WORK/state
mkdir -m 700 "$STATE"
PG=$PG_DIR
PG_DIR= # the address is that of both, and the servers are this test's to stop
trap 'server stop "$PG"; server stop "$STANDBY"; tap_end' EXIT
DATABASE_URL="postgresql:///postgres?host=$PG,$STANDBY&user=agent&target_session_attrs=read-write"
export DATABASE_URL

# say N: a turn on a thread; what was acknowledged is noted.
say() {
	api POST /v1/graph/invoke '{"messages":[{"role":"user","content":"turn '"$1"'"}],"config":{"thread_id":"t"}}'
	[ "$STATUS" != 200 ] || echo "turn $1" >>acknowledged
}
goes_on() {
	turn=$((turn + 1))
	say "$turn"
	[ "$STATUS" = 200 ]
}

api_start || tap_bail 'the service does not start'
turn=0
while [ $turn -lt 5 ]; do goes_on; done
is "$(wc -l <acknowledged | tr -d ' ')" 5 'a service over a primary and a standby runs'

server crash "$PG."
goes_on
is "$STATUS $(json .error_code "$BODY")" '503 TRANSIENT_STORAGE_ERROR' 'without a primary it answers 503'
ok 'server promote "$STANDBY"' 'the standby becomes the primary'
wait_for 60 goes_on
ok $? 'and the service goes on by itself'
goes_on
is "$STATUS" 200 'from then on'

api GET '/v1/threads/t/messages?limit=1000'
json '.data.messages[] | select(.role == "user") | .content[0].text' "$BODY" >stored
sort stored >sorted
is "$(sort acknowledged | comm -23 - sorted)" '' \
	'all that was acknowledged is there'
is "$(sort stored | uniq -d)" '' 'and nothing twice'

# A connection to a server that became a standby is of no use any more.
psql "postgresql:///postgres?host=$STANDBY&user=agent" -X -q -c 'ALTER SYSTEM SET default_transaction_read_only = on' \
	-c 'SELECT pg_reload_conf()' >/dev/null
wait_for 20 sh -c "[ \"\$(psql 'postgresql:///postgres?host=$STANDBY&user=agent' -X -q -A -t -c 'SHOW default_transaction_read_only')\" = on ]"
goes_on
is "$STATUS" 503 'on a server that can only be read there is 503'
psql "postgresql:///postgres?host=$STANDBY&user=agent&options=-cdefault_transaction_read_only%3Doff" -X -q \
	-c 'ALTER SYSTEM SET default_transaction_read_only = off' -c 'SELECT pg_reload_conf()' >/dev/null
wait_for 60 goes_on
ok $? 'until it can be written'

done_testing
