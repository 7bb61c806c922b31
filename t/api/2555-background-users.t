#!/bin/sh
# SPDX-License-Identifier: ISC
# To whom runs in the background belong: they run as who submitted them, even after the token has expired.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"

cat >node.sh <<'SH'
#!/bin/sh
jq -c '{message: "\(.config.user.user_id) \(.config.user.team) \(.config.user.authz | type) \(.config.attempt) \(.config.mine) \(.config.remote_tools)"}'
SH
chmod +x node.sh
cat >graph.json <<'JSON'
{"g": {"nodes": {"n": {"kind": "exec", "command": "./node.sh"}}, "edges": [{"from": "START", "to": "n"}, {"from": "n", "to": "END"}]}}
JSON
printf '{"agent":"graph.json:g","auth":"jwt","authorization":"ownership"}\n' >agentgraph.json
api_start || tap_bail 'the service does not start'

# body THREAD RUN [MEMBERS]
body() {
	printf '{"messages":[{"role":"user","content":"hi"}],"config":{"thread_id":"%s","run_id":"%s","mine":1,"user":{"user_id":"root"},"remote_tools":[7]}%s}' \
		"$1" "$2" "${3:+,$3}"
}
over() {
	as "$1" GET "/v1/threads/$2/runs/$3"
	case $(json .data.status "$BODY") in queued | running | null) return 1 ;; esac
}

as alice POST /v1/graph/runs "$(body t1 r1)"
is "$STATUS" 202 'a run is queued'
as bob GET /v1/threads/t1/runs/r1
is "$(said)" '403 PERMISSION_ERROR Not authorized to read graph' 'nobody else sees it'
as bob GET /v1/graph/runs
is "$(json '.data.runs | length' "$BODY")" 0 'nor finds it'
as bob POST /v1/graph/runs "$(body t1 r2)"
is "$(said)" '403 PERMISSION_ERROR Not authorized to invoke graph' 'or queues one on its thread'
as bob POST /v1/graph/runs "$(body t1 r1)"
is "$(said)" '403 PERMISSION_ERROR Not authorized to invoke graph' 'or learns that its id is known'
as alice POST /v1/graph/runs "$(body t0 r1)"
wait_for 30 over alice t0 r1
outside "$STATE/threads.db" "UPDATE threads SET user_id = 'bob' WHERE thread_id = 't0'"
as alice POST /v1/graph/runs "$(body t0 r2)"
is "$(said)" '403 PERMISSION_ERROR Not authorized to invoke graph' \
	'or whoever is still taken for the owner of what is bob'"'"'s by now'
as bob POST /v1/threads/t1/runs/r1/stop
is "$(said)" '403 PERMISSION_ERROR Not authorized to stop graph' 'or stops it'
wait_for 30 over alice t1 r1
is "$(json '.data.status' "$BODY")" completed 'it is executed'
as alice GET /v1/threads/t1/runs/r1/result
is "$(json '.data.messages[-1].content[0].text' "$BODY")" 'alice null object 1 1 null' 'as who sent it, whatever the body says'
as alice GET /v1/threads/t1
is "$(json .data.thread_data.user_id "$BODY")" alice 'whose the thread is'

soon=$(($(date +%s) + 6))
with "$("$MINT" HS256 "$SECRET" "{\"user_id\":\"alice\",\"team\":\"red\",\"exp\":$soon}")" POST /v1/graph/runs "$(body t2 r1 '"delay":7')"
is "$STATUS" 202 'a token that ends soon'
wait_for 30 over alice t2 r1
as alice GET /v1/threads/t2/runs/r1/result
is "$(json '.data.messages[-1].content[0].text' "$BODY")" 'alice red object 1 1 null' 'is good for what was queued with it'
api POST /v1/graph/runs "$(body t3 r1)"
is "$STATUS" 403 'without a token nothing is queued'
with "$(token alice ',"scopes":["graph:stop"]')" POST /v1/threads/t2/runs/r1/stop
is "$STATUS" 200 'a run is stopped with the scope for that'
with "$(token alice ',"scopes":["graph:stream"]')" POST /v1/threads/t2/runs/r1/stop
is "$(said)" '403 PERMISSION_ERROR Missing required scope: graph:stop' 'and not with another'
with "$(token alice ',"scopes":["graph:read"]')" POST /v1/graph/runs "$(body t3 r1)"
is "$(said)" '403 PERMISSION_ERROR Missing required scope: graph:invoke' 'nor without the scope'

done_testing
