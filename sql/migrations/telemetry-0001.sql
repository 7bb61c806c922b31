-- SPDX-License-Identifier: ISC
-- telemetry.db, version 1: what runs did, for as long as the service is up.

CREATE TABLE runs (
	number INTEGER PRIMARY KEY, -- ascending with the beginning of the runs
	thread_id TEXT NOT NULL,
	run_id TEXT NOT NULL,
	status INTEGER NOT NULL, -- 0 running, 1 done, 2 error, 3 stopped
	started_at INTEGER NOT NULL, -- microseconds since 1970
	finished_at INTEGER NOT NULL, -- microseconds since 1970; 0 while it runs
	last_at INTEGER NOT NULL, -- time of the latest record
	-- of all records, those that are not kept included
	prompt_tokens INTEGER NOT NULL,
	completion_tokens INTEGER NOT NULL,
	reasoning_tokens INTEGER NOT NULL,
	total_tokens INTEGER NOT NULL,
	llm_calls INTEGER NOT NULL, -- records with usage
	tool_calls INTEGER NOT NULL,
	iterations INTEGER NOT NULL, -- distinct nodes
	UNIQUE (thread_id, run_id)
) STRICT;

CREATE INDEX runs_by_thread ON runs (thread_id, number);

-- A run's records, in as many pieces as they were handed over in.
CREATE TABLE pieces (
	run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
	first INTEGER NOT NULL, -- number of the first record in it
	records TEXT NOT NULL, -- JSON objects, each followed by a comma
	PRIMARY KEY (run, first)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 1;
