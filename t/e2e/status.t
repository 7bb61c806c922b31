#!/bin/sh
# SPDX-License-Identifier: ISC
# What the service says about itself: agentgraph status, the lines of its log, and the size of its pool by variables.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/e2e/load.sh"

# status [EXPRESSION]: of the JSON that the command prints; CODE is its exit status.
status() {
	"$AGENTGRAPH" status --state "$state" --json >said 2>complaint
	CODE=$?
	jq -c "${1-.}" said 2>/dev/null
}
status_is() { [ "$(status "$1")" = "$2" ]; }

state=$WORK/none
status >/dev/null
is "$? $CODE $(cat complaint)" "0 1 agentgraph: no service runs on $state" 'without a service it says so, and ends with 1'

echo "AGENTGRAPH_STATE_DIR=$state" >environment
is "$("$AGENTGRAPH" status --environment environment 2>&1)" "agentgraph: no service runs on $state" 'also of one that the variables of a service name'

is "$(GRAPH_PATH=gone.json "$AGENTGRAPH" status --state "$state" 2>&1 | grep -vc 'cannot read the configuration')" 0 \
	'but of a configuration that is not there only that'

state=$WORK/state
printf 'AGENTGRAPH_THREADS=7\nAGENTGRAPH_STATE_DIR=%s\n' "$state" >settings
echo '{"agent": "builtin:demo", "auth": null, "env": "settings"}' >agent.json
AGENTGRAPH_PROCESSES=3 AGENTGRAPH_LOG_FORMAT=json "$AGENTGRAPH" serve --config agent.json --listen 127.0.0.1:0 >out 2>err </dev/null &
SERVE_PID=$!
tap_pids="$SERVE_PID $tap_pids"
wait_for 60 grep -q '^agentgraph: serving' out || tap_bail 'the rest needs a service'
BASE=$(sed -n 's/^agentgraph: serving .* on //p' out)

is "$(workers | wc -l | tr -d ' ')" 3 'AGENTGRAPH_PROCESSES says how many workers there are'
wait_for 30 status_is '[.threads, .answers]' '[21,true]'
status >/dev/null
is "$CODE $(jq -c '[.threads, .phase, .pid, .agent, .answers]' said)" "0 [21,\"serving\",$SERVE_PID,\"builtin:demo\",true]" \
	'status says that the service is up; AGENTGRAPH_THREADS counts in the dotenv file, too'
is "$(status '.workers | map(.pid) | sort')" "$(workers | sort -n | jq -sc .)" 'it names the workers'
is "$(status '.workers | map(.serves) | unique')" '[true]' 'which serve'
is "$(status '[.runs_in_flight, .reloads.done, .reloads.last, .restarts.worker]')" '[0,0,0,0]' 'and nothing has happened yet'
ok '[ "$(status ".bytes[\"threads.db\"]")" -gt 4096 ]' 'the size of a database is there'
like "$("$AGENTGRAPH" status --state "$state")" '^agentgraph [0-9.]+, process [0-9]+, serving since 20[0-9-]+T' 'people get it in words'
if setpriv --reuid=12346 --clear-groups true 2>/dev/null && chmod 711 "$WORK"; then
	is "$(setpriv --reuid=12346 --clear-groups "$AGENTGRAPH" status --state "$state" 2>&1)" \
		"agentgraph: $state is not for this user to look into: ask as the service's" 'who may not look is not told that there is none'
fi

echo 'r id /slow 30 500' | turns 1 >answer &
turn=$!
ok 'wait_for 30 status_is .runs_in_flight 1' 'a run in flight is counted'
kill -9 "$(workers | head -n 1)"
ok 'wait_for 20 status_is .restarts.worker 1' 'so is a worker that was replaced'
kill "$turn" 2>/dev/null
wait "$turn" 2>/dev/null

echo '{' >agent.json
kill -HUP "$SERVE_PID"
ok 'wait_for 20 status_is "[.reloads.failed, .reloads.last_failed]" "[1,true]"' 'a reload that failed'
like "$("$AGENTGRAPH" status --config agent.json --state "$state" 2>&1)" '^last reload [^ ]*, which failed;' \
	'which people are told although the file is broken'
echo '{"agent": "builtin:demo", "auth": null, "env": "settings"}' >agent.json
mkdir -p elsewhere/run
printf 'AGENTGRAPH_THREADS=5\nAGENTGRAPH_STATE_DIR=%s\n' "$WORK/elsewhere" >settings
kill -HUP "$SERVE_PID"
ok 'wait_for 20 status_is "[.reloads.done, .reloads.last_failed]" "[1,false]"' 'and one that did not'
ok 'wait_for 60 status_is .threads 15' 'which takes another number of threads'
answers() { curl -s -f -o answer --max-time 5 "$BASE/ping"; }
ok 'wait_for 30 answers' 'but no other state directory, through nginx as well'
like "$(cat err)" "warning: the state directory changes only with a restart; it stays $state" 'as the log says'
is "$(ls -A elsewhere elsewhere/run | paste -sd' ')" 'elsewhere: run  elsewhere/run:' 'and nothing is made there'

# Stops also those that have just come in the place of others.
nobody_answers() {
	for pid in $(workers); do kill -STOP "$pid"; done
	status >/dev/null
	[ "$CODE" = 1 ]
}
ok 'wait_for 20 nobody_answers' 'when no worker answers it ends with 1'
for pid in $(workers); do kill -CONT "$pid"; done

kill "$SERVE_PID"
wait "$SERVE_PID"
is $? 0 'the service stops'
ok '[ ! -e "$state/run/status.json" ]' 'and leaves no status behind'
is "$(grep ' agentgraph\[' err) $(grep '^{' err | jq -sc 'any(.logger == "agentgraph")')" ' true' \
	'its log is in the format that was asked for'
for line in 'serves builtin:demo with 3 workers' 'ended by signal 9' 'SIGHUP: looking at the configuration' \
	'the service goes on with the one it has' 'reloaded configuration' 'SIGTERM: stopping' '"stopped"'; do
	ok "grep '^{' err | grep -qF '$line'" "it has: $line"
done

AGENTGRAPH_PROCESSES=0 AGENTGRAPH_THREADS=x AGENTGRAPH_DRAIN=-1 "$AGENTGRAPH" check --state other 2>bad
is $? 1 'check refuses sizes that are none'
is "$(grep -c 'AGENTGRAPH_\(PROCESSES\|THREADS\|DRAIN\).*expected' bad)" 3 'and says what was expected'
done_testing
