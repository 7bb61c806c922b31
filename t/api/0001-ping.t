#!/bin/sh
# SPDX-License-Identifier: ISC
# GET /ping: the envelope, its ids and its times.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

api GET /ping
is "$STATUS" 200 'ping is answered'
is "$(header Content-Type)" application/json 'as JSON'
is "$(header Cache-Control)" no-store 'that is not stored'
is "$(json .success "$BODY")" true 'success is true'
is "$(json .data "$BODY")" pong 'data is pong'
is "$(json .message "$BODY")" OK 'message is OK'
is "$(json .metadata.message "$BODY")" OK 'here and in metadata'
is "$(json '.metadata.timestamp' "$BODY")" "$(json .timestamp "$BODY")" 'both times are one'
is "$(header X-Timestamp)" "$(json .timestamp "$BODY")" 'and that of the header'
like "$(header X-Timestamp)" '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$' 'in ISO form'
is "$(header X-Request-ID)" "$(json .metadata.request_id "$BODY")" 'the request id is in header and body'
like "$(header X-Request-ID)" '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$' \
	'and a UUID of version 4'
is "$(json 'keys | join(" ")' "$BODY")" 'data message metadata success timestamp' 'nothing else is in the envelope'

first=$(header X-Request-ID)
api GET /ping '' "X-Request-ID: $first"
[ "$(header X-Request-ID)" != "$first" ]
ok $? 'a request id of the client is ignored'

api HEAD /ping
is "$STATUS" 200 'HEAD is answered'
is "$BODY" '' 'without a body'
like "$(header Content-Length)" '^[1-9][0-9]+$' 'but with its length'

api GET '/ping?x=%00&y=%ff'
is "$STATUS" 200 'a query is ignored'

done_testing
