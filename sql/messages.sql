-- SPDX-License-Identifier: ISC
-- Statements on threads.db: the messages.  Those of a removed thread are there for a while, but
-- nobody finds them.

-- name: message_list
-- columns: context
SELECT m.seq AS place, m.message_id, b.body
FROM messages AS m CROSS JOIN bodies AS b ON b.row = m.body
WHERE m.thread = :thread AND m.seq > :after
	AND EXISTS (SELECT 1 FROM threads WHERE row = :thread)
	AND (:search IS NULL OR EXISTS (
		SELECT 1 FROM json_each(b.body, '$.content') AS block
		WHERE instr(lower(CASE json_extract(block.value, '$.type')
			WHEN 'text' THEN json_extract(block.value, '$.text')
			WHEN 'tool_result' THEN CASE json_type(block.value, '$.output')
				WHEN 'text' THEN json_extract(block.value, '$.output') END
			END), lower(:search)) > 0))
ORDER BY m.seq
LIMIT :limit OFFSET :offset;

-- name: message_get
SELECT b.body
FROM messages AS m CROSS JOIN bodies AS b ON b.row = m.body
WHERE m.thread = :thread AND m.message_id = :message_id
	AND EXISTS (SELECT 1 FROM threads WHERE row = :thread);

-- name: message_known
SELECT position > context_after AS in_context
FROM threads JOIN messages ON thread = row
WHERE row = :thread AND message_id = :message_id;

-- name: body_insert
INSERT INTO bodies (body) VALUES (:body);

-- name: body_delete
DELETE FROM bodies WHERE row = :row;

-- name: message_insert
-- After its body_insert.
INSERT INTO messages (thread, seq, position, message_id, bytes, body)
VALUES (:thread, :seq, :position, :message_id, :bytes, last_insert_rowid());

-- name: message_delete
DELETE FROM messages WHERE thread = :thread AND message_id = :message_id
RETURNING body, bytes;

-- name: context_span
SELECT context_after, last_number FROM threads WHERE row = :thread;

-- name: context
-- Those that never left come in the order of the list, with the others between them; each arm has an
-- index in its order, so nothing is sorted or kept.
SELECT m.seq AS place, m.message_id, b.body
FROM messages AS m CROSS JOIN bodies AS b ON b.row = m.body
WHERE m.thread = :thread AND m.position = m.seq
	AND m.seq > :after AND m.seq <= :until
UNION ALL
SELECT m.position, m.message_id, b.body
FROM messages AS m CROSS JOIN bodies AS b ON b.row = m.body
WHERE m.thread = :thread AND m.position <> m.seq
	AND m.position > :after AND m.position <= :until
ORDER BY place;

-- name: context_count
SELECT (SELECT count(*) FROM messages
		WHERE thread = :thread AND position = seq AND seq > context_after)
	+ (SELECT count(*) FROM messages
		WHERE thread = :thread AND position <> seq AND position > context_after) AS count
FROM threads
WHERE row = :thread;

-- name: context_enter
UPDATE messages SET position = :position WHERE thread = :thread AND message_id = :message_id;

-- name: context_leave
UPDATE threads
SET context_after = max(context_after, coalesce(
	(SELECT position FROM messages WHERE thread = :thread AND message_id = :message_id), 0))
WHERE row = :thread;

-- name: context_clear
UPDATE threads SET context_after = :after WHERE row = :thread;
