-- SPDX-License-Identifier: ISC
-- Statements on threads.db: the threads.

-- name: thread_get
SELECT row, thread_id, user_id, created_at, updated_at, thread_name, metadata, run_id,
	status, stop, node, step, next, pause, waiting, summary, fields, message_bytes
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

-- name: threads_untouched
SELECT thread_id AS id FROM threads
WHERE updated_at < :before
ORDER BY updated_at
LIMIT :limit OFFSET :skip;

-- name: thread_list
-- columns: thread_get
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
-- columns: thread_get
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
-- Nor may it have the row of a removed thread, whose messages would be its own.
INSERT INTO threads (row, thread_id, user_id, created_at, updated_at, thread_name, metadata,
	last_number, run_id, status, stop, node, next, step, pause, waiting, summary, fields,
	message_bytes, state_bytes)
VALUES (max(:now, (SELECT coalesce(max(row), 0) + 1 FROM threads),
		(SELECT coalesce(max(thread), 0) + 1 FROM removed)),
	:thread_id, :user_id, :created_at, :updated_at, :thread_name, :metadata,
	:numbers, :run_id, :status, :stop, :node, :next, :step, :pause, :waiting, :summary,
	:fields, :added, :state_bytes);

-- name: thread_update
-- Not when that makes it larger than it may be; what makes it no larger is always fine.
UPDATE threads
SET updated_at = :updated_at, thread_name = :thread_name, metadata = :metadata,
	last_number = last_number + :numbers, run_id = :run_id, status = :status, stop = :stop,
	node = :node, next = :next, step = :step, pause = :pause, waiting = :waiting,
	summary = :summary, fields = :fields, message_bytes = message_bytes + :added,
	state_bytes = :state_bytes
WHERE row = :row
	AND (:max = 0 OR message_bytes + :added + :state_bytes <= :max
		OR (:added = 0 AND :state_bytes <= state_bytes))
RETURNING last_number;

-- name: thread_is_stored
SELECT 1 AS stored FROM threads WHERE row = :row;

-- name: thread_shrink
UPDATE threads SET message_bytes = message_bytes - :bytes WHERE row = :row;

-- name: thread_remove
-- Its messages go later.
INSERT INTO removed (thread) VALUES (:row);

-- name: thread_delete
DELETE FROM threads WHERE row = :row;

-- name: removed_next
SELECT thread FROM removed ORDER BY thread LIMIT 1;

-- name: removed_messages
SELECT seq, bytes FROM messages WHERE thread = :thread ORDER BY seq LIMIT :limit;

-- name: removed_bodies_delete
DELETE FROM bodies
WHERE row IN (SELECT body FROM messages WHERE thread = :thread AND seq <= :seq);

-- name: removed_messages_delete
DELETE FROM messages WHERE thread = :thread AND seq <= :seq;

-- name: removed_delete
DELETE FROM removed WHERE thread = :thread;
