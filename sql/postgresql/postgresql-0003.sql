-- SPDX-License-Identifier: ISC
-- PostgreSQL, version 3: what SQLite has in version 12 of threads.db.

ALTER TABLE threads ADD COLUMN recent text COLLATE "C";
