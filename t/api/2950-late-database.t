#!/bin/sh
# SPDX-License-Identifier: ISC
# A service that starts before its database serves as soon as that is there; an error that waiting cannot cure ends it.
set -u
AGENTGRAPH_ENGINE=postgresql
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
: "${AGENTGRAPH_WS:=$(dirname "$AGENTGRAPH")/agentgraph-ws}"

PG=$PG_DIR
PG_DIR= # all have the address that is set here
trap '"$TOP_SRCDIR/t/postgresql-server" stop "$PG"; tap_end' EXIT
at_server() { psql "postgresql:///postgres?host=$PG&user=agent" -X -q -A -t -c "$1"; }
server() { "$TOP_SRCDIR/t/postgresql-server" "$@"; }
# refused URL WORDS NAME: neither check nor serve goes on, and both say why, without the password.
refused() {
	DATABASE_URL=$1 "$AGENTGRAPH" check --state "$WORK/refused" >/dev/null 2>checked
	is $? 1 "$3: check fails"
	like "$(cat checked)" "error: database: .*$2" 'and names it'
	DATABASE_URL=$1 timeout 60 "$AGENTGRAPH" serve --no-nginx --state "$WORK/refused" >/dev/null 2>served
	is $? 1 'serve does not start'
	like "$(cat served)" "error: database: .*$2" 'and names it'
	unlike "$(cat checked served)" 'sesame' 'without the password'
}

at_server "CREATE ROLE strict LOGIN PASSWORD 'open'"
printf 'local all strict scram-sha-256\nlocal all all trust\n' >"$PG/data/pg_hba.conf"
at_server 'SELECT pg_reload_conf()' >reloaded
refused "postgresql:///nowhere?host=$PG&user=agent&password=sesame" 'database "nowhere" does not exist' 'an unknown database'
refused "postgresql:///postgres?host=$PG&user=nobody&password=sesame" 'role "nobody" does not exist' 'an unknown role'
refused "postgresql:///postgres?host=$PG&user=strict&password=sesame" 'password authentication failed for user "strict"' 'a wrong password'
DATABASE_URL="postgresql:///postgres?host=$PG&user=strict" PGPASSFILE=/dev/null "$AGENTGRAPH" check >/dev/null 2>checked
like "$(cat checked)" 'error: database: .*no password supplied' 'no password'

server crash "$PG."
DATABASE_URL="postgresql:///postgres?host=$PG&user=agent"
export DATABASE_URL
"$AGENTGRAPH" check >/dev/null 2>checked
is $? 1 'check fails without a server'
like "$(cat checked)" 'error: database: .*\.s\.PGSQL\.5432' 'and says where it looked'
"$AGENTGRAPH" backup --state "$WORK/none" saved 2>checked
is "$? $(cat checked)" '1 agentgraph: no backup is made: postgresql has its own tools for that: pg_dump and pg_restore' \
	'a backup names the tools that make it, without a server or a state directory'

printf '{"agent":"builtin:demo","runs":{"background":2}}\n' >agentgraph.json
STATE=$WORK/state
api_start
ok $? 'serve starts without'
like "$(cat "$SERVE_ERR")" 'warning: database: .*; requests are answered with 503 until it can be reached' 'and says so'
api GET /ping
is "$STATUS" 200 'what needs no database is answered'
invoke hello "$(thread t)"
is "$STATUS $(json .error.code "$BODY")" '503 TRANSIENT_STORAGE_ERROR' 'the rest is 503'
unlike "$BODY" 'PostgreSQL|socket|agent' 'which tells no insides'
api GET /v1/threads
is "$STATUS $(json .error.code "$BODY")" '503 TRANSIENT_STORAGE_ERROR' 'whatever is asked'
printf 'T%s\n' "$(run_body "[$(user hello)]" "$(thread t)")" | "$AGENTGRAPH_WS" --by-hand --state "$STATE" >frames 2>>"$WORK/log"
like "$(cat frames)" '"error_code":"TRANSIENT_STORAGE_ERROR".*"thread_id":"t"' 'a frame, too, for its thread'
api GET /v1/nothing
is "$STATUS" 404 'what is nowhere is not there'
processes=$(children "$SERVE_PID")
server crash "$PG"
answered() { invoke hello "$(thread t)" && [ "$STATUS" = 200 ]; }
wait_for 30 answered
ok $? 'it serves as soon as the database is there'
api POST /v1/graph/runs "$(run_body "[$(user '/add 2 3')]" "$(thread q '"run_id":"r1"')")"
is "$STATUS" 202 'a run is queued'
has_run() { api GET /v1/threads/q/runs/r1 && [ "$(json .data.status "$BODY")" = completed ]; }
wait_for 30 has_run
ok $? 'and executed'
server crash "$PG."
api GET /v1/files/0123456789abcdef0123456789abcdef
is "$STATUS $(json .error.code "$BODY")" '503 TRANSIENT_STORAGE_ERROR' 'a file that cannot be looked up'
for process in $processes; do
	alive "$process" || break
done
ok $? 'all by the processes that waited'
like "$(cat "$SERVE_ERR")" 'has its database' 'which say so'
serve_stop
is $? 0 'and end in order'

STATE=$WORK/state
api_start
serve_stop
is $? 0 'so do those that still wait'
done_testing
