#!/bin/sh
# SPDX-License-Identifier: ISC
# AG-UI on builtin:demo: the events of every command, the headers, and what exists only if it is enabled.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/ag-ui.sh"

# ---- off

body='{"threadId":"t","runId":"r","messages":[]}'
for members in '' ',"ag_ui":{"enabled":false}' ',"ag_ui":{}' ',"ag_ui":{"allow_client_tools":true}'; do
	printf '{"agent":"builtin:demo"%s}\n' "$members" >agentgraph.json
	api POST /v1/ag-ui "$body"
	is "$STATUS $(json '"\(.error_code) \(.detail)"' "$BODY")" '404 NOT_FOUND Not Found' "without enabled there is no route ($members)"
	serve_stop
done
printf '{"agent":"builtin:demo","auth":"jwt"}\n' >agentgraph.json
export JWT_SECRET_KEY=0123456789abcdef0123456789abcdef JWT_ALGORITHM=HS256
for token in '' 'Authorization: Bearer x'; do
	api POST /v1/ag-ui "$body" ${token:+"$token"}
	is "$STATUS" 404 "nor is anybody asked who he is (${token:-none})"
done
api POST /v1/ag-ui '{'
is "$STATUS" 404 'nor is the body looked at'
api GET /v1/ag-ui
is "$STATUS" 404 'and no other method is known'
"$AGENTGRAPH" routes >routes
ok "grep -q '^GET  */ping ' routes && ! grep -q ag-ui routes" 'the route table does not show it'
serve_stop
ag_ui_configure
like "$("$AGENTGRAPH" routes)" '^POST +/v1/ag-ui +graph:stream$' 'when enabled it does'
like "$(cd / && "$AGENTGRAPH" routes --config "$WORK/agentgraph.json")" 'ag-ui' 'for the configuration that is named'

# ---- an answer

run t "$(says m1 'hello world')"
is "$STATUS" 200 'a run is answered'
is "$(header Content-Type)" 'text/event-stream; charset=utf-8' 'as an event stream'
is "$(header Cache-Control)" 'no-cache, no-transform' 'that is not cached'
is "$(header X-Accel-Buffering)" no 'nor buffered'
is "$(header Content-Encoding)" identity 'nor compressed'
is "$(tr -d '\r' <"$RAW" | sed '1,/^$/d' | sed -n 'n;/./p' | wc -l)" 0 'each event is followed by an empty line'
is "$(tr -d '\r' <"$RAW" | sed '1,/^$/d' | grep -vc '^data: {.*}$\|^$')" 0 'and there is nothing else'
is "$(tail -c 2 "$RAW" | od -An -tx1)" ' 0a 0a' 'also at the end'
is "$EVENTS" 'run step text piece piece piece text. step. finished' 'words are sent as they come'
facts <<'TABLE'
the run is named as the client named it :: .[0] == {"type": "RUN_STARTED", "threadId": "t", "runId": "r1"}
at the end as well :: .[-1] == {"type": "RUN_FINISHED", "threadId": "t", "runId": "r1"}
a step is a node :: of("STEP_STARTED") == [{"type": "STEP_STARTED", "stepName": "agent"}]
and it ends :: of("STEP_FINISHED") == [{"type": "STEP_FINISHED", "stepName": "agent"}]
a message starts with its role :: .[2] | [keys, .role] == [["messageId", "role", "type"], "assistant"]
pieces say which message :: of("TEXT_MESSAGE_CONTENT") | map(keys) | unique == [["delta", "messageId", "type"]]
all belong to one :: map(.messageId | values) | unique | length == 1
the pieces are the answer :: spoken == "echo: hello world"
TABLE
id=$(json '.[2].messageId' "$BODY")
is "$(messages t | tr '\n' '|')" 'user: hello world|assistant: echo: hello world|' 'the thread has both messages'
api GET /v1/threads/t/messages
facts <<'TABLE'
the user's message keeps its id :: .data.messages[0].message_id == "m1"
TABLE
is "$(json '.data.messages[1].message_id' "$BODY")" "$id" 'and the answer has the id that was sent'
api GET /v1/threads/t
is "$(json '.data.thread_data.run_id' "$BODY")" r1 'the run id is the client'\''s'

# commands TEXT EVENTS SPOKEN
commands=0
commands() {
	commands=$((commands + 1))
	run "c$commands" "$(says m "$1")"
	is "$EVENTS" "$2" "the events of '$1'"
	is "$(spoken)" "$3" "and what it says"
}

# ---- the commands

commands '/whoami' 'run step text piece text. step. finished' anonymous
commands '/slow 2 1' 'run step text piece text. step. step text piece text. text piece text. step. finished' 'tick 1tick 2done'
facts <<'TABLE'
each message has an id of its own :: of("TEXT_MESSAGE_START") | map(.messageId) | unique | length == 3
TABLE
commands '/add 2 3' 'run step text text. call args call. step. step result step. step text piece piece text. step. finished' 'sum: 5'
facts <<'TABLE'
a call belongs to a message :: .[2].messageId == .[4].parentMessageId
its name :: .[4] | [keys, .toolCallName] == [["parentMessageId", "toolCallId", "toolCallName", "type"], "add"]
its arguments are whole JSON :: .[5] | [keys, (.delta | fromjson)] == [["delta", "toolCallId", "type"], {"a": 2, "b": 3}]
its end :: .[6] | keys == ["toolCallId", "type"]
its result :: of("TOOL_CALL_RESULT")[0] | [keys, .content, .role] == [["content", "messageId", "role", "toolCallId", "type"], "5", "tool"]
all of one call :: [.[4, 5, 6, 9].toolCallId] | unique | length == 1
a result is a message of its own :: .[9].messageId != .[2].messageId
steps are named by nodes :: of("STEP_STARTED") | map(.stepName) == ["agent", "tools", "agent"]
TABLE
commands '/fail-tool' 'run step text text. call args call. step. step result step. step text piece piece piece piece text. step. finished' 'tool failed: demo failure'
facts <<'TABLE'
a failed tool says so :: of("TOOL_CALL_RESULT")[0].content == "Error: demo failure"
TABLE
commands '/think deep thoughts' 'run step reasoning thought piece thought. reasoning. text piece piece piece text. step. finished' 'thought: deep thoughts'
facts <<'TABLE'
all five events carry the same id :: map(select(.type | startswith("REASONING")).messageId) | unique | length == 1
which is that of the message :: .[2].messageId == (of("TEXT_MESSAGE_START")[0].messageId + "-reasoning")
its role :: .[3].role == "reasoning"
what it says :: .[4].delta == "deep thoughts"
TABLE
commands '/note one' 'run step text piece text. step. state finished' noted
facts <<'TABLE'
a snapshot has the graph's own fields alone :: of("STATE_SNAPSHOT") == [{"type": "STATE_SNAPSHOT", "snapshot": {"notes": ["one"]}}]
TABLE
commands '/error it broke' 'run step step. error' ''
facts <<'TABLE'
an error says what broke :: .[-1] == {"type": "RUN_ERROR", "message": "Graph execution failed: it broke", "code": "GRAPH_ERROR"}
TABLE
run loop "$(says m /loop)"
is "$(json '"\(.[-1].message) \(.[-1].code) \(map(select(.type == "STEP_STARTED")) | length)"' "$BODY")" \
	'Graph execution exceeded recursion limit: 25 GRAPH_ERROR 25' 'a run has 25 steps'
commands '/ask Which one?' 'run step step. finished' ''
facts <<'TABLE'
a pause is an outcome :: .[-1] | keys == ["outcome", "runId", "threadId", "type"]
of one interrupt :: .[-1].outcome | [.type, (.interrupts | length), keys] == ["interrupt", 1, ["interrupts", "type"]]
without members that are null :: .[-1].outcome.interrupts[0] | keys == ["id", "metadata", "reason"]
in exact values :: .[-1].outcome.interrupts[0] | [.reason, .metadata] == ["input_required", {"value": {"question": "Which one?"}, "node": "agent"}]
with an id :: .[-1].outcome.interrupts[0].id | test("^int_[0-9a-f]{32}$")
TABLE
commands '/remote none {}' 'run step text piece piece piece piece text. step. finished' 'unknown remote tool: none'
commands '/context' 'run step text piece piece text. step. finished' 'context: 1'
commands '/files' 'run step text piece text. step. finished' none
commands '' 'run step text piece text. step. finished' 'echo: '
run quoted "$(says m 'quotes \" and \\ and \u00e9\n\u0001')"
is "$(spoken)" "$(printf 'echo: quotes " and \\ and \303\251\n\001')" 'what needs escapes is escaped'

# ---- two runs, one conversation

run talk "$(says m1 first)"
run talk "$(says m1 first),{\"id\":\"a\",\"role\":\"assistant\",\"content\":\"echo: first\"},$(says m2 /context)"
is "$(spoken)" 'context: 3' 'a conversation goes on, and only what is new is taken'
invoke 'by REST' "$(thread talk)"
is "$STATUS" 200 'REST reaches the same thread'

done_testing
