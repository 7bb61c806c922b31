#!/bin/sh
# SPDX-License-Identifier: ISC
# Interrupts and resumes of AG-UI: paused or not, with resume or without.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/ag-ui.sh"
ag_ui_configure

open() { json '.[-1].outcome.interrupts[0].id' "$BODY"; }
# resumed ID STATUS [MEMBERS]: an entry.
resumed() { printf '{"interruptId":"%s","status":"%s"%s}' "$1" "$2" "${3:+,$3}"; }
# ended: type, code and message of the last event.
ended() { json '.[-1] | "\(.type) \(.code) \(.message)"' "$BODY"; }
nothing='RUN_ERROR INVALID_INPUT Nothing to resume: this thread is not paused at an interrupt'

# ---- not paused

run fresh ''
is "$EVENTS" 'run finished' 'not paused, without resume: an ordinary run'
run fresh '' "\"resume\":[$(resumed int_x resolved)]"
is "$EVENTS" 'run error' 'not paused, with resume: an error'
is "$(ended)" "$nothing" 'that says so'
run fresh "$(says m hello)" "\"resume\":[$(resumed int_x resolved)]"
is "$(ended)" "$nothing" 'messages do not change that'
api GET /v1/threads/fresh
is "$STATUS" 404 'and no thread is made'

# ---- paused

run t "$(says m1 '/ask Which one?')"
is "$EVENTS" 'run step step. finished' 'an interrupt ends the run'
id=$(open)
run t ''
is "$EVENTS" 'run messages finished' 'paused, without resume: told again, behind what was said'
is "$(open)" "$id" 'as the same interrupt'
facts <<'TABLE'
the messages are those of the thread :: .[1].messages == [{"id": "m1", "role": "user", "content": "/ask Which one?"}]
TABLE
run t "$(says m2 'not an answer')" '"resume":[]'
is "$EVENTS $(open)" "run finished $id" 'new messages do not change that'
is "$(messages t)" 'user: /ask Which one?' 'nor are they stored'
invoke 'a message by REST' "$(thread t)"
is "$(json .data.meta.interrupt.id "$BODY")" "$id" 'REST tells the same interrupt'
run t '' "\"resume\":[$(resumed int_0 resolved)]"
is "$EVENTS" 'run error' 'paused, with a resume for another interrupt: an error'
is "$(ended)" "RUN_ERROR INVALID_INPUT resume does not answer the open interrupt '$id'" 'that names the open one'
run t '' "\"resume\":[$(resumed "$id" resolved '"payload":"x"'),$(resumed int_0 resolved)]"
is "$(ended)" "RUN_ERROR INVALID_INPUT resume does not answer the open interrupt '$id'" 'also beside one that fits'
run t '' "\"resume\":[$(resumed "$id" resolved '"payload":"this"')]"
is "$EVENTS" 'run step text piece piece text. step. finished' 'paused, with its resume: the run goes on'
is "$(spoken)" 'answer: this' 'with the payload'
run t '' "\"resume\":[$(resumed "$id" resolved '"payload":"this"')]"
is "$(ended)" "$nothing" 'a second time it is refused'

# answers ENTRIES SPOKEN WHAT
answers() {
	runs=$((runs + 1))
	run "a$runs" "$(says m1 '/ask ?')"
	thread=a$((runs - 1))
	thread=$(json '.[0].threadId' "$BODY")
	id=$(open)
	run "$thread" '' "\"resume\":[$(printf '%s' "$1" | sed "s/ID/$id/g")]"
	is "$(spoken)" "$2" "$3"
}
answers "$(resumed ID resolved '"payload":{"a":[1,null]}')" 'answer: {"a":[1,null]}' 'a payload is any JSON'
answers "$(resumed ID resolved '"payload":false')" 'answer: false' 'false is an answer'
answers "$(resumed ID resolved)" cancelled 'without a payload the node gets null'
answers "$(resumed ID resolved '"payload":null')" cancelled 'null is null'
answers "$(resumed ID cancelled '"payload":"ignored"')" cancelled 'cancelled is null, whatever the payload'
answers "$(resumed ID resolved '"payload":1'),$(resumed ID resolved '"payload":2')" 'answer: 2' 'of two entries the last counts'
answers "$(resumed ID resolved '"payload":1'),$(resumed ID cancelled)" cancelled 'also when it cancels'

run with "$(says m1 '/ask ?')"
run with "$(says m2 'and this')" "\"resume\":[$(resumed "$(open)" resolved '"payload":"yes"')]"
is "$(spoken)" 'answer: yes' 'resume and messages: the node goes on'
is "$(messages with | tr '\n' '|')" 'user: /ask ?|user: and this|assistant: answer: yes|' 'and the messages are there'
run with "$(says m3 '/ask again')"
id=$(open)
run with "$(tool_says m4 nobody x)" "\"resume\":[$(resumed "$id" resolved)]"
is "$(ended)" "RUN_ERROR GRAPH_ERROR No remote tool call 'nobody' is waiting for a result" 'a tool result that nobody waits for is refused there too'
api POST /v1/graph/invoke "{\"resume\":\"by REST\",$(thread with)}"
is "$(json '.data.messages[-1].content[0].text' "$BODY")" 'answer: by REST' 'REST can answer'
run with "$(says m5 '/ask third')"
id=$(open)
api DELETE /v1/threads/with/state
run with '' "\"resume\":[$(resumed "$id" resolved)]"
is "$(ended)" "$nothing" 'after the state was deleted nothing is paused'
run gone "$(says m1 '/ask ?')"
id=$(open)
api DELETE /v1/threads/gone '{}'
run gone '' "\"resume\":[$(resumed "$id" resolved)]"
is "$(ended)" "$nothing" 'nor after the thread was'

# ---- a pause survives a restart

run kept "$(says m1 '/ask ?')"
id=$(open) state=$STATE
serve_stop
STATE=$state
run kept '' "\"resume\":[$(resumed "$id" resolved '"payload":"later"')]"
is "$(spoken)" 'answer: later' 'a pause survives a restart'
serve_stop

# ---- paused before and after nodes

cat >graph.json <<'JSON'
{"around": {
  "nodes": {"one": {"kind": "reply", "text": "one"}, "two": {"kind": "reply", "text": "two"}},
  "edges": [{"from": "START", "to": "one"}, {"from": "one", "to": "two"}, {"from": "two", "to": "END"}],
  "interrupt_after": ["one"],
  "interrupt_before": ["two"]}}
JSON
printf '{"agent":"graph.json:around","ag_ui":{"enabled":true}}\n' >agentgraph.json
run around "$(says m1 hi)"
is "$EVENTS" 'run step text piece text. step. finished' 'a pause after a node comes when its step is over'
facts <<'TABLE'
its reason and node :: .[-1].outcome.interrupts[0] | [.reason, .metadata.node] == ["interrupt_after", "one"]
a value that is null is left out :: .[-1].outcome.interrupts[0].metadata | keys == ["node"]
TABLE
id=$(open)
run around "$(says m2 'new')"
is "$EVENTS $(open)" "run finished $id" 'a message alone does not go on'
run around '' "\"resume\":[$(resumed "$id" resolved)]"
is "$EVENTS" 'run finished' 'resumed, it pauses before the next node'
facts <<'TABLE'
with its own reason :: .[-1].outcome.interrupts[0] | [.reason, .metadata.node] == ["interrupt_before", "two"]
TABLE
run around '' "\"resume\":[$(resumed "$(open)" cancelled)]"
is "$EVENTS|$(spoken)" 'run step text piece text. step. finished|two' 'and goes on, also when cancelled'

done_testing
