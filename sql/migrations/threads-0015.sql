-- SPDX-License-Identifier: ISC
-- threads.db, version 15: what listings by status read is in the order of an index, or found by one.

-- Records of completed runs, apart from those of other statuses, so that most runs only add to its end.
CREATE INDEX runs_completed ON runs (created_at) WHERE status = 3;

-- Threads that say that they run are few, and may have failed; a run that is short never says so.
DROP INDEX threads_by_status;
CREATE INDEX threads_by_status ON threads (status, user_id) WHERE status <> 3;

PRAGMA user_version = 15;
