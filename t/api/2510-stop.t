#!/bin/sh
# SPDX-License-Identifier: ISC
# Stopping a run: between nodes, during the last one, and where nothing runs.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

stop() { api POST /v1/graph/stop "{\"thread_id\":$1${2:+,$2}}"; }
state() { api GET "/v1/threads/$1/state"; }

# ---- a run that goes on

in_background slow invoke '/slow 90 500' "$(thread t),\"recursion_limit\":100,\"response_granularity\":\"full\""
wait_for 30 is_running t
ok $? 'a state shows that a run goes on'
facts <<'TABLE'
in all its fields :: .data.state.execution_meta | [.is_running, .status, .is_stopped_requested, .stop_current_execution, .current_node] == [true, "running", false, "none", "agent"]
TABLE
stop '"t"'
is "$STATUS" 200 'a run can be stopped'
facts <<'TABLE'
the answer has eight fields :: .data | keys == ["message", "ok", "reason", "running", "status", "stopped_at", "success", "thread_id"]
with exact values :: .data | del(.stopped_at) == {"status": "stopped", "thread_id": "t", "success": true, "ok": true, "running": true, "reason": null, "message": "Stop requested"}
and a time :: .data.stopped_at | test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}Z$")
TABLE
state t
flags=$(json '.data.state.execution_meta | "\(.is_running) \(.is_stopped_requested) \(.stop_current_execution)"' "$BODY")
like "$flags" '^(true true stop_requested|false false stopped)$' 'until the node ends the stop is requested'
collect slow
is "$STATUS" 200 'the run answers 200'
facts <<'TABLE'
with the messages so far :: said | length >= 2 and length < 90 and (.[1:] | all(test("^tick [0-9]+$")))
and a state that was stopped :: .data.state.execution_meta | [.status, .is_running, .is_stopped_requested, .stop_current_execution, .current_node, .is_interrupted] == ["stopped", false, false, "stopped", "agent", false]
no interrupt is open :: .data.meta.interrupt == null
TABLE
count=$(json '.data.messages | length' "$BODY")
api GET /v1/threads/t/messages
is "$(json '.data.messages | length' "$BODY")" "$count" 'they are stored'
resume 1 t
is "$STATUS" 422 'a stopped run cannot be resumed'
invoke hello "$(thread t),\"response_granularity\":\"partial\""
facts <<'TABLE'
the next run is a new turn :: said == ["hello", "echo: hello"]
that knows of no stop :: .data.state.execution_meta | [.status, .stop_current_execution] == ["completed", "none"]
TABLE

# streamed THREAD GRANULARITY: a streamed run that is stopped; sets BODY.
streamed() {
	in_background "$1" stream '/slow 90 500' "$(thread "$1"),\"recursion_limit\":90,\"response_granularity\":\"$2\""
	wait_for 30 is_running "$1"
	stop "\"$1\""
	collect "$1"
}
streamed full full
chunks <<'TABLE'
a stream that is stopped says so before the terminator :: events[-3:] == ["node_invoked", "stopped", "done"]
with exact data :: .[-2].data | del(.step) == {"status": "stopped", "node": "agent", "max_steps": 90, "reason": "Graph execution stopped by request"}
the step is that of the last node :: .[-2].data.step == .[-3].data.step
until then it was requested :: .[-3].state.execution_meta | [.status, .is_running, .is_stopped_requested, .stop_current_execution] == ["running", true, true, "stop_requested"]
and the stopped state :: .[-2].state.execution_meta | [.status, .is_running, .stop_current_execution] == ["stopped", false, "stopped"]
TABLE
streamed low low
chunks <<'TABLE'
at low there is the terminator alone :: map(select(.event != "message")) | events == ["done"]
TABLE

# ---- a run that waits

in_background first invoke '/slow 90 500' "$(thread w),\"recursion_limit\":100"
wait_for 30 is_running w
in_background second invoke 'after it' "$(thread w)"
sleep 0.3
stop '"w"'
collect first
facts <<'TABLE'
a stop ends the run in flight :: said | length < 90
TABLE
collect second
facts <<'TABLE'
the run that waited is not stopped :: said == ["after it", "echo: after it"]
TABLE

# ---- where nothing runs

# idle THREAD REASON NAME
idle() {
	stop "$1" "${4-}"
	is "$STATUS|$(json '.data | "\(.status) \(.success) \(.ok) \(.running) \(.reason) \(.message) \(.thread_id)"' "$BODY")" \
		"200|stopped true true false $2 Thread is not running $(json . "$1")" "$3"
}
idle '"t"' not-running 'a thread that does not run can be stopped'
idle '"nowhere"' no-state 'even one that does not exist'
idle 7 no-state 'an id may be an integer'
idle '"new"' no-state 'new is an id here'
idle '"t"' not-running 'config may be there' '"config":{"thread_id":"other"}'
api GET /v1/threads/nowhere
is "$STATUS" 404 'a stop creates nothing'
for body in '{"thread_id":""}' '{"thread_id":"  "}' '{}' '{"thread_id":null}'; do
	api POST /v1/graph/stop "$body"
	is "$STATUS|$(json '"\(.detail)|\(.error.details[0].loc | join("."))"' "$BODY")" \
		'422|thread_id cannot be empty or whitespace|body.thread_id' "$body is refused"
done
for body in '{"thread_id":0}' '{"thread_id":"-1"}' '{"thread_id":true}' '{"thread_id":[]}' '{"thread_id":1.5}' '[]'; do
	api POST /v1/graph/stop "$body"
	is "$STATUS|$(json .error_code "$BODY")" '422|VALIDATION_ERROR' "$body is refused"
done

# ---- during the last node

[ -z "$SOCKET" ] || serve_stop
# The node does what the user says once nothing holds it; so does the tool.
cat >last.sh <<'END'
#!/bin/sh
while [ -e holds-node ]; do sleep 0.05; done
jq -c '.user_text | fromjson'
END
cat >hold.sh <<'END'
#!/bin/sh
: >at-tools
while [ -e holds-tool ]; do sleep 0.05; done
END
chmod +x last.sh hold.sh
cat >graph.json <<'END'
{"g": {"nodes": {"last": {"kind": "exec", "command": "./last.sh"}, "tools": {"kind": "tools", "tools": [{"kind": "exec", "name": "hold", "description": "Holds", "command": "./hold.sh"}]}},
 "edges": [{"from": "START", "to": "last"}, {"from": "last", "if": [{"when": {"tool_calls": true}, "to": "tools"}], "else": "END"},
  {"from": "tools", "to": "END"}]}}
END
printf '%s\n' '{"agent":"graph.json:g","remote_tools":[{"node":"tools","name":"far","description":"At the client"}]}' >agentgraph.json

# stopped_late THREAD TEXT node|tool: a run that is stopped in what is its last node, by this hold;
# sets BODY to the state after it.
stopped_late() {
	rm -f at-tools
	: >"holds-$3"
	in_background "$1" invoke "$2" "$(thread "$1")"
	wait_for 30 is_running "$1"
	[ "$3" = node ] || wait_for 30 test -e at-tools
	stop "\"$1\""
	late=$(json .data.running "$BODY")
	stop "\"$1\""
	late=$late,$(json .data.running "$BODY")
	rm "holds-$3"
	collect "$1"
	said=$(json '.data.messages // [] | .[1:] | map(.content[].text) | join(",")' "$BODY")
	state "$1"
}
stopped_late ends '{\"message\":\"done\"}' node
is "$late" true,true 'a stop during the last node is requested as any other, and again'
is "$said" 'done' 'the run is complete'
facts <<'TABLE'
its status, too :: .data.state.execution_meta | [.status, .current_node, .is_stopped_requested] == ["completed", "END", false]
only the request is remembered :: .data.state.execution_meta.stop_current_execution == "stop_requested"
TABLE
stopped_late pauses '{\"interrupt\":{\"value\":1}}' node
facts <<'TABLE'
a node that pauses the run does so in spite of a stop :: .data.state.execution_meta | [.status, .is_interrupted, .is_stopped_requested] == ["interrupted", true, false]
the request is remembered there, too :: .data.state.execution_meta.stop_current_execution == "stop_requested"
TABLE
resume '"on"' pauses '"response_granularity":"full"'
facts <<'TABLE'
until the next run :: .data.state.execution_meta.stop_current_execution == "none"
TABLE
stopped_late waits '{\"message\":{\"content\":[{\"type\":\"tool_call\",\"id\":\"c1\",\"name\":\"hold\",\"args\":{}},{\"type\":\"remote_tool_call\",\"id\":\"c2\",\"name\":\"far\",\"args\":{}}]}}' tool
facts <<'TABLE'
and by a run whose calls wait at the client :: .data.state.execution_meta | [.status, .interrupt_data.call_ids, .stop_current_execution] == ["completed", ["c2"], "stop_requested"]
TABLE
stopped_late fails '{\"error\":\"broken\"}' node
facts <<'TABLE'
and by one that failed :: .data.state.execution_meta | [.status, .stop_current_execution] == ["error", "stop_requested"]
TABLE

done_testing
