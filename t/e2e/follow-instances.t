#!/bin/sh
# SPDX-License-Identifier: ISC
# Two instances over one PostgreSQL: a stream is followed, and a result waited for, through the one
# that does not run it.
set -u
AGENTGRAPH_ENGINE=postgresql
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
command -v python3 >/dev/null || tap_skip_all 'python3 is not installed'
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'
[ -e "$TOP_BUILDDIR/agentgraph-postgresql.so" ] || tap_skip_all 'the module for PostgreSQL was not built'

cat >follow.py <<'PYTHON'
"""A stream read on the instance that runs it, and followed on the other one: the same chunks, and how much later."""
import http.client
import json
import statistics
import sys
import threading
import time

RUNS, FOLLOWS = (url.split("//")[1] for url in sys.argv[1:3])


def answer(where, method, path, body=None):
    connection = http.client.HTTPConnection(where, timeout=300)
    connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
    return connection.getresponse()


def chunks(where, method, path, body, into):
    for line in answer(where, method, path, body):
        if line.strip():
            into[json.loads(line)["metadata"]["seq"]] = time.monotonic()


def say(fact, name):
    print("ok" if fact else "failed", name)


def stream(text, thread, run):
    """The body of a stream, a thread that reads it, and when each chunk came."""
    body = {"messages": [{"role": "user", "content": text}], "config": {"thread_id": thread, "run_id": run}, "recursion_limit": 90,
            "resumable": True, "response_granularity": "full"}
    own = {}
    reader = threading.Thread(target=chunks, args=(RUNS, "POST", "/v1/graph/stream", body, own))
    reader.start()
    while len(own) < 3:
        time.sleep(0.005)
    return body, reader, own


def follow(run):
    """How much later the chunks of a stream came, in order, or None."""
    other = {}
    _, reader, own = stream("/slow 40 50", "t", run)
    chunks(FOLLOWS, "GET", f"/v1/threads/t/runs/{run}/stream?response_granularity=full", None, other)
    reader.join()
    late = sorted(other[seq] - own[seq] for seq in own if seq in other and seq > 8)
    print("#", f"later by {statistics.median(late) * 1000:.0f} ms in the middle, {late[-1] * 1000:.0f} ms at most")
    return late if sorted(own) == sorted(other) else None


def stop(run):
    """How long it takes from the order until the stream has ended."""
    _, reader, _ = stream("/slow 80 20", "h", run)
    begun = time.monotonic()
    answer(FOLLOWS, "POST", "/v1/graph/stop", {"thread_id": "h"}).read()
    reader.join()
    return time.monotonic() - begun


def lowest(measured):
    return min(statistics.median(times or [99]) for times in measured)


def best(measure, good):
    """Measures up to ten times, until the middle of some times is good; all that was measured."""
    measured = []
    while len(measured) < 10 and lowest(measured or [[]]) > good:
        measured.append(measure(len(measured)))
    return measured


def facts():
    # What takes its time here is mostly what else the machine does, so the best of some counts.
    followed = best(lambda i: follow(f"r{i}"), 0.02)
    say(None not in followed, "a stream is followed on another instance to its end")
    say(lowest(followed) <= 0.02, "at most 20 ms later, in the middle")
    stopped = best(lambda i: [stop(f"r{i}-{k}") for k in range(9)], 0.2)
    print("#", f"stopped after {lowest(stopped) * 1000:.0f} ms in the middle")
    say(lowest(stopped) <= 0.2, "a stop from there is heeded within 200 ms, in the middle")

    body = stream("hello", "t", "first")[0]
    wrong = []
    for i in range(30):
        run, own, other = f"short-{i}", {}, {}
        short = dict(body, messages=[{"role": "user", "content": "/slow 2 5"}], config={"thread_id": "s", "run_id": run})
        reader = threading.Thread(target=chunks, args=(RUNS, "POST", "/v1/graph/stream", short, own))
        reader.start()
        while not own:
            time.sleep(0.002)
        chunks(FOLLOWS, "GET", f"/v1/threads/s/runs/{run}/stream?response_granularity=full", None, other)
        reader.join()
        if sorted(own) != sorted(other):
            wrong.append((run, sorted(own), sorted(other)))
    say(not wrong, "short ones, too")
    print("#", wrong)

    queued = {"messages": [{"role": "user", "content": "/slow 10 100"}], "config": {"thread_id": "q", "run_id": "r1"}}
    say(answer(RUNS, "POST", "/v1/graph/runs", queued).status == 202, "a run is queued")
    result = answer(FOLLOWS, "GET", "/v1/threads/q/runs/r1/result?wait=30")
    say(result.status == 200, "its result is waited for on whichever instance")
    say("/slow 10 100" in result.read().decode(), "and is there")


if __name__ == "__main__":
    facts()
PYTHON

cat >lost.py <<'PYTHON'
"""An instance is killed, and the other one runs on the thread: who follows what was lost is told of its end meanwhile."""
import os
import signal
import sys
import threading
import time

from follow import FOLLOWS, RUNS, answer, chunks, say

body = {"messages": [{"role": "user", "content": "/slow 90 900"}], "config": {"thread_id": "d", "run_id": "lost"},
        "recursion_limit": 100, "resumable": True}


def read():
    try:
        chunks(RUNS, "POST", "/v1/graph/stream", body, {})
    except OSError:
        pass


threading.Thread(target=read, daemon=True).start()
while "running" not in answer(FOLLOWS, "GET", "/v1/threads/d/runs/lost").read().decode():
    time.sleep(0.05)
for pid in sys.argv[3:]:
    try:
        os.kill(int(pid), signal.SIGKILL)
    except ProcessLookupError:
        pass
next_run = dict(body, messages=[{"role": "user", "content": "/slow 90 900"}], config={"thread_id": "d", "run_id": "next"})
threading.Thread(target=lambda: answer(FOLLOWS, "POST", "/v1/graph/invoke", next_run), daemon=True).start()
while "running" not in answer(FOLLOWS, "GET", "/v1/threads/d/runs/next").read().decode():
    time.sleep(0.1)
seen = {}
chunks(FOLLOWS, "GET", "/v1/threads/d/runs/lost/stream", None, seen)
say(seen and sorted(seen) == list(range(1, len(seen) + 1)), "the stream of an instance that was killed has an end")
say("running" in answer(FOLLOWS, "GET", "/v1/threads/d/runs/next").read().decode(), "while another run has the thread")
PYTHON

. "$TOP_SRCDIR/t/e2e/two-instances.sh"
python3 -B follow.py "$first" "$BASE" >facts 2>errors
is $? 0 'the facts were looked at'
diag "$(cat errors)"
tap_report <facts
unlike "$(grep 'has no end' "$WORK"/err.*)" . 'nobody else ends what is about to end'
family() {
	echo "$1"
	for child in $(children "$1"); do family "$child"; done
}
# shellcheck disable=SC2046 # words
python3 -B lost.py "$first" "$BASE" $(family "$first_pid") >facts 2>errors
is $? 0 'so were those of one that is killed'
diag "$(cat errors)"
tap_report <facts
done_testing
