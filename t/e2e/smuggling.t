#!/bin/sh
# SPDX-License-Identifier: ISC
# Requests that pretend to come from somebody else, or try to reach internal paths, through nginx and around it.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"

command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'
command -v websocketd >/dev/null || tap_skip_all 'websocketd is not installed'

configure '"auth":"jwt","authorization":"ownership","rate_limit":{"requests":1000,"by":"ip","trusted_proxy_headers":true,
	"trusted_proxies":["192.0.2.1"]}'
serve_start || tap_bail 'the service does not start'
alice=$(token alice) bob=$(token bob)
UPGRADE='Connection: Upgrade
Upgrade: websocket
Sec-WebSocket-Version: 13
Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='

# raw METHOD PATH [LINES]: one request as it is written here, LINES apart from Host; sets STATUS and BODY of the first answer
# and ANSWERS, how many came.  A body stands behind an empty line.
raw() {
	raw_head=$(printf '%s\n' "${3-}" | sed '/^$/,$d')
	raw_body=$(printf '%s\n' "${3-}" | sed '1,/^$/d')
	{
		printf '%s %s HTTP/1.1\r\nHost: localhost\r\n' "$1" "$2"
		[ -z "$raw_head" ] || printf '%s\n' "$raw_head" | sed 's/$/\r/'
		printf '\r\n%s' "$raw_body"
	} >request
	python3 - "$BASE" >answer <<'PYTHON'
import socket, sys
host, port = sys.argv[1].rsplit("/", 1)[1].split(":")
s = socket.create_connection((host, int(port)), 10)
s.sendall(open("request", "rb").read())
s.settimeout(1.5)
try:
    while True:
        data = s.recv(65536)
        if not data:
            break
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
except socket.timeout:
    pass
PYTHON
	STATUS=$(sed -n '1s/^HTTP[^ ]* \([0-9]*\).*/\1/p' answer)
	ANSWERS=$(grep -c '^HTTP/1.1 ' answer)
	BODY=$(tr -d '\r' <answer | sed '1,/^$/d' | sed -n '1p')
}

code() { json .error_code "$BODY"; }

# refused EXPECTED NAME METHOD PATH [LINES]: status and code.
refused() {
	refused_expected=$1 refused_name=$2
	shift 2
	raw "$@"
	is "$STATUS $(code)" "$refused_expected" "$refused_name"
}

# ---- credentials ----

refused '403 REVOKED_TOKEN' 'a header with an underscore is not Authorization' GET /v1/threads "Authorization_: Bearer $alice
X_Authorization: Bearer $alice"
refused '400 BAD_REQUEST' 'two Authorization headers are refused' GET /v1/threads "Authorization: Bearer $alice
Authorization: Bearer $bob"
refused '400 BAD_REQUEST' 'also when they are the same' GET /v1/threads "Authorization: Bearer $alice
Authorization: Bearer $alice"
refused '403 REVOKED_TOKEN' 'two schemes in one header are none' GET /v1/threads "Authorization: Basic x, Bearer $alice"
refused '403 REVOKED_TOKEN' 'a cookie is no credential' GET /v1/threads "Cookie: Authorization=Bearer $alice; token=$alice"
refused '403 REVOKED_TOKEN' 'nor is the query of a request' GET "/v1/threads?token=$alice"
refused '403 REVOKED_TOKEN' 'nor a header that names the user' GET /v1/threads "X-User-Id: alice
Remote-User: alice
X-Remote-User: alice"
for name in REMOTE_USER HTTP_AUTHORIZATION USER_ID; do
	refused '403 REVOKED_TOKEN' "nor $name" GET /v1/threads "$name: Bearer $alice"
done

# ---- the address ----

http GET /ping '' -H 'X-Forwarded-For: 198.51.100.7'
for spoof in 'X-Forwarded-For: 198.51.100.7' 'X_Forwarded_For: 198.51.100.7' 'Forwarded: for=198.51.100.7' \
	'X-Real-IP: 198.51.100.7' 'REMOTE_ADDR: 198.51.100.7' 'Remote-Addr: 198.51.100.7'; do
	http GET /v1/threads '' -H "Authorization: Bearer $alice"
	before=$(header X-RateLimit-Remaining)
	http GET /v1/threads '' -H "Authorization: Bearer $alice" -H "$spoof"
	is "$(header X-RateLimit-Remaining)" $((before - 1)) "no other address by ${spoof%%:*}"
done

# ---- what is internal ----

for path in /_agentgraph/relay/v1/graph/ws /_agentgraph/relay/ /_agentgraph/error /_agentgraph/refused /_agentgraph/ \
	/%5fagentgraph/relay/v1/graph/ws /_agentgraph/%72elay/v1/graph/ws //_agentgraph/relay/v1/graph/ws; do
	refused '404 NOT_FOUND' "$path is nobody's" GET "$path" "$UPGRADE
X-Agentgraph-Ticket: $alice"
done
refused '400 BAD_REQUEST' 'nor is it reached through /v1/..' GET /v1/../../_agentgraph/relay/v1/graph/ws "$UPGRADE"
raw GET /ping 'X-Accel-Redirect: /_agentgraph/relay/v1/graph/ws
X-Accel-Buffering: yes
X-Sendfile: /etc/passwd'
is "$STATUS $(json .data "$BODY")" '200 pong' 'X-Accel-Redirect from a client means nothing'
refused '403 REVOKED_TOKEN' 'nor does a ticket' GET /v1/graph/ws "$UPGRADE
X-Agentgraph-Ticket: $("$TOP_BUILDDIR/t/e2e/ws_ticket" "$STATE" /v1/graph/ws alice)"
refused '403 REVOKED_TOKEN' 'whatever it is written like' GET /v1/graph/ws "$UPGRADE
X_Agentgraph_Ticket: $("$TOP_BUILDDIR/t/e2e/ws_ticket" "$STATE" /v1/graph/ws alice)"
http GET /v1/graph/ws '' -H "Authorization: Bearer $alice" -H 'Connection: Upgrade' -H 'Upgrade: websocket' \
	-H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: short'
unlike "$HEADERS" 'Ticket|X-Accel' 'and none is ever shown'
raw GET /v1/graph/ws "$UPGRADE
Authorization: Bearer $alice
X-Agentgraph-Ticket: forged"
is "$STATUS" 101 'a good credential lets in all the same'
unlike "$(cat answer)" 'Ticket|X-Accel' 'without showing its ticket'

# ---- the end of a request ----

smuggled="GET /v1/threads HTTP/1.1
Host: localhost
Authorization: Bearer $alice
"
refused '400 BAD_REQUEST' 'a length and chunks together are refused' POST /v1/graph/stop "Content-Length: 4
Transfer-Encoding: chunked

0

$smuggled"
is "$ANSWERS" 1 'and what follows is not answered'
refused '400 BAD_REQUEST' 'two lengths are refused' POST /v1/graph/stop "Content-Length: 0
Content-Length: 5

hello"
is "$ANSWERS" 1 'and what follows is not answered'
refused '400 INVALID_CONTENT_LENGTH' 'a length that is none is refused' POST /v1/graph/stop 'Content-Length: 0x10

'
refused '501 NOT_IMPLEMENTED' 'an unknown coding is refused' POST /v1/graph/stop 'Transfer-Encoding: chunked, identity

0
'
refused '400 BAD_REQUEST' 'two hosts are refused' GET /v1/threads 'Host: example.com'

# ---- past nginx ----

port=$(sed -n 's/.*--websocketd[^0-9]*127\.0\.0\.1:\([0-9]*\).*/\1/p' <<LINES
$(for pid in $(children "$SERVE_PID"); do tr '\000' ' ' <"/proc/$pid/cmdline"; echo; done)
LINES
)
ok '[ -n "$port" ]' "websocketd listens on loopback ($port)"
python3 - "$port" >direct <<'PYTHON'
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10)
s.sendall(b"GET /v1/graph/ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
          b"X-Agentgraph-Ticket: forged\r\n\r\n")
s.settimeout(10)
data = b""
try:
    while True:
        piece = s.recv(65536)
        if not piece:
            break
        data += piece
except socket.timeout:
    pass
sys.stdout.buffer.write(data)
PYTHON
like "$(tr -d '\000' <direct)" 'J403' 'who speaks to it without a ticket is refused by the helper'
unlike "$(tr -d '\000' <direct)" 'R1' 'and never served'
ok '! grep -qF "$alice" "$SERVE_ERR"' 'no token is in the log'
is "$(find "$STATE" -type s -perm /077 | head -n 1)" '' "no socket is open to others"

done_testing
