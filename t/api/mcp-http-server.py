# SPDX-License-Identifier: ISC
"""An MCP server over HTTP with bad moments, for 2750-mcp-http.t.

It listens to GET with a stream that ends, then with a connection that ends, then with 503, and then
says that its tools have changed.  The tool slow breaks its stream off; who asks for the rest gets 503
first.
"""

import json
import threading
import time

import mcp_peer

lock = threading.Lock()
seen = {"listen": 0, "resume": 0, "slow": None}


def tool(name):
    return {"name": name, "inputSchema": {"type": "object"}}


def tools():
    return [tool("slow")] + ([tool("later")] if seen["listen"] > 3 else [])


class Handler(mcp_peer.Handler):
    def reply(self, number, result):
        return json.dumps({"jsonrpc": "2.0", "id": number, "result": result})

    def stream(self, events):
        self.answer(200, events, "text/event-stream")

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in message:
            self.answer(202)
        elif message["method"] == "initialize":
            self.answer(200, self.reply(message["id"], {
                "protocolVersion": "2025-06-18", "serverInfo": {"name": "t", "version": "1"},
                "capabilities": {"tools": {"listChanged": True}}}))
        elif message["method"] == "tools/list":
            with lock:
                self.answer(200, self.reply(message["id"], {"tools": tools()}))
        elif message["method"] != "tools/call":
            self.answer(404)
        else:
            seen["slow"] = message["id"]
            self.stream("id: 7\nretry: 10\ndata:\n\n")

    def do_DELETE(self):
        self.answer(200)

    def do_GET(self):
        if self.headers["Last-Event-ID"]:
            return self.resume()
        with lock:
            seen["listen"] += 1
            times = seen["listen"]
        if times == 1:
            self.stream("retry: 10\n: nothing yet\n\n")
        elif times == 2:
            self.close_connection = True
        elif times == 3:
            self.answer(503)
        else:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write(b'data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n')
            time.sleep(600)

    def resume(self):
        with lock:
            seen["resume"] += 1
            times = seen["resume"]
        if times == 1:
            self.answer(503)
        else:
            result = {"content": [{"type": "text", "text": "at last"}]}
            self.stream(f"id: 8\ndata: {self.reply(seen['slow'], result)}\n\n")


mcp_peer.Server(Handler).serve()
