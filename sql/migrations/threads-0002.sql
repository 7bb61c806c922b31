-- SPDX-License-Identifier: ISC
-- threads.db, version 2: the thread where a remote call waits is found by the call.

-- The calls of threads.waiting, kept by the triggers below; a schema that is not trusted may use
-- json_each, but no function of JSON.
CREATE TABLE waiting_calls (
	user_id TEXT NOT NULL, -- the thread's owner
	call_id TEXT NOT NULL,
	since INTEGER NOT NULL, -- threads.updated_at when it was written
	thread INTEGER NOT NULL REFERENCES threads ON DELETE CASCADE,
	PRIMARY KEY (user_id, call_id, since, thread)
) STRICT, WITHOUT ROWID;

CREATE INDEX waiting_calls_by_thread ON waiting_calls (thread);

CREATE TRIGGER threads_wait AFTER INSERT ON threads WHEN NEW.waiting IS NOT NULL
BEGIN
	INSERT INTO waiting_calls (user_id, call_id, since, thread)
	SELECT DISTINCT NEW.user_id, member.value, NEW.updated_at, NEW.row
	FROM json_each(NEW.waiting, '$.calls') AS call, json_each(call.value) AS member
	WHERE member.key = 'id';
END;

CREATE TRIGGER threads_wait_on AFTER UPDATE OF waiting ON threads
WHEN OLD.waiting IS NOT NEW.waiting
BEGIN
	DELETE FROM waiting_calls WHERE thread = NEW.row;
	INSERT INTO waiting_calls (user_id, call_id, since, thread)
	SELECT DISTINCT NEW.user_id, member.value, NEW.updated_at, NEW.row
	FROM json_each(NEW.waiting, '$.calls') AS call, json_each(call.value) AS member
	WHERE member.key = 'id';
END;

INSERT INTO waiting_calls (user_id, call_id, since, thread)
SELECT DISTINCT user_id, member.value, updated_at, threads.row
FROM threads, json_each(waiting, '$.calls') AS call, json_each(call.value) AS member
WHERE waiting IS NOT NULL AND member.key = 'id';

PRAGMA user_version = 2;
