-- SPDX-License-Identifier: ISC
-- threads.db, version 10: what a thread was at earlier times.

-- A branch has the places from the first one up to that of the next branch; before its messages come
-- those that the thread showed up to the other place.
CREATE TABLE branches (
	thread INTEGER NOT NULL, -- of threads, or of removed
	first INTEGER NOT NULL,
	until INTEGER NOT NULL, -- 0: nothing comes before them
	PRIMARY KEY (thread, first)
) STRICT, WITHOUT ROWID;

-- Messages that entered the context again, which then have a place there beside that in the list.
CREATE TABLE entered (
	thread INTEGER NOT NULL, -- of threads, or of removed
	number INTEGER NOT NULL, -- the place
	seq INTEGER NOT NULL, -- of messages
	PRIMARY KEY (thread, number)
) STRICT, WITHOUT ROWID;

INSERT INTO entered (thread, number, seq)
SELECT thread, position, seq FROM messages WHERE position <> seq;

DROP INDEX messages_moved;
DROP INDEX messages_by_id;
ALTER TABLE messages DROP COLUMN position;
-- What one branch has another one may have as well: where there are branches, seq, else 0.
ALTER TABLE messages ADD COLUMN apart INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX messages_by_id ON messages (thread, message_id, apart);

-- Where the list ends; NULL: with last_number.
ALTER TABLE threads ADD COLUMN tip INTEGER;
-- 1: it has no rows in branches and entered, and tip is NULL.
ALTER TABLE threads ADD COLUMN plain INTEGER NOT NULL DEFAULT 1;
ALTER TABLE threads ADD COLUMN message_count INTEGER NOT NULL DEFAULT 0; -- of the list
ALTER TABLE threads ADD COLUMN checkpoint INTEGER; -- the one that it comes from
ALTER TABLE threads ADD COLUMN checkpoints INTEGER NOT NULL DEFAULT 0; -- how many it has
ALTER TABLE threads ADD COLUMN changed INTEGER NOT NULL DEFAULT 1; -- since that one

UPDATE threads
SET plain = NOT EXISTS (SELECT 1 FROM entered WHERE entered.thread = threads.row),
	message_count = (SELECT count(*) FROM messages WHERE messages.thread = threads.row);

CREATE TABLE checkpoints (
	thread INTEGER NOT NULL, -- of threads, or of removed
	number INTEGER NOT NULL, -- microseconds since 1970, or a little more: ascending
	parent INTEGER, -- number of the one before it
	source INTEGER NOT NULL, -- 1 a run's end, 2 a node's, 3 a change, 4 a rewind, 5 a copy
	message_count INTEGER NOT NULL, -- what follows is as in threads
	run_id TEXT,
	status INTEGER NOT NULL,
	stop INTEGER NOT NULL,
	node TEXT NOT NULL,
	step INTEGER NOT NULL,
	next TEXT,
	context_after INTEGER NOT NULL,
	until INTEGER NOT NULL, -- where the list ends
	fields TEXT, -- the state, where it is short and nothing but fields
	state INTEGER, -- else its row of states; NULL beside no fields: it was empty
	PRIMARY KEY (thread, number)
) STRICT, WITHOUT ROWID;

-- What neighbours may have in common.
CREATE TABLE states (
	row INTEGER PRIMARY KEY,
	pause TEXT, -- as in threads
	waiting TEXT,
	summary TEXT,
	fields TEXT NOT NULL
) STRICT;

PRAGMA user_version = 10;
