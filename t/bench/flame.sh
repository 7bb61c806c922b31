#!/bin/sh
# SPDX-License-Identifier: ISC
# Where the processor time of the workers goes while 64 clients begin threads: a flame graph, flame.svg beside the results.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/http.sh"

command -v perf >/dev/null || tap_skip_all 'perf is not installed (linux-perf)'
: "${OUTPUT:=$TOP_BUILDDIR/t/bench}"

bench_start
hello=$(post_script '{"messages":[{"role":"user","content":"hello there"}]}')
workers=$(pgrep -d , -P "$SERVE_PID" -f agentgraph-fcgi)
wrk -t 1 -c "$CONCURRENCY" -d "$((SECONDS_EACH + 3))s" -s "$hello" "$BASE/v1/graph/invoke" >"$WORK/wrk" &
tap_pids="$! $tap_pids"
sleep 1
perf record -q -e cpu-clock -F 499 --call-graph dwarf,65528 -p "$workers" -o samples -- sleep "$SECONDS_EACH" 2>/dev/null ||
	tap_skip_all 'perf may not look at processes'
perf script --no-inline -i samples 2>/dev/null |
	awk -f "$TOP_SRCDIR/t/bench/flame.awk" -v title='Processor time of the workers, invoke on new threads' >"$OUTPUT/flame.svg"
echo "# $OUTPUT/flame.svg"
tap_skip_all 'a picture, not a figure'
