#!/bin/sh
# SPDX-License-Identifier: ISC
# What was said is kept: through restarts and reloads, with two hundred clients on one thread, clients that go away, a
# full disk, and a locked or damaged database.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/e2e/load.sh"

# A file system of its own for the tests of a full disk.  It goes before WORK does, also after a failure.
unmount() {
	code=$?
	[ ! -d "$WORK/disk" ] || umount -l "$WORK/disk" 2>/dev/null
	(exit "$code")
	tap_end
}
trap unmount EXIT

# error NAME STATUS CODE TEXT: what the last answer is.
error() {
	is "$STATUS $(json '[.error_code, .detail, (.error.details | length)] | join("|")' "$BODY")" "$2 $3|$4|0" "$1"
}

# ---- a restart ----

echo '{"agent": "builtin:demo", "runs": {"wait_timeout": 100}, "remote_tools": [
	{"node": "tools", "name": "pick", "description": "Picks."}]}' >agent.json
serve_start --config agent.json || tap_bail 'the rest needs a service'
state=$STATE
say t '/note remember'
say t hello
say paused '/ask Which?'
say waiting '/remote pick {"n":1}'
call=$(json '.data.messages[-1].content[0].id' "$BODY")
threads='t paused waiting'
for thread in $threads; do
	for path in '' /state /messages; do
		http GET "/v1/threads/$thread$path"
		json .data "$BODY"
	done
done >before
serve_stop
is $? 0 'the service stops'
STATE=$state
serve_start --config agent.json
ok $? 'and starts again'
for thread in $threads; do
	for path in '' /state /messages; do
		http GET "/v1/threads/$thread$path"
		json .data "$BODY"
	done
done >after
is "$(cat after)" "$(cat before)" 'records, states and messages are what they were'
http GET /v1/threads
is "$(json '.data.threads | map(.thread_id) | join(" ")' "$BODY")" 'waiting paused t' 'in their order'
say t /context
is "$(json '.data.messages[1].content[0].text' "$BODY")" 'context: 5' 'a conversation goes on'
http POST /v1/graph/invoke '{"resume": "this", "config": {"thread_id": "paused"}}'
is "$(json '.data.messages[-1].content[0].text' "$BODY")" 'answer: this' 'a question can be answered'
http POST /v1/graph/invoke "$(jq -nc --arg call "$call" '{config: {thread_id: "waiting"},
	messages: [{role: "tool", content: [{type: "tool_result", call_id: $call, output: "picked"}]}]}')"
is "$(json '.data.messages[-1].content[0].text' "$BODY")" 'remote: picked' 'as can a remote call'

# ---- one thread for all ----

# Only so many can wait at once; who is told that there is no room comes again.
seq 200 >coming
while [ -s coming ]; do
	sed 's/.*/one m& text &/' coming | turns 200 >round
	cat round >>rounds
	sed -n 's/^409 m//p' round >coming
	[ "$(wc -l <rounds)" -lt 10000 ] || break
done
grep -v '^409 ' rounds >answers
is "$(cut -d ' ' -f 1 answers | sort | uniq -c | tr -s ' ')" ' 200 200' 'two hundred clients on one thread are all answered'
texts one >said
is "$(wc -l <said | tr -d ' ')" 400 'as many questions and answers are stored'
is "$(grep ^text said | sort -u | wc -l | tr -d ' ')" 200 'no question is lost or there twice'
is "$(paste -d '|' - - <said | grep -cvE '^(text [0-9]+)\|echo: \1$')" 0 'each is followed by its own answer'
is "$(meta one '[.status, .is_running]')" '["completed",false]' 'the thread is at rest'

# ---- clients that go away ----

for route in stream invoke; do
	curl -s -N -H 'Content-Type: application/json' -o part -d \
		"{\"messages\":[{\"role\":\"user\",\"content\":\"/slow 20 400\"}],\"config\":{\"thread_id\":\"gone-$route\"}}" \
		"$BASE/v1/graph/$route" &
	client=$!
	wait_for 20 runs "gone-$route"
	kill "$client"
	wait "$client"
	runs "gone-$route"
	ok $? "a client of $route goes away, the run goes on"
	wait_for 30 rests "gone-$route"
	is "$(meta "gone-$route" .status)" '"completed"' 'to its end'
	is "$(texts "gone-$route" | wc -l | tr -d ' ') $(texts "gone-$route" | tail -n 1)" '22 done' 'with all it had to say'
done

# ---- reloads ----

for i in $(seq 120); do
	text="text $i"
	[ $((i % 10)) -ne 0 ] || text='/slow 3 50'
	echo "reload-$((i % 12)) m$i $text"
done | turns 10 >answers &
client=$!
for i in 1 2 3 4; do
	kill -HUP "$SERVE_PID"
	sleep 0.3
done
wait "$client"
is "$(cut -d ' ' -f 1 answers | sort | uniq -c | tr -s ' ')" ' 120 200' 'reloads under load drop no turn'
wait_for 30 grep -q 'reloaded configuration' "$SERVE_ERR"
ok $? 'and they were reloads'
for i in $(seq 0 11); do
	texts "reload-$i"
done >said
is "$(grep -c ^text said) $(grep ^text said | sort -u | wc -l | tr -d ' ') $(grep -c '^echo: text' said)" '108 108 108' \
	'every turn is stored once'

# ---- a locked database ----

# Those that a reload has replaced are gone, and no other is under way: who waits long finds no end of its worker.
same_workers() {
	workers_before=$(workers)
	sleep 0.5
	[ "$(workers | wc -l | tr -d ' ')" = 2 ] && [ "$(workers)" = "$workers_before" ]
}

if command -v sqlite3 >/dev/null; then
	wait_for 30 same_workers
	lock_threads "$STATE" 12
	say locked one
	error 'while an outsider has the database locked a turn is refused' 503 TRANSIENT_STORAGE_ERROR \
		'Storage is temporarily unavailable'
	is "$(header Retry-After)" 1 'for now'
	http GET /v1/threads/one
	is "$STATUS" 200 'reading goes on'
	wait "$lock_pid"
	say locked two
	is "$STATUS $(json .data.meta.is_new_thread "$BODY")" '200 true' 'then it is taken, and nothing was left of the first'
fi
serve_stop

# ---- a full disk ----

# until_full NAME: sends turns until one fails, or many have succeeded.
until_full() {
	for i in $(seq 400); do
		http POST /v1/graph/invoke "$(jq -nc --arg id "$1-$i" --arg pad "$pad" '{config: {thread_id: "full"},
			messages: [{role: "user", message_id: $id, content: "\($id) \($pad)"}]}')"
		[ "$STATUS" = 200 ] || break
		echo "$1-$i" >>taken
	done
}

# stored: the ids of user messages, each with the beginning of what follows.
stored() {
	http GET '/v1/threads/full/messages?limit=1000'
	json '[.data.messages[] | (if .role == "user" then "\n" + .message_id else .content[0].text[0:12] end)] | join(" ")' "$BODY" |
		grep .
}

if [ "$(id -u)" -eq 0 ] && mkdir disk && mount -t tmpfs -o size=48m none disk 2>/dev/null; then
	STATE=$WORK/disk/state
	serve_start --config agent.json || tap_bail 'the service does not start on a small disk'
	pad=$(printf '%8000s' '' | tr ' ' x)
	: >taken
	until_full before_it_is_full & # a little of it, so that there is something to read
	wait_for 20 test -s taken
	kill "$!" 2>/dev/null
	wait "$!" 2>/dev/null
	dd if=/dev/zero of=disk/fill bs=4k >/dev/null 2>&1
	until_full full
	error 'on a full disk a turn is refused' 503 TRANSIENT_STORAGE_ERROR 'Storage is temporarily unavailable'
	is "$(header Retry-After)" 1 'for now'
	refused=full-$i
	for i in $(seq 100); do
		http POST /v1/threads/full/messages "{\"messages\":[{\"role\":\"user\",\"content\":\"$pad\"}]}"
		[ "$STATUS" = 200 ] || break
	done
	error 'and a message' 503 TRANSIENT_STORAGE_ERROR 'Storage is temporarily unavailable'
	for i in $(seq 100); do
		http POST /v1/graph/stream "{\"messages\":[{\"role\":\"user\",\"content\":\"$pad\"}],\"config\":{\"thread_id\":\"full\"}}"
		case $BODY in *'"event":"error"'*) break ;; esac
	done
	is "$STATUS $(printf '%s\n' "$BODY" | jq -sc 'map(select(.event == "error").data.error_code) + [last.data.status]')" \
		'200 ["TRANSIENT_STORAGE_ERROR","done"]' 'a stream says so and ends'
	http POST /v1/threads/full/messages "{\"messages\":[{\"role\":\"user\",\"content\":\"$pad$pad$pad$pad$pad$pad$pad$pad\"}]}"
	like "$STATUS $(json .error_code "$BODY")" '^(503 [A-Z]+_[A-Z_]+|500 [A-Z]+_ERROR)$' 'what is too large to be kept in memory is refused in the same shape'
	http GET /v1/threads/full/state
	is "$STATUS $(json '.data.state.execution_meta.is_running' "$BODY")" '200 false' 'reading goes on, and nothing runs'
	http GET /v1/threads
	is "$STATUS" 200 'in every list'

	while :; do # what anybody gives back is taken at once
		dd if=/dev/zero of=disk/fill bs=512 oflag=append conv=notrunc >/dev/null 2>&1
		sleep 0.02
	done &
	filler=$!
	for pid in $(workers); do
		kill -9 "$pid"
	done
	wait_for 20 pings
	ok $? 'workers that start on the full disk serve'
	http GET /v1/threads/full/messages
	is "$STATUS" 200 'what can be read'
	echo text >upload.txt
	http POST /v1/files/upload '' -F file=@upload.txt
	error 'and refuse what cannot be written' 503 TRANSIENT_STORAGE_ERROR 'Storage is temporarily unavailable'
	kill "$filler"
	wait "$filler" 2>/dev/null
	rm disk/fill
	http POST /v1/files/upload '' -F file=@upload.txt
	is "$STATUS" 200 'until there is room again'
	http POST /v1/graph/invoke "{\"messages\":[{\"role\":\"user\",\"message_id\":\"after\",\"content\":\"$pad\"}],\"config\":{\"thread_id\":\"full\"}}"
	is "$STATUS" 200 'with room again the next turn is taken'
	stored >now
	is "$(sed 's/ .*//' now | sort | uniq -d)" '' 'no message is there twice'
	sed -n 's/^\([^ ]*\) echo: .*/\1/p' now | sort >whole
	is "$(sort taken | comm -23 - whole)" '' 'every turn that was taken is there with its answer'
	# a turn that took its time had its question stored while there was room for that
	is "$(grep "^$refused" now | grep -vx "$refused *")" '' 'of the one that was refused there is no answer'
	is "$(tail -n 1 now | sed 's/ .*//')" after 'the last turn is the last'
	is "$(meta full .status)" '"completed"' 'and the thread is as it should be'
	serve_stop
	is $? 0 'the service stops as it should'

	rm -f disk/state/reserve
	dd if=/dev/zero of=disk/fill bs=4k >/dev/null 2>&1
	timeout 100 "$AGENTGRAPH" serve --state "$WORK/disk/state" --listen 127.0.0.1:0 >out 2>err </dev/null
	is $? 1 'on a disk without room, not even a reserve, it does not start'
	like "$(cat err)" '^agentgraph: .*/disk/state.*(no space is left|No space left)' 'and says so, naming the place'
	rm disk/fill

	mount -o remount,ro disk
	timeout 100 "$AGENTGRAPH" serve --state "$WORK/disk/state" --listen 127.0.0.1:0 >out 2>err </dev/null
	is $? 1 'on a disk that cannot be written it does not start'
	like "$(cat err)" '^agentgraph: .*/disk/state.*Read-only file system' 'and says so, naming the place'
	is "$(cat out)" '' 'on standard error alone'
	umount disk
else
	for name in 'a full disk' 'a disk that cannot be written'; do
		tap_count=$((tap_count + 1))
		echo "ok $tap_count - $name # SKIP only root can mount one"
	done
fi

# ---- a state directory that goes away ----

STATE=$state
serve_start --config agent.json --socket "$WORK/away.sock" || tap_bail 'the rest needs a service'
say t hello
mv "$state" "$state.away"
http POST /v1/graph/invoke '{"messages": [{"role": "user", "content": "hello"}]}'
error 'what would be lost is not acknowledged' 500 STORAGE_ERROR 'An error occurred accessing storage.'
like "$(grep "$(header X-Request-ID)" "$SERVE_ERR")" 'threads\.db was removed or moved' 'and the log says why'
mv "$state.away" "$state"
say t hello
is "$STATUS" 200 'when it is back, all is well'
serve_stop

# ---- a damaged database ----

STATE=$state
sqlite3 "$state/threads.db" 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null # the log would stand in for what is damaged
pages=$(($(stat -c %s "$state/threads.db") / 4096))
dd if=/dev/urandom of="$state/threads.db" bs=4096 seek=1 count=$((pages - 1)) conv=notrunc 2>/dev/null
if serve_start --config agent.json; then
	http GET /v1/threads
	error 'what cannot be read is an error' 500 STORAGE_ERROR 'An error occurred accessing storage.'
	unlike "$BODY" "SQLite|malformed|$state" 'that tells nothing of the inside'
	like "$(grep "$(header X-Request-ID)" "$SERVE_ERR")" 'malformed|corrupt' 'but the log has the cause, with the id of the request'
	is "$(curl -s "$BASE/ping" | jq -r .data)" pong 'and the service is up'
	serve_stop
else
	like "$(cat "$SERVE_ERR")" 'threads\.db' 'a damaged database is named'
fi
done_testing
