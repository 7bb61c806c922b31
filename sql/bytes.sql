-- SPDX-License-Identifier: ISC
-- Bytes of files in a database that keeps them, which SQLite is not.

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
-- What machines that vanished have left without a record.
DELETE FROM file_bytes;
