#!/bin/bash
# SPDX-License-Identifier: ISC
# A chat model's provider that misbehaves, seen through invoke, a stream, a socket and AG-UI: what clients are told,
# what the thread has afterwards, and that nobody waits for ever.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/files.sh"
. "$TOP_SRCDIR/t/api/run.sh"
command -v python3 >/dev/null || tap_skip_all 'python3 is not installed'
unset http_proxy https_proxy all_proxy

AGENTGRAPH_WS=${AGENTGRAPH_WS:-$(dirname "$AGENTGRAPH")/agentgraph-ws}
python3 "$TOP_SRCDIR/t/e2e/bad_provider.py" >port 2>provider.log &
tap_pids="$! $tap_pids"
wait_for 20 test -s port
PROVIDER=http://127.0.0.1:$(cat port)
export OPENAI_BASE_URL=$PROVIDER/v1 OPENAI_API_KEY=sk-very-secret-key
MODEL='openai model m: '

cat >graph.json <<'END'
{"g": {"nodes": {
  "agent": {"kind": "model", "model": "m", "retries": 1, "tools": "tools",
   "timeouts": {"first_byte": 1, "idle": 1, "total": 8}},
  "tools": {"kind": "tools", "tools": [{"kind": "exec", "name": "touch", "description": "Makes a file", "command": ["touch", "made"]}]}},
 "edges": [{"from": "START", "to": "agent"},
  {"from": "agent", "if": [{"when": {"tool_calls": true}, "to": "tools"}], "else": "END"}, {"from": "tools", "to": "agent"}]}}
END
printf '{"agent":"graph.json:g","ag_ui":{"enabled":true}}\n' >agentgraph.json

# by_socket TEXT THREAD: the events of the frames.
by_socket() {
	printf 'T%s\n' "$(run_body "[$(user "$1")]" "$(thread "$2")")" |
		"$AGENTGRAPH_WS" --by-hand --state "$STATE" 2>>socket.log | sed -n 's/^T//p' |
		jq -rs '[.[] | if .event == "error" then "error " + .data.error_code else .event end] | unique | join(" ")'
}

# bad TEXT CODE PATTERN PIECES: a run that fails so, by every way; PIECES is what a stream had shown before.
bad() {
	before=$(date +%s)
	invoke "$1" "$(thread "$1")"
	is "$STATUS $(json .error_code "$BODY")" "500 $2" "$1: invoke fails"
	like "$(json .detail "$BODY")" "^Graph execution failed: $3" 'and says why'
	is "$(json '.error.details[0].loc | join(".")' "$BODY")" node.agent 'and where'
	stream "$1" "$(thread "s$1")"
	is "$(printf '%s\n' "$BODY" | jq -rs '[.[] | select(.event == "message").message.content[].text] | join("")')" "$4" \
		'a stream has shown what there was'
	is "$(printf '%s\n' "$BODY" | jq -rs '[.[-2:][] | .data.status] | join(" ")')" 'error done' 'then tells of the error, and ends'
	like "$(printf '%s\n' "$BODY" | jq -rs '.[-2].data | tojson')" "$2" 'with its code'
	api GET "/v1/threads/s$1/state"
	is "$(json '.data.state | [.execution_meta.status, .execution_meta.is_running, (.context | length)] | tojson' "$BODY")" \
		'["error",false,1]' 'the state has the question alone'
	like "$(by_socket "$1" "w$1")" "error $2" 'a socket tells it'
	api POST /v1/ag-ui "{\"threadId\":\"g$1\",\"runId\":\"r1\",\"messages\":[{\"id\":\"m1\",\"role\":\"user\",\"content\":\"$1\"}]}"
	like "$(printf '%s\n' "$BODY" | grep -c RUN_ERROR)" '^1$' 'AG-UI ends with one error'
	ok "[ $(($(date +%s) - before)) -lt 60 ]" 'and nobody waited for long'
}

bad never NODE_ERROR "${MODEL}no answer in time" ''
bad stall NODE_ERROR "${MODEL}the answer stopped half-way" 'one two'
bad cut NODE_ERROR "${MODEL}(the connection ended too early|broke off its answer)" 'one two'
bad early NODE_ERROR "${MODEL}broke off its answer" ''
is "$(curl -s "$PROVIDER" | jq .early)" 8 'what nobody has seen is asked for twice'
bad html NODE_ERROR "${MODEL}gave an answer that is not JSON" ''
bad html502 NODE_ERROR "${MODEL}answered 502: no JSON, but text/html" ''
unlike "$(cat "$SERVE_ERR")" 'secret-of-the-gateway' 'pages of gateways are not repeated'
bad refused NODE_ERROR "${MODEL}answered 401: Incorrect API key provided: " ''
bad busy NODE_ERROR "${MODEL}answered 429: slow down" ''
like "$(cat "$SERVE_ERR")" 'openai model m: answered 429: slow down; try 2 follows in [0-9]+ ms' 'the log says why it is asked again'
failures=$(env -i PATH="$PATH" REQUEST_METHOD=GET REQUEST_URI=/metrics SERVER_PROTOCOL=HTTP/1.1 AGENTGRAPH_INTERNAL=metrics \
	cgi-fcgi -bind -connect "$SOCKET" </dev/null | tr -d '\r' | sed -n 's/^agentgraph_model_failures_total{provider="openai"} //p')
ok '[ "${failures:-0}" -ge 9 ]' 'each of these is counted for its provider'

invoke flood
is "$STATUS $(json .detail "$BODY")" "500 Graph execution failed: ${MODEL}wrote too long an answer" '100 MB of text are cut off'
invoke flat
like "$STATUS $(json .detail "$BODY")" "^500 Graph execution failed: ${MODEL}sent too (large|long) an " '100 MB without an event as well'

stream bytes
chunks <<'TABLE'
invalid bytes become question marks :: finals | texts[0] | test("^a.+b$")
which are valid :: finals | texts[0] | contains("\ufffd") or contains("?")
TABLE
invoke arguments
facts <<'TABLE'
arguments that are no JSON do not run :: .data.messages[2].content[0] | [.is_error, .output] == [true, "arguments: expected a valid JSON object"]
the model is told :: said[-1] == "The tool says: arguments: expected a valid JSON object"
TABLE
ok '[ ! -e made ]' 'nothing was made'
invoke recovers
facts <<'TABLE'
a provider that recovers is asked again :: said[-1] == "all well"
TABLE

invoke fine "$(thread cut)"
facts <<'TABLE'
after an error the thread goes on :: said == ["fine", "all well"]
TABLE

# ---- the node's own time

serve_stop
sed 's/"first_byte": 1/"first_byte": 100/' graph.json >graph.new && mv graph.new graph.json
invoke never "$(thread late '"node_timeout":1')"
is "$(json '.error_code + ": " + .detail' "$BODY")" 'NODE_TIMEOUT: Graph execution failed: node agent timed out after 1 s' \
	"the node's time ends a call"

# ---- a file that no request takes

serve_stop
sed 's/"first_byte": 100/"first_byte": 1/' graph.json >graph.new && mv graph.new graph.json
export MEDIA_MAX_SIZE_MB=70
api_start
head -c 67108865 /dev/zero | part '; name="file"; filename="large.png"' image/png | form >form
send form
large="{\"type\":\"image\",\"file_id\":\"$(json .data.file_id "$BODY")\"}"
rm form
upload small.png image/png abc
api POST /v1/graph/invoke "$(run_body "[{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"file_id\":\"$FILE\"},$large,{\"type\":\"text\",\"text\":\"look\"}]}]")"
facts <<'TABLE'
it is left out :: said[-1] == "data:image/png;base64,YWJj; [image large.png, image/png: left out, because all media together are too large]"
TABLE

serve_stop

# ---- in production nobody hears of providers

MODE=production
export MODE
unset JWT_SECRET_KEY
invoke refused
is "$STATUS $(json '.error_code + ": " + .detail + " " + (.error.details | tojson)' "$BODY")" \
	'500 NODE_ERROR: An error occurred in a graph node. []' 'production tells no more than that it failed'
stream cut
unlike "$BODY" 'openai|broke|JSON' 'in a stream as well'
like "$BODY" 'An error occurred in a graph node' 'which says so'
like "$(cat "$SERVE_ERR")" 'openai model m: answered 401' 'the log has the cause'
unlike "$(cat err.*)" 'very-secret' 'and no log has the key'
unlike "$BODY" 'very-secret' 'nor an answer'

done_testing
