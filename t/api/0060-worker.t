#!/bin/sh
# SPDX-License-Identifier: ISC
# The worker as a process: its options, and how it ends.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

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

# slow_run MS: one in the background that takes so long, and is under way; its status goes to the file slow.
slow_run() {
	rm -f slow
	mkdir -p apart
	(
		trap - EXIT
		WORK=$WORK/apart
		api POST /v1/graph/invoke "$(run_body "[$(user "/slow 1 $1")]" "$(thread slow)")"
		header Status >slow
	) &
	slow_pid=$!
	wait_for 20 is_running slow || diag 'the run did not begin'
}

api_start --drain 60
slow_run 3000
start=$(date +%s%N)
kill "$SERVE_PID"
wait "$slow_pid"
is "$(cat slow)" '200 OK' 'a request in hand ends when the service is stopped'
wait "$SERVE_PID"
is $? 0 'and the service ends cleanly'
ok "[ $((($(date +%s%N) - start) / 1000000)) -lt 30000 ]" 'as soon as it can'
tap_pids=
STATE=

api_start
pid=$(worker)
kill -9 "$SERVE_PID"
ok 'wait_for 20 gone "$pid"' 'a worker does not outlive its parent'
ok '[ ! -e "$SOCKET" ]' 'and removes the socket'
wait "$SERVE_PID" 2>/dev/null
tap_pids=
STATE=

api_start
pid=$(worker)
slow_run 3000
kill -9 "$SERVE_PID"
ok 'alive "$pid"' 'it lets requests in hand end all the same'
wait "$slow_pid"
is "$(cat slow)" '200 OK' 'and answers them'
ok 'wait_for 20 gone "$pid"' 'then it ends'
wait "$SERVE_PID" 2>/dev/null
tap_pids=

# What a worker does when its time is up; the service replaces it.
STATE=
api_start
pid=$(worker)
slow_run 20000
kill "$pid" "$pid"
sleep 0.3
ok "alive $pid" 'after one SIGTERM, or two at once, requests in hand go on'
kill "$pid"
ok "wait_for 30 gone $pid" 'a second one ends them'
wait "$slow_pid"
is "$(cat slow)" '' 'without an answer'
like "$(cat "$SERVE_ERR")" 'ended with requests in hand: 1$' 'and the log has that'
wait_for 20 worker
api GET /ping
is "$STATUS" 200 'another worker is there'

done_testing
