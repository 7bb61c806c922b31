#!/bin/sh
# SPDX-License-Identifier: ISC
# Close codes reach clients that are still sending, through nginx, relay and websocketd.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

need_websockets

# A client of bare sockets: libraries hide how a connection ended, and most stop at the first write that fails.
cat >client.py <<'PYTHON'
"""client.py BASE PATH CASE TRIES [PID]: how the tries ended, counted.

A try is one blocking client: it says what the case says, goes on sending for 24 MB in all, and reads only then.  A write
that fails is the end of it, as it is for most libraries.  PID is the process whose grandchildren are helpers."""
import base64
import collections
import os
import signal
import socket
import struct
import sys
import time

base, path, case, tries = sys.argv[1].split("//")[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
supervisor = int(sys.argv[5]) if len(sys.argv) > 5 else 0
host, port = base.split(":")
MORE, LIMIT = 24 << 20, 16 << 20
INIT = b'{"thread_id": "new"}'


def head(opcode, size):
    """Of a masked frame; a length is told in as few bytes as it takes."""
    first = 0x80 | opcode
    return struct.pack(">BBL", first, 0x80 | size, 0) if size < 126 else struct.pack(">BBQL", first, 255, size, 0)


def frame(opcode, data):
    return head(opcode, len(data)) + data


def connect():
    s = socket.create_connection((host, int(port)))
    s.settimeout(60)
    key = base64.b64encode(os.urandom(16)).decode()
    s.sendall(f"GET {path} HTTP/1.1\r\nHost: {base}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
              f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
    got = b""
    while not got.endswith(b"\r\n\r\n"):
        byte = s.recv(1)
        assert byte, "no answer to the handshake"
        got += byte
    assert got.startswith(b"HTTP/1.1 101 "), got
    return s


def exactly(s, size):
    data = b""
    while len(data) < size:
        got = s.recv(size - len(data))
        if not got:
            raise EOFError
        data += got
    return data


def read_close(s):
    while True:
        first, size = exactly(s, 2)
        if size > 125:
            size, = struct.unpack(">H" if size == 126 else ">Q", exactly(s, 2 if size == 126 else 8))
        data = exactly(s, size)
        if first == 0x88:
            return struct.unpack(">H", data[:2])[0], data[2:].decode()


def helpers():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as stat, open(f"/proc/{pid}/cmdline") as command:
                parent = int(stat.read().rsplit(")", 1)[1].split()[1])
                if "agentgraph-ws" not in command.read().split("\0")[0]:
                    continue
            with open(f"/proc/{parent}/stat") as stat:
                if int(stat.read().rsplit(")", 1)[1].split()[1]) == supervisor:
                    found.append(int(pid))
        except OSError:
            pass
    return found


def kill_helper():
    """That of this connection, as soon as those of earlier ones have left."""
    end = time.monotonic() + 90
    while len(helpers()) != 1:
        assert time.monotonic() < end, f"the helpers are {helpers()}"
        time.sleep(0.01)
    os.kill(helpers()[0], signal.SIGKILL)


held = []


def hold(s, size):
    """So much of a message, and no more."""
    held.append(s)
    s.sendall(head(1, LIMIT))
    s.sendall(b"x" * size)


def first_words(s):
    """What leads to the close; then what the client goes on with."""
    if case == "long":
        if path.endswith("live"):
            s.sendall(frame(1, INIT))
        s.sendall(head(1, 1 << 40))
        return b"x" * 65536
    if case == "broken":
        s.sendall(b"\x83\x80\0\0\0\0")
    elif case == "no-init":
        s.sendall(frame(2, b"audio"))
    elif case == "helper":
        kill_helper()
    elif case == "crowded":
        hold(s, LIMIT - 1)
        time.sleep(1)
        hold(connect(), 600000)
        time.sleep(1)
        return b"x" * 65536
    return frame(1, b"x" * 70000)


def attempt():
    s = connect()
    try:
        more = first_words(s)
        for _ in range(MORE // len(more)):
            s.sendall(more)
    except OSError as e:
        return f"a write failed ({type(e).__name__})"
    try:
        return " ".join(map(str, read_close(s))).strip()
    except (OSError, EOFError) as e:
        return f"no close frame ({type(e).__name__})"
    finally:
        s.close()


if case == "crowded":  # all but 490 kB of the room there is for messages that have arrived in part, with that of the try
    for _ in range(7):
        hold(connect(), LIMIT - 70000)
ends = collections.Counter(attempt() for _ in range(tries))
print(", ".join(f"{count} x {end}" for end, count in sorted(ends.items())))
PYTHON

# closes PATH CASE TRIES EXPECTED NAME
closes() {
	is "$(timeout 300 "$python" client.py "$BASE" "$1" "$2" "$3" "$SERVE_PID" 2>&1 | tail -n 3)" "$3 x $4" "$5"
}

ws=/v1/graph/ws live=/v1/graph/live
printf 'MAX_REQUEST_SIZE=50000\n' >settings
limits='"env": "settings", "websocket": {"max_connections": 0}'
echo '{"agent": "builtin:demo", '"$limits"'}' >agentgraph.json
serve_start || tap_bail 'the service does not start'
closes $ws long 50 1009 'a message that is too long'
closes $ws broken 10 1002 'a frame that must not be'
closes $ws crowded 1 1013 'the longest of too many messages at once'
closes $ws helper 10 '1011 Internal error' 'a helper that was killed'
closes $live other 10 '1008 Graph is not live' 'a graph that is not live'
serve_stop
echo '{"agent": "builtin:live-demo", '"$limits"'}' >agentgraph.json
serve_start || tap_bail 'the live service does not start'
closes $live long 50 1009 'a message that is too long for the live socket'
closes $live broken 10 1002 'a frame that must not be there'
closes $live no-init 10 '1003 Invalid init frame' 'a first frame that is none'
closes $live helper 10 '1011 Internal error' 'a helper of the live socket that was killed'
closes $ws other 10 '1008 Graph is live' 'a graph that is live'
serve_stop
done_testing
