#!/bin/sh
# SPDX-License-Identifier: ISC
# Bytes of files in PostgreSQL: MEDIA_STORAGE_TYPE=database.
set -u
AGENTGRAPH_ENGINE=postgresql
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/files.sh"

export MEDIA_STORAGE_TYPE=database
DATABASE_URL=sqlite: "$AGENTGRAPH" check --state "$WORK/none" >out 2>err
is $? 1 'SQLite keeps no bytes'
like "$(cat err)" 'MEDIA_STORAGE_TYPE: database is for PostgreSQL \(DATABASE_URL\), and the database is sqlite' 'and says so'

STATE=$WORK/state
api_start
ask() { outside none "$1"; }
pieces() { ask 'SELECT count(*) FROM file_pieces'; }

# fetch ID [HEADER]: the bytes, as a file.
fetch() {
	env -i PATH="$PATH" REQUEST_METHOD=GET REQUEST_URI="/v1/files/$1" QUERY_STRING= SERVER_PROTOCOL=HTTP/1.1 REQUEST_SCHEME=http \
		REMOTE_ADDR=127.0.0.1 HTTP_HOST=localhost ${2:+HTTP_RANGE="$2"} \
		timeout 60 cgi-fcgi -bind -connect "$SOCKET" </dev/null >answer
	STATUS=$(sed -n 's/^Status: \([0-9]*\).*/\1/p' answer | head -n 1)
	sed '1,/^\r\{0,1\}$/d' answer >bytes
}

upload a.txt text/plain 'a few bytes'
is "$STATUS" 200 'a file is stored'
small=$FILE
is "$(pieces) $(ask "SELECT backend FROM files WHERE file_id = '$small'")" '1 database' 'as a row'
api GET "/v1/files/$small"
is "$STATUS $BODY" '200 a few bytes' 'and read'
ok '[ ! -e uploads ]' 'no directory is made for files'
is "$(find "$STATE/uploading" -type f | wc -l)" 0 'and nothing stays of their way'

# Larger than a piece, and no multiple of it; the same byte is nowhere twice in a row.
awk 'BEGIN { for (i = 0; i < 150000; i++) printf "%06d\n", i }' >large
part '; name="file"; filename="large.bin"' application/octet-stream <large | form >form
send form
is "$STATUS" 200 'a large file is stored'
large=$(json .data.file_id "$BODY")
is "$(ask "SELECT count(*) || ' ' || max(length(bytes)) || ' ' || sum(length(bytes)) FROM file_pieces WHERE key LIKE '%$large'")" \
	'5 262144 1050000' 'in pieces of 256 KiB'
fetch "$large"
is "$STATUS" 200 'it is read'
ok 'cmp -s large bytes' 'as it was'
for range in 0-0 262143-262144 262144-524287 100-900000 1049999- -5; do
	fetch "$large" "bytes=$range"
	first=${range%-*} last=${range#*-}
	[ -n "$first" ] || { first=$((1050000 - last)) last=1049999; }
	[ -n "$last" ] || last=1049999
	tail -c +$((first + 1)) large | head -c $((last - first + 1)) >expected
	ok 'cmp -s expected bytes' "the range $range"
done

ask "DELETE FROM file_pieces WHERE number = 2 AND key LIKE '%$large'"
fetch "$large" 'bytes=0-9'
is "$(cat bytes)" "$(head -c 10 large)" 'where a piece is lost the others are read'
fetch "$large" 'bytes=600000-600009'
ok '[ ! -s bytes ]' 'what is lost is not made up'

# ---- what is left over, and other stores

ask "INSERT INTO file_bytes (key, size, made_at) VALUES ('old', 1, now() - interval '2 days'), ('new', 1, now())"
serve_stop
STATE=$WORK/state
export MEDIA_STORAGE_TYPE=local
api_start
like "$(cat "$SERVE_ERR")" 'warning: MEDIA_STORAGE_TYPE: bytes of files are on this machine alone' 'a directory is told to be for one machine'
is "$(ask "SELECT string_agg(key, ' ') FROM file_bytes WHERE key IN ('old', 'new')")" new 'what has had no record for a day is gone'
api GET "/v1/files/$small"
is "$STATUS $BODY" '200 a few bytes' 'a service that stores elsewhere now reads what is there'
serve_stop
ask "UPDATE instances SET seen_at = seen_at - interval '1 minute'"
"$AGENTGRAPH" copy --from "$DATABASE_URL" --to "sqlite:$WORK/copy" >out 2>err
is $? 1 'such files are not copied to SQLite'
like "$(cat err)" '2 files have their bytes in the database' 'and it is said why'

done_testing
