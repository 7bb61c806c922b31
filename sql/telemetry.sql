-- SPDX-License-Identifier: ISC
-- Statements on telemetry.db.

-- name: telemetry_setup
-- The database is thrown away at the next start, so nothing waits for the disk.
PRAGMA synchronous = OFF;
PRAGMA wal_autocheckpoint = 1000;
PRAGMA journal_size_limit = 4194304;
PRAGMA cache_size = -64;

-- name: trace_replace
-- Deletes an earlier run with the same id.
DELETE FROM trace_runs WHERE thread_id = :thread_id AND run_id = :run_id AND number < :number;

-- name: trace_put
-- If another instance reports late, a newer run may have replaced this one: nothing is written
-- then.  A run that is over stays as it is.
INSERT INTO trace_runs (number, thread_id, run_id, status, started_at, finished_at, last_at,
	prompt_tokens, completion_tokens, reasoning_tokens, total_tokens,
	llm_calls, tool_calls, iterations)
SELECT :number, :thread_id, :run_id, :status, :started_at, :finished_at, :last_at,
	:prompt, :completion, :reasoning, :total, :llm_calls, :tool_calls, :iterations
WHERE NOT EXISTS (SELECT 1 FROM trace_runs
	WHERE thread_id = :thread_id AND run_id = :run_id AND number <> :number)
ON CONFLICT (number) DO UPDATE SET
	status = excluded.status,
	finished_at = excluded.finished_at,
	last_at = excluded.last_at,
	prompt_tokens = excluded.prompt_tokens,
	completion_tokens = excluded.completion_tokens,
	reasoning_tokens = excluded.reasoning_tokens,
	total_tokens = excluded.total_tokens,
	llm_calls = excluded.llm_calls,
	tool_calls = excluded.tool_calls,
	iterations = excluded.iterations
WHERE trace_runs.status = 0;

-- name: trace_piece
INSERT INTO trace_pieces (run, first, records)
SELECT number, :first, :records FROM trace_runs WHERE number = :number
ON CONFLICT (run, first) DO UPDATE SET records = excluded.records;

-- name: trace_forget_all
-- For databases that are not made anew at the start.
DELETE FROM trace_runs;

-- name: trace_forget
-- A later thread of the same name has traces of its own, and another instance may have written some
-- already.
DELETE FROM trace_runs WHERE thread_id = :thread_id AND started_at <= :until;

-- name: trace_trim_threads
-- The thread whose latest run is the oldest goes first.
DELETE FROM trace_runs WHERE thread_id NOT IN (
	SELECT thread_id FROM trace_runs GROUP BY thread_id ORDER BY max(number) DESC LIMIT :threads);

-- name: trace_trim_runs
DELETE FROM trace_runs WHERE number IN (
	SELECT number FROM (
		SELECT number, row_number() OVER (PARTITION BY thread_id ORDER BY number DESC) AS age
		FROM trace_runs) AS aged
	WHERE age > :runs);

-- name: trace_ids
SELECT run_id FROM trace_runs WHERE thread_id = :thread_id ORDER BY number;

-- name: trace_get
SELECT number, run_id, status, started_at, finished_at, last_at,
	prompt_tokens, completion_tokens, reasoning_tokens, total_tokens,
	llm_calls, tool_calls, iterations
FROM trace_runs
WHERE thread_id = :thread_id AND (:run_id IS NULL OR run_id = :run_id)
ORDER BY number DESC
LIMIT 1;

-- name: trace_pieces
SELECT records FROM trace_pieces WHERE run = :number ORDER BY first;
