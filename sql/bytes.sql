-- SPDX-License-Identifier: ISC
-- Statements on the bytes of files, where the database keeps them; SQLite keeps none.

-- name: bytes_insert
INSERT INTO file_bytes (key, size) VALUES (:key, :size) ON CONFLICT (key) DO NOTHING;

-- name: bytes_piece
INSERT INTO file_pieces (key, number, bytes) VALUES (:key, :number, :bytes)
ON CONFLICT (key, number) DO UPDATE SET bytes = excluded.bytes;

-- name: bytes_size
SELECT size FROM file_bytes WHERE key = :key;

-- name: bytes_read
SELECT number, bytes FROM file_pieces
WHERE key = :key AND number BETWEEN :first AND :last
ORDER BY number;

-- name: bytes_delete
DELETE FROM file_bytes WHERE key = :key;

-- name: bytes_tidy
-- Deletes bytes without a record, which a machine left when it vanished.
DELETE FROM file_bytes;
