-- SPDX-License-Identifier: ISC
-- PostgreSQL, version 7: what became of a commit whose answer was lost.

-- Of each writer the latest transaction.  After a crash the server gives the ids of transactions that it lost to
-- others, so that an id alone does not say whose it is.
CREATE TABLE commits (
	writer bigint PRIMARY KEY, -- a random number for each
	number bigint NOT NULL,    -- counts its transactions
	noted_at timestamptz NOT NULL
) WITH (fillfactor = 50);
