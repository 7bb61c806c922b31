#!/bin/sh
# SPDX-License-Identifier: ISC
# A PostgreSQL that was away for longer than an instance may be silent, or whose clock is stepped: although nobody has
# heard of the instances meanwhile, only those are given up that are gone.
set -u
AGENTGRAPH_ENGINE=postgresql
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
command -v python3 >/dev/null || tap_skip_all 'no python3 here'
. "$TOP_SRCDIR/t/api/instances.sh"
${CC:-cc} -shared -fPIC -o "$PG/disturb.so" "$TOP_SRCDIR/t/chaos/disturb.c" || tap_bail 'disturb.c does not compile'
head -c 24 /dev/zero >"$PG/control"

server() { CHAOS_CONTROL=$PG/control LD_PRELOAD=$PG/disturb.so "$TOP_SRCDIR/t/postgresql-server" "$@"; }
# step SECONDS: from now on the clock of the server is that far off.
step() {
	python3 -c 'import struct, sys; open(sys.argv[2], "r+b").write(struct.pack("=q", int(sys.argv[1])))' "$1" "$PG/control"
}
instances() { psql "$DATABASE_URL" -X -q -A -t -c "SELECT count(*) FROM instances WHERE $1"; }
has() { [ "$(instances "$1")" = "$2" ]; }
# long THREAD MS: a run in flight on each instance, of one step of so many milliseconds, which writes nothing before its end.
long() {
	for name in a b; do
		on $name in_background "long_$name" invoke "/slow 1 $2" "$(thread "$1-$name")"
		on $name wait_for 30 is_running "$1-$name"
	done
}
# both_end WHAT: they end as if nothing had been.
both_end() {
	for name in a b; do
		on $name collect long_$name
		is "$STATUS $(json '.data.messages[-1].content[-1].text // .error_code' "$BODY")" '200 done' "$1 the run of instance $name ends well"
	done
	is "$(grep -l 'taken over\|took its runs over' "$WORK"/err.*)" '' 'and none was given up'
}

server crash "$PG"
printf '{"agent":"builtin:demo"}\n' >agentgraph.json
begin a
begin b
is "$(instances 'NOT gone')" 2 'two instances'

long away 20000
server crash "$PG."
sleep 12
server crash "$PG"
both_end 'after a server that was away'

long ahead 8000
step 3000
both_end 'when the clock has gone ahead'
ok 'wait_for 20 has "seen_at > clock_timestamp() - interval '\''5 s'\''" 2' 'both are heard of by the new time'

long back 8000
step -600
both_end 'when it has been set back'

# One that dies before it is heard of by the time that is again.
wait_for 20 has 'seen_at < clock_timestamp()' 2
step 3000
wait_for 20 has "seen_at > clock_timestamp() - interval '5 s'" 2
for pid in $pid_b $(children "$pid_b"); do kill -9 "$pid"; done
step 0
ok 'on a wait_for 60 has "NOT gone" 1' 'one that is dead is given up, although it was seen in times to come'
on a invoke hello "$(thread t)"
is "$STATUS" 200 'and the other one serves'

done_testing
