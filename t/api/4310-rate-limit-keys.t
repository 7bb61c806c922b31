#!/bin/sh
# SPDX-License-Identifier: ISC
# Whose requests are counted together: an address's, a user's, everybody's; and which proxies are believed.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/api/limit.sh"

# from ADDRESS [FORWARDED]: a request by that peer, with X-Forwarded-For; prints what is left.
from() {
	API_ADDRESS=$1
	api GET /v1/graph '' ${2:+"X-Forwarded-For: $2"}
	left
	unset API_ADDRESS
}

# ---- by address ----

limit '"requests":2,"window":600'
api_start
is "$(from 192.0.2.1)" '200 1' 'each address has a count of its own'
is "$(from 192.0.2.2)" '200 1' 'as another one has'
is "$(from ::ffff:192.0.2.1)" '200 0' 'an IPv4 address is the same when it comes as IPv6'
is "$(from 2001:db8::1)" '200 1' 'an IPv6 address has one too'
is "$(from 2001:DB8:0::0:1)" '200 0' 'however it is written'
is "$(from 2001:db8::ffff:0:1)" '429 0' 'and whichever it is of its network'
is "$(from 2001:db8:0:1::1)" '200 1' 'which ends with the 64th bit'
is "$(from 192.0.2.1 198.51.100.1)" '429 0' 'what a client says of itself is not believed'
is "$(from '')" '200 1' 'a peer without an address is counted'
is "$(from unix:)" '200 1' 'also one on a socket'

limit '"requests":2,"window":600,"ipv6_prefix":33'
api_start
is "$(from 2001:db8:8000::1) $(from 2001:db8:ffff::1)" '200 1 200 0' 'a network may be as large as one says'
is "$(from 2001:db8:7fff::1)" '200 1' 'to the bit'

limit '"requests":2,"window":600,"trusted_proxy_headers":true'
api_start
is "$(from 10.0.0.1 198.51.100.1)" '200 1' 'with trusted headers the last entry counts'
is "$(from 10.0.0.2 '203.0.113.7, 198.51.100.1')" '200 0' 'whatever stands before it'
is "$(from 10.0.0.3 '198.51.100.1:4711')" '429 0' 'also with a port'
is "$(from 10.0.0.1)" '200 1' 'without the header the peer counts'
is "$(from 10.0.0.1 'unknown')" '200 0' 'and with one that holds no address'

limit '"requests":2,"window":600,"trusted_proxy_headers":"yes","trusted_proxy_hops":2,
	"trusted_proxies":["10.0.0.0/8","2001:db8:1::/48"]'
api_start
is "$(from 10.0.0.1 '203.0.113.7, 198.51.100.1, 10.9.9.9')" '200 1' 'hops are counted from the right'
is "$(from 10.0.0.1 '198.51.100.1, 10.9.9.9')" '200 0' 'so that a client can put nothing in front'
is "$(from 10.0.0.1 '1.1.1.1, 198.51.100.1, 10.9.9.9')" '429 0' 'ever'
is "$(from 10.0.0.1 '198.51.100.1')" '200 1' 'with fewer entries than hops the peer counts'
is "$(from 192.0.2.9 '198.51.100.9, 10.9.9.9')" '200 1' 'a peer that is no trusted proxy'
is "$(from 192.0.2.9 '198.51.100.8, 10.9.9.9')" '200 0' 'cannot choose who it is'
is "$(from 192.0.2.9 '198.51.100.7, 10.9.9.9')" '429 0' 'ever'
is "$(from 2001:db8:1::5 '198.51.100.5, 10.9.9.9')" '200 1' 'a proxy may have an IPv6 address'
is "$(from 2001:db8:2::5 '198.51.100.5, 10.9.9.9')" '200 1' 'of its network'
is "$(from ::ffff:10.0.0.1 '198.51.100.5, 10.9.9.9')" '200 0' 'and an IPv4 one inside IPv6'

API_ADDRESS=10.0.0.1
handshake /v1/graph/ws 'X-Forwarded-For: 198.51.100.77, 10.9.9.9'
payload=$(header X-Agentgraph-Ticket | cut -d. -f2 | tr '_-' '/+')
while [ $((${#payload} % 4)) -ne 0 ]; do payload=$payload=; done
is "$(printf '%s' "$payload" | base64 -d | json .address)" 198.51.100.77 'a ticket names the same client'
unset API_ADDRESS

# ---- behind the web server, which is no hop ----

limit '"requests":2,"window":600,"trusted_proxy_headers":true,"trusted_proxy_hops":2,"trusted_proxies":["127.0.0.0/8"]'
if command -v nginx >/dev/null && command -v curl >/dev/null; then
	serve_start
	http GET /v1/graph '' -H 'X-Forwarded-For: 198.51.100.1, 10.9.9.9'
	is "$(left)" '200 1' 'the web server adds nothing to the header'
	http GET /v1/graph '' -H 'X-Forwarded-For: 1.1.1.1, 198.51.100.1' -H 'X-Forwarded-For: 10.9.9.9'
	is "$(left)" '200 0' 'all lines of the header are one list'
	http GET /v1/graph '' -H 'X-Forwarded-For: 1.1.1.1' -H 'X-Forwarded-For: 198.51.100.1' -H 'X-Forwarded-For: 10.9.9.9'
	is "$STATUS" 429 'however many there are'
	http GET /v1/graph '' -H 'X-Forwarded-For: 198.51.100.1'
	is "$(left)" '200 1' 'and with too few entries the peer of the web server counts'
	serve_stop
fi

# ---- all together ----

limit '"requests":2,"window":600,"by":"global"'
api_start
is "$(from 192.0.2.1)" '200 1' 'a global limit counts all'
is "$(from 192.0.2.2)" '200 0' 'addresses'
is "$(from 192.0.2.3)" '429 0' 'together'

# ---- by user ----

limit '"requests":2,"window":600,"by":"user"' '"auth":"jwt"'
api_start
as alice GET /v1/graph
is "$(left)" '200 1' 'a user has a count'
API_ADDRESS=192.0.2.77
as alice GET /v1/graph
is "$(left)" '200 0' 'wherever she comes from'
as alice GET /v1/graph
is "$STATUS" 429 'and a limit'
as alice GET /nope
is "$STATUS" 429 'also for paths that do not exist'
as bob GET /v1/graph
is "$(left)" '200 1' 'another user has another'
api GET /v1/graph
is "$(left)" '403 1' 'who is nobody is counted by address'
with nonsense GET /v1/graph
is "$(left)" '403 0' 'so is who has no good credential'
with "$("$MINT" HS256 "another secret, of as many bytes." "{\"user_id\":\"bob\",\"exp\":$LATER}")" GET /v1/graph
is "$STATUS" 429 'a forged name takes nothing from its owner'
as bob GET /v1/graph
is "$(left)" '200 0' 'who has what was left'
API_ADDRESS=192.0.2.78
api GET /nope
is "$(left)" '404 1' 'a path that does not exist is counted'
handshake /v1/graph/ws
is "$STATUS $(header X-WebSocket-Close-Code) $(header X-RateLimit-Remaining)" '403 1008 0' \
	'a handshake without a credential is counted by address'
handshake /v1/graph/ws
is "$STATUS $(header X-WebSocket-Close-Code)" '429 1013' 'and over that limit it is told so'
handshake /v1/graph/ws "Authorization: Bearer $(token carol)"
is "$(left)" '200 1' 'one with a credential is counted by user'
handshake "/v1/graph/ws?token=$(token carol)"
is "$(left)" '200 0' 'wherever the credential stands'
handshake "/v1/graph/ws?token=$(token carol)"
is "$STATUS $(json .detail "$BODY")" '429 Rate limit exceeded' 'up to the limit'

limit '"requests":2,"window":600,"by":"user"'
api_start
as alice GET /v1/graph
is "$(left)" '200 1' 'without authentication a token says nothing'
as bob GET /v1/graph
is "$(left)" '200 0' 'and users are counted by address'

done_testing
