-- SPDX-License-Identifier: ISC
-- What PostgreSQL has instead of statements in sql/runs.sql and jobs.sql.

-- part: record_columns
SELECT r.thread AS thread, t.thread_id, t.updated_at, r.number AS number, r.run_id, r.status,
	r.created_at AS created_at, r.created_at = t.created_at AS new_thread, r.finished_at,
	r.node, r.step, r.prompt_tokens, r.completion_tokens, r.reasoning_tokens, r.total_tokens,
	r.messages_after, r.messages_until, r.brought, r.error, r.job,
	CASE WHEN k.thread IS NULL THEN -1 ELSE coalesce(k.until, 0) END AS kept_until,
	coalesce(j.started_at, CASE WHEN r.job IS NULL THEN r.created_at ELSE 0 END) AS started_at,
	greatest(coalesce(j.attempt, 1), 1) AS attempt, coalesce(j.metadata, '{}') AS metadata,
	j.webhook, w.attempts, w.last_status, w.delivered_at

-- part: record_behind
		AND r.created_at >= :from
		AND (r.created_at, r.thread, r.number) < (:created_at, :thread, :number)
		AND (:owner::text IS NULL OR t.user_id = :owner)
	ORDER BY r.created_at DESC, r.thread DESC, r.number DESC LIMIT :limit

-- name: run_list
-- Each status has a query of its own: in a single one all rows would be read and sorted.  For all
-- owners the condition is left open by IS NULL; else the planner would expect few rows, and set
-- several processes to look for them.
-- take: record_columns
FROM (
	(SELECT r.thread, r.number FROM runs AS r JOIN threads AS t ON t.row = r.thread
	WHERE r.status = 3 AND (:statuses >> 3) & 1 <> 0
-- take: record_behind
	)
	UNION ALL
	(SELECT r.thread, r.number FROM runs AS r JOIN threads AS t ON t.row = r.thread
	WHERE r.status <> 3 AND r.status = 1 AND (:statuses >> 1) & 1 <> 0
-- take: record_behind
	)
	UNION ALL
	(SELECT r.thread, r.number FROM runs AS r JOIN threads AS t ON t.row = r.thread
	WHERE r.status <> 3 AND r.status = 2 AND (:statuses >> 2) & 1 <> 0
-- take: record_behind
	)
	UNION ALL
	(SELECT r.thread, r.number FROM runs AS r JOIN threads AS t ON t.row = r.thread
	WHERE r.status <> 3 AND r.status = 4 AND (:statuses >> 4) & 1 <> 0
-- take: record_behind
	)
	UNION ALL
	(SELECT r.thread, r.number FROM runs AS r JOIN threads AS t ON t.row = r.thread
	WHERE r.status <> 3 AND r.status = 5 AND (:statuses >> 5) & 1 <> 0
-- take: record_behind
	)
	UNION ALL
	(SELECT r.thread, r.number FROM runs AS r JOIN threads AS t ON t.row = r.thread
	WHERE r.status <> 3 AND r.status = 6 AND (:statuses >> 6) & 1 <> 0
-- take: record_behind
	)
) AS p JOIN runs AS r ON r.thread = p.thread AND r.number = p.number
	JOIN threads AS t ON t.row = r.thread
-- take: record_joins
ORDER BY r.created_at DESC, r.thread DESC, r.number DESC
LIMIT :limit;

-- name: run_list_from
SELECT created_at FROM (
(SELECT created_at FROM runs WHERE status = 3 AND (:statuses >> 3) & 1 <> 0
	ORDER BY created_at DESC LIMIT :count + 1)
UNION ALL
(SELECT created_at FROM runs WHERE status <> 3 AND status = 1 AND (:statuses >> 1) & 1 <> 0
	ORDER BY created_at DESC LIMIT :count + 1)
UNION ALL
(SELECT created_at FROM runs WHERE status <> 3 AND status = 2 AND (:statuses >> 2) & 1 <> 0
	ORDER BY created_at DESC LIMIT :count + 1)
UNION ALL
(SELECT created_at FROM runs WHERE status <> 3 AND status = 4 AND (:statuses >> 4) & 1 <> 0
	ORDER BY created_at DESC LIMIT :count + 1)
UNION ALL
(SELECT created_at FROM runs WHERE status <> 3 AND status = 5 AND (:statuses >> 5) & 1 <> 0
	ORDER BY created_at DESC LIMIT :count + 1)
UNION ALL
(SELECT created_at FROM runs WHERE status <> 3 AND status = 6 AND (:statuses >> 6) & 1 <> 0
	ORDER BY created_at DESC LIMIT :count + 1)
) AS p
ORDER BY created_at DESC
LIMIT 1 OFFSET :count;

-- name: run_get
-- One index has the ids of both kinds.
-- take: record_columns
FROM threads AS t JOIN runs AS r ON r.thread = t.row
-- take: record_joins
WHERE t.thread_id = :thread_id AND r.run_id = :run_id
ORDER BY r.job IS NULL, r.number
LIMIT 1;

-- name: run_known
SELECT number FROM runs
WHERE thread = :thread AND run_id = :run_id AND (job IS NULL OR number > :after)
LIMIT 1;

-- name: run_last_kept
SELECT greatest((SELECT coalesce(max(number), 0) FROM runs WHERE thread = :thread),
	(SELECT coalesce(max(number), 0) FROM kept WHERE thread = :thread)) AS number;

-- name: job_insert
INSERT INTO jobs (row, thread, number, run_id, state, due_at, attempt, given_back, webhook, caller,
	metadata)
VALUES (nextval('jobs_row'), :thread, :number, :run_id, :state, :due_at, 0, 0, :webhook, :caller,
	:metadata)
RETURNING row;

-- name: job_body_apart
-- There is nothing to do: all bodies are there.
SELECT 1 AS nothing WHERE :row::bigint IS NULL;

-- name: job_whole
SELECT j.thread, j.number, j.due_at, j.attempt, j.given_back, r.created_at,
	t.thread_id, j.run_id, j.webhook, j.caller, j.answers, j.metadata, b.body, j.row
FROM jobs AS j JOIN threads AS t ON t.row = j.thread
	JOIN runs AS r ON r.thread = j.thread AND r.number = j.number
	JOIN job_bodies AS b ON b.row = j.row
WHERE j.row = :row;

-- name: job_end
UPDATE jobs
SET state = 4, claimer = NULL, caller = NULL, answers = NULL,
	started_at = coalesce(started_at, :started_at)
WHERE row = :row;

-- name: jobs_due
SELECT 1 AS due FROM jobs WHERE state < 3 AND due_at <= :now LIMIT 1 OFFSET :skip;

-- name: job_first
SELECT row, state, due_at FROM jobs WHERE thread = :thread AND state BETWEEN 1 AND 3 FOR UPDATE;

-- name: job_claimed
SELECT claimer, webhook IS NOT NULL AS tells,
	EXISTS (SELECT 1 FROM jobs AS o
		WHERE o.thread = j.thread AND o.state < 4 AND o.state = 0) AS others
FROM jobs AS j
WHERE row = :row AND state = 3
FOR UPDATE;

-- name: job_thread
SELECT row FROM threads WHERE row = :row FOR NO KEY UPDATE;

-- name: job_thread_named
SELECT row FROM threads WHERE thread_id = :thread_id FOR NO KEY UPDATE;

-- name: job_read
SELECT j.thread, j.number, j.state, j.due_at, j.attempt, j.given_back, j.claimer,
	r.created_at, j.webhook IS NOT NULL AS tells
FROM jobs AS j JOIN threads AS t ON t.row = j.thread
	JOIN runs AS r ON r.thread = j.thread AND r.number = j.number
WHERE j.row = :row
FOR UPDATE OF j;

-- name: chunks_insert
-- Nor is anything written for a run that another instance has taken over; the lock makes whoever
-- ends the run wait for these chunks.  If it was unclear whether they were committed, they may be
-- there already.
INSERT INTO chunks (thread, number, seq, count, lines)
SELECT :thread, :number, :seq, :count, :lines
FROM kept JOIN threads ON threads.row = kept.thread
WHERE kept.thread = :thread AND kept.number = :number AND coalesce(kept.until, 1) > 0
	AND coalesce(threads.holder, :process) = :process
FOR NO KEY UPDATE OF kept
ON CONFLICT (thread, number, seq) DO UPDATE SET count = excluded.count WHERE chunks.lines = excluded.lines
RETURNING seq;

-- name: chunks_batch
SELECT lines FROM chunks WHERE row = :row FOR UPDATE;

-- name: job_claimers
-- Only claimers that are dead.
SELECT DISTINCT claimer FROM jobs
WHERE state BETWEEN 2 AND 3 AND claimer IS NOT NULL
	AND NOT EXISTS (SELECT 1 FROM processes WHERE number = jobs.claimer);

-- name: webhook_site
-- Only one instance sends them: of those that have processes, the one with the lowest node.
SELECT site FROM webhooks
WHERE due_at IS NOT NULL AND site > :after
	AND :instance = (SELECT number FROM instances
		WHERE NOT gone AND EXISTS (SELECT 1 FROM processes WHERE instance = instances.number)
		ORDER BY node LIMIT 1)
ORDER BY site LIMIT 1;

-- name: webhook_settle
UPDATE webhooks
SET attempts = :attempts, last_status = :last_status, delivered_at = :delivered_at,
	due_at = :due_at::bigint, body = CASE WHEN :due_at::bigint IS NULL THEN NULL ELSE body END
WHERE row = :row;

-- name: push_put
INSERT INTO pushes (thread, task, id, state, number, url, how)
SELECT :thread::bigint, :task::text, :id::text, :state, :number, :url, :how
WHERE EXISTS (SELECT 1 FROM threads WHERE row = :thread::bigint)
	AND (SELECT count(*) FROM pushes
		WHERE thread = :thread::bigint AND task = :task::text AND id <> :id::text) < :most
ON CONFLICT (thread, task, id) DO UPDATE
SET state = excluded.state, number = excluded.number, url = excluded.url, how = excluded.how;

-- name: webhook_insert
INSERT INTO webhooks (row, thread, id, site, url, body, how, due_at, attempts, last_status)
VALUES (coalesce(:row, nextval('jobs_row')), :thread, :id, :site, :url, :body, :how, :now - 4000000000000000, 0, 0);
