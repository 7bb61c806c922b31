#!/bin/sh
# SPDX-License-Identifier: ISC
# Pauses of the agent at MCP hosts: as text, as forms whose state comes back, which of that is refused, and cancelled
# calls.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/api/mcp-host.sh"

mcp_configure
FORM='{"elicitation":{}}'

# ---- as text

waits='The agent waits for an answer. To give it, call this tool again with "thread_id": "a" and the answer as "message".'
called '/ask May I?' '"thread_id":"a"'
text_is "$(printf 'May I?\n\n%s' "$waits")" 'a question is text, with how to answer'
facts <<'TABLE'
it is no error :: .result.isError == false
its structure has the pause :: .result.structuredContent | [.status, .answer, .interrupt.data.question] == ["interrupted", "", "May I?"]
TABLE
called yes '"thread_id":"a"'
text_is 'answer: yes' 'the next message answers it'
for can in '{}' '{"elicitation":{"url":{}}}' '{"elicitation":true}'; do
	modern tools/call "$(arguments '/ask May I?')" "$can"
	is "$STATUS $(json '.result | "\(.resultType) \(.structuredContent.status)"' "$BODY")" '200 complete interrupted' "a host that can show no form gets text: $can"
done
called '/ask May I?' '"_meta":{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}'
is "$(json '.result | "\(.resultType) \(.structuredContent.status)"' "$BODY")" 'null interrupted' 'so does one of the versions before'

# ---- as a form

# asks TEXT [CAPABILITIES]: a call that ends in a question; ASKED, its state, and QUESTION are what it came with.
asks() {
	modern tools/call "$(arguments "$1")" "${2-$FORM}"
	ASKED=$(json .result.requestState "$BODY")
	QUESTION=$(json '.result.inputRequests | keys_unsorted | join(" ")' "$BODY")
}

# replies RESPONSES [ASKED [TEXT]]: the same call with what a person said.
replies() {
	modern tools/call "$(arguments "${3-/ask May I?}"),\"inputResponses\":$1,\"requestState\":\"${2-$ASKED}\"" "$FORM"
}
says() { printf '{"%s":{"action":"accept","content":{"answer":"%s"}}}' "$QUESTION" "$1"; }

asks '/ask May I?' '{"elicitation":{"form":{},"url":{}}}'
facts <<'TABLE'
a question asks for input :: .result.resultType == "input_required"
and is no result :: .result | keys == ["_meta", "inputRequests", "requestState", "resultType"]
it is a form :: .result.inputRequests | to_entries | length == 1 and .[0].value.method == "elicitation/create"
which asks what the agent does :: [.result.inputRequests[]][0].params | [.mode, .message] == ["form", "May I?"]
for a text :: [.result.inputRequests[]][0].params.requestedSchema == {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
TABLE
like "$QUESTION" '^int_[0-9a-f]{32}$' 'it is named like the pause'
replies "$(says sure)"
text_is 'answer: sure' 'the answer goes on with the run'
is "$(json .result.resultType "$BODY")" complete 'to its end'
used=$ASKED
for again in "$(says sure)" '{}'; do
	replies "$again"
	fault 400 -32602 'not open any more' 'a state that was used is refused'
done
asks '/ask Twice?'
other=$ASKED
asks '/ask May I?'
replies "$(says sure)" "$other"
is "$STATUS $(json '.result | "\(.resultType) \(.inputRequests | keys[0])"' "$BODY" | sed "s/$QUESTION/mine/;s/int_.*/other/")" \
	'200 input_required other' 'a state is that of its question: the answer to another is none'
replies "$(says late)"
text_is 'answer: late' 'which is still open'

# ---- a form of the agent's own

cat >form.json <<'JSON'
{"form": {"nodes": {"a": {"kind": "interrupt", "value": {"question": "Which?", "response_schema": {"type": "object",
   "properties": {"n": {"type": "integer", "maximum": 9}, "w": {"type": "string"}}, "required": ["n"]}}, "reply": "got {{answer}}"}},
  "edges": [{"from": "START", "to": "a"}, {"from": "a", "to": "END"}]},
 "two": {"nodes": {"a": {"kind": "interrupt", "value": {"question": "First?"}, "reply": "a: {{answer}}"},
   "b": {"kind": "interrupt", "value": {"question": "Second?"}, "reply": "b: {{answer}}"}, "c": {"kind": "reply", "text": "both"}},
  "edges": [{"from": "START", "to": ["a", "b"], "join": "c"}, {"from": "a", "to": "c"}, {"from": "b", "to": "c"}, {"from": "c", "to": "END"}]},
 "deep": {"nodes": {"a": {"kind": "interrupt", "value": {"question": "Which?", "response_schema": {"type": "object",
   "properties": {"n": {"type": "object"}}}}, "reply": "got {{answer}}"}},
  "edges": [{"from": "START", "to": "a"}, {"from": "a", "to": "END"}]}}
JSON
serve_stop
printf '{"agent":"form.json:form","mcp":{"enabled":true,"tool":{"name":"demo"}}}\n' >agentgraph.json
asks go
is "$(json '[.result.inputRequests[]][0].params | "\(.message) \(.requestedSchema.properties | keys | join(","))"' "$BODY")" 'Which? n,w' 'the form is the schema of the pause'
for content in '{}' '{"n":"x"}' '{"n":10}' '{"w":"x"}'; do
	replies "{\"$QUESTION\":{\"action\":\"accept\",\"content\":$content}}" "$ASKED" go
	is "$STATUS $(json .result.resultType "$BODY")" '200 input_required' "what does not fit it is asked again: $content"
done
replies "{\"$QUESTION\":{\"action\":\"accept\",\"content\":{\"n\":7}}}" "$ASKED" go
text_is 'got {"n":7}' 'what fits is the answer'
serve_stop
printf '{"agent":"form.json:deep","mcp":{"enabled":true,"tool":{"name":"demo"}}}\n' >agentgraph.json
asks go
is "$(json '[.result.inputRequests[]][0].params.requestedSchema.properties | keys | join(",")' "$BODY")" answer 'a schema that no form can show is asked for as text'
replies "$(says text)" "$ASKED" go
text_is 'got text' 'which is the answer'
serve_stop
printf '{"agent":"form.json:two","mcp":{"enabled":true,"tool":{"name":"demo"}}}\n' >agentgraph.json
called go '"thread_id":"two"'
facts <<'TABLE'
several pauses are listed beside the first :: .result.structuredContent | [.interrupt.node, (.interrupts | map(.node))] == ["a", ["a", "b"]]
TABLE
called 1 '"thread_id":"two"'
facts <<'TABLE'
one alone is not :: .result.structuredContent | [.interrupt.node, has("interrupts")] == ["b", false]
TABLE
asks go
is "$(json '[.result.inputRequests[].params.message] | sort | join(" ")' "$BODY")" 'First? Second?' 'questions of branches are asked at once'
first=${QUESTION%% *} second=${QUESTION##* }
one="\"$first\":{\"action\":\"accept\",\"content\":{\"answer\":\"1\"}}" two="\"$second\":{\"action\":\"accept\",\"content\":{\"answer\":\"2\"}}"
replies "{$one}" "$ASKED" go
is "$STATUS $(json '.result | "\(.resultType) \(.inputRequests | length)"' "$BODY")" '200 input_required 2' 'all of them are to be answered'
replies "{$one,$two}" "$ASKED" go
is "$STATUS $(json '.result | "\(.resultType) \(.structuredContent.answer | split("\n\n") | sort | join(" "))"' "$BODY")" '200 complete a: 1 b: 2 both' 'and each answer comes to its branch'
serve_stop
mcp_configure

# ---- what is missing, and what is declined

asks '/ask May I?'
for lacking in '{}' '{"other":{"action":"accept","content":{"answer":"x"}}}' "{\"$QUESTION\":{}}" "{\"$QUESTION\":7}" \
	"{\"$QUESTION\":{\"action\":\"accept\"}}" "{\"$QUESTION\":{\"action\":\"later\"}}" "{\"$QUESTION\":{\"action\":\"accept\",\"content\":{\"answer\":7}}}" \
	"{\"$QUESTION\":{\"action\":\"accept\",\"content\":\"x\"}}"; do
	replies "$lacking"
	is "$STATUS $(json '.result | "\(.resultType) \(.inputRequests | keys[0])"' "$BODY")" "200 input_required $QUESTION" "what does not answer is asked again: $lacking"
done
for action in decline cancel; do
	replies "{\"$QUESTION\":{\"action\":\"$action\"}}"
	is "$STATUS $(json '.result | "\(.resultType) \(.structuredContent.status)"' "$BODY")" '200 complete interrupted' "$action leaves the pause"
	like "$(json '.result.content[0].text' "$BODY")" 'waits for an answer' 'and says so'
done
thread=$(json .result.structuredContent.thread_id "$BODY")
called 'after all' "\"thread_id\":\"$thread\""
text_is 'answer: after all' 'so that it can be answered later'

# ---- states that are none

asks '/ask May I?'
head=${ASKED%.*} signature=${ASKED##*.} payload=${head#*.}
body=$(printf '%s==' "$payload" | tr -- -_ +/ | base64 -d 2>/dev/null)
forged=$(printf '%s' "$body" | sed 's/"user_id":"[^"]*"/"user_id":"mallory"/' | base64 -w0 | tr +/ -_ | tr -d =)
case $signature in A*) changed=B${signature#?} ;; *) changed=A${signature#?} ;; esac
for wrong in x '' "${head%%.*}.$forged.$signature" "$head.$changed" "$head." "eyJhbGciOiJub25lIn0.$payload." "$used"; do
	replies "$(says x)" "$wrong"
	fault 400 -32602 'requestState' "a state that is none is refused: $(printf %.12s "$wrong")"
done
modern tools/call "$(arguments again),\"inputResponses\":$(says x)" "$FORM"
text_is 'echo: again' 'answers without a state belong to nothing'
modern tools/call "$(arguments x),\"inputResponses\":7,\"requestState\":\"$ASKED\"" "$FORM"
fault 400 -32602 inputResponses 'answers that are none'
modern tools/call "$(arguments x),\"requestState\":7" "$FORM"
fault 400 -32602 requestState 'a state that is no text'
replies "$(says good)"
text_is 'answer: good' 'none of them has used the real one up'
serve_stop

# ---- whose it is

mcp_configure '' '"auth":"jwt","authorization":"ownership"'
alice="Authorization: Bearer $(token alice)" bob="Authorization: Bearer $(token bob)"
modern tools/call "$(arguments '/ask May I?')" "$FORM" "$alice"
ASKED=$(json .result.requestState "$BODY") QUESTION=$(json '.result.inputRequests | keys[0]' "$BODY")
answer_of() { printf '%s,"inputResponses":%s,"requestState":"%s"' "$(arguments '/ask May I?')" "$(says x)" "$ASKED"; }
modern tools/call "$(answer_of)" "$FORM" "$bob"
fault 400 -32602 requestState 'a state of somebody else is refused'
modern tools/call "$(answer_of)" "$FORM" "$alice"
text_is 'answer: x' 'the one who was asked answers'
sent tools/call "{$(arguments hi '"thread_id":"hers"')}" "$alice"
sent tools/call "{\"name\":\"demo\",\"arguments\":{\"message\":\"hi\",\"thread_id\":\"hers\"}}" "$alice"
sent tools/call '{"name":"demo","arguments":{"message":"hi","thread_id":"hers"}}' "$bob"
is "$STATUS $(json '.error | "\(.code) \(.data.code)"' "$BODY")" '403 403 PERMISSION_ERROR' 'a thread of somebody else is refused'
sent tools/list ''
is "$STATUS $(json .error.code "$BODY")" '401 401' 'without a token nothing is told'
is "$(header WWW-Authenticate)" 'Bearer resource_metadata="http://localhost/.well-known/oauth-protected-resource"' 'but where tokens come from'
modern tools/list '' '{}' "$alice"
is "$(json .result.cacheScope "$BODY")" private 'with authentication a list is for one'
serve_stop
mcp_configure '"authorization_servers":["https://login.example/realm"]' '"auth":"jwt"'
api GET /.well-known/oauth-protected-resource '' 'X-Forwarded-Proto: https'
is "$STATUS $(printf '%s' "$BODY" | jq -c .)" \
	'200 {"resource":"https://localhost/v1/mcp","authorization_servers":["https://login.example/realm"],"bearer_methods_supported":["header"]}' 'there it is told'
serve_stop

# ---- a host that leaves

waiting_steps
printf '{"agent":"graph.json:steps","mcp":{"enabled":true,"tool":{"name":"demo"}}}\n' >agentgraph.json
run_is() {
	api GET "/v1/threads/$1/runs"
	[ "$(json '.data.runs[0].status' "$BODY")" = "$2" ]
}
leaves modern tools/call '"name":"demo","arguments":{"message":"x","thread_id":"cancelled"}'
wait_for 30 run_is cancelled stopped
is "$(wc -l <marks)" 1 'a call of the stateless version ends before its next node when its host leaves'
leaves sent tools/call '{"name":"demo","arguments":{"message":"x","thread_id":"left"}}'
wait_for 30 run_is left completed
is "$(wc -l <marks)" 2 'one of the versions before goes on'

done_testing
