#!/bin/bash
# SPDX-License-Identifier: ISC
# The WebSocket relay between raw clients and an echoing helper below websocketd: the handshake, every frame that
# RFC 6455 forbids, limits, and all the ways in which one side can vanish.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

command -v websocketd >/dev/null || tap_skip_all "no websocketd here"

RELAY=${RELAY:-$TOP_BUILDDIR/agentgraph-relay}
TOOLS=${TOOLS:-$TOP_BUILDDIR/t/e2e}
STATE=$WORK/state
ROUTE=/v1/graph/ws
mkdir -m 700 "$STATE"
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1"
echo '{"agent": "builtin:demo", "websocket": {"max_connections": 0, "max_connections_per_user": 2}}' >agentgraph.json

# start_websocketd: on the first free port of a few.  Its helper reads its mode from the file mode.
start_websocketd() {
	for PORT in 19071 19271 19471 19671 19871 20071; do
		websocketd --address=127.0.0.1 --port=$PORT --loglevel=error "$TOOLS/ws_echo" "$WORK/mode" >>websocketd.log 2>&1 &
		WEBSOCKETD=$!
		if wait_for 30 websocketd_settled && alive $WEBSOCKETD; then
			tap_pids="$WEBSOCKETD $tap_pids"
			return 0
		fi
	done
	return 1
}

websocketd_settled() {
	gone $WEBSOCKETD || [ -n "$(listening_inodes $WEBSOCKETD)" ]
}

# The sockets of process $1 that listen on PORT.
listening_inodes() {
	awk -v port="$(printf ':%04X' $PORT)" '$4 == "0A" && index($2, port) { print "socket:[" $10 "]" }' /proc/net/tcp |
		grep -Fxf - <(readlink "/proc/$1/fd/"* 2>/dev/null)
}

# start_relay NAME [OPTION...]: one with a socket of its own; sets SOCKET and RELAY_PID.
start_relay() {
	SOCKET=$WORK/$1.sock
	shift
	"$RELAY" --socket "$SOCKET" --websocketd 127.0.0.1:$PORT --state "$STATE" --config agentgraph.json --bye 5 "$@" \
		2>>relay.log &
	RELAY_PID=$!
	tap_pids="$RELAY_PID $tap_pids"
	wait_for 30 "$TOOLS/ws_client" "$SOCKET" shut
}

ticket() {
	"$TOOLS/ws_ticket" "$STATE" "$ROUTE" "$@"
}

# client ACTION...: against the relay at SOCKET, in one line.
client() {
	"$TOOLS/ws_client" "$SOCKET" "$@" 2>&1 | paste -sd '|'
}

# opened ACTION...: a session in the background, CLIENT, that has been accepted; said is what it had to say at the end.
opened() {
	: >opened.out
	"$TOOLS/ws_client" "$SOCKET" "open=$ROUTE,$(ticket)" "$@" >opened.out 2>&1 &
	CLIENT=$!
	wait_for 20 grep -q accepted opened.out
}
said() { sed 1d opened.out | paste -sd '|'; }

# session ACTION...: the same after a good handshake; its answer is left out when it was accepted.
session() {
	client "open=$ROUTE,$(ticket)" "$@" | sed 's/^HTTP\/1.1 101 Switching Protocols accepted|*//'
}

# request HEADER,...: an opening with other headers; tells the status and the body.
request() {
	client "get=$1" answer | sed 's/^HTTP\/1.1 \([0-9]*\) [^|]*|/\1 /; s/ .*|\({.*\)/ \1/'
}

GOOD="Host: x,Upgrade: websocket,Connection: Upgrade"
KEY='Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
VERSION='Sec-WebSocket-Version: 13'

# Its threads have children of their own each.
helper_pids() { cat /proc/$WEBSOCKETD/task/*/children 2>/dev/null; }
helpers() { helper_pids | wc -w; }
no_helpers() { [ "$(helpers)" -eq 0 ]; }
descriptors() { ls "/proc/$1/fd" | wc -l; }
relay_is_idle() { [ "$(descriptors $RELAY_PID)" -le "$IDLE" ]; }

start_websocketd || tap_bail "websocketd does not start"
start_relay main || tap_bail "the relay does not start: $(cat relay.log)"
MAIN_PID=$RELAY_PID

# Looked at later.
"$TOOLS/ws_client" "$SOCKET" "hex=474554" sleep=11500 answer >silent.out 2>&1 &
silent=$!

# ---- the handshake ----

is "$(client "open=$ROUTE,$(ticket)" text=hello recv)" "HTTP/1.1 101 Switching Protocols accepted|hello" "a ticket opens a socket"
is "$(client "open=$ROUTE,$(ticket u1 service-bearer)")" "HTTP/1.1 101 Switching Protocols accepted service-bearer" \
	"the ticket's subprotocol is echoed"
is "$(stat -c %a "$SOCKET" "$STATE/ticket.key" | paste -sd ' ')" "600 600" "socket and key are for their owner alone"

refused_with() { # STATUS CODE CLOSE_CODE NAME: ANSWER is such a refusal
	is "${ANSWER%% *}" "$1" "$4: status $1"
	is "$(json '[.error_code, .error.code, .close_code, (.error.details|type), .detail == .metadata.message] | map(tostring) | join(" ")' "${ANSWER#* }")" \
		"$2 $2 $3 array true" "$4: the body is an error, close code $3"
	is "$(json '[., .error, .metadata] | map(keys_unsorted | join(" ")) | join("|")' "${ANSWER#* }")" \
		"detail error_code error metadata$([ "$3" = null ] || echo ' close_code')|code message details|request_id timestamp message" \
		"$4: in the order of all errors"
}
ANSWER=$(request "$ROUTE,$GOOD,$KEY,$VERSION")
refused_with 403 INVALID_TOKEN 1008 "no ticket"
ANSWER=$(request "$ROUTE,$GOOD,$KEY,$VERSION,X-Agentgraph-Ticket: $(ticket)x")
refused_with 403 INVALID_TOKEN 1008 "a forged ticket"
ANSWER=$(request "/v1/graph/live,$GOOD,$KEY,$VERSION,X-Agentgraph-Ticket: $(ticket)")
refused_with 403 INVALID_TOKEN 1008 "a ticket for the other route"
TICKET=$(ticket)
client "open=$ROUTE,$TICKET" >/dev/null
ANSWER=$(request "$ROUTE,$GOOD,$KEY,$VERSION,X-Agentgraph-Ticket: $TICKET")
refused_with 403 INVALID_TOKEN 1008 "a ticket used a second time"
ANSWER=$(request "$ROUTE,Host: x,X-Agentgraph-Ticket: $(ticket)")
refused_with 426 UPGRADE_REQUIRED null "a request without an upgrade"
ANSWER=$(request "$ROUTE,$GOOD,$KEY,Sec-WebSocket-Version: 8,X-Agentgraph-Ticket: $(ticket)")
refused_with 426 UPGRADE_REQUIRED null "another version of WebSocket"
for wrong in "$GOOD,$VERSION" "$GOOD,$VERSION,$KEY,$KEY" "$GOOD,$VERSION,Sec-WebSocket-Key: short" \
	"$GOOD,$VERSION,$KEY,Content-Length: 5" "$GOOD,$VERSION,$KEY,Transfer-Encoding: chunked" \
	"Upgrade: websocket,Connection: Upgrade,$VERSION,$KEY" "$GOOD,$VERSION,$KEY, folded" "$GOOD,$VERSION,$KEY,No Colon" \
	"$GOOD,$VERSION,$KEY,X-Agentgraph-Ticket: a,X-Agentgraph-Ticket: b"; do
	ANSWER=$(request "$ROUTE,$wrong")
	is "${ANSWER%% *}" 400 "refused as malformed: ${wrong#"$GOOD,$VERSION"}"
done
is "$(client hex=505249202a20485454502f322e300d0a0d0a answer | cut -c1-12)" "HTTP/1.1 400" "another protocol is refused"
is "$(client repeat=20000,61 answer | cut -c1-12)" "HTTP/1.1 400" "a head without end is refused"
is "$(client shut answer)" "" "a client that leaves at once is no event"
like "$(client "get=$ROUTE,$GOOD,$KEY,$VERSION" answer)" "^X-Request-ID|X-Request-ID: [0-9a-f-]{36}" "refusals have a request id"
like "$(client "get=$ROUTE,$GOOD,$KEY,$VERSION" answer)" "X-WebSocket-Close-Code: 1008" "and the close code in a header"

# ---- messages ----

is "$(session "text=$(printf 'one\ntwo\rthree\033four')" "until=one" | tr '\n\r\033|' '<>{ ')" "one two>three{four<" \
	"line ends and escapes pass through a text"
is "$(session data=0 recv data=1 recv data=2 recv data=3 recv data=125 recv data=126 recv data=65535 recv data=65536 recv)" \
	"binary 0|binary 1|binary 2|binary 3|binary 125|binary 126|binary 65535|binary 65536" "messages of all sizes keep their type"
is "$(session hex=018100000000c3 hex=808100000000a4 recv)" "ä" "a character may be split between fragments"
is "$(session hex=0182000000006869 hex=898100000000 hex=70 hex=808200000000 hex=686f recv recv)" "pong 1|hiho" \
	"a ping between fragments is answered at once"
is "$(session hex=8a8000000000 text=on recv)" "on" "a pong nobody asked for is ignored"
is "$(session hex=8184010203046963 hex=6f68 recv)" "hall" "masks are taken off"

# ---- frames that must not be: what is sent, and the close code ----

while read -r bytes code what; do
	is "$(session "hex=$bytes" recv recv)" "close $code|end" "$what is closed with $code"
done <<'FRAMES'
81026869 1002 an unmasked frame
c182000000006869 1002 a first reserved bit
a182000000006869 1002 a second reserved bit
9182000000006869 1002 a third reserved bit
8382000000006869 1002 an unknown data opcode
8b8000000000 1002 an unknown control opcode
098000000000 1002 a fragmented ping
088000000000 1002 a fragmented close
89fe007e00000000 1002 a ping of 126 bytes
88fe007e00000000 1002 a close of 126 bytes
808000000000 1002 a continuation of nothing
0181000000006181810000000062 1002 a message inside another one
81fe000500000000 1002 a length of 16 bits that needs 7
82ff000000000000ffff00000000 1002 a length of 64 bits that needs 16
82ff800000000000000000000000 1002 a length of 2^63
88810000000003 1002 a close of one byte
88820000000003e7 1002 a close with 999
88820000000003ec 1002 a close with 1004
88820000000003ed 1002 a close with 1005
88820000000003ee 1002 a close with 1006
88820000000003f4 1012 a close with 1012
88820000000003f6 1014 a close with 1014
88820000000003f7 1002 a close with 1015
8882000000000bb7 1002 a close with 2999
888200000000ffff 1002 a close with 65535
88830000000003e8ff 1007 a close whose reason is no UTF-8
818200000000c080 1007 an overlong character
818300000000eda080 1007 a surrogate
818400000000f4908080 1007 a character beyond the last
818100000000c3 1007 a text that ends inside a character
010100 1002 an unmasked fragment
018100000000ff 1007 a fragment that cannot become UTF-8
FRAMES
is "$(session hex=8881 hex=00000000 hex=03 recv)" "close 1002" "a close of one byte in pieces is closed with 1002"
is "$(session hex=888300000000 hex=03 hex=e8 hex=ff recv)" "close 1007" "a reason in pieces is checked as well"
is "$(session hex=888000000000 recv recv)" "close 1000|end" "a close without a code is answered with 1000"
is "$(session hex=8882000000000fa0 recv recv)" "close 4000|end" "a close is answered with its own code"
is "$(session hex=88850000000003e8627965 recv recv)" "close 1000|end" "and without its reason"
is "$(session hex=8882000000000fa0 text=more recv recv)" "close 4000|end" "what follows a close is not read"

# ---- limits ----

is "$(session data=20971520 recv)" "binary 20971520" "a message of twice MAX_REQUEST_SIZE passes"
is "$(session data=20971521 recv)" "close 1009" "one byte more is closed with 1009"
is "$(session cut=40000000 recv)" "close 1009" "a message that is too long is not awaited"
is "$(session hex=82ff7fffffffffffffff0000000000 recv)" "close 1009" "nor is one of 2^63 - 1 bytes"
is "$(session hex=02810000000078 hex=02810000000078 recv)" "close 1002" "a second first fragment is closed with 1002"
is "$(session hex=02ff000000000100000000000000 repeat=16777216,78 hex=80ff000000000080000000000000 hex=78 recv)" "close 1009" \
	"fragments count together"
rss() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }
peak() { awk '/^VmHWM/ { print $2 }' "/proc/$1/status"; }
start_relay fragments
before=$(rss $RELAY_PID)
is "$(session hex=028000000000 repeat=1000000,00810000000078 hex=808000000000 recv)" "binary 1000000" "a million fragments are one message"
grown=$(($(peak $RELAY_PID) - before))
ok "[ $grown -lt 32768 ]" "and cost flat memory ($grown KiB)"
tap_stop $RELAY_PID

# ---- the helper's side ----

SOCKET=$WORK/main.sock
RELAY_PID=$MAIN_PID
is "$(session 'text=!close 1008 Graph is live' recv recv)" "close 1008 Graph is live|end" "the helper closes with code and reason"
is "$(session 'text=!exit' recv recv)" "close 1011 Internal error|end" "a helper that exits without a word: 1011"
is "$(session 'text=!raw nonsense' recv)" "close 1011 Internal error" "a line that is no record: 1011"
is "$(session 'text=!raw R1' recv)" "close 1011 Internal error" "a second READY: 1011"
is "$(session 'text=!raw G1000' recv)" "close 1011 Internal error" "a record only the relay may send: 1011"
is "$(session 'text=!raw Y' recv)" "close 1011 Internal error" "a BYE to nobody: 1011"
is "$(session 'text=!hold 300' text=later recv recv)" "on|later" "nothing is lost while the helper holds"
is "$(session 'text=!flood 3000 1000' frames=3000 text=still recv)" "3000 frames, 3000000 bytes|still" "a flood arrives whole"
is "$(session 'text=!flood 2 5000000' frames=2 text=still recv)" "2 frames, 10000000 bytes|still" \
	"messages larger than what may wait arrive whole"
for mode in die old noise; do
	echo $mode >mode
	ANSWER=$(request "$ROUTE,$GOOD,$KEY,$VERSION,X-Agentgraph-Ticket: $(ticket)")
	refused_with 503 SERVICE_UNAVAILABLE 1013 "a helper that begins with '$mode'"
done
echo refuse >mode
is "$(request "$ROUTE,$GOOD,$KEY,$VERSION,X-Agentgraph-Ticket: $(ticket)")" \
	'403 {"detail":"No","metadata":{"request_id":"r-1"},"close_code":1008}' "a helper's refusal is the answer"
rm mode
ok 'wait_for 30 no_helpers' "no helper is left of all these"

# ---- counting ----

hold_open() { # N USER: that many sockets stay open until their processes end; their ids in HELD
	for _ in $(seq "$1"); do
		"$TOOLS/ws_client" "$SOCKET" "open=$ROUTE,$(ticket ${2:+"$2"})" until=end >"$(mktemp held.XXXXXX)" &
		HELD="$HELD $!"
		tap_pids="$! $tap_pids"
	done
	wait_for 30 held_are_open
}
held_are_open() { [ "$(grep -l accepted held.* | wc -l)" -eq "$(echo $HELD | wc -w)" ]; }
HELD=
hold_open 2 ann
ANSWER=$(request "$ROUTE,$GOOD,$KEY,$VERSION,X-Agentgraph-Ticket: $(ticket ann)")
refused_with 503 TOO_MANY_CONNECTIONS 1013 "a third socket of one user"
is "$(json .detail "${ANSWER#* }")" "Too many connections for this user" "and the text says whose"
like "$(client "open=$ROUTE,$(ticket bob)")" "101" "another user has sockets of their own"
hold_open 2
like "$(client "open=$ROUTE,$(ticket)")" "101" "users nobody verified are not counted"
set -- $HELD
kill "$1"
wait "$1" 2>/dev/null
like "$(client "open=$ROUTE,$(ticket ann)")" "101" "a socket that is gone frees its place"
kill $HELD 2>/dev/null
wait $HELD 2>/dev/null
rm -f held.*
echo '{"agent": "builtin:demo", "websocket": {"max_connections": 2}}' >agentgraph.json
start_relay capped
session 'text=!deaf' reset >/dev/null
session 'text=!deaf' reset >/dev/null
refused() {
	ANSWER=$(request "$ROUTE,$GOOD,$KEY,$VERSION,X-Agentgraph-Ticket: $(ticket)")
	case $ANSWER in 503*) ;; *) false ;; esac
}
wait_for 30 refused
refused_with 503 TOO_MANY_CONNECTIONS 1013 "helpers that go on without their clients are counted by themselves"
ok 'wait_for 20 no_helpers' "until they end"
HELD=
hold_open 2
ANSWER=$(request "$ROUTE,$GOOD,$KEY,$VERSION,X-Agentgraph-Ticket: $(ticket)")
refused_with 503 TOO_MANY_CONNECTIONS 1013 "one socket more than max_connections"
is "$(json .detail "${ANSWER#* }")" "Too many connections" "and the text says so"

# ---- the end ----

kill $RELAY_PID
wait $RELAY_PID
is $? 0 "SIGTERM ends the relay with status 0"
wait $HELD
is "$(cat held.* | grep -c 'end')" 2 "its clients are closed"
rm -f held.*
ok '[ ! -e "$SOCKET" ]' "its socket is gone"
start_relay goodbye
opened sleep=1500 recv recv
kill $RELAY_PID
wait $RELAY_PID
wait $CLIENT
is "$(said)" "close 1001 Shutting down|end" "a client is told that the service shuts down"
ok 'wait_for 30 no_helpers' "and its helper has ended"

# ---- who is slow, and who vanishes ----

echo '{"agent": "builtin:demo"}' >agentgraph.json
start_relay stopped --ping 1
opened recv
stopped=$RELAY_PID
kill -STOP $stopped
start_relay slow --ping 2 --stall 2 --linger 500
IDLE=$(descriptors $RELAY_PID)
is "$(session recv recv sleep=100 recv)" "ping 0|ping 0|end" "who does not answer pings is gone"
kill -CONT $stopped
wait $CLIENT
is "$(said)" "ping 0" "who was asked nothing, because the relay was stopped for so long, is not"
is "$(session recv hex=8a8000000000 recv hex=8a8000000000 recv hex=8a8000000000 recv hex=8a8000000000 text=here until=here)" \
	"ping 0|ping 0|ping 0|ping 0|here" "who answers pings stays"
before=$(rss $RELAY_PID)
session 'text=!flood 5000 10000' sleep=6000 until=close >slow.out &
slow=$!
sleep 1
other=$(session text=hello recv)
is "$other" "hello" "one client that never reads is nobody else's problem"
wait $slow
grown=$(($(peak $RELAY_PID) - before))
ok "[ $grown -lt 32768 ]" "what waits for it is bounded ($grown KiB of 50 MB)"
like "$(cat slow.out)" "^(close 1008|end)$" "it is closed in the end"
ok 'wait_for 30 no_helpers' "and its helper could end"
session 'text=!deaf' reset >/dev/null
ok 'wait_for 20 no_helpers' "a helper that hears nothing goes with its client"
session 'text=!nap 2000' data=4000000 data=4000000 data=4000000 reset >/dev/null
ok 'wait_for 20 no_helpers' "and so does one that is late with its reading"

for round in 1 2 3; do
	for _ in $(seq 17); do
		session reset &
		session text=hello reset &
		client "get=$ROUTE,$GOOD,$KEY,$VERSION,X-Agentgraph-Ticket: $(ticket)" reset &
		session 'text=!flood 200 1000' reset &
	done >/dev/null
	wait $(jobs -p | grep -vx -e "$WEBSOCKETD" -e "$RELAY_PID" -e "$silent" $(printf -- '-e %s ' $tap_pids)) 2>/dev/null
	wait_for 20 no_helpers
	is "$(helpers)" 0 "round $round: 68 clients vanished, no helper is left"
	[ "$round" -gt 1 ] || early=$(rss $WEBSOCKETD)
done
grown=$(($(rss $WEBSOCKETD) - early))
ok "[ $grown -lt 8192 ]" "websocketd's memory is flat ($grown KiB)"
wait $silent
is "$(cat silent.out)" "" "a client that says nothing is closed"
ok 'wait_for 30 relay_is_idle' "the relay has no descriptor left of them"

tap_stop $RELAY_PID
start_relay kills
opened 'text=!flood 1 10' frames=1 until=close
wait_for 20 grep -q '1 frames' opened.out
kill -9 $(helper_pids)
wait $CLIENT
is "$(said)" "1 frames, 10 bytes|close 1011 Internal error" "a helper that is killed: 1011"
opened 'text=!flood 1 10' frames=1 until=close
wait_for 20 grep -q '1 frames' opened.out
kill -9 $WEBSOCKETD
wait $CLIENT $WEBSOCKETD 2>/dev/null
is "$(said)" "1 frames, 10 bytes|close 1011 Internal error" "websocketd is killed: 1011"
ANSWER=$(request "$ROUTE,$GOOD,$KEY,$VERSION,X-Agentgraph-Ticket: $(ticket)")
refused_with 503 SERVICE_UNAVAILABLE 1013 "without websocketd"
start_websocketd
tap_stop $RELAY_PID
start_relay last
opened recv
kill -9 $RELAY_PID
wait $CLIENT $RELAY_PID 2>/dev/null
is "$(said)" "end" "the relay is killed: the socket ends"
ok 'wait_for 30 no_helpers' "and its helpers with it"
start_relay last
like "$(session text=again recv)" "again" "the next relay takes over its socket"
"$RELAY" --socket "$SOCKET" --websocketd 127.0.0.1:$PORT --state "$STATE" --config agentgraph.json 2>second.err
is $? 1 "a second one on the same socket is refused"
like "$(cat second.err)" "somebody listens there already" "and the refusal says why"
"$RELAY" --socket x.sock --websocketd 127.0.0.1 --state "$STATE" --config agentgraph.json 2>second.err
like "$?$(cat second.err)" "^2.*--websocketd must be HOST:PORT with a port up to 65535, not \"127.0.0.1\"" "a wrong address is refused"
truncate -s 0 "$STATE/ticket.key"
"$RELAY" --socket x.sock --websocketd 127.0.0.1:1 --state "$STATE" --config agentgraph.json 2>second.err
like "$?$(cat second.err)" "^1.*ticket.key: expected a file of 32 random bytes" "an empty key is refused"
unlike "$(cat relay.log)" "ERROR: AddressSanitizer|runtime error|LeakSanitizer" "no sanitizer has complained"

done_testing
