-- SPDX-License-Identifier: ISC
-- Statements on threads.db: to whom the progress of tasks is pushed.

-- name: push_put
-- A task has at most :most of them, and a thread that is gone has none.
INSERT INTO pushes (thread, task, id, state, number, url, how)
SELECT :thread, :task, :id, :state, :number, :url, :how
WHERE EXISTS (SELECT 1 FROM threads WHERE row = :thread)
	AND (SELECT count(*) FROM pushes WHERE thread = :thread AND task = :task AND id <> :id) < :most
ON CONFLICT (thread, task, id) DO UPDATE
SET state = excluded.state, number = excluded.number, url = excluded.url, how = excluded.how;

-- name: pushes_of_task
SELECT id, url, how FROM pushes WHERE thread = :thread AND task = :task ORDER BY id;

-- name: push_delete
DELETE FROM pushes WHERE thread = :thread AND task = :task AND id = :id;

-- name: pushes_open
-- The thread's pushes whose tasks go on, and what has become of the run that each of them knows.
SELECT p.task, p.id, p.state, p.number, p.url, p.how, coalesce(r.status, 0) AS status
FROM pushes AS p INDEXED BY pushes_open LEFT JOIN runs AS r ON r.thread = p.thread AND r.number = p.number
WHERE p.thread = :thread AND p.state < 2
ORDER BY p.task, p.id;

-- name: push_settle
UPDATE pushes SET state = :state, number = :number WHERE thread = :thread AND task = :task AND id = :id;

-- name: pushes_drop
-- Drops them together with the record of the task's first run.
DELETE FROM pushes
WHERE thread = :thread
	AND task IN (SELECT run_id FROM runs WHERE thread = :thread AND number = :number);

-- name: removed_pushes_delete
DELETE FROM pushes WHERE thread = :thread;
