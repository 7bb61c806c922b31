#!/bin/sh
# SPDX-License-Identifier: ISC
# Requests, by how many of something there are: worker processes (WORKERS); instances with one worker each over one
# PostgreSQL (INSTANCES), both asked by CONCURRENCY clients at once; and idle WebSockets (IDLE), beside which a lone
# client asks.  OUTPUT gets the points, wide-*.tsv, and plots of the first two.  A result is the rate with the largest
# number against that with the smallest; for sockets the memory of each, and the time within which 99 of 100 open.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/http.sh"
. "$TOP_SRCDIR/t/bench/history.sh"
. "$TOP_SRCDIR/t/bench/peers.sh"

: "${WORKERS:=1 2 4 8}" "${INSTANCES:=1 2 3}" "${IDLE:=100 1000}" "${KINDS:=workers instances sockets}"
: "${OUTPUT:=$TOP_BUILDDIR/t/bench}"
CLIENT=${CLIENT:-$TOP_BUILDDIR/t/bench/websocket}
built "$AGENTGRAPH" "$CLIENT"
mkdir -p "$OUTPUT"
hello=$(post_script '{"messages":[{"role":"user","content":"hello there"}]}')
past=$(lua_script 'return wrk.format(nil, nil, nil, string.format(
	[==[{"messages":[{"role":"user","content":"hello there"}],"config":{"thread_id":"past%d"}}]==], n % 64))')

# point NAME X PATH CLIENTS [SCRIPT]: prints "NAME X RATE P50 P99", with tabs.
point() {
	wrk -t 1 -c "$4" -d "${SECONDS_EACH}s" --timeout 60s --latency ${5:+-s "$5"} "$BASE$3" >"$WORK/wrk" 2>&1
	grep -E 'Non-2xx|Socket errors' "$WORK/wrk" | sed "s/^/# $1, $2: /" >&2
	printf '%s\t%s\t%s\n' "$1" "$2" "$(measured "$WORK/wrk" | tr ' ' '\t')"
}

points() {
	point 'invoke, new threads' "$1" /v1/graph/invoke "$CONCURRENCY" "$hello"
	point 'invoke, 64 threads' "$1" /v1/graph/invoke "$CONCURRENCY" "$past"
	point 'ping' "$1" /ping "$CONCURRENCY"
}

# told KEY: reports the result of wide-KEY.tsv, and plots it.
told() {
	awk -F '\t' '$1 == "invoke, new threads" { rate[++n] = $3 } END { print rate[n], rate[1] }' "$OUTPUT/wide-$1.tsv" >"$WORK/ends"
	ratio "wide-$1" "$WORK/ends"
	awk -f "$TOP_SRCDIR/t/bench/plot.awk" -v title="$2" -v xlabel="$1" "$OUTPUT/wide-$1.tsv" >"$OUTPUT/wide-$1.svg"
}

workers() {
	for count in $WORKERS; do
		SOCKET=$WORK/workers$count STATE=
		serve_run --no-nginx --processes "$count" --threads "$THREADS" --socket "$SOCKET" || return
		bench_nginx || return
		points "$count"
		tap_stop "$nginx_pid"
		serve_stop
	done >"$OUTPUT/wide-workers.tsv"
}

# Adds an instance to those that are there, and lets nginx ask all of them.
instances() {
	if ! why=$("$TOP_SRCDIR/t/postgresql-server" there); then
		echo "# no instances: $why"
		return 1
	fi
	PG_SETTINGS='-c fsync=on -c shared_buffers=128MB -c max_wal_size=4GB -c max_connections=200'
	export PG_SETTINGS
	PG_DIR=$("$TOP_SRCDIR/t/postgresql-server" start $$) || tap_bail 'PostgreSQL does not start'
	database_of "$WORK/instances"
	PG_DIR= # all use this one
	begun=0 SOCKETS=
	for count in $INSTANCES; do
		while [ "$begun" -lt "$count" ]; do
			begun=$((begun + 1))
			SOCKET=$WORK/instance$begun STATE=$WORK/state$begun
			mkdir -m 700 "$STATE"
			serve_run --no-nginx --processes 1 --threads "$THREADS" --socket "$SOCKET" || return
			SOCKETS="$SOCKETS $SOCKET" services="${services-} $SERVE_PID"
		done
		bench_nginx || return
		points "$count"
		tap_stop "$nginx_pid"
	done >"$OUTPUT/wide-instances.tsv"
	for pid in $services; do
		tap_stop "$pid"
	done
	SOCKETS=
}

opened() { [ -s "$WORK/opened" ] || gone "$client"; }

# Whether the sockets of the last measurement are gone, whose memory would be counted else.
none_left() { ! pgrep -P "$websocketd" >/dev/null; }

# Each socket costs a process here, and descriptors of nginx and websocketd.
sockets() {
	ulimit -n "$(ulimit -Hn)"
	STATE=
	serve_start || return
	front=${BASE##*:}
	websocketd=$(pgrep -P "$SERVE_PID" websocketd)
	for count in $IDLE; do
		wait_for 300 none_left
		before=$(tree_pss "$SERVE_PID")
		rm -f "$WORK/hold"
		mkfifo "$WORK/hold"
		: >"$WORK/opened"
		"$CLIENT" "$front" /v1/graph/ws "$STATE" open "$count" <"$WORK/hold" >"$WORK/opened" &
		client=$!
		exec 3>"$WORK/hold"
		wait_for 600 opened
		[ -s "$WORK/opened" ] || return
		memory=$(($(tree_pss "$SERVE_PID") - before))
		point 'invoke' "$count" /v1/graph/invoke 1 "$hello"
		exec 3>&-
		wait $client
		awk -v n="$count" -v kib="$memory" '{ printf "memory of one, KiB\t%d\t%.1f\nopening 99 of 100, ms\t%d\t%.1f\n", n, kib / n, n, $2 }' "$WORK/opened"
	done >"$OUTPUT/wide-sockets.tsv"
	serve_stop
	for what in memory opening; do
		result "wide-sockets-$what" "$(awk -F '\t' -v what="$what" 'index($1, what) == 1 { last = $3 } END { print last }' "$OUTPUT/wide-sockets.tsv")"
	done
}

echo '{"agent": "builtin:demo", "websocket": {"max_connections": 0}}' >agentgraph.json
for kind in $KINDS; do
	case $kind in
	workers) workers && told workers 'Requests of many clients, over worker processes' ;;
	instances) instances && told instances 'Requests of many clients, over instances on one PostgreSQL' ;;
	sockets) sockets ;;
	esac
done
tap_plan 0
