-- SPDX-License-Identifier: ISC
-- threads.db, version 17: checkpoints of a run that is over lie in its record, which its end writes anyway.

ALTER TABLE runs ADD COLUMN checkpoints TEXT; -- those that it made, as in threads.recent
ALTER TABLE runs ADD COLUMN kept_count INTEGER; -- threads.checkpoints with the last of them
ALTER TABLE threads ADD COLUMN kept_from INTEGER; -- number of the first run whose record has any; NULL: none has

-- In threads.checkpoints those that were trimmed count from now on as well.

PRAGMA user_version = 17;
