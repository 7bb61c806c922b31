-- SPDX-License-Identifier: ISC
-- threads.db, version 11: records of runs found by their status, and by ids that clients chose.

-- Most runs are completed, and pay nothing for it.
CREATE INDEX runs_by_status ON runs (status, created_at) WHERE status <> 3;

-- Nor do those whose id the server made: UUIDs of version 7, or digits.
CREATE INDEX runs_by_chosen_id ON runs (thread, run_id)
WHERE job IS NULL AND run_id NOT GLOB '????????-????-7*' AND run_id GLOB '*[^0-9]*';

PRAGMA user_version = 11;
