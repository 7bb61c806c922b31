#!/bin/sh
# SPDX-License-Identifier: ISC
# Uploads: what is recorded, the limits, and what is refused.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/files.sh"
json_fast=jq # some facts are about the order of members

export MEDIA_MAX_SIZE_MB=0.5
api_start

upload 'a.txt' text/plain 'hello'
is "$STATUS" 200 'a file is taken'
is "$(json '.data | keys_unsorted | join(" ")' "$BODY")" \
	'file_id mime_type size_bytes filename extracted_text url direct_url direct_url_expires_at' 'with what is known of it'
like "$FILE" '^[0-9a-f]{32}$' 'under an id'
is "$(data '[.mime_type, .size_bytes, .filename, .url, .direct_url, .direct_url_expires_at] | tojson')" \
	"[\"text/plain\",5,\"a.txt\",\"/v1/files/$FILE\",null,null]" 'all of it as it was sent'
ok '[ -f "uploads/$(printf %.2s "$FILE")/$FILE" ]' 'the bytes lie below MEDIA_STORAGE_PATH'
is "$(cat "uploads/$(printf %.2s "$FILE")/$FILE")" hello 'as they came'
first=$FILE
upload 'a.txt' text/plain 'hello'
ok '[ "$FILE" != "$first" ]' 'the same file again is another one'

# ---- the name ----

# named NAME EXPECTED
named() {
	upload "$1" text/plain x
	is "$(data .filename)" "$2" "the name $1"
}
named 'dir/a.txt' a.txt
named '../../etc/passwd' passwd
named '/etc/passwd' passwd
named 'C:\\dir\\b.txt' b.txt
named 'C:\dir\b.txt' b.txt
named 'é ü.txt' 'é ü.txt'
named 'quo\"te;.txt' 'quo"te;.txt'
named "tab$(printf '\t').txt" tab.txt
named "$(printf 'x\302\205y')" xy
named "$(printf 'bad\377')" 'bad?'
named "$(printf '%0300d' 0)" "$(printf '%0255d' 0)"
for name in '' / 'dir/' '..' '.' 'a/..' '\' 'C:\\'; do
	upload "$name" text/plain x
	is "$(said)" '400 BAD_REQUEST filename is required' "the name '$name' is none"
done
printf x | part '; name=file' | form >form
send form
is "$(said)" '400 BAD_REQUEST filename is required' 'no name at all'
printf x | part "; name=file; filename*=UTF-8''%e2%82%ac.txt" | form >form
send form
is "$(data .filename)" '€.txt' 'a name with escapes'

# ---- the size ----

: >empty
part '; name=file; filename=e.txt' text/plain <empty | form >form
send form
is "$(said)" '400 BAD_REQUEST Empty file' 'an empty file'
before=$(stored)
head -c 524288 /dev/zero | part '; name=file; filename=z' a/b | form >form
send form
is "$STATUS $(data .size_bytes)" '200 524288' 'a file of exactly the limit'
head -c 524289 /dev/zero | part '; name=file; filename=z' a/b | form >form
send form
is "$(said)" '413 FILE_TOO_LARGE File exceeds maximum 0.5MB' 'one byte more'
is "$(json '.error | [.max_size_bytes, .max_size_mb] | tojson' "$BODY")" '[524288,0.5]' 'with the limit as numbers'
is "$(stored)" $((before + 1)) 'nothing of it stays'
BODY_LENGTH=589825 send form
is "$(said)" '413 FILE_TOO_LARGE File exceeds maximum 0.5MB' 'an announced body over the limit and 64 KiB'
{ head -c 600000 /dev/zero | part '; name=other'; printf x | part '; name=file; filename=f' a/b; } | form >form
raw_send whole form
is "$(said)" '413 FILE_TOO_LARGE File exceeds maximum 0.5MB' 'a body of unknown length is counted'
{ head -c 30000 /dev/zero | part '; name=other'; printf x | part '; name=file; filename=f' a/b; } | form >form
raw_send whole form
is "$STATUS" 200 'one that is short enough is taken'
BODY_LENGTH=12x send form
is "$(said)" '400 INVALID_CONTENT_LENGTH Invalid Content-Length header.' 'a length that is none'
BODY_LENGTH=40000 send form
is "$(said)" '400 BAD_REQUEST Request body is incomplete' 'a body that is shorter than announced'

# ---- what else is in the body ----

{ printf 1 | part '; name=x'; printf one | part '; name=file; filename=1.txt'; printf two | part '; name=file; filename=2.txt'
} | form >form
send form
is "$(data '.filename + " " + (.size_bytes | tostring)')" '1.txt 3' 'of two files the first counts, and other fields do not'
printf x | part '; name=other; filename=f' | form >form
send form
is "$(said)" '400 BAD_REQUEST file is required' 'a part of another name is no file'
printf x | part '; name=FILE; filename=f' | form >form
send form
is "$(said)" '400 BAD_REQUEST file is required' 'nor one of a similar name'
api POST /v1/files/upload '{"file":"x"}'
is "$(said)" '400 BAD_REQUEST file is required' 'JSON is no file'
api POST /v1/files/upload
is "$(said)" '400 BAD_REQUEST file is required' 'nor is nothing'
api GET /v1/files/upload
is "$(said)" '404 RESOURCE_NOT_FOUND File not found' 'an upload is no file to read'
api PUT /v1/files/upload
is "$STATUS $(header Allow | tr -d ' ')" '405 GET,HEAD,OPTIONS,POST' 'and is posted'

# ---- a full disk ----

. "$TOP_SRCDIR/t/api/run.sh"
before=$(stored)
for worker in $(workers); do
	prlimit --fsize=200000:200000 --pid "$worker"
done
head -c 400000 /dev/zero | part '; name=file; filename=z' a/b | form >form
send form
is "$(said)" '503 TRANSIENT_STORAGE_ERROR Storage is temporarily unavailable' 'a disk that is full in the middle'
is "$(header Retry-After)" 1 'may have room later'
is "$(stored)" "$before" 'and nothing half-stored stays'
serve_stop

export MEDIA_MAX_SIZE_MB=1 MAX_REQUEST_SIZE=100
api_start
upload big.bin a/b "$(printf '%01000d' 0)"
is "$STATUS" 200 'MAX_REQUEST_SIZE is not for uploads'
api GET /v1/config/multimodal
is "$(json '.data | tojson' "$BODY")" \
	'{"media_storage_type":"local","media_max_size_mb":1,"document_handling":"extract_text"}' 'the configuration is told'
serve_stop
export MEDIA_MAX_SIZE_MB=25 MEDIA_STORAGE_TYPE=memory DOCUMENT_HANDLING=whatever
api_start
api GET /v1/config/multimodal
is "$(json '.data | tojson' "$BODY")" \
	'{"media_storage_type":"memory","media_max_size_mb":25,"document_handling":"whatever"}' 'as it is set'

done_testing
