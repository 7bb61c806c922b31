#!/bin/sh
# SPDX-License-Identifier: ISC
# Tools that the client runs: the call, the answers, and how the run goes on.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

cat >agentgraph.json <<'JSON'
{"agent": "builtin:demo", "remote_tools": [
  {"node": "tools", "name": "pick", "description": "Picks one", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}},
  {"node": "tools", "name": "look", "description": "Looks around"}]}
JSON

# call N: the id of the N-th remote call of the last answer.
call() { json "[.data.messages[].content[] | select(.type == \"remote_tool_call\").id][$1]" "$BODY"; }

# answers THREAD MESSAGE... [MEMBERS]: sends messages.
answers() { api POST /v1/graph/invoke "$(run_body "[$2]" "$(thread "$1")${3:+,$3}")"; }

# refused THREAD MESSAGE TEXT NAME: an answer that does not fit, which leaves the thread as it is.
refused() {
	api GET "/v1/threads/$1/state"
	before=$(json .data "$BODY")
	answers "$1" "$2"
	is "$STATUS|$(json '"\(.error_code)|\(.detail)"' "$BODY")" "422|INVALID_INPUT|$3" "$4 is refused"
	api GET "/v1/threads/$1/state"
	is "$(json .data "$BODY")" "$before" 'and nothing is stored'
}

invoke '/remote pick {\"n\":2}' "$(thread t),\"response_granularity\":\"full\""
is "$STATUS" 200 'a remote call ends the run normally'
facts <<'TABLE'
after one message :: .data.messages | map(.role) == ["user", "assistant"]
with one block :: last.content | map(del(.id)) == [{"type": "remote_tool_call", "name": "pick", "args": {"n": 2}, "tool_type": "remote"}]
the call is in tools_calls, too :: last | .tools_calls == [{"id": .content[0].id, "type": "function", "function": {"name": "pick", "arguments": "{\"n\":2}"}}]
it stands in exactly one message :: [.data.messages[], .data.context[-1:][]] | map(select(.tools_calls).message_id) | unique | length == 1
this is no interrupt :: .data.meta.interrupt == null and .data.state.execution_meta.is_interrupted == false
the state tells who waits :: .data.state.execution_meta | del(.interrupt_data, .thread_id) == {"current_node": "tools", "step": 2, "is_running": false, "is_interrupted": false, "is_stopped_requested": false, "status": "completed", "interrupted_node": "tools", "interrupt_reason": "remote_tool_call", "stop_current_execution": "none", "internal_data": {}}
and for what :: .data.state.execution_meta.interrupt_data == {"call_ids": [.data.messages[1].content[0].id]}
TABLE
resume 1 t
is "$STATUS" 422 'which cannot be resumed'
answers t "$(answer x 1)"
wrong="No remote tool call 'x' is waiting for a result"
is "$STATUS|$(json '"\(.error_code)|\(.detail)"' "$BODY")" "422|INVALID_INPUT|$wrong" 'another call is not waiting'

# told VALUE TEXT: the answer to a call, and what comes of it.
n=0
told() {
	n=$((n + 1))
	invoke '/remote pick {}' "$(thread "v$n")"
	answers "v$n" "$(answer "$(call 0)" "$1")"
	is "$STATUS|$(json '[.data.messages[] | "\(.role): \(.content[0].text)"] | join("|")' "$BODY")" \
		"200|assistant: remote: $2" "the result $1 is told as '$2'"
}
told '"sunny"' sunny
told '""' ''
told '{"lat": 52.5, "ok": [true, null]}' '{"lat":52.5,"ok":[true,null]}'
told null null
told 9007199254740993 9007199254740993
told '[]' '[]'
told false false

invoke '/remote pick {\"n\":1} && look {} && pick {\"n\":9007199254740993}' "$(thread m)"
facts <<'TABLE'
several calls stand in one message :: last | types == ["remote_tool_call", "remote_tool_call", "remote_tool_call"]
in their order :: last.content | map(.name) == ["pick", "look", "pick"]
with ids of their own :: last | [.tools_calls[].id] == [.content[].id] and ([.content[].id] | unique | length == 3)
TABLE
is "$(printf '%s' "$BODY" | grep -o '"n\\*":9007199254740993' | grep -c .)" 3 'a large number is exact in text, block and tools_calls'
asked=$(json 'last(.data.messages[]).message_id' "$BODY")
a=$(call 0) b=$(call 1) c=$(call 2)
refused m "$(answer "$a" 1),$(answer "$a" 2)" 'Each tool call can be answered only once' 'a second answer in one request'
refused m "$(answer "$a" 1),$(answer nope 2)" "No remote tool call 'nope' is waiting for a result" 'a wrong id among right ones'
refused m '{"role":"tool","content":"sunny"}' 'A tool message needs a call_id: 3 remote tool calls are waiting' \
	'plain text while several calls wait'
refused m '{"role":"tool","content":[{"type":"image","url":"https://example.org/a.png","mime_type":"image/png"}]}' \
	'A tool message needs a call_id: 3 remote tool calls are waiting' 'a picture without a call'
for role in user assistant system; do
	refused m "{\"role\":\"$role\",\"content\":[{\"type\":\"tool_result\",\"call_id\":\"$a\",\"output\":1}]}" \
		'A tool result needs a message with the role tool' "an answer of the role $role"
done
answers m "$(answer "$c" 3)" '"response_granularity":"full"'
is "$STATUS" 200 'answers may come one by one'
facts <<'TABLE'
the calls that still wait are shown again :: .data.messages | length == 1
with their own ids, both ways :: last | [[.content[].name], [.tools_calls[].id] == [.content[].id]] == [["pick", "look"], true]
the state names them :: .data.state.execution_meta.interrupt_data.call_ids == [.data.messages[0].content[].id]
the answer is stored :: .data.context[-1].content[0] | [.type, .output] == ["tool_result", 3]
the message that asked still has three calls there :: [.data.context[] | select(.tools_calls)] | length == 1 and (.[0].tools_calls | length == 3)
TABLE
is "$(json '.data.messages[0].message_id' "$BODY")" "$asked" 'under the id of the message that asked'
is "$(call 0)|$(call 1)" "$a|$b" 'they are the calls that were not answered'
refused m "$(answer "$c" 3)" "No remote tool call '$c' is waiting for a result" 'an answer that was given before'
kept=$STATE
serve_stop
STATE=$kept
api POST /v1/graph/stream "$(run_body "[$(answer "$b" '"two"')]" "$(thread m),\"response_granularity\":\"full\"")"
chunks <<'TABLE'
after a restart a stream tells what still waits :: events == ["assistant", "done"]
in one final message :: .[0].message | [.delta, [.content[].name]] == [false, ["pick"]]
TABLE
answers m '{"role":"tool","content":[{"type":"text","text":"o"},{"type":"text","text":"ne"}]}'
facts <<'TABLE'
plain text answers the last call; all are told in the order of the calls :: said == ["remote: one, two, 3"]
TABLE
refused m '{"role":"tool","content":"sunny"}' 'A tool message needs a call_id: 0 remote tool calls are waiting' \
	'plain text when nothing waits'
refused m '{"role":"tool","content":[{"type":"text","text":"sunny"},{"type":"data","mime_type":"text/plain","data_base64":"YQ=="}]}' \
	'A tool message needs a call_id: 0 remote tool calls are waiting' 'data without a call when nothing waits'
refused m "$(answer "$a" 1)" "No remote tool call '$a' is waiting for a result" 'an answer when nothing waits'
answers nowhere "$(answer "$a" 1)"
is "$STATUS|$(json .error_code "$BODY")" '422|INVALID_INPUT' 'an answer on an unknown thread is refused'
api GET /v1/threads/nowhere
is "$STATUS" 404 'which it does not create'
api POST /v1/graph/stream "$(run_body "[$(answer "$a" 1)]" "$(thread m)")"
is "$STATUS" 200 'a stream refuses an answer within'
chunks <<'TABLE'
by an error and the terminator :: events == ["error", "done"]
with its code :: .[0].data | [.status, .error_code] == ["error", "INVALID_INPUT"]
TABLE

invoke '/remote pick {}' "$(thread p)"
answers p '{"role":"tool","content":"sunny"}'
facts <<'TABLE'
a string answers the only call :: said == ["remote: sunny"]
TABLE
api GET /v1/threads/p/messages
facts <<'TABLE'
it is stored as the result of that call :: .data.messages | .[2].content == [{"type": "tool_result", "call_id": .[1].content[0].id, "output": "sunny", "is_error": false, "status": "completed"}]
TABLE
invoke '/remote pick {} && look {}' "$(thread o)"
answers o "{\"role\":\"tool\",\"content\":[{\"type\":\"tool_result\",\"call_id\":\"$(call 1)\",\"output\":\"B\"},{\"type\":\"tool_result\",\"call_id\":\"$(call 0)\",\"output\":\"A\"}]}"
facts <<'TABLE'
one message may answer several calls :: said == ["remote: A, B"]
TABLE
invoke '/remote pick {}' "$(thread e)"
answers e "{\"role\":\"tool\",\"content\":[{\"type\":\"tool_result\",\"call_id\":\"$(call 0)\",\"output\":\"broken\",\"is_error\":true}]}"
is "$STATUS" 200 'an error is an answer, too'
api GET /v1/threads/e/messages
facts <<'TABLE'
its status follows :: .data.messages[2].content[0] | [.is_error, .status, .output] == [true, "failed", "broken"]
TABLE

# ---- user messages while calls wait

invoke '/remote pick {} && look {}' "$(thread u)"
invoke 'never mind' "$(thread u)"
facts <<'TABLE'
a user message without answers begins a new turn :: last | text == "echo: never mind"
TABLE
api GET /v1/threads/u/messages
facts <<'TABLE'
each waiting call is closed by a message :: .data.messages | map(.role) == ["user", "assistant", "tool", "tool", "user", "assistant"]
in the order of the calls :: .data.messages | [.[2:4][].content[0].call_id] == [.[1].content[].id]
with an error :: .data.messages[2:4] | all(.content[0] | [.output, .is_error, .status] == [{"error": "No result was provided"}, true, "failed"])
TABLE
api GET /v1/threads/u/state
facts <<'TABLE'
nothing waits any more :: .data.state.execution_meta | [.interrupted_node, .interrupt_reason, .interrupt_data] == [null, null, null]
TABLE

invoke '/remote pick {} && look {}' "$(thread w)"
a=$(call 0) b=$(call 1)
answers w "$(answer "$a" '"A"')"
invoke 'never mind' "$(thread w)"
api GET /v1/threads/w/messages
facts <<'TABLE'
a call that has its answer is not closed :: .data.messages | map(.content[0].output) == [null, null, "A", {"error": "No result was provided"}, null, null]
TABLE

invoke '/remote pick {}' "$(thread x)"
answers x "$(user 'what now?'),$(answer "$(call 0)" '"B"')"
facts <<'TABLE'
with an answer the run goes on, whatever the user says :: said == ["what now?", "remote: B"]
TABLE
api GET /v1/threads/x/messages
facts <<'TABLE'
answers are stored before user messages :: .data.messages | map(.role) == ["user", "assistant", "tool", "user", "assistant"]
TABLE
invoke '/context' "$(thread x)"
facts <<'TABLE'
the next turn is an ordinary one :: last | text == "context: 6"
TABLE

answers_as() { printf '{"role":"tool","message_id":"%s","content":[{"type":"tool_result","call_id":"%s","output":%s}]}' "$1" "$2" "$3"; }
invoke '/remote pick {} && look {}' "$(thread again)"
a=$(call 0) b=$(call 1)
answers again "$(answers_as first "$a" 1)"
answers again "$(answers_as first "$a" 1)"
is "$STATUS|$(json '[.data.messages[].content[].name] | join(" ")' "$BODY")" '200|look' \
	'a partial answer that is sent again, under its id, changes nothing'
answers again "$(answers_as second "$b" 2)"
facts <<'TABLE'
the other one still goes on with the run :: said == ["remote: 1, 2"]
TABLE
answers again "$(answers_as second "$b" 2)"
is "$STATUS|$(json '.data.messages | tojson' "$BODY")" '200|[]' 'and sent again, when that has ended, runs nothing'

invoke '/remote pick {}' "$(thread cleared)"
a=$(call 0)
api DELETE /v1/threads/cleared/state
refused cleared "$(answer "$a" 1)" "No remote tool call '$a' is waiting for a result" 'an answer after the state was cleared'

api POST /v1/threads/history/messages "$(run_body '[{"role":"user","content":"/add 1 2"},{"role":"assistant","content":[{"type":"remote_tool_call","id":"h1","name":"pick","args":{}},{"type":"tool_call","id":"h2","name":"add","args":{"a":1,"b":2}}]}]')"
is "$STATUS" 200 'calls may be stored as history'
answers history "$(answer h1 1)"
is "$STATUS" 422 'such a call waits for nobody'
invoke hello "$(thread history)"
facts <<'TABLE'
and is never run :: said == ["hello", "echo: hello"]
TABLE

# ---- streamed

stream '/remote pick {\"n\":1}' "$(thread s),\"response_granularity\":\"full\""
chunks <<'TABLE'
a streamed call ends with the tool node :: events == ["invoking_node", "assistant", "state", "node_invoked", "invoking_node", "state", "node_invoked", "done"]
which says why :: map(select(.data.status == "node_invoked").data) == [{"status": "node_invoked", "node": "agent", "step": 1, "max_steps": 25}, {"status": "node_invoked", "node": "tools", "step": 2, "max_steps": 25, "reason": "Remote tool call - graph interrupted"}]
the call is sent once :: [.[].message | select(.) | .content[] | select(.type == "remote_tool_call")] | length == 1
TABLE
id=$(printf '%s' "$BODY" | jq -rs '.[1].message.content[0].id')
api POST /v1/graph/stream "$(run_body "[$(answer "$id" '"C D"')]" "$(thread s)")"
chunks <<'TABLE'
the answer is not sent back :: events == ["piece", "piece", "piece", "assistant", "done"]
the run goes on after the tools :: .[0].metadata | [.node, .step] == ["agent", 1]
TABLE
stream '/remote pick {}' "$(thread l)"
chunks <<'TABLE'
at low a call is its message alone :: events == ["assistant", "done"]
TABLE

# ---- answers of clients that forget the thread

lost() { api POST "/v1/graph/${2-invoke}" "$(run_body "[$1]")"; }
invoke '/remote pick {} && look {}'
a=$(call 0) b=$(call 1) t=$(json .data.meta.thread_id "$BODY")
lost "$(answer "$b" '"B"'),$(answer "$a" '"A"')"
is "$STATUS|$(json '[.data.messages[-1].content[0].text, .data.meta.thread_id, .data.meta.is_new_thread] | tojson' "$BODY")" \
	"200|[\"remote: A, B\",\"$t\",false]" 'answers without a thread go to the one where the first of their calls waits'
lost "$(answer "$a" '"A"')"
is "$STATUS|$(json .detail "$BODY")" "422|No remote tool call '$a' is waiting for a result" 'where none waits any more they are refused'
api GET "/v1/threads?limit=1"
is "$(json '.data.threads[0].thread_id' "$BODY")" "$t" 'and no thread is made'
invoke '/remote pick {} && look {}' "$(thread lost)"
a=$(call 0) b=$(call 1)
lost "{\"role\":\"tool\",\"tool_call_id\":\"$a\",\"content\":\"one\"}"
is "$STATUS|$(json '[.data.meta.thread_id, [.data.messages[].content[].name]] | tojson' "$BODY")" '200|["lost",["look"]]' \
	'they may come one by one'
lost "$(answer "$a" 1)"
is "$STATUS" 422 'a call that has its answer is not found'
lost "{\"role\":\"tool\",\"content\":\"two\"}"
is "$STATUS|$(json .detail "$BODY")" '422|A tool message needs a call_id: 0 remote tool calls are waiting' 'nor is one without a call'
lost "$(user hi),$(answer "$b" 2)"
is "$STATUS|$(json .detail "$BODY")" "422|No remote tool call '$b' is waiting for a result" 'what brings more than answers names its thread'
api POST /v1/graph/invoke "$(run_body "[$(answer "$b" 2)]" "$(thread elsewhere)")"
is "$STATUS" 422 'a thread that is named is used'
lost "$(answer "$b" '"two"')" stream
chunks <<'TABLE'
a stream finds it as well :: [.[].thread_id] | unique == ["lost"]
and goes on :: map(select(.message.delta == false))[-1].message.content[0].text == "remote: one, two"
TABLE
invoke '/remote pick {}' "$(thread gone)"
a=$(call 0)
api DELETE /v1/threads/gone '{}'
lost "$(answer "$a" 1)"
is "$STATUS|$(json .detail "$BODY")" "422|No remote tool call '$a' is waiting for a result" 'after deletion nothing waits'

# ---- only the model asks for tools

# carries MESSAGE NAME
carries() {
	for route in invoke stream; do
		api POST "/v1/graph/$route" "$(run_body "[$(user hi),$1]" "$(thread nowhere)")"
		is "$STATUS|$(json '"\(.error_code)|\(.detail)|\(.error.details | map(.loc | join(".")) | join(" "))"' "$BODY")" \
			'422|VALIDATION_ERROR|messages[1] carries a tool call; only the model may request tools|body.messages.1' \
			"$2 in $route is refused"
	done
}
call='"id":"c1","name":"pick","args":{}'
carries "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_call\",$call}]}" 'a tool call'
carries "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"x\"},{\"type\":\"remote_tool_call\",$call}]}" 'a remote tool call'
carries '{"role":"assistant","content":"","tools_calls":[{"id":"c1","type":"function","function":{"name":"pick","arguments":"{}"}}]}' \
	'a call in tools_calls'
carries "{\"role\":\"user\",\"content\":[{\"type\":\"tool_call\",$call}]}" "a user's tool call"
answers nowhere '{"role":"assistant","content":"x","tools_calls":[]}'
is "$STATUS" 200 'an empty array of calls is none'

# ---- what is told again may be large

large=$(head -c 20000 /dev/zero | tr '\0' x)
invoke "/remote pick {\\\"n\\\":\\\"$large\\\"} && look {}" "$(thread large)"
API_TIMEOUT=20
api POST /v1/graph/stream "$(run_body "[$(answer "$(call 1)" 1)]" "$(thread large)")"
is "$STATUS|$(printf '%s\n' "$BODY" | jq -sr '"\(length) \(.[0].message.content[0].args.n | length) \(.[-1].data.status)"')" \
	'200|2 20000 done' 'a call with large arguments is told again on a stream'

# ---- in the background

# later RUN MESSAGE: sends it, and BODY is then the record at its end.
over() { api GET "/v1/threads/later/runs/$1" && [ "$(json .data.finished_at "$BODY")" != null ]; }
later() {
	api POST /v1/graph/runs "$(run_body "[$2]" "$(thread later "\"run_id\":\"$1\"")")"
	wait_for 20 over "$1"
}
invoke '/remote pick {\"n\":1} && look {}' "$(thread later)"
first=$(call 0) second=$(call 1)
later one "$(answer "$first" 1)"
facts <<'TABLE'
one of two answers ends its run :: .data | [.status, .node, .step, .attempt, .error] == ["completed", "tools", 2, 1, null]
which has begun, too :: .data | [.created_at, .started_at, .finished_at] | . == sort and all
TABLE
api GET /v1/threads/later/state
is "$(json '.data.state.execution_meta.interrupt_data.call_ids | join(" ")' "$BODY")" "$second" 'and the other call waits still'
api GET '/v1/threads/later/runs/one/result?response_granularity=partial'
is "$(json '.data | "\(.messages | map(.tools_calls[].id) | join(" ")) \(.state.execution_meta.interrupted_node)"' "$BODY")" "$second tools" \
	'which the result tells, as an answer would'
later two "$(answer "$second" 2)"
is "$(json '"\(.data.status) \(.data.node)"' "$BODY")" 'completed END' 'with the other one the graph goes on'
api GET /v1/threads/later/messages
is "$(json '[.data.messages[].content[] | select(.type == "tool_result").output] | join(" ")' "$BODY")" '1 2' 'and has both'
api GET /v1/threads/later/runs/one/result
is "$(json '.data.messages | length' "$BODY")" 0 'and the result of the first has no calls any more'

# each call is compared with the others
invoke "/remote $(printf 'look {} && %.0s' $(seq 4096))look {}" "$(thread many)"
like "$BODY" 'expected a message of at most 4096 calls' 'a message has a bound on its calls'

done_testing
