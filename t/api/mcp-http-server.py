# SPDX-License-Identifier: ISC
"""An MCP server over HTTP with bad moments, for 2750-mcp-http.t.

It listens to GET with a stream that ends, then with a connection that ends, then with 503, and then
says that its tools have changed.  The tool slow breaks its stream off; who asks for the rest gets 503
first.  wrong, barred and spent are refused, which the last two do with the key that came along.  At /busy its
tools change with each list, each stream ends at once and wants to be taken up at once, and no call comes to
its end.  At /odd its pages of tools lead to each other, it fails at what it does not know, and writes results
beside errors; /moved leads there.  /forgetful knows the session of its first two calls no more, and
/gone that of a stream that is to be taken up.  /deaf asks twenty times in a call, and takes no answer.  /held takes
none before the call hold has given up, and then those that come again; a call of t waits for them.  /flood asks
much at once where it is listened to, when there is a call, which tells what was answered.  What
is asked is a word each in the file "asked", or "busy".
"""

import json
import queue
import threading
import time

import mcp_peer

CHANGED = 'data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n'
PART = 'id: 9\nretry: 0\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n'
lock = threading.Lock()
held = {what: threading.Event() for what in ("hold", "free", "again", 0, 1, 2)}
flood = {"call": threading.Event(), "answers": queue.Queue()}
seen = {"listen": 0, "resume": 0, "slow": None, "forgotten": 0}


def tool(name):
    return {"name": name, "inputSchema": {"type": "object"}}


def tools():
    named = [tool(name) for name in ("slow", "wrong", "barred", "spent")]
    return named + ([tool("later")] if seen["listen"] > 3 else [])


class Handler(mcp_peer.Handler):
    def reply(self, number, result):
        return json.dumps({"jsonrpc": "2.0", "id": number, "result": result})

    def error(self, message):
        return json.dumps({"jsonrpc": "2.0", "id": self.id, "error": {"code": -32602, "message": message}})

    def failure(self, text):
        return self.reply(self.id, {"isError": True, "content": [{"type": "text", "text": text}]})

    def stream(self, events):
        self.answer(200, events, "text/event-stream")

    def odd(self, message):
        """Whether that was an answer."""
        if message["method"] == "server/discover":
            self.answer(500)
        elif message["method"] == "tools/list":
            cursor = message["params"].get("cursor", "")
            further = str(int(cursor or 0) + 1)
            listed = {"tools": [tool("t" + cursor)], "nextCursor": "1" if further == "3" and self.path == "/odd" else further}
            self.answer(200, self.reply(self.id, listed))
        elif message["method"] == "tools/call" and message["params"]["name"] == "t1":
            self.answer(200, json.dumps({**json.loads(self.error("no such town")), "result": None}))
        elif message["method"] == "tools/call" and message["params"]["name"] == "t":
            self.answer(201, "\ufeff" + self.reply(self.id, {"content": "plain"}))
        elif message["method"] == "tools/call" and message["params"]["name"] == "vague":
            self.answer(200, self.reply(self.id, {"resultType": "input_required", "inputRequests": [{}]}))
        elif message["method"] == "tools/call":
            self.answer(200, self.reply(self.id, {"structuredContent": [1, 2], "content": []}))
        else:
            return False
        return True

    def forget(self):
        with lock:
            seen["forgotten"] += 1
            times = seen["forgotten"]
        if times > 2:
            return self.answer(200, self.reply(self.id, {"content": [{"type": "text", "text": "here"}]}))
        time.sleep(0.1 * times)
        return self.answer(404)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.id = message.get("id")
        if self.path == "/moved":
            return self.answer(307, place="/odd?key=kept-secret")
        if self.path in ("/odd", "/endless") and self.odd(message):
            return None
        self.note(message.get("params", {}).get("name", message.get("method", "answer")))
        if "method" not in message and self.path == "/held":
            return self.take(message["id"])
        if "method" not in message and self.path == "/flood":
            flood["answers"].put((message["id"], message["result"].get("action")))
            return self.answer(202)
        if "method" not in message:
            time.sleep(600)
        if self.path == "/held" and message["method"] == "notifications/cancelled":
            held["free"].set()
        if "id" not in message:
            self.answer(202)
        elif message["method"] == "initialize":
            self.answer(200, self.reply(message["id"], {
                "protocolVersion": "2025-06-18", "serverInfo": {"name": "t", "version": "1"},
                "capabilities": {"tools": {"listChanged": True}}}))
        elif message["method"] == "tools/list":
            with lock:
                listed = self.reply(message["id"], {"tools": tools()})
            if self.busy():
                self.stream(f"{CHANGED}data: {listed}\n\n")
            else:
                self.answer(200, listed)
        elif message["method"] != "tools/call":
            self.answer(404)
        elif self.busy():
            self.stream(PART)
        elif self.path == "/forgetful":
            self.forget()
        elif self.path == "/deaf":
            self.ask()
        elif self.path == "/held":
            self.hold(message["params"]["name"])
        elif self.path == "/flood":
            flood["call"].set()
            answered = [flood["answers"].get(timeout=60) for _ in range(21)]
            accepted = sum(action == "accept" for _, action in answered)
            told = [sorted(str(name) for name, _ in answered)[-2:], 0 < accepted < 20]
            self.answer(200, self.reply(self.id, {"structuredContent": told}))
        elif self.path == "/gone":
            self.stream("id: 7\nretry: 10\ndata:\n\n")
        else:
            self.call(message["params"]["name"])

    def begin(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()

    def hold(self, name):
        self.begin()
        if name == "hold":
            held["hold"].set()
            time.sleep(600)
        held["hold"].wait(60)
        pings = [f'data: {{"jsonrpc": "2.0", "id": {number}, "method": "ping"}}\n\n' for number in range(3)]
        self.wfile.write(pings[0].encode())  # for the client's keeper
        held[0].wait(60)
        self.wfile.write("".join(pings[1:]).encode())  # for its two calls
        held[1].wait(60)
        held[2].wait(60)
        kept = held["again"].wait(20)
        content = [{"type": "text", "text": "all came" if kept else "one is lost"}]
        self.wfile.write(f"data: {self.reply(self.id, {'content': content})}\n\n".encode())
        self.close_connection = True

    def flood(self):
        """Requests with ids that are none, questions, and a request with an id."""
        flood["call"].wait(60)
        questions = [(n, "elicitation/create") for n in range(20)]
        ids = [("x" * 257, "ping"), ({"id": 1}, "ping"), *questions, ("last", "ping")]
        asked = [{"jsonrpc": "2.0", "id": i, "method": method, "params": {"message": "m"}} for i, method in ids]
        self.begin()
        self.wfile.write("".join(f"data: {json.dumps(one)}\n\n" for one in asked).encode())
        time.sleep(600)

    def take(self, number):
        if held[number].is_set() or held["free"].is_set():
            held["again"].set()
        held[number].set()
        held["free"].wait(60)
        return self.answer(202)

    def ask(self):
        self.begin()
        for number in range(20):
            method = ["ping", "elicitation/create"][number % 2]
            question = {"jsonrpc": "2.0", "id": number, "method": method, "params": {"message": "m"}}
            self.wfile.write(f"data: {json.dumps(question)}\n\n".encode())
        time.sleep(600)

    def call(self, name):
        key = self.headers["Authorization"]
        if name == "slow":
            seen["slow"] = self.id
            self.stream("id: 7\nretry: 10\ndata:\n\n")
        elif name == "wrong":
            self.answer(400, self.error("no such town"))
        elif name == "barred":
            self.answer(403, self.error("." * 290 + key))
        else:
            said = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": f"got {key.split()[1]}"}}
            failed = self.failure(f"{key} is used up, {key.split()[1]}")
            self.stream(f"data: {json.dumps(said)}\n\ndata: {failed}\n\n")

    def busy(self):
        return self.path == "/busy"

    def note(self, what):
        with lock, open("busy" if self.busy() else "asked", "a") as asked:
            print(what, file=asked)

    def do_DELETE(self):
        self.answer(200)

    def do_GET(self):
        if self.busy():
            resumed = self.headers["Last-Event-ID"]
            self.note("resume" if resumed else "listen")
            return self.stream(PART if resumed else "retry: 0\ndata:\n\n")
        if self.path == "/flood":
            return self.flood()
        if self.headers["Last-Event-ID"]:
            return self.answer(404) if self.path == "/gone" else self.resume()
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
            self.wfile.write(CHANGED.encode())
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
