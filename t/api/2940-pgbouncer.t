#!/bin/sh
# SPDX-License-Identifier: ISC
# Two instances behind PgBouncer in transaction mode.  More of t/api runs through it as NAME.pgb.
set -u
AGENTGRAPH_ENGINE=postgresql
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
[ -x "$(command -v pgbouncer || echo /usr/sbin/pgbouncer)" ] || tap_skip_all 'PgBouncer is not installed'

say() { api POST /v1/graph/invoke "{\"messages\":[{\"role\":\"user\",\"content\":\"$1\"}],\"config\":{\"thread_id\":\"t1\"}}"; }
at_server() { psql "postgresql:///postgres?host=$PG&user=agent" -X -q -A -t -c "$1"; }
pooler() { kill "$(cat "$PG/pooler/pid")" && wait_for 20 [ ! -e "$PG/pooler/pid" ] && rm -rf "$PG/pooler"; }

PG=$PG_DIR
PG_DIR= # both instances have the address that is set here
trap '"$TOP_SRCDIR/t/postgresql-server" stop "$PG"; tap_end' EXIT
"$TOP_SRCDIR/t/postgresql-server" pooler "$PG" || tap_bail 'PgBouncer does not start'
at_server 'CREATE ROLE service LOGIN'
at_server 'CREATE DATABASE agents OWNER service'
DATABASE_URL="postgresql:///agents?host=$PG/pooler&user=service"
export DATABASE_URL

"$AGENTGRAPH" check 2>checked
is $? 1 'a role that names no schema does not do'
like "$(cat checked)" 'ALTER ROLE service SET search_path = agentgraph' 'and check says what to do'
at_server 'ALTER ROLE service SET search_path = agentgraph; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '"'service'" >terminated
"$AGENTGRAPH" check 2>checked
ok $? 'then it does'
like "$(cat checked)" 'database agents as service, schema agentgraph, which the first start makes' 'and check says where it is'

STATE=$WORK/a
mkdir -m 700 "$STATE"
api_start || tap_bail 'the first instance does not start'
one=$SOCKET
STATE=$WORK/b
mkdir -m 700 "$STATE"
api_start || tap_bail 'the second instance does not start'
for i in 1 2 3 4 5; do
	SOCKET=$one say "one $i" && one_status=$STATUS && say "two $i"
	[ "$one_status $STATUS" = '200 200' ] || break
done
is "$one_status $STATUS" '200 200' 'two instances take turns on a thread'
api GET '/v1/threads/t1/messages?limit=100'
is "$(json '[.data.messages[] | select(.role == "user").content[0].text] | join(",")' "$BODY")" \
	'one 1,two 1,one 2,two 2,one 3,two 3,one 4,two 4,one 5,two 5' 'and all is there in order'
ok '[ "$(at_server "SELECT count(*) FROM pg_stat_activity WHERE usename = '"'service'"'")" -le 3 ]' 'they share few sessions'

pooler
say away
is "$STATUS $(json .error_code "$BODY")" '503 TRANSIENT_STORAGE_ERROR' 'without the pooler there is 503'
"$TOP_SRCDIR/t/postgresql-server" pooler "$PG"
goes_on() { say back && [ "$STATUS" = 200 ]; }
wait_for 30 goes_on
ok $? 'until it is there again'
unlike "$(cat "$WORK"/err.*)" 'NOTICE' 'what is no failure is in no log'
done_testing
