#!/bin/sh
# The worker as a process: its options, and how it ends.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

"$AGENTGRAPH_FCGI" --routes >routes
ok $? 'the routes can be printed'
like "$(cat routes)" '^GET +/ping +public$' 'ping is public'
like "$(cat routes)" '^POST +/v1/graph/invoke +graph:invoke$' 'the others take a permission'
is "$(grep -c public routes)" 3 'and so are the reports of evaluations, and no other route'
like "$("$AGENTGRAPH_FCGI" --version)" '^agentgraph-fcgi [0-9]' 'it knows its version'
like "$("$AGENTGRAPH_FCGI" --help)" '^usage: ' 'and its usage'

# usage_error TEXT ARGUMENT...
usage_error() {
	text=$1
	shift
	"$AGENTGRAPH_FCGI" "$@" </dev/null >out 2>err
	is $? 2 "'$*' is a usage error"
	like "$(cat err)" "$text" 'which is explained'
}
usage_error 'threads must be a whole number from 1 to' --threads 0
usage_error 'threads must be a whole number' --threads many
usage_error 'drain must be a whole number' --drain -1
usage_error 'options only' here
usage_error 'lists the options' --nope

"$AGENTGRAPH_FCGI" --state "$WORK/none" </dev/null 2>err
is $? 1 'without a listening socket it does not start'
like "$(cat err)" 'descriptor 0 is not a listening socket' 'and says so'
ok '[ ! -e "$WORK/none" ]' 'before it has made anything'

worker() { pgrep -P "$SERVE_PID" -f agentgraph-fcgi | sed 1q; }
slow='{"messages":[{"role":"user","content":"/slow 1 1500"}]}'

# slow_run: one in the background that takes 1.5 seconds; its status goes to the file slow.
slow_run() {
	rm -f slow
	(
		trap - EXIT
		api POST /v1/graph/invoke "$slow"
		header Status >slow
	) &
	slow_pid=$!
	sleep 0.5
}

api_start
slow_run
start=$(date +%s%N)
kill "$SERVE_PID"
wait "$slow_pid"
is "$(cat slow)" '200 OK' 'a request in hand ends when the service is stopped'
wait "$SERVE_PID"
is $? 0 'and the service ends cleanly'
ok "[ $((($(date +%s%N) - start) / 1000000)) -lt 4000 ]" 'as soon as it can'
tap_pids=
STATE=

api_start
pid=$(worker)
kill -9 "$SERVE_PID"
ok 'wait_for 5 gone "$pid"' 'a worker does not outlive its parent'
ok '[ ! -e "$SOCKET" ]' 'and removes the socket'
wait "$SERVE_PID" 2>/dev/null
tap_pids=
STATE=

api_start
pid=$(worker)
slow_run
kill -9 "$SERVE_PID"
ok 'alive "$pid"' 'it lets requests in hand end all the same'
wait "$slow_pid"
is "$(cat slow)" '200 OK' 'and answers them'
ok 'wait_for 5 gone "$pid"' 'then it ends'
wait "$SERVE_PID" 2>/dev/null
tap_pids=

# What a worker does when its time is up; the service replaces it.
STATE=
api_start
pid=$(worker)
slow_run
kill "$pid"
kill "$pid"
sleep 0.3
ok "alive $pid" 'after one SIGTERM, or two at once, requests in hand go on'
kill "$pid"
ok "wait_for 1 gone $pid" 'a second one ends them'
wait "$slow_pid"
is "$(cat slow)" '' 'without an answer'
like "$(cat "$SERVE_ERR")" 'ended with requests in hand: 1$' 'and the log has that'
wait_for 5 worker
api GET /ping
is "$STATUS" 200 'another worker is there'

done_testing
