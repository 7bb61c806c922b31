-- SPDX-License-Identifier: ISC
-- files.db, version 2: the text of a file is found again by its bytes.

CREATE INDEX files_text ON files (sha256, mime_type) WHERE text_state = 1;

PRAGMA user_version = 2;
