#!/bin/sh
# SPDX-License-Identifier: ISC
# examples/cluster: several instances behind a balancer act as one service, even when one of them is gone.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
why=$("$TOP_SRCDIR/t/postgresql-server" there) || tap_skip_all "$why"
[ -e "$TOP_BUILDDIR/agentgraph-postgresql.so" ] || tap_skip_all 'the module for PostgreSQL was not built'
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'

chmod 755 "$WORK" # PostgreSQL is another user's
port=$(free_port)
limited=
command -v redis-server >/dev/null && limited=limited.json
printf '{"agent":"builtin:demo","rate_limit":{"requests":8,"window":600,"backend":"cache"}}\n' >limited.json
AGENTGRAPH=$AGENTGRAPH CONFIG=$limited "$TOP_SRCDIR/examples/cluster/cluster.sh" -n 2 -d "$WORK/cluster" "$port" >out 2>"$WORK/err.cluster" </dev/null &
cluster=$!
tap_pids="$cluster"
wait_for 120 grep -q '^cluster: 2 instances' out || { diag "$(cat "$WORK/err.cluster" cluster/*.log)"; tap_bail 'it does not start'; }
BASE=http://127.0.0.1:$port

for i in 1 2 3 4; do
	http POST /v1/graph/invoke '{"messages":[{"role":"user","content":"turn '$i'"}],"config":{"thread_id":"t"}}'
	is "$STATUS" 200 "turn $i is answered"
done
for i in 1 2; do
	http GET /v1/threads/t/messages
	is "$(json '[.data.messages[] | select(.role == "user").content[0].text] | join(" ")' "$BODY")" 'turn 1 turn 2 turn 3 turn 4' \
		'with all that was said, whoever is asked'
done
http POST /v1/graph/stream '{"messages":[{"role":"user","content":"streamed"}]}'
is "$STATUS" 200 'streams pass'
if [ -n "$limited" ]; then
	http GET /v1/graph
	http GET /v1/graph
	is "$STATUS" 429 'all count to one limit'
fi
is "$(psql "postgresql:///postgres?host=$WORK/cluster/database&user=agent" -X -q -A -t -c 'SELECT count(*) FROM agentgraph.instances WHERE NOT gone')" 2 \
	'the database knows both'
kill "$cluster"
wait_for 60 gone "$cluster"
ok $? 'a signal ends it all'
wait "$cluster"
is $? 0 'as it should'
is "$(pgrep -f "$WORK/cluster" | wc -l)" 0 'and nothing of it stays'
tap_pids=
echo '{' >broken.json
AGENTGRAPH=$AGENTGRAPH CONFIG=broken.json "$TOP_SRCDIR/examples/cluster/cluster.sh" -n 1 -d "$WORK/cluster" "$port" >out 2>err </dev/null
is $? 1 'one that cannot start fails'
like "$(cat err)" 'broken.json' 'and says why'
done_testing
