-- SPDX-License-Identifier: ISC
-- What PostgreSQL has instead of statements in sql/bytes.sql.

-- name: bytes_tidy
DELETE FROM file_bytes
WHERE made_at < clock_timestamp() - interval '1 day'
	AND NOT EXISTS (SELECT 1 FROM files WHERE files.key = file_bytes.key AND backend = 'database');
