#!/bin/sh
# SPDX-License-Identifier: ISC
# The history of a thread: what each level keeps, lists, checkpoints, rewind and copies, and what is refused.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# serves LEVEL [MEMBERS]: a service of its own with that level.
serves() {
	[ -z "${SERVE_PID-}" ] || serve_stop
	STATE='' SOCKET=''
	printf '{"agent":"builtin:demo","history":{"level":"%s"%s}}\n' "$1" "${2:+,$2}" >agentgraph.json
	api_start
}
said() { json '"'"$STATUS"' \(.error_code) \(.detail)"' "$BODY"; }
history() { api GET "/v1/threads/$1/history${2:+?$2}"; }
# kept THREAD EXPRESSION [QUERY]: of each checkpoint, newest first.
kept() {
	history "$1" "${3-}"
	printf '%s' "$BODY" | jq -r ".data.history | map($2) | join(\" \")"
}
# checkpoint THREAD PLACE: its id, -1 being the first one.
checkpoint() {
	history "$1" limit=1000
	json ".data.history[$2].checkpoint_id" "$BODY"
}
rewind() { api POST "/v1/threads/$1/rewind" "{\"checkpoint_id\":\"$2\"}"; }
copy() { api POST "/v1/threads/$1/copy" "${2-}"; }
# texts THREAD, context THREAD: what its list has, and what its nodes see.
texts() {
	api GET "/v1/threads/$1/messages"
	json "$facts_words"'.data.messages | texts | join("|")' "$BODY"
}
context() {
	api GET "/v1/threads/$1/state"
	json "$facts_words"'.data.state.context | texts | join("|")' "$BODY"
}
put() { api PUT "/v1/threads/$1/state" "{\"state\":$2}"; }
message() { printf '{"message_id":"%s","role":"user","content":"%s"}' "$1" "$2"; }

serves runs

# ---- what is kept

invoke one "$(thread t '"run_id":"r1"')"
api GET /v1/threads/t/state
then=$(printf '%s' "$BODY" | sorted .data.state)
invoke two "$(thread t '"run_id":"r2"')"
history t
is "$STATUS" 200 'a thread has a history'
facts <<'TABLE'
of a checkpoint for each run :: .data.history | length == 2
with all its keys :: .data.history[0] | keys == ["checkpoint_id", "created_at", "message_count", "next", "node", "parent_checkpoint_id", "run_id", "source", "status", "step", "thread_id"]
with what it was :: .data.history[1] | del(.checkpoint_id, .created_at) == {"parent_checkpoint_id": null, "thread_id": "t", "run_id": "r1", "source": "run", "status": "completed", "step": 1, "node": "END", "next": null, "message_count": 2}
each comes from the one before :: .data.history | .[0].parent_checkpoint_id == .[1].checkpoint_id
ids sort as times do :: .data.history | (map(.checkpoint_id) | sort | reverse) == map(.checkpoint_id) and .[0].created_at > .[1].created_at
TABLE
first=$(checkpoint t -1)
second=$(checkpoint t 0)
api GET "/v1/threads/t/history/$first"
is "$STATUS|$(json "$facts_words"'.data.messages | texts | join("|")' "$BODY")" '200|one|echo: one' 'a checkpoint has the list as it was'
is "$(printf '%s' "$BODY" | sorted .data.state)" "$then" 'and the state'
history t
listed=$(printf '%s' "$BODY" | sorted '.data.history[1]')
api GET "/v1/threads/t/history/$first"
is "$(printf '%s' "$BODY" | sorted '.data | del(.state, .messages)')" "$listed" 'beside what the list says'
api POST /v1/threads/t/messages "{\"messages\":[$(message m1 told)]}"
is "$(kept t .source)" 'run run' 'messages that are put keep nothing'
put t '{"context_summary":"short"}'
is "$(kept t .source)" 'update run run' 'a state that is put does'
is "$(kept t '.run_id // "none"')" 'none r2 r1' 'and is of no run'
api DELETE /v1/threads/t/state
is "$(kept t .source)" 'update update run run' 'so does one that is cleared'
is "$(kept t .message_count)" '5 5 4 2' 'the messages stay in the list'
invoke '/error' "$(thread t '"run_id":"r3"')"
is "$(kept t '"\(.source):\(.status)"' 'limit=1')" 'run:error' 'a run that fails keeps what it was given'
invoke '/ask Why?' "$(thread t '"run_id":"r4"')"
is "$(kept t '"\(.source):\(.status):\(.next)"' 'limit=1')" 'run:interrupted:agent' 'one that pauses says what is next'
in_background long invoke '/slow 90 600' "$(thread s),\"recursion_limit\":100"
wait_for 20 is_running s
api POST /v1/graph/stop '{"thread_id":"s"}'
collect long
is "$(kept s '"\(.source):\(.status)"')" 'run:stopped' 'one that is stopped keeps one as well'

# ---- lists

is "$(kept t .run_id 'run_id=r2')" r2 'of one run'
is "$(kept t .run_id 'run_id=nobody')|$STATUS" '|200' 'of one that there is not: none'
is "$(kept t .run_id run_id=)" "$(kept t .run_id)" 'an empty name of a run asks for none'
is "$(kept t .message_count 'limit=2')" '7 6' 'as many as are asked for'
is "$(kept t .message_count "before=$second")" '2' 'older than one'
is "$(kept t .message_count "before=$(checkpoint t 1)&limit=2")" '5 5' 'both together'
for n in $(seq 21); do put many "{\"context_summary\":\"$n\"}"; done
history many
is "$(json '.data.history | length' "$BODY")" 20 'twenty unless more are asked for'
history many limit=1001
is "$(json '.data.history | length' "$BODY")" 21 'at most a thousand'
# wrong QUERY SENTENCE
wrong() {
	history t "$1"
	is "$(said)" "422 VALIDATION_ERROR $2" "refused: $1"
}
wrong limit=0 'limit must be > 0'
wrong limit=-1 'limit must be > 0'
wrong limit=x 'limit must be an integer'
wrong before= 'before must not be empty'
wrong 'limit=0&before=' 'before must not be empty'
history nobody
is "$(said)" '404 RESOURCE_NOT_FOUND Thread not found' 'a thread that there is not has none'
history many limit=1
other=$(json '.data.history[0].checkpoint_id' "$BODY")
for id in "$other" 0000000000000001 ffffffffffffffff 7fffffffffffffff 0000000000000000 1 x -1 +000000000000001 "${first}0" "0x$first" \
	"$(printf '%s' "$first" | tr a-f A-F)A" ' ' "'" '%25' null; do
	path=$(printf '%s' "$id" | sed 's/ /%20/g')
	api GET "/v1/threads/t/history/$path"
	is "$(said)" '404 RESOURCE_NOT_FOUND Checkpoint not found' "there is no checkpoint '$id'"
	history t "before=$(printf '%s' "$path" | sed 's/+/%2B/')"
	is "$(said)" '404 RESOURCE_NOT_FOUND Checkpoint not found' 'nothing is before it'
	rewind t "$id"
	is "$(said)" '404 RESOURCE_NOT_FOUND Checkpoint not found' 'nor can be gone back to it'
	copy t "{\"checkpoint_id\":\"$id\"}"
	is "$(said)" '404 RESOURCE_NOT_FOUND Checkpoint not found' 'or copied'
done

# ---- rewind

before=$(texts t)
rewind t "$first"
is "$STATUS" 200 'a thread is brought back'
facts <<'TABLE'
it is said so :: .data | keys == ["checkpoint", "state", "success"] and .success
with a checkpoint of its own :: .data.checkpoint | [.source, .run_id, .message_count, .status] == ["rewind", null, 2, "completed"]
and the state :: .data.state | [.context_summary, (.context | texts)] == [null, ["one", "echo: one"]]
TABLE
is "$(json .data.checkpoint.parent_checkpoint_id "$BODY")" "$first" 'which comes from the one that was named'
is "$(printf '%s' "$BODY" | sorted .data.state)" "$then" 'the state is what it was'
is "$(texts t)|$(context t)" 'one|echo: one|one|echo: one' 'list and context, too'
api GET /v1/threads/t
is "$(json .data.thread_data.run_id "$BODY")" r1 'the latest run is that of then'
is "$(kept t .source)" 'rewind run run update update run run' 'later ones stay'
api GET /v1/threads/t/messages/m1
is "$STATUS" 404 'messages of another branch are not there'
api POST /v1/threads/t/messages "{\"messages\":[$(message m1 again)]}"
is "$(texts t)" 'one|echo: one|again' 'so their ids are free'
rewind t "$(checkpoint t 1)"
is "$(texts t)" "$before" 'forth is the same as back'
is "$(kept t .source 'limit=3')" 'rewind update rewind' 'what had changed was kept first'
rewind t "$(checkpoint t 1)"
is "$(texts t)" 'one|echo: one|again' 'and so can be come back to'
api DELETE /v1/threads/t/messages/m1
rewind t "$second"
rewind t "$(checkpoint t 1)"
is "$(texts t)" 'one|echo: one' 'a message that was deleted stays deleted'
# bad BODY SENTENCE
bad() {
	api POST /v1/threads/t/rewind "$1"
	is "$(said)" "422 VALIDATION_ERROR $2" "refused: $1"
}
bad '{}' 'checkpoint_id is required and must be a string'
bad '{"checkpoint_id":null}' 'checkpoint_id is required and must be a string'
bad '{"checkpoint_id":5}' 'checkpoint_id must be a string'
bad '{"checkpoint_id":["x"]}' 'checkpoint_id must be a string'
bad "{\"checkpoint_id\":\"$first\",\"config\":7}" 'config must be an object'
api POST /v1/threads/nobody/rewind "{\"checkpoint_id\":\"$first\"}"
is "$(said)" '404 RESOURCE_NOT_FOUND Thread not found' 'a thread that there is not goes nowhere'
is "$(texts t)" 'one|echo: one' 'all of this changed nothing'

# ---- what comes back

invoke '/ask Which?' "$(thread p)"
asked=$(checkpoint p 0)
resume '"red"' p
is "$(texts p)" '/ask Which?|answer: red' 'a question is answered'
rewind p "$asked"
is "$(json '.data.state.execution_meta | "\(.status) \(.is_interrupted)"' "$BODY")" 'interrupted true' 'the pause is open again'
resume '"blue"' p
is "$(texts p)" '/ask Which?|answer: blue' 'and is answered otherwise'
api DELETE /v1/threads/p/state
rewind p "$asked"
is "$(context p)" '/ask Which?' 'what was cleared is there again'
copy p "{\"checkpoint_id\":\"$asked\",\"thread_id\":\"p2\"}"
resume '"green"' p2
is "$(texts p2)|$(texts p)" '/ask Which?|answer: green|/ask Which?' 'a copy has a pause of its own'

# ---- copies

copy t
is "$STATUS" 200 'a thread is copied'
copied=$(json .data.thread_data.thread_id "$BODY")
facts <<'TABLE'
with a new id :: .data.thread_data.thread_id | uuid7
its record is as that of any thread :: .data.thread_data | .thread.thread_id == .thread_id and .run_id == null
TABLE
is "$(texts "$copied")|$(context "$copied")" 'one|echo: one|one|echo: one' 'it has the messages'
is "$(kept "$copied" '"\(.source) \(.parent_checkpoint_id) \(.message_count)"')" 'copy null 2' 'and a history of its own'
api GET "/v1/threads/$copied/runs"
is "$(json '.data.runs | length' "$BODY")" 0 'but no runs'
invoke mine "$(thread "$copied")"
is "$(texts "$copied")|$(texts t)" 'one|echo: one|mine|echo: mine|one|echo: one' 'neither sees what becomes of the other'
copy t "{\"checkpoint_id\":\"$second\",\"thread_id\":\"c2\"}"
is "$(json .data.thread_data.thread_id "$BODY")|$(texts c2)" 'c2|one|echo: one|two|echo: two' 'one of then, under an id that was asked for'
api DELETE /v1/threads/t '{}'
is "$STATUS|$(texts c2)" '200|one|echo: one|two|echo: two' 'it outlives the thread'
for body in '{"thread_id":null}' '{"thread_id":""}' '{"thread_id":"new"}' '{"checkpoint_id":null}' '{}'; do
	copy c2 "$body"
	ok '[ "$STATUS" = 200 ] && [ "$(json ".data.thread_data.thread_id | length" "$BODY")" = 36 ]' "$body leaves the id to the server"
done
copy c2 '{"thread_id":77}'
is "$(json .data.thread_data.thread_id "$BODY")" 77 'an id may be a number'
copy c2 '{"thread_id":"c2"}'
is "$(said)" '409 THREAD_EXISTS Thread c2 exists already' 'no thread is overwritten'
# no BODY SENTENCE
no() {
	copy c2 "$1"
	is "$(said)" "422 VALIDATION_ERROR $2" "refused: $1"
}
no '{"checkpoint_id":5}' 'checkpoint_id must be a string'
no '{"thread_id":true}' 'thread_id must be a string or an integer'
no '{"config":7}' 'config must be an object'
copy nobody
is "$(said)" '404 RESOURCE_NOT_FOUND Thread not found' 'a thread that there is not has no copy'
in_background long invoke '/slow 90 600' "$(thread busy),\"recursion_limit\":100"
wait_for 20 is_running busy
copy busy '{"thread_id":"snapshot"}'
is "$STATUS" 200 'a thread that a run has is copied'
api GET /v1/threads/snapshot/state
is "$(json '.data.state.execution_meta | "\(.status) \(.is_running)"' "$BODY")" 'stopped false' 'of which the copy knows nothing'
copy c2 '{"thread_id":"busy"}'
is "$(said)" '409 THREAD_EXISTS Thread busy exists already' 'a busy thread is not waited for to be refused'
api POST /v1/graph/stop '{"thread_id":"busy"}'
collect long

# ---- a large one

jq -nc '{messages: [range(8) | {message_id: "l\(.)", role: "user", content: ("x" * 90000)}]}' >large
api POST /v1/threads/large/messages "$(cat large)"
put large '{"context_summary":"large"}'
api GET "/v1/threads/large/history/$(checkpoint large 0)"
facts <<'TABLE'
more than a part of an answer holds is there, in list and context :: .data | [(.messages | map(.message_id) | join(" ")), .state.context == .messages] == ["l0 l1 l2 l3 l4 l5 l6 l7", true]
TABLE

# ---- results of earlier runs

invoke first "$(thread e '"run_id":"e1"'),\"response_granularity\":\"full\""
answered=$(printf '%s' "$BODY" | sorted .data)
invoke second "$(thread e '"run_id":"e2"')"
api GET '/v1/threads/e/runs/e1/result?response_granularity=full'
is "$(printf '%s' "$BODY" | sorted .data)" "$answered" 'the result of an earlier run is what invoke answered'
rewind e "$(checkpoint e -1)"
api GET '/v1/threads/e/runs/e2/result?response_granularity=full'
is "$(json "$facts_words"'.data.state.context | texts | join("|")' "$BODY")" 'first|echo: first|second|echo: second' \
	'also where the thread has gone back since'

# ---- runs that have the thread

said_so() { context "$1" | grep -q "tick $2"; }
invoke one "$(thread b)"
start=$(checkpoint b -1)
invoke two "$(thread b)"
in_background long invoke '/slow 90 600' "$(thread b),\"recursion_limit\":100"
wait_for 20 said_so b 1
in_background back rewind b "$start"
api POST /v1/graph/stop '{"thread_id":"b"}'
collect long
collect back
is "$STATUS|$(texts b)" '200|one|echo: one' 'a rewind waits for the run that has the thread'
rewind b "$(checkpoint b 1)"
like "$(texts b)" '^one[|]echo: one[|]two[|]echo: two[|]/slow 90 600[|].*tick 1' 'whose checkpoint is there'
rewind b "$start"
invoke three "$(thread b)"
api POST /v1/threads/b/messages "{\"messages\":[$(message m2 told)]}"
in_background long invoke '/slow 90 600' "$(thread b "\"checkpoint_id\":\"$start\""),\"recursion_limit\":100"
wait_for 20 said_so b 1
is "$(context b | cut -d'|' -f1-3)" 'one|echo: one|/slow 90 600' 'a run goes on from a checkpoint'
invoke four "$(thread b),\"multitask_strategy\":\"rollback\""
collect long
is "$(texts b)" 'one|echo: one|three|echo: three|told|four|echo: four' 'a rollback puts the thread back to where it was before'
is "$(context b)" "$(texts b)" 'and its context'
history b
facts <<'TABLE'
what was there then is what the next run came from :: .data.history | [.[0].source, .[1].source, .[0].parent_checkpoint_id == .[1].checkpoint_id] == ["run", "update", true]
TABLE

# ---- how much is kept

serves runs '"keep":3'
for n in 1 2 3 4 5; do invoke "$n" "$(thread k)"; done
is "$(kept k .message_count)" '10 8 6' 'a thread has its latest checkpoints'
rewind k "$(checkpoint k 2)"
is "$STATUS|$(texts k)" '200|1|echo: 1|2|echo: 2|3|echo: 3' 'the oldest of them can be gone back to'
is "$(kept k .source)" 'rewind run run' 'and counts among them'
oldest=$(checkpoint k 2)
in_background long invoke '/slow 90 600' "$(thread k '"run_id":"l"'),\"recursion_limit\":100"
wait_for 20 is_running k
api POST /v1/graph/runs "$(run_body "[$(user late)]" "$(thread k "\"run_id\":\"q\",\"checkpoint_id\":\"$oldest\"")")"
is "$STATUS" 202 'a run in the background is queued while its checkpoint is there'
api POST /v1/threads/k/runs/l/stop
collect long
over() {
	api GET /v1/threads/k/runs/q
	case $(json .data.status "$BODY") in queued | running | null) return 1 ;; esac
}
wait_for 30 over
is "$(json '.data | "\(.status) \(.error.code) \(.error.message)"' "$BODY")" 'error RESOURCE_NOT_FOUND Checkpoint not found' \
	'and fails where it has gone when the run begins'
unlike "$(texts k)" late 'which leaves the thread as it is'

# ---- the other levels

serves steps
invoke '/add 2 3' "$(thread t '"run_id":"r1"')"
is "$(kept t '"\(.source):\(.step):\(.node):\(.next):\(.status):\(.message_count)"')" \
	'run:3:END:null:completed:4 step:3:agent:null:running:4 step:2:tools:agent:running:3 step:1:agent:tools:running:2' \
	'at steps each node has a checkpoint'
is "$(kept t '.run_id')" 'r1 r1 r1 r1' 'which are those of the run'
api GET "/v1/threads/t/history/$(checkpoint t -1)"
facts <<'TABLE'
its state is that of a run that goes on :: .data.state.execution_meta | [.status, .is_running, .current_node] == ["running", true, "tools"]
with what there was :: (.data.messages | length) == 2
TABLE
result=$(checkpoint t 2)
rewind t "$(checkpoint t -1)"
facts <<'TABLE'
a thread that is brought back there is stopped :: .data.state.execution_meta | [.status, .is_running] == ["stopped", false]
and can go on :: .data.checkpoint | [.source, .next, .status] == ["rewind", "tools", "stopped"]
TABLE
api POST /v1/graph/invoke "{$(thread t "\"checkpoint_id\":\"$result\"")}"
is "$(texts t)" '/add 2 3|||sum: 5' 'a run that goes on behind the tools has their results'
invoke '/ask Who?' "$(thread q)"
is "$(kept q '"\(.source):\(.status)"')" 'run:interrupted' 'a node that pauses has not ended'
invoke '/error' "$(thread f)"
is "$(kept f '"\(.source):\(.status)"')" 'run:error' 'nor one that fails'
put t '{"context_summary":"x"}'
is "$(kept t .source limit=1)" update 'changes are kept as well'

serves off
invoke one "$(thread t)"
put t '{"context_summary":"short"}'
api DELETE /v1/threads/t/state
is "$(kept t .source)|$STATUS" '|200' 'where history is off nothing is kept'
copy t '{"thread_id":"c"}'
is "$STATUS|$(texts c)|$(kept c .source)" '200|one|echo: one|copy' 'a thread can still be copied'
invoke two "$(thread c)"
is "$(kept c .source)" copy 'and goes on without'
rewind c "$(checkpoint c 0)"
is "$STATUS|$(texts c)" '200|one|echo: one' 'what is kept can be gone back to'
rewind c "$(checkpoint c 1)"
is "$(texts c)" 'one|echo: one|two|echo: two' 'without loss'
done_testing
