#!/bin/sh
# SPDX-License-Identifier: ISC
# MCP with bodies that are cut, wrong or hostile, headers that disagree, unknown versions, pages of other origins, busy
# threads, rate limits, and production.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/mcp-host.sh"

mcp_configure

# ---- what is no message

raw() {
	api POST /v1/mcp "$@"
	mcp_answer
}
raw '{"jsonrpc":"2.0","id":1,"meth'
fault 400 -32700 'must be valid JSON' 'a body that is cut'
is "$(json 'has("id")' "$BODY")" false 'has no id'
raw "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":$(printf '%0200d' 0 | tr 0 '[')"
fault 400 -32700 '.' 'one that is too deep'
raw ''
fault 400 -32600 'is required' 'no body'
raw '[{"jsonrpc":"2.0","id":1,"method":"ping"}]'
fault 400 -32600 'must be a JSON object' 'a list of messages'
raw '{"jsonrpc":"2.0","id":1,"method":"ping"}' 'Content-Type: text/plain'
fault 400 -32600 'application/json' 'another type'
while IFS='|' read -r code status pattern body; do
	raw "$body"
	fault "$status" "$code" "$pattern" "$body"
done <<'TABLE'
-32600|400|jsonrpc|{"id":1,"method":"ping"}
-32600|400|jsonrpc|{"jsonrpc":"1.0","id":1,"method":"ping"}
-32600|400|jsonrpc|{"jsonrpc":2,"id":1,"method":"ping"}
-32600|400|method|{"jsonrpc":"2.0","id":1}
-32600|400|method|{"jsonrpc":"2.0","id":1,"method":7}
-32600|400|no responses|{"jsonrpc":"2.0","id":1,"result":{}}
-32600|400|id must be|{"jsonrpc":"2.0","id":null,"method":"ping"}
-32600|400|id must be|{"jsonrpc":"2.0","id":{},"method":"ping"}
-32600|400|id must be|{"jsonrpc":"2.0","id":1.5,"method":"ping"}
-32600|400|params|{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}
-32602|400|_meta|{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":7}}
-32602|200|params.name must be a string|{"jsonrpc":"2.0","id":1,"method":"tools/call"}
-32602|200|params.name must be a string|{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":{}}}
-32601|200|Unknown method|{"jsonrpc":"2.0","id":1,"method":""}
TABLE
raw '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}'
like "$BODY" '"id":9007199254740993,' 'a large id is kept as it is'
raw '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo","arguments":{"message":"a\u0001 \ud83d\ude00"}}}'
is "$STATUS $(json '.result.content[0].text | length' "$BODY")" '200 10' 'text is text'
for method in GET DELETE PUT; do
	api $method /v1/mcp
	is "$STATUS $(header Allow) $(json .error.code "$BODY")" '405 POST 405' "$method is not there"
done

# ---- headers that say something else

M='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
CALL='{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo","arguments":{"message":"hi"},'$M'}}'
LIST='{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{'$M'}}'
V='MCP-Protocol-Version: 2026-07-28'
raw "$CALL" "$V" 'Mcp-Method: tools/call' 'Mcp-Name: =?base64?ZGVtbw==?='
text_is 'echo: hi' 'a name may be in base64'
disagrees() {
	disagrees_name=$1
	shift
	raw "$@"
	fault 400 -32020 . "$disagrees_name"
	is "$(json .id "$BODY")" 1 'the id is kept'
}
disagrees 'no version in the header' "$LIST" 'Mcp-Method: tools/list'
disagrees 'another version in the header' "$LIST" 'MCP-Protocol-Version: 2025-11-25' 'Mcp-Method: tools/list'
disagrees 'no method in the header' "$LIST" "$V"
disagrees 'another method' "$LIST" "$V" 'Mcp-Method: tools/call'
disagrees 'a method in other letters' "$LIST" "$V" 'Mcp-Method: Tools/List'
disagrees 'no name' "$CALL" "$V" 'Mcp-Method: tools/call'
disagrees 'another name' "$CALL" "$V" 'Mcp-Method: tools/call' 'Mcp-Name: demon'
for name in '=?base64?ZGVtbw?=' '=?base64?ZGVtbw==' '=?BASE64?ZGVtbw==?=' '=?base64?ZGVtb24=?=' '=?base64??='; do
	disagrees "a name that is none: $name" "$CALL" "$V" 'Mcp-Method: tools/call' "Mcp-Name: $name"
done
raw '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' "$V" 'Mcp-Method: tools/list'
fault 400 -32602 protocolVersion 'no _meta'
raw '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}' "$V" 'Mcp-Method: tools/list'
fault 400 -32602 clientCapabilities 'no capabilities'
raw '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}}' "$V"
fault 400 -32602 protocolVersion 'a version that is no text'
for version in 2027-01-01 "$(printf '%0300d' 1)" '2026-07-28 '; do
	raw "$(printf '%s' "$LIST" | sed "s/2026-07-28/$version/")" "MCP-Protocol-Version: $version" 'Mcp-Method: tools/list'
	is "$STATUS $(json '.error.code | . == -32022 or . == -32020' "$BODY")" '400 true' "nobody knows version $(printf %.12s "$version")"
done

# ---- other origins

export ORIGINS=https://known.example
serve_stop
raw "$LIST" "$V" 'Mcp-Method: tools/list' 'Origin: https://known.example'
is "$STATUS $(header Access-Control-Allow-Origin)" '200 https://known.example' 'a page of a known origin is answered'
for origin in https://evil.example http://known.example null https://known.example.evil.example; do
	raw "$LIST" "$V" 'Mcp-Method: tools/list' "Origin: $origin"
	is "$STATUS $(json '.error | "\(.code) \(.message)"' "$BODY")" '403 403 This origin is not allowed' "one of another is not: $origin"
done
raw "$LIST" "$V" 'Mcp-Method: tools/list'
is "$STATUS" 200 'programs have none'
api GET /v1/graph '' 'Origin: https://evil.example'
is "$STATUS" 200 'other routes do not ask'
unset ORIGINS
serve_stop

# ---- a busy thread, too many requests, production

mcp_configure '' '"rate_limit":{"requests":2,"window":600'"${PAIR:+,\"backend\":\"cache\"}"'}'
raw "$LIST" "$V" 'Mcp-Method: tools/list'
raw "$LIST" "$V" 'Mcp-Method: tools/list'
raw "$LIST" "$V" 'Mcp-Method: tools/list'
is "$STATUS $(json '.error | "\(.code) \(.data.code)"' "$BODY")" '429 429 RATE_LIMIT_EXCEEDED' 'messages are counted'
serve_stop
export MODE=production ORIGINS=https://known.example
mcp_configure
called '/error secret'
is "$STATUS $(json '.result | "\(.isError) \(.content[0].text)"' "$BODY")" '200 true An error occurred in a graph node.' 'production tells nothing of a failure'
unset MODE ORIGINS

done_testing
