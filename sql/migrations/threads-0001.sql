-- SPDX-License-Identifier: ISC
-- threads.db, version 1: threads with their state, and their messages.

CREATE TABLE threads (
	row INTEGER PRIMARY KEY, -- ascending, never used again: microseconds at creation
	thread_id TEXT NOT NULL UNIQUE, -- the public id
	user_id TEXT NOT NULL, -- the owner
	created_at INTEGER NOT NULL, -- microseconds since 1970
	updated_at INTEGER NOT NULL, -- microseconds since 1970
	thread_name TEXT NOT NULL, -- '' until there is one
	metadata TEXT NOT NULL, -- JSON object: what the server keeps with the thread
	last_number INTEGER NOT NULL, -- the largest seq or position ever given to a message
	run_id TEXT, -- the latest run; NULL before the first
	-- of the latest run: 0 idle, 1 running, 2 interrupted, 3 completed, 4 error, 5 stopped
	status INTEGER NOT NULL,
	stop INTEGER NOT NULL, -- 0 none, 1 requested, 2 stopped
	node TEXT NOT NULL, -- START, the node that ran last, or END
	next TEXT, -- the node to run next when the run goes on
	step INTEGER NOT NULL, -- node executions in the latest run
	pause TEXT, -- JSON: the open interrupt with the answers given so far
	waiting TEXT, -- JSON: remote calls that wait for a result
	summary TEXT, -- what was trimmed from the context, in words
	fields TEXT NOT NULL -- JSON object: the custom state fields
) STRICT;

-- Listings, of all and of one owner; thread_id settles ties, and an offset is skipped in the index.
CREATE INDEX threads_by_update ON threads (updated_at DESC, thread_id);
CREATE INDEX threads_by_owner ON threads (user_id, updated_at DESC, thread_id);

CREATE TABLE messages (
	thread INTEGER NOT NULL REFERENCES threads ON DELETE CASCADE,
	seq INTEGER NOT NULL, -- the place in the thread's list
	-- the place in the context: seq at first, NULL outside, a new number on entering again
	position INTEGER,
	message_id TEXT NOT NULL, -- the public id
	body TEXT NOT NULL, -- JSON object: the message as clients see it
	PRIMARY KEY (thread, seq)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX messages_by_id ON messages (thread, message_id);

PRAGMA user_version = 1;
