-- SPDX-License-Identifier: ISC
-- Statements on threads.db: the threads.

-- part: whole_thread
-- The fence is that of a claim (sql/claims.sql), and 0 without one.
SELECT row, thread_id, user_id, created_at, updated_at, thread_name, metadata, run_id,
	status, stop, node, step, next, pause, waiting, summary, fields, message_bytes,
	context_after, coalesce(tip, last_number) AS until, last_number, plain, 0 AS fence
FROM threads

-- name: thread_get
-- take: whole_thread
WHERE thread_id = :thread_id;

-- name: thread_owner
SELECT user_id FROM threads WHERE thread_id = :thread_id;

-- name: thread_waiting
-- If several wait for the call, the one that began last.
SELECT threads.thread_id
FROM waiting_calls JOIN threads ON threads.row = waiting_calls.thread
WHERE waiting_calls.user_id = :owner AND waiting_calls.call_id = :call_id
ORDER BY waiting_calls.since DESC, waiting_calls.thread DESC
LIMIT 1;

-- name: threads_untouched
SELECT thread_id AS id FROM threads
WHERE updated_at < :before
	AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.thread = threads.row AND state < 4)
ORDER BY updated_at
LIMIT :limit OFFSET :skip;

-- part: listed_columns
-- Leaves out the state, which can be large.
SELECT row, thread_id, user_id, created_at, updated_at, thread_name, metadata, run_id,
	status, stop, node, step
FROM threads

-- part: listed_rest
	AND (:search IS NULL
		OR instr(lower(thread_id), lower(:search)) > 0
		OR instr(lower(thread_name), lower(:search)) > 0
		OR EXISTS (
			SELECT 1 FROM json_tree(threads.metadata) AS t
			WHERE t.type = 'text' AND instr(lower(t.atom), lower(:search)) > 0))
	AND (:statuses = 0 OR (:statuses >> status) & 1 <> 0)
	AND (:labels IS NULL
		OR NOT EXISTS (
			SELECT 1 FROM json_each(:labels) AS l
			WHERE NOT EXISTS (
				SELECT 1 FROM labels
				WHERE thread = threads.row AND key = json_extract(l.value, '$[0]')
					AND value = json_extract(l.value, '$[1]'))))
ORDER BY updated_at DESC, thread_id
LIMIT :limit OFFSET :offset;

-- name: thread_list
-- columns: thread_get
-- take: listed_columns
WHERE true
-- take: listed_rest

-- name: thread_list_owned
-- columns: thread_get
-- take: listed_columns
WHERE user_id = :owner
-- take: listed_rest

-- name: thread_list_of
-- columns: thread_get
-- Lists from the few threads that were found before.
-- take: listed_columns
WHERE row IN (SELECT value FROM json_each(:rows)) AND (:owner IS NULL OR user_id = :owner)
-- take: listed_rest

-- name: labelled
SELECT thread FROM labels WHERE key = :key AND value = :value LIMIT :limit;

-- name: labelled_owned
-- columns: labelled
SELECT thread FROM labels
WHERE key = :key AND value = :value AND user_id = :owner
LIMIT :limit;

-- name: threads_in_status
-- columns: labelled
SELECT row AS thread FROM threads
WHERE status = :status AND status <> 3
LIMIT :limit;

-- name: threads_in_status_owned
-- columns: labelled
SELECT row AS thread FROM threads
WHERE status = :status AND status <> 3 AND user_id = :owner
LIMIT :limit;

-- name: labels_delete
DELETE FROM labels WHERE thread = :thread;

-- name: label_insert
INSERT INTO labels (thread, key, value, user_id)
SELECT row, :key, :value, user_id FROM threads WHERE row = :thread;

-- name: thread_insert
-- May not get the row of a removed thread, or that one's messages would be its own.
INSERT INTO threads (row, thread_id, user_id, created_at, updated_at, thread_name, metadata,
	last_number, run_id, status, stop, node, next, step, pause, waiting, summary, fields,
	message_bytes, state_bytes, message_count, checkpoint, checkpoints, changed, plain, recent,
	kept_from)
VALUES (max(:now, (SELECT coalesce(max(row), 0) + 1 FROM threads),
		(SELECT coalesce(max(thread), 0) + 1 FROM removed)),
	:thread_id, :user_id, :created_at, :updated_at, :thread_name, :metadata,
	:numbers, :run_id, :status, :stop, :node, :next, :step, :pause, :waiting, :summary,
	:fields, :added, :state_bytes, :message_count, :checkpoint, :checkpoints, :changed, :plain, :recent,
	:kept_from);

-- name: thread_before
-- What an update needs to know of the row.  The update could return it, but SQLite would then keep
-- a copy of each page that it changes, as it does for a trigger.
SELECT waiting IS DISTINCT FROM :waiting AS waits_anew, metadata <> :metadata AS labels_anew, message_bytes, state_bytes,
	context_after, coalesce(tip, last_number) AS until, last_number, plain, message_count, checkpoint,
	checkpoints, changed, recent, kept_from,
	(SELECT max(number) FROM checkpoints
		WHERE thread = row AND recent IS NULL AND kept_from IS NULL AND :keeps <> 0) AS newest
FROM threads
WHERE row = :row;

-- name: thread_update
UPDATE threads
SET updated_at = :updated_at, thread_name = :thread_name, metadata = :metadata,
	last_number = last_number + :numbers, run_id = :run_id, status = :status, stop = :stop,
	node = :node, next = :next, step = :step, pause = :pause, waiting = :waiting,
	summary = :summary, fields = :fields, message_bytes = message_bytes + :added,
	state_bytes = :state_bytes, message_count = :message_count, checkpoint = :checkpoint,
	checkpoints = :checkpoints, changed = :changed, context_after = :context_after,
	tip = :tip, plain = :plain, recent = :recent, kept_from = :kept_from
WHERE row = :row;

-- name: thread_waits_no_more
DELETE FROM waiting_calls WHERE thread = :row;

-- name: thread_waits
INSERT INTO waiting_calls (user_id, call_id, since, thread)
SELECT DISTINCT user_id, member.value, updated_at, row
FROM threads, json_each(waiting, '$.calls') AS call, json_each(call.value) AS member
WHERE row = :row AND member.key = 'id';

-- name: thread_shrink
UPDATE threads
SET message_bytes = message_bytes - :bytes, message_count = message_count - :messages
WHERE row = :row;

-- name: thread_back
-- Comes after what was added since has been deleted.
UPDATE threads
SET context_after = :after, tip = :tip, plain = :plain, message_count = :message_count,
	message_bytes = message_bytes - :bytes,
	checkpoint = (SELECT max(number) FROM checkpoints WHERE thread = :row),
	checkpoints = checkpoints - :dropped
WHERE row = :row;

-- name: thread_remove
-- Its messages are deleted later.
INSERT INTO removed (thread) VALUES (:row);

-- name: thread_delete
DELETE FROM threads WHERE row = :row;

-- name: removed_next
SELECT thread FROM removed ORDER BY thread LIMIT 1;

-- name: removed_holds
SELECT 1 AS holds FROM removed WHERE thread = :thread;

-- name: removed_messages
SELECT seq, bytes FROM messages WHERE thread = :thread ORDER BY seq LIMIT :limit;

-- name: removed_bodies_delete
DELETE FROM bodies
WHERE row IN (SELECT body FROM messages WHERE thread = :thread AND seq <= :seq);

-- name: removed_messages_delete
DELETE FROM messages WHERE thread = :thread AND seq <= :seq;

-- name: removed_delete
DELETE FROM removed WHERE thread = :thread;
