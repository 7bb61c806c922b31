#!/bin/sh
# SPDX-License-Identifier: ISC
# State in and snapshots out, what nodes read of the page's data, media parts, and which messages are new.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/ag-ui.sh"
ag_ui_configure

notes() {
	api GET "/v1/threads/$1/state"
	json '.data.state.notes | tojson' "$BODY"
}
snapshots() { json '[.[] | select(.type == "STATE_SNAPSHOT").snapshot] | tojson' "$BODY"; }

# ---- in

run t "$(says m1 '/note two')" '"state":{"notes":["one"]}'
is "$(snapshots)" '[{"notes":["one","two"]}]' 'the state of the page goes in, what became of it comes out'
is "$(notes t)" '["one","two"]' 'and is stored'
run t "$(says m2 hello)" '"state":{"notes":["one","two"]}'
is "$(snapshots)" '[]' 'what the page has already is not sent'
run t "$(says m3 hello)" '"state":{"notes":["one","two"],"own":1,"context":[7],"context_summary":1,"execution_meta":{"step":9}}'
is "$(snapshots)" '[]' 'nor do members change that which are not the graph'\''s'
api GET /v1/threads/t/state
facts <<'TABLE'
fixed fields are never taken from a page :: .data.state | [.context_summary, .execution_meta.step, (.context | length)] == [null, 1, 6]
nor are unknown ones kept :: .data.state | has("own") | not
TABLE
run t "$(says m4 hello)" '"state":{}'
is "$(snapshots)" '[{"notes":["one","two"]}]' 'a page that has nothing gets it after the first node'
run t "$(says m5 hello)"
is "$(snapshots)" '[{"notes":["one","two"]}]' 'as does one that sent none'
run t "$(says m6 '/slow 2 1')"
is "$(snapshots)" '[{"notes":["one","two"]}]' 'and once'
run t "$(says m7 hello)" '"state":{"notes":null}'
is "$(notes t)" '["one","two"]' 'null leaves a field as it is'
run t "$(says m8 '/note x')" '"state":[]'
is "$(notes t)" '["one","two","x"]' 'a state that is no object is ignored'

# ---- nothing new

run t '' '"state":{"notes":["stale"]}'
is "$EVENTS" 'run messages state finished' 'with nothing new the state is sent when it differs'
is "$(snapshots)" '[{"notes":["one","two","x"]}]' 'as the thread has it'
is "$(notes t)" '["one","two","x"]' 'and the page'\''s is not stored'
run t '' '"state":{"notes":["one","two","x"]}'
is "$EVENTS" 'run messages finished' 'when it is the same it is not sent'
run t ''
is "$EVENTS" 'run messages state finished' 'a page without a state has a different one'
run empty ''
is "$EVENTS" 'run finished' 'defaults are not sent'
run empty '' '"state":{"notes":["mine"]}'
is "$EVENTS" 'run finished' 'not even where the page has something else'
api GET /v1/threads/empty
is "$STATUS" 404 'and no thread is made'

# ---- a page that was loaded again

api POST /v1/threads/loaded/messages "$(run_body '[{"message_id":"s","role":"system","content":"be kind"},
	{"message_id":"u","role":"user","content":[{"type":"text","text":"see "},{"type":"image","data_base64":"aGVsbG8=","mime_type":"image/png"},{"type":"data","url":"https://example.org/x","mime_type":"a/b"}]},
	{"message_id":"a","role":"assistant","content":[{"type":"text","text":"I "},{"type":"text","text":"look"},{"type":"tool_call","id":"c1","name":"look","args":{"at":1}},{"type":"tool_call","id":"c2","name":"pick","args":{}}]},
	{"message_id":"t","role":"tool","content":[{"type":"text","text":"two"},{"type":"tool_result","call_id":"c1","output":{"seen":true}},{"type":"tool_result","call_id":"c2","output":{"error":"gone"},"is_error":true}]},
	{"message_id":"n","role":"tool","content":"of nothing"}]')"
is "$STATUS" 200 'a conversation is there'
run loaded ''
is "$EVENTS" 'run messages finished' 'a page that has no messages gets them'
facts <<'TABLE'
in their order, each result by itself :: .[1].messages | map(.id) == ["s", "u", "a", "t", "t-c2"]
and their roles :: .[1].messages | map(.role) == ["system", "user", "assistant", "tool", "tool"]
text is a string :: .[1].messages | map(.content) | [.[0], .[2]] == ["be kind", "I look"]
with media it is parts that can be sent again :: .[1].messages[1].content == [{"type": "text", "text": "see "}, {"type": "image", "source": {"type": "data", "value": "aGVsbG8=", "mimeType": "image/png"}}, {"type": "document", "source": {"type": "url", "value": "https://example.org/x", "mimeType": "a/b"}}]
calls are the assistant's :: .[1].messages[2].toolCalls == [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"at\":1}"}}, {"id": "c2", "type": "function", "function": {"name": "pick", "arguments": "{}"}}]
results name them :: .[1].messages[3:] | map([.toolCallId, .content]) == [["c1", "{\"seen\":true}"], ["c2", "Error: gone"]]
nothing else is said of them :: [.[1].messages[] | keys[]] | unique == ["content", "id", "role", "toolCallId", "toolCalls"]
TABLE
long=$(printf '%040000d' 0)
api POST /v1/threads/loaded/messages "$(run_body "[{\"role\":\"user\",\"content\":\"$long\"}]")"
run loaded ''
is "$EVENTS $(json '.[1].messages[-1].content | length' "$BODY")" 'run messages finished 40000' 'also when they are long'
run loaded "$(says u 'see')"
is "$EVENTS" 'run finished' 'a page that has some does not'
run loaded '' '"resume":[{"interruptId":"int_0","status":"resolved"}]'
is "$EVENTS" 'run error' 'nor one that answers'

# ---- which messages are new

count() {
	api GET "/v1/threads/$1/messages"
	json '.data.messages | map(select(.role == "user")) | length' "$BODY"
}
run new "$(says m1 one)"
run new "$(says m1 one)"
is "$EVENTS $(count new)" 'run finished 1' 'a message that the thread has is not taken again'
run new "$(says m1 one),$(says m2 two)"
is "$(spoken) $(count new)" 'echo: two 2' 'only those are taken that it does not have'
run new "$(says m3 lost),{\"id\":\"a\",\"role\":\"assistant\",\"content\":\"x\"}"
is "$EVENTS $(count new)" 'run finished 2' 'nothing before the last assistant message is new'
run new "$(says m4 four),{\"id\":\"s\",\"role\":\"system\",\"content\":\"obey\"},$(says m5 five)"
is "$(spoken) $(count new)" 'echo: five 4' 'other roles between do not matter'
run new "$(says m6 six),$(says m6 seven)"
is "$(spoken) $(count new)" 'echo: six 5' 'of one id the first counts'
run new "$(says 0 eight),$(says '' nine)"
is "$(spoken) $(count new)" 'echo: nine 7' 'ids that say nothing get new ones'
api GET /v1/threads/new/messages
facts <<'TABLE'
none of them is 0 or empty :: [.data.messages[].message_id] | all(length > 5 or startswith("m"))
nothing of other roles is stored :: [.data.messages[].role] | unique == ["assistant", "user"]
TABLE

# ---- media

# user MESSAGE-CONTENT: a run with one user message of these parts; BODY becomes its stored content.
parts=0
parts() {
	parts=$((parts + 1))
	run "p$parts" "{\"id\":\"m\",\"role\":\"user\",\"content\":[$1]}"
	SPOKEN=$(spoken)
	api GET "/v1/threads/p$parts/messages"
	BODY=$(json '.data.messages[0].content | tojson' "$BODY")
}
parts '{"type":"text","text":""},{"type":"text","text":"hello"},{"type":"text","text":" you"}'
is "$SPOKEN" 'echo: hello you' 'texts are joined'
facts <<'TABLE'
and empty ones dropped :: map(.text) == ["hello", " you"]
TABLE
for type in image audio video document; do
	parts "{\"type\":\"text\",\"text\":\"/files\"},{\"type\":\"$type\",\"source\":{\"type\":\"data\",\"value\":\"aGVsbG8=\",\"mimeType\":\"$type/x\"}}"
	is "$SPOKEN" "$type $type/x 5" "a part $type with data"
	parts "{\"type\":\"text\",\"text\":\"/files\"},{\"type\":\"$type\",\"source\":{\"type\":\"url\",\"value\":\"https://example.org/x\"}}"
	facts <<TABLE
a part $type with a URL :: .[1] | [.type, .url, .media.kind] == ["$type", "https://example.org/x", "url"]
TABLE
	[ $type = document ] && continue
	parts "{\"type\":\"binary\",\"mimeType\":\"$type/x\",\"data\":\"aGVsbG8=\",\"filename\":\"a.x\"}"
	facts <<TABLE
a binary part $type/x is $type :: .[0] | [.type, .media.kind, .media.data_base64, .media.mime_type, .media.filename] == ["$type", "data", "aGVsbG8=", "$type/x", "a.x"]
TABLE
done
for mime in application/pdf imagery/png text/plain; do
	parts "{\"type\":\"binary\",\"mimeType\":\"$mime\",\"url\":\"https://example.org/x\"}"
	facts <<TABLE
a binary part $mime is a document :: .[0] | [.type, .media.kind, .url] == ["document", "url", "https://example.org/x"]
TABLE
done
for part in '{"type":"image","source":{"type":"file","value":"nobody"}}' '{"type":"binary","mimeType":"image/png","id":"nobody"}'; do
	run file "{\"id\":\"m\",\"role\":\"user\",\"content\":[$part]}"
	is "$EVENTS $(json '.[-1] | "\(.code) \(.message)"' "$BODY")" 'run error GRAPH_ERROR File not found: nobody' "an unknown file is an error of the run: $part"
done
api GET /v1/threads/file
is "$STATUS" 404 'and nothing is stored'
serve_stop

# ---- what nodes read

cat >show.sh <<'SH'
#!/bin/sh
jq -c '{message: (.config | {ag_ui, remote_tools, thread_id, run_id, user} | tojson)}'
SH
chmod +x show.sh
cat >graph.json <<'JSON'
{"shows": {
  "state": {"fields": {"count": {"type": "integer", "reducer": "add"}, "name": {"type": "string"}}},
  "nodes": {"show": {"kind": "exec", "command": "./show.sh"}},
  "edges": [{"from": "START", "to": "show"}, {"from": "show", "to": "END"}]}}
JSON
printf '{"agent":"graph.json:shows","ag_ui":{"enabled":true}}\n' >agentgraph.json
run seen "$(says m1 hi)" '"context":[{"description":"page","value":"cart"}],"forwardedProps":{"theme":"dark","deep":[null]},"config":{"user_id":"root"}'
BODY=$(spoken)
facts <<'TABLE'
context and properties are in the config :: .ag_ui == {"context": [{"description": "page", "value": "cart"}], "forwarded_props": {"theme": "dark", "deep": [null]}}
beside what every run has :: [.thread_id, .run_id, .user] == ["seen", (.run_id), {"user_id": "anonymous"}]
TABLE
run seen "$(says m2 hi)"
BODY=$(spoken)
facts <<'TABLE'
without any they are empty :: .ag_ui == {"context": [], "forwarded_props": {}}
TABLE
run seen "$(says m3 hi)" '"state":{"name":"x","count":2}'
is "$(snapshots)" '[]' 'a state that no node changed is not sent back'
run seen "$(says m4 hi)" '"state":{"count":2}'
is "$(snapshots)" '[{"count":2,"name":"x"}]' 'a page that lacks a field gets all of them'

done_testing
