#!/bin/sh
# SPDX-License-Identifier: ISC
# Chat completions on threads: which thread is meant, what is new, pauses, tools of the client, and whose thread it is.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/api/openai.sh"

openai_configure

# list THREAD: its messages in short.
list() {
	api GET "/v1/threads/$1/messages"
	json '[.data.messages[]? | "\(.role): \([.content[] | .text // (.output | if type == "string" then . else tojson end)? // .type] | join(","))"] | join("|")' "$BODY"
}

# ---- which thread

on t1 "$(user first)"
said_is 'echo: first' 'the header names a thread'
is "$(json .thread_id "$BODY")" t1 'and the answer, too'
run=$(json '.id' "$BODY" | sed 's/^chatcmpl-//')
api GET "/v1/threads/t1/runs/$run"
is "$STATUS $(json .data.status "$BODY")" '200 completed' 'its id is that of the run'
on t1 "$(user first),$(assistant 'echo: first'),$(user /context)" '"stream":true'
is "$(json '"\(map(objects | .choices[0].delta.content // empty) | join("")) \(map(objects | .thread_id) | unique)"' "$BODY")" \
	'context: 3 ["t1"]' 'a client that sends the whole conversation goes on with it, and chunks name the thread'
complete "$(user second)" '"metadata":{"thread_id":"t2"}'
is "$(json .thread_id "$BODY")" t2 'the metadata may name it'
on t1 "$(user third)" '"metadata":{"thread_id":"t2"}'
is "$(json .thread_id "$BODY")" t1 'the header is stronger'
on new "$(user x)"
is "$(json .thread_id "$BODY") $(list new)" 'new user: x|assistant: echo: x' 'new is an id like any other'
complete "$(user x)" '"metadata":{"thread_id":7}'
is "$(json .thread_id "$BODY")" 7 'so is a number'
complete "$(user x)" '"metadata":{"thread_id":[]}'
wrong VALIDATION_ERROR metadata.thread_id 'thread_id' 'a list is none'
complete "$(user x)" '"metadata":{"thread_id":" "}'
wrong VALIDATION_ERROR metadata.thread_id 'empty' 'nor are blanks'
on "$(printf '%0300d' 0)" "$(user x)"
wrong VALIDATION_ERROR X-Thread-ID 'thread_id' 'nor is what is too long'
on t1 "$(user title)" '"metadata":{"task":"title_generation","thread_id":"t1"}'
is "$(json '"\(.thread_id) \(.choices[0].message.content)"' "$BODY")" 'null echo: title' 'a task of the page runs without a thread'
api GET /v1/threads
is "$(json '[.data.threads[].thread_id] | sort | join(" ")' "$BODY")" '7 new t1 t2' 'and no other threads were made'

# ---- what is new

on n1 '{"role":"system","content":"be brief"},{"role":"developer","content":"no"},'"$(user one)"
is "$(list n1)" 'user: one|assistant: echo: one' 'system messages are left out'
on n1 "$(user one),$(assistant 'echo: one')"
facts <<'TABLE'
nothing new is an empty answer :: [answer, reason] == ["", "stop"]
that cost nothing :: [.usage.prompt_tokens, .usage.completion_tokens, .usage.total_tokens] == [0, 0, 0]
TABLE
on n1 "$(user one),$(assistant 'echo: one')" '"stream":true,"stream_options":{"include_usage":true}'
facts <<'TABLE'
so it is in a stream :: [deltas, reasons] == [[""], ["stop"]]
with its usage :: .[-2].usage.total_tokens == 0
TABLE
on n1 '{"role":"system","content":"only this"}'
is "$STATUS $(json '.choices[0].message.content' "$BODY")" '200 ' 'a system message alone is nothing new'
is "$(list n1)" 'user: one|assistant: echo: one' 'and the thread stayed as it was'
on n1 "$(assistant 'something else'),$(user two),$(user three)"
is "$(list n1)" 'user: one|assistant: echo: one|user: two|user: three|assistant: echo: three' 'all behind the last answer is taken'

# ---- pauses

on p1 "$(user '/ask May I?')"
said_is 'May I?' 'a question is the answer'
on p1 "$(user '/ask May I?'),$(assistant 'May I?')"
is "$(json '.choices[0].message.content' "$BODY")" '' 'nothing new answers nothing'
on p1 "$(user '/ask May I?'),$(assistant 'May I?'),$(user title)" '"metadata":{"task":"title_generation"}'
said_is 'echo: title' 'a title does not answer it'
on p1 "$(user '/ask May I?'),$(assistant 'May I?'),$(user yes)"
said_is 'answer: yes' 'what the user says next does'
on p1 "$(user '/ask Again?')" '"stream":true'
is "$(json 'map(objects | .choices[0].delta.content // empty) | join("")' "$BODY")" 'Again?' 'a stream asks, too'
api POST /v1/graph/invoke "{\"resume\":\"by REST\",$(thread p1)}"
is "$(json '.data.messages[-1].content[0].text' "$BODY")" 'answer: by REST' 'and others may answer'
cat >graph.json <<'JSON'
{"asks": {
  "nodes": {"text": {"kind": "interrupt", "value": {"to": "whom"}}, "said": {"kind": "reply", "text": "you said {{user_text}}"}},
  "edges": [{"from": "START", "to": "text"}, {"from": "text", "to": "said"}, {"from": "said", "to": "END"}]},
 "before": {
  "nodes": {"said": {"kind": "reply", "text": "you said {{user_text}}"}},
  "interrupt_before": ["said"],
  "edges": [{"from": "START", "to": "said"}, {"from": "said", "to": "END"}]},
 "silent": {
  "nodes": {"said": {"kind": "exec", "command": "./silent.sh"}},
  "edges": [{"from": "START", "to": "said"}, {"from": "said", "to": "END"}]}}
JSON
printf '#!/bin/sh\ncat >/dev/null\necho '"'"'{"message": {"role": "assistant", "content": "no price"}}'"'"'\n' >silent.sh
chmod +x silent.sh
serve_stop

# other NAME MESSAGES [MEMBERS]: on a thread of that name of the graph of that name.
other() {
	printf '{"agent":"graph.json:%s","openai":{"enabled":true,"model":"demo"}}\n' "$1" >agentgraph.json
	on "$@"
}
other asks "$(user hi)"
said_is '{"to":"whom"}' 'without a text the question is what there is, as JSON'
on asks "$(user me)"
like "$(json '.choices[0].message.content' "$BODY")" '^you said' 'and is answered'
serve_stop
other before "$(user hi)"
said_is '{}' 'a pause before a node asks nothing'
on before "$(user go)"
like "$(json '.choices[0].message.content' "$BODY")" '^you said go' 'and what comes next goes on'
serve_stop
other silent "$(user hi)"
is "$(json '"\(.choices[0].message.content) \(has("usage"))"' "$BODY")" 'no price false' 'where nobody says what it cost there is no usage'
on silent "$(user hi)" '"stream":true,"stream_options":{"include_usage":true}'
is "$(json '"\(.[-2].usage) \(.[-2].choices)"' "$BODY")" 'null []' 'nor in a stream'
serve_stop
openai_configure

# ---- tools of the client

on c1 "$(user '/remote pick {\"n\":2}')" "$PICK"
facts <<'TABLE'
a call is the answer :: [answer, reason, calls] == [null, "tool_calls", ["pick {\"n\":2}"]]
it is a function's :: .choices[0].message.tool_calls[0] | [keys, .type] == [["function", "id", "type"], "function"]
TABLE
call=$(json '.choices[0].message.tool_calls[0].id' "$BODY")
on c1 "$(user '/remote pick {\"n\":2}'),$(asked "$call"),$(told "$call" two)"
said_is 'remote: two' 'its result goes on'
on c1 "$(user '/remote pick {\"n\":2}'),$(asked "$call"),$(told "$call" two)"
is "$(json '.choices[0].message.content' "$BODY")" '' 'and once only'
on c2 "$(user '/remote pick {\"n\":1} && pick {\"n\":2}')" "$PICK,\"stream\":true"
facts <<'TABLE'
chunks have a call each :: [.[1:3][] | .choices[0].delta.tool_calls[0] | [.index, .type, .function.name, .function.arguments]] == [[0, "function", "pick", "{\"n\":1}"], [1, "function", "pick", "{\"n\":2}"]]
and say why they end :: reasons == ["tool_calls"]
TABLE
first=$(json '.[1].choices[0].delta.tool_calls[0].id' "$BODY") second=$(json '.[2].choices[0].delta.tool_calls[0].id' "$BODY")
on c2 "$(told "$first" one)"
is "$(json '"\(.choices[0].finish_reason) \([.choices[0].message.tool_calls[].id] | . == ["'"$second"'"]) \(.usage.total_tokens)"' "$BODY")" 'tool_calls true 0' \
	'a call that is left is asked for again'
on c2 "$(told "$second" two)" '"stream":true'
is "$(json 'map(objects | .choices[0].delta.content // empty) | join("")' "$BODY")" 'remote: one, two' 'then it goes on'
on c2 "$(told nobody two)"
wrong INVALID_INPUT null 'No remote tool call' 'a result that nobody waits for is refused'
on c3 "$(user '/remote pick {}')" "$PICK"
on c3 "$(user 'never mind')"
said_is 'echo: never mind' 'who says something else answers no call'

complete "$(user '/remote pick {}'),$(asked a b),$(told b two),$(told a one)" "$PICK"
said_is 'remote: one, two' 'without a thread the whole conversation has the results'
complete "$(user '/remote pick {}'),$(asked a),$(told a one),$(assistant 'remote: one'),$(user /context)" "$PICK"
said_is 'context: 5' 'and is the context'
before=$(serve_spent)
complete "$(user '/remote pick {}'),$(seq 15000 | jq -csr '
	{role: "assistant", content: null,
	 tool_calls: map({id: "c\(.)", type: "function", function: {name: "pick", arguments: "{}"}})},
	(.[] | {role: "tool", tool_call_id: "c\(.)", content: "x"}) | tojson' | paste -sd , -)" "$PICK"
is "$STATUS $(json '.choices[0].message.content | length' "$BODY")" 200\ 45006 'however many calls it has'
ok '[ $(($(serve_spent) - before)) -lt 1000 ]' 'it takes no quadratic time'
complete "$(user '/remote pick {}')" "$PICK,\"tool_choice\":\"none\""
said_is 'unknown remote tool: pick' 'with the choice none there are no tools'
complete "$(user '/remote pick {}')" "$PICK,\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"pick\"}}"
is "$(json '.choices[0].finish_reason' "$BODY")" tool_calls 'any other choice is free'
complete "$(user '/add 1 2')" '"tools":[{"type":"function","function":{"name":"add"}}]'
said_is 'sum: 3' 'a tool with the name of the graph'\''s is ignored'

tools() { awk -v n="$1" 'BEGIN { printf "\"tools\":["; for (i = 0; i < n; i++) printf "%s{\"type\":\"function\",\"function\":{\"name\":\"pick%d\"}}", i ? "," : "", i; print "]" }'; }
complete "$(user '/remote pick127 {}')" "$(tools 128)"
is "$(json '.choices[0].message.tool_calls[0].function.name' "$BODY")" pick127 '128 tools are offered'
complete "$(user '/remote pick127 {}')" "$(tools 129)"
wrong VALIDATION_ERROR tools 'At most 128' '129 are too many'

# ---- busy

in_background slow on busy "$(user '/slow 25 800')"
wait_for 20 is_running busy
api POST /v1/graph/invoke '{"messages":[{"role":"user","content":"x"}],"config":{"thread_id":"busy"},"multitask_strategy":"reject"}'
is "$STATUS" 409 'a run has its thread'
api POST /v1/graph/stop '{"thread_id":"busy"}'
collect slow
is "$STATUS $(printf '%s' "$BODY" | jq -r '.choices[0].finish_reason')" '200 stop' 'one that is stopped answers with what it said'
serve_stop

# ---- whose it is

openai_configure '"auth":"jwt","authorization":"ownership"'
alice=$(token alice) bob=$(token bob) invoker=$(token alice ',"scopes":["graph:invoke"]')
body() { printf '{"model":"demo","messages":[{"role":"user","content":"%s"}]%s}' "$1" "${2:+,$2}"; }
with "$alice" POST /v1/chat/completions "$(body hello)" 'X-Thread-ID: hers'
is "$STATUS" 200 'alice has a thread'
for members in '' '"stream":true'; do
	with "$bob" POST /v1/chat/completions "$(body hello "$members")" 'X-Thread-ID: hers'
	is "$STATUS $(json '.error | "\(.type) \(.code)"' "$BODY")" '403 permission_error PERMISSION_ERROR' "which bob may not use ($members)"
	with "$bob" POST /v1/chat/completions "$(body hello "\"metadata\":{\"thread_id\":\"hers\"}${members:+,$members}")" 'X-Thread-ID: his'
	is "$STATUS" 200 "named beside his own it is not looked at ($members)"
	with "$bob" POST /v1/chat/completions "$(body hello "\"metadata\":{\"thread_id\":\"his\"}${members:+,$members}")" 'X-Thread-ID: hers'
	is "$STATUS" 403 "and his own does not help ($members)"
done
with "$invoker" POST /v1/chat/completions "$(body hello)"
is "$STATUS" 200 'who may invoke may ask'
with "$invoker" POST /v1/chat/completions "$(body hello '"stream":true')"
is "$STATUS $(json .error.message "$BODY")" '403 Missing required scope: graph:stream' 'a stream takes the scope of streams'
with "$invoker" GET /v1/models
is "$STATUS $(json .error.message "$BODY")" '403 Missing required scope: graph:read' 'models take that of reading'
api POST /v1/chat/completions "$(body hello)" 'Authorization: Bearer nonsense'
is "$STATUS $(json '.error | "\(.type) \(.code)"' "$BODY")" '401 authentication_error INVALID_TOKEN' 'a token that is none'
api POST /v1/chat/completions "$(body hello)"
is "$STATUS $(json .error.type "$BODY") $(header WWW-Authenticate)" '401 authentication_error Bearer' 'or none at all is 401'
with "$alice" POST /v1/chat/completions "$(body /whoami)"
said_is alice 'a run without a thread is its user'\''s'

done_testing
