#!/bin/sh
# SPDX-License-Identifier: ISC
# Runs on a socket count like requests, and together with them.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/api/limit.sh"
: "${AGENTGRAPH_WS:=$(dirname "$AGENTGRAPH")/agentgraph-ws}"

# frames TEXT...: runs them on the socket of the ticket of the last answer; prints of each error chunk code and reason,
# of each terminator "done".
frames() {
	frames_ticket=$(header X-Agentgraph-Ticket)
	for text; do
		printf 'T%s\n' "$text"
	done | HTTP_X_AGENTGRAPH_TICKET=$frames_ticket PATH_INFO=/v1/graph/ws \
		"$AGENTGRAPH_WS" --state "$STATE" 2>>ws.log | sed -n 's/^T//p' >chunks
	jq -r 'select(.event == "error") | "\(.data.error_code) \(.data.reason)"' chunks
	jq -r 'select(.event == "updates" and .data.status == "done") | "done"' chunks
}
hello=$(a_run hello)

limit '"requests":3,"window":600'
api_start
handshake /v1/graph/ws
is "$(left)" '200 2' 'the handshake counts'
said=$(frames "$hello" 'no json' "$hello" "$hello")
retry=$(printf '%s\n' "$said" | sed -n 's/.*Retry after \([0-9]*\)s\.$/\1/p')
is "$said" "VALIDATION_ERROR Invalid request: frame is not valid JSON
RATE_LIMIT_EXCEEDED Rate limit exceeded. Retry after ${retry}s.
done
done" 'so does each run, but no frame that is none'
ok "[ ${retry:-0} -gt 580 ] && [ ${retry:-0} -le 600 ]" 'the text says when to come again'
is "$(jq -c 'select(.data.error_code == "RATE_LIMIT_EXCEEDED") |
	[.data.retry_after_seconds, .data.limit, .data.window_seconds, .data.details, .run_id, .metadata]' chunks)" \
	"[$retry,3,600,[],null,null]" 'and so does the chunk'
api GET /v1/graph
is "$STATUS" 429 'requests and runs have one count'

limit '"requests":2,"window":600,"by":"user"' '"auth":"jwt"'
api_start
handshake /v1/graph/ws "Authorization: Bearer $(token alice)"
is "$(left)" '200 1' 'by user the handshake counts for her'
is "$(frames "$hello" "$hello" | sed 's/ .*//' | paste -sd ' ' -)" 'RATE_LIMIT_EXCEEDED done' 'and her runs do'
as alice GET /v1/graph
is "$STATUS" 429 'like her requests'
as bob GET /v1/graph
is "$(left)" '200 1' 'nobody else has to wait for that'

limit '"requests":2,"window":600,"exclude_paths":["/v1/graph/ws"]'
api_start
handshake /v1/graph/ws
is "$(frames "$hello" "$hello" "$hello" | paste -sd ' ' -)" 'done done done' 'on an excluded path runs are not counted'

done_testing
