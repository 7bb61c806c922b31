-- SPDX-License-Identifier: ISC
-- threads.db, version 12: the latest checkpoints of a thread lie in its row, which a run writes anyway.

-- A line each (storage/sql/history/recent.c), until they go into their table together.
ALTER TABLE threads ADD COLUMN recent TEXT;

PRAGMA user_version = 12;
