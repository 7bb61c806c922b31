#!/bin/bash
# SPDX-License-Identifier: ISC
# Files in a bucket on an S3 server that others wrote: OpenStack Swift with its s3api, which verifies every signature.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

for tool in nginx:/usr/sbin/nginx curl:/usr/bin/curl jq:/usr/bin/jq sqlite3:/usr/bin/sqlite3 python3:/usr/bin/python3; do
	command -v "${tool%%:*}" >/dev/null || [ -x "${tool#*:}" ] || tap_skip_all "no ${tool%%:*} here"
done
/usr/bin/python3 -c 'import swift, xattr' 2>/dev/null || tap_skip_all 'no Swift here (Debian: python3-swift)'
mkdir swift && touch swift/attributes
/usr/bin/python3 -c 'import xattr; xattr.setxattr("swift/attributes", "user.swift", b"1")' 2>/dev/null ||
	tap_skip_all 'no extended attributes on this file system'
rm swift/attributes

# ---- the server, and the proxy before it ----

mkfifo life && exec 7<>life
started=$(date +%s)
/usr/bin/python3 "$TOP_SRCDIR/t/e2e/s3_server.py" swift bucket <life >server.out 2>server.err &
server=$!
tap_pids="$server $tap_pids"
wait_for 60 [ -s server.out ] || { diag "$(tail -n 20 server.err)" && tap_bail 'the S3 server did not start'; }
diag "the S3 server started in $(($(date +%s) - started)) seconds"
/usr/bin/python3 "$TOP_SRCDIR/t/e2e/s3_proxy.py" "$(cat server.out)" >proxy.out 2>proxy.err &
tap_pids="$! $tap_pids"
wait_for 20 [ -s proxy.out ] || tap_bail 'the proxy did not start'

# mode KIND COUNT MATCH ARGUMENT: see s3_proxy.py.
mode() {
	: >requests
	echo "$@" >mode
}
mode pass 0 x x

# asked PATTERN: how many requests came since the mode was set.
asked() { grep -c -- "$1" requests; }

# Objects, parts and notes of uploads that lie in the server.
objects() { find swift/devices -name '*.data' | wc -l; }

post() {
	RAW=$WORK/answer
	STATUS=$(curl -s -o "$RAW" -w '%{http_code}' -F "file=@$1" "${@:2}" "$BASE/v1/files/upload")
	BODY=$(cat "$RAW")
	FILE_ID=$(json '.data.file_id // ""' "$BODY")
}

said() { echo "$STATUS $(json '.error_code // ""' "$BODY")"; }

export MEDIA_STORAGE_TYPE=cloud MEDIA_CLOUD_BUCKET=bucket MEDIA_CLOUD_PREFIX=some/where \
	MEDIA_CLOUD_ENDPOINT=http://127.0.0.1:$(cat proxy.out) MEDIA_CLOUD_ACCESS_KEY_ID=test:tester \
	MEDIA_CLOUD_SECRET_ACCESS_KEY=testing MEDIA_SIGNED_URL_TTL_SECONDS=600
STATE=$WORK/state
serve_start --processes 1
ok $? 'the service starts'

# ---- small and large ----

printf 'hello bucket' >small.txt
post small.txt
is "$STATUS" 200 'a small file is taken'
is "$(json '.data.extracted_text' "$BODY")" 'hello bucket' 'its text is extracted'
is "$(asked 'uploads')" 0 'in one piece'
small=$FILE_ID
direct=$(json .data.direct_url "$BODY")
expires=$(json .data.direct_url_expires_at "$BODY")
ok '[ "$expires" -gt $(($(date +%s) + 500)) ] && [ "$expires" -le $(($(date +%s) + 600)) ]' 'its URL says when it expires'
curl -s -D headers -o fetched "$direct"
ok 'cmp -s small.txt fetched' 'anybody can fetch it there'
like "$(tr -d '\r' <headers)" '^Content-Type: text/plain' 'as what it is'
like "$(tr -d '\r' <headers)" '^Content-Disposition: inline$' 'and how'
case $direct in
*0) forged=${direct%?}1 ;;
*) forged=${direct%?}0 ;;
esac
is "$(curl -s -o /dev/null -w '%{http_code}' "$forged")" 403 'with the right signature alone'
is "$(curl -s -o /dev/null -w '%{http_code}' "${direct/600/900}")" 403 'and not for longer'
unlike "$(curl -s -o /dev/null -w '%{http_code}' "${direct%%\?*}")" '^2' 'not without'

head -c 20000000 /dev/urandom >large.bin
post large.bin
is "$STATUS" 200 'a large file is taken'
large=$FILE_ID
is "$(asked 'PUT .*partNumber=')" 3 'in parts'
http GET "/v1/files/$large"
ok 'cmp -s large.bin "$RAW"' 'and comes back as it was'
is "$(header Location)$(header ETag)" "\"$(sha256sum large.bin | cut -d' ' -f1)\"" 'from here, with its tag'
http GET "/v1/files/$large" '' -r 8388600-8388615
ok 'cmp -s <(tail -c +8388601 large.bin | head -c 16) "$RAW"' 'a range across two parts'
is "$STATUS $(header Content-Range)" '206 bytes 8388600-8388615/20000000' 'is one'
http GET "/v1/files/$large" '' -r 20000000-
is "$STATUS" 416 'one outside is told'
: >requests
http HEAD "/v1/files/$large"
is "$STATUS $(header Content-Length) $(asked GET)" '200 20000000 0' 'HEAD reads nothing'
http GET "/v1/files/$small"
is "$STATUS $BODY" '200 hello bucket' 'the small one'
http GET "/v1/files/$large/url"
url=$(json .data.url "$BODY")
ok '[ "$(json .data.expires_at "$BODY")" -gt $(($(date +%s) * 1000 + 500000)) ]' 'the route for URLs says milliseconds'
curl -s -D headers -o fetched "$url"
ok 'cmp -s large.bin fetched' 'and its URL works'
like "$(tr -d '\r' <headers)" '^Content-Disposition: attachment; filename="large.bin"' 'for saving'
http GET "/v1/files/$small/info"
like "$(json .data.direct_url "$BODY")" 'X-Amz-Signature=' 'the description has one, too'
is "$(json '.data.key // "none"' "$BODY")" none 'but not the key'
is "$(curl -s --json "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"document\",\"file_id\":\"$small\"},{\"type\":\"text\",\"text\":\"/files\"}]}]}" \
	"$BASE/v1/graph/invoke" | jq -r '.data.messages[-1].content[0].text')" 'document text/plain 12: hello bucket' 'the graph gets it'

# ---- failures that pass ----

mode error 2 PUT 500
post small.txt
is "$(said) $(asked PUT)" '200  3' '500 twice, then success'
mode error 1 partNumber=2 503
post large.bin
is "$(said) $(asked partNumber=2)" '200  2' 'a part that fails is sent again'
mode lost 1 'uploadId=' x
post large.bin
is "$(said)" '200 ' 'a part whose answer is lost, too'
mode slow 1 PUT 3
post small.txt
is "$(said)" '200 ' 'a slow server is waited for'
mode cut 2 GET 5000
http GET "/v1/files/$large"
ok 'cmp -s large.bin "$RAW"' 'an answer that breaks off is asked for again'
mode error 2 HEAD 503
http GET "/v1/files/$small"
is "$STATUS $BODY" '200 hello bucket' 'so is one that says that the server is busy'

# The answer to the last request of an upload in parts is lost, so the second one finds no such upload.
mode pass 0 x x
post large.bin
begun=$(grep -c 'POST' requests)
is "$begun" 2 'an upload in parts begins and ends with a POST'
python3 - <<'PYTHON' &
import time
for _ in range(600):
    lines = open("requests").read().splitlines()
    if sum("partNumber=3" in line for line in lines) == 1:
        open("mode", "w").write("lost 1 POST x\n")
        break
    time.sleep(0.01)
PYTHON
watcher=$!
mode slow 1 partNumber=3 1
post large.bin
wait "$watcher"
is "$(said)" '200 ' 'an end whose answer is lost is found to have happened'
http GET "/v1/files/$FILE_ID"
ok 'cmp -s large.bin "$RAW"' 'and the file is there'

# ---- failures that stay ----

before=$(objects)
mode error 99 PUT 500
post small.txt
is "$(said) $(asked PUT)" '503 TRANSIENT_STORAGE_ERROR 4' 'a server that stays broken'
like "$(cat "$SERVE_ERR")" "ERROR .*the bucket's server answered PUT some/where/[0-9a-f/]+ with 500" 'is in the log'
mode error 99 partNumber=2 500
post large.bin
is "$(said)" '503 TRANSIENT_STORAGE_ERROR' 'in the middle of a large file'
is "$(asked 'DELETE.*uploadId')" 1 'which is given up'
is "$(objects)" "$before" 'and leaves nothing'
is "$(ls "$STATE/cloud" | wc -l)" 0 'here, too'
mode error 99 HEAD 500
http GET "/v1/files/$large"
is "$STATUS $(json .error_code "$BODY")" '503 TRANSIENT_STORAGE_ERROR' 'a file that cannot be reached'
mode cut 99 GET 5000
http GET "/v1/files/$large" '' --max-time 30
is "$STATUS" 503 'one that cannot be read is told at once'
mode pass 0 x x
until [ "$(asked GET)" -ge 6 ]; do sleep 0.01; done && echo 'cut 99 GET 5000' >mode &
later=$!
is "$(curl -s -o /dev/null -w '%{exitcode}' --max-time 30 "$BASE/v1/files/$large")" 18 'so is one that breaks off for good'
wait "$later"
mode pass 0 x x
post small.txt
tiny=$FILE_ID
sqlite3 "$STATE/files.db" "UPDATE files SET key = key || 'x' WHERE file_id = '$small'"
http GET "/v1/files/$small"
is "$STATUS $(json .error_code "$BODY")" '500 STORAGE_ERROR' 'a file that is gone is told'

# ---- answers that are not what they seem ----

# says COUNT MATCH STATUS HEADERS BODY: what the next requests are answered with.
says() {
	printf 'HTTP/1.1 %s\r\n%bContent-Length: %d\r\nConnection: close\r\n\r\n%s' "$3" "$4" ${#5} "$5" >words
	mode says "$1" "$2" words
}
# told PATTERN NAME: what the log says since the last time.
told() {
	like "$(tail -n "+$((logged + 1))" "$SERVE_ERR")" "$1" "$2"
	logged=$(wc -l <"$SERVE_ERR")
}
logged=$(wc -l <"$SERVE_ERR")
says 1 GET '206 Partial Content' 'Content-Range: bytes 5-16/17\r\n' 'other bytes!'
http GET "/v1/files/$tiny"
is "$STATUS" 503 'another range than was asked for is not the file'
told "bucket's server answered GET some/where/.* with another range, bytes 5-16/17" 'which the log says'
says 1 PUT '200 OK' '' '<html>welcome</html>'
post small.txt
is "$(said)" '503 TRANSIENT_STORAGE_ERROR' 'who answers to a file without its tag has not stored it'
told "bucket's server answered PUT some/where/.* without an ETag" 'which the log says'
says 1 '^POST.*uploadId=' '200 OK' '' '<Error><Code>InternalError</Code></Error>'
post large.bin
is "$(said)" '200 ' 'an upload whose end failed on the way is ended once more'
says 9 '^POST.*uploadId=' '200 OK' '' '<Error><Code>InvalidPart</Code></Error>'
post large.bin
is "$(said)" '503 TRANSIENT_STORAGE_ERROR' 'not one that is refused'
told "bucket's server answered the end of an upload with InvalidPart" 'which the log says, with the reason'
says 9 HEAD '301 Moved Permanently' 'x-amz-bucket-region: eu-west-1\r\n' ''
http GET "/v1/files/$tiny"
is "$STATUS" 503 'a bucket of another region'
told "bucket's server answered HEAD some/where/.* with 301; the bucket is in region eu-west-1" 'is told with it'
mode pass 0 x x

# ---- who dies in the middle ----

before=$(objects)
mode slow 99 partNumber=2 60
curl -s -o /dev/null -F file=@large.bin "$BASE/v1/files/upload" &
client=$!
tap_pids="$client $tap_pids"
begun() { [ "$(asked partNumber=2)" = 1 ]; }
wait_for 30 begun
worker=$(for child in $(children "$SERVE_PID"); do
	grep -q agentgraph-fcgi "/proc/$child/cmdline" && echo "$child"
done)
mode pass 0 x x
kill -9 $worker
wait "$client"
swept() { [ "$(ls "$STATE/cloud" | wc -l)" = 0 ]; }
wait_for 30 swept
is "$(asked 'DELETE.*uploadId')" 1 'what a dead process began is given up by the next'
is "$(objects)" "$before" 'and leaves nothing'
serve_stop

# ---- who may not ----

STATE=$WORK/state
export MEDIA_CLOUD_SECRET_ACCESS_KEY=wrong-secret-here
serve_start --processes 1
ok $? 'a wrong secret is noticed when it is used'
post small.txt
is "$(said)" '503 TRANSIENT_STORAGE_ERROR' 'then nothing can be stored'
http GET "/v1/files/$large"
is "$STATUS $(json .error_code "$BODY")" '503 TRANSIENT_STORAGE_ERROR' 'nor read'
like "$(cat "$SERVE_ERR")" 'with 403 SignatureDoesNotMatch' 'and the log says why'
unlike "$(cat "$SERVE_ERR")" 'wrong-secret-here|test:tester' 'without the secret'
serve_stop

# ---- nobody there ----

STATE=$WORK/state
export MEDIA_CLOUD_SECRET_ACCESS_KEY=testing MEDIA_CLOUD_ENDPOINT=http://127.0.0.1:1
serve_start --processes 1
ok $? 'a server that is down keeps nobody from starting'
began=$(date +%s)
post small.txt
is "$(said)" '503 TRANSIENT_STORAGE_ERROR' 'it cannot store'
ok '[ $(($(date +%s) - began)) -lt 45 ]' 'which is told soon'
like "$(cat "$SERVE_ERR")" "the bucket's server did not answer PUT" 'and logged'
http GET /ping
is "$STATUS" 200 'the rest goes on'
left=$(ls "$STATE/cloud" | wc -l)
is "$left" 2 'what may be in the bucket is remembered, that of the wrong secret too'
serve_stop
STATE=$WORK/state
export MEDIA_CLOUD_ENDPOINT=http://127.0.0.1:$(cat proxy.out)
serve_start --processes 1
wait_for 20 swept
is "$(ls "$STATE/cloud" | wc -l)" 0 'and looked after when it is back'
serve_stop

# ---- retention ----

# aged FILE...: as if nobody had touched them for eight days.
aged() {
	for id in "$@"; do
		sqlite3 -cmd '.timeout 10000' "$WORK/state/files.db" \
			"UPDATE files SET touched_at = (unixepoch() - 8 * 86400) * 1000000 WHERE file_id = '$id'"
	done
}
recorded() { sqlite3 -cmd '.timeout 10000' "$WORK/state/files.db" "SELECT count(*) FROM files WHERE file_id = '$1'"; }
# is_gone FILE: retention has taken it away.
is_gone() { [ "$(recorded "$1")" = 0 ]; }
mode pass 0 x x
STATE=$WORK/state
serve_start --processes 1
post large.bin
old=$FILE_ID
post small.txt
fresh=$FILE_ID
serve_stop
aged "$old" "$small"
before=$(objects)
echo '{"agent": "builtin:demo", "retention": {"files_days": 7}}' >retention.json
mode slow 99 DELETE 20
STATE=$WORK/state
serve_start --processes 1 --config retention.json
wait_for 30 grep -q 'the rest is left' "$SERVE_ERR"
serve_stop
is "$(recorded "$old") $(objects)" "1 $before" 'a file that nobody touched for days stays while the bucket does not answer'
like "$(cat "$SERVE_ERR")" "WARNING .*retention: files [^ ]*: .*DELETE.*; the rest is left" \
	'which is in the log, and no other is tried for now'
mode slow 99 "$old" 20
STATE=$WORK/state
serve_start --processes 1 --config retention.json
wait_for 30 is_gone "$small"
ok $? 'one that was missing in the bucket goes'
is "$(recorded "$old")" 1 'also where another one fails for long'
serve_stop
mode pass 0 x x
STATE=$WORK/state
serve_start --processes 1 --config retention.json
wait_for 30 is_gone "$old"
ok $? 'then it goes'
ok '[ "$(objects)" -lt "$before" ]' 'with its bytes'
http GET "/v1/files/$old"
is "$STATUS" 404 'it cannot be read any more'
http GET "/v1/files/$fresh"
is "$STATUS $BODY" '200 hello bucket' 'what is younger stays'
serve_stop

# ---- settings ----

# refused NAME=VALUE WORDS
refused() {
	env "$1" "$AGENTGRAPH" check >out 2>err
	is $? 1 "$1 is refused"
	like "$(cat err)" "$2" 'with a sentence'
}
"$AGENTGRAPH" check >out 2>err
is $? 0 'these settings are good'
refused MEDIA_CLOUD_PROVIDER=azure 'MEDIA_CLOUD_PROVIDER: expected aws or gcp .*, found azure'
refused MEDIA_CLOUD_BUCKET= 'MEDIA_CLOUD_BUCKET: expected'
refused MEDIA_CLOUD_BUCKET=a/b 'MEDIA_CLOUD_BUCKET: expected'
refused MEDIA_CLOUD_REGION='x y' 'MEDIA_CLOUD_REGION: expected'
refused MEDIA_CLOUD_PREFIX=../x 'MEDIA_CLOUD_PREFIX: expected'
refused MEDIA_CLOUD_ACCESS_KEY_ID= 'MEDIA_CLOUD_ACCESS_KEY_ID: expected'
refused MEDIA_CLOUD_SECRET_ACCESS_KEY= 'MEDIA_CLOUD_SECRET_ACCESS_KEY: expected'
refused MEDIA_CLOUD_ENDPOINT=ftp://host 'MEDIA_CLOUD_ENDPOINT: expected'
refused MEDIA_CLOUD_ENDPOINT=http://user:pass@host 'MEDIA_CLOUD_ENDPOINT: expected'
refused 'MEDIA_CLOUD_ENDPOINT=http://host:"9000"' 'MEDIA_CLOUD_ENDPOINT: expected'
kill "$server"
done_testing
