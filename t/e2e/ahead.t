#!/bin/sh
# SPDX-License-Identifier: ISC
# A run that was claimed before a slot was free, and cannot go back into the queue because somebody else writes: it is
# not forgotten.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
[ -z "$PG_DIR" ] || tap_skip_all 'a lock on the whole database is one of SQLite'

LOCKED=6 # seconds, which is longer than a lock is waited for
cat >hold.sh <<'SH'
#!/bin/sh
: >"executing-$AGENTGRAPH_RUN_ID"
while [ -e hold ]; do sleep 0.05; done
SH
chmod +x hold.sh
cat >graph.json <<'JSON'
{"g": {"nodes": {"quick": {"kind": "reply", "text": "done"}, "hold": {"kind": "exec", "command": ["./hold.sh"]}},
  "edges": [{"from": "START", "if": [{"when": {"user_text": {"equals": "hold"}}, "to": "hold"}], "else": "quick"},
   {"from": "quick", "to": "END"}, {"from": "hold", "to": "END"}]}}
JSON
echo '{"agent":"graph.json:g","runs":{"background":1}}' >agentgraph.json

# queue THREAD RUN TEXT
queue() { api POST /v1/graph/runs "$(run_body "[$(user "$3")]" "$(thread "$1" "\"run_id\":\"$2\"")")"; }
status_of() {
	api GET "/v1/threads/$1/runs/$2"
	json .data.status "$BODY"
}
ends() { wait_for 20 ended "$1" "$2"; }
ended() { [ "$(status_of "$1" "$2")" = completed ]; }
refused() { grep -q 'cannot be given back' "$SERVE_ERR"; }

api_start || tap_bail 'the service does not start'
tries=0
# Short runs are claimed ahead; one that waits for 200 ms goes back, and by then the lock has to be there.
while [ $tries -lt 5 ] && ! refused; do
	tries=$((tries + 1))
	touch hold
	queue t0 "brisk$tries" hello
	ends t0 "brisk$tries"
	queue t1 "slow$tries" hold
	wait_for 20 test -e "executing-slow$tries"
	queue t2 "ahead$tries" hello
	lock_threads "$STATE" $LOCKED
	wait_for $LOCKED refused
	wait "$lock_pid"
	rm hold
	ends t1 "slow$tries"
	ends t2 "ahead$tries"
done
ok refused 'a run could not go back'
is "$(status_of t2 "ahead$tries")" completed 'and is executed all the same'
serve_stop
is $? 0 'the service stops'
done_testing
