#!/bin/sh
# SPDX-License-Identifier: ISC
# A2A with bodies that are cut, wrong or hostile, unknown versions, tasks of others and of the future, scopes, clients
# that leave, and production.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/api/a2a.sh"

a2a_configure

# ---- what is no request

raw() { api POST /v1/a2a "$@"; }
# fault STATUS CODE PATTERN SENTENCE
fault() {
	is "$STATUS $(json '"\(.jsonrpc) \(.error.code)"' "$BODY")" "$1 2.0 $2" "$4"
	like "$(json .error.message "$BODY")" "$3" "$4: it says why"
}
raw '{"jsonrpc":"2.0","id":1,"meth'
fault 400 -32700 'must be valid JSON' 'a body that is cut'
is "$(json .id "$BODY")" null 'has no id'
raw "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":$(printf '%0200d' 0 | tr 0 '[')"
fault 400 -32700 '.' 'one that is too deep'
raw ''
fault 400 -32600 'is required' 'no body'
raw '[{"jsonrpc":"2.0","id":1,"method":"GetTask"}]'
fault 400 -32600 'must be a JSON object' 'a list of requests'
while IFS='|' read -r code pattern body; do
	raw "$body" 'A2A-Version: 1.0'
	case $code in -32600) status=400 ;; *) status=200 ;; esac
	fault $status "$code" "$pattern" "$body"
done <<'TABLE'
-32600|jsonrpc|{"id":1,"method":"GetTask"}
-32600|jsonrpc|{"jsonrpc":"1.0","id":1,"method":"GetTask"}
-32600|method|{"jsonrpc":"2.0","id":1}
-32600|method|{"jsonrpc":"2.0","id":1,"method":7}
-32600|id must be|{"jsonrpc":"2.0","method":"GetTask"}
-32600|id must be|{"jsonrpc":"2.0","id":{},"method":"GetTask"}
-32600|id must be|{"jsonrpc":"2.0","id":1.5,"method":"GetTask"}
-32600|params|{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}
-32601|Unknown method|{"jsonrpc":"2.0","id":1,"method":""}
-32602|^params.id must be a string|{"jsonrpc":"2.0","id":1,"method":"GetTask"}
-32602|^params.id must be a string|{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask"}
-32602|id|{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":7}}
-32602|message|{"jsonrpc":"2.0","id":1,"method":"SendMessage"}
-32602|message|{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":"hi"}}
-32602|messageId|{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"role":"ROLE_USER","parts":[{"text":"x"}]}}}
-32602|^params.message.role must be ROLE_USER|{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"x","role":"ROLE_AGENT","parts":[{"text":"x"}]}}}
-32602|role|{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"x","role":"user","parts":[{"text":"x"}]}}}
-32602|parts|{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"x","role":"ROLE_USER","parts":[]}}}
-32602|parts\[0\]|{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"x","role":"ROLE_USER","parts":[{}]}}}
-32602|parts\[0\]|{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"x","role":"ROLE_USER","parts":[{"text":"a","url":"https://b"}]}}}
-32602|^params.message.parts\[0\].raw .*base64|{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"x","role":"ROLE_USER","parts":[{"raw":"!","mediaType":"image/png"}]}}}
-32602|^params.message.parts\[0\].url .*http|{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"x","role":"ROLE_USER","parts":[{"url":"file:///etc/passwd"}]}}}
-32602|historyLength|{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"x","role":"ROLE_USER","parts":[{"text":"x"}]},"configuration":{"historyLength":-1}}}
-32602|control characters|{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"x","role":"ROLE_USER","contextId":"a\u0001","parts":[{"text":"x"}]}}}
TABLE
is "$(json '.error.data[1].fieldViolations[0].field' "$BODY")" message.contextId 'the member that is wrong is named'
ask SendMessage "{$(message hi "\"contextId\":\"$(printf 'c%0181d' 0)\"")}"
a2a_fault -32602 INVALID_PARAMS 'at most 181' 'a context whose tasks could have no id'
ask SendMessage "{$(message hi "\"contextId\":\"$(printf 'c%0180d' 0)\"")}"
is "$(state)" TASK_STATE_COMPLETED 'the longest that may be'
ask_old message/send '{"message":{"messageId":"k","role":"user","parts":[{"kind":"audio"}]}}'
a2a_fault -32602 INVALID_PARAMS kind 'a kind of part that there is not'
raw '{"jsonrpc":"2.0","id":9007199254740993,"method":"GetTask","params":{"id":"x.y"}}'
like "$BODY" '"id":9007199254740993,' 'a large id is kept as it is'
for version in 2.0 0.2 1 1.0. 1.0.x 1.00 '1.0, 0.3' "$(printf '%0300d' 0)"; do
	ask_as "$version" GetTask '{"id":"x.y"}'
	is "$STATUS $(json .error.code "$BODY")" '200 -32009' "version $(printf '%.20s' "$version")"
done
for version in 1.0.1 0.3.0; do
	ask_as $version "$([ $version = 0.3.0 ] && echo tasks/get || echo GetTask)" '{"id":"x.y"}'
	a2a_fault -32001 TASK_NOT_FOUND x.y "version $version, whose patch does not count"
done
for method in GET DELETE PUT; do
	api $method /v1/a2a
	is "$STATUS $(header Allow)" '405 OPTIONS, POST' "$method is not there"
done
for method in CreateTaskPushNotificationConfig GetTaskPushNotificationConfig ListTaskPushNotificationConfigs DeleteTaskPushNotificationConfig; do
	ask $method '{"taskId":"x.y","id":"z"}'
	a2a_fault -32003 PUSH_NOTIFICATION_NOT_SUPPORTED . "$method"
done
send hi '' '"configuration":{"taskPushNotificationConfig":{"url":"https://h.example"}}'
a2a_fault -32003 PUSH_NOTIFICATION_NOT_SUPPORTED . 'nor with a message'

# ---- tasks that are none

send hello '"contextId":"t"'
task=$(json .result.task.id "$BODY")
for id in none . .x x. t.none "$task.x" "$task." "${task}0" "$(printf '%0255d' 0)" '\u0000' 'a/b.c' '%74.1'; do
	ask GetTask "{\"id\":\"$id\"}"
	case $id in '\u0000') continue ;; esac
	is "$STATUS $(json .error.code "$BODY")" '200 -32001' "no task: $(printf '%.40s' "$id")"
done
invoke hello "$(thread t '"run_id":"t.mine"')"
ask GetTask '{"id":"t.mine"}'
is "$(state)" TASK_STATE_COMPLETED 'who gives a run such an id has made a task'

# ---- answers that wait, or come too late

# runners SIGNAL: to whoever executes what is queued.
runners() {
	for pid in $(children "$SERVE_PID") ${PAIR:+$(children "$(cat "$STATE.2.pid")")}; do
		case $(readlink "/proc/$pid/exe") in */agentgraph-runner) kill "-$1" "$pid" ;; esac
	done
}
# asks CONTEXT: a task that asks; before is a checkpoint before it.
asks() {
	send hello "\"contextId\":\"$1\""
	api GET "/v1/threads/$1/history?limit=1"
	before=$(json '.data.history[0].checkpoint_id' "$BODY")
	send '/ask one' "\"contextId\":\"$1\""
	task=$(json .result.task.id "$BODY")
}
# asks_anew CONTEXT: the task CONTEXT.b, which asks, takes the place of that one.
asks_anew() { invoke '/ask two' "$(thread "$1" "\"run_id\":\"$1.b\",\"checkpoint_id\":\"$before\"")"; }
asks_still() {
	ask GetTask "{\"id\":\"$1.b\"}"
	is "$(state)" TASK_STATE_INPUT_REQUIRED "$2"
}

asks late
lock_threads "$STATE" 1 # what has taken the thread is not seen to ask before
in_background anew asks_anew late
taken() { is_running late || gone "$lock_pid"; }
wait_for 30 taken
send answer "\"taskId\":\"$task\""
wait "$lock_pid"
a2a_fault -32004 UNSUPPORTED_OPERATION 'wait for an answer any more|is over' 'an answer that waits for its context answers its task alone'
collect anew
asks_still late 'not what another one asks by then'

asks queued
runners STOP
answer="{$(message answer "\"taskId\":\"$task\""),\"configuration\":{\"returnImmediately\":true}}"
ask SendMessage "$answer"
is "$(json .result.task.id "$BODY") $(state)" "$task TASK_STATE_SUBMITTED" 'an answer in the background waits for its turn'
ask SendMessage "$answer"
is "$(json .result.task.id "$BODY") $(state)" "$task TASK_STATE_SUBMITTED" 'sent again it is known'
send other "\"taskId\":\"$task\"" '"configuration":{"returnImmediately":true}'
a2a_fault -32004 UNSUPPORTED_OPERATION 'worked on' 'another one is not'
api GET '/v1/threads/queued/runs?status=queued'
is "$(json '.data.runs | length' "$BODY")" 1 'it is there once'
asks_anew queued
runners CONT
has_failed() {
	ask GetTask "{\"id\":\"$task\"}"
	[ "$(state)" = TASK_STATE_FAILED ]
}
wait_for 20 has_failed
is "$(json .result.status.message.parts[0].text "$BODY")" "Nothing to answer: run $task does not wait any more" \
	'when its turn comes it answers its task alone'
asks_still queued 'not what another one asks then'

# ---- a client that leaves

in_background left send '/slow 5 300' '"contextId":"left"'
wait_for 20 is_running left
# shellcheck disable=SC2154 # in_background sets it
for process in $(children "$background_left"); do kill "$process"; done
collect left 2>/dev/null
ended() {
	ask ListTasks '{"contextId":"left"}'
	[ "$(json '.result.tasks[0].status.state' "$BODY")" = TASK_STATE_COMPLETED ]
}
wait_for 30 ended
ok $? 'does not end its task'
serve_stop

# ---- access

configure '"auth":"jwt","authorization":"ownership","a2a":{"enabled":true}'
# by TOKEN METHOD PARAMS: a request of 1.0.
by() {
	with "$1" POST /v1/a2a "{\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"method\":\"$2\",\"params\":$3}" 'A2A-Version: 1.0'
	a2a_events
}
alice=$(token alice) bob=$(token bob)
by "$alice" SendMessage "{$(message '/ask who?' '"contextId":"hers"')}"
task=$(json .result.task.id "$BODY")
is "$(state)" TASK_STATE_INPUT_REQUIRED 'somebody has a task'
for method in GetTask CancelTask; do
	by "$bob" $method "{\"id\":\"$task\"}"
	a2a_fault -32001 TASK_NOT_FOUND . "$method: for others it is not there"
done
by "$bob" SendMessage "{$(message 'me' "\"taskId\":\"$task\"")}"
a2a_fault -32001 TASK_NOT_FOUND . 'nor do they answer it'
for method in SendMessage SendStreamingMessage; do
	by "$bob" $method "{$(message 'hi' '"contextId":"hers"')}"
	is "$STATUS $(json .error.code "$BODY")" '403 403' "$method: nor speak in its context"
done
by "$bob" ListTasks '{}'
is "$(json .result.totalSize "$BODY")" 0 'nor see it in a list'
by "$bob" ListTasks '{"contextId":"hers"}'
is "$(json .result.totalSize "$BODY")" 0 'of its context'
by "$alice" GetTask "{\"id\":\"$task\"}"
is "$(state)" TASK_STATE_INPUT_REQUIRED 'its owner has it still'
invokes=$(token alice ',"scopes":["graph:invoke"]')
by "$invokes" SendMessage "{$(message hello)}"
is "$(state)" TASK_STATE_COMPLETED 'a message takes graph:invoke alone'
for method in GetTask:read ListTasks:read CancelTask:stop SendStreamingMessage:stream; do
	by "$invokes" "${method%:*}" "{\"id\":\"$task\",$(message hi)}"
	is "$STATUS $(json .error.message "$BODY")" "403 Missing required scope: graph:${method#*:}" "${method%:*} takes a scope of its own"
done
api POST /v1/a2a '{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"id":"x.y"}}' 'A2A-Version: 1.0'
is "$STATUS $(header WWW-Authenticate) $(json '"\(.id) \(.error.code)"' "$BODY")" '401 Bearer null 401' 'without a token nobody is answered'
for credential in '' 'Bearer wrong' "Bearer $(token alice | tr a b)"; do
	api GET /.well-known/agent-card.json '' ${credential:+"Authorization: $credential"} 'A2A-Version: 1.0'
	is "$STATUS $(json '.securityRequirements[0].schemes.bearer.list | length' "$BODY")" '200 0' \
		"the card is for everybody, and says what is wanted: '$(printf '%.12s' "$credential")'"
done
api GET /.well-known/agent-card.json '' 'A2A-Version: 0.3'
is "$(json '"\(.securitySchemes.bearer.type) \(.securitySchemes.bearer.bearerFormat) \(.security[0].bearer | length)"' "$BODY")" \
	'http JWT 0' 'in the words of 0.3, too'
serve_stop

# ---- production

a2a_configure
MODE=production
export MODE
send '/error secret' '"contextId":"prod"'
is "$(json .result.task.status.message.parts[0].text "$BODY")" 'An error occurred in a graph node.' 'in production a failure is not told'

done_testing
