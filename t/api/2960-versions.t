#!/bin/sh
# SPDX-License-Identifier: ISC
# Versions over one database: what check says about it, without changing anything; several instances that bring an old
# one up to date at once; and one of the next version, beside which this one goes on.
set -u
AGENTGRAPH_ENGINE=postgresql
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
command -v pg_dump >/dev/null || tap_skip_all 'pg_dump is not installed'

PG=$PG_DIR
PG_DIR= # all have the address that is set here
trap '"$TOP_SRCDIR/t/postgresql-server" stop "$PG"; tap_end' EXIT
at_server() { psql "postgresql:///${2-agents}?host=$PG&user=agent" -X -q -A -t -v ON_ERROR_STOP=1 -c "$1"; }
set_version() { at_server "UPDATE agentgraph.version SET number = $1"; }
# checked [USER]: check, which leaves everything as it is; what it says is in the file said.
checked() {
	pg_dump "postgresql:///agents?host=$PG&user=agent" | grep -v '^.restrict\|^.unrestrict' >before
	DATABASE_URL="postgresql:///agents?host=$PG&user=${1-agent}&password=sesame" "$AGENTGRAPH" check --state "$WORK/none" >/dev/null 2>said
	code=$?
	pg_dump "postgresql:///agents?host=$PG&user=agent" | grep -v '^.restrict\|^.unrestrict' >after
	cmp before after >&2 && ! grep -q sesame said
}
database() { grep 'database:' said; }
at_server 'CREATE DATABASE agents' postgres
DATABASE_URL="postgresql:///agents?host=$PG&user=agent"
export DATABASE_URL
newest=$(basename "$(find "$TOP_SRCDIR/sql/postgresql" -name 'postgresql-0*.sql' | sort | tail -n 1)" .sql)
newest=$(printf '%d' "$((1${newest#postgresql-} - 10000))")

# ---- an old one

{
	echo 'CREATE SCHEMA agentgraph; SET search_path = agentgraph; CREATE TABLE version (number integer NOT NULL);'
	echo 'INSERT INTO version VALUES (1);'
	cat "$TOP_SRCDIR/sql/postgresql/postgresql-0001.sql"
} >old.sql
psql "$DATABASE_URL" -X -q -v ON_ERROR_STOP=1 -f old.sql >/dev/null
ok $? 'there is a database of the first version'
checked
ok $? 'check changes nothing of it'
like "$code $(database)" "^0 .*schema agentgraph, version 1, which the next start brings to $newest" 'and says what is outstanding'

pids=
for i in 1 2 3; do
	"$AGENTGRAPH" serve --no-nginx --processes 1 --threads 4 --socket "$WORK/$i.sock" --state "$WORK/state$i" \
		>"out.$i" 2>"$WORK/err.$i" </dev/null &
	pids="$pids $!" tap_pids="$tap_pids $!"
done
serve() { [ "$(grep -l '^agentgraph: serving' out.1 out.2 out.3 | wc -l)" = 3 ]; }
wait_for 60 serve
ok $? 'three instances that start at the same time serve'
is "$(at_server 'SELECT string_agg(number::text, $$ $$) FROM agentgraph.version')" "$newest" 'and it was brought up to date once'
for i in 1 2 3; do
	SOCKET=$WORK/$i.sock invoke "turn $i" "$(thread t)"
done
SOCKET=$WORK/1.sock
api GET /v1/threads/t/messages
is "$(json '[.data.messages[] | select(.role == "user").content[0].text] | join(",")' "$BODY")" 'turn 1,turn 2,turn 3' 'all of them work on it'
for pid in $pids; do tap_stop "$pid"; done
tap_pids=

# ---- the one before

STATE=$WORK/one
mkdir -m 700 "$STATE"
api_start || tap_bail 'an instance does not start'
first=$SOCKET first_pid=$SERVE_PID
turns=0
turn() {
	turns=$((turns + 1))
	invoke "turn $turns" "$(thread kept)"
	records=$(at_server "SELECT count(r.checkpoints) FROM agentgraph.runs AS r JOIN agentgraph.threads AS t ON t.row = r.thread
		WHERE thread_id = 'kept'")
}
turn
is "$records" 1 'the checkpoint of a run lies in its record'
at_server "INSERT INTO agentgraph.instances (number, node, host, version, started_at, seen_at)
	VALUES (1, 1000, 'older', 'the one before', clock_timestamp(), clock_timestamp() + interval '9 s')"
in_none() { sleep 0.2 && turn && [ "$records" = 0 ]; }
wait_for 30 in_none
ok $? 'none does while an instance is there that does not look into them'
at_server 'UPDATE agentgraph.instances SET gone = true WHERE number = 1'
in_some() { sleep 0.2 && turn && [ "$records" -gt 0 ]; }
wait_for 30 in_some
ok $? 'some do when it has gone'
api GET '/v1/threads/kept/history?limit=100'
is "$(json '.data.history | length' "$BODY")" "$turns" 'and all are shown wherever they lie'

# ---- the next one

at_server 'ALTER TABLE agentgraph.threads ADD COLUMN later text; CREATE TABLE agentgraph.later (row bigint)'
set_version $((newest + 1))
invoke 'while it is migrated' "$(thread t)"
is "$STATUS" 200 'an instance goes on when another one has brought the database to the next version'
# shellcheck disable=SC2046 # words
kill -9 $(children "$first_pid")
replaced() { api GET /v1/threads/t && [ "$STATUS $(json .success "$BODY")" = '200 true' ]; }
wait_for 30 replaced
ok $? 'also with processes that begin later'
STATE=$WORK/two SOCKET=
mkdir -m 700 "$STATE"
api_start
ok $? 'one that starts then serves'
invoke 'on the next version' "$(thread t)"
is "$STATUS" 200 'beside it'
SOCKET=$first
api GET '/v1/threads/t/messages?limit=100'
is "$(json '[.data.messages[] | select(.role == "user").content[0].text] | last' "$BODY")" 'on the next version' 'and they are one service'
printf older | dd of="$STATE/shared" conv=notrunc 2>/dev/null
"$AGENTGRAPH" check --state "$STATE" >/dev/null 2>said
is "$? $(grep -c 'error: .* in use by another version' said)" '1 1' 'check refuses to take the place of one whose memory it cannot share'
serve_stop
tap_stop "$first_pid" 120
checked
ok $? 'check changes nothing of that'
like "$code $(database)" "^0 .*version $((newest + 1)), of the next version of agentgraph, beside which this one works" 'and says what it is'
set_version $((newest + 2))
checked
like "$code $(database)" "^1 .*error: database: .*schema version $((newest + 2)), but this program knows versions up to $newest" \
	'one that is two versions ahead is refused'
timeout 60 "$AGENTGRAPH" serve --no-nginx --state "$WORK/three" >/dev/null 2>served
is $? 1 'also by serve'
set_version "$newest"

# ---- rights

at_server 'CREATE ROLE stranger LOGIN'
checked stranger
ok $? 'check changes nothing for a role without rights'
like "$code $(database)" '^1 .*error: database: .*the role has no right to make tables in it' 'and says that it has none'
at_server 'GRANT USAGE, CREATE ON SCHEMA agentgraph TO stranger'
checked stranger
like "$code $(database)" '^1 .*error: database: .*the role has no right to its tables' 'nor to tables of another one'
at_server 'GRANT ALL ON ALL TABLES IN SCHEMA agentgraph TO stranger'
checked stranger
like "$code $(database)" "^0 .*version $newest" 'until it has'
at_server 'DROP SCHEMA agentgraph CASCADE' 2>dropped
checked stranger
like "$code $(database)" '^1 .*error: database: .*the role has no right to make it' 'where there is nothing it must be able to make the schema'
done_testing
