#!/bin/sh
# SPDX-License-Identifier: ISC
# A WebSocket through nginx, relay, websocketd and an echoing helper, against one through nginx and websocketd alone.
# CONNECTIONS, TRIPS and ROUNDS change the load.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/results.sh"

: "${CONNECTIONS:=1000}" "${TRIPS:=5000}" "${ROUNDS:=5}"
RELAY=${RELAY:-$TOP_BUILDDIR/agentgraph-relay}
CLIENT=${CLIENT:-$TOP_BUILDDIR/t/bench/websocket}
ECHO=${ECHO:-$TOP_BUILDDIR/t/e2e/ws_echo}
built "$RELAY" "$CLIENT" "$ECHO"
PATH=$PATH:/usr/sbin
front=$((20000 + $$ % 4000 * 3)) # below the ports that the kernel hands out
relayed=$((front + 1))
bare=$((front + 2))

for tool in nginx websocketd; do
	command -v $tool >/dev/null || tap_skip_all "$tool is not installed"
done

nginx_conf() {
	nginx_head
	cat <<CONF
error_log $WORK/nginx.log warn;
worker_processes auto;
events { worker_connections 8192; }
http {
	access_log off;
	$(nginx_paths)
	proxy_http_version 1.1;
	proxy_set_header Host \$host;
	proxy_set_header Upgrade \$http_upgrade;
	proxy_set_header Connection Upgrade;
	server {
		listen 127.0.0.1:$front backlog=2048;
		location / { proxy_pass http://unix:$WORK/relay.sock; }
		location /bare { proxy_pass http://127.0.0.1:$bare; }
	}
}
CONF
}

# start PROGRAM...: runs it in the background until the end of the script.
start() {
	"$@" >>"$WORK/log" 2>&1 &
	started=$!
	tap_pids="$started $tap_pids"
}

mkdir -m 700 "$WORK/state"
echo '{"agent": "builtin:demo", "websocket": {"max_connections": 0}}' >agentgraph.json
start websocketd --address=127.0.0.1 --port="$relayed" --loglevel=fatal "$ECHO"
start websocketd --address=127.0.0.1 --port="$bare" --loglevel=fatal cat
start "$RELAY" --socket "$WORK/relay.sock" --websocketd 127.0.0.1:"$relayed" --state "$WORK/state" --config agentgraph.json
relay=$started
nginx_conf >nginx.conf
start nginx -p "$WORK" -e "$WORK/nginx.log" -c "$WORK/nginx.conf"
wait_for 10 test -S "$WORK/relay.sock"
wait_for 10 "$CLIENT" "$front" /bare "$WORK/state" trip 16 || tap_bail 'nothing answers'

rss() { awk '/^VmRSS/ { print $2 }' "/proc/$relay/status"; }
before=$(rss)
mkfifo hold
"$CLIENT" "$front" /v1/graph/ws "$WORK/state" open "$CONNECTIONS" <hold >opened &
exec 3>hold
wait_for 60 test -s opened
result ws-memory "$(awk -v kib=$(($(rss) - before)) -v n="$CONNECTIONS" 'BEGIN { printf "%.2f", kib / n }')"
exec 3>&-
wait $!

# round_of ACTION N: the client's results through the relay, and without it.
round_of() {
	through=$("$CLIENT" "$front" /v1/graph/ws "$WORK/state" "$@" </dev/null)
	alone=$("$CLIENT" "$front" /bare "$WORK/state" "$@" </dev/null)
	echo "$through $alone"
}

rounds trips round_of trip "$TRIPS"
ratio ws-trip trips
rounds opens round_of open "$CONNECTIONS"
awk '{ print $1, $3 }' opens >seconds
ratio ws-open seconds
awk '{ printf "# %s ms, %s ms without the relay: opening 99 of 100\n", $2, $4 }' opens
tap_plan 0
