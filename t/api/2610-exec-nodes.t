#!/bin/sh
# SPDX-License-Identifier: ISC
# Nodes that are executables, in a running service: what they may do, and all the ways in which they can go wrong.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# One program that does what the user says: a file of that name.
cat >do.sh <<'SH'
#!/bin/sh
read -r state
what=${state##*\"user_text\":\"}
exec "./${what%%\"*}"
SH
# does NAME <<TEXT: such a file.
does() {
	{
		echo '#!/bin/sh'
		cat
	} >"$1"
	chmod +x "$1"
}
chmod +x do.sh
ln -s "$(command -v sleep)" snooze
does speaks <<'SH'
echo '{"reasoning": "hm"}'
echo '{"delta": "one"}'
echo
echo '{"delta": " two"}'
SH
does closes <<'SH'
echo '{"delta": "one"}'
echo '{"message": "one two"}'
echo '{"delta": "three"}'
echo '{"message": {"role": "system", "content": [{"type": "text", "text": "four"}]}}'
echo '{"log": "a line for the log"}'
SH
does slowly <<'SH'
echo '{"delta": "half"}'
until [ -e stopped ]; do sleep 0.02; done
echo '{"delta": " and half"}'
SH
does nothing <<'SH'
exit 0
SH
does updates <<'SH'
echo '{"update": {"count": 2, "word": "w"}}'
echo '{"update": {"count": 3}}'
SH
does unfinished <<'SH'
printf '{"message": "no newline"}'
SH
does fails <<'SH'
echo '{"message": "lost"}'
echo 'first line' >&2
echo 'it is broken' >&2
exit 3
SH
does says <<'SH'
echo '{"error": "out of paper"}'
SH
does garbage <<'SH'
echo 'Segmentation fault'
SH
does unknown <<'SH'
echo '{"shout": "x"}'
SH
does both <<'SH'
echo '{"delta": "x", "message": "y"}'
SH
does types <<'SH'
echo '{"message": 7}'
SH
does badrole <<'SH'
echo '{"message": {"role": "robot", "content": "x"}}'
SH
does binary <<'SH'
head -c 3000 /dev/urandom
SH
does latin <<'SH'
printf '{"message": "gr\374n"}\n'
SH
does nul <<'SH'
printf '{"message": "a\\u0000b"}\n'
SH
does killed <<'SH'
kill -9 $$
SH
does hangs <<'SH'
"$PWD/snooze" 60
SH
does stubborn <<'SH'
trap '' TERM INT HUP
echo '{"delta": "never"}'
while :; do sleep 1; done
SH
does orphans <<'SH'
"$PWD/snooze" 60 &
"$PWD/snooze" 60 &
wait
SH
does leaves <<'SH'
"$PWD/snooze" 60 &
echo '{"message": "done"}'
SH
does deaf <<'SH'
exec <&-
echo '{"message": "did not listen"}'
SH
does quiet <<'SH'
exec >&-
sleep 0.2
SH
does floods <<'SH'
head -c 10485760 /dev/zero | tr '\0' x
SH
does chatters <<'SH'
i=0
line=$(head -c 1000 /dev/zero | tr '\0' x)
while [ $i -lt 4000 ]; do
	echo "{\"log\": \"$line\"}"
	i=$((i + 1))
done
SH
does complains <<'SH'
head -c 3000000 /dev/zero | tr '\0' e >&2
echo '{"message": "still here"}'
SH
does names <<'SH'
echo '{"message": {"message_id": "fixed", "content": "one"}}'
echo '{"message": {"message_id": "fixed", "content": "two"}}'
SH
does long <<'SH'
printf '{"message": "'
head -c 900000 /dev/zero | tr '\0' x
printf '"}\n'
SH
does secrets <<'SH'
echo "{\"message\": \"[$SECRET_TOKEN] [$GIVEN] [${HOME:+home}]\"}"
SH
cat >graph.json <<'JSON'
{"does": {
  "state": {"fields": {"count": {"type": "integer", "reducer": "add"}, "word": {"type": "string"}}},
  "nodes": {"do": {"kind": "exec", "command": "./do.sh", "timeout": 5, "max_output": 2000000, "env": {"GIVEN": "$SECRET_TOKEN-shown"}}},
  "edges": [{"from": "START", "to": "do"}, {"from": "do", "to": "END"}]},
 "hasty": {
  "nodes": {"do": {"kind": "exec", "command": "./do.sh", "timeout": 0.3}},
  "edges": [{"from": "START", "to": "do"}, {"from": "do", "to": "END"}]},
 "pair": {
  "nodes": {"do": {"kind": "exec", "command": "./do.sh"}, "then": {"kind": "reply", "text": "then"}},
  "edges": [{"from": "START", "to": "do"}, {"from": "do", "to": "then"}, {"from": "then", "to": "END"}]},
 "deaf": {
  "nodes": {"do": {"kind": "exec", "command": "./deaf"}},
  "edges": [{"from": "START", "to": "do"}, {"from": "do", "to": "END"}]},
 "gone": {
  "nodes": {"do": {"kind": "exec", "command": "./soon-gone"}},
  "edges": [{"from": "START", "to": "do"}, {"from": "do", "to": "END"}]}}
JSON
export SECRET_TOKEN=s3cret
printf '{"agent":"graph.json:does"}\n' >agentgraph.json

stream speaks
chunks <<'TABLE'
pieces are streamed, reasoning first :: pieces | map(.message | types[0]) == ["reasoning", "text", "text"]
the end of the program closes the message :: finals | texts == ["one two"]
all of it is one message :: map(select(.message).message.message_id) | unique | length == 1
TABLE
invoke closes
facts <<'TABLE'
a message closes the pieces before it :: said[1:] == ["one two", "four"] or said[1:] == ["one two", "three", "four"]
a message has the role it says :: last.role == "system"
TABLE
like "$(cat "$SERVE_ERR")" 'a line for the log' 'the log has what is for it'
invoke names "$(thread n)"
invoke names "$(thread n)"
api GET /v1/threads/n/messages
facts <<'TABLE'
no message has the id that the program gives it :: .data.messages | [(map(.message_id) | unique | length), any(.[]; .message_id == "fixed")] == [6, false]
TABLE
invoke nothing
is "$STATUS|$(json '.data.messages | length' "$BODY")" '200|1' 'a program may say nothing'
invoke updates "$(thread u),\"response_granularity\":\"full\""
facts <<'TABLE'
updates go through their reducers, one after the other :: .data.state | [.count, .word] == [5, "w"]
TABLE
invoke unfinished
facts <<'TABLE'
a last line needs no end :: said[1] == "no newline"
TABLE
invoke quiet
is "$STATUS" 200 'nor write'
invoke complains
facts <<'TABLE'
what it writes to standard error is no harm :: said[1] == "still here"
TABLE
invoke long
facts <<'TABLE'
a long line is one :: said[1] | length == 900000
TABLE
start=$(date +%s)
invoke leaves
[ $(($(date +%s) - start)) -lt 30 ]
ok $? 'what a program leaves running is not waited for'
facts <<'TABLE'
its answer counts :: said[1] == "done"
TABLE
invoke secrets
facts <<'TABLE'
the service's environment is hidden but for what the document passes on :: said[1] == "[] [s3cret-shown] [home]"
TABLE

# wrong PROGRAM PATTERN: the node fails, and says why.
wrong() {
	invoke "$1" "$(thread wrong)"
	is "$STATUS|$(json '"\(.error_code)|\(.error.details[0].loc | join("."))"' "$BODY")" '500|NODE_ERROR|node.do' "'$1' is a node error"
	like "$(json .detail "$BODY")" "^Graph execution failed: .*$2" 'that says why'
}
wrong fails 'it is broken'
wrong says 'out of paper$'
wrong garbage 'Segmentation fault'
wrong unknown 'shout'
wrong both 'line 1'
wrong types 'message'
wrong badrole 'role'
wrong binary 'line [0-9]+|NUL|bytes'
wrong latin 'line 1'
wrong nul 'line 1'
wrong killed 'signal'
wrong floods 'line|output'
wrong chatters 'output'
wrong none-such '.'
api GET /v1/threads/wrong/messages
facts <<'TABLE'
of programs that fail nothing is kept :: [.data.messages[] | select(.role != "user")] == []
TABLE
stream garbage
chunks <<'TABLE'
a stream tells it as well :: .[-2].data | [.error_code, .node, .step] == ["NODE_ERROR", "do", 1]
the bytes are cut to a valid text :: .[-2].data.reason | length < 300
TABLE

# late PROGRAM: its time is up.
late() {
	start=$(date +%s%N)
	invoke "$1" "$(thread late)${2:+,}${2-}"
	took=$((($(date +%s%N) - start) / 1000000))
	is "$STATUS|$(json '"\(.error_code)|\(.detail)"' "$BODY")" \
		'500|NODE_TIMEOUT|Graph execution failed: node do timed out after 0.3 s' "'$1' is ended in time"
	[ "$took" -lt 15000 ]
	ok $? "and does not hold the run ($took ms)"
}
invoke hangs "$(thread late '"node_timeout":0.3')"
is "$(json '"\(.error_code)|\(.detail)"' "$BODY")" 'NODE_TIMEOUT|Graph execution failed: node do timed out after 0.3 s' \
	'a client may give less time'
kept=$STATE
serve_stop
STATE=$kept
printf '{"agent":"graph.json:hasty"}\n' >agentgraph.json
late hangs
late orphans
late stubborn
alone() { [ -n "$(workers)" ] && [ -z "$(children "$(workers)")" ]; }
wait_for 30 alone
ok $? 'the worker has no child left'
none_left() { ! pgrep -f "$WORK/snooze"; }
wait_for 30 none_left
ok $? 'nor is a grandchild left anywhere'
invoke speaks "$(thread late)"
is "$STATUS" 200 'the service goes on'
serve_stop

printf '{"agent":"graph.json:pair"}\n' >agentgraph.json
in_background slow stream slowly "$(thread stopped),\"response_granularity\":\"partial\""
wait_for 30 is_running stopped
api POST /v1/graph/stop '{"thread_id":"stopped"}'
touch stopped
collect slow
chunks <<'TABLE'
a stop lets the program end, and nothing after it run :: [(finals | texts), events[-3:]] == [["half and half"], ["node_invoked", "stopped", "done"]]
TABLE
serve_stop

printf '{"agent":"graph.json:deaf"}\n' >agentgraph.json
api POST /v1/threads/deaf/messages "$(run_body "[$(user "$(head -c 300000 /dev/zero | tr '\0' x)")]")"
invoke hi "$(thread deaf)"
facts <<'TABLE'
a program need not read, however much there is :: last | text == "did not listen"
TABLE
serve_stop

does soon-gone <<'SH'
exit 0
SH
printf '{"agent":"graph.json:gone"}\n' >agentgraph.json
api GET /ping
rm soon-gone
invoke hi
is "$STATUS|$(json .error_code "$BODY")" '500|NODE_ERROR' 'a program that is gone is a node error'
like "$(json .detail "$BODY")" 'soon-gone' 'with its name'
unlike "$(json .detail "$BODY")" "$WORK" 'without its directory'

done_testing
