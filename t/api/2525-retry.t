#!/bin/sh
# SPDX-License-Identifier: ISC
# Nodes that fail or take long: retry, on_error, timeout.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# does NAME <<TEXT: a program that counts in NAME.n how often it ran; $n is that.
does() {
	{
		echo '#!/bin/sh'
		echo "echo >>$1.n; n=\$(grep -c '' $1.n)"
		cat
	} >"$1"
	chmod +x "$1"
}
ran() { grep -c '' "$1.n" 2>/dev/null; }

does flaky <<'SH'
echo "{\"message\": \"try $n\"}"
echo "{\"update\": {\"tries\": 1}}"
echo "{\"message\": \"and more\"}"
[ "$n" -ge 3 ] || { echo "broken $n" >&2; exit 1; }
SH
does hopeless <<'SH'
echo "{\"error\": \"no way $n\"}"
SH
does streams <<'SH'
echo '{"delta": "half"}'
echo '{"error": "the line is cut"}'
SH
does guarded <<'SH'
echo '{"message": "lost"}'
echo '{"error": "out of paper"}'
SH
does wrong <<'SH'
echo '{"update": {"nowhere": 1}}'
SH
does slow <<'SH'
exec sleep 60
SH
does late <<'SH'
[ "$n" -ge 2 ] || exec sleep 60
echo '{"message": "in time"}'
SH
does patient <<'SH'
[ -e enough ] || exit 1
echo '{"message": "at last"}'
SH
does hangs <<'SH'
read -r state
case $state in
*'"attempt":1'*) exec sleep 60 ;;
esac
error=${state##*\"error\":\"}
echo "{\"message\": \"still ${error%%\"*}\"}"
SH

cat >graph.json <<'JSON'
{"g": {
  "state": {"fields": {"tries": {"type": "integer", "reducer": "add"}}},
  "nodes": {
    "start": {"kind": "reply", "role": "system", "text": ""},
    "flaky": {"kind": "exec", "command": "./flaky", "retry": {"attempts": 3, "initial": 0.01}},
    "hopeless": {"kind": "exec", "command": "./hopeless", "retry": {"attempts": 2, "initial": 0, "factor": 1, "max": 0}},
    "streams": {"kind": "exec", "command": "./streams", "retry": {"attempts": 5, "initial": 0}},
    "guarded": {"kind": "exec", "command": "./guarded", "on_error": "sorry"},
    "wrong": {"kind": "exec", "command": "./wrong", "on_error": "sorry"},
    "slow": {"kind": "exec", "command": "./slow", "timeout": 0.3, "on_error": "sorry"},
    "late": {"kind": "exec", "command": "./late", "timeout": 3, "retry": {"attempts": 2, "initial": 0}},
    "patient": {"kind": "exec", "command": "./patient", "retry": {"attempts": 9, "initial": 3000, "max": 3000}},
    "asked": {"kind": "exec", "command": "./guarded", "on_error": "ask"},
    "ask": {"kind": "interrupt", "value": "{{error}}: again?", "reply": "{{answer}}, {{error}}"},
    "hung": {"kind": "exec", "command": "./guarded", "on_error": "hangs"},
    "hangs": {"kind": "exec", "command": "./hangs"},
    "circle": {"kind": "exec", "command": "./guarded", "on_error": "circle"},
    "drops": {"kind": "exec", "command": "./guarded", "on_error": "END"},
    "sorry": {"kind": "reply", "text": "Sorry: {{error}}|{{config.error}}"},
    "quick": {"kind": "reply", "text": "quick", "timeout": 5}
  },
  "edges": [
    {"from": "START", "to": "start"},
    {"from": "start", "if": [
      {"when": {"user_text": {"equals": "flaky"}}, "to": "flaky"},
      {"when": {"user_text": {"equals": "hopeless"}}, "to": "hopeless"},
      {"when": {"user_text": {"equals": "streams"}}, "to": "streams"},
      {"when": {"user_text": {"equals": "guarded"}}, "to": "guarded"},
      {"when": {"user_text": {"equals": "wrong"}}, "to": "wrong"},
      {"when": {"user_text": {"equals": "slow"}}, "to": "slow"},
      {"when": {"user_text": {"equals": "late"}}, "to": "late"},
      {"when": {"user_text": {"equals": "patient"}}, "to": "patient"},
      {"when": {"user_text": {"equals": "asked"}}, "to": "asked"},
      {"when": {"user_text": {"equals": "hung"}}, "to": "hung"},
      {"when": {"user_text": {"equals": "circle"}}, "to": "circle"},
      {"when": {"user_text": {"equals": "drops"}}, "to": "drops"}
    ], "else": "quick"},
    {"from": "flaky", "to": "END"}, {"from": "hopeless", "to": "END"}, {"from": "streams", "to": "END"},
    {"from": "guarded", "to": "quick"}, {"from": "wrong", "to": "quick"}, {"from": "slow", "to": "quick"},
    {"from": "late", "to": "END"}, {"from": "patient", "to": "END"}, {"from": "asked", "to": "END"},
    {"from": "ask", "to": "END"}, {"from": "hung", "to": "END"}, {"from": "hangs", "to": "END"},
    {"from": "circle", "to": "END"}, {"from": "drops", "to": "quick"}, {"from": "sorry", "to": "END"},
    {"from": "quick", "to": "END"}
  ]}}
JSON
printf '{"agent":"graph.json:g"}\n' >agentgraph.json
api_start || tap_bail 'the service does not start'

# ---- retry

invoke flaky "$(thread f),\"response_granularity\":\"full\""
is "$STATUS" 200 'a node that fails twice of three times has not failed'
facts <<'TABLE'
what it said in the end is kept, once :: said == ["flaky", "", "try 3", "and more"]
what it set as well :: .data.state.tries == 1
it was one step :: .data.state.execution_meta | [.step, .current_node] == [2, "END"]
TABLE
is "$(ran flaky)" 3 'it ran three times'
like "$(grep -F 'attempt 1 of 3 failed' "$SERVE_ERR")" 'node flaky.*broken 1' 'the log has each failure'
api GET /v1/observability/f
facts <<'TABLE'
so has the trace, with its number and code :: [.data.run.events[] | select(.type == "error") | [.node, .summary]] == [["flaky", "attempt 2 failed: NODE_ERROR"], ["flaky", "attempt 1 failed: NODE_ERROR"]]
TABLE
rm flaky.n
stream flaky '"response_granularity":"full"'
chunks <<'TABLE'
a stream shows it as one step :: events == ["invoking_node", "system", "state", "node_invoked", "invoking_node", "assistant", "assistant", "state", "node_invoked", "done"]
and nothing of what failed :: finals | texts == ["", "try 3", "and more"]
TABLE
invoke hopeless
is "$STATUS|$(ran hopeless)" '500|2' 'a node that never works fails after its attempts'
facts <<'TABLE'
with its last failure :: [.error_code, .detail] == ["NODE_ERROR", "Graph execution failed: no way 2"]
TABLE
invoke streams
is "$STATUS|$(ran streams)" '500|1' 'a node that has said a piece does not run again'
stream streams
is "$(ran streams)" 2 'nor does it in a stream'
chunks <<'TABLE'
which ends with the error :: events == ["system", "piece", "error", "done"]
TABLE

# ---- timeout

invoke slow
facts <<'TABLE'
a node has its own time :: said[-1] == "Sorry: node slow timed out after 0.3 s|node slow timed out after 0.3 s"
TABLE
invoke late
facts <<'TABLE'
one that takes too long runs again :: said[-1] == "in time"
TABLE
invoke slow '"config":{"node_timeout":0.2}'
facts <<'TABLE'
the time of the request counts where it is less :: said[-1] | startswith("Sorry: node slow timed out after 0.2 s")
TABLE

# ---- on_error

invoke guarded "$(thread g),\"response_granularity\":\"full\",\"initial_state\":{}"
is "$STATUS" 200 'a run goes on where on_error leads'
facts <<'TABLE'
nothing is left of the node but its failure :: said == ["guarded", "", "Sorry: out of paper|out of paper"]
the node that follows leads on from there :: .data.state.execution_meta | [.status, .step] == ["completed", 3]
TABLE
api GET /v1/observability/g
facts <<'TABLE'
the trace has that it failed :: [.data.run.events[] | select(.type == "error") | [.node, .summary]] == [["guarded", "failed: NODE_ERROR"]]
TABLE
invoke hello "$(thread g)"
facts <<'TABLE'
the next run knows nothing of it :: said[-1] == "quick"
TABLE
stream guarded '"response_granularity":"full"'
chunks <<'TABLE'
a stream shows the end of the node that failed :: (events | del(.[] | select(. == "piece"))) == ["invoking_node", "system", "state", "node_invoked", "invoking_node", "state", "node_invoked", "invoking_node", "assistant", "state", "node_invoked", "done"]
and why it failed :: [.[] | select(.event == "updates" and .data.status == "node_invoked").data | [.node, .reason, .error_code]] == [["start", null, null], ["guarded", "Graph execution failed: out of paper", "NODE_ERROR"], ["sorry", null, null]]
TABLE
invoke wrong
facts <<'TABLE'
an update that does not fit is a failure of the node :: said[-1] == "Sorry: there is no state field 'nowhere', which node wrong sets|there is no state field 'nowhere', which node wrong sets"
TABLE
invoke drops
facts <<'TABLE'
END ends the run :: said == ["drops", ""]
TABLE
invoke circle '"recursion_limit":5'
facts <<'TABLE'
the recursion limit holds there too :: .detail == "Graph execution exceeded recursion limit: 5"
TABLE
invoke asked "$(thread p)"
facts <<'TABLE'
the node that follows may pause :: .data.meta.interrupt | [.value, .node] == ["out of paper: again?", "ask"]
TABLE
resume '"yes"' p
facts <<'TABLE'
and knows the failure when it goes on :: said[-1] == "yes, out of paper"
TABLE
api GET /v1/threads/p/state
facts <<'TABLE'
then all is well :: .data.state.execution_meta | [.status, .interrupt_data] == ["completed", null]
TABLE

# ---- what else ends a wait

in_background waiting invoke patient "$(thread w)"
waits() { grep -q 'node patient: attempt 1 of 9' "$SERVE_ERR"; }
wait_for 20 waits
api POST /v1/graph/stop '{"thread_id":"w"}'
is "$STATUS" 200 'a run that waits for the next attempt is stopped'
collect waiting
is "$STATUS|$(ran patient)" '200|1' 'without another one'
api GET /v1/threads/w/state
facts <<'TABLE'
and is stopped :: .data.state.execution_meta | [.status, .stop_current_execution, .current_node] == ["stopped", "stopped", "patient"]
TABLE

# ---- a process that dies

api POST /v1/graph/runs "$(run_body "[$(user hung)]" "$(thread b '"run_id":"r1"')")"
is "$STATUS" 202 'a run is queued'
hangs() { [ "$(ran hangs)" = 1 ]; }
wait_for 30 hangs
runner() {
	for pid in $(children "$SERVE_PID"); do
		case $(readlink "/proc/$pid/exe") in */agentgraph-runner) echo "$pid" ;; esac
	done
}
kill -9 "$(runner)"
over() {
	api GET /v1/threads/b/runs/r1
	[ "$(json .data.status "$BODY")" = completed ]
}
ok 'wait_for 60 over' 'it goes on behind the node that failed'
api GET /v1/threads/b/messages
facts <<'TABLE'
with what that failed of :: .data.messages | texts == ["hung", "", "still out of paper"]
TABLE

# ---- a service that ends

rm -f patient.n
api POST /v1/graph/runs "$(run_body "[$(user patient)]" "$(thread e '"run_id":"r1"'),\"recursion_limit\":2")"
tried() { [ -s patient.n ]; }
wait_for 30 tried
state=$STATE
serve_stop
touch enough
STATE=$state
api_start || tap_bail 'the service does not start again'
over() {
	api GET /v1/threads/e/runs/r1
	case $(json .data.status "$BODY") in queued | running | null) return 1 ;; esac
}
wait_for 60 over
is "$(json '.data | "\(.status) \(.attempt) \(.step) \(.error.code)"' "$BODY")" 'completed 1 2 null' \
	'a run that waits for the next attempt goes back to the queue, and its node counts once for the recursion limit'

# ---- the graph

api GET /v1/graph
facts <<'TABLE'
the graph shows what nodes have :: [.data.nodes[] | select(.id == "flaky" or .id == "slow" or .id == "quick")] == [{"id": "flaky", "name": "flaky", "kind": "exec", "retry": {"attempts": 3, "initial": 0.01, "factor": 2, "max": 60}}, {"id": "slow", "name": "slow", "kind": "exec", "timeout": 0.3, "on_error": "sorry"}, {"id": "quick", "name": "quick", "kind": "reply", "timeout": 5}]
TABLE
serve_stop

# ---- production, and C

MODE=production
export MODE
stream guarded '"response_granularity":"full"'
chunks <<'TABLE'
production hides why a node failed :: [.[] | select(.event == "updates" and .data.status == "node_invoked" and .data.node == "guarded").data.reason] == ["An error occurred in a graph node."]
TABLE
serve_stop
unset MODE

cat >again.c <<'C'
#include <agentgraph.h>
#include <stdatomic.h>
#include <string.h>

AG_PLUGIN;

static atomic_int calls;

static ag_result fails(ag_run *run, const ag_state *state, void *data)
{
	(void)data;
	int n = ++calls;
	if (strcmp(ag_user_text(state), "pieces") == 0)
		ag_say(run, "said %d", n);
	return n % 3 ? ag_fail(run, "failure %d", n) : ag_update(run, "n", cJSON_CreateNumber(n));
}

static ag_result sorry(ag_run *run, const ag_state *state, void *data)
{
	(void)state, (void)data;
	const cJSON *error = cJSON_GetObjectItemCaseSensitive(ag_config(run), "error");
	return ag_say(run, "sorry: %s", cJSON_GetStringValue(error));
}

int again(ag_graph *graph)
{
	ag_graph_field(graph, "n", "integer", AG_REPLACE, NULL, NULL);
	ag_graph_node(graph, "fails", fails, NULL);
	ag_graph_node(graph, "sorry", sorry, NULL);
	ag_graph_policy(graph, "fails", "{\"retry\": {\"initial\": 0}, \"on_error\": \"sorry\"}");
	ag_graph_policy(graph, "fails", POLICY);
	ag_graph_edge(graph, AG_START, "fails");
	ag_graph_edge(graph, "fails", AG_END);
	ag_graph_edge(graph, "sorry", AG_END);
	return 0;
}
C
# plug_in POLICY
plug_in() {
	# shellcheck disable=SC2086 # flags are words
	${CC:-cc} ${CPPFLAGS:-} -I"$TOP_SRCDIR/common" -shared -fPIC -DPOLICY="\"$1\"" -o again.so again.c
}
plug_in '{\"timeout\": 5}'
ok $? 'a plug-in is built'
printf '{"agent":"again.so:again"}\n' >agentgraph.json
invoke hi '"response_granularity":"full"'
facts <<'TABLE'
a function runs again as well :: [.data.state.n, said] == [3, ["hi"]]
TABLE
invoke pieces
facts <<'TABLE'
unless it has spoken, and then on_error leads on :: said == ["pieces", "sorry: failure 4"]
TABLE
serve_stop
for policy in '[]|expected the policy as a JSON object' '{\"retrie\": {}}|retrie: unknown key; expected one of retry, cache, on_error, timeout' \
	'{\"retry\": {\"attempts\": 0}}|retry/attempts: expected an integer from 1 to 100' \
	"{\\\"on_error\\\": \\\"no\\\"}|node 'fails': on_error: there is no node 'no'"; do
	plug_in "${policy%%|*}"
	"$TOP_BUILDDIR/agentgraph" check >out 2>&1
	ok "[ $? -ne 0 ]" 'a wrong policy refuses the start'
	like "$(cat out)" "${policy#*|}" 'with what was expected'
done

done_testing
