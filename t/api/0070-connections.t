#!/bin/sh
# SPDX-License-Identifier: ISC
# Connections that misbehave, and do not disturb the others.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/fastcgi.sh"

api_start
pid=$(pgrep -P "$SERVE_PID" -f agentgraph-fcgi)

(exec python3 "$WORK/raw.py" "$SOCKET" silent) >silent &
silent_pid=$!
wait_for 30 grep -q connected silent
start=$(date +%s%N)
for _ in 1 2 3 4 5 6 7 8 9 10; do api GET /ping; done
is "$STATUS" 200 'requests are answered beside silent connections'
ok "[ $((($(date +%s%N) - start) / 1000000)) -lt 30000 ]" 'without waiting for them'

like "$(raw keep GET /ping)" '"pong"' 'a connection that should be kept is answered and closed'

raw junk
like "$(raw ask GET /ping)" '"pong"' 'what is no FastCGI does no harm'
is "$(pgrep -P "$SERVE_PID" -f agentgraph-fcgi)" "$pid" 'the worker is still the same'

# A debugger, or a machine that is suspended, stops the worker while it waits for a request, and in the middle of one.
stopped() { kill -STOP "$pid" && sleep 0.2 && kill -CONT "$pid" && sleep 0.1; }
body='{"messages":[{"role":"user","content":"hello"}]}'
mkfifo go
raw halting POST /v1/graph/invoke "${#body}" "$body" <go >halting &
halting_pid=$!
exec 3>go
wait_for 30 grep -q connected halting
stopped
echo >&3
wait_for 30 grep -q half halting
sleep 0.2
stopped
echo >&3
exec 3>&-
wait "$halting_pid"
like "$(cat halting)" 'echo: hello' 'a worker that was stopped for a while answers what it had begun'
kill "$silent_pid"
wait "$silent_pid" 2>/dev/null

done_testing
