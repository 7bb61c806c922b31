-- SPDX-License-Identifier: ISC
-- What PostgreSQL has instead of statements in sql/threads.sql, messages.sql and history.sql.

-- name: thread_waiting
SELECT threads.thread_id
FROM waiting_calls JOIN threads ON threads.row = waiting_calls.thread
WHERE hashtextextended(waiting_calls.call_id, 0) = hashtextextended(:call_id COLLATE "C", 0)
	AND waiting_calls.user_id = :owner AND waiting_calls.call_id = :call_id
ORDER BY waiting_calls.since DESC, waiting_calls.thread DESC
LIMIT 1;

-- name: thread_waits
INSERT INTO waiting_calls (user_id, call_id, since, thread)
SELECT DISTINCT user_id, call.value ->> 'id', updated_at, row
FROM threads CROSS JOIN LATERAL json_array_elements(waiting::json -> 'calls') AS call
WHERE row = :row AND call.value ->> 'id' IS NOT NULL;

-- part: listed_rest
	AND (:search IS NULL
		OR strpos(lower(thread_id), lower(:search COLLATE "C")) > 0
		OR strpos(lower(thread_name), lower(:search COLLATE "C")) > 0
		OR EXISTS (
			SELECT 1 FROM texts_in(threads.metadata) AS t (atom)
			WHERE strpos(lower(t.atom COLLATE "C"), lower(:search COLLATE "C")) > 0))
	AND (:statuses = 0 OR (:statuses >> status) & 1 <> 0)
	AND (:labels IS NULL
		OR NOT EXISTS (
			SELECT 1 FROM json_array_elements(:labels::json) AS l
			WHERE NOT EXISTS (
				SELECT 1 FROM labels
				WHERE thread = threads.row AND key = l.value ->> 0 AND labels.value = l.value ->> 1)))
ORDER BY updated_at DESC, thread_id
LIMIT :limit OFFSET :offset;

-- name: thread_list_of
-- take: listed_columns
WHERE row IN (SELECT value::bigint FROM json_array_elements_text(:rows::json))
	AND (:owner IS NULL OR user_id = :owner)
-- take: listed_rest

-- name: labelled
SELECT thread FROM labels
WHERE hashtextextended(key, 0) = hashtextextended(:key COLLATE "C", 0)
	AND hashtextextended(value, 0) = hashtextextended(:value COLLATE "C", 0)
	AND key = :key AND value = :value
LIMIT :limit;

-- name: labelled_owned
SELECT thread FROM labels
WHERE hashtextextended(key, 0) = hashtextextended(:key COLLATE "C", 0)
	AND hashtextextended(value, 0) = hashtextextended(:value COLLATE "C", 0)
	AND key = :key AND value = :value AND user_id = :owner
LIMIT :limit;

-- name: thread_insert
-- If several instances make the thread at once, only one of them succeeds.
INSERT INTO threads (row, thread_id, user_id, created_at, updated_at, thread_name, metadata,
	last_number, run_id, status, stop, node, next, step, pause, waiting, summary, fields,
	message_bytes, state_bytes, message_count, checkpoint, checkpoints, changed, plain, recent, kept_from,
	holder, fence)
VALUES (nextval('threads_row'), :thread_id, :user_id, :created_at, :updated_at, :thread_name, :metadata,
	:numbers, :run_id, :status, :stop, :node, :next, :step, :pause, :waiting, :summary,
	:fields, :added, :state_bytes, :message_count, :checkpoint, :checkpoints, :changed, :plain, :recent,
	:kept_from, :holder, 1)
ON CONFLICT (thread_id) DO NOTHING
RETURNING row;

-- name: thread_update
UPDATE threads
SET updated_at = :updated_at, thread_name = :thread_name, metadata = :metadata,
	last_number = last_number + :numbers, run_id = :run_id, status = :status, stop = :stop,
	node = :node, next = :next, step = :step, pause = :pause, waiting = :waiting,
	summary = :summary, fields = :fields, message_bytes = message_bytes + :added,
	state_bytes = :state_bytes, message_count = :message_count, checkpoint = :checkpoint,
	checkpoints = :checkpoints, changed = :changed, context_after = :context_after,
	tip = :tip, plain = :plain, recent = :recent, kept_from = :kept_from,
	holder = CASE WHEN :frees <> 0 THEN NULL ELSE holder END
WHERE row = :row;

-- name: message_list
SELECT m.seq AS place, m.message_id, b.body
FROM messages AS m JOIN bodies AS b ON b.row = m.body
WHERE m.thread = :thread AND m.seq > :after AND m.seq <= :until
	AND EXISTS (SELECT 1 FROM threads WHERE row = :thread)
	AND (:search IS NULL OR EXISTS (
		SELECT 1
		FROM json_array_elements(CASE WHEN json_typeof(b.body::json -> 'content') = 'array'
			THEN b.body::json -> 'content' ELSE '[]' END) AS block
		WHERE strpos(lower((CASE block.value ->> 'type'
			WHEN 'text' THEN block.value ->> 'text'
			WHEN 'tool_result' THEN CASE json_typeof(block.value -> 'output')
				WHEN 'string' THEN block.value ->> 'output' END
			END) COLLATE "C"), lower(:search COLLATE "C")) > 0))
ORDER BY m.seq
LIMIT :limit;

-- name: message_insert
-- Inserts the body, too.
WITH body AS (
	INSERT INTO bodies (row, body) VALUES (nextval('bodies_row'), :body) RETURNING row
)
INSERT INTO messages (thread, seq, message_id, bytes, body, apart)
SELECT :thread, :seq, :message_id, :bytes, row, :apart FROM body;

-- name: state_insert
INSERT INTO states (pause, waiting, summary, fields) VALUES (:pause, :waiting, :summary, :fields)
RETURNING row;

-- name: state_keep
INSERT INTO states (pause, waiting, summary, fields)
SELECT pause, waiting, summary, fields FROM threads WHERE row = :row
RETURNING row;

-- name: body_highest
-- Is not needed here: copied bodies get their rows from the sequence.
SELECT 0::bigint AS row;

-- name: copy_bodies
-- There is nothing to do: copy_messages copies the bodies, too.
SELECT 1 AS nothing WHERE :highest::bigint + :thread::bigint + :after::bigint + :until::bigint IS NULL;

-- name: copy_messages
WITH copied AS MATERIALIZED (
	SELECT m.seq, m.message_id, m.bytes, b.body, nextval('bodies_row') AS row
	FROM messages AS m JOIN bodies AS b ON b.row = m.body
	WHERE m.thread = :thread AND m.seq > :after AND m.seq <= :until AND :highest::bigint >= 0
), stored AS (
	INSERT INTO bodies (row, body) SELECT row, body FROM copied
)
INSERT INTO messages (thread, seq, message_id, bytes, body)
SELECT :to::bigint, seq, message_id, bytes, row FROM copied;

-- name: trim_first
-- SQLite takes an offset below 0 for 0, and PostgreSQL does not.
SELECT number FROM checkpoints
WHERE thread = :thread
ORDER BY number DESC
LIMIT 1 OFFSET greatest(:keep - 1, 0);

-- name: recent_held
-- The lock makes whoever keeps another checkpoint wait.
SELECT recent, kept_from FROM threads WHERE row = :row FOR UPDATE;

-- name: trim_standing
-- The lock keeps checkpoints from being added meanwhile.
SELECT plain, checkpoints, recent, kept_from FROM threads WHERE row = :row FOR UPDATE;
