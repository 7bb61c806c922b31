-- SPDX-License-Identifier: ISC
-- threads.db, version 5: waiting_calls is written by who writes the thread.

DROP TRIGGER threads_wait;
DROP TRIGGER threads_wait_on;

PRAGMA user_version = 5;
