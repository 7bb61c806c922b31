-- SPDX-License-Identifier: ISC
-- PostgreSQL, version 6: what SQLite has in version 15 of threads.db.

CREATE INDEX runs_completed ON runs (created_at) WHERE status = 3;

DROP INDEX threads_by_status;
CREATE INDEX threads_by_status ON threads (status, user_id) WHERE status <> 3;
