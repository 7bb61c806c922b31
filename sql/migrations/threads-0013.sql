-- SPDX-License-Identifier: ISC
-- threads.db, version 13: what changed last stands at the end of listings.

-- There it is added to the last page; at the beginning of an index SQLite moves rows between pages
-- with each thread that comes.  Listings read them backwards.
DROP INDEX threads_by_update;
DROP INDEX threads_by_owner;
CREATE INDEX threads_by_update ON threads (updated_at, thread_id DESC, status);
CREATE INDEX threads_by_owner ON threads (user_id, updated_at, thread_id DESC, status);

PRAGMA user_version = 13;
