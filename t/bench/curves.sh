#!/bin/sh
# SPDX-License-Identifier: ISC
# Rates and times of an invoke over the number of clients and over the length of the history: the service, nginx alone, the
# floor and the peers, in turn in the same run; and their memory and start.  SECONDS_EACH, SECONDS_PEER, CLIENTS and LENGTHS
# change the load.  In OUTPUT it leaves the points, concurrency.tsv and history.tsv, their plots, and peers.tsv.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/http.sh"
. "$TOP_SRCDIR/t/bench/history.sh"
. "$TOP_SRCDIR/t/bench/peers.sh"

: "${SECONDS_PEER:=3}" "${CLIENTS:=1 2 4 8 16 32 64 128 256}" "${LENGTHS:=1 10 100 1000 5000}" "${OUTPUT:=$TOP_BUILDDIR/t/bench}"
STARTUP=${STARTUP:-$TOP_BUILDDIR/t/bench/startup}
built "$STARTUP"
AT=64 # clients with which services are compared
HISTORY_CLIENTS=16

title() {
	case $1 in
	agentgraph) echo 'agentgraph' ;;
	reading) echo 'agentgraph, reading it all' ;;
	floor) echo 'nginx and trivial FastCGI' ;;
	static) echo 'nginx alone' ;;
	langgraph-sqlite) echo 'LangGraph, SQLite' ;;
	langgraph-api) echo 'LangGraph development server' ;;
	mastra) echo 'Mastra, SQLite' ;;
	esac
}

# kept NAME: what this server keeps of a run, and where.
kept() {
	case $1 in
	agentgraph) echo 'thread, messages, state and run, in SQLite' ;;
	langgraph-sqlite) echo 'a checkpoint of each step, in SQLite' ;;
	langgraph-api) echo 'thread, run and a checkpoint of each step, in memory; a file every 3 s' ;;
	mastra) echo 'thread and messages, in SQLite' ;;
	*) echo 'nothing' ;;
	esac
}

# series NAME PATH PID...: adds the server that answers at BASE, with these processes and all below them.
series() {
	echo "$BASE $*" >"$WORK/series.$1"
	SERIES="${SERIES-} $1"
	rest=$WORK/rest.$1
	shift 2
	trees_pss "$@" >"$rest"
}

trees_pss() {
	for pid; do
		tree_pss "$pid"
	done | awk '{ sum += $1 } END { print sum + 0 }'
}

# new_thread_script NAME
new_thread_script() {
	case $1 in
	agentgraph) echo "$hello" ;;
	floor | static) ;;
	*) peer_script "$1" ;;
	esac
}

# ticks PID: the processor time that it has used.
ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"; }

# idle PID: whether it has finished what clients asked for before they left.
idle() {
	before=$(ticks "$1")
	sleep 0.3
	[ $(($(ticks "$1") - before)) -le 3 ]
}

# point NAME X CLIENTS SCRIPT: measures, and prints "TITLE X RATE P50 P99", with tabs.
point() {
	read -r BASE name path pids <"$WORK/series.$1"
	seconds=$SECONDS_EACH
	case " $PEERS " in *" $name "*) seconds=$SECONDS_PEER ;; esac
	wrk -t 1 -c "$3" -d "${seconds}s" --timeout 60s --latency ${4:+-s "$4"} "$BASE$path" >"$WORK/wrk" &
	load=$!
	if [ "$3" = "$AT" ]; then
		sleep "$((seconds - 1)).7"
		# shellcheck disable=SC2086 # a list of numbers
		trees_pss $pids >"$WORK/load.$name"
	fi
	wait "$load"
	grep -E 'Non-2xx|Socket errors' "$WORK/wrk" | sed "s/^/# $name, $2: /" >&2
	printf '%s\t%s\t%s\n' "$(title "$1")" "$2" "$(measured "$WORK/wrk" | tr ' ' '\t')"
	case " $PEERS " in *" $name "*) wait_for 1 idle "$pids" ;; esac
}

concurrency() {
	for count in $CLIENTS; do
		for name in $SERIES; do
			point "$name" "$count" "$count" "$(new_thread_script "$name")"
		done
	done
}

# threads_for LENGTH: how many threads to use, so that the runs of one measurement do not change them much.
threads_for() { echo "$(($1 < 100 ? 2000 : $1 < 1000 ? 256 : 32))"; }

histories() {
	for length in $LENGTHS; do
		count=$(threads_for "$length")
		read -r BASE _ <"$WORK/series.agentgraph"
		history_fill "$length" "$count"
		point agentgraph "$length" "$HISTORY_CLIENTS" "$(history_script "$length" "$count" 'hello there')"
		cp "$WORK/series.agentgraph" "$WORK/series.reading"
		point reading "$length" "$HISTORY_CLIENTS" "$(history_script "$length" "$count" /context)"
		for peer in $TAKING_PART; do
			[ "$peer" != mastra ] || continue # which sends its agent only the last few messages
			read -r BASE _ <"$WORK/series.$peer"
			count=$((count > 256 ? 256 : count))
			peer_fill "$peer" "$length" "$count"
			point "$peer" "$length" "$HISTORY_CLIENTS" "$(peer_history_script "$peer" "$length" "$count")"
		done
	done
}

# start_ms PATH COMMAND: the median of three starts of a server on PORT, in milliseconds.
start_ms() {
	for try in 1 2 3; do
		PORT=$((20000 + ($$ * 3 + try * 7) % 10000))
		export PORT
		mkdir "$WORK/start"
		(cd "$WORK/start" && exec "$STARTUP" "$PORT" "$1" sh -c "exec $2") 2>>"$WORK/start.log"
		rm -rf "$WORK/start"
	done | median
}

# row NAME START: prints its line of peers.tsv.
row() {
	awk -F '\t' -v OFS='\t' -v title="$(title "$1")" -v kept="$(kept "$1")" -v at="$AT" -v start="$2" \
		-v rest="$(cat "$WORK/rest.$1")" -v load="$(cat "$WORK/load.$1")" \
		'$1 == title && $2 == at { print title, kept, $3, $4, $5, rest, load, start }' "$OUTPUT/concurrency.tsv"
}

rows() {
	for name in $PEERS; do
		[ -e "$WORK/series.$name" ] || printf '%s\t%s\n' "$(title "$name")" "$(kept "$name")"
	done >"$WORK/absent"
	row static ''
	row floor ''
	row agentgraph "$(start_ms /ping "'$AGENTGRAPH' serve --state state --listen 127.0.0.1:\$PORT")"
	for name in $TAKING_PART; do
		alive=/ping
		[ "$name" != langgraph-api ] || alive=/ok
		row "$name" "$(start_ms $alive "'$PEER_NODE' '$PEERS_DIR/$name.mjs'")"
	done
	cat "$WORK/absent"
}

plot() { awk -f "$TOP_SRCDIR/t/bench/plot.awk" -v title="$2" -v xlabel="$3" "$OUTPUT/$1.tsv" >"$OUTPUT/$1.svg"; }

mkdir -p "$OUTPUT"
bench_start
hello=$(post_script '{"messages":[{"role":"user","content":"hello there"}]}')
series agentgraph /v1/graph/invoke "$SERVE_PID" "$nginx_pid"
series static /static
series floor /floor
TAKING_PART=
if peers_there; then
	for name in $PEERS; do
		peer_start "$name" && series "$name" "$(peer_path "$name")" "$PEER_PID" && TAKING_PART="$TAKING_PART $name"
	done
else
	echo '# other servers of agents are not installed and left out; they are with: npm --prefix t/bench/peers ci'
fi
concurrency >"$OUTPUT/concurrency.tsv"
histories >"$OUTPUT/history.tsv"
rows >"$OUTPUT/peers.tsv"
plot concurrency 'One message in, one answer out, on a new thread' 'clients at once'
plot history 'The same on threads with a past' 'messages in the thread'
awk -F '\t' 'NF > 2 { printf "%.0f a second, %.2f ms, %.1f ms in 99 of 100  %s\n", $3, $4, $5, $1 }' "$OUTPUT/peers.tsv"
tap_plan 0
