#!/bin/bash
# SPDX-License-Identifier: ISC
# Files through nginx: uploads that are large, slow, many or cut off; and downloads that nginx sends.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

for tool in nginx:/usr/sbin/nginx curl:/usr/bin/curl jq:/usr/bin/jq python3:/usr/bin/python3; do
	command -v "${tool%%:*}" >/dev/null || [ -x "${tool#*:}" ] || tap_skip_all "no ${tool%%:*} here"
done

# post FILE [CURL-ARGUMENT...]: sets STATUS, BODY and FILE_ID.
post() {
	RAW=$WORK/answer
	STATUS=$(curl -s -o "$RAW" -w '%{http_code}' -F "file=@$1" "${@:2}" "$BASE/v1/files/upload")
	BODY=$(cat "$RAW")
	FILE_ID=$(json '.data.file_id // ""' "$BODY")
}

stored() { find uploads -type f 2>/dev/null | wc -l; }

# What a header of the last answer says, for several of them.
headers() {
	for name; do
		printf '%s: %s\n' "$name" "$(header "$name")"
	done
}

export MEDIA_MAX_SIZE_MB=40 MAX_PENDING_PER_ADDRESS=200
serve_start --processes 1 --threads 4
ok $? 'the service starts'

head -c 30000000 /dev/urandom >big.bin
post big.bin
is "$STATUS" 200 'a large file is taken'
like "$(json .data.mime_type "$BODY")" '^application/octet-stream$' 'with the type that curl gives it'
http GET "/v1/files/$FILE_ID"
is "$STATUS" 200 'and comes back'
ok 'cmp -s big.bin "$RAW"' 'as it was'
sha=$(sha256sum big.bin | cut -d' ' -f1)
is "$(headers Content-Type Content-Disposition ETag Cache-Control Accept-Ranges Content-Length Content-Security-Policy X-Content-Type-Options X-Frame-Options)" \
	"Content-Type: application/octet-stream
Content-Disposition: attachment; filename=\"big.bin\"; filename*=UTF-8''big.bin
ETag: \"$sha\"
Cache-Control: private, no-cache
Accept-Ranges: bytes
Content-Length: 30000000
Content-Security-Policy: default-src 'none'; sandbox
X-Content-Type-Options: nosniff
X-Frame-Options: DENY" 'with all headers'
like "$(header X-Request-ID)" '^[0-9a-f-]{36}$' 'the request id, too'
is "$(printf '%s\n' "$HEADERS" | sed 1d | cut -d: -f1 | tr A-Z a-z | sort | uniq -d)" '' 'none comes twice'
is "$(header X-Accel-Redirect)$(header Content-Encoding)" '' 'and none that is nobody else'"'"'s business'
http GET "/v1/files/$FILE_ID" '' -H 'Origin: http://page' -H 'Accept-Encoding: gzip'
is "$(headers Access-Control-Allow-Origin Vary Access-Control-Allow-Credentials Content-Encoding)" \
	'Access-Control-Allow-Origin: http://page
Vary: Origin
Access-Control-Allow-Credentials: true
Content-Encoding: ' 'those for other pages, too; files are never compressed'
modified=$(header Last-Modified)

# both FACT: through nginx, and where nginx cannot read the file.
printf 0123456789 >digits.txt
post digits.txt
url=/v1/files/$FILE_ID
path=uploads/${FILE_ID:0:2}/$FILE_ID
etag="\"$(sha256sum digits.txt | cut -d' ' -f1)\""

facts() {
	http GET "$url"
	is "$STATUS $(header Content-Type) $BODY" '200 text/plain 0123456789' "$1: all of it"
	is "$(headers ETag Content-Disposition Accept-Ranges)" "ETag: $etag
Content-Disposition: inline
Accept-Ranges: bytes" "$1: its headers"
	is "$(printf '%s\n' "$HEADERS" | sed 1d | cut -d: -f1 | tr A-Z a-z | sort | uniq -d)" '' "$1: none comes twice"
	modified=$(header Last-Modified)
	http HEAD "$url"
	is "$STATUS $(header Content-Length) $(header ETag)" "200 10 $etag" "$1: HEAD"
	http GET "$url" '' -r 2-4
	is "$STATUS $(header Content-Range) $(header Accept-Ranges) $(header ETag) $BODY" "206 bytes 2-4/10 bytes $etag 234" "$1: a range"
	http GET "$url" '' -r -3
	is "$STATUS $(header Content-Range) $BODY" '206 bytes 7-9/10 789' "$1: the last bytes"
	http GET "$url" '' -r 7-99999999999999999999
	is "$STATUS $(header Content-Range) $BODY" '206 bytes 7-9/10 789' "$1: an end beyond all numbers"
	http GET "$url" '' -r 0-1,4-5
	is "$STATUS $BODY" '200 0123456789' "$1: several ranges"
	http GET "$url" '' -H 'Range: bytes=nonsense'
	is "$STATUS $BODY" '200 0123456789' "$1: no range"
	http GET "$url" '' -r 10-
	is "$STATUS $(header Content-Range) $(json .error_code "$BODY")" '416 bytes */10 RANGE_NOT_SATISFIABLE' "$1: an outside one"
	is "$(header Content-Type) $(header X-Frame-Options)" 'application/json DENY' "$1: told as every mistake"
	http GET "$url" '' -r 2-4 -H "If-Range: $etag"
	is "$STATUS $BODY" '206 234' "$1: If-Range with the tag"
	http GET "$url" '' -r 2-4 -H "If-Range: $modified"
	is "$STATUS $BODY" '206 234' "$1: with the date"
	http GET "$url" '' -r 2-4 -H 'If-Range: "x"'
	is "$STATUS $BODY" '200 0123456789' "$1: with another tag"
	http GET "$url" '' -H "If-None-Match: $etag"
	is "$STATUS $(header ETag) $(header Content-Length)" "304 $etag " "$1: a tag that is known"
	http GET "$url" '' -H "If-Modified-Since: $modified"
	is "$STATUS" 304 "$1: not modified"
	http GET "$url" '' -H 'If-Match: "x"' -H 'X-Accel-Redirect: /etc/passwd'
	is "$STATUS $BODY" '200 0123456789' "$1: what else a client may say"
}
facts nginx
http GET "/_agentgraph/files/local/${FILE_ID:0:2}/$FILE_ID"
is "$STATUS $(json .error_code "$BODY")" '404 NOT_FOUND' 'no client asks nginx for files by themselves'
mv "$path" elsewhere
http GET "$url"
is "$STATUS $(json .error_code "$BODY")" '500 STORAGE_ERROR' 'files that are gone are told'
mv elsewhere "$path"

# As with an nginx that may not read them, or whose snippet is of an earlier configuration.
conf=$STATE/run/nginx.conf
sed "s|alias \".*/uploads/\"|alias \"$WORK/nowhere/\"|" "$conf" >conf.new && cat conf.new >"$conf"
master=$(for child in $(children "$SERVE_PID"); do
	grep -q nginx "/proc/$child/comm" && echo "$child"
done)
old=$(children "$master")
kill -HUP "$master"
replaced() { [ "$(children "$master")" != "$old" ] && ! grep -q 'shutting down' $(printf '/proc/%s/cmdline ' $(children "$master")); }
wait_for 20 replaced
facts 'the service itself'
ok 'grep -q "$WORK/nowhere" "$conf"' 'nginx was really told something else'

# ---- limits ----

before=$(stored)
head -c 41943041 /dev/zero >over.bin
post over.bin
is "$STATUS $(json '.error_code + " " + .detail' "$BODY")" '413 FILE_TOO_LARGE File exceeds maximum 40.0MB' 'one byte over the limit'
head -c 50000000 /dev/zero >over.bin
post over.bin -H 'Expect:'
is "$STATUS $(json '.error_code' "$BODY")" '413 FILE_TOO_LARGE' 'an announced body over the limit'
STATUS=$(curl -s -o answer -w '%{http_code}' -H 'Transfer-Encoding: chunked' -F file=@over.bin "$BASE/v1/files/upload")
is "$STATUS $(json '.error_code' "$(cat answer)")" '413 FILE_TOO_LARGE' 'one of unknown length'
STATUS=$(curl -s -o answer -w '%{http_code}' -H 'Transfer-Encoding: chunked' -H 'Content-Type: application/json' \
	--data-binary @over.bin "$BASE/v1/graph/invoke")
is "$STATUS $(json '.error_code' "$(cat answer)")" '413 REQUEST_TOO_LARGE' 'which other routes say in their own words'
STATUS=$(curl -s -o answer -w '%{http_code}' -H 'Transfer-Encoding: chunked' -F file=@digits.txt "$BASE/v1/files/upload")
is "$STATUS" 200 'a short one of unknown length is taken'
is "$(stored)" $((before + 1)) 'the rest leaves nothing'

# ---- many, slow, and gone ----

before=$(stored)
pids=
for i in $(seq 100); do
	curl -s -o "many.$i" -F file=@digits.txt "$BASE/v1/files/upload" &
	pids="$pids $!"
done
wait $pids
is "$(cat many.* | jq -r '.data.file_id // .error_code' | grep -c '^[0-9a-f]\{32\}$')" 100 'the same file a hundred times at once'
is "$(cat many.* | jq -r '.data.file_id' | sort -u | wc -l)" 100 'is a hundred files'
is "$(stored)" $((before + 100)) 'each of them stored'

python3 - "${BASE#http://127.0.0.1:}" <<'PYTHON' >slow.out 2>slow.err &
import socket, sys, time

held = []
head = (b"POST /v1/files/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n"
        b"Content-Length: 1000000\r\n\r\n--b\r\nContent-Disposition: form-data; name=file; filename=f\r\n\r\n")
for _ in range(100):
    c = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    c.sendall(head)
    held.append(c)
print("slow", flush=True)
for _ in range(600):
    for c in held:
        c.sendall(b"x")
    time.sleep(0.1)
PYTHON
slow=$!
tap_pids="$slow $tap_pids"
wait_for 20 grep -q slow slow.out
sleep 0.5
late=0
for _ in 1 2 3 4 5; do
	curl -s -o /dev/null --max-time 60 -f "$BASE/v1/graph" || late=$((late + 1))
	post digits.txt --max-time 60
	[ "$STATUS" = 200 ] || late=$((late + 1))
done
is "$late" 0 'a hundred slow uploads hold up nobody, with four threads in the pool'
alive "$slow"
is $? 0 'and are still there'
before=$(stored)
kill "$slow"
wait "$slow" 2>/dev/null
curl -s -o /dev/null --limit-rate 1000k --max-time 1 -F file=@big.bin "$BASE/v1/files/upload"
is $? 28 'a client stops in the middle'
curl -s -o /dev/null -f "$BASE/v1/graph"
unchanged() { [ "$(stored)" = "$before" ]; }
ok 'wait_for 30 unchanged' 'nothing stays of what was cut off'
left() { [ "$(find "$STATE/run/body" -type f 2>/dev/null | wc -l)" = 0 ]; }
ok 'wait_for 30 left' 'nor in nginx'
curl -s -o /dev/null --limit-rate 1000k --max-time 1 "$BASE/v1/files/$(json .data.file_id "$(cat many.1)")"
http GET /ping
is "$STATUS" 200 'a client that stops in the middle of a download hurts nobody'
post digits.txt
find uploads -name "$FILE_ID" -delete
http GET "/v1/files/$FILE_ID"
is "$STATUS $(json .error_code "$BODY")" '500 STORAGE_ERROR' 'a file that somebody removed from the disk is told by the service'
unlike "$(cat "$SERVE_ERR")" ' ERROR .*(Traceback|crash|signal)' 'no process died'
serve_stop

# ---- files in memory ----

export MEDIA_STORAGE_TYPE=memory
serve_start
post digits.txt
http GET "/v1/files/$FILE_ID"
is "$STATUS $BODY" '200 0123456789' 'files in memory are sent, too'
like "$("$AGENTGRAPH" nginx-conf --state "$STATE")" "alias \"$STATE/memory/\"" 'by nginx'
done_testing
