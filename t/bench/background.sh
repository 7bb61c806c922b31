#!/bin/sh
# SPDX-License-Identifier: ISC
# Runs in the background, from the first submission of 64 clients to the end of the last run, against invoke; and how
# soon a run begins when the queue is empty.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/http.sh"

: "${SUBMISSIONS:=200}"
HELLO='{"messages":[{"role":"user","content":"hello there"}]}'

# none STATUS: whether no run has this status.  It is asked so cheaply, and so seldom, that it costs the runs nothing.
none() { curl -s "$BASE/v1/graph/runs?limit=1&status=$1" | grep -q '"runs":\[\]'; }

none_left() {
	sleep 0.2
	none queued && none running
}

# ended SCRIPT: runs a second, from the first submission to the last end.
ended() {
	start=$(date +%s%N)
	rate /v1/graph/runs "$1" >/dev/null
	wait_for 600 none_left || tap_bail 'the queue does not become empty'
	end=$(sqlite3 -cmd '.timeout 5000' "$STATE/threads.db" 'SELECT max(finished_at) FROM runs WHERE job IS NOT NULL')
	awk -v us=$((end - start / 1000)) '/requests in/ { printf "%.2f", $1 * 1000000 / us }' "$WORK/wrk"
}

both() { echo "$(ended "$hello") $(rate /v1/graph/invoke "$hello")"; }

# begins: milliseconds from a submission to the start of its run, one after the other, with nothing else going on.
begins() {
	i=0
	while [ "$i" -lt "$SUBMISSIONS" ]; do
		i=$((i + 1))
		run="$BASE/v1/threads/begin$i/runs/r"
		curl -s -o /dev/null -H 'Content-Type: application/json' "$BASE/v1/graph/runs" \
			-d "${HELLO%\}},\"config\":{\"thread_id\":\"begin$i\",\"run_id\":\"r\"}}"
		curl -s -o /dev/null "$run/result?wait=60"
		curl -s "$run" | jq -r '.data | "\(.created_at) \(.started_at)"'
	done | sed 's/[^ ]*:\([0-9.]*\)Z/\1/g' | awk '{ d = ($2 - $1) * 1000; print d < 0 ? d + 60000 : d }' | median
}

for tool in wrk sqlite3; do
	command -v $tool >/dev/null || tap_skip_all "$tool is not installed"
done
serve_start || tap_bail 'there is no service to measure'
hello=$(post_script "$HELLO")
rounds rates both
ratio background rates
result background-start "$(begins)"
tap_plan 0
