-- SPDX-License-Identifier: ISC
-- files.db, version 1: what is known of each uploaded file; its bytes are elsewhere.

CREATE TABLE files (
	row INTEGER PRIMARY KEY,
	file_id TEXT NOT NULL UNIQUE, -- the public id, 32 hexadecimal digits
	owner TEXT, -- the user_id of who uploaded it; NULL: nobody in particular
	filename TEXT NOT NULL, -- as the client named it, without directories
	mime_type TEXT NOT NULL, -- the recorded content type
	size INTEGER NOT NULL, -- bytes
	sha256 TEXT NOT NULL, -- of the bytes, 64 hexadecimal digits
	created_at INTEGER NOT NULL, -- microseconds since 1970
	backend TEXT NOT NULL, -- who keeps the bytes: memory, local, cloud
	key TEXT NOT NULL, -- under which name
	text_state INTEGER NOT NULL, -- 0 none was asked for, 1 extracted, 2 extraction failed
	text TEXT -- the extracted text; last, because it can be long
) STRICT;

PRAGMA user_version = 1;
