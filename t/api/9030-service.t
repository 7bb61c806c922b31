#!/bin/sh
# SPDX-License-Identifier: ISC
# /v1/service: numbers of all processes, and what a caller may do.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# seen FILTER: of the service as it is now.
seen() {
	api GET /v1/service
	json ".data | $1" "$BODY"
}

api_start --processes 2 --threads 4
is "$(seen '[.name, .mode, .engine, .rights] | map(tostring) | join(" ")')" "MyApp development ${AGENTGRAPH_ENGINE:-sqlite} null" \
	'what is served, and that everybody may do all'
is "$(seen .version)" "$("$TOP_BUILDDIR/agentgraph" --version | awk '{print $2}')" 'the version is that of the command'
is "$(seen '.workers | [.processes, .threads] | map(tostring) | join(" ")')" '2 8' 'all processes are counted'
is "$(seen '(.started_at | sub("\\.[0-9]+";"") | fromdate) as $s | now - $s | . >= 0 and . < 600')" true 'it has been started lately'
is "$(seen '.instances | length')" 1 'there is one instance'
is "$(seen '.instances[0] as $i | [$i.version == .version, $i.started_at == .started_at or .engine != "sqlite", $i.seen_at >= $i.started_at] | all')" true \
	'which is this one, and was just heard of'
id=$(seen '.instances[0].id')
is "$(seen '.instances[0].id')" "$id" 'and has the same id in every process'

before=$(seen '.requests | .total, .errors' | paste -sd' ')
invoke '/error x'
invoke 'hello'
api GET /v1/nowhere
after=$(seen '.requests | .total, .errors' | paste -sd' ')
is "$((${after% *} - ${before% *})) $((${after#* } - ${before#* }))" '4 1' 'answers are counted, and failures apart'
is "$(seen '.latency_ms | .p50 > 0 and .p50 <= .p99')" true 'they have taken their time'

in_background one invoke '/slow 100 500' "\"recursion_limit\":100,$(thread secret-t)"
wait_for 20 is_running secret-t
is "$(seen '[.runs.running, .workers.busy >= 2, .requests.in_flight >= 2] | map(tostring) | join(" ")')" '1 true true' \
	'a run that is under way is seen'
api POST /v1/graph/runs '{"messages":[{"role":"user","content":"later"}],"delay":3600}'
is "$STATUS $(seen .runs.queued)" '202 1' 'and one that waits in the queue'
api POST /v1/graph/stop '{"thread_id":"secret-t"}'
collect one
is "$(seen .runs.running)" 0 'and that it is over'
is "$(seen '[.sockets.turn, .sockets.live, .webhooks.waiting] | map(tostring) | join(" ")')" '0 0 0' 'the rest is quiet'
api GET /v1/service
unlike "$BODY" 'secret-t|hello|later' 'nothing of threads is in it'
serve_stop

configure '"auth":"jwt","authorization":{"backend":"rbac","roles":{"watcher":["config:read","graph:read"],"admin":["*"],
	"stranger":["graph:read","config:write"]}}'
api_start
rights() {
	with "$(token bob ",\"role\":\"$1\"")" GET /v1/service
	json '.data.rights | if . == null then "all" else sort | join(" ") end' "$BODY"
}
is "$(rights watcher)" 'config:read graph:read' 'a role has what it has'
is "$(rights admin)" all 'or everything'
with "$(token bob ',"role":"stranger"')" GET /v1/service
is "$(said)" '403 PERMISSION_ERROR Missing required scope: config:read' 'without the right for it there is nothing to see'
with '' GET /v1/service
is "$(said)" '403 REVOKED_TOKEN Invalid token, please login again' 'nor without a token'
serve_stop

done_testing
