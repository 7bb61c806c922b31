#!/bin/sh
# SPDX-License-Identifier: ISC
# Which paths exist, and how they may be written.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

# answers STATUS PATH...: GET of each.
answers() {
	expected=$1
	shift
	for path in "$@"; do
		api GET "$path"
		is "$STATUS" "$expected" "GET $path is $expected"
	done
}

answers 200 / /ping '/ping?' '/./ping' '/x/../ping' '/%70ing' '/v1/graph:StateSchema' '/v1/graph%3AStateSchema' \
	'http://example.com/ping'
answers 404 // /Ping /ping/ /ping/x //ping /v1 /v1/graph/ /v1/graphs /v1%2Fgraph /v1/threads/t/ \
	/v1/threads/t/state/ /v1/threads/t/messages/ '/ping%20' /1/2/3/4/5/6/7/8/9/10/11
answers 400 /%00 '/ping%00' '/v1/threads/a%00b' /.. '/../ping' '/ping/../../ping' '/%2e%2E/ping' '/ping%' '/ping%4' \
	'/ping%zz' '/v1/threads/%ff' 'ping' '*'

api GET /nope
is "$(json .detail "$BODY")" 'Not Found' 'an unknown path says so'
is "$(json .error_code "$BODY")" NOT_FOUND 'with its code'
is "$(json '.error | [.code, .message, (.details | length)] | join("|")' "$BODY")" 'NOT_FOUND|Not Found|0' \
	'in the error as well'
is "$(json '.metadata | [.message, .request_id] | join("|")' "$BODY")" "Not Found|$(header X-Request-ID)" \
	'and in the metadata'

api GET '/%00'
is "$(json .detail "$BODY")" 'Invalid path' 'a path that is none says so'
is "$(json .error_code "$BODY")" BAD_REQUEST 'with its code'

api GET /v1/threads/
is "$STATUS" 422 'the thread route takes an empty id'
is "$(json .detail "$BODY")" 'thread_id cannot be empty or whitespace' 'and refuses it'

done_testing
