-- SPDX-License-Identifier: ISC
-- Statements on threads.db: chunks of runs, and which runs have theirs kept.

-- name: kept_insert
INSERT INTO kept (thread, number, job, until) VALUES (:thread, :number, :job, :until);

-- name: kept_end
UPDATE kept SET until = :until WHERE thread = :thread AND number = :number AND until IS NULL;

-- name: kept_bury
-- Comes after run_bury, for runs that a process was in when it died.
UPDATE kept
SET until = (SELECT updated_at FROM threads WHERE row = :thread) + :keep
WHERE thread = :thread AND job = 0 AND until IS NULL;

-- name: kept_drop
UPDATE kept SET until = 0 WHERE thread = :thread AND number = :number;

-- name: kept_spend
-- Comes when the chunks of a run whose record is gone are deleted.  While no other run has a higher
-- number, this one stays taken (-1): the deleted run's process may have chunks still to write, which
-- must not become those of the next run.
UPDATE kept SET until = -1 WHERE thread = :thread AND number = :number AND until = 0;

-- name: kept_delete_spent
DELETE FROM kept
WHERE thread = :thread AND until = -1
	AND (EXISTS (SELECT 1 FROM runs AS r WHERE r.thread = kept.thread AND r.number > kept.number)
		OR EXISTS (SELECT 1 FROM kept AS k WHERE k.thread = kept.thread AND k.number > kept.number));

-- part: chunks_wanted
-- Whether a run's chunks are to be kept.  A run in the background gets its row in kept when it
-- ends.
WHERE EXISTS (SELECT 1 FROM kept
		WHERE thread = :thread AND number = :number AND coalesce(until, 1) > 0)
	OR EXISTS (SELECT 1 FROM runs
		WHERE thread = :thread AND number = :number AND job IS NOT NULL AND status IN (1, 6))

-- name: chunks_insert
-- Writes nothing for a run that is gone, or whose chunks are not kept any more, nor where somebody
-- else has ended a run that was stopped just before it began (chunks_mend).  A line much like the
-- one before it is stored as the difference (storage/sql/run/line_pack.h).
INSERT INTO chunks (thread, number, seq, count, lines)
SELECT :thread, :number, :seq, :count, :lines
-- take: chunks_wanted
ON CONFLICT (thread, number, seq) DO NOTHING;

-- name: chunks_mend
-- Writes the end of a run whose process no longer does; somebody else may have its thread by now.
INSERT INTO chunks (thread, number, seq, count, lines)
SELECT :thread, :number, :seq, :count, :lines
-- take: chunks_wanted
ON CONFLICT (thread, number, seq) DO NOTHING;

-- name: chunks_read
-- Begins with the batch that has the first chunk wanted.
SELECT seq, count, lines
FROM chunks
WHERE thread = :thread AND number = :number
	AND seq >= coalesce((SELECT max(seq) FROM chunks
		WHERE thread = :thread AND number = :number AND seq <= :wanted), 0)
ORDER BY seq;

-- name: chunks_last
SELECT seq + count - 1 AS last
FROM chunks
WHERE thread = :thread AND number = :number
ORDER BY seq DESC
LIMIT 1;

-- name: chunks_of_thread
SELECT row, lines FROM chunks WHERE thread = :thread;

-- name: chunks_batch
SELECT lines FROM chunks WHERE row = :row;

-- name: chunks_replace
UPDATE chunks SET lines = :lines WHERE row = :row;

-- name: kept_due
-- The run whose time has been over for longest.
SELECT thread, number FROM kept WHERE until > 0 AND until <= :now ORDER BY until LIMIT 1;

-- name: kept_dropped
-- columns: kept_due
SELECT thread, number FROM kept WHERE until = 0 LIMIT 1;

-- name: kept_unended
-- The next run that goes on, but for jobs, which are taken up again.
SELECT k.thread, k.number, t.thread_id
FROM kept AS k CROSS JOIN threads AS t ON t.row = k.thread
WHERE k.until IS NULL AND k.job = 0 AND (k.thread, k.number) > (:thread, :number)
ORDER BY k.thread, k.number
LIMIT 1;

-- name: chunks_delete
DELETE FROM chunks
WHERE row IN (SELECT row FROM chunks WHERE thread = :thread AND number = :number LIMIT :limit);

-- name: kept_delete
DELETE FROM kept WHERE thread = :thread AND number = :number;

-- name: removed_chunks_delete
DELETE FROM chunks WHERE row IN (SELECT row FROM chunks WHERE thread = :thread LIMIT :limit);

-- name: removed_kept_delete
DELETE FROM kept WHERE thread = :thread;
