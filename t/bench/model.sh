#!/bin/sh
# SPDX-License-Identifier: ISC
# Tokens of a chat model through /v1/graph/stream, against asking the same provider directly.  CONCURRENCY, REQUESTS,
# ROUNDS and STREAMS change the load.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/results.sh"
unset http_proxy https_proxy all_proxy

: "${CONCURRENCY:=32}" "${REQUESTS:=1500}" "${ROUNDS:=5}" "${STREAMS:=200}"
MODEL=${MODEL:-$TOP_BUILDDIR/t/bench/model}
built "$MODEL"
TOKENS=200

"$MODEL" mock >port &
tap_pids="$! $tap_pids"
wait_for 10 test -s port
PORT=$(cat port)
export OPENAI_BASE_URL="http://127.0.0.1:$PORT/v1"

# agent MODEL: starts a service with an agent of that model, whose pool can run all streams at once.
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

# requests COUNT URL BODY: prints a configuration for curl.
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

# workers_kib: how much memory the pool's processes have for themselves, in KiB.
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
rate through >/dev/null
both() { echo "$(rate through) $(rate direct)"; }
rounds rates both
ratio tokens rates

serve_stop

# A model that thinks before it speaks, as real ones do: a new thread is stored meanwhile.
agent late
direct=$("$MODEL" first "$PORT" /v1/chat/completions "$(echo "$ASK" | sed 's/fast/late/')" 50)
through=$("$MODEL" first "${BASE##*:}" /v1/graph/stream "$RUN" 50)
result first-token "$(echo "$through $direct" | awk 'NF == 2 { printf "%.3f", $1 - $2 }')" "$through/$direct"
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
result stream-memory "$(((early - before) / STREAMS))" "$STREAMS at once; four seconds later $(((late - before) / STREAMS))"
tap_plan 0
