#!/bin/sh
# SPDX-License-Identifier: ISC
# How much one thread may hold, in each way in which it grows.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/ag-ui.sh"
. "$TOP_SRCDIR/t/api/threads.sh"

# long N: so many letters.
long() {
	repeat "$1" x
}

# too_large THREAD NAME: the last answer says that it is.
too_large() {
	refused 413 THREAD_TOO_LARGE "Thread $1 exceeds maximum 4000 bytes" "$2"
	is "$(json '.error | [.code, .max_size_bytes, .max_size_mb] | @tsv' "$BODY")" "$(printf 'THREAD_TOO_LARGE\t4000\t0.003814697265625')" \
		'with the code and the numbers'
}

# frame THREAD TEXT: the record of a frame of the socket.
frame() {
	printf 'T{"messages":[{"role":"user","content":"%s"}],"config":{"thread_id":"%s"}}\n' "$2" "$1"
}

STATE=$WORK/state
ag_ui_configure '"threads": {"max_bytes": 4000}, "langgraph": {"enabled": true}'
api_start --config agentgraph.json

put 7 "$(user m1 "$(long 1500)")"
is "$STATUS" 200 'a message that fits is stored'
put 7 "$(user m2 "$(long 1500)")"
put 7 "$(user m3 "$(long 1500)")"
too_large 7 'one too many is not'
is "$(ids 7)" 'm1 m2' 'and nothing is stored'
put new "$(user m1 "$(long 4000)")"
too_large new 'nor is a first one that is too large alone'
api GET /v1/threads/new
not_found 'Thread not found' 'which makes no thread'

say 7 "$(long 1500)"
too_large 7 'a run with a message that does not fit is refused'
is "$(ids 7)" 'm1 m2' 'before it began'
api GET /v1/threads/7/state
is "$(data .state.execution_meta.status)" idle 'as the thread knows'
api POST /v1/graph/stream "$(jq -nc --arg text "$(long 1500)" '{messages: [{role: "user", content: $text}], config: {thread_id: "7"}}')"
like "$BODY" 'THREAD_TOO_LARGE' 'a stream says so too'
is "$(ids 7)" 'm1 m2' 'and stores nothing'
api PUT /v1/threads/7/state "$(jq -nc --arg text "$(long 1500)" '{state: {context_summary: $text}}')"
too_large 7 'a state that does not fit is refused'

say grows "$(long 2500)"
too_large grows 'a run whose answer does not fit fails'
put grows "$(user m1 short)"
is "$STATUS" 200 'and leaves a thread that goes on'
say u "$(long 1100)"
is "$STATUS" 200 'what fits is answered'
say u "$(long 1100)"
too_large u 'until it does not any more'
api GET /v1/threads/u/state
like "$(data .state.execution_meta.is_running)" false 'nothing runs then'

# ---- the protocols that answer in events

{
	frame 7 "$(long 1500)"
	frame f1 "$(long 5000)"
	frame f2 "$(long 2500)"
	frame f3 hello
} | "$TOP_BUILDDIR/agentgraph-ws" --by-hand --state "$STATE" --config agentgraph.json >frames
is "$(sed -n 's/^T//p' frames | jq -r 'select(.event != "message") | "\(.thread_id) \(.data | .error_code // .status) \(.data.reason)"')" \
	'7 THREAD_TOO_LARGE Thread 7 exceeds maximum 4000 bytes
7 done null
f1 THREAD_TOO_LARGE Thread f1 exceeds maximum 4000 bytes
f1 done null
f2 THREAD_TOO_LARGE Thread f2 exceeds maximum 4000 bytes
f2 done null
f3 done null' 'a frame gets an error chunk and the terminator, and the socket goes on'
is "$(ids 7)" 'm1 m2' 'nothing of it is stored'
api GET /v1/threads/f1
not_found 'Thread not found' 'nor is a thread made for it'
is "$(messages f3)" "$(printf 'user: hello\nassistant: echo: hello')" 'what came after it is'

for thread in 7 a1; do
	run $thread "$(says u1 "$(long 4000)")"
	is "$STATUS $EVENTS $(json '.[-1] | "\(.code) \(.message)"' "$BODY")" \
		"200 run error GRAPH_ERROR Thread $thread exceeds maximum 4000 bytes" 'a run of AG-UI ends with the error'
done
is "$(ids 7)" 'm1 m2' 'and stores nothing'
api GET /v1/threads/a1
not_found 'Thread not found' 'nor makes a thread'
run a2 "$(says u1 "$(long 2500)")"
is "$(json '.[-1] | "\(.code) \(.message)"' "$BODY")" 'GRAPH_ERROR Thread a2 exceeds maximum 4000 bytes' \
	'as one does whose answer does not fit'
run a2 "$(says u2 hello)"
is "$(json '.[-1].type' "$BODY")" RUN_FINISHED 'after which the thread goes on'

# ---- room again

api DELETE /v1/threads/7/messages/m1
is "$STATUS" 200 'a message can be removed'
put 7 "$(user m3 "$(long 1000)")"
is "$STATUS" 200 'which makes room'
put 7 "$(user m4 "$(long 1500)")"
too_large 7 'for as much'
# replace ID TEXT TEXT: messages, of LangGraph's clients, that delete one and say two things.
replace() { jq -nc --arg id "$1" --arg a "$2" --arg b "$3" '{messages: [{type: "remove", $id}, {type: "human", content: $a}, {type: "human", content: $b}]}'; }
put r "$(user m1 short)"
put r "$(user m2 "$(long 2500)")"
api POST /lg/threads/r/runs/wait "{\"assistant_id\":\"demo\",\"input\":$(replace m1 "$(long 1500)" /context)}"
is "$STATUS $(ids r)" '413 m1 m2' 'a run is refused before it removes what makes too little room'
api POST /lg/threads/r/state "{\"values\":$(replace m1 "$(long 1500)" x)}"
is "$STATUS $(ids r)" '413 m1 m2' 'so is an update of the state'
api POST /lg/threads/r/runs/wait "{\"assistant_id\":\"demo\",\"input\":$(replace m2 "$(long 1500)" /context)}"
is "$STATUS $(json '.messages[-1].content' "$BODY")" '200 context: 3' 'one that removes enough is answered'
api DELETE /v1/threads/7/state
is "$STATUS" 200 'the state of a full thread can be cleared'
api PUT /v1/threads/7/state '{"state": {"context_summary": "short"}}'
is "$STATUS" 200 'or changed where there is room'
api DELETE /v1/threads/7 '{}'
is "$STATUS" 200 'and the thread be removed'
put 7 "$(user m5 "$(long 3000)")"
is "$STATUS" 200 'its successor starts from nothing'
serve_stop
STATE=$WORK/state

printf '{"agent": "builtin:demo", "threads": {"max_bytes": 0}}\n' >agentgraph.json
api_start --config agentgraph.json
put 7 "$(user m6 "$(long 20000)")"
is "$STATUS" 200 '0 lifts the limit'
serve_stop
STATE=$WORK/state

printf '{"agent": "builtin:demo", "threads": {"max_bytes": 30000}}\n' >agentgraph.json
api_start --config agentgraph.json
put 7 "$(user m7 "$(long 10000)")"
is "$STATUS" 413 'a limit counts what was there before'
api PUT /v1/threads/7/state '{"state": {"context_summary": "short"}}'
is "$STATUS" 200 'and what fits beside it still does'

done_testing
