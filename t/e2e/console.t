#!/bin/sh
# SPDX-License-Identifier: ISC
# The console in a real browser, on a narrow screen and on a wide one, below a path, and with tokens.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/e2e/console.sh"

# look PAGE WIDTH [TOKEN [VIEWS]]
look() {
	console_look console "the page at $2 px was looked at" "$@"
}

console_demo
serve_start --processes 1 || tap_bail 'the service does not start'
ok 'wait_for 30 grep -q "the console is at $BASE/console$" "$SERVE_ERR"' 'who starts the service is told where the console is'
http GET /console
is "$STATUS $(header Content-Type)" '200 text/html; charset=utf-8' 'the console is served'
like "$(header Permissions-Policy)" 'microphone=\(self\)' 'its page may ask for the microphone'
like "$(header Content-Security-Policy)" "script-src 'self'; " 'under the same policy as everything'
unlike "$BODY" '<script>|<script [^>]*>[^<]| on[a-z]+=|style=' 'without a script or style inside'
unlike "$BODY" '(src|href)="(https?:|/)' 'and with relative addresses alone'
script=$(printf '%s' "$BODY" | sed -n 's/.*src="\([^"]*app\.js\)".*/\1/p')
http GET "/$script" '' -H 'Accept-Encoding: gzip'
is "$STATUS $(header Content-Encoding)" '200 gzip' 'its files come compressed'
like "$(header Cache-Control)" immutable 'and are kept'
unlike "$(header Permissions-Policy)" 'microphone=\(self\)' 'others may not ask for it'
http GET /console/0/app.js
is "$STATUS" 404 'files of another build are not there'
look "$BASE/console" 360
look "$BASE/console" 1280
serve_stop

cat >graph.json <<'END'
{"ask": {
  "state": {"fields": {"x": {"type": "any"}, "y": {"type": "any"}}},
  "nodes": {
    "agent": {"kind": "exec", "on_error": "both", "command": ["jq", "-c",
      "{message: {role: \"assistant\", content: (if .context[-1].role == \"tool\" then \"done: \" + (.context[-1].content[0].output | tojson) else [{type: \"tool_call\", id: \"c1\", name: \"show\", args: {text: (\"a long text \" * 99), to: \"a\"}}] end)}}"]},
    "tools": {"kind": "tools", "approval": true, "tools": [{"kind": "exec", "name": "show", "description": "Shows", "command": ["cat"], "parameters": {"properties": {}}}]},
    "both": {"kind": "reply", "text": "Two branches ask."},
    "x": {"kind": "interrupt", "value": {"question": "x?"}, "field": "x", "reply": "x is {{answer}}"},
    "y": {"kind": "interrupt", "value": {"question": "y?"}, "field": "y", "reply": "y is {{answer}}"},
    "join": {"kind": "reply", "text": "both: {{x}} {{y}}"}},
  "edges": [{"from": "START", "if": [{"when": {"user_text": {"contains": "show"}}, "to": "agent"}], "else": "both"},
    {"from": "agent", "if": [{"when": {"tool_calls": true}, "to": "tools"}], "else": "END"}, {"from": "tools", "to": "agent"},
    {"from": "both", "to": ["x", "y"], "join": "join"}, {"from": "x", "to": "join"}, {"from": "y", "to": "join"},
    {"from": "join", "to": "END"}]}}
END
echo '{"agent": "graph.json:ask", "history": {"level": "off"}}' >agentgraph.json
serve_start --processes 1 || tap_bail 'no start with branches and without checkpoints'
look "$BASE/console" 360 questions
serve_stop

echo '{"agent": "builtin:live-demo", "auth": "jwt"}' >agentgraph.json
serve_start --processes 1 || tap_bail 'no live start'
look "$BASE/console" 360 "$(token ann)" live
serve_stop

configure '"auth":"jwt"'
CONSOLE_PATH=/help/my-console serve_start --processes 1 || tap_bail 'no second start'
ok 'wait_for 30 grep -q "the console is at $BASE/help/my-console$" "$SERVE_ERR"' 'also where the path is another'
look "$BASE/help/my-console" 360 "$(token ann)"
serve_stop

configure '"auth":"jwt","store":"builtin:store","evaluation":{"serve":false},"authorization":{"backend":"rbac","roles":{
	"talker":["config:read","graph:stream","checkpointer:read"],
	"reader":["config:read","graph:read","checkpointer:read","store:write"],"uploader":["config:read","files:read","files:upload"]}}'
serve_start --processes 1 || tap_bail 'no start with roles'
look "$BASE/console" 360 "$(token ann ',"role":"talker"')" 'Chat Threads Service'
look "$BASE/console" 1280 "$(token ann ',"role":"reader"')" 'Graph Threads Runs Service'
look "$BASE/console" 1280 "$(token ann ',"role":"uploader"')" 'Files Service'
serve_stop

MODE=production serve_start --processes 1 || tap_bail 'no third start'
http GET /console
is "$STATUS" 404 'in production it is not there'
unlike "$(cat "$SERVE_ERR")" 'the console is at' 'and nobody is told of it'
serve_stop

done_testing
