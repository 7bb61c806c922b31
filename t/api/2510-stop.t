#!/bin/sh
# Stopping a run: between nodes, during the last one, and where nothing runs.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

stop() { api POST /v1/graph/stop "{\"thread_id\":$1${2:+,$2}}"; }
state() { api GET "/v1/threads/$1/state"; }

# ---- a run that goes on

in_background slow invoke '/slow 40 150' "$(thread t),\"recursion_limit\":100,\"response_granularity\":\"full\""
wait_for 10 is_running t
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
with the messages so far :: said | length >= 2 and length < 40 and (.[1:] | all(test("^tick [0-9]+$")))
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
	in_background "$1" stream '/slow 40 150' "$(thread "$1"),\"recursion_limit\":90,\"response_granularity\":\"$2\""
	wait_for 10 is_running "$1"
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

# ---- during the last node

in_background last invoke '/slow 1 900' "$(thread last),\"response_granularity\":\"partial\""
wait_for 10 is_running last
stop '"last"'
facts <<'TABLE'
a stop during the last node is requested as any other :: .data.running == true
TABLE
stop '"last"'
facts <<'TABLE'
and again :: .data.running == true
TABLE
collect last
facts <<'TABLE'
the run is complete :: said == ["/slow 1 900", "tick 1", "done"]
its status, too :: .data.state.execution_meta | [.status, .current_node, .is_stopped_requested] == ["completed", "END", false]
only the request is remembered :: .data.state.execution_meta.stop_current_execution == "stop_requested"
TABLE

# ---- a run that waits

in_background first invoke '/slow 40 150' "$(thread w),\"recursion_limit\":100"
wait_for 10 is_running w
in_background second invoke 'after it' "$(thread w)"
sleep 0.3
stop '"w"'
collect first
facts <<'TABLE'
a stop ends the run in flight :: said | length < 40
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

done_testing
