-- SPDX-License-Identifier: ISC
-- Statements on threads.db that move messages from where version 2 has them to where version 3
-- does, before version 4.

-- name: move_last
SELECT thread, seq FROM messages ORDER BY thread DESC, seq DESC LIMIT 1;

-- name: move_next
SELECT thread, seq, coalesce(position, seq) AS place, position IS NULL AS outside, message_id, body
FROM messages_1
WHERE (thread, seq) > (:thread, :seq)
ORDER BY thread, seq;

-- name: move_insert
-- Comes right after its body_insert.
INSERT INTO messages (thread, seq, position, message_id, bytes, body)
VALUES (:thread, :seq, :position, :message_id, :bytes, last_insert_rowid());

-- name: move_delete
DELETE FROM messages_1 WHERE (thread, seq) <= (:thread, :seq);

-- name: move_count
-- A message without a position had left the context, and so had all before it.
UPDATE threads
SET message_bytes = message_bytes + :bytes, context_after = max(context_after, :after),
	state_bytes = length(CAST(fields || coalesce(summary, '') || coalesce(pause, '')
		|| coalesce(waiting, '') AS BLOB))
WHERE row = :row;
