#!/bin/sh
# SPDX-License-Identifier: ISC
# A node that asks: the pause, the answers to it, and requests that do not end it.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

invoke '/ask Which one?' "$(thread t),\"response_granularity\":\"full\""
is "$STATUS" 200 'a run that pauses returns normally'
facts <<'TABLE'
with the question alone :: said == ["/ask Which one?"]
the interrupt has nine fields :: .data.meta.interrupt | keys == ["data", "id", "message", "node", "reason", "response_schema", "status", "tool_call_id", "value"]
its values are those of the node :: .data.meta.interrupt | del(.id) == {"node": "agent", "reason": "input_required", "status": "interrupted", "message": null, "value": {"question": "Which one?"}, "data": {"question": "Which one?"}, "tool_call_id": null, "response_schema": null}
it has an id of its own :: .data.meta.interrupt.id | test("^int_[0-9a-f]{32}$")
the state shows the same object :: .data.state.execution_meta.interrupt == .data.meta.interrupt
and says that the thread is paused :: .data.state.execution_meta | del(.interrupt) == {"current_node": "agent", "step": 1, "is_running": false, "is_interrupted": true, "is_stopped_requested": false, "status": "interrupted", "interrupted_node": "agent", "interrupt_reason": "input_required", "interrupt_data": {"question": "Which one?"}, "thread_id": "t", "stop_current_execution": "none", "internal_data": {}}
TABLE
id=$(json .data.meta.interrupt.id "$BODY")
run=$(json .data.meta.run_id "$BODY")

api GET /v1/threads/t/state
is "$(json .data.state.execution_meta.interrupt.id "$BODY")" "$id" 'the pause is read later, too'
api GET /v1/threads/t/messages
stored=$(json '.data.messages | tojson' "$BODY")

# ---- reported again

invoke 'hello?' "$(thread t),\"response_granularity\":\"full\",\"initial_state\":{\"notes\":[\"x\"]}"
is "$STATUS" 200 'messages alone do not end the pause'
facts <<'TABLE'
they are not echoed :: .data.messages == []
the state is shown :: .data.state.execution_meta | .is_interrupted and .status == "interrupted"
without what was sent :: [(.data.context | texts), .data.state.notes] == [["/ask Which one?"], []]
the thread is not new :: .data.meta.is_new_thread == false
it says that they were not kept :: .data.meta.note == "The messages of this request were not kept: the thread is paused and goes on with resume"
TABLE
is "$(json .data.meta.interrupt.id "$BODY")" "$id" 'it is the same interrupt'
api GET /v1/threads/t/messages
is "$(json '.data.messages | tojson' "$BODY")" "$stored" 'nothing was stored'
api GET /v1/threads/t
is "$(json .data.thread_data.run_id "$BODY")" "$run" 'the latest run is still the one that paused'

stream 'hello?' "$(thread t)"
is "$STATUS" 200 'the stream reports it as well'
chunks <<'TABLE'
in two chunks :: events == ["interrupted", "done"]
the first is an update without state at low :: .[0] | [.event, .message, .state] == ["updates", null, null]
it says that the message was not kept :: .[0].data.note | startswith("The messages of this request were not kept")
TABLE
is "$(printf '%s' "$BODY" | jq -rs '.[0].data.interrupt.id')" "$id" 'with the same interrupt'

# ---- answered

resume '"the blue one"' t '"response_granularity":"full"'
is "$STATUS" 200 'an answer is taken'
facts <<'TABLE'
the node goes on with it :: said == ["answer: the blue one"]
no interrupt is open any more :: .data.meta.interrupt == null
nor in the state :: .data.state.execution_meta | [has("interrupt"), .is_interrupted, .status, .interrupted_node, .interrupt_reason, .interrupt_data, .current_node] == [false, false, "completed", null, null, null, "END"]
the conversation has question and answer :: .data.context | texts == ["/ask Which one?", "answer: the blue one"]
TABLE

# answered VALUE TEXT: by invoke, on a new pause each time.
n=0
answered() {
	n=$((n + 1))
	invoke '/ask again' "$(thread "v$n")"
	resume "$1" "v$n"
	is "$STATUS|$(json 'last(.data.messages[]).content[0].text' "$BODY")" "200|$2" "$1 is answered '$2'"
}
answered '"yes"' 'answer: yes'
answered '""' 'answer: '
answered '"null"' 'answer: null'
answered null cancelled
answered true 'answer: true'
answered false 'answer: false'
answered 7 'answer: 7'
answered -0.5 'answer: -0.5'
answered 9007199254740993 'answer: 9007199254740993'
answered 18446744073709551615 'answer: 18446744073709551615'
answered '{"a":1,"b":[true,null]}' 'answer: {"a":1,"b":[true,null]}'
answered '{"n":9007199254740993}' 'answer: {"n":9007199254740993}'
answered '[]' 'answer: []'
answered '{}' 'answer: {}'
invoke '/ask again' "$(thread named)"
resume "{\"$(json .data.meta.interrupt.id "$BODY")\":\"yes\"}" named
is "$(json 'last(.data.messages[]).content[0].text' "$BODY")" 'answer: yes' 'an answer may be under the id of what it answers'

invoke '/ask again' "$(thread both)"
api POST /v1/graph/invoke "$(run_body "[$(user 'by the way')]" "\"resume\":\"ok\",$(thread both)")"
facts <<'TABLE'
with an answer and messages the command that paused goes on :: said == ["by the way", "answer: ok"]
TABLE
api GET /v1/threads/both/messages
facts <<'TABLE'
the messages are appended first :: .data.messages | texts == ["/ask again", "by the way", "answer: ok"]
TABLE
invoke '/ask again' "$(thread both)"
api POST /v1/graph/invoke "$(run_body '[]' "\"resume\":1,$(thread both)")"
is "$STATUS" 200 'an empty array of messages does not spoil an answer'
invoke '/ask again' "$(thread both)"
api POST /v1/graph/invoke "$(run_body null "\"resume\":1,\"thread_id\":\"both\"")"
is "$STATUS" 200 'nor does null, or the thread at the top level'

invoke '/ask one' "$(thread ids)"
first=$(json .data.meta.interrupt.id "$BODY")
resume 1 ids
invoke '/ask two' "$(thread ids)"
[ "$first" != "$(json .data.meta.interrupt.id "$BODY")" ]
ok $? 'each pause has a new id'

# ---- streamed

stream '/ask now' "$(thread s),\"response_granularity\":\"full\",\"recursion_limit\":4"
chunks <<'TABLE'
a pause ends the stream :: events == ["invoking_node", "interrupted", "done"]
its data is exact :: .[1].data | del(.interrupt) == {"status": "interrupted", "node": "agent", "step": 1, "max_steps": 4, "reason": "Graph execution paused by interrupt()"}
with the interrupt :: .[1].data.interrupt | [.value, .reason, .node] == [{"question": "now"}, "input_required", "agent"]
and the paused state :: .[1].state.execution_meta | [.is_running, .is_interrupted, .status] == [false, true, "interrupted"]
that has the same interrupt :: .[1] | .state.execution_meta.interrupt == .data.interrupt
TABLE
api POST /v1/graph/stream "{\"resume\":{\"x\":[1]},$(thread s),\"response_granularity\":\"partial\"}"
chunks <<'TABLE'
a streamed answer goes on with the node :: events == ["invoking_node", "piece", "piece", "assistant", "node_invoked", "done"]
steps are counted from 1 again :: .[0].data.step == 1
the answer is JSON :: finals | texts == ["answer: {\"x\":[1]}"]
TABLE

# ---- nothing to resume

text='Nothing to resume: this thread is not paused at an interrupt'
# refused THREAD WHY
refused() {
	resume '"x"' "$1"
	is "$STATUS|$(json '"\(.error_code)|\(.detail)"' "$BODY")" "422|INVALID_INPUT|$text" "$2 cannot be resumed"
}
refused s 'a thread whose pause was answered'
refused nowhere 'a thread that does not exist'
api GET /v1/threads/nowhere
is "$STATUS" 404 'and is not created by it'
resume null ''
is "$STATUS" 422 'null is an answer, too'
api POST /v1/graph/invoke "$(run_body "[$(user hi)]" "\"resume\":null,$(thread s)")"
is "$STATUS|$(json .detail "$BODY")" "422|$text" 'and the key alone decides, whatever messages there are'
api GET /v1/threads/s/messages
is "$(json '.data.messages | length' "$BODY")" 2 'whose messages are not stored'
api POST /v1/graph/stream "{\"resume\":1,$(thread nowhere)}"
is "$STATUS" 200 'a stream answers 200'
chunks <<'TABLE'
with an error and the terminator :: events == ["error", "done"]
the error says why :: .[0].data | [.status, .reason, .error_code] == ["error", "Nothing to resume: this thread is not paused at an interrupt", "INVALID_INPUT"]
the other parts are null :: .[0] | [.message, .state] == [null, null]
TABLE
api GET /v1/threads/nowhere
is "$STATUS" 404 'the thread is not created by that either'

# ---- other ends of a pause

invoke '/ask gone' "$(thread cleared)"
api DELETE /v1/threads/cleared/state
refused cleared 'a thread whose state was cleared'
invoke 'hello' "$(thread cleared)"
facts <<'TABLE'
it starts fresh instead :: said == ["hello", "echo: hello"]
TABLE
invoke '/ask stop' "$(thread stopped)"
api POST /v1/graph/stop '{"thread_id":"stopped"}'
facts <<'TABLE'
a paused thread does not run :: .data | [.running, .reason] == [false, "not-running"]
TABLE
resume '"still"' stopped
facts <<'TABLE'
and a stop does not take its pause :: said == ["answer: still"]
TABLE

invoke '/ask meanwhile' "$(thread meanwhile)"
api POST /v1/threads/meanwhile/messages "$(run_body "[$(user '/whoami')]")"
resume '"found"' meanwhile
facts <<'TABLE'
a message that was stored meanwhile does not become the question :: said == ["answer: found"]
TABLE

invoke '/ask late' "$(thread restarted)"
kept=$STATE
serve_stop
STATE=$kept
resume '"after all"' restarted
facts <<'TABLE'
a pause survives a restart :: said == ["answer: after all"]
TABLE

# ---- for clients that have no resume

invoke '/ask Which?' "$(thread n)"
facts <<'TABLE'
where nothing was lost there is no note :: .data.meta | has("note") | not
TABLE
api POST /v1/graph/invoke "$(run_body '[{"role":"user","message_id":"asked","content":"/ask Which?"}]' "$(thread twice)")"
api POST /v1/graph/invoke "$(run_body '[{"role":"user","message_id":"asked","content":"/ask Which?"}]' "$(thread twice)")"
facts <<'TABLE'
a request that is sent again reports the pause :: .data.meta.interrupt.value == {"question": "Which?"}
and has lost nothing :: .data.meta | has("note") | not
TABLE
resume null n
facts <<'TABLE'
nor after an answer :: .data.meta | has("note") | not
TABLE
serve_stop
printf '{"agent":"builtin:demo","runs":{"message_resumes":true}}\n' >agentgraph.json
invoke '/ask Which one?' "$(thread r)"
api POST /v1/graph/invoke "$(run_body "[$(user 'not this'),{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"the \"},{\"type\":\"text\",\"text\":\"blue one\"}]}]" "$(thread r)")"
is "$STATUS" 200 'with message_resumes a message is an answer'
facts <<'TABLE'
its last text goes to the node :: last | text == "answer: the blue one"
nothing is open any more :: .data.meta | [.interrupt, has("note")] == [null, false]
TABLE
api GET /v1/threads/r/messages
facts <<'TABLE'
the messages are kept :: .data.messages | texts == ["/ask Which one?", "not this", "the blue one", "answer: the blue one"]
TABLE
invoke 'hello' "$(thread r)"
facts <<'TABLE'
where nothing is open a message is a message :: said == ["hello", "echo: hello"]
TABLE
invoke '/ask Again?' "$(thread r)"
stream 'yes' "$(thread r)"
is "$(printf '%s' "$BODY" | jq -rs 'map(select(.message.delta == false))[-1].message.content[0].text')" 'answer: yes' 'in a stream as well'
invoke '/ask And?' "$(thread r)"
resume '{"a":1}' r
facts <<'TABLE'
resume still counts :: last | text == "answer: {\"a\":1}"
TABLE
invoke '/ask And?' "$(thread r)"
api POST /v1/graph/invoke "$(run_body '[{"role":"system","content":"x"}]' "$(thread r)")"
facts <<'TABLE'
only what a user says is an answer :: .data.meta | [.interrupt.value.question, has("note")] == ["And?", true]
TABLE

done_testing
