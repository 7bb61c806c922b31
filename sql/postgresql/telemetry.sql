-- SPDX-License-Identifier: ISC
-- What PostgreSQL has instead of statements in sql/telemetry.sql and files.sql.

-- name: files_connection
SELECT 1 AS nothing;

-- name: files_forget
-- Leaves them alone while another instance may have some.
DELETE FROM files WHERE backend = :backend AND (SELECT count(*) FROM instances WHERE NOT gone) <= 1;

-- name: telemetry_setup
SELECT 1 AS nothing;

-- name: trace_forget_all
-- Leaves them alone while another instance may have some.
DELETE FROM trace_runs WHERE (SELECT count(*) FROM instances WHERE NOT gone) <= 1;
