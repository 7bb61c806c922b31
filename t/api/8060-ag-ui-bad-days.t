#!/bin/sh
# SPDX-License-Identifier: ISC
# What can go wrong for a page: errors in the middle of a message, a stop, two runs at once, a page that leaves or does
# not read, production.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/ag-ui.sh"

ended() { json '.[-1] | "\(.type) \(.code) \(.message)"' "$BODY"; }
not_running() { ! is_running "$1"; }

# ---- a node that fails while it speaks

cat >half.sh <<'SH'
#!/bin/sh
cat >/dev/null
echo '{"delta": "half a "}'
echo '{"delta": "sentence"}'
echo 'it broke' >&2
exit 3
SH
chmod +x ./*.sh
cat >graph.json <<'JSON'
{"half": {
  "nodes": {"half": {"kind": "exec", "command": "./half.sh"}},
  "edges": [{"from": "START", "to": "half"}, {"from": "half", "to": "END"}]},
 "slow": {
  "nodes": {"slow": {"kind": "exec", "command": ["sleep", "30"], "timeout": 0.2}},
  "edges": [{"from": "START", "to": "slow"}, {"from": "slow", "to": "END"}]}}
JSON
for mode in development production; do
	printf '{"agent":"graph.json:half","ag_ui":{"enabled":true}}\n' >agentgraph.json
	export MODE=$mode
	run half "$(says m1 go)"
	is "$EVENTS" 'run step text piece piece text. step. error' "$mode: what is open is closed before the error, the latest first"
	case $mode in
	development) like "$(ended)" '^RUN_ERROR GRAPH_ERROR Graph execution failed: ' 'which has its reason' ;;
	production) is "$(ended)" 'RUN_ERROR GRAPH_ERROR An error occurred in a graph node.' 'which says no more than that' ;;
	esac
	like "$(cat "$SERVE_ERR")" 'Graph execution failed' 'the log has the cause'
	is "$(messages half)" 'user: go' 'the half message is not kept'
	run half "$(says m2 again)"
	is "$EVENTS" 'run step text piece piece text. step. error' 'the next run is a new turn'
	serve_stop
	printf '{"agent":"graph.json:slow","ag_ui":{"enabled":true}}\n' >agentgraph.json
	run slow "$(says m1 go)"
	is "$EVENTS" 'run step step. error' "$mode: a node that takes too long"
	case $mode in
	development) like "$(ended)" '^RUN_ERROR GRAPH_ERROR Graph execution failed: ' 'has its reason' ;;
	production) is "$(ended)" 'RUN_ERROR GRAPH_ERROR An error occurred in a graph node.' 'is told as little' ;;
	esac
	serve_stop
	ag_ui_configure
	run loop "$(says m1 /loop)"
	is "$(ended)" 'RUN_ERROR GRAPH_ERROR Graph execution exceeded recursion limit: 25' "$mode: the limit is no secret"
	serve_stop
done
unset MODE

# ---- a stop

ag_ui_configure '"runs":{"wait_timeout":0.2}'
in_background page run stopped "$(says m1 '/slow 25 800')"
wait_for 30 is_running stopped
api POST /v1/graph/stop '{"thread_id":"stopped"}'
is "$(json .data.running "$BODY")" true 'a run of a page can be stopped'
collect page
is "$(printf '%s' "$BODY" | jq -c '.[-1] | keys')" '["runId","threadId","type"]' 'it then finishes, without an outcome'
is "$(printf '%s' "$BODY" | jq -r '.[-1].type')" RUN_FINISHED 'and without an error'

# ---- two at once

in_background page run busy "$(says m1 '/slow 25 800')"
wait_for 30 is_running busy
run busy "$(says m2 hello)"
is "$STATUS $(json '"\(.error_code) \(.detail)"' "$BODY")" "409 RUN_ACTIVE Run r$runs is still active" 'a run with the id of the first is none'
run busy "$(says m2 hello)"
is "$STATUS $(json '"\(.error_code) \(.detail)"' "$BODY")" '409 THREAD_BUSY Thread busy is busy with another run' 'a second run is refused before the stream'
invoke hello "$(thread busy)"
is "$STATUS" 409 'by REST as well'
api POST /v1/graph/stop '{"thread_id":"busy"}'
running=$(json .data.running "$BODY")
collect page
is "$running $(printf '%s' "$BODY" | jq -r '.[-1].type')" 'true RUN_FINISHED' 'the first is not disturbed'

# ---- a page that leaves

in_background page run left "$(says m1 '/slow 5 800')"
wait_for 30 is_running left
# shellcheck disable=SC2154 # in_background sets it
for process in $(children "$background_page"); do kill "$process"; done
collect page 2>/dev/null
wait_for 20 not_running left
is "$(messages left | tr '\n' '|')" 'user: /slow 5 800|assistant: tick 1|assistant: tick 2|assistant: tick 3|assistant: tick 4|assistant: tick 5|assistant: done|' \
	'when a page leaves, the run goes on and is stored'
run left ''
is "$EVENTS" 'run messages finished' 'and the thread is free'

# ---- a worker that dies

in_background page run dead "$(says m1 '/slow 25 800')"
wait_for 30 is_running dead
kill -9 "$(workers)"
collect page
wait_for 20 not_running dead
run dead "$(says m2 'and now')"
is "$(spoken)" 'echo: and now' 'after the death of a worker the thread goes on'

done_testing
