# SPDX-License-Identifier: ISC
"""A receiver of webhooks on loopback.

    webhook_receiver.py PORT-FILE LOG MODE-FILE

Each request becomes a line of JSON in LOG: path, headers, body.  The last part of the path says how to answer, or,
if that is "mode", the word in MODE-FILE does: ok; hang, until MODE-FILE says otherwise; close, without an answer;
redirect, to /elsewhere; or a status.
"""

import http.server
import json
import os
import socket
import sys
import threading
import time

PORT_FILE, LOG, MODE = sys.argv[1:4]
lock = threading.Lock()


def mode():
    with open(MODE) as f:
        return f.read().strip()


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status, *headers):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        line = json.dumps({"path": self.path, "headers": dict(self.headers), "body": body.decode()})
        with lock, open(LOG, "a") as log:
            log.write(line + "\n")
        word = self.path.split("?")[0].rsplit("/", 1)[1]
        if word == "mode":
            word = mode()
        if word == "hang":
            while mode() == "hang":
                time.sleep(0.05)
            self.close_connection = True
        elif word == "close":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif word == "redirect":
            self.reply(307, ("Location", "/elsewhere"))
        else:
            self.reply(int(word) if word.isdigit() else 200)

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


server = Server(("127.0.0.1", 0), Receiver)
with open(PORT_FILE + ".new", "w") as f:
    f.write(str(server.server_port))
os.rename(PORT_FILE + ".new", PORT_FILE)
server.serve_forever()
