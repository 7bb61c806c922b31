-- SPDX-License-Identifier: ISC
-- Statements on threads.db: the records of runs.  Those of a removed thread are there for a while,
-- but nobody finds them.

-- part: record_columns
SELECT r.thread AS thread, t.thread_id, t.updated_at, r.number AS number, r.run_id, r.status,
	r.created_at AS created_at, r.created_at = t.created_at AS new_thread, r.finished_at,
	r.node, r.step, r.prompt_tokens, r.completion_tokens, r.reasoning_tokens, r.total_tokens,
	r.messages_after, r.messages_until, r.brought, r.error, r.job,
	CASE WHEN k.thread IS NOT NULL THEN coalesce(k.until, 0)
		WHEN r.job IS NOT NULL AND r.status IN (1, 6) THEN 0 ELSE -1 END AS kept_until,
	coalesce(j.started_at, CASE WHEN r.job IS NULL THEN r.created_at ELSE 0 END) AS started_at,
	max(coalesce(j.attempt, 1), 1) AS attempt, coalesce(j.metadata, '{}') AS metadata,
	j.webhook, w.attempts, w.last_status, w.delivered_at

-- part: record_joins
	LEFT JOIN jobs AS j ON j.row = r.job LEFT JOIN webhooks AS w ON w.row = r.job
	LEFT JOIN kept AS k ON k.thread = r.thread AND k.number = r.number

-- part: run_id_chosen
-- An id that a client chose, by the same words as the index of these: the server makes none like
-- them.
	AND run_id NOT GLOB '????????-????-7*' AND run_id GLOB '*[^0-9]*'

-- part: run_id_made
-- Any other id; it is found by looking at all records of the thread.
	AND (:run_id GLOB '????????-????-7*' OR :run_id NOT GLOB '*[^0-9]*')

-- name: run_get
-- take: record_columns
FROM threads AS t CROSS JOIN runs AS r ON r.thread = t.row
-- take: record_joins
WHERE t.thread_id = :thread_id
	AND r.number = coalesce(
		(SELECT number FROM jobs WHERE thread = t.row AND run_id = :run_id),
		(SELECT number FROM runs INDEXED BY runs_by_chosen_id
			WHERE thread = t.row AND run_id = :run_id AND job IS NULL
-- take: run_id_chosen
		),
		(SELECT number FROM runs
			WHERE thread = t.row AND run_id = :run_id AND job IS NULL
-- take: run_id_made
		));

-- part: record_behind
	AND r.created_at >= :from
	AND (r.created_at, r.thread, r.number) < (:created_at, :thread, :number)
	AND t.user_id = coalesce(:owner, t.user_id)

-- name: run_list
-- columns: run_get
-- The newest runs of all threads after a place.  Each status has an index, or a part of one, and
-- their rows are merged one at a time.
-- take: record_columns
FROM runs AS r CROSS JOIN threads AS t ON t.row = r.thread
-- take: record_joins
WHERE r.status = 3 AND (:statuses >> 3) & 1 <> 0
-- take: record_behind
UNION ALL
-- take: record_columns
FROM runs AS r CROSS JOIN threads AS t ON t.row = r.thread
-- take: record_joins
WHERE r.status <> 3 AND r.status = 1 AND (:statuses >> 1) & 1 <> 0
-- take: record_behind
UNION ALL
-- take: record_columns
FROM runs AS r CROSS JOIN threads AS t ON t.row = r.thread
-- take: record_joins
WHERE r.status <> 3 AND r.status = 2 AND (:statuses >> 2) & 1 <> 0
-- take: record_behind
UNION ALL
-- take: record_columns
FROM runs AS r CROSS JOIN threads AS t ON t.row = r.thread
-- take: record_joins
WHERE r.status <> 3 AND r.status = 4 AND (:statuses >> 4) & 1 <> 0
-- take: record_behind
UNION ALL
-- take: record_columns
FROM runs AS r CROSS JOIN threads AS t ON t.row = r.thread
-- take: record_joins
WHERE r.status <> 3 AND r.status = 5 AND (:statuses >> 5) & 1 <> 0
-- take: record_behind
UNION ALL
-- take: record_columns
FROM runs AS r CROSS JOIN threads AS t ON t.row = r.thread
-- take: record_joins
WHERE r.status <> 3 AND r.status = 6 AND (:statuses >> 6) & 1 <> 0
-- take: record_behind
ORDER BY created_at DESC, thread DESC, number DESC
LIMIT :limit;

-- name: run_list_from
-- When the run began that comes after the :count newest.
SELECT created_at FROM runs WHERE status = 3 AND (:statuses >> 3) & 1 <> 0
UNION ALL
SELECT created_at FROM runs WHERE status <> 3 AND status = 1 AND (:statuses >> 1) & 1 <> 0
UNION ALL
SELECT created_at FROM runs WHERE status <> 3 AND status = 2 AND (:statuses >> 2) & 1 <> 0
UNION ALL
SELECT created_at FROM runs WHERE status <> 3 AND status = 4 AND (:statuses >> 4) & 1 <> 0
UNION ALL
SELECT created_at FROM runs WHERE status <> 3 AND status = 5 AND (:statuses >> 5) & 1 <> 0
UNION ALL
SELECT created_at FROM runs WHERE status <> 3 AND status = 6 AND (:statuses >> 6) & 1 <> 0
ORDER BY created_at DESC
LIMIT 1 OFFSET :count;

-- name: run_list_owned
-- columns: run_get
-- Goes through the threads one by one in the order of their index; the caller puts the runs of all
-- in order.
-- take: record_columns
FROM threads AS t CROSS JOIN runs AS r ON r.thread = t.row
-- take: record_joins
WHERE t.user_id = :owner AND (:statuses >> r.status) & 1 <> 0 AND r.created_at < :from
ORDER BY t.updated_at DESC, t.thread_id;

-- name: run_list_thread
-- columns: run_get
-- take: record_columns
FROM threads AS t CROSS JOIN runs AS r ON r.thread = t.row
-- take: record_joins
WHERE t.thread_id = :thread_id AND t.user_id = coalesce(:owner, t.user_id)
	AND (:statuses >> r.status) & 1 <> 0
ORDER BY r.number DESC;

-- name: run_last
SELECT coalesce(max(number), 0) AS number FROM runs WHERE thread = :thread;

-- name: run_last_kept
-- columns: run_last
-- If the run's chunks are to be kept, it may not have a number under which older chunks are still
-- there, or may still come (kept_spend).
SELECT max((SELECT coalesce(max(number), 0) FROM runs WHERE thread = :thread),
	(SELECT coalesce(max(number), 0) FROM kept WHERE thread = :thread)) AS number;

-- name: run_insert
INSERT INTO runs (thread, number, run_id, created_at, messages_after, brought, status,
	finished_at, node, step, prompt_tokens, completion_tokens, reasoning_tokens, total_tokens,
	messages_until, error, checkpoints, kept_count)
VALUES (:thread, :number, :run_id, :created_at, :after, :brought, :status, :finished_at, :node,
	:step, :prompt, :completion, :reasoning, :total, :until, :error, :checkpoints,
	:kept_count);

-- name: run_end
UPDATE runs
SET status = :status, finished_at = :finished_at, node = :node, step = :step,
	prompt_tokens = :prompt, completion_tokens = :completion, reasoning_tokens = :reasoning,
	total_tokens = :total, messages_until = :until, error = :error,
	checkpoints = coalesce(:checkpoints, checkpoints), kept_count = coalesce(:kept_count, kept_count)
WHERE thread = :thread AND number = :number;

-- name: run_bury
-- Ends what a process left running when it died, before the thread's row changes.  Runs of jobs are
-- taken up again.
UPDATE runs
SET status = :status, node = t.node, step = t.step, finished_at = t.updated_at,
	messages_until = t.last_number
FROM threads AS t
WHERE runs.thread = :thread AND runs.status = :running AND runs.job IS NULL AND t.row = :thread;

-- name: run_job
-- The job of a record that has one.
SELECT job FROM runs WHERE thread = :thread AND number = :number AND job IS NOT NULL;

-- name: run_delete
DELETE FROM runs WHERE thread = :thread AND number = :number;

-- part: later_kept
	coalesce((SELECT (SELECT checkpoints FROM threads WHERE row = :thread) - kept_count
		FROM runs
		WHERE thread = :thread AND number <= :number AND checkpoints IS NOT NULL
		ORDER BY number DESC
		LIMIT 1), -1) AS later

-- name: run_leaves
-- How many checkpoints were kept after the last that lies in a record up to :number; -1 if none
-- lies there.
SELECT
-- take: later_kept
;

-- name: run_trim_look
-- How many jobs of the thread wait (at most :most are counted), whether anything is to go along
-- with the records that are trimmed, and what run_leaves says.
SELECT (SELECT count(*) FROM
		(SELECT 1 FROM jobs WHERE thread = :thread AND state < 4 LIMIT :most) AS waiting) AS queued,
	EXISTS (SELECT 1 FROM kept WHERE thread = :thread AND number <= :number AND coalesce(until, 0) >= 0)
		OR EXISTS (SELECT 1 FROM pushes WHERE thread = :thread)
		OR EXISTS (SELECT 1 FROM runs
			WHERE thread = :thread AND number <= :number AND job IS NOT NULL) AS apart,
-- take: later_kept
;

-- name: run_trim
DELETE FROM runs WHERE thread = :thread AND number <= :number AND status BETWEEN :from AND 5;

-- name: run_trim_jobs
DELETE FROM jobs
WHERE row IN (SELECT job FROM runs
	WHERE thread = :thread AND number <= :number AND status BETWEEN :from AND 5);

-- name: run_trim_webhooks
-- What is not delivered yet stays until it is.
DELETE FROM webhooks
WHERE due_at IS NULL
	AND row IN (SELECT job FROM runs
		WHERE thread = :thread AND number <= :number AND status BETWEEN :from AND 5);

-- name: run_trim_pushes
DELETE FROM pushes
WHERE thread = :thread
	AND task IN (SELECT run_id FROM runs
		WHERE thread = :thread AND number <= :number AND status BETWEEN :from AND 5);

-- name: run_trim_kept
UPDATE kept
SET until = 0
WHERE thread = :thread AND number <= :number
	AND number IN (SELECT number FROM runs
		WHERE thread = :thread AND number <= :number AND status BETWEEN :from AND 5);

-- name: removed_runs_jobs
DELETE FROM jobs
WHERE row IN (SELECT job FROM runs WHERE thread = :thread ORDER BY number LIMIT :limit);

-- name: removed_runs_bodies
DELETE FROM job_bodies
WHERE row IN (SELECT job FROM runs WHERE thread = :thread ORDER BY number LIMIT :limit);

-- name: removed_runs_delete
DELETE FROM runs
WHERE thread = :thread
	AND number <= coalesce((SELECT number FROM runs WHERE thread = :thread
		ORDER BY number LIMIT 1 OFFSET :limit - 1), 9223372036854775807);
