-- SPDX-License-Identifier: ISC
-- threads.db, version 3: bodies lie apart from the lists, and a thread can go before its messages.

-- What a message weighs must not matter to those who only look for another one, so the lists, whose
-- trees are searched by comparing rows, hold none of the bodies.
CREATE TABLE bodies (
	row INTEGER PRIMARY KEY,
	body TEXT NOT NULL -- JSON object: the message as clients see it
) STRICT;

-- Their rows move from the old table to the new ones in many transactions; while it is there, not
-- all of them have.
DROP INDEX messages_by_id;
ALTER TABLE messages RENAME TO messages_1;

CREATE TABLE messages (
	thread INTEGER NOT NULL, -- of threads, or of removed
	seq INTEGER NOT NULL, -- the place in the thread's list
	-- the place in the context: seq at first, a new number on entering again
	position INTEGER NOT NULL,
	message_id TEXT NOT NULL, -- the public id
	bytes INTEGER NOT NULL, -- length of the body
	body INTEGER NOT NULL, -- row of bodies
	PRIMARY KEY (thread, seq)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX messages_by_id ON messages (thread, message_id);
CREATE INDEX messages_moved ON messages (thread, position) WHERE position <> seq;

-- Threads that are gone, but whose messages are not yet.
CREATE TABLE removed (
	thread INTEGER PRIMARY KEY -- its row of threads
) STRICT;

-- The context is what has a higher position than this.
ALTER TABLE threads ADD COLUMN context_after INTEGER NOT NULL DEFAULT 0;
-- What the thread holds: the lengths of its messages, and of its state when it was last written.
ALTER TABLE threads ADD COLUMN message_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE threads ADD COLUMN state_bytes INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 3;
