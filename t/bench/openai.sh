#!/bin/sh
# SPDX-License-Identifier: ISC
# Chat completions without a thread against invokes on new threads, and pieces of a long answer against chunks of
# /v1/graph/stream, through the same nginx.  WORDS, SECONDS_EACH and ROUNDS change the load.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/http.sh"

: "${WORDS:=50000}"

printf '{"agent":"builtin:demo","openai":{"enabled":true}}\n' >agentgraph.json

# ---- requests

bench_start
MESSAGES='"messages":[{"role":"user","content":"hello there"}]'
invoke=$(post_script "{$MESSAGES}") complete=$(post_script "{\"model\":\"demo\",$MESSAGES}")
beside() { echo "$(rate /v1/chat/completions "$complete") $(rate /v1/graph/invoke "$invoke")"; }
rounds requests beside
ratio openai requests
serve_stop

# ---- pieces

STATE=
serve_start --processes 1 || tap_bail 'the service does not start'
text=$(printf "%0${WORDS}d" 0 | sed 's/0/ab /g')

# pieces PATH MEMBERS: how many pieces a second one run sends.
pieces() {
	printf '{"messages":[{"role":"user","content":"%s"}]%s}' "$text" "$2" >asked
	start=$(date +%s%N)
	curl -s -o chunks -H 'Content-Type: application/json' --data-binary @asked "$BASE$1"
	end=$(date +%s%N)
	echo $(($(grep -c '^{\|^data' chunks) * 1000000000 / (end - start)))
}
both() { echo "$(pieces /v1/chat/completions ',"model":"demo","stream":true') $(pieces /v1/graph/stream '')"; }
rounds streams both
ratio openai-stream streams
tap_plan 0
