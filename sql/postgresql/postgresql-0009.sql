-- SPDX-License-Identifier: ISC
-- PostgreSQL, version 9: what SQLite has in version 17 of threads.db.

ALTER TABLE runs ADD COLUMN checkpoints text COLLATE "C";
ALTER TABLE runs ADD COLUMN kept_count bigint;
ALTER TABLE threads ADD COLUMN kept_from bigint;

-- Whether it finds checkpoints in records: as long as one is there that does not, none are put there.
ALTER TABLE instances ADD COLUMN records boolean NOT NULL DEFAULT false;
