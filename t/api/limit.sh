# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# What the tests of the rate limit share.  Sourced after auth.sh.

# limit MEMBERS [MORE]: writes agentgraph.json with this block, and with more members; a new worker serves it.
limit() {
	[ -z "$SOCKET" ] || serve_stop
	configure "\"rate_limit\":{$1}${2:+,$2}"
}

# handshake PATH [HEADER...]
handshake() {
	handshake_path=$1
	shift
	api GET "$handshake_path" '' 'Connection: Upgrade' 'Upgrade: websocket' 'Sec-WebSocket-Version: 13' \
		'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==' "$@"
}

# counts: the last answer's headers, as "limit remaining reset-after retry-after".
counts() {
	echo "$(header X-RateLimit-Limit) $(header X-RateLimit-Remaining) $(header X-RateLimit-Reset-After) $(header Retry-After)"
}

# left: the last answer's status, and how many requests remain.
left() { echo "$STATUS $(header X-RateLimit-Remaining)"; }

milliseconds() { echo $(($(date +%s%N) / 1000000)); }
