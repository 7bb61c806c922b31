#!/bin/sh
# SPDX-License-Identifier: ISC
# LangGraph's protocol on builtin:demo: runs that are waited for, streamed in each mode, or run in the background;
# pauses and their answers, other answers to earlier messages, and what is refused.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/lg.sh"

lg_configure '"remote_tools":[{"node":"tools","name":"where","description":"Where the user is"}]'

# run_of TEXT [MEMBERS]: a body.
run_of() { printf '{"assistant_id":"demo","input":{"messages":[%s]}%s}' "$(human "$1")" "${2:+,$2}"; }
# lg_wait THREAD BODY, lg_stream THREAD BODY: a run there.
lg_wait() { api POST "/lg/threads/$1/runs/wait" "$2"; }
lg_stream() {
	api POST "/lg/threads/$1/runs/stream" "$2"
	STREAMED=$BODY
	events
}

# ---- waited for

lg_wait t1 "$(run_of hello)"
lg_refused 404 RESOURCE_NOT_FOUND 'Thread not found' 'a thread must be there'
lg_wait t1 "$(run_of hello '"if_not_exists":"create"')"
facts <<'TABLE'
or is made :: .messages | map([.type, .content]) == [["human", "hello"], ["ai", "echo: hello"]]
with the fields of the graph :: .notes == []
nothing is asked :: has("__interrupt__") | not
TABLE
like "$(header Content-Location)" '^/threads/t1/runs/[0-9a-f-]{36}$' 'the run is named'
unlike "$HEADERS" '^Access-Control' 'with nothing about origins, of which there is none'
run=$(header Content-Location | sed 's/.*\///')
api GET "/lg/threads/t1/runs/$run"
facts <<'TABLE'
it has a record :: [.status, .thread_id, .assistant_id] == ["success", "t1", "fcb1d0d2-a4d7-5bb4-b10a-57c00fdcb684"]
TABLE
api POST /lg/threads/t1/runs/wait "$(run_of '/note one')" 'Origin: http://app.example'
is "$(printf '%s\n' "$HEADERS" | grep -ci '^Access-Control-Expose-Headers: X-Request-ID,.*, ETag, Content-Location, Location')" 1 \
	'pages of other origins may read it besides the usual ones'
is "$(json '"\(.messages | length) \(.notes | tojson)"' "$BODY")" '4 ["one"]' 'the next one adds to the thread'
lg_wait t1 "$(run_of '/error x')"
is "$STATUS $(json '.__error__ | keys | join(" ")' "$BODY")" '200 error message' 'a run that fails says so in its answer'
api GET '/lg/threads/t1/runs?status=error'
is "$(json 'map(.status) | join(" ")' "$BODY")" error 'runs are listed by their status'
api GET '/lg/threads/t1/runs?status=timeout'
is "$STATUS $BODY" '200 []' 'none has had too much time, which there is no status of'
api GET '/lg/threads/t1/runs?status=odd'
lg_refused 422 VALIDATION_ERROR 'status must be one of pending, running, success, interrupted, error, timeout' 'of which there are some'
api DELETE "/lg/threads/t1/runs/$run"
is "$STATUS/$BODY" 204/ 'a record is deleted'
api GET "/lg/threads/t1/runs/$run"
is "$STATUS" 404 'and gone'

# ---- streamed

api POST /lg/threads '{"thread_id":"s"}'
lg_stream s "$(run_of 'one two' '"stream_mode":["values","updates","messages-tuple","events"]')"
is "$STATUS $(header Content-Type)" '200 text/event-stream; charset=utf-8' 'a stream is server-sent events'
facts <<'TABLE'
it says which run it is :: .[0] | [.event, (.data.run_id | length), .data.thread_id] == ["metadata", 36, "s"]
every event has an id :: map(.id | tonumber) | . == (unique | sort)
values begin with what was said :: of("values")[0].messages | map(.content) == ["one two"]
and end with the answer :: of("values")[-1].messages | map(.content) == ["one two", "echo: one two"]
pieces come with their node :: of("messages") | map([.[0].type, .[0].content, .[1].langgraph_node]) == [["AIMessageChunk", "echo:", "agent"], ["AIMessageChunk", " one", "agent"], ["AIMessageChunk", " two", "agent"]]
and are not told again :: of("messages") | length == 3
a node's update has its messages :: of("updates") | map(.agent.messages | map(.content)) == [["echo: one two"]]
events name what happens :: of("events") | map(.event) | unique == ["on_chain_end", "on_chain_start", "on_chat_model_end", "on_chat_model_stream"]
a piece is an event before it is a message, and the message is one at its end :: (map(.event == "messages" or .data.event? == "on_chat_model_stream") | index(true)) as $at | [.[$at].event, (of("events")[] | select(.event == "on_chat_model_end") | .data.output.content)] == ["events", "echo: one two"]
the last one is the end :: .[-1] | [.event, .data] == ["end", null]
TABLE
lg_stream s "$(run_of '/add 2 3' '"stream_mode":"updates"')"
facts <<'TABLE'
each node has an update :: of("updates") | map(keys[0]) == ["agent", "tools", "agent"]
with its tool messages :: of("updates")[1].tools.messages | map([.type, .content]) == [["tool", "5"]]
and nothing else is told :: names | unique == ["end", "metadata", "updates"]
TABLE
lg_stream s "$(run_of '/note x' '"stream_mode":"updates"')"
is "$(json 'of("updates")[0].agent.notes | tojson' "$BODY" 2>/dev/null || printf '%s' "$BODY" | jq -c 'map(select(.event == "updates"))[0].data.agent.notes')" '["x"]' 'a field that was set is in the update'
lg_stream s "$(run_of 'a b' '"stream_mode":"messages"')"
facts <<'TABLE'
messages have a name for each of their events :: names == ["metadata", "messages/metadata", "messages/partial", "messages/partial", "messages/partial", "end"]
TABLE
lg_stream s "$(run_of '/error x')"
is "$(printf '%s' "$BODY" | jq -r '.[-1] | "\(.event) \(.data | keys | join(" "))"')" 'error error message' 'a run that fails ends with an error'

# ---- without a thread

api POST /lg/runs/wait "$(run_of hello)"
is "$STATUS $(json '.messages | map(.content) | join(" | ")' "$BODY")" '200 hello | echo: hello' 'a run needs no thread'
like "$(header Content-Location)" '^/runs/' 'nor has its name one'
api POST /lg/runs/stream "$(run_of hello)"
events
facts <<'TABLE'
its stream has the values :: of("values")[-1].messages | map(.content) == ["hello", "echo: hello"]
TABLE
api POST /lg/threads/count '{}'
is "$BODY" 2 'and nothing is left of it'

# ---- pauses

lg_stream s "$(run_of '/ask May I?' '"stream_mode":["values","updates"]')"
facts <<'TABLE'
a question is an update :: of("updates")[-1].__interrupt__ | map(.value) == [{"question": "May I?"}]
and with the values :: of("values")[-1] | [.__interrupt__[0].value.question, (.messages | length > 1)] == ["May I?", true]
TABLE
lg_wait s '{"assistant_id":"demo","input":null}'
is "$(json '.__interrupt__[0].value.question' "$BODY")" 'May I?' 'it is told again to who says nothing'
api POST /lg/threads/s/runs '{"assistant_id":"demo","input":null}'
run=$(json .run_id "$BODY")
over() { api GET "/lg/threads/${1-s}/runs/$run" && case $(json .status "$BODY") in pending | running) false ;; esac; }
ok 'wait_for 20 over' 'a run in the background that says nothing comes to its end'
api GET /lg/threads/s/state
is "$(json '[.tasks[].interrupts[].value.question] | join(" ")' "$BODY")" 'May I?' 'and has answered nothing'
lg_wait s '{"assistant_id":"demo","command":{"resume":"yes"}}'
is "$STATUS $(json '.messages[-1].content' "$BODY")" '200 answer: yes' 'the answer goes on'
lg_wait s '{"assistant_id":"demo","command":{"resume":"yes"}}'
is "$STATUS $(json .code "$BODY")" '422 INVALID_INPUT' 'where nothing is asked it is refused'

# ---- another answer

api POST /lg/threads '{"thread_id":"b"}'
lg_wait b "$(run_of first)"
lg_wait b "$(run_of second)"
api POST /lg/threads/b/history '{}'
input=$(json '.[1].checkpoint.checkpoint_id' "$BODY") before=$(json '.[2].checkpoint.checkpoint_id' "$BODY")
root=$(json '.[-1].checkpoint.checkpoint_id' "$BODY")
old=$(json '.[0].values.messages[-1].id' "$BODY")
lg_wait b "{\"assistant_id\":\"demo\",\"input\":{\"messages\":[{\"type\":\"human\",\"content\":[{\"type\":\"image\"}]}]},\"checkpoint_id\":\"$input\"}"
lg_refused 422 VALIDATION_ERROR 'input.messages[0].content[0] needs one of file_id, url, data_base64' 'a mistake is named by its place, behind an input as well'
lg_wait b "{\"assistant_id\":\"demo\",\"input\":null,\"checkpoint\":{\"checkpoint_id\":\"$input\"}}"
is "$STATUS $(json '.messages | map(.content) | join(" | ")' "$BODY")" '200 first | echo: first | second | echo: second' 'what was said is answered anew'
ok "[ '$(json '.messages[-1].id' "$BODY")' != '$old' ]" 'by another message'
lg_wait b "$(run_of other "\"checkpoint_id\":\"$before\"")"
is "$(json '.messages | map(.content) | join(" | ")' "$BODY")" 'first | echo: first | other | echo: other' 'something else is said there'
lg_wait b "$(run_of new "\"checkpoint\":{\"checkpoint_id\":\"$root\"}")"
is "$(json '.messages | map(.content) | join(" | ")' "$BODY")" 'new | echo: new' 'or at the beginning'

# ---- in the background, and cancelled

api POST /lg/threads/b/runs "$(run_of later '"after_seconds":600,"metadata":{"a":1}')"
is "$STATUS $(json '"\(.status) \(.metadata.a)"' "$BODY")" '200 pending 1' 'a run waits in the queue'
run=$(json .run_id "$BODY")
is "$(header Content-Location)" "/threads/b/runs/$run" 'and is named'
api POST "/lg/threads/b/runs/$run/cancel?wait=0&action=odd"
lg_refused 422 VALIDATION_ERROR 'action must be one of interrupt, rollback' 'a word for the cancel is checked'
api POST "/lg/threads/b/runs/$run/cancel?wait=0&action=interrupt"
is "$STATUS/$BODY" 204/ 'it is cancelled'
api GET "/lg/threads/b/runs/$run"
is "$(json .status "$BODY")" interrupted 'and over'
api GET '/lg/threads/b/runs?status=interrupted'
is "$STATUS $(json 'map(.run_id) | join(" ")' "$BODY")" "200 $run" 'and found by what it says'
in_background slow lg_wait b "$(run_of '/slow 50 200')"
lg_lists_running() {
	api GET '/lg/threads/b/runs?status=running&limit=1'
	run=$(json '.[0].run_id // empty' "$BODY")
	[ "$run" ]
}
wait_for 30 lg_lists_running # which it is when its start is on disk
api GET /lg/threads/b
is "$(json .status "$BODY")" busy 'a thread with a run is busy'
lg_wait b "$(run_of now '"multitask_strategy":"reject"')"
is "$STATUS $(json .code "$BODY")" '409 THREAD_BUSY' 'which another one may not want'
lg_wait b '{"assistant_id":"demo","command":{"goto":"__end__"},"multitask_strategy":"reject"}'
is "$STATUS $(json .code "$BODY")" '409 THREAD_BUSY' 'nor one that only ends a pause'
api POST "/lg/threads/b/runs/$run/cancel?wait=0&action=rollback"
is "$STATUS" 204 'it is rolled back'
collect slow
api GET /lg/threads/b/state
is "$(json '.values.messages | map(.content) | join(" | ")' "$BODY")" 'new | echo: new' 'and the thread is as before'

# ---- about no thread

said="$(human '/add 1 2'),{\"type\":\"ai\",\"content\":\"\",\"tool_calls\":[{\"id\":\"c\",\"name\":\"add\",\"args\":{\"a\":1,\"b\":2}}]},{\"type\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"3\"}"
api POST /lg/runs/wait "{\"assistant_id\":\"demo\",\"input\":{\"messages\":[$said]}}"
is "$(json '.messages[-1].content' "$BODY")" 'sum: 3' 'calls and their results may stand in what was said before'

api POST /lg/runs/wait '{"assistant_id":"demo","command":{"resume":1}}'
is "$STATUS $(json .code "$BODY")" '422 INVALID_INPUT' 'but there is no pause to be answered'

# ---- the whole conversation again

lg_wait again "$(run_of '/add 1 2' '"if_not_exists":"create"')"
has=$(json '.messages | tojson' "$BODY")
lg_wait again "{\"assistant_id\":\"demo\",\"input\":{\"messages\":${has%]},$(human on)]}}"
is "$STATUS $(json '.messages[4:] | map(.content) | join(" ")' "$BODY")" '200 on echo: on' 'calls of the thread may be sent again with it'
lg_wait again "{\"assistant_id\":\"demo\",\"input\":{\"messages\":[$said,$(human on)]}}"
lg_refused 422 VALIDATION_ERROR 'input.messages[1] carries a tool call; only the model may request tools' 'but no others'

for has in "${has%]},$(human more)" "$said,$(human more)"; do
	api POST /lg/threads/again/runs "{\"assistant_id\":\"demo\",\"input\":{\"messages\":[${has#\[}]}}"
	[ "$STATUS" = 200 ] || continue
	run=$(json .run_id "$BODY")
	wait_for 20 over again
	api GET "/lg/threads/again/runs/$run/join"
	is "$(json '.messages[6:] | map(.content) | join(" ")' "$BODY")" 'more echo: more' 'in the background, too'
done
lg_refused 422 VALIDATION_ERROR 'input.messages[1] carries a tool call; only the model may request tools' 'which refuses the same'

lg_wait calls "$(run_of '/add 1 2' '"if_not_exists":"create","config":{"recursion_limit":1}')"
lg_wait calls '{"assistant_id":"demo","input":null}'
is "$(json '.messages | map(.content) | join(" ")' "$BODY")" '/add 1 2  3 sum: 3' 'calls that a failed run has left are run when it goes on'

# ---- fields alone

lg_wait fields '{"assistant_id":"demo","input":{"notes":["a"]},"if_not_exists":"create"}'
is "$STATUS $(json '"\(.notes) \(.messages | map(.content))"' "$BODY")" '200 ["a"] ["echo: "]' 'a graph may begin with fields alone'
lg_wait fields '{"assistant_id":"demo","input":{"notes":["b"],"messages":[]}}'
is "$STATUS $(json '"\(.notes) \(.messages | length)"' "$BODY")" '200 ["b"] 2' 'and again'
api POST /lg/runs/wait '{"assistant_id":"demo","input":{"notes":["c"]}}'
is "$STATUS $(json '.notes | tojson' "$BODY")" '200 ["c"]' 'without a thread'
api POST /lg/threads/fields/runs '{"assistant_id":"demo","input":{"notes":["d"]}}'
run=$(json .run_id "$BODY")
wait_for 20 over fields
api GET "/lg/threads/fields/runs/$run/join"
is "$STATUS $(json '"\(.notes) \(.messages | length)"' "$BODY")" '200 ["d"] 3' 'and in the background'
for input in '{}' '{"other":1}' '{"notes":null}'; do
	lg_wait fields "{\"assistant_id\":\"demo\",\"input\":$input}"
	lg_refused 422 VALIDATION_ERROR 'messages must contain at least one message' "but not with $input"
done
lg_wait fields "$(run_of '/ask Which?')"
lg_wait fields '{"assistant_id":"demo","command":{"update":{"notes":["e"]}}}'
lg_refused 422 INVALID_INPUT 'This thread is paused: the fields can be set beside an answer' 'nor at a question'
lg_wait fields '{"assistant_id":"demo","command":{"update":[["notes",["e"]]],"resume":"this"}}'
is "$(json '"\(.notes) \(.messages[-1].content)"' "$BODY")" '["e"] answer: this' 'but with its answer, also as pairs'

lg_wait met "$(run_of '/ask Which?' '"if_not_exists":"create"')"
api POST /lg/threads/met/runs "$(run_of hm)"
run=$(json .run_id "$BODY")
wait_for 20 over met
api GET /lg/threads/met
is "$(json .status "$BODY")" interrupted 'a thread is busy no longer than a run that only met its question'

# ---- messages that are taken away

# remove ID: a message that does that.
remove() { printf '{"type":"remove","content":"","id":"%s"}' "$1"; }
said_in() { json '.messages // .values.messages // [] | map(.content) | join(" ")' "$BODY"; }
lg_wait r "$(run_of one '"if_not_exists":"create"')"
lg_wait r "$(run_of two)"
id() { json ".messages[$1].id" "$BODY"; }
last=$(id -1) first=$(id 0)
api POST /lg/threads/r/state "{\"values\":{\"messages\":[$(remove "$last")]}}"
is "$STATUS $(json '.checkpoint_id | length > 0' "$BODY")" '200 true' 'an update of the state removes a message'
api GET /lg/threads/r/state
is "$(said_in)" 'one echo: one two' 'which is gone'
api POST /lg/threads/r/state "{\"values\":{\"messages\":[$(remove "$last"),$(human lost)]}}"
lg_refused 404 RESOURCE_NOT_FOUND 'Message not found' 'and cannot go twice'
lg_wait r "{\"assistant_id\":\"demo\",\"input\":{\"messages\":[$(remove "$first"),$(human three)]}}"
is "$STATUS $(said_in)" '200 echo: one two three echo: three' 'the input of a run does, too'
lg_wait r "{\"assistant_id\":\"demo\",\"input\":{\"messages\":{\"lc\":1,\"type\":\"constructor\",\"id\":[\"langchain_core\",\"messages\",\"RemoveMessage\"],\"kwargs\":{\"id\":\"$(id -1)\",\"content\":\"\"}}}}"
is "$STATUS $(said_in)" '200 echo: one two three echo: three' 'alone it begins a turn with what is left'
lg_stream r "{\"assistant_id\":\"demo\",\"input\":{\"messages\":[$(human lost),$(remove "$first"),$(remove __remove_all__),$(human four)]}}"
is "$(json 'map(select(.event == "values"))[-1].data.messages | map(.content) | join(" ")' "$BODY")" 'four echo: four' 'all may go, with those before in the input'
none="{\"messages\":[$(remove __remove_all__),{\"type\":\"human\",\"content\":[{\"type\":\"image\",\"source_type\":\"id\",\"id\":\"none\"}]}]}"
api POST /lg/threads/r/state "{\"values\":$none}"
lg_wait r "{\"assistant_id\":\"demo\",\"input\":$none}"
lg_refused 422 INVALID_INPUT 'File not found: none' 'an input may be refused'
api GET /lg/threads/r/state
is "$(said_in)" 'four echo: four' 'and then has removed nothing'
lg_wait w "$(run_of '/remote where {}' '"if_not_exists":"create"')"
first=$(json '.messages[0].id' "$BODY")
lg_wait w "{\"assistant_id\":\"demo\",\"input\":{\"messages\":[$(remove "$first"),{\"type\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"x\"}]}}"
lg_refused 422 INVALID_INPUT "No remote tool call 'c' is waiting for a result" 'so may an answer'
api GET /lg/threads/w/state
is "$(json '.values.messages | length' "$BODY")" 2 'which has removed nothing either'
lg_wait w "{\"assistant_id\":\"demo\",\"input\":{\"messages\":[$(remove "$first"),$(human lost),{\"type\":\"human\",\"content\":[{\"type\":\"image\"}]}]}}"
lg_refused 422 VALIDATION_ERROR 'input.messages[2].content[0] needs one of file_id, url, data_base64' 'a mistake behind a removal is named by its place'
asks='{"type":"ai","id":"x","content":"","tool_calls":[{"id":"c","name":"n","args":{}}]}'
lg_wait w "{\"assistant_id\":\"demo\",\"input\":{\"messages\":[$(remove "$first"),$asks]}}"
lg_refused 422 VALIDATION_ERROR 'input.messages[1] carries a tool call; only the model may request tools' 'as is a call there'
api POST /lg/threads/w/state '{"values":{"messages":[{"type":"human","content":[{"type":"image"}]}]}}'
lg_refused 422 VALIDATION_ERROR 'values.messages[0].content[0] needs one of file_id, url, data_base64' 'and one in an update'
api POST /lg/threads/w/state '{"values":{"messages":{"type":"human","content":[{"type":"image"}]}}}'
lg_refused 422 VALIDATION_ERROR 'values.messages.content[0] needs one of file_id, url, data_base64' 'also without an array'
api GET /lg/threads/again/state
has=$(json '.values.messages | tojson' "$BODY")
lg_wait again "{\"assistant_id\":\"demo\",\"input\":{\"messages\":[$(remove __remove_all__),${has#\[}}}"
lg_refused 422 VALIDATION_ERROR 'input.messages must not have messages with tool calls that it removes' 'such as one with calls that are to come again'
lg_wait r "$(run_of '/ask five')"
lg_wait r "{\"assistant_id\":\"demo\",\"input\":{\"messages\":[$(remove __remove_all__)]}}"
lg_refused 422 VALIDATION_ERROR 'input.messages must remove nothing at an earlier checkpoint, or from a paused thread' 'but not at a question'
api POST /lg/threads/r/state "{\"as_node\":\"__end__\",\"values\":{\"messages\":[$(remove __remove_all__)]}}"
api GET /lg/threads/r/state
is "$(said_in)$(json '.next | tojson' "$BODY")" '[]' 'an update takes all, and the question with them'
api POST /lg/threads/r/state "{\"values\":{\"messages\":[{\"type\":\"remove\"}]}}"
lg_refused 422 VALIDATION_ERROR 'values.messages[0].id must be a string that is not empty' 'one must be named'
api POST /lg/threads/r/state '{"values":{},"as_node":["__end__"]}'
lg_refused 422 VALIDATION_ERROR 'as_node must be a string' 'a node is named by a text'
for path in /lg/runs/wait /lg/threads/r/runs; do
	api POST $path "{\"assistant_id\":\"demo\",\"input\":{\"messages\":[$(remove x)]}}"
	lg_refused 422 VALIDATION_ERROR 'input.messages[0].type must be one of human, ai, system, tool' "nothing is removed by $path"
done

# ---- questions that nobody is to answer

lg_wait e "$(run_of '/ask one' '"if_not_exists":"create"')"
for end in state:'{"values":null,"as_node":"__end__"}' \
	runs/stream:'{"assistant_id":"demo","input":{},"command":{"goto":"__end__"},"stream_resumable":true}'; do
	api POST "/lg/threads/e/${end%%:*}" "${end#*:}"
	is "$STATUS" 200 "a pause is ended by ${end%%:*}"
	api GET /lg/threads/e/state
	is "$(json '[.next, .tasks, (.values.messages | map(.type) | unique)] | tojson' "$BODY")" '[[],[],["human"]]' 'and nothing said'
	api GET /lg/threads/e
	is "$(json .status "$BODY")" idle 'the thread is idle'
	lg_wait e "$(run_of '/ask two')"
done
api POST /lg/threads/e/runs/wait "$(run_of three)"
is "$(json '.__interrupt__[0].value.question' "$BODY")" two 'the next question is there again'

# ---- results that nobody waits for

lg_wait o "$(run_of '/add 1 2' '"config":{"recursion_limit":1},"if_not_exists":"create"')"
api GET /lg/threads/o/state
call=$(json '.values.messages[-1].tool_calls[0].id' "$BODY")
invented="{\"assistant_id\":\"demo\",\"input\":{\"messages\":[{\"type\":\"tool\",\"tool_call_id\":\"$call\",\"content\":\"done\"},$(human on)]}}"
lg_wait o "$invented"
is "$STATUS $(json '.messages | map(.type) | join(" ")' "$BODY")" '200 human ai human ai' \
	'what a page invents as the result of a call that was left open is passed over'
api POST /lg/threads/o/runs "$invented"
run=$(json .run_id "$BODY")
wait_for 20 over o
api GET "/lg/threads/o/runs/$run/join"
is "$STATUS $(json '.messages | map(.type) | join(" ")' "$BODY")" '200 human ai human ai human ai' 'in the background, too'

# ---- refused

# refused_run BODY TEXT
refused_run() {
	lg_wait s "$1"
	is "$STATUS $(json .detail "$BODY")" "422 $2" "$2"
}
refused_run '{"input":{}}' 'assistant_id must be a string'
refused_run "$(run_of x '"stream_mode":"odd"')" \
	'stream_mode must be one of values, updates, messages, messages-tuple, custom, events, debug, tasks, checkpoints, tools, lifecycle'
refused_run "$(run_of x '"interrupt_before":["agent"]')" 'interrupt_before is not supported: the graph declares it'
refused_run '{"assistant_id":"demo","command":{"goto":"x"}}' 'command.goto is not supported: edges of the graph say where it goes on'
lg_wait s "$(run_of x '"command":{"goto":[]}')"
is "$STATUS" 200 'which an empty array names none of'
refused_run '{"assistant_id":"demo","command":{"update":[["notes",[]],["notes",[]]]}}' \
	'command.update must be an object or an array of pairs with different names'
refused_run '{"assistant_id":"demo","command":{"update":[{"name":"notes","value":[]}]}}' \
	'command.update must be an object or an array of pairs with different names'
refused_run '{"assistant_id":"demo","input":{},"command":{"update":{"notes":[]}}}' 'command.update must not stand beside an input'
refused_run "{\"assistant_id\":\"demo\",\"command\":{\"resume\":1,\"update\":{\"messages\":[$(human x)]}}}" \
	'command.update must have no messages beside an answer, which is one'
refused_run '{"assistant_id":"demo","input":{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,!"}}]}]}}' \
	'input.messages[0].content[0].image_url.url must be an http or https URL, or a data URL with valid base64'
refused_run "{\"assistant_id\":\"demo\",\"input\":{\"messages\":[$(human x)],\"notes\":1}}" 'input.notes must be of type array'
refused_run "$(run_of x '"after_seconds":2592001')" 'after_seconds must be between 0 and 2592000'
refused_run "$(run_of x '"webhook":"http://x"')" 'webhook is for runs in the background'
refused_run "$(run_of x '"if_not_exists":"x"')" 'if_not_exists must be one of create, reject'
refused_run '{"assistant_id":"demo","input":{"messages":[{"type":"odd","content":"x"}]}}' 'input.messages[0].type must be one of human, ai, system, tool'
lg_wait s '{"assistant_id":"other","input":{}}'
lg_refused 404 RESOURCE_NOT_FOUND 'Assistant not found' 'there is no other assistant'
lg_wait s "$(run_of x '"checkpoint_id":"none"')"
lg_refused 404 RESOURCE_NOT_FOUND 'Checkpoint not found' 'nor a checkpoint of that id'

# ---- what only this protocol may say

api POST /v1/graph/runs "$(run_body "[$(user x)]" '"lg_modes":"x"')"
is "$STATUS" 202 'how a run is told here is no member of other bodies'

done_testing
