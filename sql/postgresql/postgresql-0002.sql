-- SPDX-License-Identifier: ISC
-- PostgreSQL, version 2: several instances.

DROP TABLE instance;

-- Each is there for one life of a service over a state directory.
CREATE TABLE instances (
	number bigint PRIMARY KEY, -- random, and so never given again
	node integer NOT NULL, -- of its snowflakes; kept for a day after it was seen last
	host text NOT NULL, -- for people
	version text NOT NULL,
	started_at timestamptz NOT NULL,
	seen_at timestamptz NOT NULL, -- by this server's clock, the only one that counts
	gone boolean NOT NULL DEFAULT false
) WITH (fillfactor = 50);

-- Those of an instance that hold threads and jobs.  Whose row is gone is dead for all others: what it held
-- is free, and it writes nothing any more.
CREATE TABLE processes (
	number bigint PRIMARY KEY, -- random, and so never given again
	instance bigint NOT NULL
);

CREATE INDEX processes_by_instance ON processes (instance);

-- What instances tell the holders of threads.
CREATE TABLE orders (
	holder bigint NOT NULL,
	thread_id text COLLATE "C" NOT NULL,
	run_id text COLLATE "C", -- the one that is meant; NULL: whichever has the thread
	ordered integer NOT NULL,
	given_at timestamptz NOT NULL,
	taken boolean NOT NULL DEFAULT false
);

CREATE INDEX orders_by_holder ON orders (holder);

-- What instances derive their keys from.
CREATE TABLE secret (
	one integer PRIMARY KEY CHECK (one = 1),
	bytes bytea NOT NULL
);

ALTER TABLE threads
	ADD COLUMN holder bigint, -- number of the process whose run has the thread
	ADD COLUMN fence bigint NOT NULL DEFAULT 0, -- counts claims
	ADD COLUMN wanted bigint, -- by the process that is to have it next
	ADD COLUMN wanted_at timestamptz;

-- Rows that nobody gives twice, also where several make some at once.  They begin behind those that were made
-- from the time, and behind what a hand may have put in.
CREATE SEQUENCE threads_row;
CREATE SEQUENCE jobs_row;
SELECT setval('threads_row', greatest((SELECT max(row) FROM threads), (SELECT max(thread) FROM removed),
	(extract(epoch FROM clock_timestamp()) * 1000000)::bigint));
SELECT setval('jobs_row', greatest((SELECT max(row) FROM jobs), (SELECT max(row) FROM webhooks),
	(extract(epoch FROM clock_timestamp()) * 1000000)::bigint));
