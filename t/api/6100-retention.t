#!/bin/sh
# SPDX-License-Identifier: ISC
# Retention deletes threads and files that nobody touched for days, and kept chunks when their time is over, and no
# others.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/files.sh"

# old DATABASE TABLE COLUMN ID DAYS: as if it had been touched last so many days ago.
old() {
	outside "$STATE/$1.db" "UPDATE $2 SET $3 = $((($(date +%s) - $5 * 86400) * 1000000)) WHERE ${2%s}_id = '$4'"
}

is_gone() {
	api GET "$1"
	[ "$STATUS" = 404 ]
}

say() { api POST /v1/graph/invoke "{\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}],\"config\":{\"thread_id\":\"$1\"}}"; }

# chunks: how many runs have kept chunks, read by nobody who looks at the time.
chunks() { outside "$STATE/threads.db" 'SELECT count(DISTINCT number) FROM chunks'; }

are_fewer() { [ "$(chunks)" = 1 ]; }

STATE=$WORK/state
api_start
for thread in old late fresh; do say $thread; done
for run in expired kept; do
	api POST /v1/graph/stream '{"messages":[{"role":"user","content":"hello"}],"resumable":true,
		"config":{"thread_id":"fresh","run_id":"'$run'"}}'
done
is "$(chunks)" 2 'two streams are kept'
for i in $(seq 40); do
	say "crowd-$i"
done
upload old.txt text/plain 'nobody reads this'
old_file=$FILE
upload read.txt text/plain 'somebody reads this'
read_file=$FILE
upload fresh.txt text/plain 'new'
fresh_file=$FILE
outside "$STATE/threads.db" "UPDATE kept SET until = 1 WHERE number = (SELECT number FROM runs
	WHERE run_id = 'expired')"
old threads threads updated_at old 31
old threads threads updated_at late 31
old threads threads updated_at fresh 29
for i in $(seq 40); do
	old threads threads updated_at "crowd-$i" 100
done
for file in $old_file $read_file; do
	old files files touched_at "$file" 8
done
api GET "/v1/files/$read_file"
serve_stop

STATE=$WORK/state
api_start
wait_for 20 are_fewer
ok $? 'chunks whose time is over go without any setting'
api GET /v1/threads/fresh/runs/kept/stream
is "$STATUS" 200 'others stay'
sleep 1
api GET /v1/threads/old
is "$STATUS" 200 'without the setting an old thread stays'
api GET "/v1/threads?limit=100"
is "$(data '.threads | length')" 43 'and so do all'
ok '[ -f "uploads/$(printf %.2s "$old_file")/$old_file" ]' 'and an old file'
serve_stop

echo '{"agent": "builtin:demo", "retention": {"threads_days": 30, "files_days": 7}}' >agentgraph.json
flock -F "$WORK/state/retention.lock" sh -c 'echo >held; exec sleep 600' &
holder=$!
wait_for 20 test -e held
STATE=$WORK/state
api_start --config agentgraph.json
sleep 2
api GET /v1/threads/late
is "$STATUS" 200 'no thread goes while another process sees to that'
kill "$holder"
wait_for 60 is_gone "/v1/threads/late"
ok $? 'when that has died, this one does'
wait_for 20 is_gone "/v1/threads/old"
ok $? 'with it a thread that was not touched for longer goes'
wait_for 30 is_gone "/v1/threads/crowd-40"
ok $? 'and many more'
api GET /v1/threads?limit=100
is "$(data '[.threads[].thread_id] | join(" ")')" fresh 'what is younger stays'
# Who asks for a file uses it: its bytes are looked for.
wait_for 20 test ! -e "uploads/$(printf %.2s "$old_file")/$old_file"
ok $? 'the bytes of a file that nobody used go'
wait_for 20 is_gone "/v1/files/$old_file"
ok $? 'and so does its record'
api GET "/v1/files/$read_file"
is "$STATUS $BODY" '200 somebody reads this' 'one that was read stays'
api GET "/v1/files/$fresh_file"
is "$STATUS" 200 'and so does a new one'
like "$(cat "$SERVE_ERR")" 'retention: 42 threads that nobody touched for 30 days are gone' 'the log counts them'
serve_stop
done_testing
