-- SPDX-License-Identifier: ISC
-- Statements on threads.db: threads taken out with all their history.

-- name: place_list
-- What a thread has on all its branches, in the order in which places were given; a branch comes
-- before the first thing on it.
SELECT first AS place, 0 AS kind, until AS other, NULL AS message_id, NULL AS body
FROM branches
WHERE thread = :thread AND first > :after AND first <= :until
UNION ALL
SELECT number, 1, seq, NULL, NULL
FROM entered
WHERE thread = :thread AND number > :after AND number <= :until
UNION ALL
SELECT m.seq, 2, 0, m.message_id, b.body
FROM messages AS m CROSS JOIN bodies AS b ON b.row = m.body
WHERE m.thread = :thread AND m.seq > :after AND m.seq <= :until
ORDER BY 1, 2;

-- name: thread_origin
SELECT coalesce(checkpoint, 0) AS checkpoint, changed FROM threads WHERE row = :row;
