#!/bin/sh
# SPDX-License-Identifier: ISC
# Answers larger than a process should hold in memory: they are whole, and take little memory.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
export ASAN_OPTIONS="${ASAN_OPTIONS-}:quarantine_size_mb=8" # else what was freed stays
. "$TOP_SRCDIR/t/api/run.sh"
. "$TOP_SRCDIR/t/api/threads.sh"

MESSAGES=8 SIZE=2000000

# worker: the id of the process that answers.
worker() {
	pgrep -P "$SERVE_PID" -f agentgraph-fcgi | head -n 1
}

peak() {
	awk '/^VmHWM/ { print $2 }' "/proc/$(worker)/status"
}

# raw_get PATH: the body of the answer, beside what api remembers.
raw_get() {
	env -i PATH="$PATH" REQUEST_METHOD=GET REQUEST_URI="$1" QUERY_STRING="${1#*\?}" SERVER_PROTOCOL=HTTP/1.1 \
		REQUEST_SCHEME=http REMOTE_ADDR=127.0.0.1 HTTP_HOST=localhost \
		timeout 60 cgi-fcgi -bind -connect "$SOCKET" </dev/null | sed '1,/^\r\{0,1\}$/d'
}

printf '{"agent": "builtin:demo", "ag_ui": {"enabled": true}, "langgraph": {"enabled": true}, "a2a": {"enabled": true}, "runs": {"wait_timeout": 100}}\n' >agentgraph.json
STATE=$WORK/state
api_start --config agentgraph.json
for i in $(seq "$MESSAGES"); do
	put large "$(user "small-$i" "$i")"
done
is "$STATUS" 200 'small messages are stored'
api GET /v1/threads/large/messages
like "$(header Content-Length)" '^[0-9]+$' 'a small answer has its length'

# As an outsider, because eight bodies of this size would be what the process remembers.
zeros="substr(hex(zeroblob($SIZE / 2)), 2)" # before the digit that is there
[ -z "$PG_DIR" ] || zeros="repeat('0', $SIZE - 1)"
change "UPDATE bodies SET body = replace(body, '\"text\":\"', '\"text\":\"' || $zeros)"
change "UPDATE messages SET bytes = (SELECT length(b.body) FROM bodies AS b WHERE b.row = messages.body)"
change "UPDATE threads SET message_bytes = (SELECT sum(bytes) FROM messages)"
before=$(peak)
for i in 1 2 3 4 5 6; do
	raw_get /v1/threads/large/state >"$WORK/state-$i" &
	pids="${pids-} $!"
done
# shellcheck disable=SC2086 # one id each
wait $pids
after=$(peak)
echo "# the peak of the process: $before KiB, then $after KiB"
# A sanitizer keeps what was freed for a while.
room=4
case ${CFLAGS-} in *-fsanitize=*) room=12 ;; esac
ok '[ $((after - before)) -lt $((6 * room * SIZE / 1024)) ]' 'six readers of a large thread cost less than a few messages each'
for i in 1 2 3 4 5 6; do
	jq -c '[.success, (.data.state.context | length, ([.[].content[0].text | length] | unique[]), [.[].message_id] == [range(1; 9) | "small-\(.)"]), .message, (.metadata.request_id | length > 0)]' "$WORK/state-$i"
done | sort | uniq -c | tr -s ' ' >answers
is "$(cat answers)" ' 6 [true,8,2000000,true,"OK",true]' 'each has the whole of it'

raw_get '/v1/threads/large/messages?offset=2&limit=5' >list
is "$(jq -c '[.data.messages[].message_id]' list)" '["small-3","small-4","small-5","small-6","small-7"]' 'a page has what it should'
raw_get '/v1/threads/large/messages?search=000&limit=2&offset=1' >list
is "$(jq -c '[.data.messages[].message_id]' list)" '["small-2","small-3"]' 'also one of a search'
api PUT /v1/threads/large/state '{"state": {"context_summary": "in short"}}'
is "$STATUS $(data '.state | [.context_summary, (.context | length)] | join(" ")')" '200 in short 8' 'an update answers with all of it'
api HEAD /v1/threads/large/state
is "$STATUS" 200 'and HEAD with none'


# Three at once of what runs, which adds some small messages; raw_post PATH BODY.
raw_post() {
	printf %s "$2" | env -i PATH="$PATH" REQUEST_METHOD=POST REQUEST_URI="$1" QUERY_STRING= SERVER_PROTOCOL=HTTP/1.1 \
		REQUEST_SCHEME=http REMOTE_ADDR=127.0.0.1 HTTP_HOST=localhost CONTENT_TYPE=application/json CONTENT_LENGTH="${#2}" \
		timeout 120 cgi-fcgi -bind -connect "$SOCKET" | sed '1,/^\r\{0,1\}$/d'
}
three() {
	before=$(peak)
	pids=
	for i in 1 2 3; do
		raw_post "$1" "$2" >"$WORK/three-$i" &
		pids="$pids $!"
	done
	# shellcheck disable=SC2086 # one id each
	wait $pids
	after=$(peak)
	echo "# the peak of the process: $before KiB, then $after KiB"
}
config='"config": {"thread_id": "large"}, "messages": [{"role": "user", "content": "hi"}]'
reset_peak() { echo 5 >"/proc/$(worker)/clear_refs"; }

reset_peak
three /v1/graph/invoke "{$config, \"response_granularity\": \"full\"}"
ok '[ $((after - before)) -lt $((2 * room * SIZE / 1024)) ]' 'runs that answer with the whole state cost little more'
for i in 1 2 3; do
	jq -c '[.success, .data.state.context == .data.context, (.data.context | length > 9 and ([.[:8][].content[0].text | length] | unique) == [2000000] and (.[8:] | all(.content[0].text | length < 100))), .data.summary, (.data.meta.run_id | length > 0), .message]' "$WORK/three-$i"
done | sort | uniq -c | tr -s ' ' >answers
is "$(cat answers)" ' 3 [true,true,true,"in short",true,"OK"]' 'each has it twice, as state and as context'

reset_peak
three /v1/graph/stream "{$config, \"response_granularity\": \"full\"}"
ok '[ $((after - before)) -lt $((2 * room * SIZE / 1024)) ]' 'nor do those that tell it at each step'
for i in 1 2 3; do
	jq -c '[.event, (.data.status // ""), (.state.context // [] | [.[:8][].content[0].text | length] | unique[])]' "$WORK/three-$i" | tr '\n' ' '
	echo
done | sort | uniq -c | tr -s ' ' >answers
is "$(cat answers)" ' 3 ["updates","invoking_node"] ["message",""] ["message",""] ["message",""] ["state","",2000000] ["updates","node_invoked",2000000] ["updates","done"] ' 'a line has each of its chunks'

reset_peak
three /v1/ag-ui '{"threadId": "large", "runId": "r", "state": {}, "messages": [], "tools": [], "context": [], "forwardedProps": {}}'
ok '[ $((after - before)) -lt $((2 * room * SIZE / 1024)) ]' 'nor do browsers that ask what was said'
for i in 1 2 3; do
	sed -n 's/^data: //p' "$WORK/three-$i" | jq -c '[.type, (.messages // [] | length > 8 and ([.[:8][].content | length] | unique) == [2000000])]' | tr '\n' ' '
	echo
done | sort | uniq -c | tr -s ' ' >answers
is "$(cat answers)" ' 3 ["RUN_STARTED",false] ["MESSAGES_SNAPSHOT",true] ["RUN_FINISHED",false] ' 'an event has all of them'

# A list of states that are each a tenth of that.
api POST /lg/threads '{"thread_id":"states"}'
note=$(head -c 200000 /dev/zero | tr '\0' x)
for i in $(seq 50); do
	api POST /lg/threads/states/state "{\"values\":{\"notes\":[\"$i $note\"]}}"
done
reset_peak
before=$(peak)
raw_post /lg/threads/states/history '{"limit":1000}' >history
after=$(peak)
echo "# the peak of the process: $before KiB, then $after KiB"
ok '[ $((after - before)) -lt $((room * SIZE / 1024)) ]' 'a history of ten megabytes costs little more than some of its states'
is "$(jq -c '[length, (map(.values.notes | length) | unique)]' history)" '[51,[0,1]]' 'and has all of them'

# A list of tasks, each of two such messages.
for i in $(seq "$MESSAGES"); do
	raw_post /v1/a2a "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"message/send\",\"params\":{\"message\":{\"messageId\":\"task-$i\",\"role\":\"user\",\"contextId\":\"tasks\",\"parts\":[{\"kind\":\"text\",\"text\":\"$i\"}]}}}" >task
done
change "UPDATE bodies SET body = replace(body, '\"text\":\"', '\"text\":\"' || $zeros)
	WHERE row IN (SELECT body FROM messages WHERE thread = (SELECT row FROM threads WHERE thread_id = 'tasks'))"
reset_peak
before=$(peak)
token=
for i in $(seq "$MESSAGES"); do
	raw_post /v1/a2a "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/list\",\"params\":{\"contextId\":\"tasks\",\"includeArtifacts\":true,\"historyLength\":9$token}}" >page
	jq -r '.result.tasks[] | "\(.id) \(.artifacts[0].parts[0].text | length > 2000000) \(.history[0].parts[0].text | length)"' page
	token=$(jq -r '.result.nextPageToken | if . == "" then "" else ",\"pageToken\":\(tojson)" end' page)
	[ -n "$token" ] || break
done | sort -u | sed 's/[^ ]* //' | uniq -c | tr -s ' ' >answers
after=$(peak)
echo "# the peak of the process: $before KiB, then $after KiB"
ok '[ $((after - before)) -lt $((3 * room * SIZE / 1024)) ]' 'a list of large tasks has few of them at a time'
is "$(cat answers)" " $MESSAGES true 2000000" 'and all of them in its pages'

done_testing
