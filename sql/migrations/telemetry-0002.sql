-- SPDX-License-Identifier: ISC
-- telemetry.db, version 2: names that nothing else has where all is in one database.

ALTER TABLE runs RENAME TO trace_runs;
ALTER TABLE pieces RENAME TO trace_pieces;

PRAGMA user_version = 2;
