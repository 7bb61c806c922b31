#!/bin/sh
# SPDX-License-Identifier: ISC
# The handshake of the two WebSocket routes, as a worker answers it.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
: "${AGENTGRAPH_WS:=$(dirname "$AGENTGRAPH")/agentgraph-ws}"

# handshake PATH [HEADER...]
handshake() {
	handshake_path=$1
	shift
	api GET "$handshake_path" '' 'Connection: Upgrade' 'Upgrade: websocket' 'Sec-WebSocket-Version: 13' \
		'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==' "$@"
}

# let_in ROUTE: what a helper says to the ticket of the last answer on that route.
let_in() {
	HTTP_X_AGENTGRAPH_TICKET=$(header X-Agentgraph-Ticket) PATH_INFO=$1 \
		"$AGENTGRAPH_WS" --state "$STATE" </dev/null 2>/dev/null | sed '1{s/ .*//;q;}'
}

# claims: of the last ticket, which is a JWT; base64url without padding.
claims() {
	payload=$(header X-Agentgraph-Ticket | cut -d. -f2 | tr '_-' '/+')
	while [ $((${#payload} % 4)) -ne 0 ]; do payload=$payload=; done
	printf '%s' "$payload" | base64 -d
}

for route in /v1/graph/ws /v1/graph/live; do
	handshake $route
	is "$STATUS $(header X-Accel-Redirect)" "200 /_agentgraph/relay$route" "$route is let in by an internal redirect"
	is "$(let_in $route)" R1 "with a ticket that a helper of $route accepts"
	api GET $route
	is "$STATUS $(json .error_code "$BODY") $(header Upgrade) $(header Sec-WebSocket-Version)" '426 UPGRADE_REQUIRED websocket 13' \
		"$route without an upgrade is 426"
	is "$(json '.detail, has("close_code")' "$BODY" | paste -sd '|' -)|$(header X-WebSocket-Close-Code)" \
		'This route needs a WebSocket upgrade|false|' 'which is no refused WebSocket'
	is "$(env -i PATH="$PATH" REQUEST_METHOD=GET REQUEST_URI=$route SERVER_PROTOCOL=HTTP/2.0 HTTP_HOST=localhost \
		cgi-fcgi -bind -connect "$SOCKET" </dev/null | grep -ciE '^(Status: 426|Upgrade:)')" 1 'without that header over HTTP/2'
	is "$(header X-Request-ID)" "$(json .metadata.request_id "$BODY")" 'in the shape of all errors'
	api POST $route '{}'
	is "$STATUS $(header Allow)" '405 GET, HEAD, OPTIONS' "POST on $route is 405"
	api HEAD $route
	is "$STATUS" 426 "HEAD on $route is no upgrade"
	api GET $route/
	is "$STATUS" 404 "$route/ is 404"
done

handshake /v1/graph/ws
is "$(let_in /v1/graph/live)" J403 'a ticket is for its route only'
is "$(claims | json '[.route, .user_id, .request_id, .address] | join(" ")')" \
	"/v1/graph/ws anonymous $(header X-Request-ID) 127.0.0.1" 'it says route, user, request and address'
is "$(claims | json '.exp - .iat')" 30 'and is good for 30 seconds'
is "$(claims | json 'has("subprotocol")')" false 'without an offer nothing is to be echoed'
first=$(header X-Agentgraph-Ticket)
handshake /v1/graph/ws
ok '[ "$first" != "$(header X-Agentgraph-Ticket)" ]' 'every handshake has a ticket of its own'

# subprotocol OFFER: what the ticket says of it.
subprotocol() {
	handshake /v1/graph/ws "Sec-WebSocket-Protocol: $1" "Authorization: ${2-}"
	claims | json .subprotocol
}

is "$(subprotocol 'service-bearer, abc.def.ghi')" service-bearer 'a bearer offer is echoed'
is "$(subprotocol 'service-bearer,abc' 'Bearer x')" service-bearer 'also when the Authorization header has the token'
is "$(subprotocol 'agentflow-bearer, abc')" agentflow-bearer 'so is that of a published client'
is "$(subprotocol '10xgraph-bearer, abc')" 10xgraph-bearer 'and of another'
is "$(subprotocol 'abc, service-bearer')" abc 'of any other offer the first name is'
is "$(subprotocol 'graphql-ws' 'Bearer x')" graphql-ws 'also when the header has the token'
is "$(subprotocol "$(printf '%065d' 0), chat")" chat 'but none of more than 64 characters'
is "$(subprotocol "$(printf '%065d' 0)")" null 'so that no token is'
handshake '/v1/graph/ws?token=secret-token'
is "$STATUS" 200 'a token in the query is fine'
unlike "$(cat "$RAW")$(claims)$(cat "$SERVE_ERR")" secret-token 'and goes nowhere'
handshake /v1/graph/ws "X-Agentgraph-Ticket: forged"
unlike "$HEADERS" forged 'a ticket that the client sends is ignored'
api GET /v1/graph/ws '' 'Connection: Upgrade' 'Upgrade: websocket' 'Sec-WebSocket-Version: 12' 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
is "$STATUS $(header Sec-WebSocket-Version)" '426 13' 'another version is told which one is spoken'
api GET /v1/graph/ws '' 'Connection: Upgrade' 'Upgrade: websocket' 'Sec-WebSocket-Version: 13' 'Sec-WebSocket-Key: short'
is "$STATUS $(json .error_code "$BODY")" '400 BAD_REQUEST' 'a key that is none is 400'
is "$(stat -c %a "$STATE/ticket.key")" 600 "the key is its owner's alone"
serve_stop

printf 'ALLOWED_HOST=only.example\n' >hosts.env
echo '{"agent": "builtin:demo", "auth": null, "env": "hosts.env", "websocket": {"bearer_protocols": ["mine"]}}' >agent.json
api_start --config agent.json
handshake /v1/graph/ws
is "$STATUS $(json .error_code "$BODY")" '400 INVALID_HOST' 'the Host header is checked first'
handshake /v1/graph/ws 'Host: only.example' 'Sec-WebSocket-Protocol: mine, t'
is "$(claims | json .subprotocol)" mine 'the bearer protocols are configured'
handshake /v1/graph/ws 'Host: only.example' 'Sec-WebSocket-Protocol: service-bearer, t'
is "$(claims | json .subprotocol)" service-bearer 'and others are only names'
serve_stop

# agentgraph routes
is "$("$AGENTGRAPH" routes | grep -E '/v1/graph/(ws|live) ' | awk '{ print $1, $2, $3 }' | paste -sd '|' -)" \
	'GET /v1/graph/ws graph:stream|GET /v1/graph/live graph:stream' 'both routes take graph:stream'
done_testing
