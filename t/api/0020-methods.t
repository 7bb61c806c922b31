#!/bin/sh
# SPDX-License-Identifier: ISC
# Methods: what is allowed, HEAD and OPTIONS.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

# refused METHOD PATH ALLOW
refused() {
	api "$1" "$2"
	is "$STATUS" 405 "$1 $2 is refused"
	is "$(header Allow)" "$3" 'and Allow says what would be right'
}

refused POST /ping 'GET, HEAD, OPTIONS'
refused get /ping 'GET, HEAD, OPTIONS'
refused PATCH /v1/threads/t/state 'DELETE, GET, HEAD, OPTIONS, PUT'
refused GET /v1/graph/invoke 'OPTIONS, POST'
refused HEAD /v1/graph/invoke 'OPTIONS, POST'
refused TRACE /v1/threads 'GET, HEAD, OPTIONS, POST'
refused PUT /v1/threads/t 'DELETE, GET, HEAD, OPTIONS, PATCH'
refused Patch /v1/threads/t 'DELETE, GET, HEAD, OPTIONS, PATCH'

api DELETE /ping
is "$(json .detail "$BODY")" 'Method Not Allowed' 'the body says so'
is "$(json .error_code "$BODY")" METHOD_NOT_ALLOWED 'with its code'

api OPTIONS /v1/threads/t/messages/m
is "$STATUS" 204 'OPTIONS is answered without content'
is "$(header Allow)" 'DELETE, GET, HEAD, OPTIONS' 'it lists the methods'
is "$(tr -d '\r' <"$RAW" | sed '1,/^$/d')" '' 'and has no body'
api OPTIONS /nope
is "$STATUS" 404 'OPTIONS of an unknown path is 404'

api GET /v1/graph
length=$(header Content-Length)
api HEAD /v1/graph
is "$STATUS" 200 'HEAD of another route is answered'
is "$(header Content-Length)" "$length" 'with the length that GET has'
is "$BODY" '' 'and no body'

done_testing
