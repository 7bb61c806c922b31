#!/bin/bash
# SPDX-License-Identifier: ISC
# Agents of chat models, the whole service around them: three providers that others wrote a stand-in for, tools of every
# kind, structured answers, files, notes of what was said, and every way to run them.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
. "$TOP_SRCDIR/t/e2e/aimock.sh"
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'

api() { http "$@"; }

cat >fixtures.json <<'END'
{"fixtures": [
  {"match": {"systemMessage": "You keep the notes"}, "response": {"content": "They talked of tea."}},
  {"match": {"userMessage": "hello"}, "latency": 100, "response": {"content": "Hello! How can I help you, dear café owner?",
   "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}},
  {"match": {"userMessage": "think"}, "response": {"content": "42", "reasoning": "six times nine"}},
  {"match": {"userMessage": "weather", "hasToolResult": false},
   "response": {"toolCalls": [{"name": "get_weather", "arguments": {"city": "Ulm"}}]}},
  {"match": {"userMessage": "weather", "hasToolResult": true}, "response": {"content": "It rains."}},
  {"match": {"userMessage": "both", "hasToolResult": false},
   "response": {"toolCalls": [{"name": "get_weather", "arguments": {"city": "Ulm"}},
                              {"name": "get_weather", "arguments": {"city": "Bonn"}}]}},
  {"match": {"userMessage": "both", "hasToolResult": true}, "response": {"content": "Rain in both."}},
  {"match": {"userMessage": "mixed", "hasToolResult": false},
   "response": {"toolCalls": [{"name": "get_weather", "arguments": {"city": "Ulm"}},
                              {"name": "where", "arguments": {"exact": true}}]}},
  {"match": {"userMessage": "mixed", "hasToolResult": true}, "response": {"content": "You are in the rain."}},
  {"match": {"userMessage": "server", "hasToolResult": false},
   "response": {"toolCalls": [{"name": "echo", "arguments": {"message": "over MCP"}}]}},
  {"match": {"userMessage": "server", "hasToolResult": true}, "response": {"content": "It echoed."}},
  {"match": {"userMessage": "page", "hasToolResult": false},
   "response": {"toolCalls": [{"name": "pick", "arguments": {"n": 2}}]}},
  {"match": {"userMessage": "page", "hasToolResult": true}, "response": {"content": "You picked."}},
  {"match": {"userMessage": "look at"}, "response": {"content": "I see."}},
  {"match": {"userMessage": "city please"}, "response": {"content": "{\"city\": \"Ulm\", \"people\": 128928}"}},
  {"match": {"userMessage": "does not have the form"}, "response": {"content": "{\"city\": \"Bonn\", \"people\": 3}"}},
  {"match": {"userMessage": "city wrong"}, "response": {"content": "{\"city\": 5}"}},
  {"match": {"userMessage": "tea"}, "response": {"content": "Green or black?"}},
  {"match": {"userMessage": "refuse"},
   "response": {"error": {"message": "No: sk-openai-secret sk-anthropic-secret gemini-secret", "type": "invalid_request_error"}, "status": 401}}
]}
END
aimock_start fixtures.json || tap_bail "the mock does not start: $(cat mock.log)"

cat >weather.sh <<'END'
#!/bin/sh
jq -c '{city, sky: "rain"}'
END
chmod +x weather.sh
EVERYTHING=$PEERS/@modelcontextprotocol/server-everything/dist/index.js

# graph PROVIDER MEMBERS: an agent with a tool of its own, tools of an MCP server, and one that the client runs.
graph() {
	cat >graph.json <<END
{"g": {"state": {"fields": {"city": {"type": "object"}}}, "nodes": {
  "agent": {"kind": "model", "provider": "$1", "model": "test-model", "retries": 0, "tools": "tools",
   "system_prompt": ["You help {{config.user.user_id}}.", "Be kind."]$2},
  "tools": {"kind": "tools", "tools": [
   {"kind": "exec", "name": "get_weather", "description": "The weather", "command": "./weather.sh",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}},
   {"kind": "mcp", "name": "everything", "mcp": {"command": ["$NODE", "$EVERYTHING", "stdio"]}, "tools": ["echo"]}]}},
 "edges": [{"from": "START", "to": "agent"},
  {"from": "agent", "if": [{"when": {"tool_calls": true}, "to": "tools"}], "else": "END"}, {"from": "tools", "to": "agent"}]}}
END
}
cat >agentgraph.json <<'END'
{"agent": "graph.json:g", "ag_ui": {"enabled": true},
 "remote_tools": [{"node": "tools", "name": "where", "description": "Where the user is",
  "parameters": {"type": "object", "properties": {"exact": {"type": "boolean"}}}}]}
END

# again PROVIDER [MEMBERS]: a service with that graph, from nothing.
again() {
	[ -z "${BASE-}" ] || serve_stop
	graph "$1" "${2-}"
	serve_start || tap_bail 'the service does not start'
}

ag_ui() {
	http POST /v1/ag-ui "{\"threadId\":\"$1\",\"runId\":\"r$tap_count\",$2}"
	EVENTS=$(printf '%s\n' "$BODY" | sed -n 's/^data: //p')
}

GREETING='Hello! How can I help you, dear café owner?'
for provider in openai anthropic gemini; do
	again $provider
	invoke hello
	is "$STATUS" 200 "$provider: a user is answered"
	facts <<TABLE
$provider: with the text :: said[-1] == "$GREETING"
$provider: and what it cost :: .data.messages[-1].usages | [.prompt_tokens, .completion_tokens] == [10, 5]
$provider: and who said it :: .data.messages[-1].metadata | .provider == "$provider"
TABLE
	like "$(asked tojson)" 'You help anonymous\.\\nBe kind\.' "$provider: the prompt is filled in"
	like "$(asked tojson)" '"get_weather"' "$provider: tools are offered"

	stream hello "$(thread s)"
	chunks <<TABLE
$provider: a stream comes in pieces :: (pieces | length) > 1
$provider: which are the text :: (pieces | map(.message.content[0].text) | join("")) == "$GREETING"
$provider: and so is the message :: (finals | texts) == ["$GREETING"]
$provider: under one id :: ([pieces[].message.message_id] + [finals[].message_id] | unique | length) == 1
$provider: at the end it is done :: .[-1].data.status == "done"
TABLE

	stream weather "$(thread s)"
	chunks <<TABLE
$provider: a tool is called, answers, and is told of :: events | map(select(. != "piece")) == ["assistant", "tool", "assistant", "done"]
$provider: the tool had its arguments :: finals[1].content[0].output == {"city": "Ulm", "sky": "rain"}
$provider: the model has the last word :: finals[-1] | text == "It rains."
TABLE
	invoke both
	facts <<TABLE
$provider: two calls at once :: [.data.messages[] | select(.role == "tool").content[0].output.city] == ["Ulm", "Bonn"]
$provider: are answered together :: said[-1] == "Rain in both."
TABLE

	invoke mixed "$(thread m)"
	facts <<TABLE
$provider: a tool of the client waits for it :: .data.messages[1].content | map([.type, .name]) == [["tool_call", "get_weather"], ["remote_tool_call", "where"]]
$provider: the server's own has run :: .data.messages[-1].content[0].output.sky == "rain"
TABLE
	CALL=$(json '.data.messages[1].content[1].id' "$BODY")
	api POST /v1/graph/invoke "$(run_body "[$(answer "$CALL" '{"lat":48.4}')]" "$(thread m)")"
	facts <<TABLE
$provider: the client's result goes on with the run :: said[-1] == "You are in the rain."
TABLE
	like "$(asked tojson)" '48\.4' "$provider: and the model has seen it"

	invoke server
	facts <<TABLE
$provider: a tool of an MCP server is called :: .data.messages[1].content[0] | [.name, .tool_type] == ["echo", "mcp"]
$provider: and answers :: .data.messages[2].content[0].output | tojson | test("over MCP")
$provider: then the model does :: said[-1] == "It echoed."
TABLE

	ag_ui g '"messages":[{"id":"m1","role":"user","content":"page"}],"tools":[{"name":"pick","description":"Picks","parameters":{"type":"object","properties":{"n":{"type":"number"}}}}]'
	CALL=$(printf '%s\n' "$EVENTS" | jq -r 'select(.type == "TOOL_CALL_START").toolCallId')
	like "$(asked tojson)" '"pick"' "$provider: tools of a page are offered"
	like "$EVENTS" '"TOOL_CALL_ARGS".*\{\\"n\\":2\}' "$provider: and called"
	ag_ui g "\"messages\":[{\"id\":\"m2\",\"role\":\"tool\",\"toolCallId\":\"$CALL\",\"content\":\"two\"}]"
	is "$(printf '%s\n' "$EVENTS" | jq -r 'select(.type == "TEXT_MESSAGE_CONTENT").delta' | tr -d '\n')" 'You picked.' \
		"$provider: and their result goes back"

	invoke refuse
	is "$STATUS $(json .error_code "$BODY")" '500 NODE_ERROR' "$provider: a refusal is an error of the node"
	like "$(json .detail "$BODY")" "^Graph execution failed: $provider model test-model: answered 401: No: " "$provider: which says why"
	unlike "$BODY" "[ :\"](sk-)?$provider-secret" "$provider: without the key"
	stream refuse "$(thread x)"
	chunks <<TABLE
$provider: in a stream as well :: [.[].event] == ["error", "updates"]
TABLE
	api GET /v1/threads/x/state
	facts <<TABLE
$provider: and the state knows :: .data.state.execution_meta | [.status, .is_running] == ["error", false]
TABLE
	unlike "$(cat "$SERVE_ERR")" "[ :](sk-)?$provider-secret" "$provider: nor is it in the log"
	invoke hello "$(thread x)"
	facts <<TABLE
$provider: the thread goes on :: said[-1] == "$GREETING"
TABLE
done

# ---- what a socket sees

again openai
SOCKET_TEXT=$(printf 'T%s\n' "$(run_body "[$(user weather)]" "$(thread w)")" |
	"${AGENTGRAPH_WS:-$(dirname "$AGENTGRAPH")/agentgraph-ws}" --by-hand --state "$STATE" 2>>ws.log |
	sed -n 's/^T//p' | jq -rs '[.[] | select(.event == "message" and (.message.delta | not)).message.role] | join(" ")')
is "$SOCKET_TEXT" 'assistant tool assistant' 'a socket carries the same'

# ---- reasoning

stream think "$(thread t)"
chunks <<'TABLE'
reasoning is streamed :: any(.[]; .message.delta == true and .message.content[0].type == "reasoning")
and kept :: finals[-1] | [.reasoning, text] == ["six times nine", "42"]
TABLE
ag_ui think '"messages":[{"id":"m1","role":"user","content":"think"}]'
like "$EVENTS" 'REASONING_MESSAGE_CONTENT' 'AG-UI has events for it'

# ---- files

printf '%s' 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==' | base64 -d >dot.png
printf 'The password of the shed is swordfish.\n' >note.txt
upload() { curl -s -F "file=@$1" "$BASE/v1/files/upload" | jq -r .data.file_id; }
for provider in openai anthropic gemini; do
	again $provider
	IMAGE=$(upload dot.png)
	NOTE=$(upload note.txt)
	LOOK="{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"look at\"},{\"type\":\"image\",\"file_id\":\"$IMAGE\"},{\"type\":\"document\",\"file_id\":\"$NOTE\"}]}"
	api POST /v1/graph/invoke "$(run_body "[$LOOK]")"
	facts <<TABLE
$provider: files are sent along :: said[-1] == "I see."
TABLE
	like "$(asked tojson)" 'swordfish' "$provider: a document as its text"
	[ $provider = openai ] || continue # the journal of the others leaves images out
	like "$(asked tojson)" 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB' "$provider: an image as it is"
done

# ---- structured answers

FORM=',"output":"city","response_format":{"type":"json_schema","schema":{"type":"object","properties":{"city":{"type":"string"},"people":{"type":"integer"}},"required":["city","people"],"additionalProperties":false}}'
for provider in openai anthropic gemini; do
	again $provider "$FORM"
	invoke 'city please' '"response_granularity":"full"'
	facts <<TABLE
$provider: a structured answer is parsed :: .data.messages[-1].parsed_content == {"city": "Ulm", "people": 128928}
$provider: and in its field :: .data.state.city.city == "Ulm"
TABLE
	[ $provider != openai ] || is "$(asked '.response_format.json_schema.schema.required | tojson')" '["city","people"]' \
		"$provider: the schema is sent"
	stream 'city wrong' "$(thread v)"
	chunks <<TABLE
$provider: a wrong one is given back :: finals[-1].parsed_content == {"city": "Bonn", "people": 3}
$provider: before anybody saw it :: (pieces | length) == 0
TABLE
done

# ---- notes of what was said

again openai ',"context":{"max_messages":6,"keep":0.4}'
for i in 1 2 3; do
	invoke "tea $i" "$(thread n)"
done
invoke 'tea 4' "$(thread n),\"response_granularity\":\"full\""
facts <<'TABLE'
what was said before is summed up :: .data.summary == "They talked of tea."
the context is short :: .data.context | texts == ["tea 4", "Green or black?"]
TABLE
like "$(asked '.messages[0].content')" 'They talked of tea' 'the model is told'
is "$(asked '.messages | length')" 2 'and shown the rest only'
api GET '/v1/threads/n/messages?limit=50'
facts <<'TABLE'
nothing is lost :: .data.messages | length == 8
TABLE

# ---- another model when one fails

again openai ',"base_url":"http://127.0.0.1:9","fallbacks":[{"provider":"anthropic","model":"second"},{"provider":"gemini","model":"third"}]'
invoke hello
facts <<'TABLE'
another model answers :: .data.messages[-1].metadata | [.provider] == ["anthropic"]
TABLE
serve_stop

done_testing
