#!/bin/sh
# SPDX-License-Identifier: ISC
# Runs in the background, submitted by 64 clients until the last of them has ended, against invoke; and how soon one
# begins when the queue is empty.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/http.sh"

: "${SUBMISSIONS:=200}"
HELLO='{"messages":[{"role":"user","content":"hello there"}]}'

none_left() {
	[ "$("$AGENTGRAPH" status --state "$STATE" --json | jq -c '[.background_in_flight, .background_queued]')" = '[0,0]' ]
}

# ended SCRIPT: runs a second, from the first submission to the last end.
ended() {
	start=$(date +%s%N)
	rate /v1/graph/runs "$1" >/dev/null
	wait_for 600 none_left || tap_bail 'the queue does not become empty'
	awk -v ns=$(($(date +%s%N) - start)) '/requests in/ { printf "%.2f", $1 * 1000000000 / ns }' "$WORK/wrk"
}

both() { echo "$(ended "$hello") $(rate /v1/graph/invoke "$hello")"; }

# begins: milliseconds from the submission to the start, each when the one before is over.
begins() {
	i=0
	while [ "$i" -lt "$SUBMISSIONS" ]; do
		i=$((i + 1))
		curl -s -H 'Content-Type: application/json' -d "$HELLO" "$BASE/v1/graph/runs" |
			jq -r '.data | "\(.thread_id)/runs/\(.run_id)"' >run
		curl -s "$BASE/v1/threads/$(cat run)/result?wait=60" >/dev/null
		curl -s "$BASE/v1/threads/$(cat run)" | jq -r '.data | "\(.created_at) \(.started_at)"'
	done | sed 's/[^ ]*:\([0-9.]*\)Z/\1/g' | awk '{ d = ($2 - $1) * 1000; print d < 0 ? d + 60000 : d }' | median
}

command -v wrk >/dev/null || tap_skip_all 'wrk is not installed'
serve_start || tap_bail 'there is no service to measure'
hello=$(post_script "$HELLO")
rounds rates both
ratio background rates
result background-start "$(begins)"
tap_plan 0
