#!/bin/sh
# SPDX-License-Identifier: ISC
# invoke on new threads over a PostgreSQL whose commits wait for the disk, against pgbench, whose 32 clients execute one
# statement that writes the same rows; and how much processor time that costs a worker, against SQLite.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/http.sh"

why=$("$TOP_SRCDIR/t/postgresql-server" there) || tap_skip_all "$why"
[ -e "$TOP_BUILDDIR/agentgraph-postgresql.so" ] || tap_skip_all 'the module for PostgreSQL was not built'
command -v pgbench >/dev/null || PATH=$PATH:$(pg_config --bindir)
command -v pgbench >/dev/null || tap_skip_all 'pgbench is not installed'

# worker_ticks: the workers' processor time so far, in hundredths of a second.
worker_ticks() {
	for pid in $(pgrep -P "$SERVE_PID" -f agentgraph-fcgi); do
		cat "/proc/$pid/stat"
	done | sed 's/.*) //' | awk '{ t += $12 + $13 } END { print t }'
}

# cost: microseconds of the workers' processor time for an invoke.
cost() {
	before=$(worker_ticks)
	rate /v1/graph/invoke "$hello" >/dev/null
	echo "$(worker_ticks) $before $(sed -n 's/^ *\([0-9]*\) requests in.*/\1/p' "$WORK/wrk")" |
		awk '{ print ($1 - $2) * 10000 / $3 }'
}

statements() {
	PGOPTIONS="-c search_path=$pg_schema" pgbench -h "$PG_DIR" -U agent -n -M prepared -c 32 -j 2 -T "$SECONDS_EACH" \
		-f "$WORK/statement" postgres 2>&1 | sed -n 's/^tps = \([0-9.]*\).*/\1/p'
}

both() { echo "$(rate /v1/graph/invoke "$hello") $(statements)"; }

cat >"$WORK/statement" <<'SQL'
WITH made AS (
	INSERT INTO threads (row, thread_id, user_id, created_at, updated_at, thread_name, metadata, last_number, run_id, status,
		stop, node, step, fields, message_bytes, state_bytes, message_count, checkpoint, checkpoints, changed, kept_from,
		fence)
	VALUES (nextval('threads_row'), gen_random_uuid(), 'anonymous', 1795637043286736, 1795637043286737, 'hello there', '{}', 2,
		gen_random_uuid(), 3, 0, 'echo', 1, '{}', 250, 2, 2, 1795637043286738, 1, 0, 1, 1)
	ON CONFLICT (thread_id) DO NOTHING
	RETURNING row, run_id
), asked AS (
	INSERT INTO bodies (row, body)
	SELECT nextval('bodies_row'), '{"role":"user","content":[{"type":"text","text":"hello there"}],"created_at":1795637043.286736}'
	FROM made RETURNING row
), answered AS (
	INSERT INTO bodies (row, body)
	SELECT nextval('bodies_row'),
		'{"role":"assistant","content":[{"type":"text","text":"echo: hello there"}],"created_at":1795637043.286737}'
	FROM made RETURNING row
), messages AS (
	INSERT INTO messages (thread, seq, message_id, bytes, body)
	SELECT made.row, 1, gen_random_uuid(), 110, asked.row FROM made, asked
	UNION ALL
	SELECT made.row, 2, gen_random_uuid(), 121, answered.row FROM made, answered
)
INSERT INTO runs (thread, number, run_id, status, created_at, finished_at, node, step, prompt_tokens, completion_tokens,
	reasoning_tokens, total_tokens, messages_after, messages_until, brought, checkpoints, kept_count)
SELECT row, 1, run_id, 3, 1795637043286736, 1795637043286737, 'echo', 1, 0, 0, 0, 0, 0, 2, 1,
	E'1795637043286738\t\t2\t3\t\t1\t\t\t\techo\t\t{}\n', 1 FROM made;
SQL

bench_start
hello=$(post_script '{"messages":[{"role":"user","content":"hello there"}]}')
rounds sqlite cost
serve_stop
PG_SETTINGS='-c fsync=on -c shared_buffers=128MB -c max_wal_size=4GB'
export PG_SETTINGS
PG_DIR=$("$TOP_SRCDIR/t/postgresql-server" start $$) || tap_bail 'PostgreSQL does not start'
SOCKET=$WORK/service
rm -f "$SOCKET"
serve_run --no-nginx --processes "$PROCESSES" --threads "$THREADS" --socket "$SOCKET" || exit 1
rounds postgresql cost
paste postgresql sqlite >costs
ratio postgresql-cost costs
rounds rates both
ratio postgresql rates
tap_plan 0
