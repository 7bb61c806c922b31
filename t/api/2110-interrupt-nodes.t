#!/bin/sh
# SPDX-License-Identifier: ISC
# Graphs that pause before and after nodes.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

cat >graph.json <<'JSON'
{"between": {
  "nodes": {
    "draft": {"kind": "reply", "text": "draft of {{user_text}}"},
    "send": {"kind": "reply", "text": "sent {{user_text}}"}},
  "edges": [{"from": "START", "to": "draft"}, {"from": "draft", "to": "send"}, {"from": "send", "to": "END"}],
  "interrupt_before": ["send"]},
 "around": {
  "state": {"fields": {"count": {"type": "integer", "reducer": "add"}}},
  "nodes": {"only": {"kind": "reply", "text": "said {{user_text}}", "update": {"count": 1}}},
  "edges": [{"from": "START", "to": "only"}, {"from": "only", "to": "END"}],
  "interrupt_before": ["only"],
  "interrupt_after": ["only"]},
 "endless": {
  "nodes": {"again": {"kind": "reply", "text": "{{user_text}}"}},
  "edges": [{"from": "START", "to": "again"}, {"from": "again", "to": "again"}],
  "interrupt_after": ["again"]},
 "asking": {
  "nodes": {"ask": {"kind": "interrupt", "reason": "interrupt_after", "value": {"kind": "interrupt_before"}}},
  "edges": [{"from": "START", "to": "ask"}, {"from": "ask", "to": "END"}]}}
JSON
serves() { printf '{"agent":"graph.json:%s"}\n' "$1" >agentgraph.json; }

# resumed VALUE THREAD: at full granularity, so that the state is seen.
resumed() { resume "$1" "$2" '"response_granularity":"full"'; }
invoked() { invoke "$1" "$(thread "$2"),\"response_granularity\":\"full\""; }

serves between
api GET /v1/graph
facts <<'TABLE'
the graph says where it pauses :: .data.info | [.interrupt_before, .interrupt_after] == [["send"], null]
TABLE
invoked one t
is "$STATUS" 200 'a pause before a node ends the run'
facts <<'TABLE'
after what came before :: said == ["one", "draft of one"]
the interrupt names the node to come :: .data.meta.interrupt | del(.id) == {"node": "send", "reason": "interrupt_before", "status": "interrupted", "message": null, "value": null, "data": {}, "tool_call_id": null, "response_schema": null}
the state says so :: .data.state.execution_meta | [.is_interrupted, .status, .interrupted_node, .interrupt_reason, .interrupt_data, .step] == [true, "interrupted", "send", "interrupt_before", {}, 1]
and which node ran last :: .data.state.execution_meta.current_node == "draft"
TABLE
resumed '"ignored"' t
facts <<'TABLE'
an answer goes on at the node, whatever it is :: said == ["sent one"]
the run ends :: .data.state.execution_meta | [.status, .current_node, .step, .is_interrupted, has("interrupt")] == ["completed", "END", 1, false, false]
TABLE
invoked two t
facts <<'TABLE'
the next turn pauses again :: said == ["two", "draft of two"] and .data.meta.interrupt.reason == "interrupt_before"
TABLE
invoked three t
facts <<'TABLE'
messages go on at the pause and are seen :: said == ["three", "sent three"]
TABLE
api GET /v1/threads/t/messages
facts <<'TABLE'
all are stored in order :: .data.messages | texts == ["one", "draft of one", "sent one", "two", "draft of two", "three", "sent three"]
TABLE
invoked four u
api POST /v1/graph/invoke "$(run_body "[$(user five)]" "\"resume\":null,$(thread u)")"
facts <<'TABLE'
so do messages with an answer :: said == ["five", "sent five"]
TABLE

stream six "$(thread v),\"response_granularity\":\"full\""
chunks <<'TABLE'
the stream ends with the pause :: events[-5:] == ["assistant", "state", "node_invoked", "interrupted", "done"]
its data is exact :: .[-2].data | del(.interrupt) == {"status": "interrupted", "node": "send", "step": 1, "max_steps": 25, "reason": "Graph execution interrupted before node execution"}
TABLE
api POST /v1/graph/stream "{\"resume\":1,$(thread v),\"response_granularity\":\"partial\"}"
chunks <<'TABLE'
the streamed rest begins with the node :: [.[0].data.status, .[0].data.node] == ["invoking_node", "send"]
and ends well :: events[-3:] == ["assistant", "node_invoked", "done"]
TABLE
serve_stop

serves around
api GET /v1/graph
facts <<'TABLE'
a node can be in both lists :: .data.info | [.interrupt_before, .interrupt_after] == [["only"], ["only"]]
TABLE
invoked start t
facts <<'TABLE'
a pause before the first node comes before anything :: said == ["start"] and .data.state.count == 0
no step was made :: .data.state.execution_meta | [.step, .current_node, .interrupted_node] == [0, "START", "only"]
TABLE
first=$(json .data.meta.interrupt.id "$BODY")
resumed true t
facts <<'TABLE'
then the node runs, and the pause after it comes :: [said, .data.state.count] == [["said start"], 1]
it is another kind of pause :: .data.meta.interrupt | [.node, .reason, .value, .data] == ["only", "interrupt_after", null, {}]
TABLE
[ "$first" != "$(json .data.meta.interrupt.id "$BODY")" ]
ok $? 'with an id of its own'
resumed null t
facts <<'TABLE'
after the last node nothing is left to do :: [.data.messages, .data.meta.interrupt, .data.state.count] == [[], null, 1]
but the end :: .data.state.execution_meta | [.status, .current_node, .step] == ["completed", "END", 0]
TABLE
resume 1 t
is "$STATUS" 422 'and nothing to resume'
stream go "$(thread s)"
chunks <<'TABLE'
before the first node the stream has the pause alone :: events == ["interrupted", "done"]
in step 0 :: .[0].data | [.step, .reason] == [0, "Graph execution interrupted before node execution"]
TABLE
stream 'go on' "$(thread s)"
chunks <<'TABLE'
the other reason is told, too :: .[-2].data | [.step, .reason] == [1, "Graph execution interrupted after node execution"]
the new message was seen :: finals | texts == ["said go on"]
TABLE
stream 'the end' "$(thread s)"
chunks <<'TABLE'
messages after the last node are stored and end the run :: events == ["done"]
TABLE
api GET /v1/threads/s/messages
facts <<'TABLE'
nothing is lost :: .data.messages | texts == ["go", "go on", "said go on", "the end"]
TABLE
serve_stop

serves asking
stream go "$(thread s)"
chunks <<'TABLE'
a node that uses these words has paused by interrupt() all the same :: .[-2].data | [.status, .reason] == ["interrupted", "Graph execution paused by interrupt()"]
TABLE
stream again "$(thread s)"
chunks <<'TABLE'
and is not run for a message :: [events, (.[0].data.reason)] == [["interrupted", "done"], "Graph execution paused by interrupt()"]
TABLE
serve_stop

serves endless
invoked on t
resumed 1 t
resumed 1 t
facts <<'TABLE'
a loop can pause in each round :: [said, .data.meta.interrupt.reason, .data.state.execution_meta.step] == [["on"], "interrupt_after", 1]
TABLE
api GET /v1/threads/t/messages
is "$(json '.data.messages | length' "$BODY")" 4 'without limit by the number of rounds'

done_testing
