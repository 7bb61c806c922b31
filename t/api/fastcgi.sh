# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# A FastCGI client that can misbehave, as cgi-fcgi cannot.  Sourced after lib.sh; needs python3.
#
#	raw ACTION [METHOD PATH [LENGTH [BODY]]]
#
# LENGTH is the announced one, "" for none.  Actions:
#   ask     a whole request; prints the answer
#   keep    the same, asking to keep the connection; fails when the worker keeps it
#   cut     the connection ends in the middle of the body
#   flood   sends BODY a thousand times, as one body; prints the answer
#   silent  connects, sends the beginning of a request, or nothing, and stays for a minute
#   halting sends nothing, then the head and half of the body, then the rest, a line of standard input before each;
#           says "connected" and "half", then prints the answer
#   junk    sends bytes that are not FastCGI

command -v python3 >/dev/null || tap_skip_all 'python3 is not installed'

cat >"$WORK/raw.py" <<'PYTHON'
import socket
import sys
import time

path, action, method, uri, length, body = (sys.argv[1:] + [""] * 6)[:6]


def record(kind, data):
    return bytes([1, kind, 0, 1]) + len(data).to_bytes(2, "big") + b"\0\0" + data


def size(n):
    return bytes([n]) if n < 128 else (n | 1 << 31).to_bytes(4, "big")


def head(keep):
    values = {"REQUEST_METHOD": method, "REQUEST_URI": uri, "HTTP_HOST": "localhost", "CONTENT_LENGTH": length}
    pairs = b"".join(size(len(k)) + size(len(v)) + k.encode() + v.encode() for k, v in values.items())
    return record(1, bytes([0, 1, keep, 0, 0, 0, 0, 0])) + record(4, pairs) + record(4, b"")


def connect():
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(10)
    connection.connect(path)
    return connection


def answer(connection):
    """What the worker wrote to its standard output until it closed the connection."""
    data, out = b"", b""
    while piece := connection.recv(65536):
        data += piece
    while len(data) >= 8:
        n, padding = int.from_bytes(data[4:6], "big"), data[6]
        if data[1] == 6:
            out += data[8 : 8 + n]
        data = data[8 + n + padding :]
    print(out.decode())


if action in ("ask", "keep"):
    c = connect()
    c.sendall(head(action == "keep") + record(5, body.encode()) + (record(5, b"") if body else b""))
    answer(c)
elif action == "cut":
    c = connect()
    c.sendall(head(0) + record(5, body.encode()))
    c.shutdown(socket.SHUT_WR)
    answer(c)
elif action == "flood":
    c = connect()
    try:
        c.sendall(head(0))
        for _ in range(1000):
            c.sendall(record(5, body.encode()))
        c.sendall(record(5, b""))
    except BrokenPipeError:
        pass
    answer(c)
elif action == "silent":
    starts = (b"", b"\1", head(0)[:30], record(1, bytes([0, 1, 0, 0, 0, 0, 0, 0])))
    held = [connect() for start in starts]
    for c, start in zip(held, starts):
        c.sendall(start)
    print("connected", flush=True)
    time.sleep(60)
elif action == "halting":
    c = connect()
    half = len(body) // 2
    print("connected", flush=True)
    sys.stdin.readline()
    c.sendall(head(0) + record(5, body[:half].encode()))
    print("half", flush=True)
    sys.stdin.readline()
    c.sendall(record(5, body[half:].encode()) + record(5, b""))
    answer(c)
elif action == "junk":
    for junk in (b"", b"GET /ping HTTP/1.1\r\n\r\n", bytes(100), b"\xff" * 5000, record(4, b"\xff\xff\xff\xff\xff"),
                 record(1, b""), record(9, b"x"), head(0)[:-9] + record(4, b"\x7f\x7fa")):
        c = connect()
        try:
            c.sendall(junk)
            c.shutdown(socket.SHUT_WR)
            c.recv(1000)
        except OSError:
            pass
        c.close()
PYTHON

raw() {
	raw_action=$1
	shift
	python3 "$WORK/raw.py" "$SOCKET" "$raw_action" "$@"
}
