-- SPDX-License-Identifier: ISC
-- threads.db, version 16: who is told how tasks go on.

-- An address for each that wants to know: of a task, which is a run and those that answer its pauses.
CREATE TABLE pushes (
	thread INTEGER NOT NULL, -- of threads, or of removed
	task TEXT NOT NULL, -- run_id of the first run
	id TEXT NOT NULL, -- by which its owner knows it
	-- 0: the end of the run of that number is still to be told, 1: it was told, and paused, 2: the task is over
	state INTEGER NOT NULL,
	number INTEGER NOT NULL, -- of runs
	url TEXT NOT NULL,
	how TEXT NOT NULL, -- JSON object: what else its owner gave, for the service
	PRIMARY KEY (thread, task, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX pushes_open ON pushes (thread) WHERE state < 2;

ALTER TABLE webhooks ADD COLUMN how TEXT; -- as in pushes; NULL: it is the webhook of a job, and row is its row

PRAGMA user_version = 16;
