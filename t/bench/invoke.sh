#!/bin/sh
# SPDX-License-Identifier: ISC
# Requests and runs over HTTP: against the floor, over the length of the history, the first chunk, the tail, the memory.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/http.sh"
. "$TOP_SRCDIR/t/bench/history.sh"

HELLO='{"messages":[{"role":"user","content":"hello there"}]}'

# beside PATH SCRIPT PATH SCRIPT: the rates of both, in turn.
beside() { echo "$(rate "$1" "$2") $(rate "$3" "$4")"; }

costs() { echo "$(spent "$SERVE_PID" /v1/graph/invoke "$hello") $(spent "$FLOOR_PID" /floor)"; }

# timed FORMAT PATH: the median of 200 requests, each on a new thread, in milliseconds.
timed() {
	i=0
	while [ "$i" -lt 200 ]; do
		i=$((i + 1))
		curl -s -o /dev/null -w "%{$1}\n" -H 'Content-Type: application/json' -d "$HELLO" "$BASE$2"
	done | awk '{ print $1 * 1000 }' | median
}

# tail_ratio: how far the slowest hundredth of invokes is from the middle.
tail_ratio() {
	wrk -t 1 -c "$CONCURRENCY" -d "${SECONDS_EACH}s" --latency -s "$hello" "$BASE/v1/graph/invoke" >"$WORK/wrk"
	measured "$WORK/wrk" | awk '{ print $3, $2 }'
}

# memory: the PSS of each worker in MiB, with its share of what they share.
memory() {
	for pid in $(pgrep -P "$SERVE_PID" -f agentgraph-fcgi); do
		awk '$1 == "Pss:" { printf "%.1f\n", $2 / 1024 }' "/proc/$pid/smaps_rollup"
	done
}

bench_start
hello=$(post_script "$HELLO")
fresh=$(memory | tr '\n' ' ')
rounds pings beside /ping '' /floor ''
ratio ping pings
rounds invokes beside /v1/graph/invoke "$hello" /floor ''
ratio invoke invokes
rounds spending costs
ratio invoke-cpu spending

history_fill 10 64
history_fill 1000 64
short=$(history_script 10 64 'hello there') long=$(history_script 1000 64 'hello there')
reading=$(history_script 1000 64 /context)
rounds agains beside /v1/graph/invoke "$short" /v1/graph/invoke "$hello"
ratio again agains
rounds histories beside /v1/graph/invoke "$long" /v1/graph/invoke "$short"
ratio history histories
rounds contexts beside /v1/graph/invoke "$reading" /v1/graph/invoke "$long"
ratio context contexts

echo "$(timed time_starttransfer /v1/graph/stream) $(timed time_total /v1/graph/invoke)" >chunks
ratio chunk chunks
rounds tails tail_ratio
ratio tail tails
full=$(memory | tr '\n' ' ')
sleep 12 # until the workers rest
result rest-memory "$(memory | sort -n | tail -n 1)" "the largest; before the first request $fresh, under load $full"
tap_plan 0
