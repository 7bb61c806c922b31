#!/bin/sh
# SPDX-License-Identifier: ISC
# agentgraph runs: what people and crontabs do with runs in the background, by URL and by state directory.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'

# runs WORD…: sets OUT, ERR and CODE.
runs() {
	"$AGENTGRAPH" runs "$@" >runs.out 2>runs.err
	CODE=$?
	OUT=$(cat runs.out)
	ERR=$(cat runs.err)
}

# ---- wrong command lines ----

for words in '' 'dance' 'show' 'show t' 'show t r x' 'list x' 'submit' 'submit --message x --delay -1' 'list --limit 0' \
	'list --url ftp://x' 'follow t r --granularity all' 'submit --message x --colour red' 'submit --message x --follow' \
	'submit --message x --user u --url http://127.0.0.1:1' 'stop t r --user u' 'list --url http://' 'list --status idle' \
	'list --status none --url http://127.0.0.1:1' 'submit --message x --metadata []'; do
	# shellcheck disable=SC2086 # several words
	runs $words
	is "$CODE $OUT" '2 ' "runs $words is a wrong command line"
	like "$ERR" '^agentgraph: .*; see agentgraph help runs$' 'which a sentence explains'
done

runs submit --message "$(printf 'a\377')" --state new
is "$CODE $ERR" '2 agentgraph: --message must be UTF-8; see agentgraph help runs' 'a message has to be a text'
runs submit --message x --user "$(printf 'a\377')" --state new
is "$CODE $ERR" '2 agentgraph: --user must be UTF-8 and not blank; see agentgraph help runs' 'so has a user, who would be stored as it is'

runs submit --message x --state new
is "$CODE $ERR $(ls -d new 2>&1 >/dev/null | wc -l)" \
	"1 agentgraph: error: $PWD/new/threads.db: No such file or directory; --state or AGENTGRAPH_STATE_DIR names the state directory 1" \
	'a state directory has to be there, and is not made'

# ---- the same by URL and by state directory ----

export JWT_SECRET_KEY=a-secret-of-at-least-32-characters JWT_ALGORITHM=HS256
cat >agentgraph.json <<'END'
{"agent": "builtin:demo", "auth": "jwt", "authorization": "ownership",
 "remote_tools": [{"node": "tools", "name": "pick", "description": "Picks.", "parameters": {"type": "object"}}]}
END
serve_start --config agentgraph.json || tap_bail 'the service does not start'
state=$STATE
AGENTGRAPH_TOKEN=$("$TOP_BUILDDIR/t/api/mint" HS256 "$JWT_SECRET_KEY" "{\"user_id\":\"ann\",\"exp\":$(($(date +%s) + 3600))}")
export AGENTGRAPH_TOKEN

# both NAME WHERE...: everything that the command does, on threads of that name, as user $as if there is one.
both() {
	name=$1
	shift
	runs submit --message 'hello there' --thread "$name" --wait ${as:+--user "$as"} "$@"
	is "$CODE $OUT $ERR" '0 echo: hello there ' "$name: a run that is waited for prints its answer"
	runs submit --message 'again' --thread "$name" --metadata '{"why":"test"}' ${as:+--user "$as"} "$@"
	is "$CODE ${OUT% *}" "0 $name" "$name: one that is not, its thread and its id"
	id=${OUT#* }
	runs follow "$name" "$id" "$@"
	is "$CODE $(printf '%s\n' "$OUT" | tail -n 1 | json '.data.status')" '0 done' "$name: it is followed to its end"
	is "$(printf '%s\n' "$OUT" | jq -r 'select(.message.delta == false).message.content[0].text')" 'echo: again' \
		"$name: through what it said"
	seq=$(printf '%s\n' "$OUT" | tail -n 1 | json .metadata.seq)
	runs follow "$name" "$id" --after $((seq - 1)) "$@"
	is "$CODE $(printf '%s\n' "$OUT" | json .metadata.seq)" "0 $seq" "$name: or from some place on"
	runs follow "$name" "$id" --granularity full "$@"
	ok "printf '%s\n' \"\$OUT\" | grep -q '\"context\"'" "$name: with states, where somebody wants them"
	runs show "$name" "$id" "$@"
	is "$CODE $(printf '%s\n' "$OUT" | sed -n 's/^status *//p')" '0 completed' "$name: its record can be read"
	runs show "$name" "$id" --json "$@"
	is "$(json '[.status, .background, .metadata.why] | tojson' "$OUT")" '["completed",true,"test"]' "$name: as JSON, too"
	runs show "$name" "$id" --follow "$@"
	is "$CODE $(printf '%s\n' "$OUT" | tail -n 1 | json .metadata.seq)" "0 $seq" "$name: show --follow follows"

	runs submit --message '/error' --thread "$name" --wait ${as:+--user "$as"} "$@"
	is "$CODE $OUT" '1 ' "$name: one that fails ends with 1"
	like "$ERR" '^agentgraph: .' "$name: and says why"
	runs submit --message '/ask Which one?' --thread "$name-ask" --wait ${as:+--user "$as"} "$@"
	is "$CODE" 3 "$name: one that is paused ends with 3"
	is "$ERR" "agentgraph: thread $name-ask is paused: Which one?" "$name: and says which thread, and what it asks"
	runs submit --message 'more' --thread "$name-ask" --wait ${as:+--user "$as"} "$@"
	is "$CODE $ERR" "3 agentgraph: thread $name-ask is paused: Which one?" "$name: so does one that meets the pause"
	runs submit --message '/remote pick {}' --thread "$name-remote" --wait ${as:+--user "$as"} "$@"
	is "$CODE" 3 "$name: so does one that waits for a tool at its client"
	runs submit --message x --thread "$name" --webhook https://example.com/ ${as:+--user "$as"} "$@"
	is "$CODE $ERR" '1 agentgraph: webhook must begin with one of the configured addresses' \
		"$name: an address that is not configured is not notified"

	runs submit --message '/slow 90 1000' --thread "$name" --json ${as:+--user "$as"} "$@"
	is "$CODE $(json .thread_id "$OUT")" "0 $name" "$name: --json prints the record"
	id=$(json .run_id "$OUT")
	runs show "$name" "$id" "$@"
	is "$CODE" 3 "$name: one that goes on is not over"
	runs submit --message second --thread "$name" ${as:+--user "$as"} "$@"
	second=${OUT#* }
	runs stop "$name" "$second" "$@"
	is "$CODE $(printf '%s\n' "$OUT" | sed -n 's/^status *//p')" '0 stopped' "$name: a queued one is stopped at once"
	runs stop "$name" "$id" "$@"
	is "$CODE" 0 "$name: a running one is stopped"
	runs follow "$name" "$id" "$@"
	is "$CODE" 1 "$name: and ends with 1 when it is"

	runs list --thread "$name" "$@"
	is "$CODE $(printf '%s\n' "$OUT" | awk '{ print $1 }' | paste -sd' ')" '0 stopped stopped error completed completed' \
		"$name: the list has them, newest first"
	is "$(printf '%s\n' "$OUT" | awk '{ print $4, $5 }' | head -n 1)" "$second $name" "$name: with their names"
	runs list --thread "$name" --status error --limit 1 --json "$@"
	is "$CODE $(json '[.thread_id, .status, .error.code] | tojson' "$OUT")" "0 [\"$name\",\"error\",\"NODE_ERROR\"]" \
		"$name: or those of a status, as JSON"
	runs list --status lost "$@"
	is "$CODE $ERR" '2 agentgraph: --status must be one of running, interrupted, completed, error, stopped, queued, not "lost"; see agentgraph help runs' \
		"$name: a status that there is none"
	runs show "$name" nobody "$@"
	is "$CODE $ERR" '1 agentgraph: Run not found' "$name: a run that there is none"
	echo 'from a pipe' | "$AGENTGRAPH" runs submit --message - --thread "$name-pipe" --wait ${as:+--user "$as"} "$@" >runs.out
	is "$(cat runs.out)" 'echo: from a pipe' "$name: the message may come from a pipe"
}

as='' both url --url "$BASE/"
as=ann both state --state "$state" --config agentgraph.json
as=

runs submit --message '/whoami' --thread url --wait --state "$state" --config agentgraph.json
is "$OUT$ERR" ann 'without --user, what is said on a thread is said by whom it belongs to'
runs submit --message '/whoami' --thread mine --wait --state "$state" --config agentgraph.json --user bob
is "$OUT$ERR" bob 'with it, by that user'
runs show mine nobody --url "$BASE"
is "$CODE" 1 'whose threads others do not reach by URL'
AGENTGRAPH_TOKEN=nonsense runs list --url "$BASE"
is "$CODE $ERR" '1 agentgraph: Invalid token, please login again' 'nor anything without a token'
for url in http://u:sesame@127.0.0.1:1 u:sesame@h; do
	runs list --url $url
	unlike "$CODE $ERR" '^0|sesame' 'a password in an address is not told'
done
for url in http://127.0.0.1:1/a@b http://u:se@same@127.0.0.1:1 http://u:se/same@127.0.0.1:1; do
	runs list --url $url
	printf '%s\n' "${ERR%%: [A-Z]*}"
done >told
is "$(cat told)" "agentgraph: http://127.0.0.1:1
agentgraph: http://127.0.0.1:1
agentgraph: the URL" 'whatever @ it has, the host is, and no part of the password'
runs submit --message x --metadata '{' --url "$BASE"
is "$CODE $ERR" '2 agentgraph: --metadata must be a JSON object; see agentgraph help runs' 'metadata is JSON'

# ---- a service that goes and comes ----

runs submit --message '/slow 20 500' --thread restart --url "$BASE"
id=${OUT#* }
"$AGENTGRAPH" runs follow restart "$id" --url "$BASE" >followed 2>followed.err &
follower=$!
tap_pids="$follower $tap_pids"
wait_for 20 grep -q 'tick 3' followed || diag "nothing is followed: $(cat followed.err)"
port=${BASE##*:}
serve_stop
runs show restart "$id" --state "$state" --config agentgraph.json
is "$CODE $(printf '%s\n' "$OUT" | sed -n 's/^status *//p')" '3 running' 'a storage answers while no service is up' || diag "$ERR"
runs submit --message later --thread later --state "$state" --config agentgraph.json --user ann
id_later=${OUT#* }
# for_some_time ARGUMENT...: ends `runs ARGUMENT...` after some seconds, in which it has said something.
for_some_time() {
	for seconds in 2 10 40; do
		timeout $seconds "$AGENTGRAPH" runs "$@" >runs.out 2>runs.err
		CODE=$?
		[ ! -s runs.err ] || break
	done
}
for_some_time submit --message 'much later' --thread later --wait --state "$state" --config agentgraph.json --user ann
is "$CODE $(cat runs.out runs.err)" "124 agentgraph: no service runs on $state: the run goes on when one does" \
	'who waits for one is told that there is no service'
for_some_time follow later "$id_later" --state "$state" --config agentgraph.json
is "$CODE $(cat runs.out runs.err)" "124 agentgraph: no service runs on $state: the run goes on when one does" 'and so is who follows one'
STATE=$state
serve_run --listen "127.0.0.1:$port" --config agentgraph.json || tap_bail 'the service does not start again'
BASE=http://127.0.0.1:$port
runs follow later "$id_later" --url "$BASE"
is "$CODE" 0 'what was submitted meanwhile is executed'
wait "$follower"
is "$? $(jq -r .metadata.seq followed | sort -n | uniq -d | wc -l)" '0 0' 'a follower goes on when the service is there again'
is "$(jq -r 'select(.message.delta == false).message.content[0].text' followed | tail -n 1)" 'done' 'to the end of the run'
serve_stop

done_testing
