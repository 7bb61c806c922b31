#!/bin/sh
# SPDX-License-Identifier: ISC
# GET /v1/threads by status and by metadata, even while threads run, and after processes died.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# found QUERY: ids and statuses, in their order.
found() {
	api GET "/v1/threads?$1"
	is_found=$(json '.data.threads | map(.thread_id) | join(" ")' "$BODY")
	printf '%s' "$is_found"
}

# finds QUERY IDS NAME
finds() { is "$(found "$1")" "$2" "$3"; }

# refused QUERY TEXT PLACE
refused() {
	api GET "/v1/threads?$1"
	is "$STATUS|$(json '"\(.error_code)|\(.detail)|\(.error.details[0].loc | join("."))"' "$BODY")" \
		"422|VALIDATION_ERROR|$2|$3" "?$1 is refused"
}

# make ID METADATA
make() {
	api POST /v1/threads "{\"thread_id\":\"$1\",\"metadata\":$2}"
	[ "$STATUS" = 200 ] || tap_bail "$1 cannot be made: $BODY"
}

make a '{"env":"prod","n":7,"on":true,"team":"x y+z"}'
make b '{"env":"prod","n":7.5,"on":false,"deep":{"env":"prod"}}'
make c '{"env":"Prod","n":"7","on":"true","":"empty","a.b":"dots","ä&=":"ö%"}'
make d '{"list":["prod"],"nothing":[null]}'

# ---- metadata ----

finds metadata.env=prod 'b a' 'threads are found by a text'
finds metadata.env=Prod c 'which is compared as it stands'
finds metadata.env=pro '' 'and whole'
finds metadata.n=7 'c a' 'by a number as JSON writes it, and a text that is the same'
finds metadata.n=7.5 b 'or with a fraction'
finds metadata.n=7.0 '' 'but not as JSON does not'
finds metadata.on=true 'c a' 'by a boolean'
finds metadata.on=false b 'whichever it is'
finds 'metadata.env=prod&metadata.n=7' a 'several must all hold'
finds 'metadata.n=7&metadata.on=true&metadata.env=Prod' c 'however many'
finds 'metadata.env=prod&metadata.nobody=x' '' 'also one that no thread has'
finds 'metadata.env=Prod&metadata.env=prod' 'b a' 'of one that is repeated the last counts'
finds 'metadata.env=&metadata.env=prod' 'b a' 'also when the first is empty'
finds 'metadata.team=x+y%2Bz' a 'values are decoded'
finds 'met%61data.%C3%A4%26%3D=%C3%B6%25' c 'and names'
finds metadata.a.b=dots c 'a key may have dots'
finds metadata.=empty c 'or be empty'
finds metadata.deep=prod '' 'objects are no texts'
finds metadata.deep.env=prod '' 'and are not looked into'
finds metadata.list=prod '' 'nor are arrays'
finds "metadata.env=';--" '' 'a quote is a character'
finds 'metadata=prod&metadata%00.env=x' 'd c b a' 'other parameters are not known'
finds 'metadata.env=prod&limit=1&offset=1' a 'pages are pages of what was found'
finds 'metadata.env=prod&search=B' b 'a search is among it'
finds "metadata.env=$(printf '%3000s' '' | tr ' ' x)" '' 'a long text finds nothing'
many=$(for i in $(seq 16); do printf '&metadata.k%d=v' "$i"; done)
finds "x$many" '' '16 keys can be asked for'
refused "x$many&metadata.k17=v" 'at most 16 members of metadata can be asked for' query
finds "x$many&metadata.k1=w" '' 'of which one may be repeated'
refused metadata.env= 'metadata.env must not be empty' query.metadata
refused metadata.env 'metadata.env must not be empty' query.metadata
refused metadata.env=%ff 'metadata.env must be valid UTF-8 text without NUL' query.metadata
refused metadata.env=a%00 'metadata.env must be valid UTF-8 text without NUL' query.metadata
refused metadata.%ff=a 'metadata must have names of UTF-8 text without NUL' query.metadata
refused metadata.a%00=a 'metadata must have names of UTF-8 text without NUL' query.metadata

api PATCH /v1/threads/a '{"metadata":{"env":"test","n":null}}'
finds metadata.env=prod b 'what is changed is found no more'
finds metadata.env=test a 'but as it is now'
finds metadata.n=7 c 'nor is what was taken away'
invoke hello "$(thread a)"
finds metadata.env=test a 'a run leaves it alone'
api DELETE /v1/threads/a/state
finds metadata.env=test a 'so does clearing the state'
api DELETE /v1/threads/b '{}'
finds metadata.env=prod '' 'a thread takes it along'

# ---- status ----

for text in 'completed hello' 'interrupted /ask' 'failed /error'; do
	invoke "${text#* } x" "$(thread "${text%% *}")"
done
finds status=idle 'a d c' 'threads are found by their status: those without a run, or that were cleared'
finds status=completed completed 'those that are over'
finds status=interrupted interrupted 'those that wait for an answer'
finds status=error failed 'those that failed'
finds status=stopped '' 'none was stopped'
finds status=running '' 'and none runs'
finds 'status=idle&limit=1&offset=1' d 'pages are pages of these'
finds 'status=idle&metadata.n=7' c 'both can be asked for'
for status in idle completed interrupted error; do
	api GET "/v1/threads?status=$status"
	is "$(json '.data.threads | map(.status) | unique | join(" ")' "$BODY")" $status "records say $status"
done
for status in Idle queued x 1 ' '; do
	refused "status=$(printf '%s' "$status" | tr ' ' +)" \
		'status must be one of idle, running, interrupted, completed, error, stopped' query.status
done
refused status= 'status must not be empty' query.status
api GET '/v1/threads?status=x&limit=0&metadata.a='
is "$STATUS|$(json '.error.details | map(.loc | join(".")) | join(" ")' "$BODY")" \
	'422|query.metadata query.status query.limit' 'all mistakes are told'

# ---- while they run ----

slow='/slow 50 1000'
in_background long invoke "$slow" "$(thread runs),\"recursion_limit\":90"
wait_for 20 is_running runs
stored() { [ "$(found status=running)" = runs ]; }
wait_for 20 stored
ok $? 'a thread that runs is found'
api GET /v1/threads/runs
is "$(json '.data.thread_data | .status, .thread.status' "$BODY" | paste -sd ' ')" 'running running' 'and says so'
in_background named api PATCH /v1/threads/runs '{"thread_name":"later","metadata":{"k":"v"}}'
finds 'status=running&metadata.k=v' '' 'what is written meanwhile waits'
api POST /v1/graph/stop '{"thread_id":"runs"}'
collect long
collect named
is "$STATUS|$(json '.data.thread_data | "\(.thread_name) \(.status)"' "$BODY")" '200|later stopped' 'for the end of the run'
finds 'status=stopped&metadata.k=v' runs 'which leaves it as it was written'
finds status=running '' 'nothing runs any more'

in_background dies invoke "$slow" "$(thread dead),\"recursion_limit\":90"
dead_runs() { [ "$(found status=running)" = dead ]; }
wait_for 20 dead_runs
ok $? 'another one runs'
kill -9 "$(workers)"
collect dies
failed() { [ "$(found status=error)" = 'dead failed' ]; }
wait_for 20 failed
ok $? 'what its process left is found among what failed'
finds status=running '' 'and not among what runs'
api GET /v1/threads/dead
is "$(json .data.thread_data.status "$BODY")" error 'its record agrees'
finds 'status=error&limit=1&offset=1' failed 'pages count it'

done_testing
