-- SPDX-License-Identifier: ISC
-- threads.db, version 9: threads are found by what their metadata says, and by their status.

-- The texts, numbers and booleans in threads.metadata, written by who writes the thread.
CREATE TABLE labels (
	thread INTEGER NOT NULL REFERENCES threads ON DELETE CASCADE,
	key TEXT NOT NULL,
	value TEXT NOT NULL, -- a text as it is, a number or a boolean as JSON writes it
	user_id TEXT NOT NULL, -- the thread's owner
	PRIMARY KEY (thread, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX labels_by_value ON labels (key, value, user_id);

INSERT INTO labels (thread, key, value, user_id)
SELECT threads.row, member.key, member.value, threads.user_id
FROM threads, json_each(threads.metadata) AS member
WHERE threads.metadata <> '{}' AND member.type = 'text';

-- Listings tell by themselves which threads have a status, at no cost for who writes one.
DROP INDEX threads_by_update;
DROP INDEX threads_by_owner;
CREATE INDEX threads_by_update ON threads (updated_at DESC, thread_id, status);
CREATE INDEX threads_by_owner ON threads (user_id, updated_at DESC, thread_id, status);

-- Statuses that are rare; what a run has that nothing holds up, running and completed, is not among
-- them, so that it leaves this index alone.
CREATE INDEX threads_by_status ON threads (status, user_id) WHERE status <> 1 AND status <> 3;

PRAGMA user_version = 9;
