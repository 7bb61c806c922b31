#!/bin/sh
# SPDX-License-Identifier: ISC
# The type of a file: how it is told, what is allowed, and how it is served.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/files.sh"

api_start
policy="default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'self'; form-action 'self'"
sandbox="default-src 'none'; sandbox"

# ---- how it is told ----

# told NAME TYPE CONTENT EXPECTED
told() {
	upload "$1" "$2" "$3"
	is "$STATUS $(data .mime_type)" "200 $4" "the type of '$1', sent as '$2'"
}
told a.txt 'image/png' x image/png
told a 'Text/HTML;Charset="utf 8"' x 'Text/HTML;Charset="utf 8"'
told a.PDF '' x application/pdf
told a.tar.gz '' x application/gzip
told a.md '' x text/markdown
told a '' 'plain words' text/plain
told a '' '<!DOCTYPE html><html><body>x' text/html
told a '' "$(printf '%%PDF-1.4\n%%')" application/pdf
told a.unknown '' "$(printf 'GIF89a\001\001')" image/gif
told x '' "$(printf '\001\002\003\004')" application/octet-stream
for type in garbage 'a/b, text/html' 'text/plain;x=,text/html' 'text/plain;x=",text/html"' 'a/b c' '/x' 'x/' \
	"a/$(printf '%0300d' 0)" 'text/plain; charset' 'té/xt'; do
	told a.txt "$type" x text/plain
done

# ---- how it is served ----

# shown TYPE, saved TYPE: a file of that type.
served() {
	upload 'é \"q\".x' "$1" x
	api GET "/v1/files/$FILE"
	is "$(header Content-Type)|$(header Content-Disposition)|$(header Content-Security-Policy)|$(header X-Content-Type-Options)" \
		"$1|$2|$3|nosniff" "$1"
}
shown() { served "$1" inline "$policy"; }
saved() { served "$1" "attachment; filename=\"_ _q_.x\"; filename*=UTF-8''%C3%A9%20%22q%22.x" "$sandbox"; }
for type in image/png image/jpeg image/gif image/webp image/avif image/bmp application/pdf text/plain audio/mpeg audio/x-y \
	video/mp4 'text/plain; charset=utf-8' Image/PNG 'VIDEO/webm;codecs="vp8"'; do
	shown "$type"
done
for type in text/html image/svg+xml text/xml application/xhtml+xml text/javascript text/css application/json text/plainer \
	application/octet-stream 'text/html; charset=utf-8' TEXT/HTML text/markdown application/zip audio+x/y; do
	saved "$type"
done
upload "a%41;b.html" text/html x
api GET "/v1/files/$FILE"
is "$(header Content-Disposition)" "attachment; filename=\"a_41;b.html\"; filename*=UTF-8''a%2541%3Bb.html" 'a name with signs of its own'
serve_stop

export SECURITY_HEADERS_ENABLED=false
api_start
policy='' sandbox="default-src 'none'; sandbox"
shown text/plain
saved text/html
unset SECURITY_HEADERS_ENABLED
serve_stop

# ---- what is allowed ----

export MEDIA_ALLOWED_CONTENT_TYPES='image/*;q=1, Text/Plain; charset=utf-8 ,application/x-y'
api_start
for type in image/png IMAGE/x text/plain 'TEXT/plain; charset=x' application/x-y; do
	upload a "$type" x
	is "$STATUS" 200 "$type is allowed"
done
before=$(stored)
for type in text/html text/plainer text/plai imag/png image2/x application/x-y-z application/x 'image+x/png'; do
	upload a "$type" x
	is "$(said)" "415 UNSUPPORTED_MEDIA_TYPE Content type not allowed: $type" "$type is not"
done
upload a.html '' x
is "$(said)" '415 UNSUPPORTED_MEDIA_TYPE Content type not allowed: text/html' 'nor one told by the name'
upload a '' '%PDF-1.4'
is "$(said)" '415 UNSUPPORTED_MEDIA_TYPE Content type not allowed: application/pdf' 'nor one told by the content'
: | part '; name=file; filename=a' | form >form
send form
is "$(said)" '415 UNSUPPORTED_MEDIA_TYPE Content type not allowed: application/octet-stream' 'the type comes before the size'
: | part '; name=file; filename=a' text/plain | form >form
send form
is "$(said)" '400 BAD_REQUEST Empty file' 'an allowed one may still be empty'
is "$(stored)" "$before" 'nothing of what was refused is stored'
serve_stop
export MEDIA_MAX_SIZE_MB=0.1
api_start
head -c 150000 /dev/zero | part '; name=file; filename=a' | form >form
send form
is "$(said)" '415 UNSUPPORTED_MEDIA_TYPE Content type not allowed: application/octet-stream' 'also where both are wrong'
head -c 150000 /dev/zero | tr '\0' x | part '; name=file; filename=a' | form >form
send form
is "$(said)" '413 FILE_TOO_LARGE File exceeds maximum 0.1MB' 'and a size is wrong by itself'
serve_stop
unset MEDIA_MAX_SIZE_MB
export MEDIA_ALLOWED_CONTENT_TYPES='*/*'
api_start
upload a x/y x
is "$STATUS" 200 'everything can be allowed'
done_testing
