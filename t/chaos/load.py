# SPDX-License-Identifier: ISC
"""Users of every kind, what they were told, and whether that is still true afterwards.

The ledger has each write, and whether it was acknowledged.  If it was, it must be there, whole and once; if not, it may
be there, but not twice.  Nothing may be there that nobody wrote.
"""
import hashlib
import json
import os
import random
import threading
import time

from client import Client, Socket, chunks_end, run_body

ALLOWED = (200, 0, 503)
# What a run may fail with while its model or its executable is killed.
NODE_ERRORS = ("NODE_ERROR", "NODE_TIMEOUT", "GRAPH_ERROR")


class Ledger:
    def __init__(self):
        self.lock = threading.Lock()
        self.turns = {}     # message id -> [thread, text, final answer, acknowledged]
        self.posted = {}    # message id -> [thread, acknowledged]
        self.marks = {}     # (thread, key) -> acknowledged
        self.files = {}     # file id -> (digest, size)
        self.memories = {}  # memory id -> contents that it may have; None: it may be gone
        self.wrote = {}     # memory id -> contents that it had at any time
        self.deleted = {}   # thread -> acknowledged
        self.queued = {}    # (thread, run) -> its turn
        self.streams = {}   # (thread, run) -> (chunks, whether they had the end or are gone by now, the last status)
        self.history = {}   # (thread, checkpoint) -> ids of the messages then
        self.odd = []       # what should not have been seen
        self.counts = {}    # answers by status
        self.clock_steps = lambda: 0  # how many steps of the clock there were so far
        self.expires = False  # whether a step of the clock may end the time for which chunks are kept
        self.allowed, self.codes = ALLOWED, ()  # statuses and codes that any request may get

    def count(self, status):
        with self.lock:
            self.counts[status] = self.counts.get(status, 0) + 1

    def saw(self, what):
        with self.lock:
            self.odd.append(what)

    def acknowledged(self):
        return (sum(t[3] for t in self.turns.values()) + sum(p[1] for p in self.posted.values()) + sum(self.marks.values())
                + len(self.files) + len(self.memories) + sum(self.deleted.values()))


def final_of(text):
    if text.startswith("/model "):
        return "model: " + text
    if text.startswith("/tool "):
        return "tool: " + text[6:]
    if text.startswith(("/exec ", "/slow ")):
        return "ran: " + text
    if text.startswith("/fork "):
        return "joined: " + text
    if text.startswith("/note "):
        return "noted"
    return "echo: " + text


def is_answer(text, final, said):
    """Whether said answers text: it is final, or the error of a tool whose server was killed."""
    told = ("tool: mcp ", "tool: unknown tool: echo (a server of tools is not available)")
    return said == final or text.startswith("/tool ") and (said or "").startswith(told)


class User(threading.Thread):
    """A client that does what its kind does until it is told to end."""

    def __init__(self, number, port, ledger, ended, seed):
        super().__init__(daemon=True)
        self.number, self.ledger, self.ended, self.seed = number, ledger, ended, seed
        self.random = random.Random("%s-%s" % (seed, number))
        self.port, self.client = port, Client(port)
        self.done = 0

    def run(self):
        while not self.ended.is_set():
            try:
                self.act()
            except (OSError, ValueError):
                self.ledger.count(0)
            self.ended.wait(self.random.uniform(0, 0.1))

    def next_id(self):
        self.done += 1
        return self.last_id()

    def last_id(self):
        return "%s%d-%s-%d" % (type(self).__name__.lower(), self.number, self.seed, self.done)

    def judge(self, what, status, answer, more=()):
        """Counts the answer, and notes an odd one; true for 200."""
        self.ledger.count(status)
        code = (answer or {}).get("error_code")
        if status not in self.ledger.allowed and code not in self.ledger.codes and code not in more:
            self.ledger.saw("%s: %s %s" % (what, status, json.dumps(answer)[:300]))
        if status == 200 and answer is None:
            self.ledger.saw("%s: 200 without a document" % what)
            return False
        return status == 200

    def write(self, method, path, body, what, more=()):
        status, answer = self.client.json(method, path, body)
        return self.judge(what, status, answer, more), answer


class Talker(User):
    def new_turn(self):
        message = self.next_id()
        kind = self.random.choice(["", "", "", "/note ", "/exec ", "/slow ", "/model ", "/model ", "/tool ", "/fork "])
        thread = "shared" if self.random.random() < 0.05 else "t%d-%d" % (self.number, self.random.randrange(3))
        text = kind + "text " + message
        turn = [thread, text, final_of(text), False]
        self.ledger.turns[message] = turn
        return message, turn

    def act(self):
        message, turn = self.new_turn()
        turn[3] = getattr(self, self.random.choice(["invoke", "stream", "ag_ui"]))(message, turn)

    def invoke(self, message, turn):
        ok, answer = self.write("POST", "/v1/graph/invoke", run_body(turn[0], message, turn[1]), "invoke " + turn[1],
                                NODE_ERRORS + ("THREAD_BUSY",))
        if not ok:
            return False
        said = answer["data"]["messages"][-1]["content"]
        if not said or not is_answer(turn[1], turn[2], said[0].get("text")):
            self.ledger.saw("invoke %s: %s" % (turn[1], json.dumps(said)[:300]))
        return True

    def stream(self, message, turn):
        status, text = self.client.request("POST", "/v1/graph/stream", json.dumps(run_body(turn[0], message, turn[1])),
                                           {"Content-Type": "application/json"})
        self.ledger.count(status)
        if status != 200:
            if status not in self.ledger.allowed + (409,):
                self.ledger.saw("stream %s: %s %s" % (turn[1], status, text[:300]))
            return False
        return chunks_end([json.loads(line) for line in text.splitlines() if line], turn[2])

    def ag_ui(self, message, turn):
        body = {"threadId": turn[0], "runId": "r-" + message, "messages": [{"id": message, "role": "user", "content": turn[1]}]}
        status, text = self.client.request("POST", "/v1/ag-ui", json.dumps(body), {"Content-Type": "application/json"})
        self.ledger.count(status)
        if status != 200:
            if status not in self.ledger.allowed + (409,):
                self.ledger.saw("ag-ui %s: %s %s" % (turn[1], status, text[:300]))
            return False
        events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith(b"data: ")]
        kinds = [event["type"] for event in events]
        return bool(kinds) and kinds[-1] == "RUN_FINISHED" and "RUN_ERROR" not in kinds


class SocketUser(Talker):
    def act(self):
        steps = self.ledger.clock_steps()
        connection = Socket(self.port)
        self.ledger.count(connection.status)
        if connection.status != 101:
            # a ticket is good for seconds: if the clock is stepped while one is under way, it has expired
            expired = connection.status == 403 and steps != self.ledger.clock_steps()
            if connection.status not in self.ledger.allowed and not expired:
                self.ledger.saw("socket: %s" % connection.status)
            return
        for _ in range(self.random.randrange(1, 6)):
            message, turn = self.new_turn()
            turn[3] = chunks_end(connection.turn(run_body(turn[0], message, turn[1])), turn[2])
            if self.ended.is_set() or connection.code:
                break
        self.closed(connection.code)
        connection.close()

    def closed(self, code):
        """Called with the code of the close frame, or None when this side goes."""


class Poster(User):
    """Writes messages and state from outside."""

    def act(self):
        thread = "p%d-%d" % (self.number, self.random.randrange(3))
        ids = [self.next_id() for _ in range(self.random.randrange(1, 4))]
        for message in ids:
            self.ledger.posted[message] = [thread, False]
        ok, _ = self.write("POST", "/v1/threads/%s/messages" % thread,
                           {"messages": [{"role": "user", "content": "said " + m, "message_id": m} for m in ids]}, "post")
        for message in ids:
            self.ledger.posted[message][1] = ok
        if not ok:
            return
        key = self.next_id()
        self.ledger.marks[thread, key] = False
        ok, _ = self.write("PUT", "/v1/threads/%s/state" % thread, {"state": {"marks": {key: 1}}}, "put state")
        self.ledger.marks[thread, key] = ok


class Deleter(User):
    def act(self):
        thread = "gone-" + self.next_id()
        ok, _ = self.write("POST", "/v1/graph/invoke", run_body(thread, thread + "-m", "hello"), "invoke")
        if not ok:
            return
        self.ledger.deleted[thread] = False
        ok, _ = self.write("DELETE", "/v1/threads/" + thread, {}, "delete", ("RESOURCE_NOT_FOUND",))
        self.ledger.deleted[thread] = ok


class Uploader(User):
    def act(self):
        text = self.random.random() < 0.5
        size = self.random.choice([100, 5000, 100000, 400000])
        data = (b"word %d " % self.random.randrange(10 ** 9)) * (size // 10) if text else self.random.randbytes(size)
        if text and self.random.random() < 0.5:
            name, kind, data = "page.html", "text/html", b"<html><body><p>" + data + b"</p></body></html>"
        else:
            name, kind = ("a.txt", "text/plain") if text else ("a.bin", "application/octet-stream")
        status, answer = self.client.upload(name, kind, data)
        if self.judge("upload", status, answer):
            self.ledger.files[answer["data"]["file_id"]] = (hashlib.sha256(data).hexdigest(), len(data))
        self.look(self.random.choice(list(self.ledger.files) or [None]))

    def look(self, file):
        if not file:
            return
        status, data = self.client.request("GET", "/v1/files/" + file)
        self.ledger.count(status)
        if status == 200 and hashlib.sha256(data).hexdigest() != self.ledger.files[file][0]:
            self.ledger.saw("file %s came back otherwise, %d bytes of %d" % (file, len(data), self.ledger.files[file][1]))
        elif status not in self.ledger.allowed:
            self.ledger.saw("file %s: %d %s" % (file, status, data[:300]))


class Rememberer(User):
    def act(self):
        content = "memory " + self.next_id()
        ok, answer = self.write("POST", "/v1/store/memories", {"content": content}, "remember")
        if not ok:
            return
        memory = answer["data"]["memory_id"]
        self.ledger.wrote[memory] = {content, content + " changed"}
        allowed = self.ledger.memories[memory] = {content}
        if self.random.random() < 0.4:
            allowed.add(content + " changed")
            ok, _ = self.write("PUT", "/v1/store/memories/" + memory, {"content": content + " changed"}, "change")
            if ok:
                allowed.discard(content)
        if self.random.random() < 0.3:
            allowed.add(None)
            ok, _ = self.write("DELETE", "/v1/store/memories/" + memory, {}, "forget")
            if ok:
                allowed.intersection_update({None})
        self.write("POST", "/v1/store/search", {"query": content, "limit": 3}, "search")


class Reader(User):
    def act(self):
        thread = "t%d-0" % self.random.randrange(4)
        path = self.random.choice([
            "/v1/threads?limit=50", "/v1/threads?search=t&limit=5", "/v1/graph", "/v1/graph/tools", "/openapi.json",
            "/v1/threads/" + thread, "/v1/threads/%s/state" % thread, "/v1/threads/%s/messages?limit=20" % thread,
            "/v1/observability/" + thread, "/v1/config/multimodal"])
        self.write("GET", path, None, "GET " + path, ("RESOURCE_NOT_FOUND",))


class Pinger(threading.Thread):
    """Measures how long nobody answered."""

    def __init__(self, port, ended):
        super().__init__(daemon=True)
        self.client, self.ended, self.longest = Client(port), ended, 0.0

    def run(self):
        last = time.monotonic()
        while not self.ended.wait(0.2):
            answered = self.client.request("GET", "/ping", timeout=5)[0] == 200
            now = time.monotonic()
            self.longest = max(self.longest, now - last - 0.2)
            last = now if answered else last


def users(port, ledger, ended, seed, times=1):
    kinds = [Talker] * 4 + [SocketUser] * 2 + [Poster, Deleter, Uploader, Rememberer, Reader]
    return [kind(number, port, ledger, ended, seed) for number, kind in enumerate(kinds * times)]


# ---- what is there afterwards ----

class Checker:
    def __init__(self, client, ledger):
        self.client, self.ledger, self.wrong = client, ledger, []

    def fetch(self, path):
        for _ in range(5):
            status, answer = self.client.json("GET", path)
            if status in (200, 404):
                return status, answer
            time.sleep(0.5)
        self.wrong.append("%s is answered with %d" % (path, status))
        return status, None

    def threads(self):
        return {t[0] for t in self.ledger.turns.values()} | {p[0] for p in self.ledger.posted.values()}

    def running(self):
        """The threads on which something still runs."""
        left = []
        for thread in sorted(self.threads()):
            status, answer = self.client.json("GET", "/v1/threads/%s/state" % thread)
            if status == 0 or status == 503 or status == 200 and answer["data"]["state"]["execution_meta"]["is_running"]:
                left.append(thread)
        return left

    def messages(self, thread):
        found, page = [], None
        while page is None or len(page) == 500:
            status, answer = self.fetch("/v1/threads/%s/messages?limit=500&offset=%d" % (thread, len(found)))
            if status != 200 or not answer:
                return found
            page = answer["data"]["messages"]
            found += page
        return found

    def check_thread(self, thread):
        messages = self.messages(thread)
        ids = [m["message_id"] for m in messages]
        present = set(ids)
        for twice in {i for i in present if ids.count(i) > 1} if len(present) < len(ids) else ():
            self.wrong.append("%s: message %s is there twice" % (thread, twice))
        runs, current = {}, None
        for message in messages:
            if message["role"] == "user":
                current = runs.setdefault(message["message_id"], [])
                if message["message_id"] not in self.ledger.turns and message["message_id"] not in self.ledger.posted:
                    self.wrong.append("%s: nobody sent %s" % (thread, message["message_id"]))
            elif current is not None:
                current.append(message)
        before = len(self.wrong)
        for message, (where, text, final, acknowledged) in self.ledger.turns.items():
            if where == thread:
                self.check_turn(message, text, final, acknowledged, runs.get(message))
        for message, (where, acknowledged) in self.ledger.posted.items():
            if where == thread and acknowledged and message not in present:
                self.wrong.append("%s: posted message %s is lost" % (thread, message))
        if len(self.wrong) > before:
            self.wrong.append("%s has at last %s" % (thread, [(m["role"], m["message_id"][-20:]) for m in messages[-16:]]))

    def check_turn(self, message, text, final, acknowledged, after):
        said = [part.get("text") for m in after or [] for part in m["content"] if m["role"] == "assistant" and part.get("text")]
        if acknowledged and after is None:
            self.wrong.append("the turn %s (%s) is lost" % (message, text))
        elif acknowledged and not (said and is_answer(text, final, said[-1])):
            self.wrong.append("the turn %s (%s) lost its answer: %s" % (message, text, said))
        elif len(said) > 1 or said and not is_answer(text, final, said[0]):
            self.wrong.append("the turn %s (%s) has %s" % (message, text, said))

    def check_states(self):
        for thread in sorted(self.threads()):
            status, answer = self.fetch("/v1/threads/%s/state" % thread)
            state = answer["data"]["state"] if status == 200 and answer else {}
            for (where, key), acknowledged in self.ledger.marks.items():
                if where == thread and acknowledged and key not in (state.get("marks") or {}):
                    self.wrong.append("%s: the mark %s is lost" % (thread, key))
            notes = state.get("notes") or []
            for where, text, _, acknowledged in self.ledger.turns.values():
                if where == thread and text.startswith("/note ") and not acknowledged <= notes.count(text) <= 1:
                    self.wrong.append("%s: the note %s is there %d times" % (thread, text, notes.count(text)))

    def check_files(self):
        for file, (digest, size) in self.ledger.files.items():
            status, data = 0, b""
            for _ in range(5):
                status, data = self.client.request("GET", "/v1/files/" + file)
                if status in (200, 404):
                    break
                time.sleep(0.5)
            if status != 200 or hashlib.sha256(data).hexdigest() != digest:
                self.wrong.append("the file %s is answered with %d and %d bytes of %d" % (file, status, len(data), size))

    def check_memories(self):
        for memory, allowed in self.ledger.memories.items():
            for _ in range(5):
                status, answer = self.client.json("POST", "/v1/store/memories/" + memory)
                if status in (200, 404):
                    break
                time.sleep(0.5)
            content = answer["data"]["memory"]["content"] if status == 200 else None
            if status not in (200, 404) or content not in allowed:
                self.wrong.append("memory %s is answered with %d %s, not one of %s" % (memory, status, content, allowed))

    def check_deleted(self):
        for thread, acknowledged in self.ledger.deleted.items():
            if acknowledged and self.fetch("/v1/threads/" + thread)[0] != 404:
                self.wrong.append("the deleted thread %s is there" % thread)

    def check_list(self):
        listed, offset = set(), 0
        while True:
            status, answer = self.fetch("/v1/threads?limit=100&offset=%d" % offset)
            page = answer["data"]["threads"] if status == 200 and answer else []
            for thread in page:
                if thread["thread_id"] in listed:
                    self.wrong.append("the thread %s is listed twice" % thread["thread_id"])
                listed.add(thread["thread_id"])
            if not page:
                break
            offset += len(page)
        for thread, acknowledged in self.ledger.deleted.items():
            if acknowledged and thread in listed:
                self.wrong.append("the deleted thread %s is listed" % thread)
        for where, _, _, acknowledged in self.ledger.turns.values():
            if acknowledged and where not in listed:
                self.wrong.append("the thread %s is not listed" % where)

    def check(self):
        for thread in sorted(self.threads()):
            self.check_thread(thread)
        self.check_states()
        self.check_files()
        self.check_memories()
        self.check_deleted()
        self.check_list()
        return self.wrong


def orphaned_bytes(uploads, database):
    """Files without a record, and records without a file; for a service that has just been started."""
    import sqlite3
    names = set()
    for folder, _, files in os.walk(uploads):
        names.update(("incoming/" if os.path.basename(folder) == "incoming" else "") + f for f in files)
    with sqlite3.connect("file:%s?mode=ro" % database, uri=True) as db:
        known = {row[0] for row in db.execute("SELECT file_id FROM files")}
    return names - known, known - names
