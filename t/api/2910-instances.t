#!/bin/sh
# SPDX-License-Identifier: ISC
# Two instances over one PostgreSQL: each sees what the other one does; and what happens when one vanishes, or is cut
# off for a while.
set -u
AGENTGRAPH_ENGINE=postgresql
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
. "$TOP_SRCDIR/t/api/instances.sh"

# family PID: it, and all that descend from it.
family() {
	echo "$1"
	for child in $(children "$1"); do family "$child"; done
}
said() { json '"'"$STATUS"' \(.error_code) \(.detail)"' "$BODY"; }
texts() {
	api GET "/v1/threads/$1/messages"
	json "$facts_words"'.data.messages | texts | join("|")' "$BODY"
}
record() { api GET "/v1/threads/$1/runs/$2"; }
has_status() {
	record "$1" "$2"
	[ "$(json .data.status "$BODY")" = "$3" ]
}
thread_status() {
	api GET "/v1/threads/$1/state"
	json '.data.state.execution_meta | "\(.status) \(.is_running)"' "$BODY"
}
ids() { thread "$1" "\"run_id\":\"$2\""; }
queue() { api POST /v1/graph/runs "$(run_body "[$(user "$3")]" "$(ids "$1" "$2"),\"recursion_limit\":100")"; }
# long NAME THREAD STEPS MS: a run of so many steps of so many milliseconds in flight on the instance of that name.
long() {
	on "$1" in_background "long_$2" invoke "/slow $3 $4" "$(ids "$2" "run-$2"),\"recursion_limit\":100"
	on "$1" wait_for 30 is_running "$2"
}

. "$TOP_SRCDIR/t/e2e/receiver.sh"
printf '{"agent":"builtin:demo","runs":{"background":2,"webhooks":["%s/in"]},"run_wait_timeout":60}\n' "$RECEIVER" >agentgraph.json
mkdir -m 700 command
"$AGENTGRAPH" runs submit --message later --thread late --delay 3600 --state command >late
"$AGENTGRAPH" runs follow $(cat late) --state command >followed &
follower=$!
wait_for 20 test -s command/instance
begin a
begin b

# ---- a command over the same database was there before them

on a api POST /v1/graph/runs "$(run_body "[$(user hello)]" "\"webhook\":\"$RECEIVER/in\",$(thread told)")"
ok 'wait_for 20 grep -q told log' 'webhooks are sent by a service while a command is there'
ok 'kill -0 $follower' 'which it still is'
on a api POST /v1/graph/stop '{"thread_id":"late"}'
wait_for 20 gone $follower

# ---- one service

on a invoke hello "$(thread t)"
is "$STATUS" 200 'a run on one instance'
is "$(on b texts t)" 'hello|echo: hello' 'is there at once on the other one'
on b invoke again "$(thread t)"
is "$(on a texts t)" 'hello|echo: hello|again|echo: again' 'and goes on there'
on a api GET /v1/service
is "$(json '.data.instances | [length, (map(.id) | unique | length)] | map(tostring) | join(" ")' "$BODY")" '2 2' \
	'each tells of both'
is "$(cksum <"$state_a/ticket.key")" "$(cksum <"$state_b/ticket.key")" 'tickets have one key'

# ---- one run at a time

long a busy 30 100
is "$(on b thread_status busy)" 'running true' 'a run is seen to run'
on b api POST /v1/graph/invoke "$(run_body "[$(user now)]" "$(thread busy),\"multitask_strategy\":\"reject\"")"
like "$(said)" '^409 THREAD_BUSY' 'another one is refused where it may not wait'
on b in_background after invoke then "$(thread busy)"
on a collect long_busy
is "$STATUS" 200 'the first one ends'
on b collect after
is "$STATUS" 200 'one that may wait has its turn'
like "$(on a texts busy)" '\|then\|echo: then$' 'behind it'

# ---- stops

long a halted 90 300
before=$(date +%s%N)
on b api POST /v1/graph/stop '{"thread_id":"halted"}'
is "$STATUS" 200 'another instance can stop it'
on a collect long_halted
took=$((($(date +%s%N) - before) / 1000000))
is "$STATUS" 200 'it ends'
ok "[ $took -lt 20000 ]" 'soon'
diag "seen and ended after $took ms"
ok 'on b has_status halted run-halted stopped' 'as one that was stopped'
long a turned 90 300
on b api POST /v1/graph/invoke "$(run_body "[$(user instead)]" "$(thread turned),\"multitask_strategy\":\"interrupt\"")"
is "$STATUS" 200 'a run takes the place of one on another instance'
on a collect long_turned
ok 'on b has_status turned run-turned stopped' 'which is stopped'
long a undone 90 300
on b api POST /v1/graph/invoke "$(run_body "[$(user instead)]" "$(thread undone),\"multitask_strategy\":\"rollback\"")"
is "$STATUS" 200 'or undone'
on a collect long_undone
is "$(on b texts undone)" 'instead|echo: instead' 'with all that it brought'

# ---- the queue

on a queue q r1 '/add 2 3'
is "$STATUS" 202 'a run is queued'
ok 'on b wait_for 30 has_status q r1 completed' 'and executed, on whichever it is'
queued() {
	api GET /v1/service
	[ "$(json .data.runs.queued "$BODY")" = "$1" ]
}
on a api POST /v1/graph/runs "$(run_body "[$(user later)]" "$(ids q r2)"',"delay":3600')"
ok 'on b wait_for 30 queued 1 && on a queued 1' 'one that waits is counted by each'
on b api POST /v1/graph/stop '{"thread_id":"q"}'
ok 'on a wait_for 30 queued 0 && on b queued 0' 'until it waits no more, whoever has ended it'

# ---- one that vanishes

long a lost 90 1000
on a queue taken r1 '/slow 60 200'
on b wait_for 30 has_status taken r1 running
for i in 1 2 3 4; do on a queue "more$i" r1 '/slow 20 200'; done
family_a=$(family "$pid_a")
# shellcheck disable=SC2086 # words
kill -9 $family_a
begun=$(date +%s)
on b wait_for 60 has_status lost run-lost error
ok $? 'of an instance that was killed a run ends with an error'
diag "after $(($(date +%s) - begun)) s"
is "$(on b thread_status lost)" 'error false' 'its thread is free'
on b invoke back "$(thread lost)"
is "$STATUS" 200 'and takes the next one'
ok 'on b wait_for 90 has_status taken r1 completed' 'runs in the background are completed by the other one'
for i in 1 2 3 4; do
	on b wait_for 90 has_status "more$i" r1 completed || break
done
ok $? 'all of them'

# ---- one that was only cut off

begin a
long a frozen 90 300
frozen=$(family "$pid_a")
# shellcheck disable=SC2086 # words
kill -STOP $frozen
on b wait_for 60 has_status frozen run-frozen error
ok $? 'of an instance that is frozen too'
on b invoke meanwhile "$(thread frozen)"
is "$STATUS" 200 'its thread takes another run meanwhile'
is_then=$(on b texts frozen)
# shellcheck disable=SC2086 # words
kill -CONT $frozen
frozen=
on a collect long_frozen
like "$(said)" '^409 THREAD_BUSY' 'when it comes back its run is refused'
is "$(on b texts frozen)" "$is_then" 'and has written nothing'
ok 'on b has_status frozen run-frozen error' 'nor about itself'
ok 'wait_for 30 grep -q "others took its runs over" "$WORK"/err.*' 'it says so'
on a invoke 'as before' "$(thread frozen)"
is "$STATUS" 200 'it serves as before'
on a serve_stop
on b api GET /v1/service
is "$(json '.data.instances | length' "$BODY")" 1 'one that ends in order is not waited for'

# ---- an address that only one has

printf '{"agent":"builtin:demo","runs":{"background":2,"webhooks":["http://127.0.0.1:9"]}}\n' >named.json
export WEBHOOK_SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
begin c --config named.json
on c api POST /v1/graph/runs "$(run_body "[$(user told)]" "$(ids told r1),\"webhook\":\"http://127.0.0.1:9/in\"")"
kept() { grep -q 'attempt 1: the configuration has no such address.* again in' "$WORK"/err.*; }
ok 'wait_for 30 kept' 'a webhook whose address only one instance has is not given up by another one'

done_testing
