#!/bin/sh
# SPDX-License-Identifier: ISC
# The agent among agents: its card, messages of both versions, tasks that are read, listed and cancelled, pauses and their
# answers.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/a2a.sh"

# ---- off

printf '{"agent":"builtin:demo"}\n' >agentgraph.json
ask GetTask '{"id":"x.y"}'
is "$STATUS" 404 'without enabled there is no route'
api GET /.well-known/agent-card.json
is "$STATUS" 404 'nor a card'
serve_stop

# ---- the card

a2a_configure '"name":"Sums","description":"Adds","version":"7","provider":{"organization":"We","url":"https://we.example"},
	"skills":[{"id":"add","name":"Adding","description":"Adds two numbers"},
	{"id":"echo","name":"Echo","description":"Repeats","tags":["words"],"examples":["hello"],"inputModes":["text/plain"],"outputModes":["text/plain"]}]'
like "$("$AGENTGRAPH" routes)" '^POST +/v1/a2a +graph:invoke$' 'when enabled there is'
api GET /.well-known/agent-card.json '' 'A2A-Version: 1.0' 'Host: agents.example' 'X-Forwarded-Proto: https'
like "$(header Vary)" A2A-Version 'what the card is depends on the version'
facts <<'TABLE'
it says who this is :: [.name, .description, .version, .provider] == ["Sums", "Adds", "7", {"organization": "We", "url": "https://we.example"}]
where both versions are spoken :: .supportedInterfaces | map([.url, .protocolBinding, .protocolVersion]) == [["https://agents.example/v1/a2a", "JSONRPC", "1.0"], ["https://agents.example/v1/a2a", "JSONRPC", "0.3"]]
what it can :: .capabilities.streaming == true
without authentication none is asked for :: has("securitySchemes") | not
skills have all that clients want :: .skills == [{"id": "add", "name": "Adding", "description": "Adds two numbers", "tags": []}, {"id": "echo", "name": "Echo", "description": "Repeats", "tags": ["words"], "examples": ["hello"], "inputModes": ["text/plain"], "outputModes": ["text/plain"]}]
what is taken and given :: .defaultInputModes[0] == "text/plain" and .defaultOutputModes == ["text/plain"]
nothing of the old version :: has("url") or has("protocolVersion") or has("preferredTransport") | not
TABLE
api GET /.well-known/agent-card.json
facts <<'TABLE'
without a version it is that of 0.3 :: [.url, .preferredTransport, .protocolVersion] == ["http://localhost/v1/a2a", "JSONRPC", "0.3.0"]
beside the interfaces of the new one :: .supportedInterfaces | length == 2
with its own list :: .additionalInterfaces[0].transport == "JSONRPC"
TABLE
card=$BODY
api GET /.well-known/agent.json
is "$BODY" "$card" 'older clients find it where they look for it'
api GET /.well-known/agent-card.json '' 'A2A-Version: 7.0'
is "$STATUS $(json '.supportedInterfaces | length' "$BODY")" '200 2' 'who speaks another version learns which there are'
serve_stop
printf '{"agent":"builtin:demo","a2a":{"skills":[{"id":"x"},7,{"id":"y","name":"y","description":"y","tags":[7]}],"icon_url":"no","provider":{}}}\n' >agentgraph.json
checked=$("$AGENTGRAPH" check 2>&1)
for mistake in 'a2a.skills\[0\].name' 'a2a.skills\[0\].description' 'a2a.skills\[1\]: expected an object' 'a2a.skills\[2\].tags\[0\]: expected' a2a.icon_url a2a.provider.organization; do
	like "$checked" "$mistake" "a mistake in the card is told: $mistake"
done
a2a_configure
api GET /.well-known/agent-card.json '' 'A2A-Version: 1.0'
is "$(json '"\(.name) \(.skills[0].id)"' "$BODY")" 'demo demo' 'by default it goes by the name of the graph'

# ---- a message

send 'hello world' '"contextId":"c1"'
facts <<'TABLE'
a message is answered by its task :: keys == ["id", "jsonrpc", "result"] and (.result | keys) == ["task"]
which is over :: .result.task.status.state == "TASK_STATE_COMPLETED"
in the context that it names :: .result.task.contextId == "c1"
what the agent said is an artifact :: .result.task.artifacts | map(.parts) == [[{"text": "echo: hello world"}]]
what was said to it is the history :: .result.task.history | map([.role, .parts, .contextId]) == [["ROLE_USER", [{"text": "hello world"}], "c1"]]
when that was :: .result.task.status.timestamp | test("^20..-..-..T.*Z$")
TABLE
task=$(json .result.task.id "$BODY")
api GET "/v1/threads/c1/runs/$task"
is "$STATUS $(json .data.status "$BODY")" '200 completed' 'the context is a thread, and the task its run'
ask GetTask "{\"id\":\"$task\"}"
is "$(json '.result | "\(.id) \(.status.state) \(.artifacts[0].parts[0].text)"' "$BODY")" \
	"$task TASK_STATE_COMPLETED echo: hello world" 'a task is read'
ask GetTask "{\"id\":\"$task\",\"historyLength\":0}"
is "$(json '.result | has("history")' "$BODY")" false 'without its history'
send 'hello' "\"taskId\":\"$task\""
a2a_fault -32004 UNSUPPORTED_OPERATION 'is over' 'a task that is over takes no message'
send '/context' '"contextId":"c1"'
is "$(json '.result.task.artifacts[0].parts[0].text' "$BODY")" 'context: 3' 'the context goes on with another task'
second=$(json .result.task.id "$BODY")
send hello
context=$(json .result.task.contextId "$BODY")
is "$(printf '%s' "$context" | wc -c)" 36 'without a context a new one is made'
is "${task%.*} $(json '.result.task.id | split(".")[0]' "$BODY")" "c1 $context" 'a task says where it is'

for where in '' ',"configuration":{"returnImmediately":true}'; do
	ask SendMessage "{$(message hello '"contextId":"new"')$where}"
	is "$(json '.result.task | [(.contextId | length), (.id | length)] | map(tostring) | join(" ")' "$BODY")" '36 73' 'as with a context "new"'
done

send_old 'hello old' '"contextId":"c2"'
facts <<'TABLE'
by 0.3 a message is answered by the task itself :: .result | [.kind, .contextId, .status.state] == ["task", "c2", "completed"]
with parts that say of which kind they are :: .result.artifacts[0].parts == [{"kind": "text", "text": "echo: hello old"}]
and messages :: .result.history | map([.kind, .role]) == [["message", "user"]]
TABLE
ask_old tasks/get "{\"id\":\"$task\"}"
is "$(state)" completed 'and reads tasks of the other'
ask_as 0.3 tasks/get "{\"id\":\"$task\"}"
is "$(state)" completed 'which is the same when it is named'
ask message/send '{}'
a2a_fault -32601 METHOD_NOT_FOUND message/send 'names of 0.3 are none of 1.0'

# ---- parts

ask SendMessage '{"message":{"messageId":"p1","role":"ROLE_USER","parts":[{"text":"/blocks"},{"raw":"aGVsbG8=","mediaType":"text/plain","filename":"a.txt"},{"url":"https://h.example/a.png","mediaType":"image/png"},{"data":{"a":[1]}}],"contextId":"c3","metadata":{"who":"me"}}}'
is "$(state)" TASK_STATE_COMPLETED 'all kinds of parts are taken'
api GET /v1/threads/c3/messages
facts <<'TABLE'
files and links are media, data its JSON :: .data.messages[0].content | map(.type) == ["text", "document", "image", "text"]
with names and types :: .data.messages[0].content | [.[1].media.filename, .[1].mime_type, .[2].url, .[3].text] == ["a.txt", "text/plain", "https://h.example/a.png", "{\"a\":[1]}"]
and what the message says of itself :: .data.messages[0].metadata.who == "me"
TABLE
ask GetTask "{\"id\":\"$(json .result.task.id "$BODY")\"}"
ask_old message/send '{"message":{"messageId":"p2","role":"user","parts":[{"kind":"text","text":"x"},{"kind":"file","file":{"bytes":"aGVsbG8=","mimeType":"text/plain","name":"a.txt"}},{"kind":"data","data":{"a":1}}],"contextId":"c4"}}'
facts <<'TABLE'
the history shows them as they came :: .result.history[0].parts | map(.kind) == ["text", "file", "text"]
TABLE

# ---- pauses

send '/ask your name?' '"contextId":"p"'
facts <<'TABLE'
a pause asks for input :: .result.task.status.state == "TASK_STATE_INPUT_REQUIRED"
and says what :: .result.task.status.message | [.role, .parts[0].text] == ["ROLE_AGENT", "your name?"]
TABLE
task=$(json .result.task.id "$BODY")
send Ada "\"taskId\":\"$task\""
is "$(json .result.task.id "$BODY") $(state)" "$task TASK_STATE_COMPLETED" 'the answer goes on with the task'
facts <<'TABLE'
which has all that was said :: .result.task.history | map(.parts[0].text) == ["/ask your name?", "Ada"]
and what came of it :: .result.task.artifacts | map(.parts[0].text) == ["answer: Ada"]
TABLE
api GET '/v1/threads/p/runs'
is "$(json ".data.runs | map(.status + \" \" + (.run_id | startswith(\"$task\") | tostring)) | join(\" \")" "$BODY")" \
	'completed true interrupted true' 'it is two runs'
ask SendMessage '{"message":{"messageId":"a1","role":"ROLE_USER","parts":[{"text":"/ask which?"}],"contextId":"p"}}'
task=$(json .result.task.id "$BODY")
ask SendMessage '{"message":{"messageId":"a2","role":"ROLE_USER","parts":[{"data":{"n":1}}],"contextId":"p"}}'
is "$(json '"\(.result.task.id) \(.result.task.artifacts[0].parts[0].text)"' "$BODY")" "$task answer: {\"n\":1}" \
	'a context that waits takes the next message for the answer, data as data'
ask SendMessage '{"message":{"messageId":"a2","role":"ROLE_USER","parts":[{"text":"again"}],"contextId":"p"}}'
a2a_fault -32602 INVALID_PARAMS 'has a message' 'a message that is sent twice is said once'
send_old '/ask old?' '"contextId":"p"'
is "$(state) $(json .result.status.message.parts[0].text "$BODY")" 'input-required old?' 'by 0.3 as well'
task=$(json .result.id "$BODY")
resume '"by hand"' p
ask_old tasks/get "{\"id\":\"$task\"}"
is "$(state) $(json '.result.artifacts[0].parts[0].text' "$BODY")" 'completed answer: by hand' 'who answers by another protocol answers the task'
invoke '/ask by another?' "$(thread foreign)"
ask SendMessage '{"message":{"messageId":"f1","role":"ROLE_USER","parts":[{"data":"x"}],"contextId":"foreign"}}'
is "$(json '.result.task.artifacts[0].parts[0].text' "$BODY")" 'answer: x' 'data is data also where another protocol has asked'
send '/ask again?' "\"contextId\":\"elsewhere\",\"taskId\":\"$task\""
a2a_fault -32602 INVALID_PARAMS 'contextId' 'the context of a task is its own'

# ---- the end of a task

send '/error broken' '"contextId":"e"'
is "$(state) $(json '.result.task.status.message.parts[0].text' "$BODY")" 'TASK_STATE_FAILED Graph execution failed: broken' 'a run that fails is a task that failed'
failed=$(json .result.task.id "$BODY")
ask CancelTask "{\"id\":\"$failed\"}"
a2a_fault -32002 TASK_NOT_CANCELABLE 'is over' 'what is over cannot be cancelled'
send '/ask this?' '"contextId":"e"'
task=$(json .result.task.id "$BODY")
ask CancelTask "{\"id\":\"$task\"}"
is "$(json .result.id "$BODY") $(state)" "$task TASK_STATE_CANCELED" 'what waits for an answer can'
send hello '"contextId":"e"'
is "$(state) $(json '.result.task.artifacts[0].parts[0].text' "$BODY")" 'TASK_STATE_COMPLETED echo: hello' 'and its context goes on'
ask GetTask "{\"id\":\"$task\"}"
is "$(state)" TASK_STATE_CANCELED 'without it'
in_background slow send '/slow 20 300' '"contextId":"s"'
wait_for 20 is_running s
api GET /v1/threads/s/runs
running=$(json '.data.runs[0].run_id' "$BODY")
ask GetTask "{\"id\":\"$running\"}"
is "$(state)" TASK_STATE_WORKING 'while it runs a task is worked on'
send hello "\"taskId\":\"$running\""
a2a_fault -32004 UNSUPPORTED_OPERATION 'worked on' 'and takes no message'
ask CancelTask "{\"id\":\"$running\"}"
is "$(state)" TASK_STATE_CANCELED 'it is cancelled'
collect slow
is "$(state)" TASK_STATE_CANCELED 'and who waited is told'

# ---- in the background

send hello '"contextId":"b"' '"configuration":{"returnImmediately":true}'
task=$(json .result.task.id "$BODY")
like "$(state)" 'TASK_STATE_(SUBMITTED|WORKING|COMPLETED)' 'who does not want to wait has the task at once'
is_over() {
	ask GetTask "{\"id\":\"$task\"}"
	[ "$(state)" = TASK_STATE_COMPLETED ]
}
wait_for 30 is_over
is "$(json '.result.artifacts[0].parts[0].text' "$BODY")" 'echo: hello' 'and it is done'
api GET "/v1/threads/b/runs/$task"
is "$(json .data.background "$BODY")" true 'in the background'
send_old '/ask later?' '"contextId":"b"' '"configuration":{"blocking":false}'
task=$(json .result.id "$BODY")
asks() {
	ask_old tasks/get "{\"id\":\"$task\"}"
	[ "$(state)" = input-required ]
}
wait_for 30 asks
send_old now "\"taskId\":\"$task\"" '"configuration":{"blocking":false}'
is "$(json .result.id "$BODY")" "$task" 'an answer may go there, too'
unlike "$(state)" '^(input-required)?$' 'with which nothing is asked any more, though it may wait for its turn'
wait_for 30 is_over
is "$(json '.result.artifacts[0].parts[0].text' "$BODY")" 'answer: now' 'and is one'

# ---- streams

ask SendStreamingMessage "{$(message 'one two' '"contextId":"st"')}"
like "$(header Content-Type)" text/event-stream 'a stream is server-sent events'
BODY=$EVENTS
facts <<'TABLE'
it begins with the task :: .[0].task | [.contextId, .status.state, .history[0].parts[0].text] == ["st", "TASK_STATE_WORKING", "one two"]
goes on with pieces of what is said :: [.[1:-1][].artifactUpdate.artifact.parts[0].text] | join("") == "echo: one two"
which are of one artifact :: [.[1:-1][].artifactUpdate.artifact.artifactId] | unique | length == 1
the first begins it, the last ends it :: [.[1:-1][].artifactUpdate | .append, .lastChunk] | .[0:2] == [false, false] and .[-2:] == [true, true]
and ends with its state :: .[-1].statusUpdate | [.status.state, .contextId] == ["TASK_STATE_COMPLETED", "st"]
each names context and task :: [.[] | .task // .statusUpdate // .artifactUpdate | .contextId] | unique == ["st"]
TABLE
task=$(json '.[0].task.id' "$EVENTS")
ask GetTask "{\"id\":\"$task\"}"
is "$(state) $(json '.result.artifacts[0].parts[0].text' "$BODY")" 'TASK_STATE_COMPLETED echo: one two' 'the task is there afterwards'
ask_old message/stream "{$(message_old '/ask more?' '"contextId":"st"')}"
BODY=$EVENTS
facts <<'TABLE'
by 0.3 events say of which kind they are :: map(.kind) == ["task", "status-update"]
a pause ends the stream :: .[-1] | [.status.state, .final, .status.message.parts[0].text] == ["input-required", true, "more?"]
TABLE
task=$(json '.[0].id' "$EVENTS")
ask_old message/stream "{$(message_old 'enough' "\"taskId\":\"$task\"")}"
is "$(json '.[0].id' "$EVENTS") $(json '[.[] | select(.kind == "artifact-update").artifact.parts[0].text] | join("")' "$EVENTS")" \
	"$task answer: enough" 'its answer streams the same task'
ask SendStreamingMessage "{$(message '/error no' '"contextId":"st"')}"
is "$(json '.[-1].statusUpdate.status | "\(.state) \(.message.parts[0].text)"' "$EVENTS")" 'TASK_STATE_FAILED Graph execution failed: no' 'a run that fails ends so'
ask SendStreamingMessage '{"message":{}}'
a2a_fault -32602 INVALID_PARAMS messageId 'a stream that is refused is an answer'
like "$(header Content-Type)" '^application/json' 'of JSON'
ask_old message/stream '{"message":{}}'
a2a_fault -32602 INVALID_PARAMS messageId 'in 0.3, too'
like "$(header Content-Type)" '^text/event-stream' 'but as an event'

# ---- lists

ask ListTasks '{"contextId":"st"}'
facts <<'TABLE'
tasks are listed, the latest first :: .result.tasks | map(.status.state) == ["TASK_STATE_FAILED", "TASK_STATE_COMPLETED", "TASK_STATE_COMPLETED"]
without artifacts and history :: [.result.tasks[] | has("artifacts") or has("history")] | any | not
how many there are :: .result | [.totalSize, .pageSize, .nextPageToken] == [3, 50, ""]
TABLE
ask ListTasks '{"contextId":"st","status":"TASK_STATE_COMPLETED","pageSize":1,"includeArtifacts":true,"historyLength":1}'
facts <<'TABLE'
by state, in pages :: .result | [.totalSize, (.tasks | length), (.nextPageToken | length > 9)] == [2, 1, true]
with what is asked for :: .result.tasks[0] | [(.artifacts | length), (.history | map(.parts[0].text))] == [1, ["enough"]]
TABLE
ask ListTasks "{\"contextId\":\"st\",\"status\":\"TASK_STATE_COMPLETED\",\"pageSize\":1,\"pageToken\":\"$(json .result.nextPageToken "$BODY")\"}"
is "$(json '.result | "\(.tasks | length) \(.nextPageToken)|"' "$BODY")" '1 |' 'the next page is the last'
ask ListTasks '{"statusTimestampAfter":"2100-01-01T00:00:00+02:00"}'
is "$(json .result.totalSize "$BODY")" 0 'what changed after a time'
ask ListTasks '{"statusTimestampAfter":"2024-02-29T23:59:59.0000009-23:59"}'
ok "[ $(json .result.totalSize "$BODY") -gt 10 ]" 'in any zone'
ask ListTasks '{}'
ok "[ $(json .result.totalSize "$BODY") -gt 10 ]" 'all that the caller has'
ask_old tasks/list '{"contextId":"st","status":"failed","historyLength":1}'
is "$(json '.result.tasks | map("\(.kind) \(.status.state) \(.history[0].kind)") | join(" ")' "$BODY")" 'task failed message' 'by 0.3 in its words'

# Behind 2,100 runs of somebody who calls otherwise, and in more threads than are looked at together.
send rare '"contextId":"rare"'
rare=$(json .result.task.id "$BODY")
invoke busy "$(thread busy)"
outside "$STATE/threads.db" "WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 2100)
	INSERT INTO runs (thread, number, run_id, status, created_at, finished_at, node, step, prompt_tokens, completion_tokens,
		reasoning_tokens, total_tokens, messages_after, messages_until, brought)
	SELECT r.thread, r.number + value, 'other' || value, r.status, r.created_at + value, r.finished_at + value, r.node, r.step,
		0, 0, 0, 0, 0, 0, 0
	FROM runs AS r JOIN threads AS t ON t.row = r.thread CROSS JOIN n WHERE t.thread_id = 'busy'"
ask ListTasks '{"pageSize":100}'
ok "printf '%s' '$(json '.result.tasks | map(.id) | join(" ")' "$BODY")' | grep -q '$rare'" 'a task is listed however many runs came since'
many=0
while [ $many -lt 150 ]; do
	many=$((many + 1))
	send "number $many" "\"contextId\":\"many$((many % 140))\""
done
listed= token= pages=0
while [ $pages -lt 9 ]; do
	pages=$((pages + 1))
	ask ListTasks "{\"pageSize\":40${token:+,\"pageToken\":\"$token\"}}"
	listed="$listed $(json '.result.tasks | map("\(.status.timestamp),\(.id)") | join(" ")' "$BODY")"
	token=$(json .result.nextPageToken "$BODY")
	[ -n "$token" ] || break
done
total=$(json .result.totalSize "$BODY")
is "$(printf '%s\n' $listed | sort -u | grep -c .)" "$total" 'pages have every task'
is "$(printf '%s\n' $listed | grep -c .)" "$total" 'once'
is "$(printf '%s\n' $listed | cut -d , -f 1 | sort -r | cksum)" "$(printf '%s\n' $listed | cut -d , -f 1 | cksum)" 'the latest first'
ok "printf '%s' '$listed' | grep -q '$rare'" 'with the rare one'
is "$(printf '%s\n' $listed | grep -c ',many')" 150 'and those of every context'
send '/ask still?' '"contextId":"asks"'
ask ListTasks '{"status":"TASK_STATE_INPUT_REQUIRED"}'
is "$(json '.result | "\(.totalSize) \(.tasks | map(.contextId) | join(" "))"' "$BODY")" '1 asks' 'those that ask'
for wrong in '"pageSize":0' '"pageSize":101' '"pageToken":"x"' '"status":"working"' '"historyLength":-1' \
	'"statusTimestampAfter":"yesterday"' '"statusTimestampAfter":"2026-02-30T00:00:00Z"' \
	'"statusTimestampAfter":"2026-01- 1T 0:00:00Z"' '"statusTimestampAfter":"2026-01-01T00:00:00.Z"' \
	'"statusTimestampAfter":"2026-01-01T00:00:00+25:00"' '"statusTimestampAfter":"2026-01-01T00:00:00+1:-5"'; do
	ask ListTasks "{$wrong}"
	a2a_fault -32602 INVALID_PARAMS "$(printf '%s' "$wrong" | cut -d '"' -f 2)" "$wrong is a mistake"
done
ask GetExtendedAgentCard '{}'
a2a_fault -32007 EXTENDED_AGENT_CARD_NOT_CONFIGURED 'no other card' 'there is no other card'
ask_old agent/getAuthenticatedExtendedCard '{}'
a2a_fault -32007 EXTENDED_AGENT_CARD_NOT_CONFIGURED 'no other card' 'nor in 0.3'
api GET /.well-known/agent-card.json
is "$(json .supportsAuthenticatedExtendedCard "$BODY")" false 'which its card says'
api GET /.well-known/agent-card.json '' 'A2A-Version: 1.0'
is "$(json .capabilities.extendedAgentCard "$BODY")" false 'as that of 1.0 does'

# ---- in the background, behind another one

immediately='"configuration":{"returnImmediately":true}'
# taken: the context q has a run that goes on for some seconds, for whose end others wait; let_go ends it.
taken() {
	send '/slow 50 200' '"contextId":"q"' "$immediately"
	slow=$(json .result.task.id "$BODY")
	wait_for 20 is_running q
}
let_go() {
	ask CancelTask "{\"id\":\"$slow\"}"
	is "$(state)" TASK_STATE_CANCELED "$1"
}

taken
send '/ask which?' '"contextId":"q"' "$immediately"
asking=$(json .result.task.id "$BODY")
twice=$(message this '"contextId":"q"')
ask SendMessage "{$twice,$immediately}"
task=$(json .result.task.id "$BODY")
is "$(state)" TASK_STATE_SUBMITTED 'a message behind a run waits for its turn'
ask SendMessage "{$twice,$immediately}"
is "$(state) $(json .result.task.id "$BODY")" "TASK_STATE_SUBMITTED $task" 'sent again it is the same task'
let_go 'the run before them is cancelled'
wait_for 30 is_over
is "$(json '.result.artifacts[0].parts[0].text' "$BODY")" 'answer: this' 'it answers what was asked before its turn came'
ask SendMessage "{$twice,$immediately}"
a2a_fault -32602 INVALID_PARAMS 'already' 'and is not heard again'
ask GetTask "{\"id\":\"$asking\"}"
is "$(state)" TASK_STATE_CANCELED 'the task that asked is over, as the answer has one of its own'


# The runner has one place, which a run of another context takes.
serve_stop
a2a_configure '' '"runs":{"background":1}'
send '/ask again?' '"contextId":"w"'
asking=$(json .result.task.id "$BODY")
taken
send 'no hurry' '"contextId":"w"' "$immediately"
is "$(state) $(json .result.task.id "$BODY")" "TASK_STATE_SUBMITTED $asking" 'an answer waits for a place'
ask CancelTask "{\"id\":\"$asking\"}"
is "$(state)" TASK_STATE_CANCELED 'its task can be cancelled meanwhile'
let_go 'the run that has the place, too'
send other '"contextId":"w"'
is "$(state) $(json '.result.task.artifacts[0].parts[0].text' "$BODY")" 'TASK_STATE_COMPLETED echo: other' 'nothing is asked in its context any more'
ok "[ '$(json .result.task.id "$BODY")' != '$asking' ]" 'and the next message begins a task'

done_testing
