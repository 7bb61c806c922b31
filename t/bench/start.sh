#!/bin/sh
# SPDX-License-Identifier: ISC
# How long `agentgraph serve`, with everything that belongs to it, takes from its start to its first answer: the median
# of TRIES.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/results.sh"

: "${TRIES:=10}"
STARTUP=${STARTUP:-$TOP_BUILDDIR/t/bench/startup}
built "$STARTUP"

try=0
while [ "$try" -lt "$TRIES" ]; do
	try=$((try + 1))
	port=$((20000 + ($$ + try) % 10000))
	rm -rf state
	"$STARTUP" "$port" /ping "$AGENTGRAPH" serve --state state --listen "127.0.0.1:$port" 2>>log >>starts
done
[ -s starts ] || tap_bail 'the service never answered'
result start "$(median <starts)" "$(xargs <starts)"
tap_plan 0
