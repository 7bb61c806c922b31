-- SPDX-License-Identifier: ISC
-- threads.db, version 8: what was ordered of runs in the background.

-- 0 nothing, 1 to stop, 2 to put the thread back as well: kept for the case that the process of a
-- run that goes on dies before it does so.
ALTER TABLE jobs ADD COLUMN ordered INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 8;
