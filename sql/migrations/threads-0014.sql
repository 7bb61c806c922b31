-- SPDX-License-Identifier: ISC
-- threads.db, version 14: what branches of runs in the background have come to, a row each.

-- Behind the region as it is kept with its thread, which would be written whole else whenever a branch arrives.
CREATE TABLE arrivals (
	row INTEGER PRIMARY KEY, -- ascending
	job INTEGER NOT NULL REFERENCES job_bodies ON DELETE CASCADE,
	region INTEGER NOT NULL, -- which writing of the region it follows
	step INTEGER NOT NULL, -- of the run, at that time
	branch TEXT NOT NULL -- JSON: where in the region, and how it is kept
) STRICT;

CREATE INDEX arrivals_of_job ON arrivals (job, row);

PRAGMA user_version = 14;
