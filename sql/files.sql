-- SPDX-License-Identifier: ISC
-- Statements on files.db.

-- name: files_connection
-- Writes are few here, so a commit does its own checkpoints.
PRAGMA wal_autocheckpoint = 1000;

-- name: file_get
-- Without the text, which can be long.
SELECT file_id, owner, filename, mime_type, size, sha256, created_at, backend, key, text_state,
	touched_at
FROM files
WHERE file_id = :file_id;

-- name: file_text
SELECT text FROM files WHERE file_id = :file_id;

-- name: file_same_text
-- columns: file_text
-- The text extracted from the same bytes as the same type, whoever sent them: whoever has the bytes
-- may know the text.
SELECT text FROM files
WHERE sha256 = :sha256 AND mime_type = :mime_type AND text_state = 1
LIMIT 1;

-- name: file_insert
INSERT INTO files (file_id, owner, filename, mime_type, size, sha256, created_at, backend, key,
	text_state, text, touched_at)
VALUES (:file_id, :owner, :filename, :mime_type, :size, :sha256, :created_at, :backend, :key,
	:text_state, :text, :created_at);

-- name: files_forget
DELETE FROM files WHERE backend = :backend;

-- name: file_touch
UPDATE files SET touched_at = :now WHERE file_id = :file_id AND touched_at < :now;

-- name: files_untouched
-- columns: threads_untouched
SELECT file_id AS id FROM files
WHERE touched_at < :before
ORDER BY touched_at
LIMIT :limit OFFSET :skip;

-- name: file_delete
DELETE FROM files WHERE file_id = :file_id;
