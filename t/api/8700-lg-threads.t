#!/bin/sh
# SPDX-License-Identifier: ISC
# LangGraph's protocol on builtin:demo: the server, its one assistant, threads, states and history.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/lg.sh"

# ---- off

for members in '' ',"langgraph":{"enabled":false}'; do
	printf '{"agent":"builtin:demo"%s}\n' "$members" >agentgraph.json
	api GET /lg/ok
	is "$STATUS $(json .error_code "$BODY")" '404 NOT_FOUND' "without enabled there is no route ($members)"
	serve_stop
done
lg_configure
like "$("$AGENTGRAPH" routes)" '^GET +/lg/ok +public$' 'when enabled there is'

# ---- the server and its assistant

api GET /lg/ok
is "$STATUS $BODY" '200 {"ok":true}' 'it is there'
api GET /lg/info
is "$STATUS $(json .context "$BODY")" '200 agentgraph' 'and says what it is'
api POST /lg/assistants/search '{}'
facts <<'TABLE'
there is one assistant :: length == 1
called as the graph is :: .[0] | [.graph_id, .name, .version] == ["demo", "demo", 1]
with the id that LangGraph makes of that name :: .[0].assistant_id == "fcb1d0d2-a4d7-5bb4-b10a-57c00fdcb684"
TABLE
id=$(json '.[0].assistant_id' "$BODY")
for body in '{"graph_id":"demo"}' "{\"graph_id\":\"$id\"}" '{"name":"EM"}' '{"metadata":{"created_by":"system"}}' ''; do
	api POST /lg/assistants/search "$body"
	is "$STATUS $(json length "$BODY")" '200 1' "it is found by '$body'"
done
for body in '{"graph_id":"other"}' '{"name":"x"}' '{"metadata":{"a":1}}' '{"offset":1}'; do
	api POST /lg/assistants/search "$body"
	is "$STATUS $BODY" '200 []' "and not by '$body'"
done
for name in demo "$id"; do
	api GET "/lg/assistants/$name"
	is "$STATUS $(json .assistant_id "$BODY")" "200 $id" "it is shown as $name"
	api GET "/lg/assistants/$name/graph?xray=true"
	is "$STATUS $(json '.nodes | map(.id) | join(" ")' "$BODY")" '200 __start__ agent tools __end__' 'with its nodes'
	api GET "/lg/assistants/$name/schemas"
	is "$STATUS $(json '.state_schema.properties | keys | join(" ")' "$BODY")" '200 messages notes' 'and its fields'
done
for path in '' /graph /schemas; do
	api GET "/lg/assistants/other$path"
	lg_refused 404 RESOURCE_NOT_FOUND 'Assistant not found' "there is no other ($path)"
done

# ---- threads

api POST /lg/threads '{"thread_id":"t1","metadata":{"a":"b","n":1,"graph_id":"demo"}}'
facts <<'TABLE'
a thread is made :: .thread_id == "t1"
it is idle :: .status == "idle"
and empty :: .values == {"messages": [], "notes": []}
with its metadata and those of all :: .metadata | [.a, .n, .graph_id] == ["b", 1, "demo"]
nothing is asked :: .interrupts == {}
TABLE
api GET /v1/threads/t1
is "$(json '.data.thread_data.metadata | tojson' "$BODY")" '{"a":"b","n":1}' 'what all threads have is not kept'
api POST /lg/threads '{"thread_id":"t1"}'
lg_refused 409 THREAD_EXISTS 'Thread t1 exists already' 'an id is taken once'
api POST /lg/threads '{"thread_id":"t1","if_exists":"do_nothing"}'
is "$STATUS $(json .metadata.a "$BODY")" '200 b' 'or the thread is the answer'
api POST /lg/threads
is "$STATUS $(json '.thread_id | length' "$BODY")" '200 36' 'an id is made where none is given'
for member in ttl supersteps; do
	api POST /lg/threads "{\"ttl\":{\"ttl\":1},\"supersteps\":[1]}"
	like "$(json .detail "$BODY")" 'is not supported' "what cannot be had is refused: $member"
done
api POST /lg/threads '{"if_exists":"maybe"}'
lg_refused 422 VALIDATION_ERROR 'if_exists must be one of raise, do_nothing' 'so is another word'
api PATCH /lg/threads/t1 '{"metadata":{"c":true,"n":null}}'
is "$STATUS $(json '.metadata | [.a, .c, .n] | tojson' "$BODY")" '200 ["b",true,null]' 'metadata is merged'

invoke hello "$(thread t1)"
invoke '/add 2 3' "$(thread t1)"
api GET /lg/threads/t1
facts <<'TABLE'
messages have their types :: .values.messages | map(.type) == ["human", "ai", "human", "ai", "tool", "ai"]
contents are texts :: .values.messages | map(.content) == ["hello", "echo: hello", "/add 2 3", "", "5", "sum: 5"]
a call is told :: .values.messages[3].tool_calls | map([.name, .args, .type]) == [["add", {"a": 2, "b": 3}, "tool_call"]]
and its result belongs to it :: .values.messages | .[4].tool_call_id == .[3].tool_calls[0].id
which went well :: .values.messages[4].status == "success"
a model says what it cost :: .values.messages[1].usage_metadata == {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
ids are those of the thread :: .values.messages | all(.id | length == 36)
TABLE
invoke '/ask May I?' "$(thread t1)"
api GET /lg/threads/t1
facts <<'TABLE'
a thread that asks is interrupted :: .status == "interrupted"
and says what it asks :: [.interrupts[][] | .value] == [{"question": "May I?"}]
under the id of the task :: (.interrupts | keys[0]) == .interrupts[][0].id
TABLE

# ---- states

api GET /lg/threads/t1/state
facts <<'TABLE'
a state has the values :: .values.messages | length == 7
and says what is next :: .next == ["agent"]
what is asked is a task's :: .tasks | map([.name, .interrupts[0].value.question]) == [["agent", "May I?"]]
and beside it :: .interrupts | map(.value.question) == ["May I?"]
it has a checkpoint :: .checkpoint | [.thread_id, .checkpoint_ns, (.checkpoint_id | length)] == ["t1", "", 16]
and that a parent :: .parent_checkpoint.checkpoint_id < .checkpoint.checkpoint_id
TABLE
api POST /lg/threads/t1/history '{"limit":100}'
history=$BODY
facts <<'TABLE'
between what a run was given and what it said there is a state :: map(.metadata.source) == ["loop", "input", "loop", "input", "loop", "input", "update"]
with the messages of then :: map(.values.messages | length) == [7, 7, 6, 3, 2, 1, 0]
behind which the graph begins :: .[3].next == ["agent"]
while at its end nothing follows :: .[2].next == []
ids sort as their times do :: map(.checkpoint.checkpoint_id) | . == (sort | reverse)
each is the parent of the next :: [.[1:][].checkpoint.checkpoint_id] == [.[:-1][].parent_checkpoint.checkpoint_id]
the first has none :: .[-1].parent_checkpoint == null
TABLE
i=0
while [ $i -lt 7 ]; do
	one=$(json ".[$i].checkpoint.checkpoint_id" "$history")
	expected=$(json ".[$i] | tojson" "$history")
	api GET "/lg/threads/t1/state/$one"
	is "$STATUS $(json tojson "$BODY")" "200 $expected" "state $i is the same by its id"
	api POST /lg/threads/t1/state/checkpoint "{\"checkpoint\":{\"checkpoint_id\":\"$one\"}}"
	is "$STATUS $(json tojson "$BODY")" "200 $expected" 'and by its checkpoint'
	api POST /lg/threads/t1/history "{\"limit\":2,\"before\":{\"configurable\":{\"checkpoint_id\":\"$one\"}}}"
	is "$STATUS $(json 'map(.checkpoint.checkpoint_id) | tojson' "$BODY")" \
		"200 $(json ".[$((i + 1)):$((i + 3))] | map(.checkpoint.checkpoint_id) | tojson" "$history")" 'and the list goes on behind it'
	i=$((i + 1))
done
api POST /lg/threads/t1/history "{\"before\":\"$(json '.[0].checkpoint.checkpoint_id' "$history")\"}"
is "$(json length "$BODY")" 6 'before may be a text'
api POST /lg/threads/t1/history "{\"before\":$(json '.[0] | tojson' "$history")}"
is "$(json length "$BODY")" 6 'or a state'
api POST /lg/threads/t1/history '{"before":{"values":{}}}'
lg_refused 422 VALIDATION_ERROR 'before must be the id of a checkpoint, or an object that names it' 'but nothing that names none'
api POST /lg/threads/t1/history '{"limit":1001}'
lg_refused 422 VALIDATION_ERROR 'limit must be between 1 and 1000' 'a list has an end'
api GET '/lg/threads/t1/history?limit=3'
is "$(json length "$BODY")" 3 'and the list be asked for by its address'
first=$(json '.[3].checkpoint.checkpoint_id' "$history")
for id in x "${first#*-}-${first%-*}" "0000000000000000-${first#*-}" "${first}0"; do
	api GET "/lg/threads/t1/state/$id"
	lg_refused 404 RESOURCE_NOT_FOUND 'Checkpoint not found' "there is none of the id $id"
done

# ---- writing

api POST /lg/threads '{"thread_id":"w"}'
wrapped='{"lc":1,"type":"constructor","id":["langchain_core","messages","AIMessage"],"kwargs":{"content":"two","tool_calls":[]}}'
api POST /lg/threads/w/state "{\"values\":{\"messages\":[$(human one),$wrapped,[\"system\",\"three\"],\"four\"],\"notes\":[\"n\"]},\"as_node\":\"agent\"}"
is "$STATUS $(json '.checkpoint.checkpoint_id == .configurable.checkpoint_id' "$BODY")" '200 true' 'a state is written'
api GET /lg/threads/w/state
facts <<'TABLE'
messages were added, in whichever form :: .values.messages | map([.type, .content]) == [["human", "one"], ["ai", "two"], ["system", "three"], ["human", "four"]]
and a field set :: .values.notes == ["n"]
TABLE
back=$(json .checkpoint.checkpoint_id "$BODY")
api POST /lg/threads/w/state "{\"values\":{\"messages\":$(human five)}}"
api POST /lg/threads/w/state "{\"values\":{\"messages\":$(human six)},\"checkpoint\":{\"checkpoint_id\":\"$back\"}}"
api GET /lg/threads/w/state
is "$(json '.values.messages | map(.content) | join(" ")' "$BODY")" 'one two three four six' 'at a checkpoint the thread goes on from there'
is "$(json .parent_checkpoint.checkpoint_id "$BODY")" "$back" 'in one step, behind that checkpoint'
api POST /lg/threads/w/state "{\"values\":{\"notes\":[\"m\"]},\"checkpoint\":{\"checkpoint_id\":\"$back\"}}"
api GET /lg/threads/w/state
is "$(json '[.values.notes, (.values.messages | map(.content) | join(" ")), .parent_checkpoint.checkpoint_id] | tojson' "$BODY")" \
	"[[\"m\"],\"one two three four\",\"$back\"]" 'also without a message'
api POST /lg/threads/w/state "{\"values\":{\"messages\":$(human six)},\"checkpoint\":{\"checkpoint_id\":\"$back\"}}"
api POST /lg/threads/w/state "{\"values\":{\"notes\":\"n\"},\"checkpoint\":{\"checkpoint_id\":\"$back\"}}"
lg_refused 422 VALIDATION_ERROR 'values.notes must be of type array' 'what does not fit is refused there'
api POST /lg/threads/w/state "{\"values\":{\"context\":1,\"context_summary\":2}}"
is "$STATUS" 200 'words that only the service has for its state are none'
api GET /lg/threads/w/state
is "$(json '.values.messages | map(.content) | join(" ")' "$BODY")" 'one two three four six' 'and the thread stays where it was'
parts='[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"http://x/y.png"}},{"type":"image","mimeType":"image/png","data":"AAAA","metadata":{"name":"z"}}]'
api POST /lg/threads/w/state "{\"values\":{\"messages\":[{\"role\":\"user\",\"content\":$parts}]}}"
api GET /lg/threads/w/state
is "$(json '.values.messages[-1].content | map(.type + (.source_type // "") + (.url // .data // "")) | tojson' "$BODY")" \
	'["text","imageurlhttp://x/y.png","imagebase64AAAA"]' 'media are parts'
api POST /lg/threads/w/state '{"values":{"messages":[{"role":"user","content":[{"type":"image","id":"block","fileId":"none"}]}]}}'
lg_refused 422 INVALID_INPUT 'File not found: none' 'a file may be named as the blocks of LangChain name it'

# ---- looking, copying, deleting

api POST /lg/threads/search '{"limit":2}'
is "$STATUS $(json 'map(.thread_id) | join(" ")' "$BODY")" '200 w t1' 'threads are listed, the latest first'
is "$(json '.[1].values.messages | length' "$BODY")" 7 'with their values'
for body in '{"metadata":{"a":"b"}}' '{"metadata":{"graph_id":"demo","c":true}}' '{"status":"interrupted"}' '{"ids":["t1","nobody"]}'; do
	api POST /lg/threads/search "$body"
	is "$STATUS $(json 'map(.thread_id) | join(" ")' "$BODY")" '200 t1' "one is found by $body"
done
while IFS='|' read -r found members; do
	api POST /lg/threads/search "{\"ids\":[\"w\",\"nobody\",\"t1\"],$members}"
	is "$STATUS $(json 'map(.thread_id) | join(" ")' "$BODY")" "200 $found" "of those of ids those that fit: $members"
done <<'TABLE'
w t1|"limit":2
t1|"status":"interrupted"
w|"status":"idle"
|"status":"busy"
t1|"metadata":{"c":true}
|"metadata":{"a":"b","c":false}
t1|"offset":1
|"status":"idle","offset":1
TABLE
api POST /lg/threads/search '{"metadata":{"graph_id":"other"}}'
is "$STATUS $BODY" '200 []' 'of another graph there are none'
api POST /lg/threads/search '{"select":["thread_id","status"],"limit":1}'
is "$STATUS $BODY" '200 [{"thread_id":"w","status":"idle"}]' 'only what is asked for is told'
api POST /lg/threads/search "{\"ids\":$(list_of 1001),\"select\":$(list_of 1001)}"
lg_refused 422 VALIDATION_ERROR 'ids must be an array of at most 1000' 'nobody asks for any number of threads'
api POST /lg/threads/search "{\"ids\":$(list_of 1000),\"select\":$(list_of 1000)}"
is "$STATUS $BODY" '200 []' 'but for many'
api POST /lg/threads/prune "{\"thread_ids\":$(list_of 1001)}"
lg_refused 422 VALIDATION_ERROR 'thread_ids must be an array of at most 1000' 'nor deletes it'
api POST /lg/runs/cancel "{\"thread_id\":\"t1\",\"run_ids\":$(list_of 1001)}"
lg_refused 422 VALIDATION_ERROR 'run_ids must be an array of at most 1000' 'nor ends any number of runs'
api POST /lg/threads/count '{"status":"idle"}'
is "$STATUS $BODY" '200 2' 'they are counted'
api POST /lg/threads/count '{}'
is "$STATUS $BODY" '200 3' 'all of them'
api POST /lg/threads/search '{"status":"odd","sort_by":"name","values":{"a":1},"metadata":{"x":{}}}'
lg_refused 422 VALIDATION_ERROR 'status must be one of idle, busy, interrupted, error' 'mistakes are told'
api POST /lg/threads/t1/copy
is "$STATUS $(json '"\(.thread_id != "t1") \(.values.messages | length) \(.status)"' "$BODY")" '200 true 7 interrupted' 'a thread is copied'
api DELETE /lg/threads/t1
is "$STATUS/$BODY" 204/ 'and deleted'
api GET /lg/threads/t1
lg_refused 404 RESOURCE_NOT_FOUND 'Thread not found' 'and gone'
api POST /lg/threads '{"thread_id":".."}'
api POST /lg/threads/prune '{"thread_ids":[".."]}'
is "$STATUS $BODY" '200 {"pruned_count":1}' 'also one that no path can name'

done_testing
