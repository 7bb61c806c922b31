-- SPDX-License-Identifier: ISC
-- threads.db, version 19: a job is in fewer tables and indexes.

-- JSON object: the request, where it is short, until the job is over; NULL: it is in job_bodies.
ALTER TABLE jobs ADD COLUMN body TEXT;

-- One for those that can be claimed, those that were, and whatever waits: a job that is submitted, claimed
-- or ended is moved in each index that has to do with its state.
DROP INDEX jobs_ready;
DROP INDEX jobs_taken;
DROP INDEX jobs_waiting;
CREATE INDEX jobs_by_state ON jobs (state, due_at) WHERE state < 4;

PRAGMA user_version = 19;
