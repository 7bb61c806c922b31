#!/bin/sh
# SPDX-License-Identifier: ISC
# An MCP server that wants tokens, which an authorization server gives in exchange for a client's secret.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
. "$TOP_SRCDIR/t/api/mcp.sh"

command -v python3 >/dev/null || tap_skip_all 'there is no python3'

python3 -B "$TOP_SRCDIR/t/api/mcp-asking-server.py" locked &
tap_pids="$! $tap_pids"
wait_for 60 test -f port || tap_bail 'the server does not start'
SITE=http://127.0.0.1:$(cat port)
export SHOP_SECRET=s/cret WRONG_SECRET=wrong-one

# with MEMBERS: serves the graph whose server has this oauth.
with() {
	tools_graph "{\"name\": \"shop\", \"mcp\": {\"url\": \"$SITE/mcp\", \"oauth\": {\"client_id\": \"agent\", $1}}}"
	api_start --config agentgraph.json
}

with '"client_secret_env": "SHOP_SECRET"'
is "$(told 'plain {"text":"a"}')" 'plain a' 'a server that asks for a token gets one'
is "$(cat forms)" "{\"grant_type\": \"client_credentials\", \"resource\": \"$SITE/mcp\", \"scope\": \"tools.call\"}" \
	'which is for it, and for what it asks'
is "$(told 'plain {"text":"b"} && plain {"text":"c"}')" 'plain b | plain c' 'it serves call after call'
is "$(wc -l <forms | tr -d ' ')" 1 'without being asked for again'
: >revoked
is "$(told 'plain {"text":"d"}')" 'plain d' 'a token that the server refuses is had anew'
is "$(wc -l <forms | tr -d ' ')" 2 'once'
invoke 'book {}' "$(thread a)"
resume '"Monday"' a
is "$(json '.data.messages[-1].content[0].text' "$BODY")" 'booked Monday' 'a question goes the same way'
is "$(told leak)" '! no more for ********* (-32001)' 'a server that repeats a token does not tell it'
unlike "$(cat "$SERVE_ERR")" 's/cret|Bearer t' 'and the log has no secret'
serve_stop

# client PATH CALL…: what the client says of these calls there.
client() {
	client_url=$SITE$1
	shift
	MCP_CONFORMANCE_CONTEXT='{"client_id": "agent", "client_secret": "s/cret"}' \
		"$TOP_BUILDDIR/t/api/mcp_client" 40000 "$@" "$client_url" 2>>client.log
}
is "$(client /mcp/old 'plain {"text":"f"}')" 'ok "plain f"' 'a server with sessions'
is "$(cat ended)" 's True' 'has the token when its session ends'

# its token ends, and the next one is long in coming
: >stuck
client /mcp revoke '@beside plain {"text":"g"}' '@await waiting' '@time 1500' 'plain {"text":"h"}' >said &
client=$!
ok 'wait_for 60 grep -qx "failed a token was not to be had in time" said' \
	'while another call asks for a token a call has its own time'
: >free
wait $client
is "$(tail -n 1 said)" 'ok "plain g"' 'and the other one its own'
rm -f free waiting
: >forms
client /mcp revoke '@many 5 plain {}' >said &
client=$!
wait_for 60 test -f waiting
echo 503 >free
wait $client
is "$(sort -u said)" 'failed a token cannot be had: the answer was 503, without JSON
ok "revoked"' 'of five calls that are refused at once each is told why there is no token'
ok '[ "$(wc -l <forms)" -lt 5 ]' 'which is not asked for by each'
rm -f free waiting
echo 200 >free
is "$(client /mcp 'plain {}')" 'failed mcp server is not available: the answer for a token has none that can be used: slow_down' \
	'an error that came as a success is told'
rm -f stuck free waiting

client /mcp revoke '@await moved' 'plain {}' 'plain {"text":"i"}' >said &
client=$!
wait_for 60 grep -q revoked said
: >moved
wait $client
is "$(tail -n 2 said)" 'failed a token cannot be had: the answer was 404, without JSON
ok "plain i"' 'where tokens are given is asked again when it fails'
rm moved

with "\"client_secret_env\": \"SHOP_SECRET\", \"token_url\": \"$SITE/token\", \"scope\": \"mine\""
is "$(told 'plain {"text":"e"}')" 'plain e' 'where tokens are given may be said'
is "$(tail -n 1 forms | jq -r .scope)" mine 'and the scope'
serve_stop

with '"client_secret_env": "WRONG_SECRET"'
told 'plain {}' >/dev/null
wait_for 60 grep -q 'mcp shop: not available' "$SERVE_ERR"
like "$(grep 'mcp shop: not available' "$SERVE_ERR")" 'a token cannot be had: the answer was 401: invalid_client' 'a secret that is refused is told'
like "$(cat "$SERVE_ERR")" 'a token of an MCP server: asked of .*/token$' 'the log has the place, too'
unlike "$(cat "$SERVE_ERR")" 'wrong-one' 'and not shown'
serve_stop

with '"client_secret_env": "SHOP_SECRET", "issuer": "https://other.example"'
told 'plain {}' >/dev/null
wait_for 60 grep -q 'mcp shop: not available' "$SERVE_ERR"
like "$(grep 'mcp shop: not available' "$SERVE_ERR")" 'names no authorization server https://other.example' 'only the issuer that is named gets the secret'
serve_stop

done_testing
