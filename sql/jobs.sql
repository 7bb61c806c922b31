-- SPDX-License-Identifier: ISC
-- Statements on threads.db: the queue of runs in the background with their records, and the outbox
-- of webhooks.
--
-- Indexes that leave out what is over are taken only where a statement says state < 4, also beside
-- what implies it.

-- name: job_insert
-- The row is a new one also among webhooks: the webhook of a deleted job may still be there.
INSERT INTO jobs (row, thread, number, run_id, state, due_at, attempt, given_back, webhook, caller,
	metadata, body)
VALUES (max(:now, (SELECT coalesce(max(row), 0) + 1 FROM jobs),
		(SELECT coalesce(max(row), 0) + 1 FROM webhooks)),
	:thread, :number, :run_id, :state, :due_at, 0, 0, :webhook, :caller, :metadata, :body);

-- name: job_body_insert
INSERT INTO job_bodies (row, body) VALUES (:row, :body);

-- name: job_body_delete
DELETE FROM job_bodies WHERE row = :row;

-- name: job_body_apart
-- Copies a body that lies in its job's row here as well: arrivals refer to it.
INSERT INTO job_bodies (row, body)
SELECT row, body FROM jobs WHERE row = :row AND body IS NOT NULL
ON CONFLICT (row) DO NOTHING;

-- name: arrival_insert
-- Inserts nothing if the run was ended meanwhile.
INSERT INTO arrivals (job, region, step, branch)
SELECT row, :region, :step, :branch
FROM job_bodies
WHERE row = :job;

-- name: arrivals_forget
DELETE FROM arrivals WHERE job = :job AND region < :region;

-- name: arrivals_read
SELECT step, branch FROM arrivals WHERE job = :job AND region = :region ORDER BY row;

-- name: job_first
-- The thread's job that is ready or was claimed.
SELECT row, state, due_at FROM jobs WHERE thread = :thread AND state BETWEEN 1 AND 3;

-- name: job_set_state
UPDATE jobs SET state = :state WHERE row = :row;

-- name: job_promote
-- Makes the first waiting job ready, unless another job of the thread comes before it.
UPDATE jobs
SET state = 1
WHERE state = 0
	AND row = (SELECT row FROM jobs WHERE thread = :thread AND state < 4
		ORDER BY due_at, row LIMIT 1)
	AND NOT EXISTS (SELECT 1 FROM jobs WHERE thread = :thread AND state BETWEEN 1 AND 3);

-- part: job_ready
SELECT row, due_at, CASE WHEN due_at > :now THEN
	(SELECT created_at FROM runs AS r WHERE r.thread = j.thread AND r.number = j.number) END AS created_at
FROM jobs AS j
WHERE state = 1 AND state < 4
ORDER BY due_at, row
LIMIT 1

-- name: job_next
-- take: job_ready
;

-- name: job_next_free
-- columns: job_next
-- Like job_next, for a caller that takes the job.
-- take: job_ready
;

-- name: job_claim
UPDATE jobs SET state = 3, attempt = attempt + 1, claimer = :claimer WHERE row = :row;

-- name: job_read
-- Leaves out what can be large.
SELECT j.thread, j.number, j.state, j.due_at, j.attempt, j.given_back, j.claimer,
	r.created_at, j.webhook IS NOT NULL AS tells
FROM jobs AS j CROSS JOIN threads AS t ON t.row = j.thread
	CROSS JOIN runs AS r ON r.thread = j.thread AND r.number = j.number
WHERE j.row = :row;

-- name: job_whole
SELECT j.thread, j.number, j.due_at, j.attempt, j.given_back, r.created_at,
	t.thread_id, j.run_id, j.webhook, j.caller, j.answers, j.metadata,
	coalesce(j.body, b.body) AS body, j.row
FROM jobs AS j CROSS JOIN threads AS t ON t.row = j.thread
	CROSS JOIN runs AS r ON r.thread = j.thread AND r.number = j.number
	LEFT JOIN job_bodies AS b ON b.row = j.row
WHERE j.row = :row;

-- name: thread_of_job
-- columns: thread_get
-- take: whole_thread
WHERE row = :row;

-- name: job_give_back
UPDATE jobs
SET state = CASE WHEN attempt = 1 THEN 1 ELSE 2 END, attempt = attempt - 1, claimer = NULL, given_back = 1
WHERE row = :row;

-- name: job_unclaim
-- Like job_give_back, for a job that was not begun: it is as if it had not been claimed.
UPDATE jobs
SET state = CASE WHEN attempt = 1 THEN 1 ELSE 2 END, attempt = attempt - 1, claimer = NULL
WHERE row = :row;

-- name: job_claimed
-- Who has the job, and whether other jobs of its thread wait.
SELECT claimer, webhook IS NOT NULL AS tells,
	EXISTS (SELECT 1 FROM jobs AS o
		WHERE o.thread = j.thread AND o.state < 4 AND o.state = 0) AS others
FROM jobs AS j
WHERE row = :row AND state = 3;

-- name: job_begin
-- Only the first attempt writes this: later ones go on with the answers that it began with.
UPDATE jobs
SET started_at = :started_at, answers = :answers
WHERE row = :row AND started_at IS NULL;

-- name: job_end
-- Also sets started_at, as many jobs begin and end in one transaction.
UPDATE jobs
SET state = 4, claimer = NULL, caller = NULL, answers = NULL, body = NULL,
	started_at = coalesce(started_at, :started_at)
WHERE row = :row;

-- name: kept_end_job
-- The row is there already if the engine made it when the job was submitted.
INSERT INTO kept (thread, number, job, until) VALUES (:thread, :number, 1, :until)
ON CONFLICT (thread, number) DO UPDATE SET until = excluded.until WHERE kept.until IS NULL;

-- name: job_delete
DELETE FROM jobs WHERE row = :row AND state = 4;

-- name: job_claimers
SELECT DISTINCT claimer FROM jobs
WHERE state BETWEEN 2 AND 3 AND state < 4 AND claimer IS NOT NULL;

-- name: jobs_of_claimer
SELECT row, attempt, ordered
FROM jobs
WHERE state BETWEEN 2 AND 3 AND state < 4 AND claimer = :claimer
ORDER BY row;

-- name: job_lose
UPDATE jobs SET state = 2, claimer = NULL, given_back = 0 WHERE row = :row;

-- name: jobs_lost
SELECT row FROM jobs
WHERE state BETWEEN 2 AND 3 AND state < 4 AND claimer IS NULL
ORDER BY row
LIMIT :limit;

-- name: jobs_stoppable
-- The thread's jobs that can be ended from outside, the last one first: those not begun, and if
-- :ends_begun those begun that no process runs.
SELECT j.row
FROM jobs AS j CROSS JOIN runs AS r ON r.thread = j.thread AND r.number = j.number
WHERE j.thread = :thread AND j.state < 4
	AND (r.status = 6 OR (j.state < 3 AND :ends_begun <> 0))
ORDER BY j.due_at DESC, j.row DESC
LIMIT :limit;

-- name: job_stoppable
-- columns: jobs_stoppable
SELECT j.row
FROM jobs AS j CROSS JOIN runs AS r ON r.thread = j.thread AND r.number = j.number
WHERE j.thread = :thread AND j.run_id = :run_id
	AND j.state < 4 AND (r.status = 6 OR (j.state < 3 AND :ends_begun <> 0));

-- name: job_order
-- Orders the run that has begun, which is always that of the thread's first job.
UPDATE jobs
SET ordered = :order
WHERE thread = :thread AND state BETWEEN 1 AND 3 AND ordered < :order
	AND run_id = coalesce(:run_id, run_id)
	AND EXISTS (SELECT 1 FROM runs AS r
		WHERE r.thread = jobs.thread AND r.number = jobs.number AND r.status = 1);

-- name: job_ordered
SELECT ordered FROM jobs WHERE row = :row;

-- name: job_thread
SELECT row FROM threads WHERE row = :row;

-- name: job_thread_named
-- columns: job_thread
SELECT row FROM threads WHERE thread_id = :thread_id;

-- name: job_thread_moves
-- Lists of runs go by updated_at.
UPDATE threads SET updated_at = :now WHERE row = :row AND updated_at < :now;

-- name: jobs_due
SELECT 1 AS due FROM jobs WHERE state = 0 AND state < 4 AND due_at <= :now
UNION ALL
SELECT 1 AS due FROM jobs WHERE state = 1 AND state < 4 AND due_at <= :now
UNION ALL
SELECT 1 AS due FROM jobs WHERE state = 2 AND state < 4 AND due_at <= :now
LIMIT 1 OFFSET :skip;

-- name: jobs_due_thread
-- columns: jobs_due
SELECT 1 AS due
FROM threads AS t CROSS JOIN jobs AS j ON j.thread = t.row
WHERE t.thread_id = :thread_id AND j.state < 4 AND j.due_at <= :now
LIMIT 1 OFFSET :skip;

-- name: jobs_count
SELECT count(*) AS count FROM jobs WHERE state < 3 AND state < 4;

-- name: jobs_count_thread
-- columns: jobs_count
SELECT count(*) AS count FROM jobs WHERE thread = :row AND state < 4 AND state <> 3;

-- name: removed_first_job
-- Nothing of a removed thread is ready any more.
UPDATE jobs SET state = 4, claimer = NULL WHERE thread = :row AND state BETWEEN 1 AND 3;

-- name: run_read
-- columns: run_get
-- take: record_columns
FROM threads AS t CROSS JOIN runs AS r ON r.thread = t.row
-- take: record_joins
WHERE t.row = :thread AND r.number = :number;

-- name: run_known
-- Looks through the thread's records after :after, unless the index has all ids of this kind.
SELECT number FROM runs INDEXED BY runs_by_chosen_id
WHERE thread = :thread AND run_id = :run_id AND job IS NULL
-- take: run_id_chosen
UNION ALL
SELECT number FROM runs
WHERE thread = :thread AND run_id = :run_id AND number > :after
-- take: run_id_made
LIMIT 1;

-- name: job_known
SELECT 1 AS there FROM jobs WHERE thread = :thread AND run_id = :run_id;

-- name: run_go_on
-- Like run_end, for a job; a run that was queued begins with this.
UPDATE runs
SET status = :status, finished_at = :finished_at, node = :node, step = :step,
	prompt_tokens = :prompt, completion_tokens = :completion, reasoning_tokens = :reasoning,
	total_tokens = :total, messages_until = :until, error = :error,
	messages_after = CASE WHEN status = 6 THEN :after ELSE messages_after END,
	brought = CASE WHEN status = 6 THEN :brought ELSE brought END
WHERE thread = :thread AND number = :number;

-- name: run_queue
INSERT INTO runs (thread, number, run_id, created_at, messages_after, brought, status,
	finished_at, node, step, prompt_tokens, completion_tokens, reasoning_tokens, total_tokens,
	messages_until, job)
VALUES (:thread, :number, :run_id, :created_at, 0, 0, 6, 0, 'START', 0, 0, 0, 0, 0, 0, :job);

-- name: run_give_up
-- Ends the record of a job whose run does not.  If an earlier attempt had begun, the thread knows
-- how far it came.
UPDATE runs
SET status = :status, finished_at = :finished_at, error = :error,
	node = CASE WHEN runs.status = 1 AND t.run_id = runs.run_id THEN t.node ELSE runs.node END,
	step = CASE WHEN runs.status = 1 AND t.run_id = runs.run_id THEN t.step ELSE runs.step END,
	messages_until = CASE WHEN runs.status = 1 AND t.run_id = runs.run_id THEN t.last_number
		ELSE runs.messages_until END
FROM threads AS t
WHERE runs.thread = :thread AND runs.number = :number AND t.row = :thread;

-- name: run_give_up_thread
-- Does the same to the thread, if that still says that the run goes on.
UPDATE threads
SET status = :status, stop = :stop
WHERE row = :thread AND status = 1
	AND run_id = (SELECT run_id FROM runs
		WHERE thread = :thread AND number = :number AND status = 1);

-- name: run_trim_at
-- The latest run that is too old when :keep may stay.
SELECT number FROM runs
WHERE thread = :thread AND number <= :number AND status BETWEEN 2 AND 5
ORDER BY number DESC
LIMIT 1 OFFSET :keep;

-- name: webhook_insert
-- Has the row of its job, or without a job a new one.  What was not tried yet must be due by any
-- clock, which may be set back: due_at lies so far in the past that it is below zero.
INSERT INTO webhooks (row, thread, id, site, url, body, how, due_at, attempts, last_status)
VALUES (coalesce(:row, max(:now, (SELECT coalesce(max(row), 0) + 1 FROM jobs),
		(SELECT coalesce(max(row), 0) + 1 FROM webhooks))),
	:thread, :id, :site, :url, :body, :how, :now - 4000000000000000, 0, 0);

-- name: webhook_site
SELECT site FROM webhooks WHERE due_at IS NOT NULL AND site > :after ORDER BY site LIMIT 1;

-- name: webhooks_of_site
-- Webhooks that were not tried yet, and those that are due again, in the order of their jobs.
SELECT row, id, url, body, how, due_at, attempts, last_status
FROM (SELECT * FROM (SELECT row, id, url, body, how, due_at, attempts, last_status
		FROM webhooks
		WHERE site = :site AND due_at < 0
			AND EXISTS (SELECT 1 FROM threads WHERE threads.row = webhooks.thread)
		ORDER BY due_at
		LIMIT :limit) AS fresh
	UNION ALL
	SELECT * FROM (SELECT row, id, url, body, how, due_at, attempts, last_status
		FROM webhooks
		WHERE site = :site AND due_at >= 0 AND due_at <= :now
			AND EXISTS (SELECT 1 FROM threads WHERE threads.row = webhooks.thread)
		ORDER BY due_at
		LIMIT :limit) AS again) AS due
ORDER BY row
LIMIT :limit;

-- name: webhook_later
SELECT min(due_at) AS due_at FROM webhooks WHERE site = :site AND due_at > :now;

-- name: webhooks_waiting
SELECT count(*) AS count FROM webhooks WHERE due_at IS NOT NULL;

-- name: webhook_settle
UPDATE webhooks
SET attempts = :attempts, last_status = :last_status, delivered_at = :delivered_at,
	due_at = :due_at, body = CASE WHEN :due_at IS NULL THEN NULL ELSE body END
WHERE row = :row;

-- name: webhook_drop
-- What is not delivered yet stays until it is.
DELETE FROM webhooks WHERE row = :row AND due_at IS NULL;

-- name: webhook_forget
-- Deletes the webhook if the record went before it was delivered.
DELETE FROM webhooks
WHERE row = :row AND due_at IS NULL AND NOT EXISTS (SELECT 1 FROM jobs WHERE row = :row);

-- name: removed_webhooks_delete
DELETE FROM webhooks WHERE thread = :thread;
