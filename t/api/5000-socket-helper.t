#!/bin/sh
# SPDX-License-Identifier: ISC
# agentgraph-ws by hand: records on standard input and output (agentgraph-record(7)).
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
: "${AGENTGRAPH_WS:=$(dirname "$AGENTGRAPH")/agentgraph-ws}"
unset PATH_INFO HTTP_X_AGENTGRAPH_TICKET HTTP_X_AGENTGRAPH_RECORD

api_start || tap_bail 'the rest needs a service on the state directory'

# helper [VARIABLE=VALUE...]: answers standard input; sets nothing.
helper() { env "$@" "$AGENTGRAPH_WS" --state "$STATE" 2>>"$WORK/log"; }
by_hand() { "$AGENTGRAPH_WS" --by-hand --state "$STATE" "$@" 2>>"$WORK/log"; }
ticket() { "$AGENTGRAPH_WS" --ticket --state "$STATE"; }

# frame TEXT [MEMBERS]: a record with a fresh frame.
frame() { printf 'T%s\n' "$(run_body "[$(user "$1")]" "${2-}")"; }

# records NAME: the records of the file, chunks as event, status or text.
records() {
	sed -n 's/^T//p' "$1" >"$WORK/chunks"
	sed 's/^T.*/T/' "$1" >"$WORK/kinds"
	jq -r "$facts_words"' if .event == "message" then "\(.message.delta) \(.message | text)"
		else "\(.event) \(.data.status)" end' "$WORK/chunks" |
		awk -v kinds="$WORK/kinds" '{ text[NR] = $0 }
			END { while ((getline kind <kinds) > 0) print kind == "T" ? text[++n] : kind }'
}

# error_of FILE: code and reason of the only record between READY and the end.
error_of() { sed -n 's/^T//p' "$1" | jq -r '"\(.data.error_code) \(.data.reason) \(.run_id) \(.metadata)"'; }

# ---- who comes in

printf '' | by_hand >out
is "$(cat out)" R1 'by hand it is ready, and ends with its input'
printf '' | helper >out
is "$?" 1 'without a ticket it ends'
like "$(cat out)" '^J403 \{' 'after a refusal'
is "$(sed 's/^J403 //' out | json '[.error_code, .close_code, .detail, .error.code, .metadata.message] | join("|")')" \
	'INVALID_TOKEN|1008|Invalid token, please login again|INVALID_TOKEN|Invalid token, please login again' \
	'with a body in the shape of all errors'
is "$(wc -l <out | tr -d ' ')" 1 'and nothing more'
frame hello | helper HTTP_X_AGENTGRAPH_TICKET=nonsense >out
like "$(cat out)" '^J403 ' 'a ticket that is none is refused, whatever else came'
good=$(ticket)
printf '' | helper HTTP_X_AGENTGRAPH_TICKET="$good" >out
is "$(cat out)" R1 'a ticket is enough'
printf '' | helper HTTP_X_AGENTGRAPH_TICKET="${good%?????}AAAAA" >out
like "$(cat out)" '^J403 ' 'not with another signature'
printf '' | helper HTTP_X_AGENTGRAPH_TICKET="$good" PATH_INFO=/v1/graph/live >out
like "$(cat out)" '^J403 ' 'nor for another route'
printf '' | by_hand --route /v1/graph >out
is "$? $(cat out)" '2 ' 'a route that has no sockets is a wrong command line'
printf '' | helper HTTP_X_AGENTGRAPH_TICKET="$good" PATH_INFO=/v1/graph/ws HTTP_X_AGENTGRAPH_RECORD=1 >out
is "$(cat out)" R1 'it is for its own'
printf '' | helper HTTP_X_AGENTGRAPH_TICKET="$good" HTTP_X_AGENTGRAPH_RECORD=2 >out
is "$(sed 's/ .*//' out) $(sed 's/^J503 //' out | json '.error_code, .close_code' | paste -sd ' ' -)" \
	'J503 SERVICE_UNAVAILABLE 1013' 'a relay that speaks another version is refused'
like "$(ticket)" '^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$' 'a ticket is one word'
"$AGENTGRAPH_WS" --by-hand --state "$WORK/nowhere" </dev/null >out 2>err
is "$? $(sed 's/^\(J[0-9]*\).*/\1/' out)" '1 J500' 'without the state directory nobody comes in'
unlike "$(cat out)" "$WORK" 'and the refusal tells no path'
like "$(cat err)" "$WORK/nowhere/ticket.key" 'but the log does'
echo '{"agent": 1}' >bad.json
by_hand --config bad.json </dev/null >out
is "$(sed 's/ .*//' out)" J503 'with a bad configuration nobody comes in'
like "$(cat "$WORK/log")" 'bad.json' 'and the log says why'
"$AGENTGRAPH_WS" --by-hand --frobnicate </dev/null >out 2>err
is $? 2 'an unknown option is a usage error'

# ---- frames

frame 'hello world' | by_hand >out
is "$(records out)" "$(printf '%s\n' R1 'true echo:' 'true  hello' 'true  world' 'false echo: hello world' 'updates done')" \
	'a frame is answered with chunks and a terminator, also when the input ends at once'
sed -n 's/^T//p' out >frames
stream 'hello world'
shape='[., inputs] | map([paths(scalars, . == null) as $p | ($p | map(tostring) | join(".")) + ":" + (getpath($p) | type)])'
is "$(jq -c "$shape" frames)" "$(printf '%s' "$BODY" | jq -c "$shape")" 'the chunks are those of the stream'
frame "$(printf 'line\\nline\\u001b\\u0000x')" | by_hand >out
like "$(error_of out)" '^VALIDATION_ERROR Invalid request: ' 'U+0000 is refused'
frame 'two\nlines' '"config":{"thread_id":"lines"}' | by_hand >out
is "$(sed -n 's/^T//p' out | tail -n 2 | head -n 1 | jq -r '.message.content[0].text')" "$(printf 'echo: two\nlines')" \
	'a text of several lines comes and goes'
printf 'T{"messages":\033n\033r[{"role":"user","content":"x"}]}\n' | by_hand >out
is "$(records out | tail -n 1)" 'updates done' 'stuffed newlines are newlines again'

{
	echo 'T{'
	echo 'T[1]'
	echo 'BAAEC'
	echo 'T{"invoke_type":"other"}'
	frame again
} | by_hand >out
is "$(sed -n 's/^T//p' out | jq -r 'select(.event == "error").data.reason' | paste -sd '|' -)" \
	'Invalid request: frame is not valid JSON|Invalid request: frame must be a JSON object|Invalid request: binary frames are not accepted|Invalid request: invoke_type must be fresh or resume' \
	'frames that are refused get one chunk each, in order'
is "$(records out | tail -n 2 | paste -sd '|' -)" 'false echo: again|updates done' 'and the next frame is answered'

# results RESULT: a resume frame with one result.
results() { printf 'T{"invoke_type":"resume","config":{"thread_id":"r"},"messages":[1],"tool_result":%s}\n' "$1"; }
{
	results '{"role":"tool"}'
	results '[{"role":"tool","content":"x"},{"role":"tool"}]'
	results '[{"role":"tool","content":"x"},{"role":"user","content":"x"}]'
	results '[{"role":"judge","content":"x"}]'
} | by_hand >out
is "$(sed -n 's/^T//p' out | jq -r '.data | "\(.reason) \(.details[0].loc | map(tostring) | join("."))"' | paste -sd '|' -)" \
	'Invalid request: tool_result must be an array body.tool_result|Invalid request: tool_result[1].content must be a string or an array of blocks body.tool_result.1.content|Invalid request: tool_result[1].role must be tool body.tool_result.1.role|Invalid request: role must be one of user, assistant, system, tool body.tool_result.0.role' \
	'a result that is none is named where it stands'

printf 'MAX_REQUEST_SIZE=300\n' >small.env
echo '{"agent": "builtin:demo", "auth": null, "env": "small.env"}' >small.json
x300=$(printf '%300s' '' | tr ' ' x)
{
	frame "$x300"
	frame "$x300$x300$x300"
	printf 'B%s\n' "$(printf '%2000s' '' | tr ' ' A)"
	frame small
} | by_hand --config small.json >out
is "$(sed -n 's/^T//p' out | jq -r 'select(.event == "error").data | "\(.error_code) \(.reason)"' | paste -sd '|' -)" \
	'REQUEST_TOO_LARGE Invalid request: frame exceeds 300 bytes|REQUEST_TOO_LARGE Invalid request: frame exceeds 300 bytes|VALIDATION_ERROR Invalid request: binary frames are not accepted' \
	'a frame that is too large is refused, also when it is never looked at'
is "$(records out | tail -n 1)" 'updates done' 'and the socket goes on'

printf 'Zwhat\n' | by_hand >out
is "$(cat out)" "$(printf '%s\n' R1 'C1011 Internal error')" 'a record that is none closes the socket'
printf 'R1\n' | by_hand >out
is "$(tail -n 1 out)" 'C1011 Internal error' 'so does one that only the helper sends'
{ printf 'Z\n'; frame late; } | by_hand >out
is "$(wc -l <out | tr -d ' ')" 2 'after a close nothing is answered'

# ---- the live socket

printf '' | by_hand --route /v1/graph/live >out
is "$(sed -n 's/^T//p' out | jq -r '[.type, .code, .fatal, .message] | join("|")')" \
	'error|not_live|true|This graph is not a live (realtime) agent; use the turn-based /v1/graph/ws endpoint instead of /v1/graph/live.' \
	'the live socket says that there is no live agent'
is "$(sed -n '$p' out)" 'C1008 Graph is not live' 'and closes'

# ---- one run at a time

{ for i in 1 2 3 4 5; do frame "turn $i" '"config":{"thread_id":"order"}'; done; } | by_hand >out
is "$(records out | grep -c '^updates done')" 5 'every frame is answered'
is "$(records out | sed -n 's/^false echo: turn //p' | tr -d '\n')" 12345 'in the order of their coming'

# answer_all: the frames of the file at once, and time until each has its answer.
ended() { [ "$(records out | grep -c '^updates done')" -eq "$(wc -l <frames)" ]; }
answer_all() {
	: >out
	{ cat frames; wait_for 60 ended; } | by_hand >out
}
{
	frame '/slow 1 2000'
	i=0
	while [ $i -lt 18 ]; do frame "$i"; i=$((i + 1)); done
} >frames
answer_all
is "$(grep -cx H out) $(grep -cx O out)" '1 1' 'when 16 frames wait the relay is told to hold, and later to go on'
is "$(records out | grep -n '^H' | sed 's/:.*//')" 2 'before the run has ended'
is "$(records out | grep -c '^updates done')" 19 'and every frame is answered'
{
	frame '/slow 1 300'
	i=0
	while [ $i -lt 15 ]; do frame "$i"; i=$((i + 1)); done
} >frames
answer_all
is "$(grep -c '^[HO]' out)" 0 'when fewer wait it is not'

# ---- clients that vanish

stored() {
	api GET "/v1/threads/$1/messages"
	json '[.data.messages[].content[0].text] | join("|")' "$BODY"
}

: >out
{
	frame '/slow 3 2500' "$(thread gone)"
	frame 'never' "$(thread gone)"
	wait_for 20 is_running gone
	echo G1006
	wait_for 20 grep -qx Y out
} | by_hand >out
is "$(tail -n 1 out)" Y 'a client that is gone is answered with BYE'
is "$(records out | grep -c 'done')" 0 'nothing that only it would read is sent any more'
is "$(stored gone)" '/slow 3 2500|tick 1|tick 2|tick 3|done' 'the run went on to its end, and no other began'

mkfifo in
by_hand <in >out &
pid=$!
exec 3>in
frame '/slow 4 1000' "$(thread early)" >&3
echo G1001 >&3
wait_for 20 grep -qx R1 out
sleep 0.4
is "$(tail -n 1 out)" R1 'BYE is not said while the run goes on'
wait_for 30 grep -qx Y out
is "$(stored early)" '/slow 4 1000|tick 1|tick 2|tick 3|tick 4|done' 'but when its result is stored'
ok "alive $pid" 'and it stays until its input ends'
exec 3>&-
wait "$pid"
is $? 0 'then it leaves'

{ frame '/slow 3 200' "$(thread unread)"; sleep 0.2; } | by_hand | head -n 1 >out
is_stored() { case $(stored "$1") in *done) return 0 ;; esac; return 1; }
ok 'wait_for 20 is_stored unread' 'a reader that left does not stop the run'

# ---- signals

signalled() {
	rm -f in && mkfifo in
	printf '' >out
	HTTP_X_AGENTGRAPH_TICKET=$(ticket) "$AGENTGRAPH_WS" --state "$STATE" <in >out 2>>"$WORK/log" &
	pid=$!
	exec 3>in
	wait_for 20 grep -q '^R' out
}

signalled
frame '/slow 3 2500' "$(thread term)" >&3
frame 'never' "$(thread term)" >&3
wait_for 20 is_running term
kill -INT "$pid"
kill -TERM "$pid"
wait_for 20 grep -q '^C' out
is "$(records out | tail -n 2 | paste -sd '|' -)" 'updates done|C1001 Shutting down' 'a signal lets the run end, then closes'
is "$(stored term)" '/slow 3 2500|tick 1|tick 2|tick 3|done' 'with its result stored, and nothing begins any more'
exec 3>&-
wait "$pid"
is $? 0 'and it leaves in order'

signalled
kill -TERM "$pid"
wait_for 30 grep -q '^C1001' out
is "$(tail -n 1 out)" 'C1001 Shutting down' 'without a run it closes at once'
kill -TERM "$pid"
ok "wait_for 30 gone $pid" 'and does not wait for the end of its input when it is told twice'
exec 3>&-

# ---- the log

"$AGENTGRAPH_WS" --by-hand --state "$STATE" --log 7 </dev/null 7>other --config bad.json >out 2>err
like "$(cat other)" 'bad.json' 'the log goes where it is told to'
is "$(cat err)" '' 'and nowhere else'
serve_stop
done_testing
