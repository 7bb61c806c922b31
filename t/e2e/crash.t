#!/bin/sh
# SPDX-License-Identifier: ISC
# Processes are killed at any moment under load: what was acknowledged is there, only once, and nothing hangs.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/e2e/load.sh"

serve_start || tap_bail 'the rest needs a service'
state=$STATE

# ---- one run ----

# interrupted THREAD NAME: the run that was under way is over, and the thread goes on.
interrupted() {
	wait_for 30 rests "$1"
	is "$(meta "$1" '[.status, .is_running, .is_interrupted, .is_stopped_requested]')" '["error",false,false,false]' \
		"$2: its run is shown as failed"
	is "$(texts "$1" | head -n 3 | paste -sd ' ')" '/slow 100 500 tick 1 tick 2' "$2: the nodes that had ended are kept"
	unlike "$(texts "$1")" '^done$' "$2: it did not go on"
	say "$1" hello
	is "$STATUS $(json '.data.messages[1].content[0].text' "$BODY")" '200 echo: hello' "$2: the next turn is taken"
	is "$(meta "$1" .status)" '"completed"' "$2: and ends well"
}

# begin THREAD: a long run that is well under way; sets CLIENT.
begin() {
	echo "$1 id-$1 /slow 100 500" | turns 1 >"answer.$1" &
	CLIENT=$!
	wait_for 20 has_text "$1" 'tick 2' || diag "the run on $1 has not begun"
}

begin worker
is "$(meta worker '[.status, .is_running]')" '["running",true]' 'a run is under way'
for pid in $(workers); do
	kill -9 "$pid"
done
wait "$CLIENT"
is "$(cut -d ' ' -f 1 answer.worker)" 503 'its client is told when the worker is killed'
wait_for 30 pings
interrupted worker 'a killed worker'

# Who starts the service may have said that nobody wants to hear of children's ends.
printf '#!/bin/sh\nexec env --ignore-signal=CHLD %s "$@"\n' "$AGENTGRAPH" >deaf
chmod +x deaf
serve_stop
heard=$AGENTGRAPH AGENTGRAPH=$WORK/deaf
serve_start
AGENTGRAPH=$heard
killed=$(workers | head -n 1)
replaced() { [ "$(workers | wc -l)" = 2 ] && ! workers | grep -qx "$killed"; }
kill -9 "$killed"
wait_for 30 replaced
ok replaced 'a killed worker is replaced also where SIGCHLD was ignored'
serve_stop

# Who reads the log may die.
mkfifo log
cat log >"$WORK/read" &
reader=$!
"$AGENTGRAPH" serve --state "$WORK/unheard" --no-nginx --processes 1 >unheard.out 2>log </dev/null &
SERVE_PID=$!
tap_pids="$SERVE_PID $tap_pids"
wait_for 60 serve_says unheard.out
kill "$reader"
wait "$reader"
killed=$(workers)
replaced() { [ -n "$(workers)" ] && [ "$(workers)" != "$killed" ]; }
kill -9 "$killed"
wait_for 20 replaced
ok replaced 'a killed worker is replaced also where nobody reads the log any more'
tap_stop "$SERVE_PID" 30
is $? 0 'and the service can be stopped'
serve_start
state=$STATE

# An answer that is too long to be in memory, or in nginx, as a whole.
jq -n '{messages: [range(20) | {role: "user", content: ("x" * 300000)}]}' >long
for _ in 1 2 3 4 5 6; do
	STATUS=$(curl -s -o posted -w '%{http_code}' --json @long "$BASE/v1/threads/long/messages")
done
is "$STATUS" 200 'a thread is longer than what nginx keeps of an answer'
curl -s --limit-rate 10M -o cut "$BASE/v1/threads/long/messages?limit=1000" &
CLIENT=$!
arrives() { [ "$(wc -c <cut)" -gt 1000000 ]; }
wait_for 30 arrives
for pid in $(workers); do
	kill -9 "$pid"
done
wait "$CLIENT"
is $? 18 'whoever reads an answer whose worker is killed is told that it is not whole'
wait_for 30 pings

begin service
kill -9 "$SERVE_PID"
wait "$SERVE_PID" 2>/dev/null
wait "$CLIENT"
is "$(cut -d ' ' -f 1 answer.service)" 000 'with the whole service killed there is no answer'
STATE=$state
serve_start
ok $? 'the service starts again on what is left'
interrupted service 'a killed service'

# A worker that learns late of the death of its supervisor must leave the socket of the next one alone.
# It is stopped while it writes nothing: nobody could open a database whose lock it held.
stopped() { grep -q '^State:[[:space:]]*T' "/proc/$late/status"; }
locks_nothing() {
	command -v sqlite3 >/dev/null || return 0
	for database in "$state"/*.db; do
		sqlite3 -bail -cmd '.timeout 0' "$database" 'BEGIN IMMEDIATE; ROLLBACK;' || return 1
	done
}
stops_at_rest() {
	kill -STOP "$late"
	wait_for 30 stopped
	locks_nothing || { kill -CONT "$late" && false; }
}
late=$(workers | head -n 1)
for _ in $(seq 100); do
	stops_at_rest 2>/dev/null && break
	sleep 0.05
done
ok stopped 'a worker is stopped'
kill -9 "$SERVE_PID"
wait "$SERVE_PID" 2>/dev/null
wait_for 20 test ! -e "$state/run/fcgi.sock"
STATE=$state
serve_start
ok $? 'the service starts beside a worker of the last one'
kill -CONT "$late"
wait_for 20 gone "$late"
sleep 2 # the supervisor would have missed its socket by then
unlike "$(cat "$SERVE_ERR")" 'was removed' 'and keeps its socket when that one ends'

# An nginx whose master dies in one moment with the service: its workers are nobody's, and have the port.
kill -STOP "$SERVE_PID"
for master in $(children "$SERVE_PID"); do
	[ "$(cat "/proc/$master/comm")" != nginx ] || kill -9 "$master"
done
kill -9 "$SERVE_PID"
wait "$SERVE_PID" 2>/dev/null
STATE=$state
serve_run --listen "${BASE#http://}"
ok $? 'the service starts where an nginx without a master has its port'
wait_for 30 pings

# ---- load ----

rounds=9
threads=6
each=24

# turns_of ROUND: two thirds of a step, the others of several.
turns_of() {
	for i in $(seq "$each"); do
		text="text r$1-$i"
		[ $((i % 3)) -ne 0 ] || text='/slow 4 30'
		echo "t$((i % threads)) r$1-$i $text"
	done
}

all_rest() {
	for i in $(seq 0 $((threads - 1))); do
		! runs "t$i" || return 1
	done
}

for round in $(seq "$rounds"); do
	turns_of "$round" | turns "$each" >"round.$round" &
	client=$!
	ms=$(nap 500)
	case $((round % 3)) in
	0)
		victim='the service'
		kill -9 "$SERVE_PID"
		wait "$SERVE_PID" 2>/dev/null
		wait "$client"
		STATE=$state
		serve_start || tap_bail 'the service does not start again'
		;;
	1)
		victim='a worker'
		kill -9 "$(workers | head -n 1)"
		wait "$client"
		;;
	2)
		victim='all workers'
		for pid in $(workers); do
			kill -9 "$pid"
		done
		wait "$client"
		;;
	esac
	{ wait_for 30 pings && wait_for 20 all_rest; }
	ok $? "round $round, $victim killed after $ms ms: nothing is left running"
done

cat round.* >answers
is "$(wc -l <answers | tr -d ' ')" $((rounds * each)) 'every client has come to an end'
grep -c '^200 ' answers >good || :
ok '[ "$(cat good)" -gt 20 ]' "many were answered ($(cat good) of $((rounds * each)))"
ok '[ "$(cat good)" -lt $((rounds * each)) ]' 'and some were hit'
is "$(grep -cv -e '^200 ' -e '^503 ' -e '^000 ' -e '^409 ' answers)" 0 'who was hit got 503 or nothing, who found no room to wait 409'

# Every turn that is stored as one line "ID KIND TEXT"; KIND says whether what follows the user message is the whole
# answer, its beginning, or something else.
for i in $(seq 0 $((threads - 1))); do
	http GET "/v1/threads/t$i/messages?limit=1000"
	json '[.data.messages[] | {id: .message_id, role, text: .content[0].text}] as $all
		| [range($all | length) | select($all[.].role == "user")] as $users
		| range($users | length) as $n
		| $all[$users[$n]] as $user
		| [$all[$users[$n] + 1 : $users[$n + 1]][].text] as $after
		| (if ($user.text | startswith("/slow")) then ["tick 1", "tick 2", "tick 3", "tick 4", "done"]
			else ["echo: " + $user.text] end) as $whole
		| [$user.id, (if $after == $whole then "whole" elif $after == $whole[: $after | length] then "begun"
			else "mixed" end), $user.text] | join(" ")' "$BODY" >>stored
done
sed -n 's/^200 //p' answers | sort >acknowledged
sort stored | sed -n 's/^\([^ ]*\) whole.*/\1/p' >whole
is "$(comm -23 acknowledged whole | paste -sd ' ')" '' 'every acknowledged turn is there with its whole answer'
is "$(cut -d ' ' -f 1 stored | sort | uniq -d)" '' 'no message is there twice'
is "$(cut -d ' ' -f 3- stored | grep ^text | sort | uniq -d)" '' 'under whatever id'
is "$(grep ' mixed ' stored)" '' 'no two turns are mixed'
cut -d ' ' -f 2 answers | sort >sent
is "$(cut -d ' ' -f 1 stored | sort | comm -23 - sent)" '' 'nothing is there that was not sent'
ok '[ "$(wc -l <whole)" -ge "$(cat good)" ]' 'as many turns are there as were answered'
for i in $(seq 0 $((threads - 1))); do
	say "t$i" last
	is "$STATUS $(json '.data.messages[1].content[0].text' "$BODY")" '200 echo: last' "the thread t$i takes its next turn"
done

serve_stop
is $? 0 'the service still stops as it should'
if command -v sqlite3 >/dev/null; then
	is "$(sqlite3 "$state/threads.db" 'PRAGMA integrity_check; PRAGMA foreign_key_check')" ok 'and its database is sound'
fi
done_testing
