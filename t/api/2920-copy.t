#!/bin/sh
# SPDX-License-Identifier: ISC
# agentgraph copy: from a state directory to PostgreSQL and back, with everything in it; interrupted, repeated, refused.
AGENTGRAPH_ENGINE=postgresql
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
command -v sqlite3 >/dev/null || tap_skip_all 'sqlite3 is not installed'

URL="postgresql:///postgres?host=$PG_DIR&user=agent&options=-csearch_path%3D"
PG=$PG_DIR
PG_DIR= # each service has the database that is set for it, and the server is this test's to stop
trap '"$TOP_SRCDIR/t/postgresql-server" stop "$PG"; tap_end' EXIT
printf '{"agent":"builtin:demo","store":"builtin:store","history":{"level":"steps"}}\n' >agentgraph.json

copy() { "$AGENTGRAPH" copy --from "$1" --to "$2" >out 2>err; }
start() {
	STATE=$1 DATABASE_URL=${2-sqlite:}
	export DATABASE_URL
	api_start --config agentgraph.json || tap_bail 'the service does not start'
}
data() { json ".data$1" "$BODY"; }
# everything: what clients see of all there is, but for the times of answers.
everything() {
	for path in '/v1/threads?limit=100' /v1/threads/t1 /v1/threads/t1/messages /v1/threads/t1/state /v1/threads/t1/history \
		/v1/threads/t1/runs /v1/threads/t2/messages /v1/threads/t2/history '/v1/threads?metadata.team=a' "/v1/files/$file/info"; do
		api GET "$path"
		echo "$path $STATUS $(json '.data | tojson' "$BODY")"
	done
	for strategy in similarity relevance temporal; do
		api POST /v1/store/search "{\"query\":\"green tea\",\"retrieval_strategy\":\"$strategy\"}"
		json '"'$strategy' \([.data.results[].content])"' "$BODY"
	done
	api GET "/v1/files/$file"
	echo "$BODY"
}

# ---- something of all there is

start "$WORK/first"
for text in one two /error /ask; do
	api POST /v1/graph/invoke "{\"messages\":[{\"role\":\"user\",\"content\":\"$text\"}],\"config\":{\"thread_id\":\"t1\"}}"
done
api POST /v1/graph/stream '{"messages":[{"role":"user","content":"kept"}],"resumable":true,"config":{"thread_id":"t2"}}'
api PATCH /v1/threads/t2 '{"metadata":{"team":"a"}}'
for text in 'green tea' 'black coffee' 'red wine ümläut'; do
	api POST /v1/store/memories "{\"content\":\"$text\",\"metadata\":{\"n\":1.50,\"relations\":[\"x\"]}}"
done
is "$STATUS" 200 'there are memories'
. "$TOP_SRCDIR/t/api/files.sh"
upload a.txt text/plain 'bytes of a file'
file=$FILE
everything >before
ok '[ "$(grep -c " 200 " before)" -ge 9 ]' 'and the rest'
copy "sqlite:$WORK/first" "${URL}one"
is $? 1 'nothing is copied from under a service'
like "$(cat err)" 'serves from this state directory already' 'which is told'
serve_stop

# ---- a copy that is killed

STATE=$WORK/nothing
mv agentgraph.json with-store.json
DATABASE_URL=sqlite: api_start || tap_bail 'the service does not start'
serve_stop
mv with-store.json agentgraph.json
copy "sqlite:$WORK/nothing" "${URL}two"
is "$? $(cat out)" '0 agentgraph: all is copied, 0 rows' 'of nothing there is nothing to copy'
ask() { psql "${URL}$1" -X -q -A -t -c "$2"; }
waits() { [ "$(ask two "SELECT count(*) FROM pg_locks WHERE NOT granted")" -gt 0 ]; }
psql "${URL}two" -X -q -c 'BEGIN; LOCK TABLE relations IN SHARE MODE; SELECT pg_sleep(300)' >/dev/null 2>&1 &
held() { [ "$(ask two "SELECT count(*) FROM pg_locks WHERE mode = 'ShareLock' AND relation = 'relations'::regclass")" = 1 ]; }
wait_for 20 held
"$AGENTGRAPH" copy --from "sqlite:$WORK/first" --to "postgresql://agent:sesame@/postgres?host=$PG&password=sesame&options=-csearch_path%3Dtwo" >out 2>err &
copier=$!
wait_for 20 waits
ok $? 'a copy is on its way'
like "$(sqlite3 first/threads.db 'UPDATE threads SET thread_name = thread_name' 2>&1)" 'is locked' 'to whose source nobody writes'
unlike "$(tr '\0' ' ' <"/proc/$copier/cmdline")" sesame 'whose password is not in the list of processes'
kill -9 $copier
wait $copier 2>/dev/null
ask two "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE mode = 'ShareLock'" >terminated
released() { ! held; }
wait_for 20 released
is "$(ask two 'SELECT (SELECT count(*) FROM threads) + (SELECT count(*) FROM memories)')" 0 'when it is killed nothing is there'
copy "sqlite:$WORK/first" "${URL}two"
is $? 0 'and it is done again from the beginning'

# ---- there

copy "sqlite:$WORK/first" "${URL}one"
is $? 0 'a state directory is copied to PostgreSQL'
like "$(cat out)" '^agentgraph: all is copied, [0-9]+ rows$' 'and it says how much'
like "$(cat out)" 'bytes of 1 uploaded files stay where they are' 'and which bytes are not'
cat err
is "$(ask one "SELECT count(*) FROM pg_class WHERE oid IN ('threads'::regclass, 'runs'::regclass) AND reltuples > 0")" 2 'the server knows how large tables are'
copy "sqlite:$WORK/first" "${URL}one"
is $? 1 'a second copy is refused'
like "$(cat err)" 'the target is not empty' 'as there is something'
start "$WORK/second" "${URL}one"
everything >after
is "$(diff before after)" '' 'a service there has all'
for text in four five; do
	api POST /v1/graph/invoke "{\"messages\":[{\"role\":\"user\",\"content\":\"$text\"}],\"config\":{\"thread_id\":\"$text\"}}"
	is "$STATUS" 200 'and goes on'
done
api POST /v1/store/memories '{"content":"white milk"}'
is "$STATUS" 200 'with memories, too'
upload b.txt text/plain 'more bytes'
is "$STATUS" 200 'and files'
everything >before
copy "${URL}one" "sqlite:$WORK/third"
is $? 1 'nothing is copied from under that one'
like "$(cat err)" 'a service on .* works on the database' 'which is told'
serve_stop

# ---- and back, also when that is killed

psql "${URL}one" -X -q -c "UPDATE instances SET seen_at = seen_at - interval '1 minute'"
psql "${URL}one" -X -q -c 'BEGIN; LOCK TABLE relations IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(300)' >/dev/null 2>&1 &
locked() { [ "$(ask one "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = 'relations'::regclass")" = 1 ]; }
wait_for 20 locked
"$AGENTGRAPH" copy --from "${URL}one" --to "sqlite:$WORK/third" >out 2>err &
copier=$!
waits() { [ "$(ask one "SELECT count(*) FROM pg_locks WHERE NOT granted")" -gt 0 ]; }
wait_for 20 waits
ok $? 'a copy back is on its way'
kill -9 $copier
wait $copier 2>/dev/null
ask one "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted" >terminated
ok '[ ! -e "$WORK/third/threads.db" ]' 'when it is killed no database is there'
ask one 'UPDATE version SET number = number + 1'
copy "${URL}one" "sqlite:$WORK/third"
is $? 1 'a schema of the next version is not copied'
like "$(cat err)" 'schema version [0-9]+, of the next version of agentgraph, which has to copy it: this one knows' 'and it says why'
ok '[ ! -e "$WORK/third/threads.db" ]' 'there is no half of it'
ask one 'UPDATE version SET number = number - 1'
copy "${URL}one" "sqlite:$WORK/third"
is $? 0 'PostgreSQL is copied to a state directory'
cat err
ok '[ ! -e "$WORK/third/copying" ]' 'where nothing else is left'
copy "${URL}one" "sqlite:$WORK/third"
is $? 1 'a second copy is refused there'
like "$(cat err)" 'threads.db exists' 'as there are databases'
mkdir -m 700 torn
cp third/*.db torn
mkdir torn/restoring
mv torn/files.db torn/store.db torn/restoring
copy "sqlite:$WORK/torn" "${URL}two"
like "$? $(cat err)" '^1 .*a copy into .*/torn was interrupted: run agentgraph copy again' 'where one was killed while it came to its place nothing is served'
cp third/threads.db torn/restoring
DATABASE_URL=sqlite: "$AGENTGRAPH" restore torn/restoring --state torn --force >out 2>err
like "$? $(cat err) $(cd torn/restoring && echo ./*)" '1 .*torn/restoring is what an interrupted copy has left: .* ./files.db ./store.db ./threads.db' 'nor is what waits there a backup'
rm torn/restoring/threads.db
copy "${URL}one" "sqlite:$WORK/torn"
is "$? $(cd torn && echo ./*) $(sqlite3 torn/store.db 'SELECT count(*) FROM memories')" '0 ./files.db ./run ./store.db ./threads.db 4' 'and again makes it whole'
start "$WORK/third"
everything >after
is "$(diff before after)" '' 'and a service there has all'
api POST /v1/graph/invoke '{"messages":[{"role":"user","content":"six"}],"config":{"thread_id":"t2"}}'
is "$STATUS" 200 'and goes on'
serve_stop
is "$(sqlite3 third/store.db "INSERT INTO words (words) VALUES ('integrity-check')" 2>&1)" '' 'with a good index of words'

done_testing
