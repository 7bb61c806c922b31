#!/bin/sh
# SPDX-License-Identifier: ISC
# Push notifications to a real receiver: who asks for them in either version, what is sent and when, and to whom they
# belong.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/a2a.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/e2e/receiver.sh"
json_fast=jq # some facts are about the order of members
RUNS="\"runs\":{\"background\":2,\"webhooks\":[\"$RECEIVER/in\"]}"

# told NAME EXPRESSION: of each notification that came to .../NAME, as it came.
told() { jq -r --arg name "/in/$1/ok" '. + {event: (.body | fromjson)} | select(.path == $name) | '"$2" log; }
has_told() { [ "$(told "$1" .path | grep -c '')" -ge "${2:-1}" ]; }
states() { told "$1" '.event | (.task // .) | .status.state' | tr '\n' ' '; }
config() { printf '"url":"%s/in/%s/ok"%s' "$RECEIVER" "$1" "${2:+,$2}"; }
with() { printf '"configuration":{"taskPushNotificationConfig":{%s}%s}' "$(config "$1" "${2-}")" "${3:+,$3}"; }
with_old() { printf '"configuration":{"pushNotificationConfig":{%s}%s}' "$(config "$1" "${2-}")" "${3:+,$3}"; }

# ---- where nobody may be told

a2a_configure
send hello '' "$(with none)"
a2a_fault -32003 PUSH_NOTIFICATION_NOT_SUPPORTED 'no addresses' 'without runs.webhooks there are none'
ask ListTaskPushNotificationConfigs '{"taskId":"c.x"}'
a2a_fault -32003 PUSH_NOTIFICATION_NOT_SUPPORTED 'no addresses' 'nor to list'
api GET /.well-known/agent-card.json '' 'A2A-Version: 1.0'
is "$(json .capabilities.pushNotifications "$BODY")" false 'which the card says'
serve_stop

# ---- with a message

a2a_configure '' "$RUNS"
api GET /.well-known/agent-card.json '' 'A2A-Version: 1.0'
is "$(json .capabilities.pushNotifications "$BODY")" true 'with them the card says that there are some'
send hello '' "$(with waited '"token":"tok-1","authentication":{"scheme":"Bearer","credentials":"s3cret"}')"
task=$(json .result.task.id "$BODY")
ok 'wait_for 30 has_told waited' 'the end of a task that is waited for is told'
BODY=$(told waited tojson)
facts <<'TABLE'
by the task as it is then :: .event | keys == ["task"]
with its state and what the agent said :: .event.task | [.status.state, .artifacts[0].parts[0].text] == ["TASK_STATE_COMPLETED", "echo: hello"]
in its own media type :: .headers["Content-Type"] == "application/a2a+json"
with the token :: .headers["X-A2A-Notification-Token"] == "tok-1"
and what the receiver wants to be shown :: .headers["Authorization"] == "Bearer s3cret"
signed as a webhook is :: .headers | (.["webhook-id"] | startswith("msg_")) and (.["webhook-signature"] | startswith("v1,"))
TABLE
is "$(told waited .event.task.id)" "$task" 'it is that task'
ask GetTask "{\"id\":\"$task\"}"
is "$(told waited .event.task.status.timestamp)" "$(json .result.status.timestamp "$BODY")" 'in the state that can be read'

ask SendStreamingMessage "{$(message one),$(with streamed)}"
ok 'wait_for 30 has_told streamed' 'that of a stream as well'
ask SendMessage "{$(message later),$(with queued '' '"returnImmediately":true')}"
ok 'wait_for 30 has_told queued' 'and of one in the background'
is "$(states waited)$(states streamed)$(states queued)" \
	'TASK_STATE_COMPLETED TASK_STATE_COMPLETED TASK_STATE_COMPLETED ' 'each once'
send '/error no' '' "$(with broken)"
ok 'wait_for 30 has_told broken' 'one that failed is told'
is "$(told broken '.event.task.status | "\(.state) \(.message.parts[0].text)"')" 'TASK_STATE_FAILED Graph execution failed: no' 'with why'

send_old 'hello old' '' "$(with_old old '"token":"tok-2","authentication":{"schemes":["Basic","Bearer"],"credentials":"eA=="}')"
ok 'wait_for 30 has_told old' 'who asked in 0.3'
BODY=$(told old tojson)
facts <<'TABLE'
is told in 0.3 :: .event | [.kind, .status.state, .artifacts[0].parts[0]] == ["task", "completed", {"kind": "text", "text": "echo: hello old"}]
as JSON :: .headers["Content-Type"] == "application/json"
with token and the first of the schemes :: .headers | [.["X-A2A-Notification-Token"], .["Authorization"]] == ["tok-2", "Basic eA=="]
TABLE

# ---- pauses

send '/ask more?' '"contextId":"asks"' "$(with pauses)"
task=$(json .result.task.id "$BODY")
ok 'wait_for 30 has_told pauses' 'a pause is told'
is "$(told pauses '.event.task.status | "\(.state) \(.message.parts[0].text)"')" 'TASK_STATE_INPUT_REQUIRED more?' 'with its question'
send_old enough "\"taskId\":\"$task\"" "$(with_old answers)"
ok 'wait_for 30 has_told pauses 2 && wait_for 30 has_told answers' 'its answer to whoever is to know of the task by then'
is "$(states pauses)| $(states answers)" 'TASK_STATE_INPUT_REQUIRED TASK_STATE_COMPLETED | completed ' 'each in its version'
send '/ask again?' '"contextId":"other"' "$(with resumed)"
api POST /v1/graph/invoke '{"messages":[],"resume":"yes","thread_id":"other"}'
ok 'wait_for 30 has_told resumed 2' 'an answer by another protocol counts'
send '/ask never mind?' '' "$(with given_up)"
ask CancelTask "{\"id\":\"$(json .result.task.id "$BODY")\"}"
ok 'wait_for 30 has_told given_up 2' 'so does who wants no answer any more'
is "$(states resumed)$(states given_up)" \
	'TASK_STATE_INPUT_REQUIRED TASK_STATE_COMPLETED TASK_STATE_INPUT_REQUIRED TASK_STATE_CANCELED ' 'as what they come to'

# ---- configs of a task

ask SendMessage "{$(message '/slow 60 200' '"contextId":"slow"'),\"configuration\":{\"returnImmediately\":true}}"
task=$(json .result.task.id "$BODY")
ask CreateTaskPushNotificationConfig "{\"taskId\":\"$task\",\"id\":\"mine\",$(config later '"token":"t","authentication":{"scheme":"Bearer","credentials":"hidden"}')}"
is "$(json '.result | del(.url) | tojson' "$BODY")" \
	"{\"taskId\":\"$task\",\"id\":\"mine\",\"token\":\"t\",\"authentication\":{\"scheme\":\"Bearer\"}}" 'a task that runs gets one, which shows no credentials'
ask CreateTaskPushNotificationConfig "{\"taskId\":\"$task\",$(config unnamed)}"
is "$(json '.result.id | length' "$BODY")" 36 'one without an id is given one'
unnamed=$(json .result.id "$BODY")
ask CreateTaskPushNotificationConfig "{\"taskId\":\"$task\",\"id\":\"mine\",$(config later)}"
ask_old tasks/pushNotificationConfig/set "{\"taskId\":\"$task\",\"pushNotificationConfig\":{$(config later_old)}}"
is "$(json '.result | "\(.taskId) \(.pushNotificationConfig.id)"' "$BODY")" "$task $task" 'in 0.3 one without an id has that of its task'
ask ListTaskPushNotificationConfigs "{\"taskId\":\"$task\"}"
is "$(json '.result | [.nextPageToken, (.configs | map(.id) | sort | tojson)] | join("|")' "$BODY")" \
	"|$(jq -nc --arg a "$task" --arg b "$unnamed" '[$a, $b, "mine"] | sort')" 'all are listed, one under its id once'
ask_old tasks/pushNotificationConfig/list "{\"id\":\"$task\"}"
is "$(json '.result | [length, (map(.taskId) | unique[0]), .[0].pushNotificationConfig.url != null] | map(tostring) | join(" ")' "$BODY")" "3 $task true" \
	'by 0.3 as well'
ask GetTaskPushNotificationConfig "{\"taskId\":\"$task\",\"id\":\"mine\"}"
is "$(json '.result | "\(.id) \(.token)"' "$BODY")" 'mine null' 'one is read, as it was set last'
ask_old tasks/pushNotificationConfig/get "{\"id\":\"$task\"}"
is "$(json .result.pushNotificationConfig.id "$BODY")" "$task" 'by 0.3 that without a name'
ask DeleteTaskPushNotificationConfig "{\"taskId\":\"$task\",\"id\":\"$unnamed\"}"
is "$(json '.result | tojson' "$BODY")" '{}' 'one is deleted'
ask_old tasks/pushNotificationConfig/get "{\"id\":\"$task\",\"pushNotificationConfigId\":\"$unnamed\"}"
a2a_fault -32001 TASK_NOT_FOUND "$unnamed" 'and is not there any more'
ask CancelTask "{\"id\":\"$task\"}"
ok 'wait_for 30 has_told later && wait_for 30 has_told later_old' 'the others are told'
is "$(states later)$(states later_old)$(states unnamed)" 'TASK_STATE_CANCELED canceled ' 'and it is not'
ask_old tasks/pushNotificationConfig/delete "{\"id\":\"$task\",\"pushNotificationConfigId\":\"mine\"}"
is "$(json '.result | tojson' "$BODY")" null 'by 0.3 the result is null'
ask CreateTaskPushNotificationConfig "{\"taskId\":\"$task\",\"id\":\"late\",$(config late)}"
is "$(json .result.id "$BODY")" late 'a task that is over takes one'
for n in 1 2 3 4 5 6 7 8 9; do
	ask CreateTaskPushNotificationConfig "{\"taskId\":\"$task\",\"id\":\"n$n\",$(config late)}"
done
a2a_fault -32602 INVALID_PARAMS 'at most 10' 'but not any number'
api DELETE "/v1/threads/slow/runs/$task"
ask ListTaskPushNotificationConfigs "{\"taskId\":\"$task\"}"
a2a_fault -32001 TASK_NOT_FOUND "$task" 'they go with the task'

# ---- mistakes

send '/ask x' '"contextId":"wrong"'
task=$(json .result.task.id "$BODY")
while IFS='|' read -r member where name; do
	ask CreateTaskPushNotificationConfig "{\"taskId\":\"$task\",$member}"
	a2a_fault -32602 INVALID_PARAMS "$where" "$name"
done <<TABLE
"id":"x"|url|an address is needed
"id":"x","url":""|url|and one that is not empty
"url":"http://elsewhere.example/in"|configured addresses|one that the configuration has
"url":"$RECEIVER/in/../out"|configured addresses|and stays there
"url":"$RECEIVER/inner"|configured addresses|not one that begins like it
$(config x '"token":"a\nb"')|token|a token is no way to other headers
$(config x '"authentication":{"scheme":"Bearer\r\nX: y","credentials":"c"}')|scheme|nor a scheme
$(config x '"authentication":{"scheme":"Bearer","credentials":"\u00e9"}')|credentials|nor credentials
$(config x '"authentication":{}')|scheme|credentials need a scheme
$(config x '"id":7')|id|an id is a text
TABLE
ask_old tasks/pushNotificationConfig/set "{\"taskId\":\"$task\",\"pushNotificationConfig\":{$(config x '"authentication":{"schemes":[]}')}}"
a2a_fault -32602 INVALID_PARAMS schemes '0.3 names at least one scheme'
ask CreateTaskPushNotificationConfig "{$(config x)}"
a2a_fault -32602 INVALID_PARAMS taskId 'whose it is must be said'
ask CreateTaskPushNotificationConfig "{\"taskId\":\"none.none\",$(config x)}"
a2a_fault -32001 TASK_NOT_FOUND none.none 'of what there is not there is none'
send hello '' '"configuration":{"taskPushNotificationConfig":{"url":"http://elsewhere.example/"}}'
a2a_fault -32602 INVALID_PARAMS 'configured addresses' 'a message with such a one is not heard'
ask ListTaskPushNotificationConfigs "{\"taskId\":\"$task\"}"
is "$(json '.result.configs | length' "$BODY")" 0 'none of them was kept'

# ---- a receiver that fails

echo 500 >mode
send hello '' "\"configuration\":{\"taskPushNotificationConfig\":{\"url\":\"$RECEIVER/in/again/mode\"}}"
came() { [ "$(grep -c '"/in/again/mode"' log)" -ge "$1" ]; }
ok 'wait_for 30 came 1' 'a receiver fails'
echo ok >mode
ok 'wait_for 60 came 2' 'and is told again'
is "$(jq -r 'select(.path == "/in/again/mode") | .headers["webhook-id"]' log | sort -u | grep -c '')" 1 'under the same id'
serve_stop
echo 500 >mode

# ---- whose they are

configure "\"a2a\":{\"enabled\":true},\"auth\":\"jwt\",\"authorization\":\"ownership\",$RUNS"
alice="Authorization: Bearer $(token alice)" bob="Authorization: Bearer $(token bob)"
ask_as 1.0 SendMessage "{$(message '/ask who?'),$(with owned)}" "$alice"
task=$(json .result.task.id "$BODY")
ok 'wait_for 30 has_told owned' 'an owner is told'
id=$(ask_as 1.0 ListTaskPushNotificationConfigs "{\"taskId\":\"$task\"}" "$alice"; json '.result.configs[0].id' "$BODY")
for method in ListTaskPushNotificationConfigs GetTaskPushNotificationConfig DeleteTaskPushNotificationConfig CreateTaskPushNotificationConfig; do
	ask_as 1.0 $method "{\"taskId\":\"$task\",\"id\":\"$id\",$(config bob)}" "$bob"
	a2a_fault -32001 TASK_NOT_FOUND "$task" "$method: somebody else has no such task"
done
ask_as 1.0 GetTaskPushNotificationConfig "{\"taskId\":\"$task\",\"id\":\"$id\"}" "$alice"
is "$(json .result.id "$BODY")" "$id" 'its owner has'

done_testing
