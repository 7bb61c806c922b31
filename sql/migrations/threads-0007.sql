-- SPDX-License-Identifier: ISC
-- threads.db, version 7: runs in the background, chunks that are kept, and webhooks.

ALTER TABLE runs ADD COLUMN job INTEGER; -- row of jobs; NULL: not in the background

-- What is to run in the background, or did: as long as its record.
CREATE TABLE jobs (
	row INTEGER PRIMARY KEY, -- ascending, never used again: microseconds at submission
	thread INTEGER NOT NULL, -- of threads, or of removed
	number INTEGER NOT NULL, -- of runs
	run_id TEXT NOT NULL, -- as in runs, where it takes a look at all of a thread to find it
	-- 0 waits behind another one of its thread, 1 is ready, 2 is ready again after its process
	-- died, 3 claimed, 4 over
	state INTEGER NOT NULL,
	due_at INTEGER NOT NULL, -- microseconds since 1970
	attempt INTEGER NOT NULL, -- how often it was claimed, without what was given back
	given_back INTEGER NOT NULL, -- 1: the latest attempt ended so
	claimer INTEGER, -- number of the process that has claimed it
	started_at INTEGER, -- microseconds since 1970; NULL: the run has not begun
	webhook TEXT, -- the address that is told of the end
	caller TEXT, -- JSON object: who submitted it; NULL when it is over
	answers TEXT, -- JSON: what the run began with, when it went on after a pause
	metadata TEXT NOT NULL -- JSON object: what the client gave
) STRICT;

-- A thread's next job, those that can be claimed, those that were, and whatever waits.
CREATE UNIQUE INDEX jobs_first ON jobs (thread) WHERE state BETWEEN 1 AND 3;
CREATE INDEX jobs_open ON jobs (thread, due_at, row) WHERE state < 4;
CREATE INDEX jobs_ready ON jobs (due_at, row) WHERE state = 1;
CREATE INDEX jobs_taken ON jobs (claimer, row) WHERE state BETWEEN 2 AND 3;
CREATE INDEX jobs_waiting ON jobs (due_at) WHERE state < 3;
CREATE INDEX jobs_by_run ON jobs (thread, run_id);

-- Apart from jobs, whose rows change several times.
CREATE TABLE job_bodies (
	row INTEGER PRIMARY KEY, -- of jobs
	body TEXT NOT NULL -- JSON object: the request; gone when the job is over
) STRICT;

-- Runs whose chunks are kept, apart from runs so that those without them pay nothing.
CREATE TABLE kept (
	thread INTEGER NOT NULL, -- of threads, or of removed
	number INTEGER NOT NULL, -- of runs
	job INTEGER NOT NULL, -- 1: in the background
	-- microseconds since 1970 when they go; NULL: the run goes on, 0: its record is gone
	until INTEGER,
	PRIMARY KEY (thread, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX kept_until ON kept (until, job);

CREATE TABLE chunks (
	row INTEGER PRIMARY KEY,
	thread INTEGER NOT NULL, -- of kept
	number INTEGER NOT NULL, -- of kept
	seq INTEGER NOT NULL, -- of the first one
	count INTEGER NOT NULL, -- how many there were
	lines TEXT NOT NULL -- a line each
) STRICT;

CREATE UNIQUE INDEX chunks_by_seq ON chunks (thread, number, seq);

-- The outbox.
CREATE TABLE webhooks (
	row INTEGER PRIMARY KEY, -- of jobs, also when that is gone
	thread INTEGER NOT NULL, -- of threads, or of removed
	id TEXT NOT NULL, -- what the receiver knows repetitions by
	site TEXT NOT NULL, -- scheme, host and port of url
	url TEXT NOT NULL,
	body TEXT, -- JSON object; NULL when it was delivered or given up
	due_at INTEGER, -- microseconds since 1970; NULL when it was delivered or given up
	attempts INTEGER NOT NULL,
	last_status INTEGER NOT NULL, -- of HTTP; 0: there was no answer
	delivered_at INTEGER -- microseconds since 1970
) STRICT;

CREATE INDEX webhooks_due ON webhooks (site, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhooks_of_thread ON webhooks (thread);

PRAGMA user_version = 7;
