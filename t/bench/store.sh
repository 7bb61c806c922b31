#!/bin/sh
# The memory store against its floors: searches in 100,000 and 1,000,000 memories of 384 dimensions
# through HTTP, the part of the nearest that they find, and the rate of storing.  It prints ratios; nothing passes or
# fails.  MANY (1000000) is the larger number; it needs 6 KB of disk for each memory.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/http.sh"
: "${MANY:=1000000}" "${STORED:=20000}"
TOOL=${STORE:-$TOP_BUILDDIR/t/bench/store}

# store_service: the service and an nginx before it.
store_service() {
	printf '{"agent":"builtin:demo","store":"builtin:store"}\n' >agentgraph.json
	SOCKET=$WORK/service
	serve_run --no-nginx --processes "$PROCESSES" --threads "$THREADS" --socket "$SOCKET" || exit 1
	bench_nginx || exit 1
}

# search_ms: median of 25 searches, one client, all different, after five to warm up.
search_ms() {
	i=0
	while [ "$i" -lt 30 ]; do
		i=$((i + 1))
		curl -s -o "$WORK/found" -w '%{time_total}\n' -H 'Content-Type: application/json' \
			-d "{\"query\":\"what was number $i of $i\"}" "$BASE/v1/store/search"
	done | tail -25 | awk '{ print $1 * 1000 }' | median
}

# measure N: sets ms, the time of a search in N memories, bare, that of a bare loop over 100,000 measured in turn with
# it, and found, the recall.
measure() {
	STATE=$WORK/state$1
	"$TOOL" fill "$STATE" "$1" || exit 1
	store_service
	curl -s -o /dev/null -H 'Content-Type: application/json' -d '{"query":"warm"}' "$BASE/v1/store/search"
	: >"$WORK/bare"
	: >"$WORK/ms"
	for _ in 1 2 3 4 5; do
		"$TOOL" scan 100000 >>"$WORK/bare"
		search_ms >>"$WORK/ms"
	done
	bare=$(median <"$WORK/bare") ms=$(median <"$WORK/ms")
	found=$("$TOOL" recall "$STATE")
	memory "with $1 memories"
	serve_stop
	kill "$nginx_pid"
	rm -rf "$WORK/state$1"
}

memory() {
	for pid in $(pgrep -P "$SERVE_PID" -f agentgraph-fcgi); do
		awk -v name="$1" '$1 == "Pss:" { printf "%.1f MiB  PSS of a worker process, %s\n", $2 / 1024, name }' \
			"/proc/$pid/smaps_rollup"
	done
}

measure 100000
few=$ms few_bare=$bare
echo "$few $few_bare $found" | awk '{ printf "%.2f  search in 100,000 (%.1f ms) of a bare loop (%.1f ms); recall@10 %s\n", $1 / $2, $1, $2, $3 }'
measure "$MANY"
# Both in units of the bare loop of their time, because the machine may have been slower or faster.
echo "$ms $few $found $bare $few_bare" | awk -v n="$MANY" '{
	printf "%.2f  search in %d (%.1f ms) of one in 100,000 (%.1f ms), each against the bare loop; recall@10 %s\n",
		$1 / $4 / ($2 / $5), n, $1, $2, $3 }'

floor=$("$TOOL" insert "$WORK/floor" "$STORED")
STATE=$WORK/written
store_service
mine=$(rate /v1/store/memories "$(post_script '{"content":"memory number 4711 of a long life"}')")
echo "$mine $floor" | awk '{ printf "%.2f  memories stored a second (%d) of a bare insert (%d)\n", $1 / $2, $1, $2 }'
tap_plan 0
