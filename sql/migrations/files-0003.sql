-- SPDX-License-Identifier: ISC
-- files.db, version 3: when a file was last used, so that those that nobody uses can go.

-- Microseconds since 1970: upload, or a use of it, to a day.
ALTER TABLE files ADD COLUMN touched_at INTEGER NOT NULL DEFAULT 0;

UPDATE files SET touched_at = created_at;

CREATE INDEX files_by_touch ON files (touched_at);

PRAGMA user_version = 3;
