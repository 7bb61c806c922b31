# SPDX-License-Identifier: ISC
"""An MCP server over HTTP whose tools ask, for 2760-mcp-questions.t.

    mcp-asking-server.py new|old|locked

locked is new, and at /mcp/old old, for who has a token, which it gives itself to agent:s/cret, and which ends when
there is a file "revoked", or with the tool revoke.  Then, while there is a file "stuck", who asks for a token waits: up to 20
seconds until there is a file "free", which may hold a status to be refused with, 200 for an error in JSON; there is a
file "waiting" then.  While there is a file "moved", tokens are given at /moved.  Its tool leak is refused with the
token; the end of a session is a line in "ended", with whether it had one.
new speaks 2026-07-28 and has no session: a question is a result, and its state comes back with the answer.  old
speaks 2025-11-25: a question is a request in the stream that answers the call.  Each request is a line in "seen".
"""

import base64
import json
import os
import queue
import sys
import threading
import time
import urllib.parse

import mcp_peer

NEW = sys.argv[1] != "old"
LOCKED = sys.argv[1] == "locked"
BASIC = "Basic " + base64.b64encode(b"agent:s%2Fcret").decode()
META = "io.modelcontextprotocol/"
lock = threading.Lock()
answers = {}  # by the id of a question
numbers = iter(range(1000, 10000))
listed = []
tokens = []  # that were given


def schema(**properties):
    return {"type": "object", "properties": properties}


DAY = schema(day={"type": "string"})
ORDER = schema(count={"type": "integer"}, gift={"type": "boolean"})


def steps(name, args):
    """Asks by yield, which gives the answer; returns the text."""
    if name == "plain":
        return "plain " + args.get("text", "")
    if name == "revoke":
        tokens.append("-")
        return "revoked"
    if name == "book":
        day = yield "When?", DAY
        return f"booked {day['content']['day']}" if day["action"] == "accept" else f"not booked: {day['action']}"
    if name == "order":
        day = yield "When?", DAY
        order = yield "How many?", ORDER
        return json.dumps([day, order], sort_keys=True)
    if name == "count":
        number = yield "How many?", schema(n={"type": "integer"})
        return json.dumps(number["content"])
    if name == "odd":
        answer = yield "What?", {"type": "object", "properties": ["n"]}
        return json.dumps(answer["content"])
    raise KeyError(name)


def tools():
    named = [{"name": name, "inputSchema": schema(text={"type": "string", "x-mcp-header": "Text"})}
             for name in ["plain", "book", "order", "count", "odd"] + ["leak", "revoke"] * LOCKED]
    bad = {"name": "bad", "inputSchema": schema(a={"type": "object", "x-mcp-header": "A"})}
    marks = {f"m{i}": {"type": "string", "x-mcp-header": f"M{i}"} for i in range(1001)}
    many = [{"name": "many", "inputSchema": schema(**marks)}] if NEW else []
    later = [{"name": "later", "inputSchema": schema()}] if os.path.exists("changed") else []
    return named + [bad] + many + later


class Handler(mcp_peer.Handler):
    def result(self, result, status=200):
        self.answer(status, json.dumps({"jsonrpc": "2.0", "id": self.id, "result": result}))

    def error(self, status, code, message):
        error = {"code": code, "message": message}
        self.answer(status, json.dumps({"jsonrpc": "2.0", "id": self.id, "error": error}))

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if LOCKED and self.path in ("/token", "/moved"):
            return self.token(dict(urllib.parse.parse_qsl(body.decode())))
        message = json.loads(body)
        if LOCKED and not self.allowed():
            return self.refuse()
        self.id, self.params = message.get("id"), message.get("params", {})
        if LOCKED and self.params.get("name") == "leak":
            return self.error(200, -32001, f"no more for {self.headers['Authorization']}")
        names = ("MCP-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name", "Mcp-Param-Text")
        with lock, open("seen", "a") as seen:
            print(json.dumps({"message": message, "headers": {n: self.headers[n] for n in names}}), file=seen)
        if "method" not in message:
            answers.pop(message["id"]).put(message["result"])
            return self.answer(202)
        if self.id is None:
            return self.answer(202)
        (self.new if NEW and self.path != "/mcp/old" else self.old)(message["method"])

    def allowed(self):
        if os.path.exists("revoked"):
            os.remove("revoked")
            tokens.append("-")
        return bool(tokens) and self.headers["Authorization"] == "Bearer " + tokens[-1]

    def refuse(self):
        challenge = f'Bearer realm="a, \\"b\\"", resource_metadata="{SITE}/about", scope="tools.call"'
        self.send_response(401)
        self.send_header("WWW-Authenticate", challenge)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def token(self, form):
        if self.headers["Authorization"] != BASIC:
            return self.answer(401, json.dumps({"error_description": "invalid_client wrong-one"}))
        with open("forms", "a") as forms:
            print(json.dumps(form, sort_keys=True), file=forms)
        if self.path != ("/moved" if os.path.exists("moved") else "/token"):
            return self.answer(404)
        for _ in range(200):
            if tokens[-1:] == ["-"] and os.path.exists("stuck") and not os.path.exists("free"):
                open("waiting", "w").close()
                time.sleep(0.1)
        if os.path.exists("free") and os.path.getsize("free"):
            with open("free") as file:
                status = int(file.read())
            return self.answer(status, '{"error": "slow_down"}' if status == 200 else "")
        tokens.append(f"t{len(tokens)}")
        self.answer(200, json.dumps({"access_token": tokens[-1], "token_type": "Bearer", "expires_in": 3600}))

    def do_GET(self):
        issuer, given_at = SITE + "/as", "/moved" if os.path.exists("moved") else "/token"
        about = {"resource": SITE + "/mcp", "authorization_servers": [issuer]}
        found = {"/about": about, "/.well-known/oauth-authorization-server/as": {
            "issuer": issuer, "token_endpoint": SITE + given_at}}.get(self.path)
        if LOCKED and found:
            return self.answer(200, json.dumps(found))
        self.answer(405)

    def do_DELETE(self):
        with open("ended", "a") as ended:
            print(self.headers["Mcp-Session-Id"], self.allowed(), file=ended)
        self.answer(405)

    def new(self, method):
        meta = self.params.get("_meta", {})
        if method == "initialize" or self.headers["MCP-Protocol-Version"] != "2026-07-28":
            return self.error(400, -32022, "no such version")
        if meta.get(META + "protocolVersion") != "2026-07-28" or META + "clientCapabilities" not in meta:
            return self.error(400, -32602, "no _meta")
        if self.headers["Mcp-Method"] != method or (method == "tools/call" and self.headers["Mcp-Name"] != self.params["name"]):
            return self.error(400, -32020, "a header disagrees")
        if method == "server/discover":
            return self.result({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
        if method == "tools/list":
            return self.result({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": tools()})
        if method != "tools/call":
            return self.error(404, -32601, "no such method")
        given = json.loads(self.params.get("requestState", "[]"))
        given += list(self.params.get("inputResponses", {}).values())
        self.play(given)

    def play(self, given):
        """The call from its beginning, with the answers that there are."""
        talk, answer = steps(self.params["name"], self.params.get("arguments", {})), None
        try:
            for answer in [None] + given:
                message, asked = talk.send(answer)
        except StopIteration as end:
            return self.result({"resultType": "complete", "content": [{"type": "text", "text": end.value}]})
        question = {"method": "elicitation/create",
                    "params": {"mode": "form", "message": message, "requestedSchema": asked}}
        self.result({"resultType": "input_required", "inputRequests": {"q": question}, "requestState": json.dumps(given)})

    def old(self, method):
        if method == "initialize":
            listed.append(self.params["capabilities"])
            return self.result({"protocolVersion": "2025-11-25", "serverInfo": {"name": "t", "version": "1"},
                                "capabilities": {"tools": {}}})
        if method == "tools/list":
            return self.result({"tools": tools()})
        if method != "tools/call":
            return self.error(400, -32601, "no such method")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        talk, answer = steps(self.params["name"], self.params.get("arguments", {})), None
        try:
            while True:
                message, asked = talk.send(answer)
                answer = self.ask(message, asked)
        except StopIteration as end:
            self.event({"id": self.id, "result": {"content": [{"type": "text", "text": end.value}]}})

    def ask(self, message, asked):
        number = next(numbers)
        waiting = answers[number] = queue.Queue()
        params = {"message": message, "requestedSchema": asked}
        self.event({"id": number, "method": "elicitation/create", "params": params})
        return waiting.get(timeout=60)

    def event(self, message):
        self.wfile.write(f"data: {json.dumps({'jsonrpc': '2.0', **message})}\n\n".encode())
        self.wfile.flush()


server = mcp_peer.Server(Handler)
SITE = f"http://127.0.0.1:{server.port}"
server.serve()
