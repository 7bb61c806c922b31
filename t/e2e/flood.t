#!/bin/sh
# SPDX-License-Identifier: ISC
# A hundred thousand queued runs, of one thread and of many: invoke takes no longer than with an empty queue.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
for tool in python3 sqlite3; do
	command -v $tool >/dev/null || tap_skip_all "$tool is not installed"
done
: "${FLOOD:=100000}" "${REQUESTS:=60}"

cat >medians.py <<'PYTHON'
"""medians SOCKET SOCKET COUNT: median milliseconds of an invoke on a new thread, at each of both in turn."""
import json
import socket
import statistics
import struct
import sys
import time

BODY = json.dumps({"messages": [{"role": "user", "content": "hello"}]}).encode()
HEAD = {"REQUEST_METHOD": "POST", "REQUEST_URI": "/v1/graph/invoke", "SERVER_PROTOCOL": "HTTP/1.1", "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": "localhost", "CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(len(BODY))}


def record(kind, data):
    return struct.pack(">BBHHBB", 1, kind, 1, len(data), 0, 0) + data


REQUEST = (record(1, struct.pack(">HB5x", 1, 0))
           + record(4, b"".join(bytes([len(k), len(v)]) + k.encode() + v.encode() for k, v in HEAD.items())) + record(4, b"")
           + record(5, BODY) + record(5, b""))


def invoke(path):
    start = time.monotonic()
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(REQUEST)
        answer = b"".join(iter(lambda: s.recv(65536), b""))
    assert b"Status: 200" in answer, answer
    return (time.monotonic() - start) * 1000


took = [[invoke(path) for path in sys.argv[1:3]] for _ in range(int(sys.argv[3]))]
print(*(f"{statistics.median(column):.3f}" for column in zip(*took)))
PYTHON

printf '{"agent":"builtin:demo","runs":{"background":1}}\n' >agentgraph.json

# begin: a service whose only place for runs in the background is taken, so that whatever is queued stays so.
is_held() {
	api GET /v1/threads/held/runs/held
	[ "$(json .data.status "$BODY")" = running ]
}
begin() {
	STATE='' SOCKET=''
	api_start || tap_bail 'the service does not start'
	api POST /v1/graph/runs "$(run_body "[$(user '/slow 1 3600000')]" "$(thread held '"run_id":"held"')")"
	wait_for 30 is_held || tap_bail 'nothing is executed'
}
begin
empty=$SOCKET
begin

# ---- the flood: rows as submissions would have left them

sqlite3 "$STATE/threads.db" <<SQL || tap_bail 'the queue cannot be filled'
.timeout 60000
BEGIN IMMEDIATE;
CREATE TEMP TABLE n AS
WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < $FLOOD),
	base (t, j) AS (SELECT (SELECT max(row) FROM threads), (SELECT max(row) FROM jobs))
SELECT i, t + iif(i <= $FLOOD / 2, 1, i) AS t, iif(i <= $FLOOD / 2, i, 1) AS k, j + i AS j FROM n, base;
INSERT INTO threads (row, thread_id, user_id, created_at, updated_at, thread_name, metadata, last_number, status, stop,
	node, step, fields)
SELECT DISTINCT t, 'flood-' || t, 'anonymous', 1, 1, '', '{}', 0, 0, 0, 'START', 0, '{}' FROM n;
INSERT INTO jobs (row, thread, number, run_id, state, due_at, attempt, given_back, caller, metadata)
SELECT j, t, k, 'r' || i, k = 1, j, 0, 0, '{}', '{}' FROM n;
INSERT INTO job_bodies (row, body) SELECT j, '{}' FROM n;
INSERT INTO runs (thread, number, run_id, status, created_at, finished_at, node, step, prompt_tokens, completion_tokens,
	reasoning_tokens, total_tokens, messages_after, messages_until, brought, job)
SELECT t, k, 'r' || i, 6, j, 0, 'START', 0, 0, 0, 0, 0, 0, 0, 0, j FROM n;
INSERT INTO kept (thread, number, job) SELECT t, k, 1 FROM n;
COMMIT;
SQL
api GET "/v1/graph/runs?status=queued&limit=1000"
is "$STATUS $(json '.data.runs | length' "$BODY")" '200 1000' 'runs are queued'

python3 medians.py "$SOCKET" "$empty" 5 >warm # connections, statements and caches
medians=$(python3 medians.py "$SOCKET" "$empty" "$REQUESTS")
diag "median of an invoke with $FLOOD queued, and with none: $medians ms"
ok "echo '$medians' | awk '{ exit !(NF == 2 && \$1 < 4 * \$2) }'" 'they leave the time of an invoke as it was'
is "$(sqlite3 "$STATE/threads.db" "SELECT count(*) FROM jobs WHERE state < 3")" "$FLOOD" 'while all of them wait'

done_testing
