-- SPDX-License-Identifier: ISC
-- What PostgreSQL has instead of statements in sql/telemetry.sql and files.sql.

-- name: files_connection
SELECT 1 AS nothing;

-- name: telemetry_setup
SELECT 1 AS nothing;
