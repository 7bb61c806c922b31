#!/bin/sh
# SPDX-License-Identifier: ISC
# Twenty clients run, rewind, copy and delete one thread, while workers are killed: afterwards every checkpoint of every
# thread shows a whole conversation, and can be gone back to.  Then the same goes on with few checkpoints kept.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

CLIENTS=20 ROUNDS=5 KILLS=6

# once THREAD WHICH: an identifier of one of its checkpoints, or nothing.
once() {
	api GET "/v1/threads/$1/history?limit=1000"
	[ "$STATUS" = 200 ] && printf '%s' "$BODY" |
		jq -r --argjson which "$2" '.data.history // [] | if . == [] then "" else .[$which % length].checkpoint_id end'
}
runs() { api POST /v1/graph/invoke "{\"messages\":[{\"role\":\"user\",\"content\":\"$1\"}],\"config\":{\"thread_id\":\"t\"${2-}}}"; }

# act NUMBER: one of the things that are done to the thread; appends what was answered to `answers`.  A worker that is
# killed leaves nothing in RAW.
act() {
	then=
	[ $(($1 % 3)) -eq 0 ] || then=$(once t "$1")
	case $(($1 % 8)) in
	0) runs "say $1" ;;
	1) runs '/slow 2 40' ;;
	2 | 3) runs "say $1 again" "${then:+,\"checkpoint_id\":\"$then\"}" ;;
	4 | 5) api POST /v1/threads/t/rewind "{\"checkpoint_id\":\"${then:-0}\"}" ;;
	6) api POST /v1/threads/t/copy "{\"thread_id\":\"copy-$1\"${then:+,\"checkpoint_id\":\"$then\"}}" ;;
	7) [ $(($1 % 5)) -eq 0 ] && api DELETE /v1/threads/t '{}' || api GET "/v1/threads/t/history/${then:-0}" ;;
	esac
	[ -s "$RAW" ] || STATUS=none
	case $STATUS in 422 | 5*) diag "$request_method $request_uri $request_body: $BODY" ;; esac
	echo "$STATUS" >>answers
}

client() {
	trap - EXIT
	WORK=$WORK/client$1
	mkdir -p "$WORK"
	round=0
	while [ "$round" -lt "$ROUNDS" ]; do
		act $((round * 37 + $1 * 11))
		round=$((round + 1))
	done
}

# storm CLIENTS: so many begin; RUNNING are their processes.
storm() {
	RUNNING=
	number=0
	: >answers
	while [ "$number" -lt "$1" ]; do
		number=$((number + 1))
		client "$number" &
		RUNNING="$RUNNING $!"
	done
}

printf '{"agent":"builtin:demo","history":{"level":"steps","keep":0}}\n' >agentgraph.json
STATE=$WORK/state
mkdir -m 700 "$STATE"
api_start --processes 2
storm "$CLIENTS"

# A worker is killed, each time when some more has been answered.
answered() { [ "$(wc -l <answers 2>/dev/null || echo 0)" -ge "$1" ]; }
killed=0
while [ "$killed" -lt "$KILLS" ]; do
	killed=$((killed + 1))
	wait_for 240 answered $((killed * CLIENTS * ROUNDS / (KILLS + 2))) || break
	victim=$(workers | sed -n "$((killed % 2 + 1))p")
	[ -z "$victim" ] || kill -9 "$victim"
done
is "$killed" "$KILLS" 'workers were killed while clients were at work'
# shellcheck disable=SC2086 # a list of numbers
wait $RUNNING
is "$(wc -l <answers | tr -d ' ')" $((CLIENTS * ROUNDS)) 'every client was answered, or its worker was killed'
is "$(grep -Ecv '^(200|404|409|503|none)$' answers)" 0 'with nothing but what may be said of a thread that others change'
ok '[ "$(grep -c "^200$" answers)" -ge 20 ]' 'and often with what was asked for'
diag "answers: $(sort answers | uniq -c | tr '\n' ' ')"

# What a conversation may look like: each answer behind what was asked, or behind the answer before it, and no id twice.
WHOLE='def text: [.content[] | .text // empty] | join("");
	def before: {"tick 1": "/slow 2 40", "tick 2": "tick 1", "done": "tick 2"}[.] // ltrimstr("echo: ");
	. as $c | (map(.message_id) | length == (unique | length)) and
	all(range(length); . as $i | $c[$i].role != "assistant" or
		($i > 0 and ($c[$i - 1] | text) == ($c[$i] | text | before)))'

# sound THREAD [KEPT]: each of its checkpoints shows a whole conversation of its length, whose context is a part of it, and
# comes from an older one, which is there unless only so many are.
sound() {
	api GET "/v1/threads/$1/history?limit=1000"
	printf '%s' "$BODY" >"$1.history"
	jq -e --argjson kept "${2:-0}" '.data.history | (map(.checkpoint_id) | . == (sort | reverse)) and
		(if $kept > 0 then length <= $kept
			else map(.checkpoint_id) as $ids | all(.parent_checkpoint_id as $p | $p == null or ($ids | index($p)) != null)
			end) and all(.parent_checkpoint_id == null or .parent_checkpoint_id < .checkpoint_id)' "$1.history" >/dev/null || {
		diag "$1: $BODY"
		return 1
	}
	jq -r '.data.history[].checkpoint_id' "$1.history" >"$1.ids"
	while read -r id; do
		api GET "/v1/threads/$1/history/$id"
		printf '%s' "$BODY" | jq -e ".data | (.messages | $WHOLE) and .message_count == (.messages | length) and
			((.state.context | map(.message_id)) - (.messages | map(.message_id)) == [])" >/dev/null || {
			diag "$1 at $id: $BODY"
			return 1
		}
	done <"$1.ids"
}

runs 'are you there'
is "$STATUS" 200 'the thread can be run'
api GET '/v1/threads?limit=100'
json '.data.threads[].thread_id' "$BODY" >threads
like "$(cat threads)" '^copy-' 'there are copies'
broken=
while read -r one; do
	sound "$one" || broken="$broken $one"
done <threads
is "$broken" '' 'every checkpoint of every thread shows a whole conversation'

# gone_back: the thread shows at each of its checkpoints what that says.
gone_back() {
	while read -r id; do
		api GET "/v1/threads/t/history/$id"
		json '.data | [(.messages | map(.message_id)), (.state.context | map(.message_id))]' "$BODY" >wanted
		api POST /v1/threads/t/rewind "{\"checkpoint_id\":\"$id\"}"
		[ "$STATUS" = 200 ] || return 1
		api GET '/v1/threads/t/messages?limit=1000'
		list=$(json '.data.messages | map(.message_id)' "$BODY")
		api GET /v1/threads/t/state
		context=$(json '.data.state.context | map(.message_id)' "$BODY")
		[ "$(printf '[%s,%s]' "$list" "$context" | jq -c .)" = "$(jq -c . wanted)" ] || {
			diag "$id: $list $context, but $(cat wanted)"
			return 1
		}
	done
}
sort -R t.ids 2>/dev/null | head -8 >some
gone_back <some
ok $? 'and is what the thread is when it goes back there'

printf '{"agent":"builtin:demo","history":{"level":"steps","keep":3}}\n' >agentgraph.json
serve_stop
STATE=$WORK/state
api_start --processes 2
storm 5
# shellcheck disable=SC2086 # a list of numbers
wait $RUNNING
is "$(grep -Ecv '^(200|404|409|503)$' answers)" 0 'where few are kept from now on clients are answered as before'
runs 'is there more'
sound t 3
ok $? 'and what is kept is whole'
is "$(jq '.data.history | length' t.history)" 3 'and no more than that'
tap_plan 11
