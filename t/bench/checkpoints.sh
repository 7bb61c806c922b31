#!/bin/sh
# SPDX-License-Identifier: ISC
# What the history of threads costs: time of runs and bytes on disk, both against a service that keeps none, and bytes
# against LangGraph's SQLite checkpointer; and how long a copy takes.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/http.sh"
. "$TOP_SRCDIR/t/bench/history.sh"
. "$TOP_SRCDIR/t/bench/peers.sh"

: "${TURNS:=1000}" "${PEER_TURNS:=250}" "${LENGTH:=10000}"

# ten_nodes: a graph of ten nodes that each say something.
ten_nodes() {
	seq 0 9 | jq -cn '[inputs] | {ten: {
		nodes: (map({key: "n\(.)", value: {kind: "reply", text: "This is what node \(.) has to say."}}) | from_entries),
		edges: ([{from: "START", to: "n0"}, {from: "n9", to: "END"}] + (.[:9] | map({from: "n\(.)", to: "n\(. + 1)"})))}}'
}

# service NAME AGENT LEVEL [KEEP]: starts one, and sets BASE; keeps it, and the state directory, for back.
service() {
	printf '{"agent": "%s", "history": {"level": "%s", "keep": %s}}\n' "$2" "$3" "${4:-100}" >agentgraph.json
	SOCKET=$WORK/$1.sock STATE=
	serve_run --no-nginx --processes "$PROCESSES" --threads "$THREADS" --socket "$SOCKET" || exit 1
	bench_nginx || exit 1
	curl -sf "$BASE/ping" >/dev/null || exit 1
	echo "$BASE $STATE $SERVE_PID" >"$WORK/service.$1"
}

back() { read -r BASE STATE SERVE_PID <"$WORK/service.$1"; }

# rate_of SERVICE SCRIPT
rate_of() {
	back "$1"
	rate /v1/graph/invoke "$2"
}

# beside WITH WITHOUT SCRIPT: the rates of both, in turn.  Each round begins with the other one: work that a service
# puts off, such as writing back a log or removing checkpoints, slows down the next.
beside() {
	if [ $((round % 2)) = 1 ]; then
		with=$(rate_of "$1" "$3")
		echo "$with $(rate_of "$2" "$3")"
	else
		without=$(rate_of "$2" "$3")
		echo "$(rate_of "$1" "$3") $without"
	fi
}

# turns COUNT PATH BODY: sends COUNT requests, one after the other.
turns() {
	seq "$1" | while read -r i; do
		echo "url = \"$BASE$2\""
		echo 'header = "Content-Type: application/json"'
		echo "data-binary = \"$(printf '%s' "$3" | sed 's/"/\\"/g; s/%/'"$i"'/')\""
		echo 'output = /dev/null'
		echo next
	done | sed '$d' >"$WORK/turns"
	curl -sf -K "$WORK/turns" || tap_bail "a turn failed at $BASE"
}

# bytes DATABASE [TABLE...]: the size of these tables with their indexes; without names, of all.
bytes() {
	database=$1
	shift
	names=$(printf "'%s'," "$@" | sed 's/,$//')
	sqlite3 "$database" "SELECT sum(s.pgsize) FROM dbstat AS s LEFT JOIN sqlite_schema AS m ON m.name = s.name
		WHERE ${#} = 0 OR coalesce(m.tbl_name, s.name) IN ($names)"
}

SAID='"messages":[{"role":"user","content":"This is what I have to say in turn %."}]'

# turns_kept COUNT: makes a thread of COUNT turns whose history is kept whole; sets kept to its database.
turns_kept() {
	service turns builtin:demo runs 0
	turns "$1" /v1/graph/invoke "{$SAID,\"config\":{\"thread_id\":\"t\"}}"
	kept=$STATE/threads.db
	serve_stop
}

# on_disk: the bytes of the history of turns, of their messages, and of everything.
on_disk() {
	turns_kept "$TURNS"
	history=$(($(bytes "$kept" checkpoints states branches entered) +
		$(sqlite3 "$kept" 'SELECT coalesce(sum(length(checkpoints)), 0) FROM runs')))
	said=$(bytes "$kept" messages bodies)
	result checkpoint-bytes "$(awk "BEGIN { print $history / $said }")" "$history/$said"
	peers_there && peer_start langgraph-sqlite || return
	turns "$PEER_TURNS" /invoke "{$SAID,\"thread_id\":\"t\"}"
	{ peer_stop "$PEER_PID"; } 2>/dev/null
	turns_kept "$PEER_TURNS"
	theirs=$(bytes "$WORK/langgraph-sqlite/threads.db")
	all=$(bytes "$kept")
	result checkpoint-peer "$(awk "BEGIN { print $theirs / $all }")" "$theirs/$all"
}

# copies: milliseconds that copies of a thread of LENGTH messages take.
copies() {
	i=0
	history_fill "$LENGTH" 1
	while [ "$i" -lt 11 ]; do
		i=$((i + 1))
		curl -sf -o /dev/null -w '%{time_total}\n' -H 'Content-Type: application/json' -d '{}' \
			"$BASE/v1/threads/h$LENGTH-0/copy" || tap_bail 'there is no copy'
	done | awk '{ print $1 * 1000 }' | median
}

HELLO='{"messages":[{"role":"user","content":"hello there"}]}'
hello=$(post_script "$HELLO")
command -v sqlite3 >/dev/null && on_disk

service off builtin:demo off
service runs builtin:demo runs
rounds rates beside runs off "$hello"
ratio checkpoints rates
for name in off runs; do
	back $name
	history_fill 1000 64
done
rounds longs beside runs off "$(history_script 1000 64 'hello there')"
ratio checkpoints-long longs
back runs
result copy "$(copies)"

ten_nodes >ten.json
service ten-off ten.json:ten off
service ten-steps ten.json:ten steps
rounds steps beside ten-steps ten-off "$hello"
ratio checkpoints-steps steps
tap_plan 0
