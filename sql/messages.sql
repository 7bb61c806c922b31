-- Statements on threads.db: the messages.

-- name: message_list
SELECT message_id, body
FROM messages
WHERE thread = :thread
	AND (:search IS NULL OR EXISTS (
		SELECT 1 FROM json_each(messages.body, '$.content') AS block
		WHERE instr(lower(CASE json_extract(block.value, '$.type')
			WHEN 'text' THEN json_extract(block.value, '$.text')
			WHEN 'tool_result' THEN CASE json_type(block.value, '$.output')
				WHEN 'text' THEN json_extract(block.value, '$.output') END
			END), lower(:search)) > 0))
ORDER BY seq
LIMIT :limit OFFSET :offset;

-- name: message_get
SELECT body FROM messages WHERE thread = :thread AND message_id = :message_id;

-- name: message_known
SELECT position IS NOT NULL FROM messages WHERE thread = :thread AND message_id = :message_id;

-- name: message_insert
INSERT INTO messages (thread, seq, position, message_id, body)
VALUES (:thread, :seq, :seq, :message_id, :body);

-- name: message_delete
DELETE FROM messages WHERE thread = :thread AND message_id = :message_id;

-- name: context
SELECT message_id, body
FROM messages
WHERE thread = :thread AND position IS NOT NULL
ORDER BY position;

-- name: context_count
SELECT count(position) FROM messages WHERE thread = :thread;

-- name: context_enter
UPDATE messages SET position = :position WHERE thread = :thread AND message_id = :message_id;

-- name: context_leave
UPDATE messages SET position = NULL
WHERE thread = :thread
	AND position <= (SELECT position FROM messages WHERE thread = :thread AND message_id = :message_id);

-- name: context_clear
UPDATE messages SET position = NULL WHERE thread = :thread AND position IS NOT NULL;
