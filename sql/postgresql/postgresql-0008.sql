-- SPDX-License-Identifier: ISC
-- PostgreSQL, version 8: what SQLite has in version 16 of threads.db.

CREATE TABLE pushes (
	thread bigint NOT NULL,
	task text COLLATE "C" NOT NULL,
	id text COLLATE "C" NOT NULL,
	state integer NOT NULL,
	number bigint NOT NULL,
	url text COLLATE "C" NOT NULL,
	how text COLLATE "C" NOT NULL,
	PRIMARY KEY (thread, task, id)
);

CREATE INDEX pushes_open ON pushes (thread) WHERE state < 2;

ALTER TABLE webhooks ADD COLUMN how text COLLATE "C";
