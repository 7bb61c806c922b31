-- SPDX-License-Identifier: ISC
-- What every connection does, whatever its database.

-- name: connection_setup
-- Checkpoints belong to a thread of their own, never to a commit.  A cache is thrown away at each
-- commit of another connection, so it is small; but what a whole group of writes changes stays in memory
-- (64 writes of some eight pages each) until the commit: what is spilled into the log before that is read,
-- written and summed up anew at every further change.
PRAGMA foreign_keys = ON;
PRAGMA wal_autocheckpoint = 0;
PRAGMA temp_store = MEMORY;
PRAGMA trusted_schema = OFF;
PRAGMA cache_size = -512;
PRAGMA cache_spill = 768;

-- name: connection_read_only
-- There are several of them in a process, and what one has cached the next commit makes stale.
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
