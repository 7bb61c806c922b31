-- SPDX-License-Identifier: ISC
-- threads.db, version 18: messages are found by their ids, whichever thread has them.

-- Most ids ascend with the time, so that what all threads add lies together at the end of the index; where
-- the thread comes first each thread that is busy has a page of its own there.
DROP INDEX messages_by_id;
CREATE UNIQUE INDEX messages_by_id ON messages (message_id, thread, apart);

PRAGMA user_version = 18;
