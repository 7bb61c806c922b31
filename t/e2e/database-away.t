#!/bin/sh
# SPDX-License-Identifier: ISC
# Two instances over one PostgreSQL, which goes away while they run, and the clock of one is wrong: runs in the
# background go on afterwards, and what was shown of a kept stream can be read again.
set -u
AGENTGRAPH_ENGINE=postgresql
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
need_websockets
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'
[ -e "$TOP_BUILDDIR/agentgraph-postgresql.so" ] || tap_skip_all 'the module for PostgreSQL was not built'
${CC:-cc} -shared -fPIC -o disturb.so "$TOP_SRCDIR/t/chaos/disturb.c" || tap_bail 'disturb.c does not compile'
head -c 24 /dev/zero >control

cat >facts.py <<'PYTHON'
"""facts.py BASE OTHER CRASH DIRECTORY CONTROL"""
import asyncio
import datetime
import http.client
import json
import struct
import subprocess
import sys
import threading
import time

import websockets

BASE, OTHER = (url.split("//")[1] for url in sys.argv[1:3])
CRASH, DIRECTORY, CONTROL = sys.argv[3:6]


def ask(where, method, path, body=None):
    connection = http.client.HTTPConnection(where, timeout=60)
    connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
    return connection.getresponse()


def data(where, method, path, body=None):
    answer = ask(where, method, path, body)
    return json.loads(answer.read()).get("data") if answer.status < 300 else {"status": answer.status}


def chunks(where, method, path, body=None, into=None):
    into = [] if into is None else into
    for line in ask(where, method, path, body):
        if line.strip():
            into.append(json.loads(line))
    return into


def run_body(text, thread, **more):
    return dict({"messages": [{"role": "user", "content": text}], "config": {"thread_id": thread, "run_id": "r"},
                 "recursion_limit": 90}, **more)


def until(seconds, what):
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.1)
    return what()


def texts(where, thread):
    return [block.get("text") for message in data(where, "GET", "/v1/threads/%s/messages" % thread)["messages"]
            for block in message["content"]]


def numbers(read):
    return [c["metadata"]["seq"] for c in read if "seq" in c["metadata"]]


def say(fact, name, *details):
    print("ok" if fact else "failed", name)
    for detail in details if not fact else ():
        print("#", str(detail)[:500])


def is_over(where, thread):
    return data(where, "GET", "/v1/threads/%s/runs/r" % thread)["status"] in ("completed", "error", "interrupted", "stopped")


def clock(seconds):
    with open(CONTROL, "r+b") as f:
        f.write(struct.pack("=q", seconds))


async def new_socket():
    """One that begins while there is no database is told so, and goes on when there is one."""
    async with websockets.connect("ws://%s/v1/graph/ws" % BASE) as ws:
        await ws.send('{"messages": [{"role": "user", "content": "hello"}]}')
        chunk = json.loads(await ws.recv())
        say((chunk["event"], chunk["data"]["error_code"]) == ("error", "TRANSIENT_STORAGE_ERROR"),
            "the first frame of a socket is refused for now", chunk)
        subprocess.run([CRASH, "crash", DIRECTORY])
        await ws.send('{"messages": [{"role": "user", "content": "hello"}]}')
        while chunk["event"] != "updates":
            chunk = json.loads(await asyncio.wait_for(ws.recv(), 30))
            if chunk["event"] == "error":
                await asyncio.sleep(0.3)
                await ws.send('{"messages": [{"role": "user", "content": "hello"}]}')
        say(chunk["data"]["status"] == "done", "and the next one, with the database there, is taken", chunk)


def away():
    """The database goes, while a stream is read and a run is in the background, and comes again."""
    text = "/slow 20 150"
    data(BASE, "POST", "/v1/graph/invoke", run_body(text, "calm"))
    seen = []
    reader = threading.Thread(target=chunks, args=(
        BASE, "POST", "/v1/graph/stream", run_body(text, "s", resumable=True, response_granularity="full"), seen))
    reader.start()
    say(ask(BASE, "POST", "/v1/graph/runs", run_body(text, "q")).status == 202, "a run is queued")
    until(20, lambda: len(seen) > 5 and data(OTHER, "GET", "/v1/threads/q/runs/r").get("step", 0) > 1)
    subprocess.run([CRASH, "crash", DIRECTORY + "."])
    time.sleep(2)
    asyncio.run(new_socket())
    reader.join()
    say(until(60, lambda: is_over(OTHER, "q") and is_over(OTHER, "s")), "every run comes to an end")
    record = data(OTHER, "GET", "/v1/threads/q/runs/r")
    say((record["status"], record["error"]) == ("completed", None), "that in the background as if nothing had been", record)
    say(1 < record["attempt"] <= 3, "with another attempt", record)
    say(texts(OTHER, "q") == texts(OTHER, "calm"), "nothing is missing, and nothing there twice", texts(OTHER, "q"))
    read = chunks(OTHER, "GET", "/v1/threads/q/runs/r/stream")
    say(numbers(read) == list(range(1, len(read) + 1)), "its chunks have neither gap nor repetition", numbers(read))
    told = [(c["data"] or {}).get("status") for c in read]
    say("restarted" in told and told[-1] == "done", "they tell of the attempt, and have an end", told)
    kept = [c for c in seen if "seq" in c["metadata"]]
    read = chunks(OTHER, "GET", "/v1/threads/s/runs/r/stream")
    say(len(kept) > 5 and numbers(kept) == list(range(1, len(kept) + 1)), "a stream was read", numbers(kept))
    say(read[:len(kept)] == kept, "all that was shown with a number is read again", len(kept), len(read))


def wrong():
    """The clock of the first instance is days behind, and then ahead."""
    clock(-2 * 86400)
    chunks(BASE, "POST", "/v1/graph/stream", run_body("hello", "past", resumable=True))
    clock(40 * 86400)
    for name, where in (("other", OTHER), ("same", BASE)):
        status = ask(where, "GET", "/v1/threads/past/runs/r/stream").status
        say(status == 200, "a stream that was kept two days ago, by a clock that was wrong, is there: " + name, status)
    at = datetime.datetime.fromisoformat(data(OTHER, "GET", "/v1/threads/past/runs/r")["created_at"].replace("Z", "+00:00"))
    say(abs(at.timestamp() - time.time()) < 60, "all times are those of the database", at)
    ask(BASE, "POST", "/v1/graph/runs", run_body("hello", "future"))
    clock(0)
    say(until(20, lambda: is_over(OTHER, "future")), "what was queued forty days ahead is executed")


wrong()
away()
PYTHON

CONTROL=$WORK/control
. "$TOP_SRCDIR/t/e2e/two-instances.sh"
"$python" -B facts.py "$first" "$BASE" "$TOP_SRCDIR/t/postgresql-server" "$PG" control >facts 2>errors
is $? 0 'the facts were looked at'
diag "$(cat errors)"
tap_report <facts
done_testing
