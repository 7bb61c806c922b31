-- SPDX-License-Identifier: ISC
-- Statements that copy everything from one database to another, table by table: one that reads a
-- table, and below it the one that writes a row.  Traces are left out, and what can be made from
-- the rest.

-- name: copying_threads_rows
SELECT (SELECT count(*) FROM threads)
	+ (SELECT count(*) FROM waiting_calls)
	+ (SELECT count(*) FROM labels)
	+ (SELECT count(*) FROM bodies)
	+ (SELECT count(*) FROM messages)
	+ (SELECT count(*) FROM removed)
	+ (SELECT count(*) FROM branches)
	+ (SELECT count(*) FROM entered)
	+ (SELECT count(*) FROM states)
	+ (SELECT count(*) FROM checkpoints)
	+ (SELECT count(*) FROM runs)
	+ (SELECT count(*) FROM jobs)
	+ (SELECT count(*) FROM jobs WHERE state < 4)
	+ (SELECT count(*) FROM arrivals)
	+ (SELECT count(*) FROM kept)
	+ (SELECT count(*) FROM jobs
		WHERE state < 4
			AND NOT EXISTS (SELECT 1 FROM kept
				WHERE kept.thread = jobs.thread AND kept.number = jobs.number))
	+ (SELECT count(*) FROM chunks)
	+ (SELECT count(*) FROM webhooks)
	+ (SELECT count(*) FROM pushes) AS count;

-- name: copying_threads
SELECT row, thread_id, user_id, created_at, updated_at, thread_name, metadata, last_number, run_id, status,
	stop, node, next, step, pause, waiting, summary, fields, context_after, message_bytes, state_bytes, tip,
	plain, message_count, checkpoint, checkpoints, changed, recent, kept_from
FROM threads;

-- name: copying_threads_put
INSERT INTO threads (row, thread_id, user_id, created_at, updated_at, thread_name, metadata, last_number,
	run_id, status, stop, node, next, step, pause, waiting, summary, fields, context_after, message_bytes,
	state_bytes, tip, plain, message_count, checkpoint, checkpoints, changed, recent, kept_from)
VALUES (:row, :thread_id, :user_id, :created_at, :updated_at, :thread_name, :metadata, :last_number,
	:run_id, :status, :stop, :node, :next, :step, :pause, :waiting, :summary, :fields, :context_after,
	:message_bytes, :state_bytes, :tip, :plain, :message_count, :checkpoint, :checkpoints, :changed,
	:recent, :kept_from);

-- name: copying_waiting_calls
SELECT user_id, call_id, since, thread
FROM waiting_calls;

-- name: copying_waiting_calls_put
INSERT INTO waiting_calls (user_id, call_id, since, thread)
VALUES (:user_id, :call_id, :since, :thread);

-- name: copying_labels
SELECT thread, key, value, user_id
FROM labels;

-- name: copying_labels_put
INSERT INTO labels (thread, key, value, user_id)
VALUES (:thread, :key, :value, :user_id);

-- name: copying_bodies
SELECT row, body
FROM bodies;

-- name: copying_bodies_put
INSERT INTO bodies (row, body)
VALUES (:row, :body);

-- name: copying_messages
SELECT thread, seq, message_id, bytes, body, apart
FROM messages;

-- name: copying_messages_put
INSERT INTO messages (thread, seq, message_id, bytes, body, apart)
VALUES (:thread, :seq, :message_id, :bytes, :body, :apart);

-- name: copying_removed
SELECT thread
FROM removed;

-- name: copying_removed_put
INSERT INTO removed (thread)
VALUES (:thread);

-- name: copying_branches
SELECT thread, first, until
FROM branches;

-- name: copying_branches_put
INSERT INTO branches (thread, first, until)
VALUES (:thread, :first, :until);

-- name: copying_entered
SELECT thread, number, seq
FROM entered;

-- name: copying_entered_put
INSERT INTO entered (thread, number, seq)
VALUES (:thread, :number, :seq);

-- name: copying_states
SELECT row, pause, waiting, summary, fields
FROM states;

-- name: copying_states_put
INSERT INTO states (row, pause, waiting, summary, fields)
VALUES (:row, :pause, :waiting, :summary, :fields);

-- name: copying_checkpoints
SELECT thread, number, parent, source, message_count, run_id, status, stop, node, step, next, context_after,
	until, fields, state
FROM checkpoints;

-- name: copying_checkpoints_put
INSERT INTO checkpoints (thread, number, parent, source, message_count, run_id, status, stop, node, step,
	next, context_after, until, fields, state)
VALUES (:thread, :number, :parent, :source, :message_count, :run_id, :status, :stop, :node, :step, :next,
	:context_after, :until, :fields, :state);

-- name: copying_runs
SELECT thread, number, run_id, status, created_at, finished_at, node, step, prompt_tokens,
	completion_tokens, reasoning_tokens, total_tokens, messages_after, messages_until, brought, error, job,
	checkpoints, kept_count
FROM runs;

-- name: copying_runs_put
INSERT INTO runs (thread, number, run_id, status, created_at, finished_at, node, step, prompt_tokens,
	completion_tokens, reasoning_tokens, total_tokens, messages_after, messages_until, brought, error, job,
	checkpoints, kept_count)
VALUES (:thread, :number, :run_id, :status, :created_at, :finished_at, :node, :step, :prompt_tokens,
	:completion_tokens, :reasoning_tokens, :total_tokens, :messages_after, :messages_until, :brought, :error,
	:job, :checkpoints, :kept_count);

-- name: copying_jobs
SELECT row, thread, number, run_id, state, due_at, attempt, given_back, claimer, started_at, webhook,
	caller, answers, metadata, ordered
FROM jobs;

-- name: copying_jobs_put
INSERT INTO jobs (row, thread, number, run_id, state, due_at, attempt, given_back, claimer, started_at,
	webhook, caller, answers, metadata, ordered)
VALUES (:row, :thread, :number, :run_id, :state, :due_at, :attempt, :given_back, :claimer, :started_at,
	:webhook, :caller, :answers, :metadata, :ordered);

-- name: copying_job_bodies
SELECT row, body
FROM job_bodies
UNION ALL
SELECT row, body
FROM jobs
WHERE body IS NOT NULL AND row NOT IN (SELECT row FROM job_bodies);

-- name: copying_job_bodies_put
INSERT INTO job_bodies (row, body)
VALUES (:row, :body);

-- name: copying_arrivals
SELECT row, job, region, step, branch
FROM arrivals;

-- name: copying_arrivals_put
INSERT INTO arrivals (row, job, region, step, branch)
VALUES (:row, :job, :region, :step, :branch);

-- name: copying_kept
-- Jobs that are not over get a row here, too: some engines make it when the job is queued, and need
-- it.
SELECT thread, number, job, until
FROM kept
UNION ALL
SELECT thread, number, 1, NULL
FROM jobs
WHERE state < 4
	AND NOT EXISTS (SELECT 1 FROM kept WHERE kept.thread = jobs.thread AND kept.number = jobs.number);

-- name: copying_kept_put
INSERT INTO kept (thread, number, job, until)
VALUES (:thread, :number, :job, :until);

-- name: copying_chunks
SELECT row, thread, number, seq, count, lines
FROM chunks;

-- name: copying_chunks_put
INSERT INTO chunks (row, thread, number, seq, count, lines)
VALUES (:row, :thread, :number, :seq, :count, :lines);

-- name: copying_webhooks
SELECT row, thread, id, site, url, body, due_at, attempts, last_status, delivered_at, how
FROM webhooks;

-- name: copying_webhooks_put
INSERT INTO webhooks (row, thread, id, site, url, body, due_at, attempts, last_status, delivered_at, how)
VALUES (:row, :thread, :id, :site, :url, :body, :due_at, :attempts, :last_status, :delivered_at, :how);

-- name: copying_pushes
SELECT thread, task, id, state, number, url, how
FROM pushes;

-- name: copying_pushes_put
INSERT INTO pushes (thread, task, id, state, number, url, how)
VALUES (:thread, :task, :id, :state, :number, :url, :how);

-- name: copying_store_rows
-- columns: copying_threads_rows
SELECT (SELECT count(*) FROM models)
	+ (SELECT count(*) FROM memories)
	+ (SELECT count(*) FROM relations)
	+ (SELECT count(*) FROM vectors)
	+ (SELECT count(*) FROM pending) AS count;

-- name: copying_models
SELECT model, name, dimension
FROM models;

-- name: copying_models_put
INSERT INTO models (model, name, dimension)
VALUES (:model, :name, :dimension);

-- name: copying_memories
SELECT row, memory_id, user_id, owner, thread_id, memory_type, category, entity, created_at, metadata,
	content
FROM memories;

-- name: copying_memories_put
INSERT INTO memories (row, memory_id, user_id, owner, thread_id, memory_type, category, entity, created_at,
	metadata, content)
VALUES (:row, :memory_id, :user_id, :owner, :thread_id, :memory_type, :category, :entity, :created_at,
	:metadata, :content);

-- name: copying_relations
SELECT memory, target
FROM relations;

-- name: copying_relations_put
INSERT INTO relations (memory, target)
VALUES (:memory, :target);

-- name: copying_vectors
SELECT change, memory, model, hash, vector
FROM vectors;

-- name: copying_vectors_put
INSERT INTO vectors (change, memory, model, hash, vector)
VALUES (:change, :memory, :model, :hash, :vector);

-- name: copying_pending
SELECT memory
FROM pending;

-- name: copying_pending_put
INSERT INTO pending (memory)
VALUES (:memory);

-- name: copying_files_rows
-- columns: copying_threads_rows
SELECT (SELECT count(*) FROM files) AS count;

-- name: copying_files
SELECT row, file_id, owner, filename, mime_type, size, sha256, created_at, backend, key, text_state, text,
	touched_at
FROM files;

-- name: copying_files_put
INSERT INTO files (row, file_id, owner, filename, mime_type, size, sha256, created_at, backend, key,
	text_state, text, touched_at)
VALUES (:row, :file_id, :owner, :filename, :mime_type, :size, :sha256, :created_at, :backend, :key,
	:text_state, :text, :touched_at);

-- name: copying_settle
-- Moves the counters from which the database numbers rows past the rows that were copied.
SELECT 1 AS settled;

-- name: copying_local
-- columns: copying_threads_rows
SELECT count(*) AS count FROM files WHERE backend = 'local';

-- name: copying_bytes
-- columns: copying_threads_rows
-- Files whose bytes are in the database, where SQLite cannot keep them.
SELECT count(*) AS count FROM files WHERE backend = 'database';

-- name: copying_patience
-- Lets the transaction take long.
PRAGMA schema_version;

-- name: copying_lock
-- Keeps everybody else from changing anything until the transaction ends; in SQLite the transaction
-- alone does.
PRAGMA schema_version;

-- name: copying_busy
-- Who is working on the database; a directory has a lock for that.
SELECT NULL AS host WHERE 1 = 0;
