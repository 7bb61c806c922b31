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
	echo "$(rate socket) $(rate http)"
done >rates
printf '%s  echo turns on a WebSocket against invoke on one connection; turns a second:' \
	"$(awk '{ printf "%.2f\n", $1 / $2 }' rates | median)"
awk '{ printf " %s/%s", $1, $2 } END { print "" }' rates
tap_plan 0
