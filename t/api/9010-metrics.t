#!/bin/sh
# SPDX-License-Identifier: ISC
# The metrics for Prometheus: only the web server's own requests get them.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# internal NAME [URI]: a request as the web server's own configuration makes it.
internal() {
	RAW=$WORK/answer
	env -i PATH="$PATH" REQUEST_METHOD=GET REQUEST_URI="${2-/metrics}" SERVER_PROTOCOL=HTTP/1.1 \
		REMOTE_ADDR=127.0.0.1 HTTP_HOST=localhost AGENTGRAPH_INTERNAL="$1" \
		timeout 60 cgi-fcgi -bind -connect "$SOCKET" </dev/null >"$RAW"
	HEADERS=$(tr -d '\r' <"$RAW" | sed '/^$/q')
	BODY=$(sed "1,/^\r\{0,1\}\$/d" "$RAW")
	STATUS=$(header Status)
	STATUS=${STATUS%% *}
}

# number NAME-WITH-LABELS: its value.
number() {
	internal metrics
	printf '%s\n' "$BODY" | awk -v name="$1" 'index($0, name " ") == 1 { print $NF }'
}

api GET /metrics
is "$STATUS" 404 'the path is unknown to clients'
api GET /metrics '' 'Agentgraph-Internal: metrics' 'AGENTGRAPH_INTERNAL: metrics'
is "$STATUS" 404 'a header makes nobody internal'
api GET /v1/graph '' 'Agentgraph-Internal: metrics'
is "$STATUS" 200 'and changes no other route'
internal other
is "$STATUS" 404 'only what exists is shown'

internal metrics
is "$STATUS" 200 'the web server gets the numbers'
is "$(header Content-Type)" 'text/plain; version=0.0.4; charset=utf-8' 'in the text format'
is "$(printf '%s\n' "$BODY" | grep -cvE '^(# (HELP|TYPE) agentgraph_[a-z_]+ .+|agentgraph_[a-z_]+(\{[^}]*\})? -?[0-9.]+)$')" \
	0 'every line is of that format'

invoke '/add 2 3' "$(thread m)"
invoke '/error jane' "$(thread m2)"
in_background one invoke '/slow 100 500' "\"recursion_limit\":100,$(thread busy)"
wait_for 20 is_running busy
in_background two invoke 'waits' "$(thread busy)"
waiting() { [ "$(number agentgraph_runs_waiting)" = 1 ]; }
wait_for 20 waiting
ok $? 'a request that waits for its thread is seen'
ok '[ "$(number agentgraph_threads_busy)" -ge 3 ]' 'so are threads that are busy'
is "$(number agentgraph_runs_in_flight)" 1 'and the run that is under way'
is "$(number 'agentgraph_restarts_total{process="worker"}') $(number agentgraph_reloads_failed_total)" '0 0' \
	'with what the supervisor counts'
ok '[ "$(number agentgraph_state_free_bytes)" -gt 0 ]' 'and the room on the disk'
internal metrics
printf '%s\n' "$BODY" | sed -n 's/^\(agentgraph_[a-z_]*\).*/\1/p' | sort -u >there
grep -o 'agentgraph_[a-z_]*' "$TOP_SRCDIR/examples/alerts/agentgraph.rules.yml" | sort -u >asked
ok '[ "$(wc -l <asked)" -ge 6 ]' 'the rules for alerts ask for numbers'
is "$(comm -23 asked there)" '' 'which are all there'
is "$(number agentgraph_threads)" 8 'of all there are'
api POST /v1/graph/stop '{"thread_id":"busy"}'
collect one
collect two
is "$(number agentgraph_runs_waiting)" 0 'and when it waits no more'

is "$(number 'agentgraph_requests_total{method="POST",route="/v1/graph/invoke",status="2xx"}')" 3 'answers are counted'
is "$(number 'agentgraph_requests_total{method="POST",route="/v1/graph/invoke",status="5xx"}')" 1 'failures apart'
is "$(number 'agentgraph_request_seconds_count{method="POST",route="/v1/graph/invoke"}')" 4 'each took its time'
is "$(number 'agentgraph_requests_total{method="",route="other",status="4xx"}')" 2 'unknown paths are one'
is "$(number 'agentgraph_runs_total{status="done"}')" 2 'runs are counted'
is "$(number 'agentgraph_runs_total{status="error"}')" 1 'failed ones'
is "$(number 'agentgraph_runs_total{status="stopped"}')" 1 'stopped ones'
is "$(number 'agentgraph_run_seconds_count{}')" 4 'and timed'
ok '[ "$(number "agentgraph_tokens_total{model=\"demo\",kind=\"input\"}")" -gt 0 ]' 'tokens are counted by model'
ok '[ "$(number agentgraph_database_writes_total)" -ge 4 ]' 'so are writes'
api GET /v1/threads/m-very-secret
api GET /v1/evals/runs
internal metrics
is "$(number 'agentgraph_requests_total{method="GET",route="/v1/threads/{thread_id}",status="4xx"}')" 1 'each by its own route'
is "$(number 'agentgraph_requests_total{method="GET",route="/v1/evals/runs",status="2xx"}')" 1 'also behind one that is off'
unlike "$BODY" 'jane|m-very-secret|busy"' 'no id and nothing of a user is in it'
done_testing
