#!/bin/sh
# SPDX-License-Identifier: ISC
# An MCP server over HTTP that fails now and then.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
. "$TOP_SRCDIR/t/api/mcp.sh"

command -v python3 >/dev/null || tap_skip_all 'there is no python3'

python3 -B "$TOP_SRCDIR/t/api/mcp-http-server.py" &
tap_pids="$! $tap_pids"
wait_for 60 test -f port || tap_bail 'the server does not start'

tools_graph "{\"mcp\": {\"url\": \"http://127.0.0.1:$(cat port)/mcp\", \"headers\": {\"Authorization\": \"Bearer kept-secret\"}}}"
api_start --config agentgraph.json

names() { api GET /v1/graph/tools; json '[.data.nodes[0].tools[].name] | join(" ")' "$BODY"; }
changed() { [ "$(names)" = 'slow wrong barred spent later' ]; }

is "$(told slow)" 'at last' 'a stream that breaks off is taken up again, also behind a 503'
ok 'wait_for 60 changed' 'a server that could not be listened to for a while is listened to again'

is "$(told 'wrong && slow')" '! no such town (-32602) | at last' 'a refusal with 400 is the answer of its call'
is "$(grep -cx wrong asked) $(grep -cx initialize asked)" '1 1' 'which is made once, and the session goes on'
told 'barred && spent' >refusals
like "$(cat refusals)" '^! the server answered 403: \.{290}\** \| ! \*+ is used up, \*+$' \
	'a server that repeats the key in what it refuses'
unlike "$(cat refusals)" 'kept|Bearer' 'does not tell it'
like "$(cat "$SERVE_ERR")" 'mcp .*"got \*+"' 'nor has the log what it says'

serve_stop
tools_graph "{\"mcp\": {\"url\": \"http://127.0.0.1:$(cat port)/forgetful\"}}"
api_start --config agentgraph.json
is "$(told 'wrong && spent')" 'here | here' 'all calls that meet the end of a session are made in the next one'
serve_stop

tools_graph "{\"mcp\": {\"url\": \"http://127.0.0.1:$(cat port)/gone\"}}"
api_start --config agentgraph.json
before=$(grep -cx wrong asked)
is "$(told wrong) $(($(grep -cx wrong asked) - before))" '! the server answered 404 1' \
	'a call that the server has begun to answer is not made again when the session has ended'
serve_stop

# odd PATH CALL…: what the client says of these calls there.
odd() {
	odd_url=http://127.0.0.1:$(cat port)/$1
	shift
	"$TOP_BUILDDIR/t/api/mcp_client" 60000 "$@" "$odd_url" 2>odd.log
}
is "$(odd odd @list t1 t2 t | tr '\n' ' ')" 't t1 t2 failed no such town (-32602) ok [1,2] ok "plain" ' \
	'pages that lead to each other, an error beside a result of null, a result that is an array, and a text behind a mark are understood'
unlike "$(cat odd.log)" 'left out' 'and no tool of a page is warned of'
is "$(odd endless @list | wc -l) $(grep -c 'more than 100 pages of tools' odd.log)" '100 1' 'a list that is cut is told'
is "$(odd moved @list)" \
	'failed mcp server is not available: the server answered 307, which leads elsewhere and is not followed' \
	'that a server is elsewhere is told, but not where'
like "$(cat odd.log)" 'mcp .*: status 307 leads to /odd$' 'the log has it, without what may be a key'

is "$(odd odd vague)" 'failed the server asks without naming its questions' 'a server whose questions have no names is told'
is "$("$TOP_BUILDDIR/t/api/mcp_client" 1500 slow "http://127.0.0.1:$(cat port)/deaf" 2>deaf.log)" 'failed timed out' \
	'a call whose server asks and takes no answers has its time'
ok '[ "$(grep -cx answer asked)" -lt 5 ]' 'not that of each answer'

is "$(odd held @list '@beside t' '@time 1500' hold | tail -n 2)" 'failed timed out
ok "all came"' 'an answer that a call had no time for is sent all the same, as another may wait for it'

is "$(odd flood t)" 'ok [["9","last"],true]' \
	'requests with an id that is none are not answered, and of questions at once a few wait for the call'
is "$(grep -c 'sent JSON that is no message' odd.log)" 2 'which the log has'

# at_most N WORD: whether that was asked so many times in two seconds, and at all; the client may take longer itself.
at_most() { asked=$(grep -cx "$2" busy); [ "$asked" -gt 0 ] && [ "$asked" -le $(($1 * (1 + took / 2))) ]; }
read -r uptime _ </proc/uptime
like "$("$TOP_BUILDDIR/t/api/mcp_client" 2000 @list slow "http://127.0.0.1:$(cat port)/busy" 2>client.log | tail -n 1)" \
	'^failed the server gave no answer' 'a call whose stream ends again and again has its time'
took=${uptime%.*}
read -r uptime _ </proc/uptime
took=$((${uptime%.*} - took))
ok 'at_most 30 resume' 'and is taken up with rests between'
ok 'at_most 5 listen' 'so is what is listened to'
ok 'at_most 5 tools/list' 'and tools that change with each list are listed with rests'

done_testing
