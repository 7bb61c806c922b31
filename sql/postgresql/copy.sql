-- SPDX-License-Identifier: ISC
-- What PostgreSQL has instead of statements in sql/copy.sql.

-- name: copying_settle
SELECT 1 AS settled,
	setval('threads_row', greatest((SELECT max(row) FROM threads), (SELECT max(thread) FROM removed), 1)) AS threads,
	setval('jobs_row', greatest((SELECT max(row) FROM jobs), (SELECT max(row) FROM webhooks), 1)) AS jobs,
	setval('bodies_row', (SELECT coalesce(max(row), 0) + 1 FROM bodies)) AS bodies,
	setval('states_row_seq', (SELECT coalesce(max(row), 0) + 1 FROM states)) AS states,
	setval('arrivals_row_seq', (SELECT coalesce(max(row), 0) + 1 FROM arrivals)) AS arrivals,
	setval('chunks_row_seq', (SELECT coalesce(max(row), 0) + 1 FROM chunks)) AS chunks,
	setval('models_model_seq', (SELECT coalesce(max(model), 0) + 1 FROM models)) AS models,
	setval('vectors_change', (SELECT coalesce(max(change), 0) + 1 FROM vectors)) AS vectors,
	setval('files_row_seq', (SELECT coalesce(max(row), 0) + 1 FROM files)) AS files;

-- name: copying_patience
SET LOCAL idle_in_transaction_session_timeout = 0;

-- name: copying_lock
LOCK TABLE threads, runs, jobs, memories, files IN EXCLUSIVE MODE;

-- name: copying_busy
SELECT host FROM instances WHERE NOT gone AND seen_at > clock_timestamp() - interval '10 s' LIMIT 1;

-- name: copying_job_bodies
SELECT row, body
FROM job_bodies;
