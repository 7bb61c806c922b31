-- SPDX-License-Identifier: ISC
-- Statements on threads.db: the messages.  Those of a removed thread are there for a while, but
-- nobody finds them.

-- name: message_list
-- columns: context
SELECT m.seq AS place, m.message_id, b.body
FROM messages AS m CROSS JOIN bodies AS b ON b.row = m.body
WHERE m.thread = :thread AND m.seq > :after AND m.seq <= :until
	AND EXISTS (SELECT 1 FROM threads WHERE row = :thread)
	AND (:search IS NULL OR EXISTS (
		SELECT 1 FROM json_each(b.body, '$.content') AS block
		WHERE instr(lower(CASE json_extract(block.value, '$.type')
			WHEN 'text' THEN json_extract(block.value, '$.text')
			WHEN 'tool_result' THEN CASE json_type(block.value, '$.output')
				WHEN 'text' THEN json_extract(block.value, '$.output') END
			END), lower(:search)) > 0))
ORDER BY m.seq
LIMIT :limit;

-- name: message_get
-- Several branches may each have such a message.
SELECT m.seq, b.body
FROM messages AS m INDEXED BY messages_by_id CROSS JOIN bodies AS b ON b.row = m.body
WHERE m.thread = :thread AND m.message_id = :message_id
	AND EXISTS (SELECT 1 FROM threads WHERE row = :thread);

-- name: message_places
SELECT seq FROM messages WHERE thread = :thread AND message_id = :message_id;

-- name: message_ids
SELECT seq, message_id FROM messages WHERE thread = :thread AND seq > :after AND seq <= :until;

-- name: body_insert
INSERT INTO bodies (body) VALUES (:body);

-- name: body_delete
DELETE FROM bodies WHERE row = :row;

-- name: message_insert
-- Comes right after its body_insert.
INSERT INTO messages (thread, seq, message_id, bytes, body, apart)
VALUES (:thread, :seq, :message_id, :bytes, last_insert_rowid(), :apart);

-- name: message_delete
DELETE FROM messages WHERE thread = :thread AND seq = :seq
RETURNING body, bytes;

-- name: later_messages_bytes
SELECT coalesce(sum(bytes), 0) AS bytes FROM messages WHERE thread = :thread AND seq > :until;

-- name: later_bodies_delete
DELETE FROM bodies
WHERE row IN (SELECT body FROM messages WHERE thread = :thread AND seq > :until);

-- name: later_messages_delete
DELETE FROM messages WHERE thread = :thread AND seq > :until;

-- name: view
SELECT context_after, coalesce(tip, last_number) AS until, last_number, plain
FROM threads
WHERE row = :thread;

-- name: view_branches
SELECT first, until FROM branches WHERE thread = :thread AND first <= :until ORDER BY first DESC;

-- name: view_entered
SELECT number, seq FROM entered
WHERE thread = :thread AND number > :after AND number <= :until
ORDER BY number;

-- name: context
-- A part of the context, or of a list of messages.
SELECT m.seq AS place, m.message_id, b.body
FROM messages AS m CROSS JOIN bodies AS b ON b.row = m.body
WHERE m.thread = :thread AND m.seq > :after AND m.seq <= :until
ORDER BY m.seq;

-- name: context_count
SELECT count(*) AS count FROM messages WHERE thread = :thread AND seq > :after AND seq <= :until;

-- name: context_enter
INSERT INTO entered (thread, number, seq) VALUES (:thread, :number, :seq);

-- name: context_move
UPDATE threads SET context_after = :after WHERE row = :row;

-- name: later_branches_delete
DELETE FROM branches WHERE thread = :thread AND first > :until;

-- name: later_entered_delete
DELETE FROM entered WHERE thread = :thread AND number > :until;
