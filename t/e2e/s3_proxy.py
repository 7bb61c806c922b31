# SPDX-License-Identifier: ISC
"""A proxy in front of an HTTP server.  The file "mode" says what it does to requests; each has its own connection.

    s3_proxy.py PORT        PORT is the server's; prints the proxy's

The file has a line KIND COUNT MATCH ARGUMENT, for the next COUNT requests with MATCH, a regular expression without
blanks, in their first line:

    error    answers with status ARGUMENT
    slow     waits for ARGUMENT seconds first
    cut      breaks off ARGUMENT bytes into the answer
    lost     passes the request on, and drops the answer
    says     answers with the bytes of the file ARGUMENT

Each request's first line is appended to the file "requests".
"""

import re
import socket
import sys
import threading
import time

lock = threading.Lock()


def take_mode(line):
    with lock:
        with open("requests", "a") as f:
            f.write(line + "\n")
        try:
            kind, count, match, argument = open("mode").read().split()
        except (OSError, ValueError):
            return "pass", ""
        if int(count) < 1 or not re.search(match, line):
            return "pass", ""
        with open("mode", "w") as f:
            f.write(f"{kind} {int(count) - 1} {match} {argument}\n")
        return kind, argument


def read_request(c):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = c.recv(65536)
        if not piece:
            return None, None
        data += piece
    head, body = data.split(b"\r\n\r\n", 1)
    size = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            size = int(line.split(b":")[1])
    while len(body) < size:
        piece = c.recv(65536)
        if not piece:
            return None, None
        body += piece
    return head, body


def forward(head, body):
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    s.sendall(head + b"\r\nConnection: close\r\n\r\n" + body)
    answer = b""
    while True:
        piece = s.recv(65536)
        if not piece:
            return answer
        answer += piece


def serve(c):
    with c:
        head, body = read_request(c)
        if head is None:
            return
        kind, argument = take_mode(head.split(b"\r\n")[0].decode())
        if kind == "error":
            c.sendall(b"HTTP/1.1 " + argument.encode() + b" Oops\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        if kind == "says":
            with open(argument, "rb") as f:
                c.sendall(f.read())
            return
        if kind == "slow":
            time.sleep(float(argument))
        answer = forward(head, body)
        if kind == "cut":
            answer = answer[: int(argument)]
        if kind != "lost":
            c.sendall(answer)


def guarded(c):
    try:
        serve(c)
    except OSError:
        pass


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=guarded, args=(listener.accept()[0],), daemon=True).start()
