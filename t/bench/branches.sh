#!/bin/sh
# SPDX-License-Identifier: ISC
# What branches cost: two that do nothing, against the same nodes one after the other; and how long eight take that
# wait.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/http.sh"

HELLO='{"messages":[{"role":"user","content":"hello there"}]}'

# service AGENT: starts one, and sets BASE; keeps it for back.
service() {
	printf '{"agent": "graph.json:%s"}\n' "$1" >agentgraph.json
	SOCKET=$WORK/$1.sock STATE=
	serve_run --no-nginx --processes "$PROCESSES" --threads "$THREADS" --socket "$SOCKET" || exit 1
	bench_nginx || exit 1
	echo "$BASE" >"$WORK/service.$1"
}
back() { read -r BASE <"$WORK/service.$1"; }

# beside: microseconds that a fork and its join add to a run, and those of an invoke.
beside() {
	back fork && forked=$(rate /v1/graph/invoke "$hello")
	back line && line=$(rate /v1/graph/invoke "$hello")
	awk "BEGIN { printf \"%.2f %.2f\n\", 1e6 / $forked - 1e6 / $line, 1e6 / $line }"
}

# waits: milliseconds of a run with eight branches that each wait for 50, one run after the other.
waits() {
	back waits
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do
		curl -sf -o /dev/null -w '%{time_total}\n' -H 'Content-Type: application/json' -d "$HELLO" "$BASE/v1/graph/invoke" ||
			tap_bail 'a run with branches failed'
	done | awk '{ print $1 * 1000 }' | median
}

seq 0 7 | jq -cn '[inputs | "n\(.)"] as $names | {
	line: {nodes: {a: {kind: "reply", text: "a"}, b: {kind: "reply", text: "b"}},
		edges: [{from: "START", to: "a"}, {from: "a", to: "b"}, {from: "b", to: "END"}]},
	fork: {nodes: {a: {kind: "reply", text: "a"}, b: {kind: "reply", text: "b"}},
		edges: [{from: "START", to: ["a", "b"], join: "END"}, {from: "a", to: "END"}, {from: "b", to: "END"}]},
	waits: {nodes: ($names | map({key: ., value: {kind: "exec", command: ["sleep", "0.05"]}}) | from_entries),
		edges: [{from: "START", to: $names, join: "END"}, ($names[] | {from: ., to: "END"})]}}' >graph.json
hello=$(post_script "$HELLO")
service line
service fork
service waits
rounds forks beside
ratio branches forks
result branches-wait "$(waits)"
tap_plan 0
