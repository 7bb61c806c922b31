#!/bin/sh
# SPDX-License-Identifier: ISC
# Events of /v1/ag-ui against chunks of /v1/graph/stream, from the same run through the same nginx.  WORDS and ROUNDS
# change the load.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/results.sh"

: "${WORDS:=50000}" "${ROUNDS:=7}"

printf '{"agent":"builtin:demo","ag_ui":{"enabled":true}}\n' >agentgraph.json
serve_start --processes 1 || tap_bail 'the service does not start'
text=$(printf "%0${WORDS}d" 0 | sed 's/0/ab /g')

# rate PATH BODY: how many events a second one run sends.
rate() {
	printf '%s' "$2" >body
	start=$(date +%s%N)
	curl -s -o events -H 'Content-Type: application/json' --data-binary @body "$BASE$1"
	end=$(date +%s%N)
	echo $(($(grep -c '^{\|^data' events) * 1000000000 / (end - start)))
}

MESSAGE="\"role\":\"user\",\"content\":\"$text\""
both() {
	events=$(rate /v1/ag-ui "{\"threadId\":\"t$round\",\"runId\":\"r\",\"messages\":[{\"id\":\"m\",$MESSAGE}]}")
	echo "$events $(rate /v1/graph/stream "{\"messages\":[{$MESSAGE}]}")"
}
rounds rates both
ratio ag-ui rates
tap_plan 0
