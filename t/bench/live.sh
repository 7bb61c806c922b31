#!/bin/sh
# SPDX-License-Identifier: ISC
# How long an audio packet takes through nginx, relay, websocketd and a live agent that echoes it, and back; and how
# much memory sessions take.  SESSIONS, SECONDS_LIVE and PACKETS change the load.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/results.sh"

: "${SESSIONS:=50}" "${SECONDS_LIVE:=10}" "${PACKETS:=36000}"
CLIENT=${CLIENT:-$TOP_BUILDDIR/t/bench/live}
built "$CLIENT"

echo '{"agent": "builtin:live-demo"}' >agentgraph.json
serve_start || tap_bail 'the service does not start'
port=${BASE##*:}

"$CLIENT" "$port" 1 5 >alone
"$CLIENT" "$port" "$SESSIONS" "$SECONDS_LIVE" >many
read -r p50 p99 packets <alone
result live "$p50" "99 of 100 within $p99 ms, $packets packets"
read -r p50 p99 packets <many
result live-tail "$p99" "$SESSIONS sessions, median $p50 ms, $packets packets"

trap '' PIPE # a client that has ended must not end this script

# helper: the process of the only session.
helper() { pgrep -P "$(pgrep -P "$SERVE_PID" websocketd)" agentgraph-ws; }
pss() { awk '/^Pss:/ { print $2 }' "/proc/$1/smaps_rollup"; }

wait_for 10 test -z "$(helper)"
mkfifo hold
"$CLIENT" "$port" feed "$PACKETS" <hold >fed &
exec 3>hold
wait_for 10 grep -q open fed
pid=$(helper)
sleep 2
echo "# $(pss "$pid") KiB  of a session at rest (proportional)"
echo >&3
wait_for 600 grep -q fed fed
sleep 2
echo "# $(pss "$pid") KiB  after $PACKETS packets fed at full speed, an hour of audio being 36000"
exec 3>&-
serve_stop
tap_plan 0
