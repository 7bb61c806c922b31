#!/bin/sh
# SPDX-License-Identifier: ISC
# Storage in memory: all processes share it, and it is gone after a restart; and what a dead process leaves in it.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/files.sh"
. "$TOP_SRCDIR/t/api/run.sh"

state=$WORK/kept
below() { find "$state/memory" -type f 2>/dev/null | wc -l | tr -d ' '; }
export MEDIA_STORAGE_TYPE=memory
STATE=$state
api_start --processes 3
upload a.txt text/plain hello
is "$STATUS" 200 'a file in memory is taken'
file=$FILE
all=yes
for _ in 1 2 3 4 5 6 7 8 9; do
	api GET "/v1/files/$file"
	[ "$STATUS $BODY" = '200 hello' ] || all=$STATUS
done
is "$all" yes 'and served by every process'
for worker in $(workers); do
	kill -9 "$worker"
done
wait_for 20 api GET /ping
api GET "/v1/files/$file"
is "$STATUS" 200 'also after all of them died'
ok '[ ! -d "$WORK/uploads" ]' 'nothing is in MEDIA_STORAGE_PATH'
is "$(below)" 1 'but below the state directory'
serve_stop
STATE=$state
api_start
is "$(below)" 0 'a restart empties it'
api GET "/v1/files/$file"
is "$(said)" '404 RESOURCE_NOT_FOUND File not found' 'and forgets what was there'
upload b.txt text/plain x
memory=$FILE
serve_stop

export MEDIA_STORAGE_TYPE=local
STATE=$state
api_start
api GET "/v1/files/$memory"
is "$STATUS" 404 'whatever is configured then'
upload c.txt text/plain kept
local=$FILE
serve_stop
export MEDIA_STORAGE_TYPE=memory
STATE=$state
api_start
api GET "/v1/files/$local"
is "$STATUS $BODY" '200 kept' 'files on disk are served, whatever is configured now'
serve_stop

# ---- a process that dies ----

export MEDIA_STORAGE_TYPE=local MEDIA_MAX_SIZE_MB=100
STATE=$state
api_start
mkfifo pipe
part '; name=file; filename=z' a/b </dev/zero >pipe 2>/dev/null &
endless=$!
(
	exec 3<pipe
	env -i PATH="$PATH" REQUEST_METHOD=POST REQUEST_URI=/v1/files/upload "CONTENT_TYPE=${MULTIPART#*: }" HTTP_HOST=x \
		CONTENT_LENGTH=80000000 cgi-fcgi -bind -connect "$SOCKET" <&3 >/dev/null 2>&1
) &
uploading() { [ "$(find uploads/incoming -type f -size +0 2>/dev/null | wc -l)" -gt 0 ]; }
ok 'wait_for 20 uploading' 'an upload is under way'
for worker in $(workers); do
	kill -STOP "$worker"
	kill -9 "$worker"
done
swept() { [ "$(stored)" = 1 ]; }
ok 'wait_for 20 swept' 'what it left is gone when the process is replaced'
kill "$endless" 2>/dev/null
api GET "/v1/files/$local"
is "$STATUS" 200 'and nothing else'
serve_stop

# ---- refused at start ----

export MEDIA_STORAGE_TYPE=cloud MEDIA_CLOUD_BUCKET=b
"$AGENTGRAPH" check --state "$state" >out 2>err
is $? 1 'cloud storage without a key is refused'
like "$(cat err)" 'MEDIA_CLOUD_ACCESS_KEY_ID: expected the id of an access key' 'with a sentence'
export MEDIA_STORAGE_TYPE=local MEDIA_STORAGE_PATH=$WORK/out/below
"$AGENTGRAPH" check --state "$state" >out 2>err
is $? 1 'so is a path that cannot be written'
like "$(cat err)" 'error: MEDIA_STORAGE_PATH: expected a directory that can be written, found .*/out' 'with a sentence'
unset MEDIA_STORAGE_PATH

if [ -n "$PG_DIR" ]; then
	"$AGENTGRAPH" backup --state "$state" saved >out 2>err
	is $? 1 'no backup is made of a database server'
	like "$(cat err)" 'postgresql has its own tools for that: pg_dump' 'which has its own tools'
	done_testing
	exit
fi
"$AGENTGRAPH" backup --state "$state" saved >out 2>err
is $? 0 'a backup is made'
ok '[ -f saved/files.db ] && [ -f saved/threads.db ]' 'with the records of files'
like "$(cat out)" "copy the uploaded files now, too: $WORK/uploads" 'and says where their bytes are'
rm -rf "$state"
mv saved "$state"
STATE=$state
api_start
api GET "/v1/files/$local"
is "$STATUS $BODY" '200 kept' 'a service over the copy serves them'
done_testing
