#!/bin/sh
# SPDX-License-Identifier: ISC
# Runs by LangGraph's protocol against the same runs by /v1/graph, on new threads, through the same nginx; and against
# LangGraph's own development server, with the same requests.  SECONDS_EACH, ROUNDS and CONCURRENCY change the load.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/http.sh"
. "$TOP_SRCDIR/t/bench/peers.sh"

printf '{"agent":"builtin:demo","langgraph":{"enabled":true}}\n' >agentgraph.json
bench_start

body='{"messages":[{"role":"user","content":"hello there"}]}'

# lg_script ROUTE ASSISTANT [MEMBERS]: a script for wrk whose runs each have a new thread.
lg_script() {
	lua_script "return wrk.format(nil, '/lg/threads/' .. $(uuid "$(openssl rand -hex 4)") .. '/runs/$1', nil,
		'{\"assistant_id\":\"$2\",\"input\":$body,\"if_not_exists\":\"create\"$3}')"
}

waits() { echo "$(rate / "$(lg_script wait demo '')") $(rate /v1/graph/invoke "$(post_script "$body")")"; }
rounds waits waits
ratio langgraph waits
streamed() {
	echo "$(rate / "$(lg_script stream demo ',"stream_mode":"messages-tuple"')") $(rate /v1/graph/stream "$(post_script "$body")")"
}
rounds streams streamed
ratio langgraph-stream streams

# ---- the other server, with the same requests

if peers_there; then
	here=$BASE
	peer_start langgraph-api || tap_bail 'the other server does not start'
	there=$BASE
	beside() {
		BASE=$here
		ours=$(rate / "$(lg_script wait demo '')")
		BASE=$there
		echo "$ours $(rate / "$(peer_script langgraph-api)")"
	}
	rounds peers beside
	ratio langgraph-peer peers
fi
tap_plan 0
