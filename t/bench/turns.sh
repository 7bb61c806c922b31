#!/bin/sh
# SPDX-License-Identifier: ISC
# Turns on one WebSocket against turns on one HTTP connection that is kept open.
# SECONDS_EACH and ROUNDS change the load.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/results.sh"

: "${SECONDS_EACH:=3}" "${ROUNDS:=5}"
TURNS=${TURNS:-$TOP_BUILDDIR/t/bench/turns}
built "$TURNS"

serve_start || tap_bail 'there is no service to measure'

# rate KIND: how many turns a second it makes.
rate() { "$TURNS" "${BASE##*:}" "$1" "$SECONDS_EACH"; }

three() { echo "$(rate socket) $(rate ahead) $(rate http)"; }

rounds rates three
awk '{ print $1, $3 }' rates >after
awk '{ print $2, $3 }' rates >ahead
ratio turns after
ratio turns-ahead ahead
tap_plan 0
