-- SPDX-License-Identifier: ISC
-- threads.db, version 4: all messages are where version 3 has them.

DROP TABLE messages_1;

PRAGMA user_version = 4;
