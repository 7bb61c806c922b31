#!/bin/sh
# Turns on one WebSocket against turns on one HTTP connection that is kept open.  It prints a ratio; nothing passes or
# fails.  SECONDS_EACH and ROUNDS change the load.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

: "${SECONDS_EACH:=3}" "${ROUNDS:=5}"
TURNS=${TURNS:-$TOP_BUILDDIR/t/bench/turns}

serve_start || tap_bail 'there is no service to measure'

# rate KIND: turns a second.
rate() { "$TURNS" "${BASE##*:}" "$1" "$SECONDS_EACH"; }

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

round=0
while [ "$round" -lt "$ROUNDS" ]; do
	round=$((round + 1))
	echo "$(rate socket) $(rate ahead) $(rate http)"
done >rates

# ratio COLUMN WHAT: of that column to the last one.
ratio() {
	awk -v c="$1" '{ printf "%.2f %s/%s\n", $c / $3, $c, $3 }' rates >ratios
	printf '%s  %s against invoke on one connection; turns a second:' "$(cut -d' ' -f1 ratios | median)" "$2"
	awk '{ printf " %s", $2 } END { print "" }' ratios
}

ratio 1 'echo turns on a WebSocket, each sent after the one before,'
ratio 2 'echo turns on a WebSocket, with a few frames waiting,'
tap_plan 0
