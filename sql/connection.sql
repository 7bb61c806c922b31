-- SPDX-License-Identifier: ISC
-- What every connection does, whatever its database.

-- name: connection_setup
-- Only a thread of its own makes checkpoints, never a commit.  The cache is small, as it is thrown
-- away whenever another connection commits.  Yet what a whole group of writes changes (64 writes of
-- some eight pages each) stays in memory until the commit: pages spilled into the log before that
-- are read, written and checksummed again at every further change.
PRAGMA foreign_keys = ON;
PRAGMA wal_autocheckpoint = 0;
PRAGMA temp_store = MEMORY;
PRAGMA trusted_schema = OFF;
PRAGMA cache_size = -512;
PRAGMA cache_spill = 768;

-- name: connection_read_only
-- A process has several of these, and each commit makes stale what they have cached.
PRAGMA query_only = ON;
PRAGMA cache_size = -64;

-- name: words_interface
-- FTS5 fills in the pointer.
SELECT fts5(:interface) AS given;

-- name: journal_wal
PRAGMA journal_mode = WAL;

-- name: synchronous_normal
PRAGMA synchronous = NORMAL;

-- name: synchronous_full
PRAGMA synchronous = FULL;

-- name: begin
BEGIN IMMEDIATE;

-- name: commit
COMMIT;

-- name: rollback
ROLLBACK;

-- name: user_version
PRAGMA user_version;

-- name: backup
VACUUM INTO :path;
