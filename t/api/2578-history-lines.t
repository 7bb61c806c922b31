#!/bin/sh
# SPDX-License-Identifier: ISC
# A thread with its whole history as lines: exported, imported, and lines that are wrong or that nobody vouches for.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# serves [AGENT [MEMBERS]]: another service, with a state directory of its own.
serves() {
	[ -z "${SERVE_PID-}" ] || serve_stop
	STATE='' SOCKET=''
	printf '{"agent":"%s","history":{"level":"steps"%s}}\n' "${1-builtin:demo}" "${2-}" >agentgraph.json
	api_start
}
said() { json '"'"$STATUS"' \(.error_code) \(.detail)"' "$BODY"; }
# take_out THREAD FILE
take_out() {
	api GET "/v1/threads/$1/export"
	printf '%s\n' "$BODY" >"$2"
}
# bring_in FILE [THREAD]: its lines, for a thread of that id.
bring_in() {
	sed "${2:+1s/\"thread_id\":\"[^\"]*\"/\"thread_id\":\"$2\"/}" "$1" >brought
	api POST /v1/threads/import "$(cat brought)" 'Content-Type: application/x-ndjson'
}
# story THREAD: checkpoints with their messages and states, state and messages of now, and runs, without the thread's id.
story() {
	for uri in "" /history?limit=1000 /state /messages /runs; do
		api GET "/v1/threads/$1$uri"
		printf '%s\n' "$BODY" | sorted '.data | del(.. | .thread_id?, .updated_at?)'
	done
	api GET "/v1/threads/$1/history?limit=1000"
	for id in $(printf '%s' "$BODY" | jq -r '.data.history[].checkpoint_id'); do
		api GET "/v1/threads/$1/history/$id"
		printf '%s\n' "$BODY" | sorted '.data | del(.. | .thread_id?)'
	done
}
checkpoint() {
	api GET "/v1/threads/$1/history?limit=1000"
	json ".data.history[$2].checkpoint_id" "$BODY"
}
rewind() { api POST "/v1/threads/$1/rewind" "{\"checkpoint_id\":\"$2\"}"; }
texts() {
	api GET "/v1/threads/$1/messages"
	json "$facts_words"'.data.messages | texts | join("|")' "$BODY"
}

serves

# ---- there and back

api POST /v1/threads '{"thread_id":"t","thread_name":"one","metadata":{"team":"red"}}'
invoke '/add 2 3' "$(thread t '"run_id":"r1"')"
invoke '/ask what' "$(thread t '"run_id":"r2"')"
pause=$(checkpoint t 0)
resume '"this"' t
invoke '/error bad' "$(thread t)"
rewind t "$pause"
resume '"that"' t
invoke '/note x' "$(thread t)"
api PUT /v1/threads/t/state '{"state":{"context_summary":"so far"}}'
api GET /v1/threads/t/messages
api DELETE "/v1/threads/t/messages/$(json '.data.messages[0].message_id' "$BODY")"
take_out t t.jsonl
is "$STATUS" 200 'a thread is taken out'
is "$(header Content-Type)" application/x-ndjson 'as lines of JSON'
is "$(jq -r .type t.jsonl | uniq -c | awk '{printf "%s ", $2}')" 'thread message branch message checkpoint run end ' 'in their order'
is "$(tail -n 1 t.jsonl | jq .lines)" "$(($(wc -l <t.jsonl) - 1))" 'which the last one counts'
bring_in t.jsonl u
is "$STATUS $(json '.data.thread_data | [.thread_id, .thread_name, .metadata.team] | join(" ")' "$BODY")" '200 u one red' 'it is brought in'
story t >t.story
story u >u.story
ok 'cmp -s t.story u.story' 'with all its history' || diff t.story u.story | cut -c1-500 >&2
ok '[ "$(wc -l <t.story)" -gt 12 ]' 'of which there is some'
take_out u u.jsonl
ok '[ "$(sed 1d t.jsonl)" = "$(sed 1d u.jsonl)" ]' 'and taken out again as the same lines'
bring_in t.jsonl u
is "$(said)" '409 THREAD_EXISTS Thread u exists already' 'never onto another one'
bring_in t.jsonl new
is "$STATUS $(json '.data.thread_data.thread_id | length' "$BODY")" '200 36' 'new asks for an id'
api GET /v1/threads/nobody/export
is "$STATUS" 404 'a thread that is not there is not taken out'
api HEAD /v1/threads/t/export
is "$STATUS $BODY" '200 ' 'HEAD gives the head alone'

# What is done to both afterwards comes to the same.
for id in t u; do
	rewind "$id" "$pause"
	resume '"again"' "$id"
	is "$STATUS $(json "$facts_words"'said | join("|")' "$BODY")" '200 answer: again' "$id: the pause of then is open, and is answered"
	api POST /v1/threads/$id/messages '{"messages":[{"role":"user","content":"added"}]}'
	rewind "$id" "$(checkpoint "$id" -1)"
	invoke 'hello' "$(thread "$id")"
	rewind "$id" "$(checkpoint "$id" 4)"
	texts "$id" >"$id.texts"
	api GET "/v1/threads/$id/history?limit=1000"
	printf '%s' "$BODY" | jq -c '.data.history[] | [.source, .status, .message_count, .node]' >"$id.after"
done
ok 'cmp -s t.after u.after && cmp -s t.texts u.texts' 'rewinds and runs do the same there' || diff t.after u.after >&2
like "$(cat u.texts)" '[|]answer: again$' 'and so does going forth'

# Lists may be empty, and long.
api POST /v1/threads '{"thread_id":"empty"}'
take_out empty empty.jsonl
is "$(wc -l <empty.jsonl | tr -d ' ')" 2 'an empty thread has two lines'
bring_in empty.jsonl empty-2
is "$STATUS" 200 'which make one'
word=$(head -c 3000 /dev/zero | tr '\0' x)
for i in 1 2 3; do
	jq -nc --arg w "$word" --arg i "$i" '{messages: [range(120) | {role: "user", content: $w, message_id: "\($i)-\(.)"}]}' >body
	api POST /v1/threads/empty/messages "$(cat body)"
done
take_out empty long.jsonl
ok '[ "$(wc -c <long.jsonl)" -gt 1000000 ]' 'one of a megabyte is taken out in parts'
bring_in long.jsonl long
take_out long again.jsonl
ok '[ "$(sed 1d long.jsonl)" = "$(sed 1d again.jsonl)" ]' 'and brought in'

# A run may go on meanwhile: its last node that has ended is what is taken out.
goes_on() {
	api GET /v1/threads/slow/state
	is_running slow && [ "$(json '.data.state.context | length' "$BODY")" -gt 1 ]
}
in_background slow invoke '/slow 90 500' "$(thread slow),\"recursion_limit\":100"
wait_for 20 goes_on
take_out slow slow.jsonl
is "$STATUS $(jq -rs 'map(select(.type == "thread" or .type == "run") | .status) | join(" ")' slow.jsonl)" '200 stopped stopped' \
	'a run that goes on is told as stopped'
bring_in slow.jsonl slow-2
is "$STATUS $(json .data.thread_data.status "$BODY")" '200 stopped' 'and so is what is brought in'
api POST /v1/graph/stop '{"thread_id":"slow"}'
collect slow

# However a list branches, it comes in about as fast as one that does not: here into a deep tree, with one id on all its twigs.
# takes THREAD LINES PART: how long it takes to bring in so many lines, those of the jq program for each place.
takes() {
	jq -nc --slurpfile empty empty.jsonl "(\$empty[0] | .thread_id = \"$1\" | .until = 16000 | .last = 16000),
		(range(1; 16001) | $3), {type: \"end\", lines: $2}" >many.jsonl
	began=$(date +%s%N)
	bring_in many.jsonl
	echo $((($(date +%s%N) - began) / 1000000))
}
message='{type: "message", place: ., message: {role: "user", content: "x", message_id: $id}}'
single=$(takes single 16001 "\"\(.)\" as \$id | $message")
branched=$(takes branched 28000 "(select(. > 8000 or (. > 1 and . % 2 == 1)) | {type: \"branch\", place: ., follows: ([. - 2, 7999] | min)}),
	((if . > 8000 or . % 2 == 0 then \"twig\" else \"\(.)\" end) as \$id | $message)")
ok "[ $branched -lt $((5 * single + 2000)) ]" 'a tree of thousands of branches comes in as fast as a list' || echo "$branched ms, not $single" >&2
take_out branched tree.jsonl
is "$(grep -c '"type":"branch"' tree.jsonl)" 11999 'with all of them'
more() {
	api POST "/v1/threads/$1/messages" "$(jq -nc '{messages: [range(2000) | {role: "user", content: "more"}]}')"
}
began=$(date +%s%N)
more single
then=$(date +%s%N)
more branched
single=$(((then - began) / 1000000)) branched=$((($(date +%s%N) - then) / 1000000))
ok "[ $branched -lt $((5 * single + 1000)) ]" 'and gets messages as fast' || echo "$branched ms, not $single" >&2

# ---- what is wrong

threads_before=$(api GET '/v1/threads?limit=1000' && json '.data.threads | length' "$BODY")
# refuses TEXT WHAT SED...: the lines of t with that change.
refuses() {
	text=$1 what=$2
	shift 2
	sed "$@" t.jsonl >wrong.jsonl
	bring_in wrong.jsonl wrong
	is "$STATUS $(json .detail "$BODY")" "422 $text" "$what"
}
count=$(wc -l <t.jsonl)
run=$(grep -n '"type":"run"' t.jsonl | head -n 1 | cut -d: -f1)
point=$(grep -n '"type":"checkpoint"' t.jsonl | head -n 1 | cut -d: -f1)
refuses 'line 1 must be valid JSON' 'the first line is JSON' '1s/^./x/'
refuses 'line 1.type must be thread' 'of a thread' 1d
refuses 'line 1.format must be 1' 'in a format that is known' '1s/"format":1/"format":2/'
refuses 'line 1.metadata must be an object' 'with members of their types' '1s/"metadata":{[^}]*}/"metadata":7/'
refuses 'line 3 must be valid JSON' 'a later line that is none is named' '3s/}$//'
refuses 'line 3 must be a JSON object' 'one that is no object' '3s/.*/[]/'
refuses 'line 3.type must be one of branch, again, message, checkpoint, run, end' 'and one of no kind' '3s/message/massage/'
refuses 'line 2.place must be an integer from 1 to 4503599627370496' 'a place is a number' '2s/"place":[0-9]*/"place":"x"/'
refuses 'line 1.last must be an integer from 0 to 4503599627370496' 'behind which a thread goes on' '1s/"last":[0-9]*/"last":9007199254740992/'
refuses 'line 3.place must be above those of the lines before' 'places ascend' '3s/"place":[0-9]*/"place":1/'
refuses 'line 3.place must be above those of the lines before' 'also of branches' '2{s/.*/{"type":"branch","place":1,"follows":0}/;p;}'
refuses 'line 2.place must not be above the thread'"'"'s last place' 'up to the last one' '2s/"place":[0-9]*/"place":100/'
refuses 'line 2.message.message_id must be a string' 'a message has an id' '2s/"message_id":"[^"]*"/"message_id":7/'
refuses 'line 2: role must be one of user, assistant, system, tool' 'and a role' '2s/"role":"[a-z]*"/"role":"boss"/'
refuses "line $point.status must be one of idle, running, interrupted, completed, error, stopped" 'a checkpoint has a status' \
	"${point}s/\"status\":\"[a-z]*\"/\"status\":\"odd\"/"
refuses "line $point.checkpoint_id must be the id of a checkpoint" 'and an id' "${point}s/\"checkpoint_id\":\"[0-9a-f]*\"/\"checkpoint_id\":\"7fffffffffffffff\"/"
refuses "line $((point + 1)).checkpoint_id must be above that of the line before" 'ids ascend' "${point}{p;}"
refuses "line $point.until must not be above the thread's last place" 'what it shows is there' "${point}s/\"until\":[0-9]*/\"until\":99/"
refuses "line $run.status must be that of a run" 'a run has the status of one' "${run}s/\"status\":\"[a-z]*\"/\"status\":\"idle\"/"
refuses "line $((run + 1)).type must not come behind checkpoints, or behind runs" 'places come first' "${run}{p;s/.*/{\"type\":\"branch\",\"place\":1,\"follows\":0}/;}"
refuses "line $((count - 1)).lines must be the number of lines before it" 'no line is missing' 2d
refuses "line $count is missing: the last one is that of the type end" 'nor is the end' '$d'
refuses "line $((count + 1)) must not be there, behind the end" 'behind which there is nothing' '$p'
sed '3s/"message_id":"[^"]*"/"message_id":"same"/; 2s/"message_id":"[^"]*"/"message_id":"same"/' t.jsonl >wrong.jsonl
bring_in wrong.jsonl wrong
is "$(said)" '422 INVALID_INPUT line 3: the list has a message same already' 'an id stands once in a list'
api POST /v1/threads/import '' 'Content-Type: application/x-ndjson'
is "$(said)" '422 VALIDATION_ERROR Request body is required' 'there is a body'
api POST /v1/threads/import "$(cat t.jsonl)"
is "$(said)" '422 VALIDATION_ERROR Content-Type must be application/x-ndjson' 'of its type'
api GET '/v1/threads?limit=1000'
is "$(json '.data.threads | length' "$BODY")" "$threads_before" 'nothing of all that is there'

# ---- what nobody vouches for

invoke '/ask open' "$(thread open)"
take_out open open.jsonl
sed 's/,"seal":"[^"]*"//' open.jsonl >unsealed.jsonl
bring_in open.jsonl sealed
bring_in unsealed.jsonl unsealed
is "$STATUS" 200 'lines without the seal of the service are taken, too'
for id in sealed unsealed; do
	api GET "/v1/threads/$id/state"
	eval "$id=\$(json '.data.state.execution_meta.status' \"\$BODY\")"
done
# shellcheck disable=SC2154 # both are set above
is "$sealed $unsealed" 'interrupted completed' 'but nothing waits in them'
resume '"x"' sealed
is "$STATUS" 200 'the other one goes on'
sed 's/"notes":\[\]/"notes":7/' unsealed.jsonl >wrong.jsonl
bring_in wrong.jsonl wrong
is "$(said)" '422 VALIDATION_ERROR line 1.fields has a member that must be of type array: notes' 'and their fields fit the graph'
serves builtin:demo ',"trust_imports":true'
bring_in unsealed.jsonl unsealed
resume '"x"' unsealed
is "$STATUS" 200 'unless they are trusted'
jq -c 'if .pause then .pause.interrupt = {} else . end' unsealed.jsonl >wrong.jsonl
bring_in wrong.jsonl wrong
like "$(said)" '^422 VALIDATION_ERROR line 1.pause.interrupt.id ' 'a pause has what a pause has'

serves builtin:demo ',"keep":3'
bring_in t.jsonl few
newest=$(jq -r 'select(.type == "checkpoint").checkpoint_id' t.jsonl | tail -n 3 | sort -r | tr '\n' ' ')
api GET '/v1/threads/few/history?limit=1000'
is "$STATUS $(json '.data.history | map(.checkpoint_id + " ") | join("")' "$BODY")" "200 $newest" 'of many checkpoints the latest are kept'

# A call of a tool that a pause holds up is made when the pause was one of this service, and never when a client wrote it.
cat >agent.sh <<'END'
#!/bin/sh
jq -c '{message: {content: [{type: "tool_call", id: "own", name: "work", args: {what: .user_text}}]}}'
END
cat >work.sh <<'END'
#!/bin/sh
jq -r .what | tee -a calls
END
chmod +x agent.sh work.sh
cat >graph.json <<'END'
{"g": {"nodes": {
  "agent": {"kind": "exec", "command": "./agent.sh"},
  "tools": {"kind": "tools", "approval": true, "tools": [
    {"kind": "exec", "name": "work", "description": "Works", "command": "./work.sh"}]}},
 "edges": [{"from": "START", "to": "agent"}, {"from": "agent", "to": "tools"}, {"from": "tools", "to": "END"}]}}
END
serves graph.json:g
invoke 'fine' "$(thread a)"
take_out a a.jsonl
bring_in a.jsonl b
resume true b
is "$STATUS $(cat calls)" '200 fine' 'a call that waits for its approval still does in the thread that was brought in'
sed '2,$s/fine/evil/g' a.jsonl >forged.jsonl
bring_in forged.jsonl c
is "$STATUS" 200 'lines that were changed are taken'
resume true c
is "$STATUS $(cat calls)" '422 fine' 'but the call in them is not made'
point=$(checkpoint c -1)
api POST /v1/graph/invoke "{\"resume\":true,$(thread c "\"checkpoint_id\":\"$point\"")}"
is "$(cat calls)" fine 'from no checkpoint either'
api POST /v1/graph/invoke "{$(thread c "\"checkpoint_id\":\"$point\"")}"
is "$(said) $(cat calls)" '422 INVALID_INPUT Nothing follows this checkpoint fine' 'where nothing follows'
done_testing
