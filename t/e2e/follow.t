#!/bin/sh
# SPDX-License-Identifier: ISC
# Streams that are taken up again and results that are waited for, through nginx and agentgraph-follow: what readers
# see, many of them, bad ones, and what happens when a process on the way dies.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
export ASAN_OPTIONS="${ASAN_OPTIONS-}:quarantine_size_mb=8" # else what was freed stays
for tool in python3 sqlite3; do
	command -v $tool >/dev/null || tap_skip_all "$tool is not installed"
done
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'

cat >follow.py <<'PYTHON'
"""Facts about streams and waits: one a function, named by its first line."""
import asyncio
import glob
import http.client
import json
import os
import resource
import signal
import socket
import sqlite3
import sys
import time

from facts import children, fact, same, tell

HOST, PORT = sys.argv[1].split("//")[1].split(":")
SERVE, STATE, CROWD = int(sys.argv[2]), sys.argv[3], int(sys.argv[4])

# ---- requests

class Answer:
    """One that is read as it comes; whole says whether it came to its end."""

    def __init__(self, method, path, body=None, headers=None):
        self.connection = http.client.HTTPConnection(HOST, PORT, timeout=60)
        head = {"Content-Type": "application/json"} if body is not None else {}
        self.connection.request(method, path, None if body is None else json.dumps(body), {**head, **(headers or {})})
        self.response = self.connection.getresponse()
        self.status = self.response.status
        self.whole, self.left = False, None

    def header(self, name):
        return self.response.getheader(name)

    def pieces(self):
        """Chunks of HTTP, which http.client would take for whole where they are not."""
        body = self.response.fp
        while (size := body.readline()):
            content = body.read(int(size, 16))
            self.whole = int(size, 16) == 0
            if len(content) < int(size, 16) or self.whole:
                return
            yield content
            body.readline()

    def lines(self):
        begun = []
        for piece in self.pieces():
            first, *others = piece.split(b"\n")
            begun.append(first)
            for other in others:
                yield b"".join(begun).decode()
                begun = [other]
        self.connection.close()

    def chunks(self):
        """Those that were not taken yet."""
        self.left = self.left or map(json.loads, self.lines())
        return self.left

    def json(self):
        content = self.response.read()
        self.connection.close()
        return json.loads(content)


def ask(method, path, body=None, headers=None):
    return Answer(method, path, body, headers)


def begin(text, thread, run):
    """A stream that is kept; its client reads when it likes."""
    return ask("POST", "/v1/graph/stream", {"messages": [{"role": "user", "content": text}], "resumable": True,
               "config": {"thread_id": thread, "run_id": run}, "response_granularity": "full", "recursion_limit": 100})


def stream_path(thread, run, **query):
    words = "&".join(f"{k}={v}" for k, v in query.items())
    return f"/v1/threads/{thread}/runs/{run}/stream" + (f"?{words}" if words else "")


def follow(thread, run, headers=None, **query):
    return ask("GET", stream_path(thread, run, **query), headers=headers)


def texts(chunks):
    """Of the messages that are told whole."""
    return [c["message"]["content"][0]["text"] for c in chunks if c["event"] == "message" and not c["message"]["delta"]]


def cut(run):
    """As if its process had died before more than its first chunk was on disk."""
    of_it = " WHERE (thread, number) IN (SELECT thread, number FROM runs WHERE run_id = ?)"
    with sqlite3.connect(f"{STATE}/threads.db", timeout=30) as db:
        db.execute("DELETE FROM chunks" + of_it + " AND seq > 1", (run,))
        assert db.execute("UPDATE chunks SET count = 1, lines = substr(lines, 1, instr(lines, char(10)))" + of_it, (run,)).rowcount
        db.execute("UPDATE runs SET finished_at = finished_at + 3600000000" + of_it, (run,))


def numbers(chunks):
    return [c["metadata"].get("seq") for c in chunks]


def ends(chunk):
    return chunk["event"] == "updates" and chunk["data"]["status"] == "done"


def in_order(chunks):
    same(numbers(chunks), list(range(1, len(chunks) + 1)))
    assert ends(chunks[-1]), "there is no terminator"


def result(thread, run, wait):
    return ask("GET", f"/v1/threads/{thread}/runs/{run}/result?wait={wait}")


# ---- the service

def member(program):
    for pid in children(SERVE):
        try:
            if os.path.basename(os.readlink(f"/proc/{pid}/exe")) == program:
                return pid
        except OSError:
            pass
    return None


def peak(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM"))


def ticks(pid):
    """Of its processor time, a hundred a second."""
    with open(f"/proc/{pid}/stat") as f:
        return sum(map(int, f.read().rpartition(")")[2].split()[11:13]))


def until(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.05)


# ---- what readers see

@fact
def middle():
    """a run is followed from its beginning while it goes on, and from the middle, and all see the same"""
    live = begin("/slow 6 150", "t", "middle")
    early = follow("t", "middle")
    seen = [next(early.chunks())] + list(early.chunks())
    told = list(live.chunks())
    in_order(told)
    same(seen, told)
    late = follow("t", "middle", after=11)
    same(list(late.chunks()), told[11:])
    assert early.whole and late.whole
    same(early.header("Content-Type"), "text/event-stream; charset=utf-8")
    same(early.header("X-Accel-Buffering"), "no")
    assert early.header("X-Request-ID") and early.header("X-Content-Type-Options") == "nosniff"


@fact
def both():
    """somebody who comes while the run goes on gets what was, and then what comes, without a gap"""
    live = begin("/slow 8 150", "t", "both")
    chunks = live.chunks()
    for _ in range(12):
        next(chunks)
    seen = list(follow("t", "both", after=3).chunks())
    same(numbers(seen), list(range(4, 4 + len(seen))))
    assert ends(seen[-1])
    list(chunks)


@fact
def granularity():
    """with less granularity chunks are left out, and the others keep their numbers"""
    live = begin("/add 2 3", "t", "less")
    told = list(live.chunks())
    for level in "partial", "low":
        stream = ask("POST", "/v1/graph/stream", {"messages": [{"role": "user", "content": "/add 2 3"}],
                     "response_granularity": level, "config": {"thread_id": "shape"}})
        shapes = [(c["event"], c["data"] and c["data"]["status"]) for c in stream.chunks()]
        seen = list(follow("t", "less", response_granularity=level).chunks())
        same([(c["event"], c["data"] and c["data"]["status"]) for c in seen], shapes)
        assert set(numbers(seen)) < set(numbers(told))
        same([c for c in seen if c["state"]] == [], level == "low")


def events(answer):
    """The server-sent events: id, event, data; comments are None."""
    event = {}
    for line in answer.lines():
        if line.startswith(":"):
            yield None
        elif line:
            name, value = line.split(": ", 1)
            event[name] = value
        elif event:
            yield event
            event = {}


@fact
def server_sent():
    """as server-sent events each has its number and name, and the last one that was seen is where it goes on"""
    told = list(begin("hello to you", "t", "sse").chunks())
    accept = {"Accept": "text/event-stream"}
    seen = list(events(follow("t", "sse", accept)))
    same([int(e["id"]) for e in seen], numbers(told))
    same([e["event"] for e in seen], [c["event"] for c in told])
    same([json.loads(e["data"]) for e in seen], told)
    again = list(events(follow("t", "sse", {**accept, "Last-Event-ID": "4"})))
    same(again, seen[4:])
    same(follow("t", "sse", {**accept, "Last-Event-ID": str(len(told))}).status, 204)


@fact
def silence():
    """in a long silence there is a comment, and lines stay lines"""
    accept = {"Accept": "text/event-stream"}
    live = begin("/slow 1 20000", "t", "silent")
    answer = follow("t", "silent", accept)
    lines = follow("t", "silent")
    # its first chunk comes in the middle of the silence, and is not for this reader
    ask("POST", "/v1/graph/runs", {"messages": [{"role": "user", "content": "/slow 1 12000"}], "delay": 8,
        "config": {"thread_id": "unseen", "run_id": "unseen"}}).json()
    less = follow("unseen", "unseen", accept, response_granularity="low")
    seen = list(events(answer))
    assert None in seen, "nothing was said"
    same(next(events(less)), None)
    same([int(e["id"]) for e in seen if e], numbers(list(lines.chunks())))
    list(live.chunks())


@fact
def waiting():
    """a result that is waited for comes with the end of the run, and counts once"""
    live = begin("/slow 4 250", "t", "waited")
    before = int(ask("GET", "/v1/graph").header("X-RateLimit-Remaining"))
    began = time.monotonic()
    answer = result("t", "waited", 60)
    same(answer.status, 200)
    assert time.monotonic() - began < 55
    same(int(answer.header("X-RateLimit-Remaining")), before - 1)
    same(answer.json()["data"]["messages"][-1]["content"][0]["text"], "done")
    same(int(ask("GET", "/v1/graph").header("X-RateLimit-Remaining")), before - 2)
    list(live.chunks())


@fact
def in_vain():
    """a wait that is too short ends with the record"""
    live = begin("/slow 100 600", "t", "long")
    answer = result("t", "long", 0.5)
    same([answer.status, answer.json()["data"]["status"]], [202, "running"])
    ask("POST", "/v1/threads/t/runs/long/stop", {}).json()
    same(result("t", "long", 60).status, 200)
    same([c["data"]["status"] for c in follow("t", "long").chunks() if c["data"]][-2:], ["stopped", "done"])
    list(live.chunks())


@fact
def failed():
    """the result of a run that fails is its error, also after a wait"""
    live = begin("/slow 2 300", "fails", "wait")
    stream = ask("POST", "/v1/graph/runs", {"messages": [{"role": "user", "content": "/error oh"}],
                 "config": {"thread_id": "fails", "run_id": "bad"}})
    same(stream.status, 202)
    answer = result("fails", "bad", 60)
    same([answer.status, answer.json()["error_code"]], [500, "NODE_ERROR"])
    seen = list(follow("fails", "bad").chunks())
    in_order(seen)
    same(seen[-2]["data"]["error_code"], "NODE_ERROR")
    list(live.chunks())


@fact
def queued():
    """a run that is stopped in the queue has an end for who waits and who follows"""
    ask("POST", "/v1/graph/runs", {"messages": [{"role": "user", "content": "x"}], "delay": 3600,
        "config": {"thread_id": "queue", "run_id": "later"}}).json()
    reader = follow("queue", "later")
    ask("POST", "/v1/threads/queue/runs/later/stop", {}).json()
    seen = list(reader.chunks())
    in_order(seen)
    same([c["data"]["status"] for c in seen], ["stopped", "done"])
    same(seen[0]["data"], {"status": "stopped", "node": "START", "step": 0, "max_steps": None,
                           "reason": "Graph execution stopped by request"})
    same(result("queue", "later", 60).status, 200)
    same(list(follow("queue", "later").chunks()), seen)


@fact
def paused():
    """a run in the background that meets a pause tells of it, and leaves its thread, however soon it is followed"""
    list(begin("/ask well?", "paused", "asks").chunks())
    for run in (f"met{i}" for i in range(12)):
        ask("POST", "/v1/graph/runs", {"messages": [{"role": "user", "content": "x"}],
            "config": {"thread_id": "paused", "run_id": run}}).json()
        same(result("paused", run, 60).status, 200)
        same(ask("GET", "/v1/threads/paused").json()["data"]["thread_data"]["status"], "interrupted")
        seen = list(follow("paused", run).chunks())
        in_order(seen)
        same([(c["data"].get("interrupt") or {}).get("data") for c in seen], [{"question": "well?"}, None])
        same(["note" in c["data"] for c in seen], [True, False])


@fact
def queued_behind():
    """one that is stopped behind a run in flight has its end at once"""
    begin("/slow 1 2000", "behind", "flight")
    ask("POST", "/v1/graph/runs", {"messages": [{"role": "user", "content": "x"}],
        "config": {"thread_id": "behind", "run_id": "next"}}).json()
    reader = follow("behind", "next")
    ask("POST", "/v1/threads/behind/runs/next/stop", {}).json()
    same([c["data"]["status"] for c in reader.chunks()], ["stopped", "done"])
    same(ask("GET", "/v1/threads/behind/runs/flight").json()["data"]["status"], "running")


@fact
def deleted():
    """what was deleted is gone for who follows"""
    told = list(begin("my secret", "forget", "it").chunks())
    message = next(c["message"]["message_id"] for c in told if c["event"] == "message")
    same(ask("DELETE", f"/v1/threads/forget/messages/{message}").status, 200)
    text = "\n".join(follow("forget", "it").lines())
    assert "secret" in text, "what was asked is in the states"
    assert message not in text and "echo:" not in text
    users = ask("GET", "/v1/threads/forget/messages").json()["data"]["messages"]
    same(ask("DELETE", f"/v1/threads/forget/messages/{users[0]['message_id']}").status, 200)
    text = "\n".join(follow("forget", "it").lines())
    assert "secret" not in text
    assert ends(json.loads(text.split("\n")[-1]))


# ---- many

async def fetch(path, done):
    reader, writer = await asyncio.open_connection(HOST, PORT, limit=1 << 24)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n".encode())
    content = await reader.readuntil(b"\r\n\r\n") if "stream" in path else b""
    done["begun"] += 1
    content += await reader.read()
    writer.close()
    return content


async def crowd():
    done = {"begun": 0}
    readers = [asyncio.create_task(fetch(stream_path("t", "crowd"), done)) for _ in range(CROWD)]
    waiters = [asyncio.create_task(fetch("/v1/threads/t/runs/crowd/result?wait=300", done)) for _ in range(CROWD)]
    while done["begun"] < 2 * CROWD:
        await asyncio.sleep(0.05)
    quick = []
    for i in range(20):
        began = time.monotonic()
        same(await asyncio.to_thread(lambda: ask("GET", "/ping").status), 200)
        same(await asyncio.to_thread(lambda: ask("POST", "/v1/graph/invoke", {
            "messages": [{"role": "user", "content": "hi"}], "config": {"thread_id": f"side{i}"}}).status), 200)
        quick.append(time.monotonic() - began)
    ask("POST", "/v1/graph/stop", {"thread_id": "t"}).json()
    return await asyncio.gather(*readers), await asyncio.gather(*waiters), sorted(quick)[len(quick) // 2]


@fact
def many():
    """many follow one run and as many wait for it, while a pool of four threads answers as before"""
    live = begin("/slow 100 2500", "t", "crowd")
    streams, results, median = asyncio.run(crowd())
    told = list(live.chunks())
    in_order(told)
    bodies = {s.split(b"\r\n\r\n", 1)[1] for s in streams}
    for body in bodies:
        text, rest = b"", body
        while rest:
            size, rest = rest.split(b"\r\n", 1)
            text, rest = text + rest[:int(size, 16)], rest[int(size, 16) + 2:]
        same([json.loads(line) for line in text.splitlines()], told)
    same({r.split(b" ", 2)[1] for r in results}, {b"200"})
    print(f"why {len(streams)} readers, {len(results)} waits, ping and invoke in {median * 1000:.0f} ms")


@fact
def stuck():
    """one that reads nothing holds up nobody, costs little and is let go"""
    size, count = 1 << 20, 12
    for _ in range(count):
        same(ask("POST", "/v1/threads/large/messages", {
            "messages": [{"role": "user", "content": "x" * size}]}).status, 200)
    follower, before = member("agentgraph-follow"), peak(member("agentgraph-follow"))
    told = begin("/slow 3 10", "large", "run")
    stuck_ones = []
    for _ in range(10):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.connect((HOST, int(PORT)))
        s.sendall(f"GET {stream_path('large', 'run')} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
        stuck_ones.append(s)
    chunks = list(told.chunks())
    in_order(chunks)
    assert len(json.dumps(chunks)) > 5 * size * count
    same(list(follow("large", "run").chunks()), chunks)
    same(follower, member("agentgraph-follow"))
    grown = peak(follower) - before
    assert grown < 4 * size * count, f"it has grown by {grown} bytes"
    until(lambda: sockets(follower) < 10)
    for s in stuck_ones:
        s.close()


def sockets(pid):
    found = 0
    for path in glob.glob(f"/proc/{pid}/fd/*"):
        try:
            found += os.readlink(path).startswith("socket:")
        except OSError:
            pass
    return found


# ---- deaths

@fact
def ending_follower():
    """one that is to end rests while its readers read on, whoever comes meanwhile"""
    live = begin("/slow 100 500", "t", "ending")
    reader = follow("t", "ending")
    next(reader.chunks())
    ending = member("agentgraph-follow")
    os.kill(ending, signal.SIGTERM)
    late = socket.socket(socket.AF_UNIX)
    late.connect(f"{STATE}/run/follow.sock")
    time.sleep(0.1)
    before = ticks(ending)
    time.sleep(0.5)
    spent = ticks(ending) - before
    assert spent < 10, f"{spent} ticks in half a second"
    late.close()
    reader.connection.sock and reader.connection.sock.close()
    ask("POST", "/v1/threads/t/runs/ending/stop", {}).json()
    list(live.chunks())
    until(lambda: member("agentgraph-follow") not in (None, ending))


@fact
def dead_follower():
    """when agentgraph-follow dies its readers see that it was no end, and take it up again"""
    live = begin("/slow 100 500", "t", "cut")
    reader = follow("t", "cut")
    seen = []
    for chunk in reader.chunks():
        seen.append(chunk)
        if len(seen) == 8:
            first = member("agentgraph-follow")
            os.kill(first, signal.SIGKILL)
    assert not ends(seen[-1]) and not reader.whole, "it looks whole"
    until(lambda: member("agentgraph-follow") not in (None, first))
    ask("POST", "/v1/threads/t/runs/cut/stop", {}).json()
    rest = list(follow("t", "cut", after=len(seen)).chunks())
    told = list(live.chunks())
    same(seen + rest, told)


@fact
def dead_writer():
    """when the process of a run dies who follows it gets an end, once and for all"""
    live = begin("/slow 100 600", "t", "lost")
    chunks = live.chunks()
    told = [next(chunks) for _ in range(9)]
    reader = follow("t", "lost")
    seen = [next(reader.chunks())]
    os.kill(member("agentgraph-fcgi"), signal.SIGKILL)
    seen += list(reader.chunks())
    told += list(chunks)
    in_order(seen)
    same(seen[:len(told)], told)
    same([seen[-2]["event"], seen[-2]["data"]["error_code"]], ["error", "RUN_LOST"])
    until(lambda: ask("GET", "/ping").status == 200)
    same(list(follow("t", "lost").chunks()), seen)
    same(result("t", "lost", 10).status, 500)


@fact
def dead_untold():
    """and what it had stored and not told yet"""
    live = begin("/slow 100 300", "untold", "untold").chunks()
    while texts([next(live)]) != ["tick 2"]:
        pass
    os.kill(member("agentgraph-fcgi"), signal.SIGKILL)
    list(live)
    cut("untold")
    until(lambda: ask("GET", "/ping").status == 200)
    told = list(follow("untold", "untold").chunks())
    in_order(told)
    stored = ask("GET", "/v1/threads/untold/messages").json()["data"]["messages"]
    same(texts(told), [m["content"][0]["text"] for m in stored[1:]])
    same(texts(told)[:2], ["tick 1", "tick 2"])
    list(begin("hello", "untold", "next").chunks())
    same(list(follow("untold", "untold").chunks()), told)


@fact
def unended():
    """a run that its process has ended, but not its stream, gets its answer and its end at once"""
    list(begin("hello", "unended", "unended").chunks())
    cut("unended")
    told = list(follow("unended", "unended").chunks())
    in_order(told)
    same([(texts([c]), c["metadata"]["node"], c["metadata"]["step"]) for c in told[1:-1]], [(["echo: hello"], "agent", 1)])


@fact
def unended_behind():
    """also where the next run has the thread already, and whenever that was"""
    list(begin("hello", "behind", "first").chunks())
    live = begin("/slow 100 500", "behind", "second")
    next(live.chunks())
    cut("first")
    reader = follow("behind", "first")
    seen = [next(reader.chunks())]
    with sqlite3.connect(f"{STATE}/threads.db", timeout=30) as db:
        db.execute("UPDATE runs SET created_at = created_at + 3600000000 WHERE run_id = 'second'")
    told = seen + list(reader.chunks())
    same([c["metadata"]["seq"] for c in told], list(range(1, len(told) + 1)))
    same(told[-1]["data"]["status"], "done")
    same(ask("GET", "/v1/threads/behind/runs/second").json()["data"]["status"], "running")
    ask("POST", "/v1/threads/behind/runs/second/stop", {}).json()
    list(live.chunks())


@fact
def old():
    """chunks go when their time is over, and who asks is told"""
    list(begin("old", "t", "old").chunks())
    with sqlite3.connect(f"{STATE}/threads.db", timeout=30) as db:
        db.execute("UPDATE kept SET until = 1 WHERE (thread, number) IN"
                   " (SELECT thread, number FROM runs WHERE run_id = 'old')")
    answer = follow("t", "old")
    same([answer.status, answer.json()["error_code"]], [409, "RUN_NOT_RECORDED"])

    def gone():
        with sqlite3.connect(f"{STATE}/threads.db", timeout=30) as db:
            return db.execute("SELECT count(*) FROM chunks AS c JOIN runs AS r ON r.thread = c.thread"
                              " AND r.number = c.number WHERE run_id = 'old'").fetchone()[0] == 0

    # a worker looks for them a second after its start, and then once an hour
    os.kill(member("agentgraph-fcgi"), signal.SIGKILL)
    until(gone)


soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
tell()
PYTHON

printf '{"agent": "builtin:demo", "rate_limit": {"requests": 1000000, "window": 86400}}\n' >agentgraph.json
export AGENTGRAPH_SEND_TIMEOUT=12
serve_start --processes 1 --threads 4 || tap_bail 'the rest needs a service'
state=$STATE
like "$(stat -c '%a %F' "$STATE/run/follow.sock")" '^600 socket' "the follower's socket is for its owner alone"
crowd=1000
case ${CFLAGS-} in *-fsanitize*) crowd=100 ;; esac
# shellcheck disable=SC2086 # a list of words
PYTHONPATH=$TOP_SRCDIR/t/e2e python3 -B follow.py "$BASE" "$SERVE_PID" "$STATE" $crowd >facts 2>trouble || {
	ok 1 'the client came to its end'
	diag "$(cat trouble)"
}
tap_report <facts

# ---- its end

http POST /v1/graph/runs '{"messages":[{"role":"user","content":"x"}],"delay":3600,"config":{"thread_id":"end","run_id":"late"}}'
curl -sN "$BASE/v1/threads/end/runs/late/stream" >last.out 2>&1 &
last=$!
curl -s -o waited -w '%{http_code}' "$BASE/v1/threads/end/runs/late/result?wait=300" >code &
waiter=$!
readers() { [ "$(find "/proc/$(pgrep -P "$SERVE_PID" -f agentgraph-follow)/fd" -lname 'socket:*' | wc -l)" -ge 3 ]; }
wait_for 30 readers
serve_stop
is $? 0 'with readers a stop is a clean end too'
wait $last
ok "[ $? -ne 0 ]" 'whose streams are broken off'
wait $waiter
is "$(cat code)" 202 'and whoever waits for a result is told that there is none yet'
ok '[ ! -e "$state/run/follow.sock" ]' "no socket of the follower's is left"

# ---- a full disk

if [ "$(id -u)" -eq 0 ] && mkdir disk && mount -t tmpfs -o size=48m none disk 2>/dev/null; then
	unmount() {
		code=$?
		umount -l "$WORK/disk" 2>/dev/null
		(exit "$code")
		tap_end
	}
	trap unmount EXIT
	STATE=$WORK/disk/state
	# a node that says something until it has been told that it is enough: what fails first on the full disk is a chunk
	cat >talks.sh <<-'TALKS'
		#!/bin/sh
		read -r state
		case $state in *'"talk"'*)
			while [ ! -e enough ]; do
				echo '{"delta": "on "}'
				sleep 0.1
			done ;;
		esac
		echo '{"message": "well"}'
	TALKS
	chmod +x talks.sh
	printf '{"talker": {"nodes": {"talks": {"kind": "exec", "command": ["%s"], "input": "last"}},
		"edges": [{"from": "START", "to": "talks"}, {"from": "talks", "to": "END"}]}}\n' "$WORK/talks.sh" >agents.json
	printf '{"agent": "agents.json:talker"}\n' >disk.json
	serve_start --processes 1 --threads 4 --config disk.json
	ok $? 'a service starts on a small disk'
	http POST /v1/graph/invoke '{"messages":[{"role":"user","content":"hello"}],"config":{"thread_id":"d"}}'
	curl -sN "$BASE/v1/graph/stream" -H 'Content-Type: application/json' -d '{"messages":[{"role":"user","content":"talk"}],
		"resumable":true,"response_granularity":"full","config":{"thread_id":"d","run_id":"full"}}' >live &
	live=$!
	wait_for 20 grep -q '"seq":12' live
	curl -sN "$BASE/v1/threads/d/runs/full/stream" >reader &
	reader=$!
	wait_for 20 grep -q '"seq":12' reader
	dd if=/dev/zero of=disk/fill bs=4k >/dev/null 2>&1
	wait_for 60 grep -q '"metadata":{"is_new_thread"' live # a number would be its first member
	touch enough
	wait $live
	is "$(tail -1 live | jq -c '[.data.status, .metadata.seq]')" '["done",null]' 'on a full disk a run ends, and its client is told without numbers'
	rm disk/fill
	wait $reader
	jq -r .metadata.seq reader >reader.numbers
	is "$(cat reader.numbers)" "$(seq "$(wc -l <reader.numbers)")" 'who follows it has no gap'
	is "$(tail -2 reader | jq -r '.event + " " + .data.status' | paste -sd,)" 'error error,updates done' 'and an end, as soon as there is room'
	jq -c 'select(.metadata.seq)' live >numbered
	jq -c . reader | head -n "$(wc -l <numbered)" | cmp -s - numbered
	ok $? 'behind all that was shown'
	http POST /v1/graph/invoke '{"messages":[{"role":"user","content":"again"}],"config":{"thread_id":"d"}}'
	is "$STATUS" 200 'and it goes on'
	serve_stop
fi
done_testing
