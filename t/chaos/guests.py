# SPDX-License-Identifier: ISC
"""More users: one who goes back in threads' histories, and clients of other protocols."""
import json

from client import run_body
from load import NODE_ERRORS, User

TRIED = NODE_ERRORS + ("THREAD_BUSY",)
UNAVAILABLE = "Storage is temporarily unavailable"


class Historian(User):
    """Talks on a thread, goes back and on from there, and copies it; the ledger has what it was at checkpoints."""

    def act(self):
        thread = "h%d-%s-%d" % (self.number, self.seed, self.done // 200)
        known = [key for key in self.ledger.history if key[0] == thread]
        kind = self.random.choice([self.talk, self.talk, self.rewind, self.copy])
        kind(thread, self.random.choice(known)[1] if known else None)

    def talk(self, thread, _):
        message = self.next_id()
        ok, _ = self.write("POST", "/v1/graph/invoke", run_body(thread, message, "text " + message), "invoke", TRIED)
        if ok:
            self.note(thread)

    def note(self, thread):
        """Notes the thread as it is at its latest checkpoint, if that can be read."""
        ok, answer = self.write("GET", "/v1/threads/%s/history?limit=1" % thread, None, "history", TRIED)
        newest = answer["data"]["history"] if ok else []
        if newest:
            ids = self.messages("/v1/threads/%s/history/%s" % (thread, newest[0]["checkpoint_id"]))
            if ids is not None:
                self.ledger.history[thread, newest[0]["checkpoint_id"]] = ids
        for key in [key for key in self.ledger.history if key[0] == thread][:-20]:
            del self.ledger.history[key]  # the service keeps a hundred

    def messages(self, path):
        ok, answer = self.write("GET", path, None, "GET " + path, TRIED)
        return [m["message_id"] for m in answer["data"]["messages"]] if ok else None

    def rewind(self, thread, checkpoint):
        body = {"checkpoint_id": checkpoint}
        if checkpoint and self.write("POST", "/v1/threads/%s/rewind" % thread, body, "rewind", TRIED)[0]:
            self.compare("rewind", "/v1/threads/%s/messages?limit=500" % thread, (thread, checkpoint))

    def copy(self, thread, checkpoint):
        name = "copy-" + self.next_id()
        body = {"checkpoint_id": checkpoint, "thread_id": name}
        if checkpoint and self.write("POST", "/v1/threads/%s/copy" % thread, body, "copy", TRIED)[0]:
            self.compare("copy", "/v1/threads/%s/messages?limit=500" % name, (thread, checkpoint))
            self.write("DELETE", "/v1/threads/" + name, {}, "delete", TRIED)

    def compare(self, what, path, key):
        ids, known = self.messages(path), self.ledger.history[key]
        if ids is not None and ids != known:
            self.ledger.saw("%s of %s %s has %s, not %s" % (what, *key, ids, known))


class Guest(User):
    """Clients of other servers, and somebody who looks at the console."""

    def act(self):
        text = "text " + self.next_id()
        getattr(self, self.random.choice(["openai", "langgraph", "a2a", "mcp", "console"]))(text)

    def call(self, what, path, body, said, text, headers=()):
        """Sends a request; said finds in the answer what the agent said."""
        head = dict(headers, **{"Content-Type": "application/json"})
        status, answer = self.client.request("POST", path, json.dumps(body), head)
        self.ledger.count(status)
        if status not in self.ledger.allowed:
            self.ledger.saw("%s: %s %s" % (what, status, answer[:300]))
        elif status == 200 and text not in said(json.loads(answer)):
            self.ledger.saw("%s: %s" % (what, answer[:300]))

    def openai(self, text):
        body = {"model": "chaos", "messages": [{"role": "user", "content": text}]}
        self.call("openai", "/v1/chat/completions", body, lambda a: a["choices"][0]["message"]["content"], "echo: " + text)

    def langgraph(self, text):
        body = {"assistant_id": "chaos", "input": {"messages": [{"role": "user", "content": text}]}}
        self.call("langgraph", "/lg/runs/wait", body, json.dumps, "echo: " + text)

    def a2a(self, text):
        message = {"messageId": text, "role": "ROLE_USER", "parts": [{"text": text}]}
        body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}

        def said(answer):
            # if the service cannot do it now, that is an error of JSON-RPC, or a task that failed
            whole = json.dumps(answer)
            return "echo: " + text if "error" in answer or UNAVAILABLE in whole else whole

        self.call("a2a", "/v1/a2a", body, said, "echo: " + text, {"A2A-Version": "1.0"})

    def mcp(self, text):
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        self.call("mcp", "/v1/mcp", body, json.dumps, '"name": "', {"Accept": "application/json, text/event-stream"})

    def console(self, _):
        path = self.random.choice(["/console", "/v1/service", "/v1/graph/runs?limit=20", "/v1/graph/runs?status=error", "/v1/threads?metadata.a=b"])
        status, text = self.client.request("GET", path)
        self.ledger.count(status)
        if status not in self.ledger.allowed:
            self.ledger.saw("GET %s: %s %s" % (path, status, text[:300]))


# ---- what is there afterwards ----

def check_history(client, ledger):
    """Checks that each checkpoint that was seen is still the same."""
    wrong = []
    for (thread, checkpoint), ids in ledger.history.items():
        status, answer = client.json("GET", "/v1/threads/%s/history/%s" % (thread, checkpoint))
        now = [m["message_id"] for m in answer["data"]["messages"]] if status == 200 else status
        if now != ids:
            wrong.append("%s at %s has %s, not %s" % (thread, checkpoint, now, ids))
    return wrong
