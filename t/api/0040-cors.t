#!/bin/sh
# SPDX-License-Identifier: ISC
# Cross-origin requests and preflights.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

origin=http://app.example
exposed='X-Request-ID, X-Timestamp, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Reset-After, Content-Disposition, Content-Range, Accept-Ranges, ETag'

# carries HEADER VALUE
carries() { is "$(header "$1")" "$2" "$1 is '$2'"; }
preflight() { api OPTIONS "$1" '' "Origin: $2" 'Access-Control-Request-Method: PUT' 'Access-Control-Request-Headers: x-a, x-b'; }

api GET /ping
unlike "$HEADERS" '^Access-Control' 'a request without Origin gets no CORS headers'

api GET /nope '' "Origin: $origin"
carries Access-Control-Allow-Origin "$origin"
carries Vary Origin
carries Access-Control-Allow-Credentials true
carries Access-Control-Expose-Headers "$exposed"

preflight /any/path "$origin"
is "$STATUS" 200 'a preflight is answered on any path'
is "$BODY" OK 'with a word'
like "$(header Content-Type)" '^text/plain' 'as text'
carries Access-Control-Allow-Methods 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT'
carries Access-Control-Allow-Headers 'x-a, x-b'
carries Access-Control-Max-Age 600

api OPTIONS /ping '' "Origin: $origin"
is "$STATUS" 204 'OPTIONS with Origin alone is no preflight'
serve_stop

export CORS_ALLOW_CREDENTIALS=false
api GET /ping '' "Origin: $origin"
carries Access-Control-Allow-Origin '*'
carries Vary ''
carries Access-Control-Allow-Credentials ''
serve_stop

export ORIGINS="http://other.example , $origin" CORS_ALLOW_CREDENTIALS=true
api GET /ping '' "Origin: $origin"
carries Access-Control-Allow-Origin "$origin"
api GET /ping '' "Origin: $origin.evil"
is "$STATUS" 200 'an unlisted origin is answered'
unlike "$HEADERS" '^Access-Control' 'without CORS headers'
preflight /ping "$origin.evil"
is "$STATUS" 400 'its preflight is refused'
is "$BODY" 'Disallowed CORS origin' 'with a sentence'

done_testing
