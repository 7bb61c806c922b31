#!/bin/sh
# SPDX-License-Identifier: ISC
# An instance that starts while its PostgreSQL is away, or loses it while it starts: it waits, and is as patient with
# the other instances as one that was there before.
set -u
AGENTGRAPH_ENGINE=postgresql
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
. "$TOP_SRCDIR/t/api/instances.sh"

server() { "$TOP_SRCDIR/t/postgresql-server" "$@"; }
instances() { psql "$DATABASE_URL" -X -q -A -t -c "SELECT count(*) FROM instances WHERE $1"; }
# ends_well WHAT: the run in flight on instance a.
ends_well() {
	touch go
	on a collect long
	is "$STATUS $(json '.data.messages[-1].content[-1].text // .error_code' "$BODY")" '200 done' "$1"
	is "$(cat "$WORK"/err.* | grep -c 'taken over\|took its runs over')" 0 'and nobody was given up'
}
# waiting: somebody waits for a lock.
waiting() { [ "$(psql "$DATABASE_URL" -X -q -A -t -c "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")" -gt 0 ]; }
holding() { [ "$(psql "$DATABASE_URL" -X -q -A -t -c "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(30%'")" -gt 1 ]; }
# cut SQL: takes what others have to wait for, and ends the server as soon as somebody does.
cut() {
	psql "$DATABASE_URL" -X -q -c 'BEGIN' -c "$1" -c 'SELECT pg_sleep(300)' >held 2>&1 &
	wait_for 20 holding
	(
		wait_for 30 waiting && touch cut
		server crash "$PG."
		sleep 1
		server crash "$PG"
	) &
}
serves() { api GET /v1/threads && [ "$STATUS" = 200 ]; }

# One step, which writes nothing before its end.
cat >node.sh <<SH
#!/bin/sh
while [ ! -e '$WORK/go' ]; do sleep 0.1; done
echo '{"message": "done"}'
SH
chmod +x node.sh
cat >graph.json <<'JSON'
{"waits": {"nodes": {"agent": {"kind": "exec", "command": "./node.sh"}}, "edges": [{"from": "START", "to": "agent"}, {"from": "agent", "to": "END"}]}}
JSON
printf '{"agent":"graph.json:waits"}\n' >agentgraph.json
begin a

# ---- b starts while the server is away, for longer than an instance may be; c has registered, and loses it before it was
# ---- heard of again

on a in_background long invoke wait "$(thread away)"
on a wait_for 30 is_running away
begin c
on c serves
server crash "$PG."
begin b
like "$(cat "$SERVE_ERR")" 'warning: database: .*; requests are answered with 503 until it can be reached' 'an instance starts without its database'
sleep 12
# The one that was there is not heard of before the new ones could lose their patience.
frozen="$pid_a $(children $pid_a)"
kill -STOP $frozen
server crash "$PG"
ok 'on b wait_for 30 serves' 'and serves when that is there'
ok 'on c wait_for 30 serves' 'one that loses its database as soon as it has it serves again'
sleep 4
kill -CONT $frozen
frozen=
ends_well 'a run of the instance that was there before ends well'

# ---- it is lost at each step of the start

while read -r place words; do
	for pid in $pid_b $(children "$pid_b"); do kill -9 "$pid"; done # its next life is to end this one
	cut "$words"
	begin b
	ok '[ -e cut ]' "a start that waits for $place loses its database"
	rm -f cut
	ok 'on b wait_for 30 serves' 'and serves when that is there again'
	like "$(cat "$SERVE_ERR")" 'waits for its database|until it can be reached' 'of which it says something'
	is "$(instances 'NOT gone')" 3 'what its earlier life held is given up at once'
done <<'SQL'
the-version LOCK TABLE version
the-schema SELECT pg_advisory_xact_lock(hashtextextended('agentgraph schema ' || current_setting('search_path'), 0))
its-row SELECT pg_advisory_xact_lock(hashtextextended('agentgraph instances ' || current_schema(), 0))
SQL

done_testing
