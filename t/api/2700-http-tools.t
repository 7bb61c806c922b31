#!/bin/sh
# SPDX-License-Identifier: ISC
# Tools that are requests over HTTP.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
. "$TOP_SRCDIR/t/api/mcp.sh"

command -v python3 >/dev/null || tap_skip_all 'python3 is not installed'

# A server that tells what it was asked, or what the path says.
cat >echo.py <<'SCRIPT'
import http.server, json, time

class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        status, kind, text = 200, "application/json", json.dumps({
            "method": self.command, "path": self.path, "body": body, "key": self.headers.get("X-Key"),
            "type": self.headers.get("Content-Type"), "trace": self.headers.get("traceparent"),
            "state": self.headers.get("tracestate")})
        if self.path.startswith("/status/"):
            status, text = int(self.path[8:11]), "no luck"
            if "X-Key" in self.headers:
                text += " with " + self.headers["X-Key"]
        if self.path == "/text":
            kind, text = "text/plain", "plain words"
        if self.path == "/big":
            text = "x" * 5000
        if self.path == "/slow":
            time.sleep(20)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Location", "/text")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())
    do_GET = do_POST = do_PUT = do_DELETE = answer
    def log_message(self, *args):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
open("port", "w").write(str(server.server_port) + "\n")
server.serve_forever()
SCRIPT
python3 echo.py >echo.log 2>&1 &
tap_pids="$! $tap_pids"
wait_for 20 [ -s port ] || tap_bail 'no HTTP server'
at=http://127.0.0.1:$(cat port)

# tool NAME REQUEST: a tool of that name with the members REQUEST of http.
tool() {
	printf '{"name":"%s","description":"The tool %s","parameters":{"type":"object"},"http":{%s}}' "$1" "$1" "$2"
}

tools_graph "
	$(tool get "\"url\":\"$at/v1/{{city}}/now?k=1\",\"query\":{\"q\":\"{{q}}\",\"lang\":\"en {{q}}\",\"skip\":\"{{absent}}\"}"),
	$(tool post "\"url\":\"$at/items\",\"body\":{\"item\":\"{{item}}\",\"note\":\"about {{item.name}}\",\"n\":5,\"skip\":\"{{absent}}\"},
		\"headers\":{\"X-Key\":\"key \${TOOL_KEY}\"}"),
	$(tool all "\"url\":\"$at/all\",\"method\":\"PUT\",\"body\":\"arguments\""),
	$(tool status "\"url\":\"$at/status/{{code}}\""),
	$(tool refused "\"url\":\"$at/status/401\",\"headers\":{\"X-Key\":\"key \${TOOL_KEY}\"}"),
	$(tool text "\"url\":\"$at/text\""),
	$(tool big "\"url\":\"$at/big\",\"max_output\":1000"),
	$(tool slow "\"url\":\"$at/slow\",\"timeout\":0.3"),
	$(tool nowhere '"url":"http://127.0.0.1:9/"')"
TOOL_KEY=s3cret-value
export TOOL_KEY
api_start --config agentgraph.json

path() { json .path "$1"; }

is "$(path "$(told 'get {"city":"Rome"}')")" '/v1/Rome/now?k=1&lang=en%20' \
	'arguments stand in the path and the query, absent ones do not'
is "$(path "$(told 'get {"city":"a/b?c#d&e%2f","q":"x&y=z"}')")" \
	'/v1/a%2Fb%3Fc%23d%26e%252f/now?k=1&q=x%26y%3Dz&lang=en%20x%26y%3Dz' 'and are encoded'
is "$(path "$(told 'get {"city":"@evil.example:81/"}')")" '/v1/%40evil.example%3A81%2F/now?k=1&lang=en%20' \
	'no argument changes where a request goes'
for city in . .. ../x 'a/../b'; do
	is "$(told "get {\"city\":\"$city\"}")" "! arguments: expected no '.' or '..' in a URL" "nor climbs the path: $city"
done
is "$(path "$(told 'get {"city":"a..b/...","q":"../x"}')")" '/v1/a..b%2F.../now?k=1&q=..%2Fx&lang=en%20..%2Fx' \
	'other points are points'
answer=$(told 'post {"item":{"name":"pen","id":7}}')
is "$(json .body "$answer")" '{"item":{"name":"pen","id":7},"note":"about pen","n":5}' \
	'a body with names keeps their types'
is "$(json '.method + " " + .type' "$answer")" 'POST application/json' 'and is posted as JSON'
is "$(json .key "$answer")" 'key s3cret-value' 'a header takes its value from the environment'
is "$(told 'all {"a":[1,"x"]}' | jq -r '.method + " " + .body')" 'PUT {"a":[1,"x"]}' 'all arguments may be the body'
is "$(told text)" 'plain words' 'an answer that is no JSON is text'
is "$(told 'status {"code":404}')" '! the server answered 404: no luck' 'a refusal is an error result'
is "$(told refused)" '! the server answered 401: no luck with ****************' 'which tells no secret that it repeats'
is "$(told 'status {"code":302}')" '! the server answered 302: no luck' 'a redirect is not followed'
is "$(told big)" '! the request failed: the answer is too large' 'an answer has a limit'
like "$(told slow)" '^! the request failed: no answer in time' 'a request has its time'
is "$(told nowhere)" '! the request failed: the server cannot be reached' 'a server that is not there is an error result'
ok 'grep -q "the request of a tool failed: .*127\.0\.0\.1" "$SERVE_ERR"' 'only the log says where it should have been'
ok '! grep -q s3cret-value "$SERVE_ERR"' 'secrets are not in the log'
trace=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
api POST /v1/graph/invoke "$(run_body "[$(user 'get {\"city\":\"Rome\"}')]")" "traceparent: $trace" "tracestate: congo=t61"
is "$(json '.data.messages[-1].content[0].text | fromjson | .trace + " " + .state' "$BODY")" "$trace congo=t61" \
	'the trace of the request goes along'
api GET /v1/graph/tools
is "$(json '[.data.nodes[0].tools[].source] | unique | tojson' "$BODY")" '["local"]' 'such tools are local'

done_testing
