#!/bin/sh
# SPDX-License-Identifier: ISC
# Browser tools: offered, called, answered in a follow-up run; beside server tools and remote_tools.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/ag-ui.sh"
ag_ui_configure '"remote_tools":[{"node":"tools","name":"declared","description":"By configuration"}]'

pick="\"tools\":[$(tool pick '"parameters":{"type":"object","properties":{"n":{"type":"number"}}}')]"
# called: the id of the first call of the latest run.
called() { json 'map(select(.type == "TOOL_CALL_START"))[0].toolCallId' "$BODY"; }
waits() {
	api GET "/v1/threads/$1/state"
	json '.data.state.execution_meta | "\(.status) \(.interrupt_reason) \(.interrupt_data.call_ids | length)"' "$BODY"
}

# ---- called and answered

run t "$(says m1 '/remote pick {\"n\":2}')" "$pick"
is "$EVENTS" 'run step text text. call args call. step. step step. finished' 'a browser tool is called'
facts <<'TABLE'
by its name :: .[4] | [.toolCallName, .parentMessageId] == ["pick", (.parentMessageId)]
with its arguments :: .[5].delta == "{\"n\":2}"
there is no outcome :: .[-1] | keys == ["runId", "threadId", "type"]
TABLE
call=$(called)
is "$(waits t)" 'completed remote_tool_call 1' 'the call waits with the thread'
run t "$(says m1 again),{\"id\":\"a\",\"role\":\"assistant\"},$(tool_says m2 "$call" 'two')"
is "$EVENTS" 'run step text piece piece text. step. finished' 'the result goes on with the run, and the tools need not come again'
is "$(spoken)" 'remote: two' 'with what the browser said'
is "$(messages t | tr '\n' '|')" 'user: /remote pick {"n":2}|assistant: remote_tool_call|tool: two|assistant: remote: two|' 'all of it is stored'
run t "$(tool_says m3 "$call" 'two')"
is "$EVENTS" 'run finished' 'a result that is sent again is nothing new'
run t "$(tool_says m2 "$call" 'two')"
is "$EVENTS" 'run finished' 'under the same id as well'
run t "$(says m4 '/remote pick {}')"
is "$(spoken)" 'unknown remote tool: pick' 'a tool is offered for one run'

run fails "$(says m1 '/remote pick {}')" "$pick"
run fails "$(tool_says m2 "$(called)" '' '"error":"no window"')"
is "$(spoken)" 'remote: no window' 'a failure is a result'
api GET /v1/threads/fails/messages
facts <<'TABLE'
which is marked :: .data.messages[2].content[0] | [.is_error, .output, .status] == [true, "no window", "failed"]
TABLE

# ---- several

two='/remote pick {\"n\":1} \u0026\u0026 pick {\"n\":2}'
run many "$(says m1 "$two")" "$pick"
is "$EVENTS" 'run step text text. call args call. call args call. step. step step. finished' 'one message calls twice'
first=$(json 'map(select(.type == "TOOL_CALL_START"))[0].toolCallId' "$BODY")
second=$(json 'map(select(.type == "TOOL_CALL_START"))[1].toolCallId' "$BODY")
run many "$(tool_says m2 "$second" B)"
is "$EVENTS" 'run finished' 'with one answer missing nothing runs, and no call is sent again'
is "$(waits many)" 'completed remote_tool_call 1' 'the other still waits'
run many ''
is "$EVENTS" 'run messages finished' 'a page that was loaded again runs nothing'
facts <<'TABLE'
it gets the calls and the one answer :: .[1].messages | [map(.role), (.[1].toolCalls | map(.function.name))] == [["user", "assistant", "tool"], ["pick", "pick"]]
which names its call :: .[1].messages | [.[2].toolCallId, .[2].content] == [.[1].toolCalls[1].id, "B"]
TABLE
run many "$(tool_says m2 "$second" B),$(tool_says m3 "$first" A)"
is "$(spoken)" 'remote: A, B' 'the last answer goes on'
run twice "$(says m1 "$two")" "$pick"
call=$(called)
run twice "$(tool_says m2 "$call" A),$(tool_says m3 "$call" B)"
is "$(json '.[-1] | "\(.type) \(.code) \(.message)"' "$BODY")" 'RUN_ERROR GRAPH_ERROR Each tool call can be answered only once' 'a call is answered once'
is "$(waits twice)" 'completed remote_tool_call 2' 'then nothing is stored'
run twice "$(tool_says m2 nobody A)"
is "$(json '.[-1] | "\(.type) \(.code) \(.message)"' "$BODY")" "RUN_ERROR GRAPH_ERROR No remote tool call 'nobody' is waiting for a result" 'an answer to no call is refused'
run never "$(tool_says m2 nobody A)"
is "$(json '.[-1] | "\(.type) \(.code) \(.message)"' "$BODY")" "RUN_ERROR GRAPH_ERROR No remote tool call 'nobody' is waiting for a result" 'on a new thread as well'
api GET /v1/threads/never
is "$STATUS" 404 'which is not made'
run twice "$(says m5 'never mind')"
is "$(spoken)" 'echo: never mind' 'a user message closes the calls'
is "$(waits twice)" 'completed null 0' 'nothing waits any more'

run both "$(says m1 '/remote pick {}')" "$pick"
run both "$(tool_says m2 "$(called)" X),$(says m3 'and this')"
is "$(spoken)" 'remote: X' 'an answer with a user message goes on with the answer'

# ---- names

run shadow "$(says m1 '/add 1 2')" "\"tools\":[$(tool add),$(tool pick)]"
is "$(spoken)" 'sum: 3' 'a server tool of the same name wins'
like "$(cat "$SERVE_ERR")" "client tool 'add' is ignored" 'which is logged'
run shadow "$(says m2 '/remote add {}')" "\"tools\":[$(tool add)]"
is "$(spoken)" 'unknown remote tool: add' 'the browser'\''s is not there'
run declared "$(says m1 '/remote declared {}')" "\"tools\":[$(tool declared)]"
is "$EVENTS" 'run step text text. call args call. step. step step. finished' 'declared tools are called as well'
run declared "$(tool_says m2 "$(called)" yes)"
is "$(spoken)" 'remote: yes' 'and answered'

# ---- REST and AG-UI see the same

run mixed "$(says m1 '/remote pick {}')" "$pick"
call=$(called)
api POST /v1/graph/invoke "{\"messages\":[$(answer "$call" '{"a":1}')],$(thread mixed)}"
is "$(json '.data.messages[-1].content[0].text' "$BODY")" 'remote: {"a":1}' 'REST can answer'
invoke '/remote declared {}' "$(thread mixed)"
call=$(json '.data.messages[-1].content[0].id' "$BODY")
run mixed "$(tool_says m9 "$call" 'from a page')"
is "$(spoken)" 'remote: from a page' 'and a browser can answer what REST asked'
api DELETE /v1/threads/mixed '{}'
run mixed "$(tool_says m10 "$call" late)"
is "$(json '.[-1].code' "$BODY")" GRAPH_ERROR 'after deletion no call waits'
serve_stop

# ---- browser tools switched off

sed -i 's/"enabled":true/"enabled":true,"allow_client_tools":false/' agentgraph.json
run off "$(says m1 '/remote pick {}')" "$pick"
is "$(spoken)" 'unknown remote tool: pick' 'without allow_client_tools they are ignored'
run off "$(says m2 '/remote declared {}')" "$pick"
is "$(json 'map(select(.type == "TOOL_CALL_START")) | length' "$BODY")" 1 'those of the configuration stay'
serve_stop

# ---- server tools in the same step, and a step that was sent before

cat >agent.sh <<'SH'
#!/bin/sh
# Asks for the tools that the user names, "id=name" each; after results it repeats them.
jq -c 'if .context[-1].role == "tool" then
	{message: ("results: " + ([.context[] | select(.role == "tool").content[].output | tostring] | join(", ")))}
else
	{message: {content: ([{type: "text", text: "calling"}] + [.user_text | split(" ")[] | split("=") |
		{type: "tool_call", id: .[0], name: .[1], args: {}}])}}
end'
SH
printf '#!/bin/sh\necho "from the server"\n' >server.sh
chmod +x ./*.sh
cat >graph.json <<'JSON'
{"mixed": {
  "nodes": {
    "agent": {"kind": "exec", "command": "./agent.sh"},
    "tools": {"kind": "tools", "tools": [{"kind": "exec", "name": "server", "description": "Runs here", "command": "./server.sh"}]}},
  "edges": [{"from": "START", "to": "agent"}, {"from": "tools", "to": "agent"},
    {"from": "agent", "if": [{"when": {"tool_calls": true}, "to": "tools"}], "else": "END"}]}}
JSON
printf '{"agent":"graph.json:mixed","ag_ui":{"enabled":true}}\n' >agentgraph.json
run mix "$(says m1 'c1=server c2=pick')" "$pick"
is "$EVENTS" 'run step text piece text. call args call. call args call. step. step result step. finished' 'a server tool in the same step still runs'
facts <<'TABLE'
its result is sent :: of("TOOL_CALL_RESULT") | map([.toolCallId, .content]) == [["c1", "from the server"]]
text and calls are of one message :: [.[2].messageId, (of("TOOL_CALL_START")[].parentMessageId)] | unique | length == 1
TABLE
run mix "$(tool_says other c1 'from the server'),$(tool_says m2 c2 'from the page')"
is "$(spoken)" 'results: from the server, from the page' 'results that the thread has are passed over'
run mix "$(says m3 'c1=server c9=server')"
facts <<'TABLE'
a call with the id of an earlier one has a new id :: of("TOOL_CALL_START") | map(.toolCallId) | [(.[0] | test("^call_[0-9a-f]{32}$")), .[1]] == [true, "c9"]
TABLE
run mix "$(says m4 'c2=pick c2=pick')" "$pick"
first=$(called)
second=$(json 'map(select(.type == "TOOL_CALL_START"))[1].toolCallId' "$BODY")
run mix "$(tool_says m5 "$first" one),$(tool_says m6 "$second" two)"
like "$(spoken)" ', one, two$' 'one that is repeated at the client can be answered'

serve_stop

# ---- tools of an MCP server are the server's as well

. "$TOP_SRCDIR/t/api/mcp.sh"
mkdir server
tools_graph "{\"name\": \"far\", \"mcp\": {\"command\": [\"$TOP_SRCDIR/t/api/mcp-server.sh\"], \"cwd\": \"server\"}}"
printf '{"agent":"graph.json:g","ag_ui":{"enabled":true}}\n' >agentgraph.json
run far "$(says m1 'echo {\"text\":\"hi\"}')" "\"tools\":[$(tool echo)]"
is "$(spoken)" hi 'a tool of an MCP server wins over one of the page'

done_testing
