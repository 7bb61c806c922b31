#!/bin/sh
# SPDX-License-Identifier: ISC
# The turn socket on a thread larger than any process behind it should hold: every chunk is whole, in fragments (RFC
# 6455, 5.4), and the relay, websocketd and the helpers stay small.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
export ASAN_OPTIONS="${ASAN_OPTIONS-}:quarantine_size_mb=8" # else what was freed stays
. "$TOP_SRCDIR/t/e2e/load.sh"
. "$TOP_SRCDIR/t/api/threads.sh"
need_websockets
command -v sqlite3 >/dev/null || tap_skip_all 'sqlite3 is not installed'

MESSAGES=45 MIB=1048576 CLIENTS=2

cat >client.py <<'PYTHON'
"""One run on a thread with the whole state, and its chunks; then the socket stays until the file "leave" is there."""
import asyncio
import json
import os
import sys

import websockets


async def main(base, thread):
    async with websockets.connect(f"ws://{base}/v1/graph/ws", max_size=None, compression=None, ping_interval=None) as ws:
        await ws.send(json.dumps({"messages": [{"role": "user", "content": "hi"}], "response_granularity": "full",
                                  "config": {"thread_id": thread}}))
        while True:
            chunk = json.loads(await asyncio.wait_for(ws.recv(), 100))
            context = (chunk["state"] or {}).get("context", [])
            status = (chunk["data"] or {}).get("status", "")
            large = sum(len(m["content"][0]["text"]) == 1 << 20 for m in context)
            print(chunk["event"], status, large, len(context) - large)
            if status in ("done", "error"):
                break
        # the socket goes on
        await ws.send("x")
        print(json.loads(await asyncio.wait_for(ws.recv(), 60))["data"]["error_code"], flush=True)
        while not os.path.exists("leave"):
            await asyncio.sleep(0.1)


asyncio.run(main(sys.argv[1].split("//")[1], sys.argv[2]))
PYTHON

# below PID: it and all its descendants.
below() {
	echo "$1"
	for child in $(children "$1"); do
		below "$child"
	done
}

# peaks: the most memory that the processes of the sockets have had, in KiB and by name.
peaks() {
	for pid in $(below "$SERVE_PID"); do
		awk '/^Name/ { name = $2 } /^VmHWM/ { print name, $2 }' "/proc/$pid/status" 2>/dev/null
	done | awk '/^(agentgraph-rela|agentgraph-ws|websocketd)/ && $2 > most[$1] { most[$1] = $2 }
		END { for (name in most) print name, most[name] }' | sort
}

printf '{"agent": "builtin:demo"}\n' >agentgraph.json
STATE=$WORK/state
serve_start --processes 1
ok $? 'the service starts'
for thread in $(seq "$CLIENTS"); do
	http POST "/v1/threads/large-$thread/messages" \
		"{\"messages\": [$(for i in $(seq "$MESSAGES"); do user "m$i" x; done | paste -sd ,)]}"
	is "$STATUS" 200 'a thread has many messages'
done
change "UPDATE bodies SET body = json_set(body, '\$.content[0].text', hex(zeroblob($MIB / 2)))"

for thread in $(seq "$CLIENTS"); do
	"$python" client.py "$BASE" "large-$thread" >"said-$thread" 2>&1 &
	clients="${clients-} $!"
done
tap_pids="${clients-} ${tap_pids-}"
all_done() { [ "$(grep -l VALIDATION_ERROR said-* 2>/dev/null | wc -l)" = "$CLIENTS" ]; }
ok 'wait_for 100 all_done' 'each client gets its answer'
peaks >peaks
touch leave
# shellcheck disable=SC2086 # one id each
wait $clients
for thread in $(seq "$CLIENTS"); do
	is "$(grep -v '^message' "said-$thread" | paste -sd ,)" \
		"updates invoking_node 0 0,state  $MESSAGES 2,updates node_invoked $MESSAGES 2,updates done 0 0,VALIDATION_ERROR" \
		'a client gets every chunk whole'
done
sed 's/^/# /' peaks
# A sanitizer takes much itself.
room=40
case ${CFLAGS-} in *-fsanitize=*) room=200 ;; esac
is "$(wc -l <peaks)" 3 'they were seen'
ok '[ "$(awk "\$2 > '$((room * 1024))'" peaks | wc -l)" = 0 ]' 'a thread of 45 MiB costs none of them as much'
serve_stop
done_testing
