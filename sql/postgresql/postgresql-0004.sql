-- SPDX-License-Identifier: ISC
-- PostgreSQL, version 4: writers of several processes run side by side.

-- Names of threads that a run is about to make, so that no other one makes them.
CREATE TABLE unborn (
	thread_id text COLLATE "C" PRIMARY KEY,
	holder bigint NOT NULL -- number of the process
);
