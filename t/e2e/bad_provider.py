# SPDX-License-Identifier: ISC
"""A chat model's provider that misbehaves: the user's last text says how.  Prints its port."""
import http.server
import json
import socketserver
import threading
import time

counts = {}
lock = threading.Lock()


def count(key):
    with lock:
        counts[key] = counts.get(key, 0) + 1
        return counts[key]


def delta(text):
    return ("data: " + json.dumps({"choices": [{"delta": {"content": text}}]}) + "\n\n").encode()


END = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


class Provider(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.whole(200, json.dumps(counts).encode())

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = [m for m in body["messages"] if m["role"] == "user"][-1]["content"]
        said = (said if isinstance(said, str) else said[-1]["text"]).split()[0]
        try:
            getattr(self, said, self.fine)(body, said)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def whole(self, status, data, kind="application/json", headers=()):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def stream(self, *pieces):
        """Begins an answer without a length, which ends with the connection."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for piece in pieces:
            self.wfile.write(piece)
            self.wfile.flush()

    def fine(self, body, said):
        self.stream(delta("all "), delta("well"), END)

    def look(self, body, said):
        """Says what came with the text."""
        parts = body["messages"][-1]["content"][:-1]
        self.stream(delta("; ".join(p.get("text") or p["image_url"]["url"] for p in parts)), END)

    def never(self, body, said):
        time.sleep(60)

    def stall(self, body, said):
        self.stream(delta("one "), delta("two"))
        time.sleep(60)

    def cut(self, body, said):
        self.stream(delta("one "), delta("two"), b'data: {"choices":[{"delta":{"cont')

    def early(self, body, said):
        count(said)
        self.stream(b": nothing yet\n\n")

    def flood(self, body, said):
        self.stream(*[delta("x" * 1000000)] * 100)

    def flat(self, body, said):
        self.stream(*[b"x" * 1000000] * 100)

    def bytes(self, body, said):
        self.stream(b'data: {"choices":[{"delta":{"content":"a\xff\xc3(b"}}]}\n\n', END)

    def arguments(self, body, said):
        if body["messages"][-1]["role"] == "tool":
            self.stream(delta("The tool says: " + body["messages"][-1]["content"]), END)
            return
        call = {"index": 0, "id": "c1", "function": {"name": "touch", "arguments": '{"file": '}}
        self.stream(b"data: " + json.dumps({"choices": [{"delta": {"tool_calls": [call]}}]}).encode() + b"\n\n", END)

    def work(self, body, said):
        """Calls the two tools of the soak, then says their results."""
        results = [m["content"] for m in body["messages"] if m["role"] == "tool"]
        if results:
            self.stream(delta(" ".join(results[-2:])), END)
            return
        calls = [{"index": i, "id": "c%d" % i, "function": {"name": name, "arguments": '{"text":"x"}'}}
                 for i, name in enumerate(["upper", "echo"])]
        self.stream(b"data: " + json.dumps({"choices": [{"delta": {"tool_calls": calls}}]}).encode() + b"\n\n", END)

    def html(self, body, said):
        self.whole(200, b"<html><body>Please log in</body></html>", "text/html")

    def html502(self, body, said):
        self.whole(502, b"<html><body>secret-of-the-gateway</body></html>", "text/html")

    def refused(self, body, said):
        key = self.headers.get("Authorization", "")
        self.whole(401, json.dumps({"error": {"message": "Incorrect API key provided: " + key}}).encode())

    def busy(self, body, said):
        self.whole(429, b'{"error":{"message":"slow down"}}', headers=[("Retry-After", "0")])

    def recovers(self, body, said):
        if count(said) == 1:
            self.whole(500, b'{"error":{"message":"oops"}}')
        else:
            self.fine(body, said)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 64


server = Server(("127.0.0.1", 0), Provider)
print(server.server_address[1], flush=True)
server.serve_forever()
