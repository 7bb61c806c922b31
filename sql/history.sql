-- SPDX-License-Identifier: ISC
-- Statements on threads.db: checkpoints.

-- name: checkpoint_get
-- From :apart on checkpoints lie outside this table, and were found there; of those below, the last
-- :keep are kept.
SELECT c.number, c.parent, c.source, c.message_count, c.run_id, c.status, c.stop, c.node, c.step,
	c.next, c.context_after, c.until, s.pause, s.waiting, s.summary,
	coalesce(c.fields, s.fields) AS fields
FROM checkpoints AS c LEFT JOIN states AS s ON s.row = c.state
WHERE c.thread = :thread AND c.number = :number
	AND EXISTS (SELECT 1 FROM threads WHERE row = :thread)
	AND (:keep = 0 OR (SELECT count(*) FROM (
		SELECT 1 FROM checkpoints WHERE thread = :thread AND number > :number AND number < :apart
		LIMIT :keep) AS later) < :keep);

-- name: checkpoint_list
-- columns: checkpoint_get
-- Leaves out those that are due to be trimmed; :apart and :keep are those of checkpoint_get.
SELECT number, parent, source, message_count, run_id, status, stop, node, step, next,
	context_after, until
FROM checkpoints
WHERE thread = :thread AND number < :before
	AND EXISTS (SELECT 1 FROM threads WHERE row = :thread)
	AND (:run_id IS NULL OR (run_id = :run_id AND source <= 2))
	AND number >= CASE WHEN :keep > 0
		THEN coalesce((SELECT number FROM checkpoints WHERE thread = :thread AND number < :apart
			ORDER BY number DESC LIMIT 1 OFFSET :keep - 1), 0)
		ELSE 0 END
ORDER BY number DESC
LIMIT :limit;

-- name: recent
-- Checkpoints in the thread's row and in the records of its runs, the latest first.
SELECT 9223372036854775807 AS number, '' AS run_id, recent AS lines
FROM threads
WHERE row = :row AND recent IS NOT NULL
UNION ALL
SELECT r.number, r.run_id, r.checkpoints
FROM threads AS t CROSS JOIN runs AS r ON r.thread = t.row
WHERE t.row = :row AND r.number >= t.kept_from AND r.checkpoints IS NOT NULL
ORDER BY number DESC;

-- name: recent_held
-- Where recent checkpoints are, for a caller that is about to move them: those in the row, and the
-- first record that has any.
SELECT recent, kept_from FROM threads WHERE row = :row;

-- name: recent_records
-- Checkpoints in the records :from to :last, the oldest first.
SELECT number, run_id, checkpoints AS lines, kept_count
FROM runs
WHERE thread = :thread AND number BETWEEN :from AND :last AND checkpoints IS NOT NULL
ORDER BY number;

-- name: recent_clear
UPDATE threads SET recent = NULL, kept_from = NULL WHERE row = :row;

-- name: recent_records_clear
-- Empties records up to the one whose last checkpoint was the thread's :upto-th.
UPDATE runs SET checkpoints = NULL, kept_count = NULL
WHERE thread = :thread AND number BETWEEN :from AND :last AND kept_count <= :upto;

-- name: recent_begin
UPDATE threads SET kept_from = :from WHERE row = :row;

-- name: checkpoint_known
SELECT 1 AS known FROM checkpoints WHERE thread = :thread AND number = :number;

-- name: checkpoint_insert
INSERT INTO checkpoints (thread, number, parent, source, message_count, run_id, status, stop,
	node, step, next, context_after, until, fields, state)
VALUES (:thread, :number, :parent, :source, :message_count, :run_id, :status, :stop,
	:node, :step, :next, :context_after, :until, :fields, :state);

-- name: checkpoint_keep
-- Makes a checkpoint of the thread as it is.
INSERT INTO checkpoints (thread, number, parent, source, message_count, run_id, status, stop,
	node, step, next, context_after, until, state)
SELECT row, :number, checkpoint, :source, message_count, run_id, status, stop,
	node, step, next, context_after, coalesce(tip, last_number), :state
FROM threads
WHERE row = :row;

-- name: state_same
SELECT s.row
FROM checkpoints AS c JOIN states AS s ON s.row = c.state
WHERE c.thread = :thread AND c.number = :parent AND s.pause IS NOT DISTINCT FROM :pause
	AND s.waiting IS NOT DISTINCT FROM :waiting AND s.summary IS NOT DISTINCT FROM :summary AND s.fields = :fields;

-- name: state_insert
INSERT INTO states (pause, waiting, summary, fields) VALUES (:pause, :waiting, :summary, :fields);

-- name: state_keep
INSERT INTO states (pause, waiting, summary, fields)
SELECT pause, waiting, summary, fields FROM threads WHERE row = :row;

-- name: later_states_delete
-- Deletes the states of checkpoints that later_checkpoints_delete takes, unless one that stays has
-- them, too.
DELETE FROM states
WHERE row IN (SELECT state FROM checkpoints
		WHERE thread = :thread
			AND (until > :until OR (run_id IS NOT DISTINCT FROM :run_id AND source = :step)))
	AND row NOT IN (SELECT state FROM checkpoints
		WHERE thread = :thread AND state IS NOT NULL
			AND NOT (until > :until OR (run_id IS NOT DISTINCT FROM :run_id AND source = :step)));

-- name: later_checkpoints_delete
DELETE FROM checkpoints
WHERE thread = :thread AND (until > :until OR (run_id IS NOT DISTINCT FROM :run_id AND source = :step));

-- name: copy_size
SELECT coalesce(sum(bytes), 0) AS bytes, count(*) AS count
FROM messages
WHERE thread = :thread AND seq > :after AND seq <= :until;

-- name: body_highest
SELECT coalesce(max(row), 0) AS row FROM bodies;

-- name: copy_bodies
INSERT INTO bodies (row, body)
SELECT :highest + row_number() OVER (ORDER BY m.seq), b.body
FROM messages AS m CROSS JOIN bodies AS b ON b.row = m.body
WHERE m.thread = :thread AND m.seq > :after AND m.seq <= :until
ORDER BY m.seq;

-- name: copy_messages
INSERT INTO messages (thread, seq, message_id, bytes, body)
SELECT :to, seq, message_id, bytes, :highest + row_number() OVER (ORDER BY seq)
FROM messages
WHERE thread = :thread AND seq > :after AND seq <= :until
ORDER BY seq;

-- name: copy_stand
UPDATE threads
SET last_number = :last, context_after = :after, tip = :tip, plain = :plain, message_bytes = :bytes,
	message_count = :messages, checkpoint = :checkpoint, checkpoints = :checkpoints,
	changed = :changed
WHERE row = :row;

-- name: trim_first
-- The oldest checkpoint that is kept.
SELECT number FROM checkpoints
WHERE thread = :thread
ORDER BY number DESC
LIMIT 1 OFFSET :keep - 1;

-- name: trim_standing
-- Whether the thread shows all the messages it has, and which checkpoints lie outside the table.
SELECT plain, checkpoints, recent, kept_from FROM threads WHERE row = :row;

-- name: trim_upto
-- The last of the checkpoints that one transaction deletes, and how many of them have rows in
-- states.
SELECT coalesce(max(number), 0) AS number, count(*) AS count, count(state) AS states
FROM (SELECT number, state FROM checkpoints
	WHERE thread = :thread AND number < :first
	ORDER BY number
	LIMIT :limit) AS oldest;

-- name: trim_states
DELETE FROM states
WHERE row IN (SELECT state FROM checkpoints WHERE thread = :thread AND number <= :upto)
	AND row NOT IN (SELECT state FROM checkpoints
		WHERE thread = :thread AND number > :upto AND state IS NOT NULL);

-- name: trim_checkpoints
DELETE FROM checkpoints WHERE thread = :thread AND number <= :upto;

-- name: trim_branches
-- Where branches begin, the last one first.
SELECT first, until FROM branches WHERE thread = :thread ORDER BY first DESC;

-- name: trim_tips
-- Where lists of messages end, the last one first: the thread's, and those of its checkpoints.
SELECT coalesce(tip, last_number) AS until FROM threads WHERE row = :thread
UNION
SELECT until FROM checkpoints WHERE thread = :thread
ORDER BY 1 DESC;

-- name: trim_range
-- The messages that one transaction deletes: where they end, and how many bytes they have.
SELECT coalesce(max(seq), 0) AS seq, coalesce(sum(bytes), 0) AS bytes
FROM (SELECT seq, bytes FROM messages
	WHERE thread = :thread AND seq > :after AND seq <= :until
	ORDER BY seq
	LIMIT :limit) AS first;

-- name: trim_bodies_delete
DELETE FROM bodies
WHERE row IN (SELECT body FROM messages
	WHERE thread = :thread AND seq > :after AND seq <= :until);

-- name: trim_messages_delete
DELETE FROM messages WHERE thread = :thread AND seq > :after AND seq <= :until;

-- name: trim_entered_delete
DELETE FROM entered WHERE thread = :thread AND number > :after AND number <= :until;

-- name: trim_branch_delete
DELETE FROM branches WHERE thread = :thread AND first > :after AND first <= :until;

-- name: removed_branches_delete
DELETE FROM branches
WHERE thread = :thread
	AND first IN (SELECT first FROM branches WHERE thread = :thread LIMIT :limit);

-- name: removed_entered_delete
DELETE FROM entered
WHERE thread = :thread
	AND number IN (SELECT number FROM entered WHERE thread = :thread LIMIT :limit);

-- name: branch_insert
INSERT INTO branches (thread, first, until) VALUES (:thread, :first, :until);
