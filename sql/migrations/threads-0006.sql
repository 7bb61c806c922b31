-- SPDX-License-Identifier: ISC
-- threads.db, version 6: a record of each run.

-- One tree alone, as each run adds a row: a thread's records lie together in their order, and who
-- lists those of many threads walks the threads by their latest change, which is never before the
-- latest run began.
CREATE TABLE runs (
	thread INTEGER NOT NULL, -- of threads, or of removed
	number INTEGER NOT NULL, -- ascending within the thread
	run_id TEXT NOT NULL, -- the public id, unique within the thread
	status INTEGER NOT NULL, -- as threads.status has it, but never idle
	created_at INTEGER NOT NULL, -- microseconds since 1970; its thread's, when it made that
	finished_at INTEGER NOT NULL, -- microseconds since 1970; 0: it goes on, or nobody knows
	node TEXT NOT NULL, -- START, the node that ran last, or END
	step INTEGER NOT NULL, -- node executions
	prompt_tokens INTEGER NOT NULL, -- of all its messages, as is what follows
	completion_tokens INTEGER NOT NULL,
	reasoning_tokens INTEGER NOT NULL,
	total_tokens INTEGER NOT NULL,
	-- its messages are those with a seq above the first, up to the second; it was given so many
	messages_after INTEGER NOT NULL,
	messages_until INTEGER NOT NULL,
	brought INTEGER NOT NULL,
	error TEXT, -- JSON object: what its client was told, when it failed
	PRIMARY KEY (thread, number)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 6;
