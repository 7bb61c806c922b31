#!/bin/sh
# SPDX-License-Identifier: ISC
# The connection between an instance and its PostgreSQL loses answers, even to commits: the instance finds out what was
# done, and nothing is done twice.
set -u
AGENTGRAPH_ENGINE=postgresql
PG_SETTINGS='-c log_connections=on'
export PG_SETTINGS
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
command -v python3 >/dev/null || tap_skip_all 'no python3 here'

mkdir cut
python3 -B "$TOP_SRCDIR/t/chaos/cut.py" "$WORK/cut/.s.PGSQL.5432" "$PG_DIR/.s.PGSQL.5432" 2>cut.err &
cut=$!
tap_pids="$tap_pids $cut"
wait_for 20 test -S cut/.s.PGSQL.5432 || tap_bail "nothing lies between: $(cat cut.err)"
STATE=$WORK/state
mkdir -m 700 "$STATE"
PG=$PG_DIR
PG_DIR= # the address is another one
trap '"$TOP_SRCDIR/t/postgresql-server" stop "$PG"; tap_end' EXIT
DATABASE_URL="postgresql:///postgres?host=$WORK/cut&user=agent"
export DATABASE_URL
connections() { grep -c 'connection authorized' "$PG/log"; }

# client N FIRST: ten turns, of which every other one loses some answers, and those of others that are on their way, too;
# what was acknowledged is noted.
client() {
	mkdir -p "client$1" && cd "client$1" || return 1
	WORK=$WORK/client$1
	for i in $(seq "$2" $(($2 + 9))); do
		(sleep "0.0$((i % 10))" && [ $((i % 2)) = 1 ] && kill -USR1 $cut) &
		invoke "$1-$i" "$(thread "t$1")"
		wait $!
		sleep 0.3 # so that some are not lost
		[ "$STATUS" = 200 ] && echo "$1-$i" >>acknowledged || echo "$1-$i" >>refused
		echo "$STATUS $(json .error_code "$BODY")" >>said
	done
}

printf '{"agent":"builtin:demo"}\n' >agentgraph.json
api_start --config agentgraph.json || tap_bail 'the service does not start'
invoke hello "$(thread t0)"
is "$STATUS" 200 'a service with something in between serves'
before=$(connections)
lost() { echo $(($(connections) - before)); }
# A machine that is busy may be late for what was to be lost.
for first in 1 11 21 31 41; do
	clients=
	for n in 1 2 3 4; do
		client "$n" "$first" &
		clients="$clients $!"
	done
	wait $clients
	[ "$(lost)" -le 10 ] || break
done
is "$(cat client*/said | sort -u | grep -vx '200\|200 null\|503 TRANSIENT_STORAGE_ERROR')" '' 'turns are answered, or refused for now'
is "$(cat client*/said | wc -l | tr -d ' ')" $((4 * (first + 9))) 'each of them'
api POST /v1/graph/invoke '{"messages":[{"role":"user","content":"after"}],"config":{"thread_id":"t1"}}'
is "$STATUS" 200 'it serves as before'
ok '[ "$(lost)" -gt 10 ]' "with answers many connections were lost: $(lost)"
for n in 1 2 3 4; do
	api GET "/v1/threads/t$n/messages?limit=1000"
	json '.data.messages[] | .role + " " + .content[0].text' "$BODY"
done >stored
sed -n 's/^user //p' stored | grep -v after | sort >asked
sed -n 's/^assistant echo: //p' stored | grep -v after | sort >answered
ok "[ $(cat client*/acknowledged | wc -l) -ge 8 ]" "turns are acknowledged: $(cat client*/acknowledged | wc -l)"
is "$(cat client*/acknowledged | sort | comm -23 - answered)" '' 'all of these are there, with their answers'
is "$(cat client*/refused | sort | comm -12 - answered)" '' 'of those that were refused there is no answer'
is "$(uniq -d asked; uniq -d answered)" '' 'and nothing is there twice'
claimed() {
	psql "postgresql:///postgres?host=$PG&user=agent&options=-csearch_path%3Dagentgraph" -Atc \
		'SELECT (SELECT count(*) FROM threads WHERE holder IS NOT NULL) + (SELECT count(*) FROM unborn)'
}
nobody_has_any() { [ "$(claimed)" = 0 ]; }
ok 'wait_for 20 nobody_has_any' 'no thread stays claimed for a request that is over' || diag "$(claimed) are"
done_testing
