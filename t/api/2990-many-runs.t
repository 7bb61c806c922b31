#!/bin/sh
# SPDX-License-Identifier: ISC
# A PostgreSQL with many runs: a list of them reads only its page, and starts no parallel workers for it.
set -u
AGENTGRAPH_ENGINE=postgresql
PG_SETTINGS='-c log_min_messages=debug1' # tells of each process
export PG_SETTINGS
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

MANY=100000
sql() { psql "$DATABASE_URL" -X -q -A -t -v ON_ERROR_STOP=1 -c "$1"; }
# parallel: how many processes there were for parts of a query.
parallel() { grep -c 'starting background worker process "parallel worker' "$PG_DIR/log"; }
# listed QUERY: what a listing has, often enough that PostgreSQL has decided how to plan it.
listed() {
	for i in 1 2 3 4 5 6 7; do api GET "/v1/graph/runs?limit=20&$1"; done
	json '.data.runs | length, .[0].thread_id' "$BODY" | xargs
}

printf '{"agent":"builtin:demo"}\n' >agentgraph.json
api_start --config agentgraph.json
api POST /v1/graph/runs '{"messages":[{"role":"user","content":"hello"}],"delay":86400,"config":{"thread_id":"t0","run_id":"r"}}'
is "$STATUS" 202 'a run is queued'
sql "INSERT INTO threads (row, thread_id, user_id, created_at, updated_at, thread_name, metadata, last_number, status, stop, node, step, fields)
		SELECT i, 't' || i, user_id, t.created_at + i, t.created_at + i, '', '{}', 0, 0, 0, 'START', 0, '{}'
		FROM threads AS t, generate_series(1, $MANY) AS i;
	INSERT INTO runs SELECT i, 1, 'r', r.status, r.created_at + i, 0, 'START', 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL
		FROM runs AS r, generate_series(1, $MANY) AS i;
	ANALYZE threads, runs"
is "$(sql 'SELECT count(*) FROM runs')" $((MANY + 1)) 'and many more'
before=$(parallel)
is "$(listed status=queued)" "20 t$MANY" 'the newest are listed'
is "$(($(parallel) - before))" 0 'by the process that was asked'
sql 'UPDATE runs SET status = 3; ANALYZE runs'
before=$(parallel)
is "$(listed status=completed)" "20 t$MANY" 'the same of those that are over'
is "$(($(parallel) - before))" 0 'by the process that was asked'
is "$(listed offset=0)" "20 t$MANY" 'and of all'
is "$(($(parallel) - before))" 0 'by the process that was asked'
done_testing
