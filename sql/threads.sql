-- Statements on threads.db: the threads.

-- name: thread_get
SELECT row, thread_id, user_id, created_at, updated_at, thread_name, metadata, run_id,
	status, stop, node, step, next, pause, waiting, summary, fields
FROM threads
WHERE thread_id = :thread_id;

-- name: thread_owner
SELECT user_id FROM threads WHERE thread_id = :thread_id;

-- name: thread_waiting
-- Of several the one that began to wait last.
SELECT threads.thread_id
FROM waiting_calls JOIN threads ON threads.row = waiting_calls.thread
WHERE waiting_calls.user_id = :owner AND waiting_calls.call_id = :call_id
ORDER BY waiting_calls.since DESC, waiting_calls.thread DESC
LIMIT 1;

-- name: thread_list
-- Without the state, which can be large.
SELECT row, thread_id, user_id, created_at, updated_at, thread_name, metadata, run_id,
	status, stop, node, step
FROM threads
WHERE :search IS NULL
	OR instr(lower(thread_id), lower(:search)) > 0
	OR instr(lower(thread_name), lower(:search)) > 0
	OR EXISTS (
		SELECT 1 FROM json_tree(threads.metadata) AS t
		WHERE t.type = 'text' AND instr(lower(t.atom), lower(:search)) > 0)
ORDER BY updated_at DESC, thread_id
LIMIT :limit OFFSET :offset;

-- name: thread_list_owned
SELECT row, thread_id, user_id, created_at, updated_at, thread_name, metadata, run_id,
	status, stop, node, step
FROM threads
WHERE user_id = :owner
	AND (:search IS NULL
		OR instr(lower(thread_id), lower(:search)) > 0
		OR instr(lower(thread_name), lower(:search)) > 0
		OR EXISTS (
			SELECT 1 FROM json_tree(threads.metadata) AS t
			WHERE t.type = 'text' AND instr(lower(t.atom), lower(:search)) > 0))
ORDER BY updated_at DESC, thread_id
LIMIT :limit OFFSET :offset;

-- name: thread_insert
INSERT INTO threads (row, thread_id, user_id, created_at, updated_at, thread_name, metadata,
	last_number, run_id, status, stop, node, next, step, pause, waiting, summary, fields)
VALUES (max(:now, (SELECT coalesce(max(row), 0) + 1 FROM threads)), :thread_id, :user_id,
	:created_at, :updated_at, :thread_name, :metadata,
	:numbers, :run_id, :status, :stop, :node, :next, :step, :pause, :waiting, :summary,
	:fields);

-- name: thread_update
UPDATE threads
SET updated_at = :updated_at, thread_name = :thread_name, metadata = :metadata,
	last_number = last_number + :numbers, run_id = :run_id, status = :status, stop = :stop,
	node = :node, next = :next, step = :step, pause = :pause, waiting = :waiting,
	summary = :summary, fields = :fields
WHERE row = :row
RETURNING last_number;

-- name: thread_delete
-- Its messages go by the foreign key.
DELETE FROM threads WHERE row = :row;
