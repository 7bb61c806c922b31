#!/bin/sh
# SPDX-License-Identifier: ISC
# Clients that ask for much and read nothing, through nginx, more of them than there are threads: what they tie up is
# bounded, others get their answers, and after a while they are disconnected.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
export ASAN_OPTIONS="${ASAN_OPTIONS-}:quarantine_size_mb=8" # else what was freed stays
. "$TOP_SRCDIR/t/e2e/load.sh"
. "$TOP_SRCDIR/t/api/threads.sh"
for tool in sqlite3 python3; do
	command -v $tool >/dev/null || tap_skip_all "$tool is not installed"
done

READERS=40 THREADS=24 HELD=6 MIB=1048576

# spooled: bytes of answers that nginx has on disk, in files that have no name any more.
spooled() {
	for master in $(children "$SERVE_PID"); do
		for child in $(children "$master"); do
			find "/proc/$child/fd" -lname '*/run/fastcgi/*' -exec stat -L -c %s {} + 2>/dev/null
		done
	done | awk '{ n += $1 } END { print n + 0 }'
}

# sockets: how many the worker has open.
sockets() {
	find "/proc/$(workers)/fd" -lname 'socket:*' | wc -l
}

peak() {
	awk '/^VmHWM/ { print $2 * 1024 }' "/proc/$(workers)/status"
}

cat >stall.py <<'PYTHON'
import socket
import sys
import time

clients = []
for _ in range(int(sys.argv[2])):
    c = socket.socket()
    c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    c.connect(("127.0.0.1", int(sys.argv[1])))
    c.sendall(b"GET /v1/threads/large/state HTTP/1.1\r\nHost: localhost\r\n\r\n")
    clients.append(c)
time.sleep(120)
PYTHON

export AGENTGRAPH_SEND_TIMEOUT=25
printf '{"agent": "builtin:demo"}\n' >agentgraph.json
STATE=$WORK/state
serve_start --processes 1 --threads $THREADS
ok $? 'the service starts'
http POST /v1/threads/large/messages "{\"messages\": [$(for i in $(seq 20); do user "m$i" x; done | paste -sd ,)]}"
is "$STATUS" 200 'a thread has twenty messages'
change "UPDATE bodies SET body = json_set(body, '\$.content[0].text', hex(zeroblob($MIB / 2)))"
is "$(curl -s "$BASE/v1/threads/large/state" | jq '.data.state.context | length')" 20 'of a MiB each, which who reads gets'
rest=$(sockets)
before=$(peak)

python3 stall.py "${BASE##*:}" $READERS </dev/null &
stall=$!
tap_pids="$stall $tap_pids"
all_wait() {
	[ "$(grep -c 'too many clients do not read theirs' "$SERVE_ERR")" -ge $((READERS - HELD)) ] &&
		[ "$(sockets)" -le $((rest + HELD)) ] && [ "$(spooled)" -ge $((HELD * 7 * MIB)) ]
}
ok 'wait_for 20 all_wait' 'of readers that read nothing, some have a thread each, and the others are let go'
on_disk=$(spooled)
echo "# nginx keeps $((on_disk / MIB)) MiB"
ok '[ "$on_disk" -le $((READERS * 9 * MIB)) ]' 'with at most 8 MiB of their answers on disk'
ok pings 'others are answered'
http POST /v1/graph/invoke '{"messages": [{"role": "user", "content": "hello"}]}' --max-time 20
is "$STATUS" 200 'and run'
is "$(curl -s --max-time 20 "$BASE/v1/threads/large/state" | jq '.data.state.context | length')" 20 'and get large answers'
after=$(peak)
echo "# the peak of the worker: $((before / MIB)) MiB, then $((after / MIB))"
ok '[ $((after - before)) -lt $((THREADS * 3 * MIB)) ]' 'the worker has little of them in memory'
let_go() { [ "$(sockets)" -le "$rest" ] && [ "$(spooled)" = 0 ]; }
ok 'wait_for 60 let_go' 'once they have read nothing for so long, they are let go'
ok 'alive $stall' 'though they stay'
is "$(curl -s "$BASE/v1/threads/large/state" | jq '.data.state.context | length')" 20 'who reads gets the answer'
kill "$stall"
serve_stop
done_testing
