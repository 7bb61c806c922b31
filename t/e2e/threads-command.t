#!/bin/sh
# SPDX-License-Identifier: ISC
# agentgraph threads: threads, their history, and copies of them, by URL and by state directory.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'

# threads WORD…: sets OUT, ERR and CODE.
threads() {
	"$AGENTGRAPH" threads "$@" >threads.out 2>threads.err
	CODE=$?
	OUT=$(cat threads.out)
	ERR=$(cat threads.err)
}

# ---- wrong command lines ----

for words in '' 'dance' 'export' 'import' 'import a b' 'show' 'show t u' 'list x' 'history' 'copy' 'history t --limit 0' 'list --url ftp://x' 'list --colour red' \
	'export t --checkpoint c' 'show t --user u' 'list --state s --url http://127.0.0.1:1' 'list --url https:///' 'list --status queued'; do
	# shellcheck disable=SC2086 # several words
	threads $words
	is "$CODE $OUT" '2 ' "threads $words is a wrong command line"
	like "$ERR" '^agentgraph: .*; see agentgraph help threads$' 'which a sentence explains'
done

# ---- the same by URL and by state directory ----

export JWT_SECRET_KEY=a-secret-of-at-least-32-characters JWT_ALGORITHM=HS256
echo '{"agent": "builtin:demo", "auth": "jwt", "authorization": "ownership"}' >agentgraph.json
serve_start --config agentgraph.json || tap_bail 'the service does not start'
state=$STATE

# token USER
token() { "$TOP_BUILDDIR/t/api/mint" HS256 "$JWT_SECRET_KEY" "{\"user_id\":\"$1\",\"exp\":$(($(date +%s) + 3600))}"; }
# as USER METHOD PATH BODY
as() {
	curl -sS -X "$2" -H "Authorization: Bearer $(token "$1")" --json "$4" "$BASE$3" >answer.json
}
turn() { as "$1" POST /v1/graph/invoke "{\"messages\":[{\"role\":\"user\",\"content\":\"$3\"}],\"config\":{\"thread_id\":\"$2\"}}"; }

as ann POST /v1/threads '{"thread_id": "t1", "thread_name": "one of Ann", "metadata": {"team": "red", "size": 3}}'
turn ann t1 first
turn ann t1 second
as ann POST /v1/threads '{"thread_id": "t2", "metadata": {"team": "blue"}}'
turn bob b1 hello
as ann POST /v1/threads '{"thread_id": "rich", "thread_name": "of Ann", "metadata": {"team": "green"}}'
turn ann rich '/ask what'
asked=$(curl -sS -H "Authorization: Bearer $(token ann)" "$BASE/v1/threads/rich/history" | jq -r '.data.history[0].checkpoint_id')
as ann POST /v1/graph/invoke '{"resume": "this", "config": {"thread_id": "rich"}}'
as ann POST /v1/threads/rich/rewind "{\"checkpoint_id\": \"$asked\"}"
AGENTGRAPH_TOKEN=$(token ann)
export AGENTGRAPH_TOKEN

# story THREAD WHERE...: the thread with all its history, as far as it is not its id.
story() {
	thread=$1
	shift
	threads show "$thread" --json "$@"
	printf '%s\n' "$OUT" | sorted 'del(.thread_id, .updated_at)'
	threads history "$thread" --limit 1000 --json "$@"
	printf '%s\n' "$OUT" | sorted 'del(.thread_id)' | tee checkpoints
	for id in $(jq -r .checkpoint_id checkpoints); do
		threads show "$thread" --checkpoint "$id" --json "$@"
		printf '%s\n' "$OUT" | sorted 'del(.. | .thread_id?)'
	done
}

# both NAME WHERE...: all that the command does, with copies of that name.
both() {
	name=$1
	shift
	threads list --limit 1000 --metadata '{"team": "red", "size": 3}' --json "$@"
	is "$CODE $(printf '%s\n' "$OUT" | jq -rs 'map(select(.thread_id == "t1") | .thread_name) | join(",")')" '0 one of Ann' \
		"$name: threads are found by their metadata"
	like "$OUT" '"thread_id":"t1"' "$name: as JSON"
	ok "! printf '%s' \"\$OUT\" | grep -q '\"t2\"'" "$name: and others are left out"
	threads list --search 'ONE OF' "$@"
	like "$OUT" '^completed +20[0-9T:.-]*Z +t1 +one of Ann$' "$name: by their texts, as lines"
	threads list --status idle "$@"
	is "$(printf '%s\n' "$OUT" | awk '{print $1, $3}')" 'idle t2' "$name: by their status"
	threads list --metadata '[1]' "$@"
	is "$CODE $ERR" '2 agentgraph: --metadata must be a JSON object of at most 16 members; see agentgraph help threads' \
		"$name: which has a form"
	threads list --status odd "$@"
	is "$CODE $ERR" '2 agentgraph: --status must be one of idle, running, interrupted, completed, error, stopped, not "odd"; see agentgraph help threads' \
		"$name: an unknown status is refused"
	threads show t1 "$@"
	is "$CODE $(printf '%s\n' "$OUT" | sed -n 's/^thread_name *//p')" '0 one of Ann' "$name: a thread is shown"
	threads show t1 --json "$@"
	is "$(json '[.user_id, .metadata.team] | tojson' "$OUT")" '["ann","red"]' "$name: as JSON, too"
	threads history t1 "$@"
	is "$(printf '%s\n' "$OUT" | awk '{print $3, $4, $5, $7}')" 'run completed 4 END
run completed 2 END' "$name: its history, the newest first"
	earlier=$(printf '%s\n' "$OUT" | awk 'NR == 2 {print $1}')
	threads history t1 --limit 1 --json "$@"
	is "$(json .message_count "$OUT")" 4 "$name: so much of it"
	threads history t1 --before "$(json .checkpoint_id "$OUT")" --json "$@"
	is "$(json .checkpoint_id "$OUT")" "$earlier" "$name: from some place on"
	threads history t1 --run "$(json .run_id "$OUT")" "$@"
	is "$(printf '%s\n' "$OUT" | awk '{print $1}')" "$earlier" "$name: or of one run"
	threads history t1 --run nobody "$@"
	is "$CODE $OUT" '0 ' "$name: if there is that run"
	threads show t1 --checkpoint "$earlier" "$@"
	is "$CODE $(printf '%s\n' "$OUT" | sed -n 's/^message_count *//p')" '0 2' "$name: a checkpoint is shown"
	threads show t1 --checkpoint "$earlier" --json "$@"
	is "$(json '[.messages[].content[0].text] | tojson' "$OUT")" '["first","echo: first"]' "$name: with messages and state"
	is "$(json '.state.context | length' "$OUT")" 2 "$name: as they were"
	threads copy t1 --checkpoint "$earlier" --to "$name" "$@"
	is "$CODE $OUT" "0 $name" "$name: it is copied"
	threads show "$name" --json "$@"
	is "$(json '[.user_id, .metadata.size] | tojson' "$OUT")" '["ann",3]' "$name: for the same user"
	threads history "$name" --json "$@"
	is "$(json '[.source, .message_count] | tojson' "$OUT")" '["copy",2]' "$name: as it was then"
	threads copy t1 --to "$name" "$@"
	is "$CODE $ERR" "1 agentgraph: Thread $name exists already" "$name: never onto another one"
	threads copy t1 "$@"
	is "$CODE $(printf '%s\n' "$OUT" | wc -w)" '0 1' "$name: nor without an id of its own"
	threads export rich "$@"
	cp threads.out "$name.jsonl"
	is "$CODE $(head -n 1 "$name.jsonl" | jq -r .thread_id) $(tail -n 1 "$name.jsonl" | jq -r .type)" '0 rich end' \
		"$name: a thread is exported"
	threads import "$name.jsonl" --to "$name-in" "$@"
	is "$CODE $OUT" "0 $name-in" "$name: and imported under another id"
	story rich "$@" >rich.story
	story "$name-in" "$@" >in.story
	ok 'cmp -s rich.story in.story' "$name: with all its history" || diff rich.story in.story >&2
	is "$(wc -l <rich.story | tr -d ' ')" 7 "$name: three checkpoints of it"
	threads import - --to "$name-in" "$@" <"$name.jsonl"
	is "$CODE $ERR" "1 agentgraph: -: Thread $name-in exists already" "$name: never onto another one"
	grep . "$name.jsonl" | threads import - --to "$name-piped" "$@"
	threads show "$name-piped" --json "$@"
	is "$(json '[.user_id, .thread_name, .metadata.team] | tojson' "$OUT")" '["ann","of Ann","green"]' "$name: a pipe will do"
	threads import "$name.jsonl" "$@"
	is "$CODE $ERR" "1 agentgraph: $name.jsonl: Thread rich exists already" "$name: its own id is the one it gets"
	sed '2s/"place":/"places":/' "$name.jsonl" >wrong.jsonl
	threads import wrong.jsonl --to wrong "$@"
	is "$CODE $ERR" '1 agentgraph: wrong.jsonl: line 2.place must be an integer from 1 to 4503599627370496' "$name: what is wrong is told, and where"
	sed '$d' "$name.jsonl" | threads import - --to wrong "$@"
	is "$CODE" 1 "$name: half of a thread is none"
	threads import nowhere.jsonl "$@"
	is "$CODE $ERR" '1 agentgraph: nowhere.jsonl: No such file or directory' "$name: nor is no file"
	for words in 'show nobody' 'show wrong' 'history nobody' 'copy nobody' 'export nobody'; do
		# shellcheck disable=SC2086 # several words
		threads $words "$@"
		is "$CODE $OUT" '1 ' "$name: $words fails"
	done
	threads show t1 --checkpoint 0000000000000001 "$@"
	is "$CODE $ERR" '1 agentgraph: Checkpoint not found' "$name: nor is there a checkpoint of another time"
}

both by-url --url "$BASE"
both by-state --config agentgraph.json --state "$state"
# ---- elsewhere

ok '[ "$(sed 1d by-url.jsonl)" = "$(sed 1d by-state.jsonl)" ]' 'the lines are the same'
for thread in rich by-url-in by-state-in; do
	as ann POST /v1/graph/invoke "{\"resume\": \"that\", \"config\": {\"thread_id\": \"$thread\"}}"
	is "$(jq -r '.data.messages[-1].content[0].text' answer.json)" 'answer: that' "$thread: the pause is answered"
done
mkdir -m 700 other
refused=$(
	trap '' XFSZ
	ulimit -f 2048
	"$AGENTGRAPH" threads import by-url.jsonl --config agentgraph.json --state other 2>&1
)
like "$refused" 'cannot make room for the shared memory of .*/other: File too large$' 'without room another installation takes nothing'
threads import by-url.jsonl --config agentgraph.json --state other
is "$CODE $OUT" '0 rich' 'another installation takes it'
threads import by-url.jsonl --config agentgraph.json --state .
is "$CODE $(ls threads.db 2>/dev/null)" '1 ' 'a directory with other things in it is none'
story rich --config agentgraph.json --state other >other.story
ok 'cmp -s rich.story other.story' 'with all its history, and its owner' || diff rich.story other.story >&2
long=$(yes '' | head -c 4000000 | (
	trap '' XFSZ
	ulimit -f 2048
	"$AGENTGRAPH" threads import - --config agentgraph.json --state other 2>&1
))
is "$long" 'agentgraph: -: File too large' 'a pipe that cannot be kept is told as that'
threads import by-url.jsonl --to of-bob --user bob --config agentgraph.json --state other
threads show of-bob --json --config agentgraph.json --state other
is "$(json .user_id "$OUT")" bob 'or one who is named'
threads export of-bob --config agentgraph.json --state other
cp threads.out other.jsonl
threads import other.jsonl --to foreign --url "$BASE"
threads show foreign --json --url "$BASE"
is "$(json '[.user_id, .status] | tojson' "$OUT")" '["ann","completed"]' \
	'by URL it belongs to who brings it, and nothing waits in it when another installation has sealed it'

# A file of somebody else does not become readable by it.
echo secret >secret.txt
as ann POST /v1/threads '{"thread_id": "with-file"}'
file=$(curl -sS -H "Authorization: Bearer $(token ann)" -F file=@secret.txt "$BASE/v1/files/upload" | jq -r .data.file_id)
as ann POST /v1/threads/with-file/messages "{\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"document\",
	\"media\": {\"kind\": \"file_id\", \"file_id\": \"$file\"}}]}]}"
threads export with-file --url "$BASE"
cp threads.out file.jsonl
like "$OUT" "$file" 'a thread may name files'
threads import file.jsonl --to with-file-2 --url "$BASE"
is "$CODE $OUT" '0 with-file-2' 'which its owner has'
AGENTGRAPH_TOKEN=$(token bob)
threads import file.jsonl --to of-bob --url "$BASE"
is "$CODE $ERR" "1 agentgraph: file.jsonl: line 2.message names a file that is not found: $file" 'and nobody else'
threads export rich --url "$BASE"
is "$CODE $OUT" '1 ' 'nor is a thread of somebody else exported by URL'
AGENTGRAPH_TOKEN=$(token ann)
full=$("$AGENTGRAPH" threads export rich --url "$BASE" 2>&1 >/dev/full)
like "$full" '^agentgraph: cannot write: No space left on device' 'a file that takes no more is told as that'

threads show b1 --url "$BASE"
is "$CODE $OUT" '1 ' 'a thread of somebody else is not shown by URL'
threads list --limit 1000 --config agentgraph.json --state "$state" --user bob
is "$(printf '%s\n' "$OUT" | awk '{print $3}')" b1 'by state directory one says whose threads'
threads copy t1 --to of-bob --config agentgraph.json --state "$state" --user bob
threads show of-bob --json --config agentgraph.json --state "$state"
is "$(json .user_id "$OUT")" bob 'and for whom a copy is'
serve_stop
threads history t1 --json --config agentgraph.json --state "$state"
is "$CODE $(printf '%s\n' "$OUT" | wc -l)" '0 2' 'the service need not be up'
threads list --url "$BASE"
is "$CODE $OUT" '1 ' 'by URL it must be'
if command -v sqlite3 >/dev/null; then
	sqlite3 "$state/threads.db" "UPDATE threads SET user_id = CAST(x'ff61' AS TEXT) WHERE thread_id = 't1'"
	threads show t1 --json --config agentgraph.json --state "$state"
	is "$CODE $(json .user_id "$OUT")" '0 �a' 'an owner that is no UTF-8 does not hide a thread'
	threads export t1 --config agentgraph.json --state "$state"
	is "$CODE $(head -n 1 threads.out | jq -r .user_id)" '0 �a' 'nor spoils what is exported'
fi
done_testing
