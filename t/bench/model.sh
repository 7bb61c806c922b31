#!/bin/sh
# Tokens of a chat model through /v1/graph/stream, against the same provider asked directly.  It prints ratios; nothing
# passes or fails.  CONCURRENCY, REQUESTS, ROUNDS and STREAMS change the load.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
unset http_proxy https_proxy all_proxy

: "${CONCURRENCY:=16}" "${REQUESTS:=400}" "${ROUNDS:=5}" "${STREAMS:=200}"
MODEL=${MODEL:-$TOP_BUILDDIR/t/bench/model}
TOKENS=200

"$MODEL" mock >port &
tap_pids="$! $tap_pids"
wait_for 10 test -s port
PORT=$(cat port)
export OPENAI_BASE_URL="http://127.0.0.1:$PORT/v1"

# agent MODEL: a service with an agent of that model, whose pool can run all streams at once.
agent() {
	cat >graph.json <<END
{"g": {"nodes": {"agent": {"kind": "model", "model": "$1"}},
 "edges": [{"from": "START", "to": "agent"}, {"from": "agent", "to": "END"}]}}
END
	printf '{"agent":"graph.json:g"}\n' >agentgraph.json
	serve_start --processes 2 --threads $((STREAMS / 2 + 4)) || tap_bail 'there is no service to measure'
}
ASK='{"model":"fast","stream":true,"messages":[{"role":"user","content":"go"}]}'
RUN='{"messages":[{"role":"user","content":"go"}]}'

# requests COUNT URL BODY: a configuration of curl.
requests() {
	printf '%s' "$3" >body
	seq "$1" | sed "s|.*|url = \"$2\"\noutput = /dev/null\ndata-binary = @body\nheader = \"Content-Type: application/json\"\nnext|" | sed '$d'
}

# rate CONFIGURATION: tokens a second.
rate() {
	start=$(date +%s%N)
	curl -s -Z --parallel-immediate --parallel-max "$CONCURRENCY" -K "$1" 2>/dev/null
	awk -v ns=$(($(date +%s%N) - start)) -v n=$((REQUESTS * TOKENS)) 'BEGIN { printf "%.0f", n / (ns / 1e9) }'
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# workers_kib: what the pool's processes have of their own, in KiB.
workers_kib() {
	for worker in $(children "$SERVE_PID"); do
		case $(readlink "/proc/$worker/exe") in
		*/agentgraph-fcgi) sed -n 's/^Pss_Anon: *\([0-9]*\).*/\1/p' "/proc/$worker/smaps_rollup" ;;
		esac
	done | awk '{ sum += $1 } END { print sum }'
}

agent fast
requests "$REQUESTS" "http://127.0.0.1:$PORT/v1/chat/completions" "$ASK" >direct
requests "$REQUESTS" "$BASE/v1/graph/stream" "$RUN" >through
round=0
rate through >/dev/null
while [ "$round" -lt "$ROUNDS" ]; do
	round=$((round + 1))
	a=$(rate direct)
	b=$(rate through)
	awk -v a="$a" -v b="$b" 'BEGIN { printf "%.2f %d/%d\n", b / a, b, a }'
done >rates
printf '%s  tokens a second of /v1/graph/stream against the provider itself, %s at once:' "$(cut -d' ' -f1 rates | median)" "$CONCURRENCY"
awk '{ printf " %s", $2 } END { print "" }' rates

direct=$("$MODEL" first "$PORT" /v1/chat/completions "$ASK" 100)
through=$("$MODEL" first "${BASE##*:}" /v1/graph/stream "$RUN" 100)
awk -v a="$direct" -v b="$through" 'BEGIN { printf "%.2f ms  to the first token more than the provider itself (%s, %s)\n", b - a, b, a }'
serve_stop

agent slow
before=$(workers_kib)
requests "$STREAMS" "$BASE/v1/graph/stream" "$RUN" >slow
curl -s -Z --parallel-immediate --parallel-max "$STREAMS" -K slow 2>/dev/null &
reader=$!
sleep 5
early=$(workers_kib)
sleep 4
late=$(workers_kib)
wait $reader
awk -v a="$before" -v b="$early" -v c="$late" -v n="$STREAMS" \
	'BEGIN { printf "%.0f KiB  a stream of %d slow ones at once, %.0f KiB four seconds later\n", (b - a) / n, n, (c - a) / n }'
tap_plan 0
