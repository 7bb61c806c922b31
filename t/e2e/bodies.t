#!/bin/sh
# SPDX-License-Identifier: ISC
# Bodies that nobody may send, through nginx: they are refused before they are read, and by the service's own answer.
# Slow ones tie up neither threads nor much of a disk, nor for long.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/api/run.sh"

for tool in curl python3; do
	command -v $tool >/dev/null || tap_skip_all "$tool is not installed"
done
[ -x /usr/sbin/nginx ] || command -v nginx >/dev/null || tap_skip_all 'nginx is not installed'

# hold COUNT PIECE HEADER...: that many clients announce 20 MB to POST $TARGET, send PIECE bytes at once and then one
# now and then.  Prints a line for each that was answered: its status, error_code and detail.  At the end, when
# all were answered or $HOLD seconds (4) are over, how many were not.
cat >hold.py <<'PYTHON'
import json
import os
import select
import socket
import sys
import time

port, count, piece = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
head = ["POST %s HTTP/1.1" % os.environ.get("TARGET", "/v1/files/upload"), "Host: localhost", "Content-Type: multipart/form-data; boundary=b"] + sys.argv[4:]
part = b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
clients, answers = {}, {}


def framed(data):
    return b"%x\r\n%s\r\n" % (len(data), data) if "chunked" in sys.argv[4] else data


for _ in range(count):
    c = socket.create_connection(("127.0.0.1", port))
    c.setblocking(False)
    clients[c] = "\r\n".join(head).encode() + b"\r\n\r\n" + framed(part + b"x" * piece)
    answers[c] = b""
end = time.monotonic() + float(os.environ.get("HOLD", "4"))
quiet = time.monotonic()
while clients and time.monotonic() < end:
    readable, writable, _ = select.select(list(clients), [c for c in clients if clients[c]], [], 0.2)
    for c in writable:
        try:
            clients[c] = clients[c][c.send(clients[c]) :]
        except OSError:
            clients[c] = b""
    for c in readable:
        try:
            data = c.recv(65536)
        except OSError:
            data = b""
        answers[c] += data
        if not data or answers[c].endswith(b"}"):
            status, _, body = answers[c].partition(b"\r\n\r\n")
            error = json.loads(body) if body else {"error_code": "", "detail": ""}
            more = set(error.get("error", {})) - {"code", "message", "details"}
            if status.split(b"\r\n")[0].endswith(b" Status"):
                more.add("no reason")
            print(status.split()[1].decode() if status else "none", error["error_code"], error["detail"], *sorted(more))
            sys.stdout.flush()
            del clients[c]
    if time.monotonic() - quiet > 0.5:
        quiet = time.monotonic()
        for c in clients:
            clients[c] = clients[c] or framed(b"x")
print("waiting:", len(clients))
PYTHON
hold() { python3 hold.py "${BASE##*:}" "$@" </dev/null | sort | uniq -c | sed 's/^ *//'; }

# taken: bytes of bodies that are kept: files of nginx, and those of the workers, which have no names, on disk or in memory.
mkdir bodies
export BODY_TEMP_PATH="$WORK/bodies"
taken() {
	{
		find "$STATE/run/body" bodies -type f -printf '%s\n' 2>/dev/null
		for taken_pid in $(workers); do
			find "/proc/$taken_pid/fd" '(' -lname "$WORK/bodies/*" -o -lname '/memfd:request *' ')' -exec stat -L -c %s {} + 2>/dev/null
		done
	} | awk '{ n += $1 } END { print n + 0 }'
}

export MAX_PENDING_PER_ADDRESS=40
configure '"auth":"jwt","rate_limit":{"requests":1000,"window":600}'
serve_start --processes 1 --threads 4
ok $? 'the service starts'
head -c 20000 /dev/zero | tr '\0' x >large.txt

is "$(hold 40 1000000 'Content-Length: 20000000')" '40 403 REVOKED_TOKEN Invalid token, please login again
1 waiting: 0' 'forty uploads without a token are refused before their bodies are there'
is "$(taken)" 0 'and nothing of them is on disk'
is "$(hold 3 1000 'Transfer-Encoding: chunked')" '3 403 REVOKED_TOKEN Invalid token, please login again
1 waiting: 0' 'so are those that do not say how large they are'

# same NAME CURL-ARGUMENT...: what a large body gets is what a small one gets, and each of them is counted once.
same() {
	same_name=$1
	shift
	small=$(curl -s -D small.head "$@" -d '{}' | jq -c 'del(.metadata)')
	large=$(curl -s -D large.head "$@" --data-binary @large.txt | jq -c 'del(.metadata)')
	is "$large" "$small" "$same_name: the same body"
	is "$(names large.head)" "$(names small.head)" "$same_name: the same status and headers"
	is "$(remaining large.head)" $(($(remaining small.head) - 1)) "$same_name: counted once"
}
names() { tr -d '\r' <"$1" | sed -n '1p; s/^\([A-Za-z-]*\):.*/\1/p' | grep -v -e '^Connection$' -e 100 | sort; }
remaining() { tr -d '\r' <"$1" | sed -n 's/^X-RateLimit-Remaining: //p'; }

same 'no token' "$BASE/v1/graph/invoke" -H 'Content-Type: application/json'
same 'a bad token' "$BASE/v1/graph/invoke" -H 'Content-Type: application/json' -H 'Authorization: Bearer x'
same 'no such path' "$BASE/v1/nothing"
same 'a wrong method' -X PATCH "$BASE/v1/graph/invoke"
same 'another host' "$BASE/v1/nothing" -H 'Origin: http://page'

http POST /v1/graph/invoke "{\"messages\":[{\"role\":\"user\",\"content\":\"$(cat large.txt)\"}]}" -H "Authorization: Bearer $(token ann)"
is "$STATUS" 200 'who has a token may send as much'
first=$(header X-RateLimit-Remaining)
http POST /v1/files/upload '' -H "Authorization: Bearer $(token ann)" -F file=@large.txt
is "$STATUS" 200 'and upload'
is "$(header X-RateLimit-Remaining)" $((first - 1)) 'each counted once'

http GET "/_agentgraph/ask"
is "$STATUS $(json .error_code "$BODY")" '404 NOT_FOUND' 'nobody but nginx asks'
http GET /ping '' -H 'Agentgraph-Asked: 1 1 5 5 5 5' -H 'Agentgraph-Internal: refused'
is "$STATUS" 200 'no header does'
jq -nc --rawfile pad large.txt '{messages: [{role: "user", content: "/slow 3 1500"}], config: {pad: $pad}}' >stream.json
arrivals=$(curl -sN -H 'Content-Type: application/json' -H "Authorization: Bearer $(token ann)" --data-binary @stream.json \
	"$BASE/v1/graph/stream" | while IFS= read -r line; do date +%s%N; done)
ok '[ $(($(printf "%s\n" "$arrivals" | tail -n 1) - $(printf "%s\n" "$arrivals" | head -n 1))) -gt 500000000 ]' \
	'what it streams comes line by line'
serve_stop

# ---- uploads on their way ----

export MAX_PENDING_PER_ADDRESS=4
configure
serve_start --processes 1 --threads 4
is "$(hold 10 1000 'Content-Length: 20000000')" '6 429 RATE_LIMIT_EXCEEDED Too many requests of this address are still arriving
1 waiting: 4' 'one address has no more than it may'
HOLD=10 python3 hold.py "${BASE##*:}" 10 1000 'Content-Length: 20000000' >hold.out </dev/null &
hold=$!
refused() { [ "$(wc -l <hold.out)" -ge 6 ]; }
wait_for 20 refused
http POST /v1/files/upload '' -F 'file=@agentgraph.json'
is "$STATUS" 200 'small ones are not counted'
wait "$hold"
none() { [ "$(taken)" = 0 ] && http POST /v1/files/upload '' -F file=@large.txt && [ "$STATUS" = 200 ]; }
ok 'wait_for 20 none' 'once they have gone there is room'
serve_stop

# ---- slow ones ----

# held FILE COUNT: that many of a hold in the background were answered.
held() { [ "$(wc -l <"$1")" -ge "$2" ]; }
nothing() { [ "$(taken)" = 0 ]; }

export MAX_PENDING_PER_ADDRESS=100 MAX_BODY_SECONDS=8
configure '"auth":"jwt"'
serve_start --processes 1 --threads 4
HOLD=30 python3 hold.py "${BASE##*:}" 40 100000 'Content-Length: 20000000' "Authorization: Bearer $(token ann)" >slow.out </dev/null &
slow=$!
HOLD=30 TARGET=/v1/graph/invoke python3 hold.py "${BASE##*:}" 10 100000 'Content-Length: 5000000' "Authorization: Bearer $(token ann)" >json.out </dev/null &
json=$!
some() { [ "$(taken)" -ge 5000000 ]; }
ok 'wait_for 20 some' 'fifty bodies that do not end are on disk'
http GET /ping '' --max-time 6
is "$STATUS" 200 'no thread waits for them'
http POST /v1/files/upload '' -H "Authorization: Bearer $(token ann)" -F file=@large.txt
is "$STATUS" 200 'others upload beside them'
wait "$slow" "$json"
is "$(sort slow.out | uniq -c | sed 's/^ *//')" '40 408 REQUEST_TIMEOUT Request timeout
1 waiting: 0' 'uploads have so many seconds and no more'
is "$(sort json.out | uniq -c | sed 's/^ *//')" '10 408 REQUEST_TIMEOUT Request timeout
1 waiting: 0' 'as have other bodies'
ok nothing 'and nothing of them stays on disk'
serve_stop

# ---- whose they are ----

export MAX_PENDING_PER_ADDRESS=16 MAX_BODY_SECONDS=800
configure '"rate_limit":{"requests":1000,"window":600,"trusted_proxy_headers":true}'
serve_start --processes 2 --threads 4
waits() {
	HOLD=20 TARGET=$1 python3 hold.py "${BASE##*:}" "$2" 1000 'Content-Length: 5000000' "X-Forwarded-For: $3" \
		>"$4" </dev/null &
}
waits /v1/files/upload 20 192.0.2.1 first.out
first=$!
wait_for 20 held first.out 4
waits /v1/graph/invoke 3 192.0.2.1 same.out
wait_for 20 held same.out 3
is "$(sort -u first.out same.out | grep -v waiting)" '429 RATE_LIMIT_EXCEEDED Too many requests of this address are still arriving' 'the seventeenth body of an address is one too many, of whatever kind'
is "$(TARGET=/v1/graph/invoke hold 1 1000 'Content-Length: 5000000' 'X-Forwarded-For: 192.0.2.2')" '1 waiting: 1' 'another one has its own'
is "$(wc -l <first.out)" 4 'sixteen may wait'
kill "$first"
ok 'wait_for 20 nothing' 'when they have gone so have their files'
waits /v1/files/upload 10 2001:db8::1 six.out
six=$!
ten() { [ "$(taken)" -ge 10000 ]; }
wait_for 20 ten
is "$(hold 10 1000 'Content-Length: 5000000' 'X-Forwarded-For: 2001:db8::2')" '4 429 RATE_LIMIT_EXCEEDED Too many requests of this address are still arriving
1 waiting: 6' 'a network of IPv6 is one'
kill "$six"

# What a process had is counted no more when it is killed, while the other one goes on.
wait_for 20 nothing
waits /v1/files/upload 16 192.0.2.3 killed.out
killed=$!
sixteen() { [ "$(taken)" -ge 16000 ]; }
wait_for 20 sixteen
kill -9 "$(workers | head -n 1)"
wait_for 20 held killed.out 1
two() { [ "$(workers | wc -l)" = 2 ]; }
wait_for 20 two
hold 16 1000 'Content-Length: 5000000' 'X-Forwarded-For: 192.0.2.3' >again.out
gone=$(wc -l <killed.out)
ok '[ "$gone" -lt 16 ]' 'a killed worker ends what it had, the other one goes on'
is "$(tail -n 1 again.out)" "1 waiting: $gone" 'and their places are free'
kill "$killed"
serve_stop

# ---- all of them ----

export MAX_PENDING_PER_ADDRESS=100 MAX_BODY_TEMP_BYTES=3000000
serve_start --processes 2 --threads 4
python3 hold.py "${BASE##*:}" 6 1000000 'Content-Length: 20000000' >all.out </dev/null &
all=$!
wait_for 20 held all.out 1
ok '[ "$(taken)" -le 3000000 ]' 'all files together have a bound'
wait "$all"
is "$(sort -u all.out | head -n 1)" '503 TRANSIENT_STORAGE_ERROR Storage is temporarily unavailable' 'what goes beyond is refused'
unset MAX_BODY_TEMP_BYTES
serve_stop

# ---- a disk without room ----

if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=128k none small 2>/dev/null; then
	unmount() {
		code=$?
		umount -l "$WORK/small" 2>/dev/null
		(exit "$code")
		tap_end
	}
	trap unmount EXIT
	dd if=/dev/zero of=small/fill bs=4k >/dev/null 2>&1
	BODY_TEMP_PATH=$WORK/small
	export BODY_TEMP_PATH
	serve_start --processes 1 --threads 4
	head -c 3000000 /dev/zero | tr '\0' x >large.txt
	answers=
	for n in 1 2 3 4 5 6 7 8; do
		answers="$answers $(curl -s -H 'Content-Type: application/json' --data-binary @large.txt "$BASE/v1/graph/invoke" | jq -r .error.code)"
	done
	is "$(echo $answers | tr ' ' '\n' | sort | uniq -c | xargs)" '8 TRANSIENT_STORAGE_ERROR' 'what has no room on the disk is told so'
	unset BODY_TEMP_PATH
	serve_stop
	umount small
fi

# ---- the end ----

serve_start --processes 1 --threads 4
cat >late.py <<'PYTHON'
import os
import signal
import socket
import sys
import time

part = b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n' + b"x" * 100000 + b"\r\n--b--\r\n"
c = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
c.sendall(
    b"POST /v1/files/upload HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=b\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(part), part[:50000])
)
time.sleep(1)
os.kill(int(sys.argv[2]), signal.SIGTERM)
time.sleep(1)
c.sendall(part[50000:])
print(c.recv(65536).decode().splitlines()[0])
PYTHON
python3 late.py "${BASE##*:}" "$SERVE_PID" >end.out
like "$(head -n 1 end.out)" '^HTTP/1.1 200 ' 'who is stopped takes what is on its way'
serve_stop

# ---- other protocols ----

configure '"openai":{"enabled":true},"mcp":{"enabled":true},"a2a":{"enabled":true},"langgraph":{"enabled":true}'
export MAX_REQUEST_SIZE=20000
serve_start --processes 1 --threads 4
unset MAX_REQUEST_SIZE
head -c 30000 /dev/zero | tr '\0' x >large.txt
for path in /v1/chat/completions /v1/mcp /v1/a2a /lg/threads /lg/runs/stream; do
	for how in Content-Type:application/json Transfer-Encoding:chunked; do
		curl -s -o answer -w '%{http_code} ' -H "$how" --data-binary @large.txt "$BASE$path" >status
		jq -c '[paths(scalars) | map(tostring) | join(".")] | sort | join(" ")' answer >>status
		case $path in
		/v1/chat*) form='error.code error.message error.type' ;;
		/v1/mcp) form='error.code error.data.code error.data.request_id error.message jsonrpc' ;;
		/v1/a2a) form='error.code error.data.0.@type error.data.0.domain error.data.0.metadata.code error.data.0.metadata.requestId error.data.0.reason error.message jsonrpc' ;;
		*) form='code detail' ;;
		esac
		is "$(cat status)" "413 \"$form\"" "a body that is too large is refused in the form of $path ($how)"
	done
done
serve_stop

# ---- the limit ----

configure '"rate_limit":{"requests":2,"window":600}'
serve_start --processes 1 --threads 4
for n in 1 2; do http GET /v1/graph; done
is "$(hold 2 1000 'Content-Length: 20000000' | grep -c '429 RATE_LIMIT_EXCEEDED Too many requests. Limit: 2 per 600s')" 1 'who has asked too often is told so before the body'
serve_stop

done_testing
