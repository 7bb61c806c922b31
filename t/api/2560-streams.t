#!/bin/sh
# SPDX-License-Identifier: ISC
# Streams that can be taken up again, as far as the worker goes: numbers, which chunks are kept, who may follow, and
# what is deleted with what.  t/e2e/follow.t tests what followers see.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
command -v sqlite3 >/dev/null || tap_skip_all 'sqlite3 is not installed'

printf '{"agent":"builtin:demo"}\n' >agentgraph.json
api_start || tap_bail 'the service does not start'

# kept ID TEXT [MEMBERS]: a stream on thread t that is kept, under that id.
kept() { stream "$2" "\"config\":{\"thread_id\":\"t\",\"run_id\":\"$1\"},\"resumable\":true${3:+,$3}"; }
# numbers: of the chunks of the last answer.
numbers() { printf '%s\n' "$BODY" | jq -sr 'map(.metadata.seq) | map(tostring) | join(" ")'; }
said() { json '"'"$STATUS"' \(.error_code) \(.detail)"' "$BODY"; }
follow() { api GET "/v1/threads/t/runs/$1/stream${2-}"; }
# rows QUERY: what threads.db says.
rows() { outside "$STATE/threads.db" "$1"; }
# plain: lines as they were, where only what is different from the line before is kept (storage/sql/run/line_pack.h).
plain() {
	LC_ALL=C awk 'function number(n, digit, c) {
			for (digit = 1; ; digit *= 32) {
				c = index("@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~\177", substr($0, ++at, 1)) - 1
				n += c % 32 * digit
				if (c < 32)
					return n
			}
		}
		/^\004/ {
			for (at = made = ""; substr($0, at + 1, 1) == "\004"; at += length(put)) {
				at++
				same = number()
				left = number()
				put = substr($0, at + 1)
				sub(/\004.*/, "", put)
				made = made substr(old, 1, same) put
				old = substr(old, same + left + 1)
			}
			$0 = made old
		}
		{ print old = $0 }'
}
# lines ID: what is kept of a run, without the marks.
lines() {
	rows "SELECT c.lines FROM chunks AS c JOIN runs AS r ON r.thread = c.thread AND r.number = c.number
		WHERE r.run_id = '$1' ORDER BY c.seq" | plain | sed 's/\x02[0-9]//; s/\x05.*//' | tr -d '\001\003'
}

# ---- numbers

kept r1 'hello you' '"response_granularity":"full"'
is "$STATUS" 200 'a stream can be kept'
is "$(header Content-Type)" 'text/event-stream; charset=utf-8' 'and looks like any other'
is "$(numbers)" '1 2 3 4 5 6 7 8' 'its chunks are numbered, the terminator included'
full=$BODY
is "$(lines r1 | grep -c .)" 8 'all of them are on disk'
is "$(lines r1 | grep -o '"seq":[0-9]*' | tr '\n' ' ')" \
	'"seq":1 "seq":2 "seq":3 "seq":4 "seq":5 "seq":6 "seq":7 "seq":8 ' 'under the same numbers'
stream 'hello you' "$(thread u),\"response_granularity\":\"full\""
is "$(printf '%s\n' "$BODY" | jq -sc 'map(.metadata.seq | values)')" '[]' 'others have no numbers'
is "$(printf '%s\n' "$BODY" | jq -c '[.event, .data, .message.content, .node, (.state.context | length)]')" \
	"$(printf '%s\n' "$full" | jq -c '[.event, .data, .message.content, .node, (.state.context | length)]')" \
	'and that is the only difference'
kept r2 '/add 2 3' '"response_granularity":"low"'
is "$(numbers)" '2 6 10 11 12 15' 'with less granularity some numbers are missing'
is "$(lines r2 | grep -c .)" 15 'but not on disk'
is "$(printf '%s\n' "$BODY" | jq -sc 'map(.state | values)')" '[]' 'nor are states shown'
kept r3 '/error oh'
is "$(printf '%s\n' "$BODY" | jq -sc 'map([.event, .metadata.seq])')" '[["error",2],["updates",3]]' 'a run that fails has numbers to the end'
ok '[ "$(lines r1 | grep -c "\"context\":\[0,[0-9]*\]")" -gt 0 ]' 'a state is kept without the messages of its context'
api POST /v1/graph/stream '{"messages":[{"role":"user","content":"x"}],"resumable":"yes"}'
is "$(said)" '422 VALIDATION_ERROR resumable must be true or false' 'yes is neither'
api POST /v1/graph/invoke "$(run_body "[$(user hi)]" "$(thread i),\"resumable\":true")"
is "$STATUS $(rows "SELECT count(*) FROM chunks AS c JOIN threads AS t ON t.row = c.thread WHERE thread_id = 'i'")" '200 0' \
	'invoke keeps nothing'
stream '/ask well?' "$(thread p)"
stream more "$(thread p),\"resumable\":true"
is "$(printf '%s\n' "$BODY" | jq -sc 'map([.data.status, .metadata.seq])')" '[["interrupted",null],["done",null]]' \
	'a pause that is told again is no run, and has no numbers'

is "$(rows 'SELECT lines FROM chunks' | grep -c "$(printf '\005')")" 0 'what other protocols need is not kept while they are off'

# ---- who may follow

follow r1
is "$STATUS|$(header X-Accel-Redirect)|$(printf '%s' "$BODY" | wc -c)" '200|/_agentgraph/follow/stream|0' \
	'who follows goes to another process'
# claims: what the ticket says.
claims() { header X-Agentgraph-Ticket | cut -d . -f 2 | tr '_-' '/+' | awk '{ while (length($0) % 4) $0 = $0 "="; print }' | base64 -d | jq -c "$1"; }
is "$(claims '[.route, .thread_id, .run_id, .after, .granularity, .events]')" '["run/stream","t","r1",0,2,false]' \
	'with a ticket for everything, as lines'
follow r1 '?after=3&response_granularity=low'
is "$(claims '[.after, .granularity]')" '[3,0]' 'or for what was asked for'
# events ACCEPT [HEADER...]: whether the ticket is for server-sent events, and from where on.
events() { api GET "/v1/threads/t/runs/r1/stream${QUERY-}" '' "Accept: $1" ${2+"$2"}; claims '"\(.events) \(.after)"'; }
is "$(events text/event-stream)" '"true 0"' 'who accepts events gets them'
is "$(events '*/*, Text/Event-Stream;q=0.1')" '"true 0"' 'in whatever words'
is "$(events 'application/x-ndjson, text/event-stream')" '"false 0"' 'unless lines come first'
is "$(events 'text/event-stream, application/x-ndjson')" '"true 0"' 'and not behind'
is "$(events '*/*')" '"false 0"' 'others get lines'
is "$(events text/event-stream 'Last-Event-ID: 5')" '"true 5"' 'the id of the last event says where it was'
is "$(QUERY='?after=2' events text/event-stream 'Last-Event-ID: 5')" '"true 2"' 'after is stronger'
events text/event-stream 'Last-Event-ID: 8' >/dev/null
api GET /v1/threads/t/runs/r1/stream '' 'Accept: text/event-stream' 'Last-Event-ID: 8'
is "$STATUS|$(header X-Accel-Redirect)" '204|' 'behind the terminator nothing comes any more'
api HEAD /v1/threads/t/runs/r1/stream '' 'Accept: text/event-stream' 'Last-Event-ID: 8'
is "$STATUS" 204 'as HEAD says, too'
api GET /v1/threads/t/runs/r1/stream '' 'Last-Event-ID: 8'
is "$STATUS|$(header X-Accel-Redirect)" '200|/_agentgraph/follow/stream' 'which lines say by being none'
api HEAD /v1/threads/t/runs/r1/stream
is "$STATUS|$(header Content-Type)|$(header X-Accel-Redirect)" '200|text/event-stream; charset=utf-8|' 'HEAD has the head alone'
api POST /v1/threads/t/runs/r1/stream '{}'
is "$STATUS|$(header Allow)" '405|GET, HEAD, OPTIONS' 'and nothing can be posted'
api OPTIONS /v1/threads/t/runs/r1/stream
is "$STATUS|$(header Allow)" '204|GET, HEAD, OPTIONS' 'as OPTIONS says'

while IFS='|' read -r query expected; do
	follow r1 "$query"
	is "$(said)" "$expected" "$query is refused"
done <<'TABLE'
?after=-1|422 VALIDATION_ERROR after must be a whole number from 0 on
?after=x|422 VALIDATION_ERROR after must be a whole number from 0 on
?after=1.5|422 VALIDATION_ERROR after must be a whole number from 0 on
?after=|422 VALIDATION_ERROR after must not be empty
?response_granularity=some|422 VALIDATION_ERROR response_granularity must be one of full, partial, low
TABLE
api GET /v1/threads/t/runs/r1/stream '' 'Last-Event-ID: x'
is "$(said)" '422 VALIDATION_ERROR Last-Event-ID must be a whole number from 0 on' 'nor can anything be the last event'
follow nobody
is "$(said)" '404 RESOURCE_NOT_FOUND Run not found' 'an unknown run'
api GET /v1/threads/nobody/runs/r1/stream
is "$(said)" '404 RESOURCE_NOT_FOUND Thread not found' 'an unknown thread'
stream hello "\"config\":{\"thread_id\":\"t\",\"run_id\":\"plain\"}"
follow plain
is "$(said)" '409 RUN_NOT_RECORDED The chunks of run plain were not kept' 'a run that was not kept'
rows "UPDATE kept SET until = 1 WHERE (thread, number) IN (SELECT thread, number FROM runs WHERE run_id = 'r3')"
follow r3
is "$(said)" '409 RUN_NOT_RECORDED The chunks of run r3 were not kept' 'nor one for which the time is over'

# ---- waiting

api GET '/v1/threads/t/runs/r1/result?wait=5'
is "$STATUS|$(header X-Accel-Redirect)|$(json '.data.meta.run_id' "$BODY")" '200||r1' 'a result that is there is not waited for'
in_background slow stream '/slow 24 1500' "\"config\":{\"thread_id\":\"w\",\"run_id\":\"s\"}"
wait_for 30 is_running w
api GET '/v1/threads/w/runs/s/result?wait=2.5'
is "$STATUS|$(header X-Accel-Redirect)|$(printf '%s' "$BODY" | wc -c)" '200|/_agentgraph/follow/wait|0' 'one that is not goes to another process'
is "$(claims '[.route, .thread_id, .run_id, .user_id, (.until / 1000000 - .iat | . > 1 and . < 5)]')" '["run/wait","w","s",null,true]' \
	'with a ticket for so long'
ticket=$(header X-Agentgraph-Ticket)
for query in '' '?wait=0' '?wait=0.0'; do
	api GET "/v1/threads/w/runs/s/result$query"
	is "$STATUS $(json .data.status "$BODY")" '202 running' "without a wait ($query) the answer is there"
done
api HEAD '/v1/threads/w/runs/s/result?wait=5'
is "$STATUS" 202 'HEAD waits for nothing'
for wait in -1 300.5 301 x 1e9 1.2.3 nan; do
	api GET "/v1/threads/w/runs/s/result?wait=$wait"
	is "$(said)" '422 VALIDATION_ERROR wait must be between 0 and 300' "$wait is no time to wait"
done
# A ticket is a variable that the web server sets; a header of that name is none.
api GET '/v1/threads/w/runs/s/result?wait=5' '' "Agentgraph-Ticket: $ticket" "X-Agentgraph-Ticket: $ticket"
is "$STATUS|$(header X-Accel-Redirect)" '200|/_agentgraph/follow/wait' 'no client can say that it has waited'
api POST /v1/graph/stop '{"thread_id":"w"}'
collect slow

# ---- what is deleted

kept d1 'tell me'
kept d2 'once more'
first=$(lines d1 | jq -r 'select(.event == "message" and .message.delta == false).message.message_id')
ok "[ \"\$(lines d1 | grep -c $first)\" -gt 1 ]" 'a message is in several chunks'
api DELETE "/v1/threads/t/messages/$first"
is "$STATUS $(lines d1 | grep -c "$first")" '200 0' 'which go with it'
is "$(lines d1 | jq -r .metadata.seq | tr '\n' ' ')" '1 6 7 8 ' 'and the others stay, with their numbers'
ok '[ "$(lines d2 | grep -c message_id)" -gt 1 ]' 'as do those of other runs'
ok '[ "$(lines d2 | grep -c "\"state\":{")" -eq 2 ]' 'with states'
api DELETE /v1/threads/t/state '{}'
is "$STATUS $(lines d2 | grep -c '"state":{')" '200 2' 'which stay when the state is cleared, as in the history'
api DELETE /v1/threads/t '{}'
is "$STATUS" 200 'a thread goes'
swept() { [ "$(rows 'SELECT count(*) FROM chunks WHERE thread NOT IN (SELECT row FROM threads)')" = 0 ]; }
wait_for 20 swept
ok $? 'with all that was kept of its runs'
serve_stop

printf '{"agent":"builtin:demo","history":{"level":"off"}}\n' >agentgraph.json
api_start || tap_bail 'the service does not start without history'
kept d3 'no history'
ok '[ "$(lines d3 | grep -c "\"state\":{")" -eq 2 ]' 'without history states are kept with a run as well'
api DELETE /v1/threads/t/state '{}'
is "$STATUS $(lines d3 | grep -c '"state":{')" '200 0' 'and go when the state is cleared'
is "$(rows 'SELECT count(*) FROM chunks WHERE lines LIKE '"'"'%"fields":{%'"'"'')" 0 'as do the fields that are kept beside chunks'
ok '[ "$(lines d3 | grep -c message_id)" -gt 1 ]' 'and the messages stay'
serve_stop

done_testing
