#!/bin/sh
# SPDX-License-Identifier: ISC
# ALLOWED_HOST: which hosts a request may name.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

export ALLOWED_HOST='api.example, *.wild.example'

# host STATUS HOST PATH
host() {
	api GET "$3" '' "Host: $2"
	is "$STATUS" "$1" "GET $3 at '$2' is $1"
}

host 200 api.example /v1/graph
host 200 API.example:8443 /v1/graph
host 200 a.b.wild.example /v1/graph
host 400 wild.example /v1/graph
host 400 other.example /v1/graph
host 400 api.example.evil /v1/graph
host 400 '' /v1/graph
host 400 other.example /nope
host 400 other.example /../x
host 200 other.example /ping
host 404 api.example /nope

api GET /v1/graph '' 'Host: other.example'
is "$(json .detail "$BODY")" 'Invalid host header' 'the body says what is wrong'
is "$(json .error_code "$BODY")" INVALID_HOST 'with its code'

done_testing
