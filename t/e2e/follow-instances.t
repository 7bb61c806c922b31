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
    connection = http.client.HTTPConnection(where, timeout=60)
    connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
    return connection.getresponse()


def chunks(where, method, path, body, into):
    for line in answer(where, method, path, body):
        if line.strip():
            into[json.loads(line)["metadata"]["seq"]] = time.monotonic()


def say(fact, name):
    print("ok" if fact else "failed", name)


text, config = "/slow 40 50", {"thread_id": "t", "run_id": "r1"}
own, other = {}, {}
body = {"messages": [{"role": "user", "content": text}], "config": config, "recursion_limit": 90, "resumable": True,
        "response_granularity": "full"}
reader = threading.Thread(target=chunks, args=(RUNS, "POST", "/v1/graph/stream", body, own))
reader.start()
while len(own) < 3:
    time.sleep(0.01)
chunks(FOLLOWS, "GET", "/v1/threads/t/runs/r1/stream?response_granularity=full", None, other)
reader.join()
say(sorted(own) == sorted(other), "a stream is followed on another instance to its end")
late = sorted(other[seq] - own[seq] for seq in own if seq in other and seq > 8) or [99]
print("#", f"later by {statistics.median(late) * 1000:.0f} ms in the middle, {late[-1] * 1000:.0f} ms at most")
say(statistics.median(late) < 0.5, "without waiting for more than it has to")

queued = {"messages": [{"role": "user", "content": "/slow 10 100"}], "config": {"thread_id": "q", "run_id": "r1"}}
say(answer(RUNS, "POST", "/v1/graph/runs", queued).status == 202, "a run is queued")
result = answer(FOLLOWS, "GET", "/v1/threads/q/runs/r1/result?wait=30")
say(result.status == 200, "its result is waited for on whichever instance")
say("/slow 10 100" in result.read().decode(), "and is there")
PYTHON

STATE=$WORK/state
database_of "$STATE"
PG=$PG_DIR
PG_DIR= # both have the address that is set now
trap '"$TOP_SRCDIR/t/postgresql-server" stop "$PG"; tap_end' EXIT
printf '{"agent":"builtin:demo","runs":{"background":2}}\n' >agentgraph.json
STATE=$WORK/a
mkdir -m 700 "$STATE"
serve_start || tap_bail 'the first instance does not start'
first=$BASE
STATE=$WORK/b
mkdir -m 700 "$STATE"
serve_start || tap_bail 'the second instance does not start'
python3 follow.py "$first" "$BASE" >facts 2>errors
is $? 0 'the facts were looked at'
diag "$(cat errors)"
tap_report <facts
done_testing
