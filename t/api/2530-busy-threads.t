#!/bin/sh
# SPDX-License-Identifier: ISC
# Runs on one thread never overlap: who waits, who is refused, who may read; and clients that go away.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

texts() {
	api GET "/v1/threads/$1/messages"
	json "$facts_words"'.data.messages | texts | join("|")' "$BODY"
}
not_running() { ! is_running "$1"; }

# ---- waiting

in_background first invoke '/slow 3 200' "$(thread t)"
wait_for 30 is_running t
invoke second "$(thread t)"
is "$STATUS" 200 'a second run waits for the first'
facts <<'TABLE'
and has its own answer :: said == ["second", "echo: second"]
TABLE
collect first
facts <<'TABLE'
as the first one has :: said[1:] == ["tick 1", "tick 2", "tick 3", "done"]
TABLE
is "$(texts t)" '/slow 3 200|tick 1|tick 2|tick 3|done|second|echo: second' 'they are stored one after the other'

in_background a invoke '/slow 2 150' "$(thread many)"
in_background b invoke '/slow 2 150' "$(thread many)"
in_background c stream '/slow 2 150' "$(thread many)"
in_background d invoke '/note d' "$(thread many)"
for name in a b c d; do
	collect $name
	is "$STATUS" 200 "of four runs at once $name succeeds"
done
is "$(texts many | tr '|' '\n' | grep -c .)" 14 'no message is lost'
is "$(texts many | tr '|' '\n' | grep -A 3 '^/slow' | tr '\n' ' ' | sed 's/-- //g')" \
	"$(for i in 1 2 3; do printf '/slow 2 150 tick 1 tick 2 done '; done)" 'nor do they mix'

in_background other invoke '/slow 100 500' "$(thread one),\"recursion_limit\":100"
wait_for 30 is_running one
invoke quick "$(thread two)"
is "$STATUS" 200 'another thread waits for nobody'
is_running one
ok $? 'as the first still runs'
api POST /v1/graph/stop '{"thread_id":"one"}'
collect other

# ---- many that wait
# On a worker of eight threads: four may wait, three of them for the same thread.

in_background crowded invoke '/slow 90 1000' "$(thread crowd),\"recursion_limit\":90"
wait_for 30 is_running crowd
for i in $(seq 60); do
	in_background "crowd$i" invoke "/note $i" "$(thread crowd)"
done
answered() { cat "$WORK"/crowd[0-9]*/status 2>/dev/null | grep -o 409 | wc -l; }
refused_at_once() { [ "$(answered)" -ge 57 ]; }
wait_for 20 refused_at_once
is "$(answered)" 57 'of sixty that come all but three are refused at once'
start=$(date +%s%N)
api GET /ping
took=$((($(date +%s%N) - start) / 1000000))
is "$STATUS" 200 'the others take nothing of the pool'
is_running crowd && [ "$took" -lt 30000 ]
ok $? "so that what waits for nothing is answered meanwhile ($took ms)"
in_background another invoke '/slow 2 200' "$(thread another)"
wait_for 30 is_running another
invoke hello "$(thread another)"
is "$STATUS" 200 'who waits for another thread has room'
api POST /v1/graph/stop '{"thread_id":"crowd"}'
for name in crowded another; do collect $name; done
for i in $(seq 60); do collect "crowd$i"; done
is "$(cat "$WORK"/crowd[0-9]*/status | sed 's/200/&\n/g; s/409/&\n/g' | sort | uniq -c | awk 'NF == 2 { print $1, $2 }' | paste -sd ' ')" '3 200 57 409' \
	'three have waited for their turn'
is "$(json '"\(.error_code) \(.detail)"' "$(cat "$(grep -l 409 "$WORK"/crowd[0-9]*/status | head -n 1 | sed 's/status$/body/')")")" \
	'THREAD_BUSY Thread crowd is busy with another run' 'the others know why'
invoke after "$(thread crowd)"
is "$STATUS" 200 'then the thread is free'

# ---- processes that die

in_background dies invoke '/slow 100 500' "$(thread dead),\"recursion_limit\":100"
ticked() { is_running dead && printf '%s' "$BODY" | grep -q '"tick 2"'; }
wait_for 30 ticked
kill -9 "$(workers)"
collect dies
replaced() { api GET /ping && [ "$STATUS" = 200 ] && [ -n "$BODY" ]; }
wait_for 30 replaced
ok $? 'a worker that is killed is replaced'
api GET /v1/threads/dead/state
facts <<'TABLE'
its run is over, with an error :: .data.state.execution_meta | [.is_running, .status, .is_interrupted, .is_stopped_requested] == [false, "error", false, false]
what was done is kept :: .data.state.context | texts[0:3] == ["/slow 100 500", "tick 1", "tick 2"]
TABLE
invoke hello "$(thread dead)"
facts <<'TABLE'
the thread can be used at once :: said == ["hello", "echo: hello"]
TABLE

# ---- clients that go away

# leaves ROUTE THREAD: a client that does not wait for the end of a run of eight seconds.
leaves() {
	in_background client api POST "/v1/graph/$1" "$(run_body "[$(user '/slow 5 1600')]" "$(thread "$2")")"
	wait_for 30 is_running "$2"
	# shellcheck disable=SC2154 # in_background sets it
	for process in $(children "$background_client"); do kill "$process"; done
	collect client 2>/dev/null
	is_running "$2"
	ok $? "the client of $1 is gone, the run goes on"
	wait_for 30 not_running "$2"
	is "$(texts "$2")" '/slow 5 1600|tick 1|tick 2|tick 3|tick 4|tick 5|done' 'and its result is stored'
	invoke hello "$(thread "$2")"
	is "$STATUS" 200 'the thread is free then'
}
leaves stream gone1
leaves invoke gone2
serve_stop

# ---- refused

printf '{"agent":"builtin:demo","runs":{"wait_timeout":0}}\n' >agentgraph.json
api_start --processes 3
invoke hi "$(thread busy)"
message=$(json '.data.messages[0].message_id' "$BODY")
in_background long invoke '/slow 90 500' "$(thread busy),\"recursion_limit\":90"
wait_for 30 is_running busy

# refused METHOD PATH [BODY]
refused() {
	api "$@"
	is "$STATUS|$(json '"\(.error_code)|\(.detail)|\(.error.details | length)"' "$BODY")" \
		'409|THREAD_BUSY|Thread busy is busy with another run|0' "$1 $2 is refused at once"
}
refused POST /v1/graph/invoke "$(run_body "[$(user x)]" "$(thread busy)")"
refused POST /v1/graph/stream "$(run_body "[$(user x)]" "$(thread busy)")"
is "$(header Content-Type)" application/json 'with a JSON body, before the stream begins'
refused POST /v1/graph/invoke "{\"resume\":1,$(thread busy)}"
refused PUT /v1/threads/busy/state '{"state":{"notes":["x"]}}'
api PUT /v1/threads/busy/state '{"state":{"notes":"x"}}'
is "$STATUS" 422 'what is wrong in itself is refused as such'
refused DELETE /v1/threads/busy/state '{}'
refused POST /v1/threads/busy/messages "$(run_body "[$(user x)]")"
refused DELETE "/v1/threads/busy/messages/$message" '{}'
refused POST /v1/graph/fix '{"thread_id":"busy"}'
refused DELETE /v1/threads/busy '{}'
refused PATCH /v1/threads/busy '{"thread_name":"x"}'
api POST /v1/threads '{"thread_id":"busy"}'
is "$STATUS|$(json .error_code "$BODY")" '409|THREAD_EXISTS' 'that it cannot be made is said without waiting'
for path in /v1/threads /v1/threads/busy /v1/threads/busy/state /v1/threads/busy/messages "/v1/threads/busy/messages/$message"; do
	api GET "$path"
	is "$STATUS" 200 "GET $path is answered meanwhile"
done
api POST /v1/graph/invoke "$(run_body "[$(user x '"message_id":true')]" "$(thread busy)")"
is "$STATUS" 422 'what is malformed is so before it is busy'
api POST /v1/graph/stop '{"thread_id":"busy"}'
is "$(json .data.running "$BODY")" true 'a stop does not wait'
collect long
is "$STATUS" 200 'the run ends'
invoke after "$(thread busy)"
is "$STATUS" 200 'then the thread is free'
unlike "$(texts busy)" '^x|[|]x([|]|$)' 'nothing of the refused requests was stored'
serve_stop

printf '{"agent":"builtin:demo","runs":{"wait_timeout":0.5}}\n' >agentgraph.json
in_background long invoke '/slow 100 1000' "$(thread busy),\"recursion_limit\":100"
wait_for 30 is_running busy
start=$(date +%s%N)
invoke x "$(thread busy)"
waited=$((($(date +%s%N) - start) / 1000000))
is "$STATUS" 409 'after the time to wait a run is refused'
[ "$waited" -ge 450 ] && [ "$waited" -lt 30000 ]
ok $? "and not before ($waited ms)"
api POST /v1/graph/stop '{"thread_id":"busy"}'
running=$(json .data.running "$BODY")
collect long
is "$running $STATUS" 'true 200' 'the other run is not disturbed'

done_testing
