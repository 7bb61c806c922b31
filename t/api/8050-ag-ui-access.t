#!/bin/sh
# SPDX-License-Identifier: ISC
# Who may use /v1/ag-ui: tokens, scopes, threads of others, the rate limit, pages of other origins.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/api/ag-ui.sh"

a_body() { printf '{"threadId":"%s","runId":"r","messages":[%s]}' "$1" "$(says m1 "${2-hi}")"; }
page() {
	page_user=$1
	shift
	as "$page_user" POST /v1/ag-ui "$@"
}

# ---- tokens

ag_ui_configure '"auth":"jwt","authorization":"ownership"'
api POST /v1/ag-ui "$(a_body t)"
is "$(said)|$(header WWW-Authenticate)" '401 REVOKED_TOKEN Invalid token, please login again|Bearer' 'without a token: 401'
api POST /v1/ag-ui '{'
is "$STATUS" 401 'whatever the body'
page alice '{'
is "$(said)" '422 VALIDATION_ERROR Request body must be JSON' 'with one the body is looked at'
page alice "$(a_body alices)"
read_events
is "$EVENTS" 'run step text piece piece text. step. finished' 'and the run begins'
page alice "$(a_body alices /whoami | sed 's/m1/m2/')"
read_events
is "$(spoken)" alice 'nodes know who it is'
page bob "$(a_body alices)"
is "$(said)" '403 PERMISSION_ERROR Not allowed to access this thread' 'a thread of somebody else'
page bob '{"threadId":"alices","runId":"r"}'
is "$STATUS" 422 'what is wrong with the body is told first'
page bob "$(a_body bobs | sed 's/^{/{"thread_id":"alices","config":{"thread_id":"alices"},/')"
is "$STATUS" 200 'members of other routes name no thread here'
with "$(token alice ',"scopes":["graph:invoke"]')" POST /v1/ag-ui "$(a_body alices)"
is "$(said)" '403 PERMISSION_ERROR Missing required scope: graph:stream' 'the scope is that of a stream'
with "$(token alice ',"scopes":["graph:stream"]')" POST /v1/ag-ui "$(a_body scoped)"
is "$STATUS" 200 'which suffices'
as bob GET /v1/threads/alices
is "$STATUS" 403 'threads made by a page have an owner'
serve_stop

# ---- the rate limit

ag_ui_configure '"rate_limit":{"requests":2,"window":60}'
ag_ui "$(a_body t)"
is "$STATUS $(header X-RateLimit-Remaining)" '200 1' 'a run counts'
ag_ui '{'
is "$STATUS $(header X-RateLimit-Remaining)" '422 0' 'so does one that is refused'
ag_ui "$(a_body t)" 'Origin: https://shop.example'
is "$STATUS $(json .error_code "$BODY") $(header Access-Control-Allow-Origin)" '429 RATE_LIMIT_EXCEEDED https://shop.example' 'over the limit: 429, which a page can read'
serve_stop
ag_ui_configure '"rate_limit":{"requests":1,"window":60,"exclude_paths":["/v1/ag-ui"]}'
for _ in 1 2 3; do ag_ui '{'; done
is "$STATUS" 422 'unless the path is excluded'
serve_stop

# ---- pages of other origins

ag_ui_configure '"auth":"jwt"'
export ORIGINS=https://shop.example
api OPTIONS /v1/ag-ui '' 'Origin: https://shop.example' 'Access-Control-Request-Method: POST' \
	'Access-Control-Request-Headers: authorization, content-type'
is "$STATUS $(header Access-Control-Allow-Origin)|$(header Access-Control-Allow-Headers)" \
	'200 https://shop.example|authorization, content-type' 'a preflight is answered without a token'
like "$(header Access-Control-Allow-Methods)" POST 'and allows the method'
api OPTIONS /v1/ag-ui '' 'Origin: https://evil.example' 'Access-Control-Request-Method: POST'
is "$STATUS" 400 'other origins are refused'
page alice "$(a_body t)" 'Origin: https://shop.example'
is "$STATUS $(header Access-Control-Allow-Origin) $(header Access-Control-Allow-Credentials)" '200 https://shop.example true' 'the stream has the headers'
api POST /v1/ag-ui "$(a_body t)" 'Origin: https://shop.example'
is "$STATUS $(header Access-Control-Allow-Origin)" '401 https://shop.example' 'errors have them too'
api OPTIONS /v1/ag-ui
is "$STATUS $(header Allow)" '204 OPTIONS, POST' 'without an origin it is a question for methods'
api GET /v1/ag-ui
is "$STATUS" 405 'others are refused'

serve_stop
unset ORIGINS

# ---- a live graph

printf '{"agent":"builtin:live-demo","ag_ui":{"enabled":true}}\n' >agentgraph.json
ag_ui "$(a_body t)"
is "$(said)" '422 GRAPH_IS_LIVE This graph is a live (realtime) agent; connect to /v1/graph/live' 'a live graph has another door'

done_testing
