#!/bin/sh
# SPDX-License-Identifier: ISC
# Only the owner reaches a thread, however it is named, on every worker, and after it was deleted.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"

configure '"auth":"jwt","authorization":"ownership","remote_tools":[{"node":"tools","name":"pick","description":"Picks"}]'
api_start --processes 2

as alice POST /v1/graph/invoke "$(a_run hello 7)"
is "$(said)" 200 'a thread that does not exist is made'
as alice GET /v1/threads/7
is "$(json .data.thread_data.user_id "$BODY")" alice 'and belongs to who made it'

# bob_is_denied ACTION BODY NAME
bob_is_denied() {
	as bob POST "/v1/graph/$1" "$2"
	is "$(said)" "403 PERMISSION_ERROR Not authorized to $1 graph" "$3"
}
hi='"messages":[{"role":"user","content":"hi"}]'
bob_is_denied invoke "{$hi,\"config\":{\"thread_id\":\"7\"}}" 'nobody else runs it'
bob_is_denied invoke "{$hi,\"config\":{\"thread_id\":7}}" 'also when its id is an integer'
bob_is_denied invoke "{$hi,\"config\":{\"thread_id\":7.0}}" 'or a number with a fraction of nothing'
bob_is_denied invoke "{$hi,\"thread_id\":\"7\"}" 'or stands beside config'
bob_is_denied invoke "{$hi,\"thread_id\":null,\"config\":{\"thread_id\":\"7\"}}" 'or null stands there'
bob_is_denied invoke "{$hi,\"thread_id\":\"new\",\"config\":{\"thread_id\":\"7\"}}" 'or "new"'
bob_is_denied invoke "{$hi,\"config\":{\"thread_id\":\"x\",\"thread_id\":\"7\"}}" 'or comes twice'
bob_is_denied invoke '{"messages":[],"config":{"thread_id":"7"}}' 'whatever is wrong with the rest'
bob_is_denied stream "{$hi,\"config\":{\"thread_id\":\"7\"}}" 'nobody else streams it'
bob_is_denied stop '{"thread_id":"7"}' 'or stops it'
bob_is_denied stop '{"thread_id":"7","config":{"thread_id":"his"}}' 'also with an id of his own beside it'
bob_is_denied fix '{"thread_id":7}' 'or fixes it'
as bob POST /v1/graph/invoke "{$hi,\"thread_id\":\"7\",\"config\":{\"thread_id\":\"8\"}}"
is "$(said)" '400 BAD_REQUEST thread_id and config.thread_id must match' 'two ids are refused before anybody is asked'
as bob POST /v1/graph/invoke "{$hi,\"thread_id\":\"8\",\"config\":{\"thread_id\":\"7\"}}"
is "$(said)" '400 BAD_REQUEST thread_id and config.thread_id must match' 'whichever is his'
as bob GET /v1/threads/%37
is "$(said)" '403 PERMISSION_ERROR Not authorized to read checkpointer' 'an escape hides nothing'
as bob GET /v1/threads/nobodys
is "$(said)" '404 RESOURCE_NOT_FOUND Thread not found' 'what does not exist is not found'
as bob GET /v1/threads
is "$(json '.data.threads | length' "$BODY")" 0 'his list is empty'
as alice GET '/v1/threads?search=7'
is "$(json '.data.threads | length' "$BODY")" 1 'hers is not'
as ALICE GET /v1/threads/7
is "$STATUS" 403 'a user is who they are to the letter'

# Answers without a thread reach the caller's own alone.
as alice POST /v1/graph/invoke "$(a_run '/remote pick {}' waits)"
call=$(json '.data.messages[-1].content[0].id' "$BODY")
result="{\"messages\":[{\"role\":\"tool\",\"content\":[{\"type\":\"tool_result\",\"call_id\":\"$call\",\"output\":\"x\"}]}]}"
as bob POST /v1/graph/invoke "$result"
is "$(said)" "422 INVALID_INPUT No remote tool call '$call' is waiting for a result" 'nobody answers the calls of others'
as alice POST /v1/graph/invoke "$result"
is "$(reply) $(json .data.meta.thread_id "$BODY")" 'remote: x waits' 'their owner does'

# A thread that is being made while somebody else asks for it.
as_new() { as "$1" POST /v1/graph/invoke "$(a_run "$2" race)"; }
(
	trap - EXIT
	WORK=$WORK/alice
	mkdir -p "$WORK"
	as_new alice '/slow 2 2000'
	printf '%s' "$STATUS" >"$WORK/status"
) &
alice_pid=$!
is_made() {
	as alice GET /v1/threads/race/state
	case $BODY in *'"is_running":true'*) return 0 ;; esac
	return 1
}
wait_for 20 is_made
as_new bob hello
is "$(said)" '403 PERMISSION_ERROR Not authorized to invoke graph' 'nobody slips in while a thread is made'
wait $alice_pid
is "$(cat alice/status)" 200 'and its maker is not disturbed'

# A run that is in flight before its thread is stored, because the database is locked meanwhile.
stop_new() {
	as bob POST /v1/graph/stop '{"thread_id":"unstored"}'
	[ "$(json .data.reason "$BODY")" != no-state ]
}
if command -v sqlite3 >/dev/null; then
	lock_threads "$STATE" 2
	(
		trap - EXIT
		WORK=$WORK/unstored
		mkdir -p "$WORK"
		as alice POST /v1/graph/invoke "$(a_run '/slow 6 500' unstored)"
		reply >"$WORK/reply"
	) &
	alice_pid=$!
	wait_for 20 stop_new
	is "$(said)" '403 PERMISSION_ERROR Not authorized to stop graph' 'nobody else stops what is not stored yet'
	for strategy in interrupt rollback; do
		as bob POST /v1/graph/invoke "{$hi,\"thread_id\":\"unstored\",\"multitask_strategy\":\"$strategy\"}"
		is "$(said)" '403 PERMISSION_ERROR Not authorized to invoke graph' "or takes its place by $strategy"
	done
	wait $lock_pid $alice_pid
	is "$(cat unstored/reply)" 'done' 'it runs to its end'
fi

# An id that is used again, whatever a worker remembers: requests go to either of the two.  Instances without a cache
# remember for themselves.
[ -n "$PAIR" ] || for round in 1 2 3; do
	for user in alice bob; do
		other=bob
		[ $user = alice ] || other=alice
		as $user POST /v1/graph/invoke "$(a_run hello reused)"
		good=$STATUS
		for _ in 1 2 3 4 5 6; do
			as $user GET /v1/threads/reused
			good=$good,$STATUS
			as $other GET /v1/threads/reused
			good=$good,$STATUS
		done
		is "$good" 200,200,403,200,403,200,403,200,403,200,403,200,403 "round $round: it is ${user}'s"
		as $user DELETE /v1/threads/reused '{}'
		is "$STATUS" 200 "round $round: until it is deleted"
	done
done

done_testing
