#!/bin/sh
# SPDX-License-Identifier: ISC
# Three instances start at once on an empty database, and on one of the version before: one of them makes it or brings
# it up to date, the others wait or find it done, and all serve.
set -u
AGENTGRAPH_ENGINE=postgresql
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

database_of "$WORK/state"
newest=$(find "$TOP_SRCDIR/sql/postgresql" -name 'postgresql-0*.sql' | sort | sed -n '$s/.*-0*\([0-9]*\)\.sql/\1/p')
printf '{"agent":"builtin:demo"}\n' >agentgraph.json

query() { psql "$DATABASE_URL" -X -q -A -t -c "$1"; }
serves() { grep -q '^agentgraph: serving' "$WORK/out.$1"; }

# all_start NAME: three at once, whose state directories and files have that name.
all_start() {
	for i in 1 2 3; do
		mkdir -m 700 "$WORK/$1-$i"
		"$AGENTGRAPH" serve --state "$WORK/$1-$i" --no-nginx --processes 1 --threads 4 --socket "$WORK/socket.$1-$i" \
			>"$WORK/out.$1-$i" 2>"$WORK/err.$1-$i" </dev/null &
		tap_pids="$! $tap_pids"
	done
	for i in 1 2 3; do
		wait_for 60 serves "$1-$i"
		ok $? "$1: instance $i serves" || diag "$(cat "$WORK/err.$1-$i")"
		SOCKET=$WORK/socket.$1-$i
		invoke "from $i" "$(thread "$1")"
		is "$STATUS" 200 'and runs the graph'
	done
	is "$(query 'SELECT number FROM version')" "$newest" "$1: the schema has the newest version, once"
	for pid in $tap_pids; do tap_stop "$pid" 60; done
	tap_pids=
}

all_start empty
is "$(query 'SELECT message_count FROM threads')" 6 'they are one service'

# The schema as the version before had it, with a thread in it.
query "SET client_min_messages = warning; DROP SCHEMA $pg_schema CASCADE"
{
	echo "CREATE SCHEMA $pg_schema; CREATE TABLE version (number integer NOT NULL);"
	for number in $(seq $((newest - 1))); do
		cat "$TOP_SRCDIR/sql/postgresql/postgresql-$(printf %04d "$number").sql"
	done
	echo "INSERT INTO version VALUES ($((newest - 1)));"
	echo "INSERT INTO threads (row, thread_id, user_id, created_at, updated_at, thread_name, metadata, last_number, status, stop,
		node, step, fields) VALUES (1, 'old', 'anonymous', 1, 1, 'from before', '{}', 0, 3, 0, 'START', 0, '{}');"
} >before.sql
psql "$DATABASE_URL" -X -q -v ON_ERROR_STOP=1 -f before.sql >/dev/null 2>psql.err
is $? 0 'the schema of the version before' || diag "$(cat psql.err)"
all_start old
is "$(query "SELECT message_count FROM threads WHERE thread_id = 'old' AND row = 1")" 6 'what was there is still there, and goes on'

done_testing
