#!/bin/sh
# An audio packet's way through nginx, relay, websocketd and a live agent that echoes it, and back; and the memory that
# sessions take.  It prints figures; nothing passes or fails.  SESSIONS, SECONDS_EACH and PACKETS change the load.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

: "${SESSIONS:=50}" "${SECONDS_EACH:=20}" "${PACKETS:=36000}"
CLIENT=${CLIENT:-$TOP_BUILDDIR/t/bench/live}

echo '{"agent": "builtin:live-demo"}' >agentgraph.json
serve_start || tap_bail 'the service does not start'
port=${BASE##*:}

"$CLIENT" "$port" 1 5 >alone
"$CLIENT" "$port" "$SESSIONS" "$SECONDS_EACH" >many
awk '{ printf "%s ms p50, %s ms p99  a packet of 100 ms there and back, alone\n", $1, $2 }' alone
awk -v n="$SESSIONS" '{ printf "%s ms p50, %s ms p99  with %d sessions at once (%d packets)\n", $1, $2, n, $3 }' many

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
echo "$(pss "$pid") KiB  of a session at rest (proportional)"
echo >&3
wait_for 600 grep -q fed fed
sleep 2
echo "$(pss "$pid") KiB  after $PACKETS packets fed at full speed, an hour of audio being 36000"
exec 3>&-
serve_stop
tap_plan 0
