#!/bin/sh
# SPDX-License-Identifier: ISC
# Memories of two instances over one PostgreSQL, one of which is slow to store: each has in its index everything that
# the other one stores, even if it commits after something that was stored later.
set -u
AGENTGRAPH_ENGINE=postgresql
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/api/run.sh"
. "$TOP_SRCDIR/t/api/store.sh"
. "$TOP_SRCDIR/t/api/instances.sh"

sql() { psql "$DATABASE_URL" -X -q -A -t -c "$1"; }
near() { find "$1" '"retrieval_strategy":"similarity","limit":1'; }
storing() { [ "$(sql "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")" -gt 0 ]; }

with_store
begin a
begin b
on a remember 'white cats drink milk'
on b near 'white cats drink milk'
is "$(found)" 'white cats drink milk' 'what one instance stores the other one finds'

# The vector of the second memory has its number, and is not committed for a while.
sql "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS \$\$BEGIN
		IF (SELECT content LIKE 'slow %' FROM memories WHERE row = NEW.memory) THEN PERFORM pg_sleep(3); END IF;
		RETURN NEW;
	END\$\$;
	CREATE TRIGGER slow BEFORE INSERT ON vectors FOR EACH ROW EXECUTE FUNCTION slow()"
on a in_background slow remember 'slow snails eat green salad'
ok 'wait_for 30 storing' 'a memory takes long to be stored'
on b remember 'quick foxes jump over dogs'
is "$STATUS" 200 'another one is stored'
for instance in a b; do
	on $instance near 'quick foxes jump over dogs'
	is "$(found)" 'quick foxes jump over dogs' "which is found by $instance"
done
on a collect slow
is "$STATUS" 200 'then the first one is there'
for instance in a b; do
	on $instance near 'slow snails eat green salad'
	is "$(found)" 'slow snails eat green salad' "and found by $instance, although it came later"
done
done_testing
