-- SPDX-License-Identifier: ISC
-- Statements for engines that several instances share, which SQLite is not: instances, their
-- processes, and who has a thread.

-- part: news
-- What an instance is told when it reports: the time, and whether an instance of the version before
-- is there.
	(extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS clock,
	EXISTS (SELECT 1 FROM instances WHERE NOT gone AND NOT records) AS older

-- name: instances_lock
SELECT pg_advisory_xact_lock(hashtextextended('agentgraph instances ' || current_schema(), 0)) AS nothing;

-- name: commit_note
-- Is the first statement of its transaction.
INSERT INTO commits (writer, number, noted_at) VALUES (:writer, :number, clock_timestamp())
ON CONFLICT (writer) DO UPDATE SET number = excluded.number, noted_at = excluded.noted_at
RETURNING pg_current_xact_id()::text AS id;

-- name: commits_forget
-- Forgets writers that have long written nothing; they get a new row with their next commit.
DELETE FROM commits WHERE noted_at < clock_timestamp() - interval '1 day';

-- name: instances_forget
-- Frees the numbers of their nodes, too.
DELETE FROM instances WHERE gone AND seen_at < clock_timestamp() - interval '1 day';

-- name: instance_end
UPDATE instances SET gone = true WHERE number = :number;

-- name: instance_processes_end
DELETE FROM processes WHERE instance = :number;

-- name: instance_lives
SELECT 1 AS lives FROM instances WHERE number = :number AND NOT gone;

-- name: instance_begin
INSERT INTO instances (number, node, host, version, started_at, seen_at, records)
VALUES (:number, (SELECT min(n) FROM generate_series(0, (SELECT count(*) FROM instances)) AS n
		WHERE n NOT IN (SELECT node FROM instances)),
	:host, :version, clock_timestamp(), clock_timestamp(), true)
ON CONFLICT (number) DO UPDATE
SET gone = false, seen_at = clock_timestamp(), version = excluded.version, records = true
RETURNING node,
-- take: news
;

-- name: instance_seen
UPDATE instances SET seen_at = clock_timestamp()
WHERE number = :number AND NOT gone
RETURNING set_config('synchronous_commit', 'off', true) AS mode,
-- take: news
;

-- name: instances_give_up
-- Gives up instances that were not seen for long, or only by a clock that was set back since, with
-- all that they hold.
WITH lost AS (
	UPDATE instances SET gone = true
	WHERE NOT gone AND seen_at NOT BETWEEN clock_timestamp() - interval '10 s' AND clock_timestamp() + interval '10 s'
	RETURNING number, host
), dead AS (
	DELETE FROM processes WHERE instance IN (SELECT number FROM lost)
)
SELECT number, host FROM lost;

-- name: instances_each
SELECT number, version, (extract(epoch FROM started_at) * 1000000)::bigint AS started_at,
	(extract(epoch FROM seen_at) * 1000000)::bigint AS seen_at
FROM instances WHERE NOT gone AND seen_at > clock_timestamp() - interval '10 s' ORDER BY node;

-- name: secret_make
INSERT INTO secret (one, bytes) VALUES (1, :bytes) ON CONFLICT (one) DO NOTHING;

-- name: secret_read
SELECT bytes FROM secret;

-- name: process_begin
INSERT INTO processes (number, instance) VALUES (:process, :instance) ON CONFLICT (number) DO NOTHING;

-- name: processes_of
SELECT number FROM processes WHERE instance = :instance;

-- name: process_end
DELETE FROM processes WHERE number = :process;

-- name: claim_take
-- columns: thread_get
-- A thread is free when nobody holds it, or a dead process, or another process of the same
-- instance: there the lease in shared memory says who has it.  If this claim waited for another
-- one, the holder is not the one it saw, and whether the new one is alive it cannot know: then it
-- gets nothing.  Whoever has asked to be next comes first.  The commit need not reach the disk: if
-- the server crashes and the claim is lost, so is all that was written under it.  The thread comes
-- along as it is then; a NULL fence says that somebody else has it.
WITH seen AS MATERIALIZED (
	SELECT t.row, t.holder, p.number IS NOT NULL AS held
	FROM threads AS t LEFT JOIN processes AS p ON p.number = t.holder AND p.instance <> :instance
	WHERE t.thread_id = :thread_id
), claimed AS (
	UPDATE threads
	SET holder = :process, fence = threads.fence + 1, wanted = NULL
	FROM seen
	WHERE threads.row = seen.row AND NOT seen.held AND threads.holder IS NOT DISTINCT FROM seen.holder
		AND (threads.wanted IS NULL OR threads.wanted = :process
			OR threads.wanted_at NOT BETWEEN clock_timestamp() - interval '1 s' AND clock_timestamp() + interval '1 s')
		AND EXISTS (SELECT 1 FROM processes WHERE number = :process)
	RETURNING threads.*, set_config('synchronous_commit', 'off', true) AS mode
)
SELECT seen.row, c.thread_id, c.user_id, c.created_at, c.updated_at, c.thread_name, c.metadata, c.run_id,
	c.status, c.stop, c.node, c.step, c.next, c.pause, c.waiting, c.summary, c.fields, c.message_bytes,
	c.context_after, coalesce(c.tip, c.last_number) AS until, c.last_number, c.plain, c.fence
FROM seen LEFT JOIN claimed AS c ON c.row = seen.row;

-- name: claim_name
-- Like claim_take, for a thread that does not exist yet.
INSERT INTO unborn (thread_id, holder)
SELECT :thread_id, number FROM processes WHERE number = :process
ON CONFLICT (thread_id) DO UPDATE SET holder = :process
WHERE unborn.holder = (SELECT u.holder FROM unborn AS u WHERE u.thread_id = :thread_id)
	AND NOT EXISTS (SELECT 1 FROM processes WHERE number = unborn.holder AND instance <> :instance)
RETURNING holder, set_config('synchronous_commit', 'off', true) AS mode;

-- name: claim_disown
-- Gives up what this process may have claimed, when it cannot tell: the thread, or the name of one
-- that was not made.  It has the lease meanwhile, so nobody else in the instance holds the claim.
WITH unnamed AS (
	DELETE FROM unborn WHERE thread_id = :thread_id AND holder = :process
)
UPDATE threads SET holder = NULL WHERE thread_id = :thread_id AND holder = :process;

-- name: claim_make
-- Runs in the transaction that makes the thread.
DELETE FROM unborn
WHERE thread_id = :thread_id AND holder = :process AND EXISTS (SELECT 1 FROM processes WHERE number = :process)
RETURNING holder;

-- name: thread_lock
SELECT row FROM threads WHERE row = :row FOR NO KEY UPDATE;

-- name: job_lock
SELECT row FROM threads WHERE row = (SELECT thread FROM jobs WHERE row = :row) FOR NO KEY UPDATE;

-- name: job_put
-- Inserts the first job of the thread that the statement before has made, and its record.
WITH job AS (
	INSERT INTO jobs (row, thread, number, run_id, state, due_at, attempt, given_back, webhook, caller, metadata)
	VALUES (nextval('jobs_row'), currval('threads_row'), :number, :run_id, :state, :due_at, 0, 0, :webhook, :caller,
		:metadata)
	RETURNING row, thread
), body AS (
	INSERT INTO job_bodies (row, body) SELECT row, :body::text FROM job
), kept AS (
	INSERT INTO kept (thread, number, job) SELECT thread, :number::bigint, 1 FROM job
), run AS (
	INSERT INTO runs (thread, number, run_id, created_at, messages_after, brought, status,
		finished_at, node, step, prompt_tokens, completion_tokens, reasoning_tokens, total_tokens,
		messages_until, job)
	SELECT thread, :number::bigint, :run_id::text, :created_at::bigint, 0, 0, 6, 0, 'START', 0, 0, 0, 0, 0, 0, row FROM job
)
SELECT row FROM job;

-- name: job_take
-- columns: job_whole
-- Says when the first job that is ready is due; if that is now, claims it and gives all of it.
-- Jobs that others are taking at the same time are passed over.
WITH ready AS MATERIALIZED (
-- take: job_ready
	FOR UPDATE OF j SKIP LOCKED
), taken AS (
	UPDATE jobs AS j SET state = 3, attempt = attempt + 1, claimer = :claimer
	FROM ready
	WHERE j.row = ready.row AND (ready.due_at <= :now OR ready.due_at <= ready.created_at)
	RETURNING j.*
)
SELECT taken.thread, taken.number, ready.due_at, taken.attempt, taken.given_back, r.created_at,
	t.thread_id, taken.run_id, taken.webhook, taken.caller, taken.answers, taken.metadata, b.body, taken.row
FROM ready LEFT JOIN taken ON taken.row = ready.row
	LEFT JOIN threads AS t ON t.row = taken.thread
	LEFT JOIN runs AS r ON r.thread = taken.thread AND r.number = taken.number
	LEFT JOIN job_bodies AS b ON b.row = taken.row;

-- name: job_leave
-- Ends the job of a run that ends, if this process has it, and drops what belongs to it.
WITH ended AS (
	UPDATE jobs
	SET state = 4, claimer = NULL, caller = NULL, answers = NULL,
		started_at = coalesce(started_at, :started_at)
	WHERE row = :row AND state = 3 AND claimer = :claimer
	RETURNING row, thread, number, webhook
), body AS (
	DELETE FROM job_bodies WHERE row = (SELECT row FROM ended)
), kept_end AS (
	UPDATE kept SET until = :until
	FROM ended
	WHERE kept.thread = ended.thread AND kept.number = ended.number AND kept.until IS NULL
)
SELECT webhook IS NOT NULL AS tells,
	EXISTS (SELECT 1 FROM jobs WHERE thread = ended.thread AND state < 4 AND state = 0) AS others
FROM ended;

-- name: turn_take
SELECT pg_advisory_xact_lock(hashtextextended('agentgraph ' || :of || ' ' || current_schema(), 0)) AS nothing;

-- name: claim_want
UPDATE threads SET wanted = :process, wanted_at = clock_timestamp()
WHERE thread_id = :thread_id
	AND (wanted IS NULL OR wanted = :process
		OR wanted_at NOT BETWEEN clock_timestamp() - interval '1 s' AND clock_timestamp() + interval '1 s')
RETURNING set_config('synchronous_commit', 'off', true) AS mode;

-- name: claim_want_no_more
UPDATE threads SET wanted = NULL WHERE thread_id = :thread_id AND wanted = :process;

-- name: claim_hold
-- Runs in a transaction that writes to the thread.
SELECT row FROM threads
WHERE row = :row AND fence = :fence AND coalesce(holder, :process) = :process
	AND (holder IS NOT NULL OR :freed <> 0)
	AND EXISTS (SELECT 1 FROM processes WHERE number = :process)
FOR NO KEY UPDATE OF threads;

-- name: claim_drop
UPDATE threads SET holder = NULL
WHERE row = :row AND holder = :process AND fence = :fence
RETURNING set_config('synchronous_commit', 'off', true) AS mode;

-- name: claim_leave
-- Like claim_drop, in a transaction that goes on.
UPDATE threads SET holder = NULL WHERE row = :row AND holder = :process AND fence = :fence;

-- name: claim_running
-- Whether a run of the thread goes on at another instance.
SELECT EXISTS (SELECT 1 FROM orders AS o
	WHERE o.holder = t.holder AND o.thread_id = t.thread_id AND coalesce(o.run_id, t.run_id) = t.run_id) AS ordered
FROM threads AS t JOIN processes AS p ON p.number = t.holder
WHERE t.thread_id = :thread_id AND t.status = 1 AND p.instance <> :instance;

-- name: claim_held
-- Whether another instance holds the thread; it may do so for a while after its run ended.
SELECT 1 AS held
FROM threads AS t JOIN processes AS p ON p.number = t.holder
WHERE t.thread_id = :thread_id AND p.instance <> :instance;

-- name: claim_order
-- Orders the run that has the thread to do something; without a run_id the order is for whichever
-- run begins next.
INSERT INTO orders (holder, thread_id, run_id, ordered, given_at)
SELECT t.holder, t.thread_id, CASE WHEN t.status = 1 THEN t.run_id END, :order, clock_timestamp()
FROM threads AS t JOIN processes AS p ON p.number = t.holder
WHERE t.thread_id = :thread_id AND p.instance <> :instance AND (t.status = 1 OR :running = 0)
	AND (:only IS NULL OR t.run_id = :only) AND (:but IS NULL OR t.run_id <> :but)
RETURNING ordered;

-- name: orders_take
UPDATE orders SET taken = true
WHERE holder IN (SELECT number FROM processes WHERE instance = :instance) AND NOT taken
RETURNING thread_id, run_id, ordered;

-- name: chunks_latest
-- Runs that got chunks lately.  It looks back over a thousand rows, as rows written at the same
-- time may commit in any order.
SELECT thread, number, max(seq) AS seq FROM chunks
WHERE row > (SELECT max(row) FROM chunks) - 1000
GROUP BY thread, number;

-- name: orders_forget
-- By then the run is over, or its holder is dead.
DELETE FROM orders WHERE given_at < clock_timestamp() - interval '1 min';
