#!/bin/sh
# SPDX-License-Identifier: ISC
# Chat completions on builtin:demo without a thread: answers and chunks of every command, the models, what is refused,
# and that nothing is left behind.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/openai.sh"

# ---- off

for members in '' ',"openai":{"enabled":false}' ',"openai":{"model":"x"}'; do
	printf '{"agent":"builtin:demo"%s}\n' "$members" >agentgraph.json
	complete "$(user hello)"
	is "$STATUS $(json '"\(.error_code) \(.detail)"' "$BODY")" '404 NOT_FOUND Not Found' "without enabled there is no route ($members)"
	api GET /v1/models
	is "$STATUS" 404 "nor are there models ($members)"
	serve_stop
done
openai_configure
like "$("$AGENTGRAPH" routes)" '^POST +/v1/chat/completions +graph:invoke$' 'when enabled there is'

# ---- an answer

complete "$(user 'hello world')"
is "$STATUS $(header Content-Type)" '200 application/json' 'a run is answered'
is "$(header Cache-Control)" no-store 'and not to be kept'
facts <<'TABLE'
nothing else is said :: keys == ["choices", "created", "id", "model", "object", "system_fingerprint", "usage"]
it has an id :: .id | test("^chatcmpl-[0-9a-f-]{36}$")
an object and a model :: [.object, .model, .system_fingerprint] == ["chat.completion", "demo", null]
a time in seconds :: (now - .created) | . > -5 and . < 600
one choice :: .choices == [{"index": 0, "message": {"role": "assistant", "content": "echo: hello world", "refusal": null}, "logprobs": null, "finish_reason": "stop"}]
and what it cost :: .usage == {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 0}}
TABLE

# commands TEXT ANSWER
commands() {
	complete "$(user "$1")"
	said_is "$2" "the answer of '$1'"
	complete "$(user "$1")" '"stream":true'
	is "$STATUS $(json 'map(objects | .choices[0].delta.content // empty) | join("")' "$BODY")" "200 $2" 'and its pieces are the same'
	is "$(json '"\(map(objects | .choices[0].finish_reason // empty)) \(.[0].choices[0].delta.role) \(.[-1])"' "$BODY")" '["stop"] assistant done' \
		'between a role and an end'
}
commands '/add 2 3' 'sum: 5'
commands '/fail-tool' 'tool failed: demo failure'
commands '/slow 2 1' "$(printf 'tick 1\n\ntick 2\n\ndone')"
commands '/think deep' 'thought: deep'
commands '/note one' noted
commands '/context' 'context: 1'
commands '/whoami' anonymous
commands '/ask May I?' 'May I?'
commands '' 'echo: '
complete "$(user '/add 2 3')"
is "$(json '"\(.usage.total_tokens) \(.choices[0].message | keys)"' "$BODY")" '8 ["content","refusal","role"]' 'tools of the server are not shown, and the usage is the sum'
complete "$(user '/think deep')"
is "$(json '.choices[0].message | "\(.reasoning_content) \(.content)"' "$BODY")" 'deep thought: deep' 'what was thought is beside it'
complete "$(user '/think deep')" '"stream":true'
is "$(json 'map(objects | .choices[0].delta | select(.content != "") | tostring) | join(" ")' "$BODY")" \
	'{"reasoning_content":"deep"} {"content":"thought:"} {"content":" deep"} {}' 'and before it in chunks'
complete "$(user '/ask May I?')"
is "$(json '"\(.choices[0].finish_reason) \(.usage.total_tokens)"' "$BODY")" 'stop 0' 'a question is an answer that cost nothing'

api POST /v1/responses '{"model":"demo","input":"hi"}'
is "$STATUS $(json '.error | "\(.type) \(.code) \(.message)"' "$BODY")" \
	"404 invalid_request_error NOT_FOUND Not Found: of OpenAI's API there are /v1/chat/completions and /v1/models" \
	'a client of another API of OpenAI is told which there is'
api GET /v1/responses/resp_1/input_items
like "$STATUS $BODY" "^404 .*OpenAI's API" 'whatever it asks there'
api GET /v1/answers
is "$STATUS $(json .detail "$BODY")" '404 Not Found' 'others are told nothing'

# ---- chunks

complete "$(user 'hello world')" '"stream":true'
is "$(header Content-Type)" 'text/event-stream; charset=utf-8' 'chunks are an event stream'
is "$(header X-Accel-Buffering)" no 'which nobody holds back'
is "$(tr -d '\r' <"$RAW" | sed '1,/^$/d' | grep -vc '^data: {.*}$\|^data: \[DONE\]$\|^$')" 0 'with nothing else in it'
is "$(tail -c 2 "$RAW" | od -An -tx1)" ' 0a 0a' 'an empty line is behind the last one'
facts <<'TABLE'
the first has the role :: .[0].choices == [{"index": 0, "delta": {"role": "assistant", "content": "", "refusal": null}, "logprobs": null, "finish_reason": null}]
words come as they are said :: deltas == ["", "echo:", " hello", " world"]
the last says why it ended :: .[-2].choices == [{"index": 0, "delta": {}, "logprobs": null, "finish_reason": "stop"}]
all are of one answer :: map(objects | [.id, .object, .created, .model]) | unique | length == 1
what they are is said :: .[1].object == "chat.completion.chunk"
nobody asked for the usage :: map(objects | has("usage")) | any | not
it ends once :: ended
TABLE
complete "$(user 'hello world')" '"stream":true,"stream_options":{"include_usage":true}'
facts <<'TABLE'
a chunk has the usage :: .[-2] | [.choices, .usage.total_tokens] == [[], 5]
the others have none :: .[:-2] | map(.usage) | unique == [null]
TABLE
complete "$(user 'hello world')" '"stream":false,"stream_options":{"include_usage":true}'
said_is 'echo: hello world' 'the options of a stream mean nothing without one'

# ---- failures

complete "$(user '/error it broke')" '' 'Origin: http://app.example'
is "$STATUS $(printf '%s' "$BODY" | jq -c .)" \
	'500 {"error":{"message":"Graph execution failed: it broke","type":"server_error","param":null,"code":"NODE_ERROR"}}' 'a run that fails says so'
like "$(header x-should-retry) $(header Access-Control-Expose-Headers)" '^false .*ETag, x-should-retry$' \
	'and that nobody should try again, in a browser either'
like "$(cat "$SERVE_ERR")" "request_id=$(header X-Request-ID) .*Graph execution failed: it broke" 'the log has it with its request id'
complete "$(user '/error in a stream')" '"stream":true'
facts <<'TABLE'
in a stream it is a chunk :: .[-2] == {"error": {"message": "Graph execution failed: in a stream", "type": "server_error", "param": null, "code": "NODE_ERROR"}}
before the end :: ended and length == 3
TABLE
is "$(header x-should-retry)" false 'and nobody should try again'
like "$(cat "$SERVE_ERR")" "request_id=$(header X-Request-ID) .*run [0-9a-f-]+ failed: Graph execution failed: in a stream" 'the log has that, too'
complete "$(user /loop)"
is "$STATUS $(json .error.code "$BODY")" '500 GRAPH_RECURSION_LIMIT' 'a run has 25 steps'

# ---- what is not the graph's

complete "$(user hello)" '"temperature":0.1,"max_tokens":1,"top_p":null,"stop":["x"],"seed":1,"response_format":{"type":"json_object"},"user":"u",
	"reasoning_effort":"low","logprobs":false,"n":1,"modalities":["text"],"functions":[],"unknown":{"a":1},"top_logprobs":0,"audio":null,"tools":null'
said_is 'echo: hello' 'what is said of sampling has no effect'
unsupported() {
	complete "$(user hello)" "$2"
	wrong unsupported_parameter "$1" 'not supported' "$1 is refused"
	is "$(header x-should-retry)" '' 'of what did not run nothing is said'
}
unsupported n '"n":2'
unsupported logprobs '"logprobs":true'
unsupported top_logprobs '"top_logprobs":3'
unsupported audio '"audio":{"voice":"x"}'
unsupported modalities '"modalities":["text","audio"]'
unsupported functions '"functions":[{"name":"f"}]'
complete "$(user hello)" '"stream":true,"n":2'
is "$STATUS $(header x-should-retry)" '400 ' 'a stream that is refused is no stream'

# ---- the model

api POST /v1/chat/completions '{"model":"gpt-5","messages":[{"role":"user","content":"hi"}]}'
is "$STATUS $(printf '%s' "$BODY" | jq -c .)" \
	"404 {\"error\":{\"message\":\"The model 'gpt-5' does not exist\",\"type\":\"invalid_request_error\",\"param\":\"model\",\"code\":\"model_not_found\"}}" 'another model is not there'
api GET /v1/models
is "$STATUS $(printf '%s' "$BODY" | jq -c .)" '200 {"object":"list","data":[{"id":"demo","object":"model","created":0,"owned_by":"agentgraph"}]}' 'the models are one'
api GET /v1/models/demo
is "$STATUS $(json .id "$BODY")" '200 demo' 'which is shown alone'
api GET /v1/models/other
is "$STATUS $(json '.error | "\(.code) \(.param)"' "$BODY")" '404 model_not_found model' 'another is not'
for path in /v1/chat/completions /v1/models; do
	api DELETE "$path"
	is "$STATUS $(json .error.type "$BODY")" '405 invalid_request_error' "$path: errors have the shape of the protocol, whatever they are"
done

# ---- nothing stays behind

before=$(number database_writes_total)
for members in '' '"stream":true'; do
	complete "$(user '/note kept')" "$members"
	complete "$(user '/ask kept')" "$members"
	complete "$(user '/remote pick {}')" "$PICK${members:+,$members}"
	complete "$(user '/error kept')" "$members"
done
id=$(json '.[0].id // "chatcmpl-x"' "$BODY" | sed 's/^chatcmpl-//')
is "$(number database_writes_total)" "$before" 'runs without a thread cost no transaction'
api GET /v1/threads
is "$(json '.data.threads | length' "$BODY")" 0 'there is no thread'
api GET /v1/graph/runs
is "$(json '.data.runs | length' "$BODY")" 0 'no run'
api GET "/v1/observability/$id"
is "$(json '.data.events // [] | length' "$BODY")" 0 'no trace'
on kept "$(user hello)"
[ -n "$PAIR" ] || # each instance counts its own
	ok "[ $(number database_writes_total) -gt $before ]" 'one with a thread does'
serve_stop

# ---- names of models

openai_configure
sed -i 's/"enabled":true/"enabled":true,"model":"acme\/support"/' agentgraph.json
api GET /v1/models
is "$(json '.data[0].id' "$BODY")" acme/support 'a model is called as the configuration says'
api GET /v1/models/acme%2Fsupport
is "$STATUS $(json .id "$BODY")" '200 acme/support' 'also with a slash'
api POST /v1/chat/completions '{"model":"acme/support","messages":[{"role":"user","content":"hi"}]}'
is "$STATUS $(json '"\(.model) \(.choices[0].message.content)"' "$BODY")" '200 acme/support echo: hi' 'and answers by that name'
complete "$(user hi)"
is "$STATUS" 404 'not by another'
serve_stop
printf '{"agent":"builtin:live-demo","openai":{"enabled":true}}\n' >agentgraph.json
api POST /v1/chat/completions '{"model":"live-demo","messages":[{"role":"user","content":"hi"}]}'
is "$STATUS $(json .error.code "$BODY")" '400 GRAPH_IS_LIVE' 'a live agent does not chat'

done_testing
