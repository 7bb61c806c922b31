# SPDX-License-Identifier: ISC
"""What MCP servers over HTTP for tests share: one answer a request, and a port that is written to the file "port"."""

import http.server
import os


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, body="", kind="application/json", place=None):
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Mcp-Session-Id", "s")
        if place:
            self.send_header("Location", place)
        self.end_headers()
        self.wfile.write(data)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.port = self.server_address[1]

    def handle_error(self, *args):
        pass

    def serve(self):
        with open("port.new", "w") as f:
            print(self.port, file=f)
        os.rename("port.new", "port")
        self.serve_forever()
