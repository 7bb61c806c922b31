#!/bin/sh
# Events of /v1/ag-ui against chunks of /v1/graph/stream, of the same run through the same nginx.  It prints a ratio; nothing
# passes or fails.  WORDS and ROUNDS change the load.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

: "${WORDS:=50000}" "${ROUNDS:=7}"

printf '{"agent":"builtin:demo","ag_ui":{"enabled":true}}\n' >agentgraph.json
serve_start --processes 1 || tap_bail 'the service does not start'
text=$(printf "%0${WORDS}d" 0 | sed 's/0/ab /g')

# rate PATH BODY: events a second of one run.
rate() {
	printf '%s' "$2" >body
	start=$(date +%s%N)
	curl -s -o events -H 'Content-Type: application/json' --data-binary @body "$BASE$1"
	end=$(date +%s%N)
	echo $(($(grep -c '^{\|^data' events) * 1000000000 / (end - start)))
}

median() { sort -n | sed -n "$(((ROUNDS + 1) / 2))p"; }

: >chunks
: >agui
i=0
while [ $i -lt "$ROUNDS" ]; do
	i=$((i + 1))
	rate /v1/graph/stream "{\"messages\":[{\"role\":\"user\",\"content\":\"$text\"}]}" >>chunks
	rate /v1/ag-ui "{\"threadId\":\"t$i\",\"runId\":\"r\",\"messages\":[{\"id\":\"m\",\"role\":\"user\",\"content\":\"$text\"}]}" >>agui
done
printf 'POST /v1/ag-ui: %d events/s, %s of the chunks/s of /v1/graph/stream (%d)\n' "$(median <agui)" \
	"$(echo "$(median <agui) $(median <chunks)" | awk '{ printf "%.2f", $1 / $2 }')" "$(median <chunks)"
tap_plan 0
