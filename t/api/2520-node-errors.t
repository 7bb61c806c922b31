#!/bin/sh
# SPDX-License-Identifier: ISC
# Nodes that fail: what the client is told, in development and in production.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

cat >routes.sh <<'SH'
#!/bin/sh
echo '{"message": "first"}'
echo '{"update": {"where": "nowhere"}}'
SH
chmod +x routes.sh

invoke '/note kept' "$(thread t)"
invoke '/error the disk is full' "$(thread t),\"response_granularity\":\"full\""
is "$STATUS" 500 'a node that fails fails the run'
facts <<'TABLE'
its message is told :: [.detail, .error_code] == ["Graph execution failed: the disk is full", "NODE_ERROR"]
in the shape of all errors :: [.error.code, .error.message, .metadata.message] == ["NODE_ERROR", .detail, .detail]
the details name the node :: .error.details == [{"loc": ["node", "agent"], "msg": "the disk is full", "type": "node_error"}]
nothing else is told :: keys == ["detail", "error", "error_code", "metadata"]
TABLE
request=$(json .metadata.request_id "$BODY")
like "$(grep -F "$request" "$SERVE_ERR")" 'disk is full' 'the log has the cause under the id of the request'
api GET /v1/threads/t/state
facts <<'TABLE'
the state is that before the node :: .data.state | [.notes, (.context | texts)] == [["kept"], ["/note kept", "noted", "/error the disk is full"]]
and says that the run failed :: .data.state.execution_meta | [.status, .is_running, .is_interrupted, .current_node] == ["error", false, false, "agent"]
TABLE
invoke hello "$(thread t)"
facts <<'TABLE'
the next run is a new turn :: said == ["hello", "echo: hello"]
TABLE
invoke '/error' "$(thread wordless)"
is "$STATUS|$(json .error_code "$BODY")" '500|NODE_ERROR' 'a failure without words is one'
api GET /v1/threads/wordless
is "$STATUS" 200 'its thread exists'
invoke '/error 100% \"quoted\" %s %n' "$(thread wordless)"
facts <<'TABLE'
the message is told as it is :: .detail == "Graph execution failed: 100% \"quoted\" %s %n"
TABLE

stream '/error no way' "$(thread s),\"response_granularity\":\"full\",\"recursion_limit\":9"
is "$STATUS" 200 'a stream has begun before'
chunks <<'TABLE'
it ends with the error and the terminator :: events == ["invoking_node", "error", "done"]
the error has exact data :: .[1].data | del(.details) == {"status": "error", "reason": "Graph execution failed: no way", "error_code": "NODE_ERROR", "node": "agent", "step": 1, "max_steps": 9}
the other parts are null :: .[1] | [.message, .state] == [null, null]
thread and run are told :: .[1] | [.thread_id, (.run_id | uuid7)] == ["s", true]
TABLE
stream '/error x'
chunks <<'TABLE'
at low as well :: events == ["error", "done"]
TABLE
invoke '/ask now' "$(thread p)"
stream hello "$(thread p)"
chunks <<'TABLE'
a pause is no error :: events == ["interrupted", "done"]
TABLE
serve_stop

MODE=production
export MODE
invoke '/error the disk is full' "$(thread t)"
is "$STATUS" 500 'in production it is a 500, too'
facts <<'TABLE'
with a sentence that tells nothing :: [.detail, .error_code, .error.details] == ["An error occurred in a graph node.", "NODE_ERROR", []]
TABLE
unlike "$BODY" 'disk' 'the message is nowhere in it'
request=$(json .metadata.request_id "$BODY")
like "$(grep -F "$request" "$SERVE_ERR")" 'disk is full' 'but in the log'
api GET /v1/threads/t/export
is "$(printf '%s' "$BODY" | jq -r 'select(.type == "run").error | "\(.code) \(.message) \(.status) \(.details // [] | length)"' | tail -n 1)" \
	'NODE_ERROR An error occurred in a graph node. 500 0' 'nor in the lines of its thread'
stream '/error the disk is full'
unlike "$BODY" 'disk is' 'nor is it in a stream'
chunks <<'TABLE'
whose error tells the same sentence :: .[-2].data | [.reason, .error_code] == ["An error occurred in a graph node.", "NODE_ERROR"]
TABLE
invoke '/slow 1 2000' '"config":{"node_timeout":0.1}'
facts <<'TABLE'
a time-out is hidden as well :: [.detail, .error_code, .error.details] == ["An error occurred in a graph node.", "NODE_TIMEOUT", []]
TABLE
invoke /loop '"recursion_limit":2'
facts <<'TABLE'
the recursion limit is not :: .detail == "Graph execution exceeded recursion limit: 2"
TABLE
invoke hi '"recursion_limit":0'
facts <<'TABLE'
nor what is wrong with a request :: [.detail, (.error.details | length)] == ["recursion_limit must be between 1 and 100", 1]
TABLE
resume 1 t
facts <<'TABLE'
nor what does not fit the thread :: [.error_code, .detail] == ["INVALID_INPUT", "Nothing to resume: this thread is not paused at an interrupt"]
TABLE
serve_stop

# An update that does not fit, and a route that leads nowhere.
cat >graph.json <<'JSON'
{"bad": {"nodes": {"only": {"kind": "exec", "command": "./routes.sh"}},
  "edges": [{"from": "START", "to": "only"}, {"from": "only", "to": "END"}]}}
JSON
printf '{"agent":"graph.json:bad"}\n' >agentgraph.json
invoke hi "$(thread g)"
is "$STATUS" 500 'in production a failure of the graph is a 500'
facts <<'TABLE'
with a sentence of its own :: [.detail, .error_code, .error.details] == ["An error occurred executing the graph.", "GRAPH_ERROR", []]
TABLE
api GET /v1/threads/g/messages
facts <<'TABLE'
what the node said is not kept :: .data.messages | texts == ["hi"]
TABLE
serve_stop
unset MODE
cat >lost.c <<'C'
#include <agentgraph.h>
#include <string.h>

AG_PLUGIN;

static ag_result node(ag_run *run, const ag_state *state, void *data)
{
	(void)data;
	return strcmp(ag_user_text(state), "silent") == 0 ? AG_ERROR : ag_say(run, "said");
}

static const char *route(const ag_state *state, void *data)
{
	(void)data;
	return strcmp(ag_user_text(state), "lost") == 0 ? "elsewhere" : strcmp(ag_user_text(state), "null") == 0 ? NULL : AG_END;
}

int lost(ag_graph *graph)
{
	static const char *const targets[] = {"node", AG_END, NULL};
	ag_graph_node(graph, "node", node, NULL);
	ag_graph_edge(graph, AG_START, "node");
	ag_graph_branch(graph, "node", route, NULL, targets);
	return 0;
}
C
# shellcheck disable=SC2086 # flags are words
${CC:-cc} ${CPPFLAGS:-} -I"$TOP_SRCDIR/common" -shared -fPIC -o lost.so lost.c
ok $? 'a plug-in is built'
printf '{"agent":"lost.so:lost"}\n' >agentgraph.json
for text in lost null; do
	invoke "$text" "$(thread "$text")"
	is "$STATUS|$(json .error_code "$BODY")" '500|GRAPH_ERROR' "a route to '$text' is a failure of the graph"
	like "$(json .detail "$BODY")" '^Graph execution failed: .*node' 'that names the node it comes from'
	api GET "/v1/threads/$text/messages"
	is "$(json "$facts_words"'.data.messages | texts | join(" ")' "$BODY")" "$text said" 'what the node said before is kept'
done
invoke silent
is "$STATUS|$(json '.error_code' "$BODY")" '500|NODE_ERROR' 'a node that fails without a word fails'
like "$(json '.detail' "$BODY")" '^Graph execution failed: .' 'with some sentence'

done_testing
