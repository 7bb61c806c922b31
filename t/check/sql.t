#!/bin/sh
# SPDX-License-Identifier: ISC
# The columns of each statement become an enum, and columns without a clear name are refused.
set -u
. "$(dirname "$0")/check.sh"

embed() { "$top_srcdir/build-aux/sql-embed" "$scratch" "$scratch/a-0001.sql" "$scratch/a.sql"; }

# constants STATEMENT: those of its enum, in one line
constants() { sed -n "/^enum $1_column {/,/^}/s/^	\(.*\),/\1/p" "$scratch/sql.h" | tr '\n' ' '; }

# gives STATEMENT CONSTANT...: the columns of the first statement on standard input
gives()
{
	printf -- '-- name: %s\n%s\n' "$1" "$(cat)" >"$scratch/a.sql"
	embed && constants "$1" && [ "$(constants "$1")" = "$(shift; [ $# -eq 0 ] || printf '%s ' "$@")" ]
}

# refuses PATTERN: what stands in standard input, with a message
refuses()
{
	cat >"$scratch/a.sql"
	if embed 2>"$scratch/message"; then
		echo "it was taken"
		return 1
	fi
	cat "$scratch/message"
	grep -q "$1" "$scratch/message"
}

echo 'CREATE TABLE t (a, b);' >"$scratch/a-0001.sql"

test_that 'a column has its own name or the one behind AS' gives get GET_A GET_B GET_N GET_LAST_1 <<'END'
SELECT DISTINCT a, t.b, count(*) AS n, main.t.c as Last_1 FROM t;
END
test_that 'commas and words in calls, sub-selects and CASE end nothing' gives get GET_A GET_B GET_C GET_D GET_E <<'END'
SELECT max(a, coalesce(b, (SELECT c FROM t ORDER BY d LIMIT 1))) AS a,
	CASE WHEN a IN (1, 2) THEN ',' ELSE 'it''s FROM, here' END AS b,
	EXISTS (SELECT 1, 2 FROM t) OR :from AS c,
	row_number() OVER (PARTITION BY a ORDER BY b) AS d,
	a IS NOT DISTINCT FROM b AS e
FROM t WHERE x = (SELECT y AS z);
END
test_that 'comments are no columns' gives get GET_A GET_B <<'END'
SELECT a, -- z, (y
	/* x,
	   "w" ( */ b -- FROM
FROM t;
END
test_that 'a SELECT without FROM ends with the statement' gives get GET_ONE GET_TWO <<'END'
SELECT 1.5e3 AS one, '--' AS two
;
END
test_that 'the first of several SELECTs names the columns' gives get GET_A GET_PLACE <<'END'
SELECT a, b AS place FROM t UNION ALL SELECT c, 7 FROM t ORDER BY place;
END
test_that 'with WITH it is the outermost one' gives get GET_A <<'END'
WITH c (x, y) AS (SELECT 1, 2), d AS (SELECT 3) SELECT c.a FROM c, d;
END
test_that 'what writes gives what is RETURNING' gives put PUT_ROW PUT_SIZE <<'END'
INSERT INTO t (a, b) SELECT a, 1 FROM t ON CONFLICT DO UPDATE SET a = 2 RETURNING row, length(a) AS size;
END
test_that 'what gives no rows has no enum' gives put <<'END'
WITH c AS (SELECT 1) INSERT INTO t (a) SELECT 1 FROM c;
END
test_that 'nor have several statements' gives script <<'END'
SELECT 1;
DELETE FROM t;
END

test_that 'an expression without a name is refused' \
	refuses 'a.sql:2: get: column 2 has no name, put AS and one behind: count ( \* )$' <<'END'

-- name: get
SELECT a, count(*) FROM t;
END
test_that 'so is a name without AS' refuses 'column 1 has no name.*: a b$' <<'END'
-- name: get
SELECT a b FROM t;
END
test_that 'so is a star' refuses 'column 1 has no name.*: t \. \*$' <<'END'
-- name: get
SELECT t.* FROM t;
END
test_that 'so is a comma too many' refuses 'column 2 has no name' <<'END'
-- name: get
SELECT a, FROM t;
END
test_that 'so are two columns of one name' refuses 'two columns have the name a$' <<'END'
-- name: get
SELECT x.a, y.a FROM x, y;
END
test_that 'so are columns of two statements that would be the same word' refuses 'would be GET_A_B, which is one of get$' <<'END'
-- name: get
SELECT a_b FROM t;
-- name: get_a
SELECT b FROM t;
END

alike()
{
	cat >"$scratch/a.sql"
	embed && [ "$(constants get)" = 'GET_A GET_B ' ] && [ -z "$(constants list)" ]
}
test_that 'a statement may have the first columns of another one' alike <<'END'
-- name: list
-- columns: get
SELECT t.a FROM t;
-- name: get
SELECT a, b FROM t;
END
test_that 'others are refused' refuses 'list: column 2 is c, but that of get is b$' <<'END'
-- name: get
SELECT a, b FROM t;
-- name: list
-- columns: get
SELECT a, c FROM t;
END
test_that 'more of them are refused' refuses 'list: column 2 is b, but that of get is not there$' <<'END'
-- name: get
SELECT a FROM t;
-- name: list
-- columns: get
SELECT a, b FROM t;
END
test_that 'a statement that is not there is refused' refuses 'there is no enum of the columns of got$' <<'END'
-- name: get
-- columns: got
SELECT a FROM t;
END
test_that 'so is one without columns' refuses 'get: it has no columns$' <<'END'
-- name: got
SELECT a FROM t;
-- name: get
-- columns: got
DELETE FROM t;
END

takes()
{
	cat >"$scratch/a.sql"
	embed && [ "$(constants get)" = 'GET_A GET_B ' ] && [ "$(grep -c '"SELECT a, b' "$scratch/sql.c")" = 4 ]
}
test_that 'statements share a part, wherever that stands' takes <<'END'
-- name: get
-- take: row
WHERE a = 1;
-- part: row
SELECT a, b
FROM t
-- name: list
-- columns: get
-- take: row
ORDER BY a;
END
test_that 'a part that is not there is refused' refuses 'a.sql:1: get: there is no part row$' <<'END'
-- name: get
-- take: row
END
test_that 'a statement is none' refuses 'there is no part get$' <<'END'
-- name: get
SELECT a FROM t;
-- name: list
-- take: get
END
test_that 'nor does a part take others' refuses 'stands in a statement and names a part' <<'END'
-- part: row
-- take: column
END

# What PostgreSQL has instead.
mkdir "$scratch/postgresql"
embed_both() { "$top_srcdir/build-aux/sql-embed" "$scratch" "$scratch/a-0001.sql" "$scratch/a.sql" "$scratch/postgresql/a.sql"; }

# both PATTERN...: with standard input as what PostgreSQL has instead, each pattern is in a line of the source.
both()
{
	cat >"$scratch/postgresql/a.sql"
	embed_both 2>"$scratch/message" || { cat "$scratch/message"; return 1; }
	for pattern; do grep -q "$pattern" "$scratch/sql.c" || return 1; done
}
refuses_both()
{
	cat >"$scratch/postgresql/a.sql"
	! embed_both 2>"$scratch/message" && grep -q "$1" "$scratch/message"
}

cat >"$scratch/a.sql" <<'END'
-- part: rest
WHERE a = iif(1, 2, 3);
-- name: get
SELECT a FROM t CROSS JOIN u INDEXED BY x ON true
-- take: rest
END
test_that 'PostgreSQL has a statement of its own, and the same columns' both '"SELECT a FROM only_there;' '"SELECT a FROM t CROSS' <<'END'
-- name: get
SELECT a FROM only_there;
END
test_that 'or a part, and the order of the work is its own' both '"WHERE a = 4;' '"SELECT a FROM t JOIN u ON true' 'iif(1, 2, 3)' <<'END'
-- part: rest
WHERE a = 4;
END
test_that 'other columns are refused' refuses_both 'column 1 is not a$' <<'END'
-- name: get
SELECT b FROM t;
END
test_that 'a statement that nothing else has is refused' refuses_both 'there is no other one of that name$' <<'END'
-- name: got
SELECT a FROM t;
END
test_that 'a backslash stays one' both 'x\\\\0300' <<'END'
-- name: get
SELECT a FROM t WHERE a = 'x\0300';
END

counted_by_hand() { grep -rnE 'query_column_[a-z]+\([^,]+, [0-9]' "$1" --include='*.c'; }
mkdir "$scratch/room"
echo 'row = query_column_int(&q, 0);' >"$scratch/room/a.c"
test_that 'a column counted by hand is seen' counted_by_hand "$scratch/room"
test_that 'no column is counted by hand' not counted_by_hand "$top_srcdir/common"

done_testing
