# SPDX-License-Identifier: ISC
"""Users of what outlives its request: runs in the background with their webhooks, and streams that are taken up again."""
import base64
import hashlib
import hmac
import http.client
import http.server
import json
import threading
import time

from load import Talker, User, is_answer
from client import run_body

SECRET = "whsec_" + base64.b64encode(b"chaos's own, and nobody else's.").decode()
OVER = ("completed", "interrupted", "stopped", "error")
ATTEMPTS = 100  # runs.max_attempts: more than any storm takes


class Receiver(http.server.ThreadingHTTPServer):
    """A receiver of webhooks; heard has for each run the ids that came with a good signature."""
    daemon_threads = True
    request_queue_size = 128

    def __init__(self):
        self.heard, self.bad, self.lock = {}, [], threading.Lock()
        super().__init__(("127.0.0.1", 0), Hook)
        self.url = "http://127.0.0.1:%d/" % self.server_port
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Hook(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        signed = b".".join([self.headers["webhook-id"].encode(), self.headers["webhook-timestamp"].encode(), body])
        right = hmac.new(base64.b64decode(SECRET[6:]), signed, hashlib.sha256).digest()
        run = json.loads(body)["data"]
        with self.server.lock:
            if self.headers["webhook-signature"] != "v1," + base64.b64encode(right).decode():
                self.server.bad.append(run["run_id"])
            self.server.heard.setdefault((run["thread_id"], run["run_id"]), []).append(
                (self.headers["webhook-id"], run["status"]))
        self.send_response(200)
        self.end_headers()


class Submitter(Talker):
    """Queues runs, and repeats each submission until it is acknowledged."""
    hook = None

    def act(self):
        message, turn = self.new_turn()
        # a thread keeps its last hundred runs
        turn[0] = "b%d-%s-%d-%d" % (self.number, self.seed, self.done // 300, self.random.randrange(6))
        body = run_body(turn[0], message, turn[1])
        body["config"]["run_id"], body["webhook"] = "r-" + message, self.hook + message
        end = time.monotonic() + 60
        while time.monotonic() < end:
            ok, _ = self.write("POST", "/v1/graph/runs", body, "submit", ("QUEUE_FULL",))
            if ok:
                self.ledger.queued[turn[0], "r-" + message] = turn
                return
            time.sleep(0.3)

    def judge(self, what, status, answer, more=()):
        if status == 202:
            self.ledger.count(status)
            return True
        return super().judge(what, status, answer, more)


class Follower(User):
    """Reads streams that are kept, is cut off in the middle, and goes on elsewhere."""

    def act(self):
        message = self.next_id()
        # A thread keeps its last hundred runs.
        thread, run, text = "f%d-%s-%d" % (self.number, self.seed, self.done // 100), "r-" + message, "/slow text " + message
        body = run_body(thread, message, text)
        body["config"]["run_id"], body["resumable"], body["response_granularity"] = run, True, "full"
        self.ledger.turns[message] = turn = [thread, text, "ran: " + text, False]
        chunks, path = [], "/v1/threads/%s/runs/%s/stream" % (thread, run)
        steps, expired = self.ledger.clock_steps(), False
        leave = self.random.choice([0, 1, 2, 3, 1000])
        status = self.read("POST", "/v1/graph/stream", body, chunks, leave)
        self.ledger.count(status)
        last, end = status, time.monotonic() + 90
        while not is_over(chunks) and not expired and time.monotonic() < end and (chunks or status == 200):
            while chunks and "seq" not in chunks[-1]["metadata"]:
                chunks.pop()
            after = len(chunks)
            status = self.read("GET", path + "?after=%d" % after, None, chunks, self.random.choice([1, 3, 1000]))
            if status == 404 and not chunks:
                break
            # after a step of the clock the chunks may be gone before the last one was read
            expired = status == 409 and self.ledger.expires and steps != self.ledger.clock_steps()
            if len(chunks) == after:
                time.sleep(0.3)
            last, status = status, 200
        turn[3] = ended_well(chunks)
        # Chunks that could not be stored have no numbers, and are not kept.
        kept = [c for c in chunks if "seq" in c["metadata"]]
        if kept:
            self.ledger.streams[thread, run] = kept, is_over(chunks) or expired, last

    def read(self, method, path, body, chunks, leave):
        """Reads at most leave chunks; returns the status."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"} if body else {})
            answer = connection.getresponse()
            if answer.status != 200:
                return answer.status
            for line in answer:
                if leave <= 0 or not line.endswith(b"\n"):
                    break
                if line.strip():
                    chunks.append(json.loads(line))
                    leave -= 1
            return 200
        except (OSError, http.client.HTTPException, ValueError):
            return 0
        finally:
            connection.close()


def is_over(chunks):
    return bool(chunks) and chunks[-1].get("event") == "updates" and (chunks[-1].get("data") or {}).get("status") == "done"


def ended_well(chunks):
    return is_over(chunks) and not any(c.get("event") == "error" for c in chunks)


# ---- what is there afterwards ----

def check_streams(client, ledger):
    """Checks each stream that was read: it is numbered without a gap, and the same when it is read once more."""
    wrong = []
    for (thread, run), (chunks, over, last) in ledger.streams.items():
        numbers = [c["metadata"]["seq"] for c in chunks]
        if numbers != list(range(1, len(chunks) + 1)):
            wrong.append("%s %s has the numbers %s" % (thread, run, numbers))
        if not over:
            wrong.append("%s %s has no end, but status %d: %s" % (thread, run, last, json.dumps(chunks[-1])[:200]))
        status, text = client.request("GET", "/v1/threads/%s/runs/%s/stream" % (thread, run))
        if status == 409 and ledger.expires:
            continue
        again = [json.loads(line) for line in text.splitlines() if line.strip()] if status == 200 else []
        if again[:len(chunks)] != chunks:
            differ = next((i for i, c in enumerate(chunks) if i >= len(again) or again[i] != c), None)
            wrong.append("%s %s is read otherwise, status %d: chunk %d was %s" % (
                thread, run, status, differ + 1, json.dumps(chunks[differ])[:200]))
    return wrong


def check_told(client, ledger):
    """Checks that each message of a run is whole in its stream, once and in order, whatever died meanwhile.  Only a node
    that was executed once more may have others there."""
    wrong = []
    for thread, run in [*ledger.streams, *ledger.queued]:
        path = "/v1/threads/%s/runs/%s/" % (thread, run)
        code, result = client.json("GET", path + "result")
        status, text = client.request("GET", path + "stream")
        if code != 200 or status != 200:
            continue
        made = [m["message_id"] for m in result["data"]["messages"] if m["role"] != "user"]
        chunks = [json.loads(line) for line in text.splitlines() if line.strip()]
        restarts = [i for i, c in enumerate(chunks) if (c["data"] or {}).get("status") == "restarted"]
        told = [c["message"]["message_id"] for i, c in enumerate(chunks) if c["event"] == "message" and not c["message"]["delta"]
                and (c["message"]["message_id"] in made or i > max(restarts, default=-1))]
        if told != made:
            wrong.append("%s %s has told %s of %s" % (thread, run, told, made))
    return wrong


class Ends:
    """How the queued runs ended."""

    def __init__(self, client, ledger, receiver):
        self.client, self.ledger, self.receiver = client, ledger, receiver
        self.status, self.reason, self.lost = {}, {}, []

    def left(self):
        """The runs that are not over."""
        for (thread, run) in self.ledger.queued:
            if self.status.get((thread, run)) not in OVER:
                code, answer = self.client.json("GET", "/v1/threads/%s/runs/%s" % (thread, run))
                record = answer["data"] if code == 200 else {"status": "%d" % code}
                self.status[thread, run] = record["status"]
                self.reason[thread, run] = record["error"]["code"] if record.get("error") else record["status"]
                if self.reason[thread, run] == "RUN_LOST":
                    self.lost.append("%s %s: %s" % (thread, run, json.dumps(record)))
        return ["%s %s: %s" % (*key, status) for key, status in self.status.items() if status not in OVER]

    def acknowledge(self):
        """Notes for each run in the ledger whether its answer must be there."""
        for key, turn in self.ledger.queued.items():
            turn[3] = self.status.get(key) == "completed"

    def untold(self):
        with self.receiver.lock:
            return ["%s %s" % key for key in self.ledger.queued if key not in self.receiver.heard]

    def check(self):
        wrong = ["the signature of %s is wrong" % run for run in self.receiver.bad]
        wrong += ["lost as often as no storm can: " + run for run in self.lost]
        for key, told in self.receiver.heard.items():
            if len({hook for hook, _ in told}) != 1:
                wrong.append("%s %s is told under the ids %s" % (*key, told))
            if key in self.status and {status for _, status in told} != {self.status[key]}:
                wrong.append("%s %s is %s, and told as %s" % (*key, self.status[key], told))
        return wrong
