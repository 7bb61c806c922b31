#!/bin/sh
# SPDX-License-Identifier: ISC
# Records of runs: what each end leaves, results, lists, stop, delete, ids that come again, and processes that die.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
: "${AGENTGRAPH_WS:=$(dirname "$AGENTGRAPH")/agentgraph-ws}"
unset PATH_INFO HTTP_X_AGENTGRAPH_TICKET HTTP_X_AGENTGRAPH_RECORD

# The node does what the user says, once nothing holds it; so does the tool.
cat >node.sh <<'END'
#!/bin/sh
while [ -e holds-node ]; do sleep 0.05; done
jq -c '.user_text | fromjson'
END
chmod +x node.sh
cat >graph.json <<'END'
{"g": {"nodes": {"first": {"kind": "exec", "command": "./node.sh"}, "tools": {"kind": "tools", "tools": []}},
 "edges": [{"from": "START", "to": "first"}, {"from": "first", "if": [{"when": {"tool_calls": true}, "to": "tools"}], "else": "END"},
  {"from": "tools", "to": "END"}]}}
END

# run THREAD ID TEXT [MEMBERS]: an invoke with that run id.
run() { api POST /v1/graph/invoke "$(run_body "[$(user "$3")]" "\"config\":{\"thread_id\":\"$1\",\"run_id\":\"$2\"}${4:+,$4}")"; }
record() { api GET "/v1/threads/$1/runs/$2"; }
result() { api GET "/v1/threads/$1/runs/$2/result${3:+?response_granularity=$3}"; }
listed() { json '.data.runs | map(.run_id) | join(" ")' "$BODY"; }
said() { json '"'"$STATUS"' \(.error_code) \(.detail)"' "$BODY"; }
data_of() { printf '%s' "$BODY" | sorted .data; }

printf '{"agent":"builtin:demo","ag_ui":{"enabled":true},"remote_tools":[{"node":"tools","name":"pick","description":"Picks"}]}\n' \
	>agentgraph.json
api_start || tap_bail 'the service does not start'

# ---- what a run leaves

run t r1 hello '"response_granularity":"full"'
invoked=$(data_of)
record t r1
is "$STATUS" 200 'a run has a record'
facts <<'TABLE'
with all its keys :: .data | keys == ["attempt", "background", "created_at", "error", "finished_at", "metadata", "node", "run_id", "started_at", "status", "step", "thread_id", "usage", "webhook"]
with what it came to :: .data | del(.created_at, .started_at, .finished_at) == {"run_id": "r1", "thread_id": "t", "status": "completed", "background": false, "attempt": 1, "step": 1, "node": "END", "error": null, "metadata": {}, "usage": {"prompt_tokens": 1, "completion_tokens": 2, "reasoning_tokens": 0, "total_tokens": 3}, "webhook": null}
with its times :: .data | [.created_at, .started_at, .finished_at] | all(test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}Z$")) and .[1] <= .[2]
TABLE
result t r1 full
is "$(data_of)" "$invoked" 'the result of the latest run is what invoke answered'
is "$(json '.metadata | "\(.thread_id) \(.is_new_thread)"' "$BODY")" 't true' 'metadata included'
result t r1
is "$(json '.data | keys | join(" ")' "$BODY")" 'messages meta' 'the granularity is low unless it is given'
result t r1 partial
is "$(json '.data | keys | join(" ")' "$BODY")" 'context messages meta state' 'partial is between'
run t r2 '/add 2 3'
second=$(data_of)
cost=$(json '[.data.messages[].usages | values] | "\(map(.prompt_tokens) | add) \(map(.completion_tokens) | add) 0 \(map(.total_tokens) | add)"' "$BODY")
result t r2
is "$(data_of)" "$second" 'a run of several steps has its messages alone'
record t r2
is "$(json '.data | "\(.step) \(.usage.prompt_tokens) \(.usage.completion_tokens) \(.usage.reasoning_tokens) \(.usage.total_tokens)"' "$BODY")" \
	"3 $cost" 'and the tokens of all of them'
ok "[ ${cost##* } -gt 3 ]" 'which are those of more than one message'
result t r1 full
facts <<'TABLE'
an earlier run has its messages, too :: said == ["hello", "echo: hello"]
and it made the thread :: .data.meta == {"is_new_thread": true, "thread_id": "t", "run_id": "r1", "interrupt": null}
and the state after it :: .data | [.summary, .state.execution_meta.status, (.context | texts), (.state.context | texts)] == [null, "completed", ["hello", "echo: hello"], ["hello", "echo: hello"]]
TABLE
gone=$(json '.data.messages[0].message_id' "$BODY")
api DELETE "/v1/threads/t/messages/$gone"
result t r1
facts <<'TABLE'
a message that was deleted is gone from the result :: said == ["echo: hello"]
TABLE

# ---- how runs end

run p p1 '/ask what'
paused=$(data_of)
record p p1
facts <<'TABLE'
a pause is interrupted :: .data | .status == "interrupted" and .error == null and .finished_at != null
TABLE
result p p1
is "$(data_of)" "$paused" 'its result has the pause'
run p p2 'more'
is "$(json '.data.meta.note' "$BODY" | cut -c 1-12)" 'The messages' 'a pause that is told again'
record p p2
is "$(said)" '404 RESOURCE_NOT_FOUND Run not found' 'is no run'
api POST /v1/graph/invoke '{"resume":"x","config":{"thread_id":"p","run_id":"p3"}}'
record p p3
is "$(json .data.status "$BODY")" completed 'the run that resumes is another one'
result p p1
is "$(json .data.meta.interrupt.value.question "$BODY")" what 'and the first one has paused still'

run w w1 '/remote pick {}'
call=$(json '.data.messages[-1].content[0].id' "$BODY")
record w w1
is "$(json '.data | "\(.status) \(.node)"' "$BODY")" 'completed tools' 'a run whose calls wait at the client is complete'
api POST /v1/graph/invoke "{\"messages\":[$(answer "$call" 1)],\"config\":{\"thread_id\":\"w\",\"run_id\":\"w2\"}}"
answered=$(data_of)
result w w2
is "$(data_of)" "$answered" 'the answers are no part of the result of the run that they start'

run e e1 hello '"recursion_limit":0'
record e e1
is "$(said)" '404 RESOURCE_NOT_FOUND Thread not found' 'input that is refused leaves no record'
run e e1 '/add 1 2' '"recursion_limit":1'
failed="$STATUS $(printf '%s' "$BODY" | sorted 'del(.metadata)')"
record e e1
is "$STATUS $(json '.data | "\(.status) \(.step) \(.error)"' "$BODY")" \
	'200 error 1 {"code":"GRAPH_RECURSION_LIMIT","message":"Graph execution exceeded recursion limit: 1"}' 'a run that failed says why'
result e e1
is "$STATUS $(printf '%s' "$BODY" | sorted 'del(.metadata)')" "$failed" 'and its result is that failure'

# ---- by other ways

api POST /v1/graph/stream "$(run_body "[$(user hello)]" '"config":{"thread_id":"ways","run_id":"s"}')"
api POST /v1/ag-ui '{"threadId":"ways","runId":"a","messages":[{"id":"m1","role":"user","content":"/add 2 3"}]}'
printf 'T%s\n' "$(run_body "[$(user hello)]" '"config":{"thread_id":"ways","run_id":"f"}')" |
	"$AGENTGRAPH_WS" --by-hand --state "$STATE" >frames 2>>log
api GET /v1/threads/ways/runs
is "$(listed)" 'f a s' 'streams, AG-UI and frames have records, the newest first'
is "$(json '.data.runs | map("\(.status) \(.step)") | join(",")' "$BODY")" 'completed 1,completed 3,completed 1' 'like an invoke'
for id in s a f; do
	result ways $id
	is "$STATUS" 200 "and a result ($id)"
done

# ---- a run that goes on

in_background slow run slow s1 '/slow 60 150' '"recursion_limit":100'
has_ticked() { record slow s1 && [ "$(json .data.step "$BODY")" -gt 0 ]; }
wait_for 30 has_ticked
facts <<'TABLE'
a run that goes on says so :: .data | [.status, .finished_at, .error] == ["running", null, null] and .step >= 1 and .node == "agent"
TABLE
result slow s1
is "$STATUS $(json '.data | "\(.run_id) \(.status)"' "$BODY")" '202 s1 running' 'its result is the record, with 202'
api GET '/v1/graph/runs?status=running'
is "$(listed)" s1 'it is listed as running'
api GET '/v1/graph/runs?status=error'
is "$(listed)" e1 'and not as failed'
api DELETE /v1/threads/slow/runs/s1
is "$(said)" '409 RUN_ACTIVE Run s1 is still active' 'it cannot be deleted'
run slow s1 again
is "$(said)" '409 RUN_ACTIVE Run s1 is still active' 'no other run can have its id'
api POST /v1/graph/stream "$(run_body "[$(user hello)]" '"config":{"thread_id":"slow","run_id":"s1"}')"
is "$(said)" '409 RUN_ACTIVE Run s1 is still active' 'also not a stream'
api POST /v1/ag-ui '{"threadId":"slow","runId":"s1","messages":[{"id":"m1","role":"user","content":"hi"}]}'
is "$(said)" '409 RUN_ACTIVE Run s1 is still active' 'or AG-UI'
printf 'T%s\n' "$(run_body "[$(user hello)]" '"config":{"thread_id":"slow","run_id":"s1"}')" |
	"$AGENTGRAPH_WS" --by-hand --state "$STATE" 2>>log | sed -n 's/^T//p' >frames
is "$(json '"\(.data.error_code) \(.data.reason) \(.run_id)"' "$(cat frames)")" 'RUN_ACTIVE Run s1 is still active null' 'a frame is rejected'
run t s1 hello
is "$STATUS" 200 'on another thread it is another run'
api POST /v1/threads/slow/runs/nobody/stop
is "$(said)" '404 RESOURCE_NOT_FOUND Run not found' 'another run of the thread is not stopped'
api POST /v1/threads/slow/runs/s1/stop
is "$STATUS $(json '.data.run_id' "$BODY")" '200 s1' 'a run is stopped by its id, without a body'
collect slow
is "$STATUS" 200 'it ends after its step'
stopped=$(data_of)
record slow s1
is "$(json .data.status "$BODY")" stopped 'and says that it was stopped'
result slow s1
is "$(data_of)" "$stopped" 'its result are the messages so far'
before=$(record slow s1 && printf '%s' "$BODY" | sorted .data)
api POST /v1/threads/slow/runs/s1/stop '{"config":{}}'
is "$STATUS $(data_of)" "200 $before" 'stopping it again changes nothing'
api POST /v1/threads/slow/runs/s1/stop '{"config":3}'
is "$(said)" '422 VALIDATION_ERROR config must be an object' 'config must be an object there, too'

# ---- the same id again

api GET /v1/threads/slow/runs
is "$(listed)" s1 'one record so far'
run slow s1 'once more'
api GET /v1/threads/slow/runs
is "$(listed) $(json '.data.runs[0].status' "$BODY")" 's1 completed' 'a run with the id of one that is over takes its place'
result slow s1
facts <<'TABLE'
its result is the new one :: said == ["once more", "echo: once more"]
TABLE

# ---- lists

api GET /v1/graph/runs
all=$(listed)
is "$all" 's1 s1 f a s e1 w2 w1 p3 p1 r2 r1' 'the list of all threads has the newest first'
is "$(json '[.data.runs[].created_at] | . == (sort | reverse)' "$BODY")" true 'by their times'
api GET '/v1/graph/runs?limit=3&offset=2'
is "$(listed)" 'f a s' 'in pages'
api GET '/v1/graph/runs?offset=100'
is "$STATUS $(listed)" '200 ' 'which end'
api GET '/v1/graph/runs?status=interrupted'
is "$(listed)" 'p1' 'by status'
api GET '/v1/graph/runs?status=queued'
is "$STATUS $(listed)" '200 ' 'of which none is queued'
api GET '/v1/graph/runs?thread_id=p'
is "$(listed)" 'p3 p1' 'of one thread'
api GET '/v1/graph/runs?thread_id=nobody'
is "$STATUS $(listed)" '200 ' 'that need not exist'
api GET '/v1/threads/p/runs?status=completed&limit=1'
is "$(listed)" 'p3' 'the list of a thread has pages and a status, too'
api GET /v1/threads/nobody/runs
is "$(said)" '404 RESOURCE_NOT_FOUND Thread not found' 'but of an unknown thread there is none'
api PUT /v1/threads/t/state '{"state":{}}'
api GET '/v1/graph/runs?limit=2'
is "$(listed)" 's1 s1' 'a thread that changed later does not make its runs newer'

# place NAME QUERY TEXT: a list that is refused for the value of NAME.
place() {
	for path in /v1/graph/runs /v1/threads/t/runs; do
		[ "$1 $path" != 'thread_id /v1/threads/t/runs' ] || continue
		api GET "$path?$2"
		is "$(said) $(json '.error.details[0].loc | join(".")' "$BODY")" "422 VALIDATION_ERROR $3 query.$1" "$path?$2 is refused"
	done
}
place status status=done 'status must be one of queued, running, completed, interrupted, stopped, error'
place status status=idle 'status must be one of queued, running, completed, interrupted, stopped, error'
place status status= 'status must not be empty'
place limit limit=0 'limit must be > 0'
place limit limit=x 'limit must be an integer'
place offset offset=-1 'offset must be >= 0'
place thread_id thread_id=0 'thread_id must be a positive integer'
place thread_id thread_id= 'thread_id must not be empty'
result t r2 huge
is "$(said) $(json '.error.details[0].loc | join(".")' "$BODY")" \
	'422 VALIDATION_ERROR response_granularity must be one of full, partial, low query.response_granularity' 'so is a granularity'

# ---- unknown ones

for id in nobody %20 R1 "$(printf '%0300d' 7)"; do
	record t "$id"
	is "$(said)" '404 RESOURCE_NOT_FOUND Run not found' "there is no run $id" || break
done
for path in /v1/threads/nobody/runs/r1 /v1/threads/nobody/runs/r1/result; do
	api GET "$path"
	is "$(said)" '404 RESOURCE_NOT_FOUND Thread not found' "GET $path"
done
api HEAD /v1/threads/t/runs/r1
is "$STATUS [$BODY]" '200 []' 'HEAD is answered'
api OPTIONS /v1/threads/t/runs/r1
is "$STATUS $(header Allow)" '204 DELETE, GET, HEAD, OPTIONS' 'and OPTIONS'
api PUT /v1/threads/t/runs/r1 '{}'
is "$STATUS" 405 'other methods are not there'

# ---- deleting

api DELETE /v1/threads/t/runs/r2
is "$STATUS $(data_of)" '200 {"message":"Run deleted successfully","success":true}' 'a record can be deleted'
api DELETE /v1/threads/t/runs/r2
is "$(said)" '404 RESOURCE_NOT_FOUND Run not found' 'once'
api GET /v1/threads/t/messages
is "$(json '.data.messages | length' "$BODY")" 7 'its messages stay'
api DELETE /v1/threads/t '{}'
run t new hello
api GET /v1/threads/t/runs
is "$(listed)" 'new' 'records go with their thread'

# ---- so many are kept

serve_stop
printf '{"agent":"builtin:demo","runs":{"keep":3}}\n' >agentgraph.json
api_start
for i in 1 2 3; do run k "k$i" hello; done
api GET /v1/threads/k/runs
is "$(listed)" 'k3 k2 k1' 'as many as are kept'
run k k4 hello
api GET /v1/threads/k/runs
is "$(listed)" 'k4 k3 k2' 'then the oldest goes'
run k k3 hello
api GET /v1/threads/k/runs
is "$(listed)" 'k3 k4' 'an id that comes again takes the place of its run'
run other o1 hello
api GET /v1/threads/k/runs
is "$(listed)" 'k3 k4' 'other threads do not matter'

# Where many are kept, an eighth of them goes at a time.
serve_stop
printf '{"agent":"builtin:demo","runs":{"keep":16}}\n' >agentgraph.json
api_start
for i in $(seq 17); do run many "m$i" hello; done
api GET /v1/threads/many/runs
is "$(listed | wc -w)" 17 'one more than are kept may stay'
run many m18 hello
api GET /v1/threads/many/runs
is "$(listed | wc -w) $(listed | sed 's/.* //')" '16 m3' 'until two go together'

# ---- processes that die

serve_stop
printf '{"agent":"graph.json:g","langgraph":{"enabled":true}}\n' >agentgraph.json
api_start
: >holds-node
(trap - EXIT; WORK=$WORK/lost; mkdir -p "$WORK"; run dead d1 '{\"message\":\"x\"}') >/dev/null 2>&1 &
lost=$!
wait_for 30 is_running dead
record dead d1
is "$(json .data.status "$BODY")" running 'a run is in its node'
kill -9 "$(workers)"
wait $lost
is_lost() { record dead d1 && [ "$(json .data.status "$BODY")" = error ]; }
wait_for 30 is_lost
facts <<'TABLE'
when its process was killed it is an error :: .data | [.status, .error] == ["error", {"code": "RUN_LOST", "message": "Run d1 was lost"}] and .finished_at != null
TABLE
result dead d1
is "$(said)" '500 RUN_LOST Run d1 was lost' 'so is its result'
api GET /lg/threads/dead/state
is "$(json '.tasks | map(.error | fromjson.error) | join(" ")' "$BODY")" RUN_LOST 'and the state that clients of LangGraph see'
api GET '/v1/graph/runs?status=running'
is "$STATUS $(listed)" '200 ' 'it is not listed as running'
api GET '/v1/graph/runs?status=error'
is "$(listed)" d1 'but as failed'
rm holds-node
run dead d2 '{\"message\":\"y\"}'
is "$STATUS" 200 'the next run goes on'
is "$(outside "$STATE/threads.db" "SELECT status FROM runs WHERE run_id = 'd1'")" 4 'and writes down that the first was lost'
record dead d1
is "$(json '.data | "\(.status) \(.error.code)"' "$BODY")" 'error RUN_LOST' 'which stays so'
run dead d1 '{\"message\":\"z\"}'
record dead d1
is "$(json .data.status "$BODY")" completed 'its id is free'
run dead d3 '{\"error\":\"broken\"}'
record dead d3
is "$(json '.data.error | "\(.code) \(.message)"' "$BODY")" 'NODE_ERROR Graph execution failed: broken' 'a node that fails is told'
result dead d3
is "$(json '.error.details | tostring' "$BODY")" '[{"loc":["node","first"],"msg":"broken","type":"node_error"}]' 'with its details'
serve_stop
done_testing
