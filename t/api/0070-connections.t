#!/bin/sh
# Connections that misbehave do not disturb the others.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/fastcgi.sh"

api_start
pid=$(pgrep -P "$SERVE_PID" -f agentgraph-fcgi)

raw silent >silent &
silent_pid=$!
wait_for 5 grep -q connected silent
start=$(date +%s%N)
for _ in 1 2 3 4 5 6 7 8 9 10; do api GET /ping; done
is "$STATUS" 200 'requests are answered beside silent connections'
ok "[ $((($(date +%s%N) - start) / 1000000)) -lt 1500 ]" 'without waiting for them'

like "$(raw keep GET /ping)" '"pong"' 'a connection that should be kept is answered and closed'

raw junk
like "$(raw ask GET /ping)" '"pong"' 'what is no FastCGI does no harm'
is "$(pgrep -P "$SERVE_PID" -f agentgraph-fcgi)" "$pid" 'the worker is still the same'
kill "$silent_pid"
wait "$silent_pid" 2>/dev/null

done_testing
