#!/bin/sh
# SPDX-License-Identifier: ISC
# A PostgreSQL that takes what is small and refuses the rest, as one whose disk is full: a run in the background outlasts
# that for some seconds, and a stop does not wait for it.
set -u
AGENTGRAPH_ENGINE=postgresql
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

sql() { psql "$DATABASE_URL" -X -q -A -t -c "$1"; }
submit() {
	api POST /v1/graph/runs "{\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}],\"config\":{\"thread_id\":\"$1\",\"run_id\":\"r\"}}"
	is "$STATUS" 202 'a run is queued'
}
refused() { grep "thread $1 is to be taken up again: .*(53100)" "$SERVE_ERR"; }
over() {
	api GET "/v1/threads/$1/runs/r"
	[ "$(json .data.finished_at "$BODY")" != null ]
}

printf '{"agent":"builtin:demo"}\n' >agentgraph.json
api_start --config agentgraph.json
sql "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
	\$\$BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END\$\$"
sql 'CREATE TRIGGER full_disk BEFORE INSERT ON messages EXECUTE FUNCTION full_disk()'
submit stopped
submit outlasts
ok 'wait_for 20 refused stopped' 'of which nothing can be stored'
ok 'wait_for 20 refused outlasts' 'nor of another one'
api POST /v1/threads/stopped/runs/r/stop '{}'
ok 'wait_for 4 over stopped' 'it can be stopped all the same, and at once'
is "$(json .data.status "$BODY")" stopped 'as one that is stopped'
sleep 2 # in which all attempts would be over
sql 'DROP TRIGGER full_disk ON messages'
ok 'wait_for 60 over outlasts' 'when there is room again the other one ends'
is "$(json '.data.status, .data.error' "$BODY" | xargs)" 'completed null' 'as if nothing had been'
done_testing
