#!/bin/sh
# SPDX-License-Identifier: ISC
# The agent as a tool of MCP hosts: versions, methods, calls and their results, progress, and the tool's own arguments.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/mcp-host.sh"

# ---- off

printf '{"agent":"builtin:demo"}\n' >agentgraph.json
sent ping ''
is "$STATUS $(json .error_code "$BODY")" '404 NOT_FOUND' 'without enabled there is no route'
api GET /.well-known/oauth-protected-resource
is "$STATUS" 404 'nor is told where its tokens come from'
serve_stop
mcp_configure
like "$("$AGENTGRAPH" routes)" '^POST +/v1/mcp +graph:invoke$' 'when enabled there is'
like "$("$AGENTGRAPH" check 2>&1)" 'mcp is on while authentication is off and ORIGINS allows \*' 'what anybody could do is said at the start'
unlike "$(ORIGINS=https://a.example "$AGENTGRAPH" check 2>&1)" 'mcp is on' 'unless origins are listed'

# ---- the versions with a handshake

for version in 2025-06-18 2025-11-25; do
	sent initialize '{"protocolVersion":"'$version'","capabilities":{},"clientInfo":{"name":"t","version":"1"}}'
	is "$STATUS $(header Content-Type) $(json .result.protocolVersion "$BODY")" "200 application/json $version" "$version is agreed on"
done
is "$(header Mcp-Session-Id)" '' 'there are no sessions'
facts <<'TABLE'
it is a response :: keys == ["id", "jsonrpc", "result"] and .id == "q1"
what it can is told :: .result.capabilities == {"tools": {}}
who it is :: .result.serverInfo == {"name": "MyApp", "version": "0.1.0"}
TABLE
for version in 2024-11-05 2026-07-28 2099-01-01; do
	sent initialize '{"protocolVersion":"'$version'","capabilities":{}}'
	is "$STATUS $(json .result.protocolVersion "$BODY")" '200 2025-11-25' "instead of $version the latest is proposed"
done
for method in GET DELETE; do
	api $method /v1/mcp
	is "$STATUS $(header Allow)" '405 POST' "$method is none of its methods"
done
api POST /v1/mcp '{"jsonrpc":"2.0","method":"notifications/initialized"}' 'MCP-Protocol-Version: 2025-11-25'
is "$STATUS $BODY" '202 ' 'a notification is taken'
sent ping ''
is "$STATUS $(json .result "$BODY")" '200 {}' 'a ping is answered'
sent ping '' 'MCP-Protocol-Version: 2025-03-26'
fault 400 -32022 2025-03-26 'a version that is not served'
is "$(json '.error.data | "\(.supported | join(",")) \(.requested)"' "$BODY")" '2026-07-28,2025-11-25,2025-06-18 2025-03-26' 'those that are, are listed'
for method in server/discover resources/list prompts/list logging/setLevel subscriptions/listen; do
	sent $method ''
	fault 200 -32601 "$method" "$method is no method"
done

# ---- the tool

sent tools/list ''
facts <<'TABLE'
there is one tool :: .result | keys == ["tools"] and (.tools | length) == 1
its name is the graph's :: .result.tools[0].name == "demo"
it is described :: .result.tools[0].description | test("agent demo")
a message is needed :: .result.tools[0].inputSchema | .type == "object" and .required == ["message"] and (.properties | keys) == ["message", "thread_id"]
what comes of it is told :: .result.tools[0].outputSchema.required == ["thread_id", "run_id", "status", "answer", "interrupt"]
TABLE
sent tools/list '{"cursor":"x"}'
fault 200 -32602 cursor 'there is no second page'

called 'hello world'
text_is 'echo: hello world' 'a call is answered'
facts <<'TABLE'
as a response :: keys == ["id", "jsonrpc", "result"] and .id == "q1"
without what the version has not :: .result | keys == ["content", "isError", "structuredContent"]
it is no error :: .result.isError == false
and has its structure :: .result.structuredContent | [.status, .answer, .interrupt, (.thread_id | length > 9), (.run_id | length > 9)] == ["completed", "echo: hello world", null, true, true]
TABLE
thread=$(json .result.structuredContent.thread_id "$BODY")
called /context "\"thread_id\":\"$thread\""
text_is 'context: 3' 'the thread that it names goes on'
api GET "/v1/threads/$thread/messages"
is "$STATUS $(json '.data.messages | length' "$BODY")" '200 4' 'and is one like any other'
called hello '"thread_id":"mine"'
is "$(json .result.structuredContent.thread_id "$BODY")" mine 'a thread may be named before it is there'
called '/slow 2 1'
text_is "$(printf 'tick 1\n\ntick 2\n\ndone')" 'messages are parted by an empty line'
called '/add 2 3'
text_is 'sum: 5' 'tools of the server are not shown'

called '/error it broke'
text_is 'Graph execution failed: it broke' 'a run that fails says so'
is "$(json '.result | "\(.isError) \(.structuredContent.status)"' "$BODY")" 'true error' 'as an error of the tool'
like "$(cat "$SERVE_ERR")" "request_id=$(header X-Request-ID) .*Graph execution failed: it broke" 'the log has it with its request id'
called /loop
is "$STATUS $(json '.result.isError' "$BODY")" '200 true' 'so does one with too many steps'
for arguments in '{}' '{"message":1}' '{"message":"x","thread_id":7}'; do
	sent tools/call "{\"name\":\"demo\",\"arguments\":$arguments}"
	is "$STATUS $(json '.result | "\(.isError) \(.structuredContent)"' "$BODY")" '200 true null' "arguments that do not fit are told the model: $arguments"
	like "$(json '.result.content[0].text' "$BODY")" '^arguments' 'with what was expected'
done
called hi "\"thread_id\":\"$(printf '%0300d' 0)\""
is "$STATUS $(json .result.isError "$BODY")" '200 true' 'so is an id that is too long'
sent tools/call '{"name":"other","arguments":{"message":"x"}}'
fault 200 -32602 'Unknown tool: other' 'another tool'
sent tools/call '{"name":"demo","arguments":"x"}'
fault 200 -32602 'arguments must be an object' 'arguments that are none'

# ---- progress

called '/slow 3 1' '' # without a token there is one message
is "$(header Content-Type) $(printf '%s' "$MESSAGES" | jq length)" 'application/json 1' 'who does not ask gets JSON'
sent tools/call "{$(arguments '/slow 3 1'),\"_meta\":{\"progressToken\":\"p\"}}" 'Accept: application/json, text/event-stream'
is "$STATUS $(header Content-Type) $(header X-Accel-Buffering)" '200 text/event-stream; charset=utf-8 no' 'with a token it is a stream'
text_is "$(printf 'tick 1\n\ntick 2\n\ntick 3\n\ndone')" 'whose last message is the response'
BODY=$MESSAGES
facts <<'TABLE'
each node was told before it :: .[:-1] | length >= 3 and all(.method == "notifications/progress" and (has("id") | not))
with the token :: .[:-1] | all(.params.progressToken == "p" and .params.message == "agent")
and growing numbers :: [.[:-1][].params.progress] | . == (unique | sort)
TABLE
sent tools/call "{$(arguments hi),\"_meta\":{\"progressToken\":7}}" 'Accept: application/json'
is "$(header Content-Type)" application/json 'a host that takes only JSON gets that'
sent tools/call "{$(arguments hi),\"_meta\":{\"progressToken\":7}}" 'Accept: application/json, text/event-stream; q=0.0'
is "$(header Content-Type)" application/json 'so does one that takes no stream'
sent tools/call "{$(arguments hi),\"_meta\":{\"progressToken\":\"$(printf %257d 0)\"}}"
is "$STATUS $(header Content-Type)" '200 application/json' 'so does one whose token is too long to be repeated'
sent tools/call "{$(arguments '/error x'),\"_meta\":{\"progressToken\":7}}"
is "$STATUS $(json .result.isError "$BODY")" '200 true' 'a failure ends the stream as a result'
sent tools/call "{$(arguments hi '"thread_id":" "'),\"_meta\":{\"progressToken\":7}}"
is "$STATUS" 200 'a blank thread is a new one'

# ---- the stateless version

modern server/discover ''
facts <<'TABLE'
the versions are listed :: .result.supportedVersions == ["2026-07-28", "2025-11-25", "2025-06-18"]
and what it can :: .result.capabilities == {"tools": {}}
a result says that it is whole :: .result.resultType == "complete"
and whose it is :: .result._meta["io.modelcontextprotocol/serverInfo"] == {"name": "MyApp", "version": "0.1.0"}
how long it may be kept :: .result.ttlMs == 300000 and .result.cacheScope == "public"
TABLE
modern tools/list ''
is "$STATUS $(json '.result | "\(.tools[0].name) \(.ttlMs) \(.cacheScope) \(.resultType)"' "$BODY")" '200 demo 300000 public complete' 'so is the list'
modern tools/call "$(arguments hello)"
text_is 'echo: hello' 'a call is answered'
is "$(json '.result | "\(.resultType) \(.structuredContent.status) \(has("ttlMs"))"' "$BODY")" 'complete completed false' 'and not to be kept'
for method in initialize ping logging/setLevel resources/subscribe unknown/method; do
	modern $method ''
	fault 404 -32601 "$method" "$method is no method"
	is "$(json .id "$BODY")" q1 'the id is kept'
done

# ---- a tool of its own

serve_stop
mcp_configure '"tool":{"name":"weather.now","description":"Tells the weather.","input_schema":{"type":"object","properties":{"city":{"type":"string"},
	"thread_id":{"type":"string"}},"required":["city"],"additionalProperties":false}}'
sent tools/list ''
is "$(json '.result.tools[0] | "\(.name) \(.description) \(.inputSchema.required)"' "$BODY")" 'weather.now Tells the weather. ["city"]' 'the tool is as configured'
sent tools/call '{"name":"weather.now","arguments":{"city":"Bern","thread_id":"w"}}'
text_is 'echo: {"city":"Bern"}' 'the agent is told the arguments'
is "$(json .result.structuredContent.thread_id "$BODY")" w 'on the thread among them'
sent tools/call '{"name":"weather.now","arguments":{"town":"Bern"}}'
is "$STATUS $(json .result.isError "$BODY")" '200 true' 'others do not fit'
sent tools/call "{$(arguments hello)}"
fault 200 -32602 'Unknown tool: demo' 'the name is no longer the graph'"'s"
serve_stop
for schema in '{"type":"string"}' '{}' '{"type":"object","properties":7}'; do
	mcp_configure "\"tool\":{\"input_schema\":$schema}"
	"$AGENTGRAPH" check >check.out 2>&1
	like "$? $(tr '\n' ' ' <check.out)" '^[1-9].*mcp\.tool\.input_schema' "a schema that is none is refused at start: $schema"
done
printf '{"agent":"builtin:live-demo","mcp":{"enabled":true,"tool":{"name":"demo"}}}\n' >agentgraph.json
called hi
is "$STATUS $(json '.error | "\(.code) \(.data.code)"' "$BODY")" '400 400 GRAPH_IS_LIVE' 'a live agent is no tool'

done_testing
