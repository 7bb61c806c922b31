#!/bin/sh
# SPDX-License-Identifier: ISC
# Bodies that nobody may send, through nginx: they are refused before they are taken, and with the answer that the
# service gives.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"

for tool in curl python3; do
	command -v $tool >/dev/null || tap_skip_all "$tool is not installed"
done
[ -x /usr/sbin/nginx ] || command -v nginx >/dev/null || tap_skip_all 'nginx is not installed'

# hold COUNT PIECE HEADER...: that many clients announce 20 MB to POST /v1/files/upload, send PIECE bytes at once and
# then one now and then.  Prints a line for each that was answered: its status, error_code and detail.  At the end, when
# all were answered or ten seconds are over, how many were not.
cat >hold.py <<'PYTHON'
import json
import select
import socket
import sys
import time

port, count, piece = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
head = ["POST /v1/files/upload HTTP/1.1", "Host: localhost", "Content-Type: multipart/form-data; boundary=b"] + sys.argv[4:]
part = b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
clients, answers = {}, {}


def framed(data):
    return b"%x\r\n%s\r\n" % (len(data), data) if "chunked" in sys.argv[4] else data


for _ in range(count):
    c = socket.create_connection(("127.0.0.1", port))
    c.setblocking(False)
    clients[c] = "\r\n".join(head).encode() + b"\r\n\r\n" + framed(part + b"x" * piece)
    answers[c] = b""
end = time.monotonic() + 10
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
            print(status.split()[1].decode() if status else "none", error["error_code"], error["detail"])
            sys.stdout.flush()
            del clients[c]
    if time.monotonic() - quiet > 0.5:
        quiet = time.monotonic()
        for c in clients:
            clients[c] = clients[c] or framed(b"x")
print("waiting:", len(clients))
PYTHON
hold() { python3 hold.py "${BASE##*:}" "$@" </dev/null | sort | uniq -c | sed 's/^ *//'; }

# taken: bytes of bodies that nginx has on disk.
taken() { find "$STATE/run/body" -type f -printf '%s\n' 2>/dev/null | awk '{ n += $1 } END { print n + 0 }'; }

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
serve_stop

# ---- uploads on their way ----

export MAX_PENDING_PER_ADDRESS=4
configure
serve_start --processes 1 --threads 4
is "$(hold 10 1000 'Content-Length: 20000000')" '6 429 RATE_LIMIT_EXCEEDED Too many uploads of this address are on their way
1 waiting: 4' 'one address has no more than it may'
python3 hold.py "${BASE##*:}" 10 1000 'Content-Length: 20000000' >hold.out </dev/null &
hold=$!
refused() { [ "$(wc -l <hold.out)" -ge 6 ]; }
wait_for 20 refused
http POST /v1/files/upload '' -F 'file=@agentgraph.json'
is "$STATUS" 200 'small ones are not counted'
wait "$hold"
none() { [ "$(taken)" = 0 ] && http POST /v1/files/upload '' -F file=@large.txt && [ "$STATUS" = 200 ]; }
ok 'wait_for 20 none' 'once they have gone there is room'
serve_stop

# ---- the limit ----

configure '"rate_limit":{"requests":2,"window":600}'
serve_start --processes 1 --threads 4
for n in 1 2; do http GET /v1/graph; done
is "$(hold 2 1000 'Content-Length: 20000000' | grep -c '429 RATE_LIMIT_EXCEEDED Too many requests. Limit: 2 per 600s')" 1 'who has asked too often is told so before the body'
serve_stop

done_testing
