# SPDX-License-Identifier: ISC
"""A model provider with OpenAI's API that needs no network: provider.py PORT.

It answers "model: TEXT" to a user who says TEXT.  For "/tool N" it first calls the tool echo, and then says
"tool: RESULT".
"""
import http.server
import json
import socketserver
import sys


def text_of(message):
    content = message.get("content") or ""
    if isinstance(content, list):
        content = " ".join(part.get("text", "") for part in content)
    return content


def answer(request):
    last = request["messages"][-1]
    if last["role"] == "tool":
        return {"content": "tool: " + text_of(last)}
    said = text_of(last)
    if said.startswith("/tool "):
        return {"tool_calls": [{"index": 0, "id": "call_" + said[6:].replace(" ", "_"), "type": "function", "function": {
            "name": "echo", "arguments": json.dumps({"text": said[6:]})}}]}
    return {"content": "model: " + said}


class Provider(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = answer(request)
        end = "tool_calls" if "tool_calls" in said else "stop"
        if request.get("stream"):
            kind = "text/event-stream"
            chunks = [{"choices": [{"index": 0, "delta": said}]}, {"choices": [{"index": 0, "delta": {}, "finish_reason": end}]}]
            body = "".join("data: %s\n\n" % json.dumps(chunk) for chunk in chunks) + "data: [DONE]\n\n"
        else:
            kind = "application/json"
            body = json.dumps({"choices": [{"index": 0, "message": dict(said, role="assistant"), "finish_reason": end}]})
        body = body.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    allow_reuse_address = True


Server(("127.0.0.1", int(sys.argv[1])), Provider).serve_forever()
