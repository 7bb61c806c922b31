#!/bin/sh
# SPDX-License-Identifier: ISC
# The memory store against its floors: searches in 100,000 memories of 384 dimensions over HTTP, how many of the nearest
# ones they find, and the rate of storing.  MANY=1000000 measures a store of that size, too; it needs 6 KB of disk for
# each memory.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/http.sh"
: "${MANY:=0}" "${STORED:=20000}"
TOOL=${STORE:-$TOP_BUILDDIR/t/bench/store}
built "$TOOL"

# store_service: starts the service, and an nginx in front of it.
store_service() {
	printf '{"agent":"builtin:demo","store":"builtin:store"}\n' >agentgraph.json
	SOCKET=$WORK/service
	serve_run --no-nginx --processes "$PROCESSES" --threads "$THREADS" --socket "$SOCKET" || exit 1
	bench_nginx || exit 1
}

# search_ms: the median of 25 different searches by one client, after five to warm up.
search_ms() {
	i=0
	while [ "$i" -lt 30 ]; do
		i=$((i + 1))
		curl -s -o "$WORK/found" -w '%{time_total}\n' -H 'Content-Type: application/json' \
			-d "{\"query\":\"what was number $i of $i\"}" "$BASE/v1/store/search"
	done | tail -25 | awk '{ print $1 * 1000 }' | median
}

# measure N: sets ms, the time of a search in N memories; bare, that of a bare loop over 100,000, measured in turn with
# it; and found, the recall.
measure() {
	STATE=$WORK/state$1
	"$TOOL" fill "$STATE" "$1" || exit 1
	sync # so that nothing is still being written while searches are measured
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
		awk -v name="$1" '$1 == "Pss:" { printf "# %.1f MiB  PSS of a worker process, %s\n", $2 / 1024, name }' \
			"/proc/$pid/smaps_rollup"
	done
}

measure 100000
few=$ms few_bare=$bare
result search "$(echo "$ms $bare" | awk '{ print $1 / $2 }')" "$ms/$bare ms"
result recall "$found"
if [ "$MANY" -gt 100000 ]; then
	measure "$MANY"
	# Both times are divided by that of the bare loop at their time, as the machine may have been slower or faster.
	result search-many "$(echo "$ms $few $bare $few_bare" | awk '{ print $1 / $3 / ($2 / $4) }')" "$MANY: $ms/$few ms"
	result recall-many "$found"
fi

floor=$("$TOOL" insert "$WORK/floor" "$STORED")
STATE=$WORK/written
store_service
rate /v1/store/memories "$(post_script '{"content":"memory number 4711 of a long life"}')" | sed "s/$/ $floor/" >stored
ratio memories stored
tap_plan 0
