#!/bin/sh
# SPDX-License-Identifier: ISC
# Ids of threads and runs: who makes them, and which a client may choose.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

uuid7='^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'

# run CONFIG [MEMBERS]: with that thread_id, written as JSON.
run() { api POST /v1/graph/invoke "$(run_body "[$(user hi)]" "\"config\":{\"thread_id\":$1}${2:+,$2}")"; }
id_of() { json .data.meta.thread_id "$BODY"; }

# ---- a new thread

for given in null '""' '"  "' '"\t\n"' '"new"'; do
	run "$given"
	like "$(id_of)" "$uuid7" "thread_id $given asks for a new thread"
done
is "$(json .data.meta.is_new_thread "$BODY")" true 'which is new'
api POST /v1/graph/invoke "$(run_body "[$(user hi)]")"
like "$(id_of)" "$uuid7" 'so does a body without config'
first=$(id_of)
like "$(json .data.meta.run_id "$BODY")" "$uuid7" 'the run has an id, too'
is "$(json '.data.messages | map(.message_id | test("'"$uuid7"'")) | all' "$BODY")" true 'and each message'
run '""' '"thread_id":""'
second=$(id_of)
[ "$(printf '%s\n' "$first" "$second" | sort | head -n 1)" = "$first" ] && [ "$first" != "$second" ]
ok $? 'later ids are sorted after earlier ones'
run '"NEW"'
is "$(id_of)" NEW 'another spelling of new is an id'
api GET /v1/threads/new
is "$STATUS" 404 'no thread is called new'

# ---- ids that are given

# kept JSON [ID]: the thread has that id.
kept() {
	run "$1"
	is "$STATUS|$(id_of)" "200|${2-$(json . "$1")}" "thread_id $(printf '%.40s' "$1") is kept"
}
kept '"a"'
kept 7 7
kept '"07"'
kept '"+8"'
kept '"7.5"'
kept '"-"'
kept '"-1a"'
kept '"0x1"'
kept '" a "'
kept '"a b"'
kept 9007199254740993 9007199254740993
kept 9223372036854775807 9223372036854775807
kept 18446744073709551616 18446744073709551616
kept 12.0 12
kept '"123456789012345678901234567890"'
kept '"a/b"'
kept '"../../etc/passwd"'
kept '"%2F?#&="'
kept '"\u00e9\ud83d\udc4b"' 'é👋'
kept "\"it's; DROP TABLE thread;--\""
kept '"null"'
kept "\"$(printf '%255s' '' | tr ' ' a)\""
emoji=$(printf '%255s' '' | sed 's/ /👋/g')
kept "\"$emoji\""

run '"7"'
is "$(json .data.meta.is_new_thread "$BODY")" false '7 and "7" are one thread'
api GET /v1/threads/7/messages
is "$(json '.data.messages | length' "$BODY")" 4 'which has the messages of both runs'
api GET /v1/threads/07/messages
is "$(json '.data.messages | length' "$BODY")" 2 '"07" is another'
for path in a%2Fb '..%2F..%2Fetc%2Fpasswd' '%252F%3F%23%26=' '%C3%A9%F0%9F%91%8B' 'a%20b' '%20a%20' 9223372036854775807; do
	api GET "/v1/threads/$path"
	is "$STATUS" 200 "the thread is found at $path"
done
is "$(json '.data.thread_data.thread_id | type' "$BODY")" string 'where its id is a string'

# ---- ids that are refused

# refused JSON [TEXT]: with 422 and the place.
refused() {
	run "$1"
	is "$STATUS|$(json '"\(.error_code) \(.error.details[0].loc | join("."))"' "$BODY")" \
		'422|VALIDATION_ERROR body.config.thread_id' "thread_id $(printf '%.30s' "$1") is refused"
	[ $# -lt 2 ] || is "$(json .detail "$BODY")" "$2" 'with a sentence'
}
positive='thread_id must be a positive integer'
for given in 0 -1 '"0"' '"-1"' '"00"' '"-0"' '"+0"' -0 '"-99999999999999999999999"' -99999999999999999999999; do
	refused "$given" "$positive"
done
for given in true false 1.5 '{}' '[]' '["a"]'; do
	refused "$given"
done
refused '"\u0001"'
refused '"a\nb"'
refused '"a\u007f"'
refused "\"$(printf '%256s' '' | tr ' ' a)\""
refused "\"$emoji!\""
run '"a\u0000b"'
is "$STATUS" 422 'a NUL in an id is refused'
run '"\ud800"'
is "$STATUS $(json .detail "$BODY")" '422 Request body must not contain half of a surrogate pair' 'half of a surrogate pair is refused'
api GET /v1/threads
known=$(json '.data.threads | length' "$BODY")
run 0
api GET /v1/threads
is "$(json '.data.threads | length' "$BODY")|$(json '[.data.threads[] | select(.thread_id | test("^[-+]?0+$|\\n"))] | length' "$BODY")" \
	"$known|0" 'no refused run created a thread'

# ---- at the top level

top() { api POST "/v1/graph/${3-invoke}" "$(run_body "[$(user hi)]" "\"thread_id\":$1,\"config\":{\"thread_id\":$2}")"; }
api POST /v1/graph/invoke "$(run_body "[$(user hi)]" '"thread_id":"up"')"
is "$(id_of)" up 'the id may stand beside config'
top '"up"' '"up"'
is "$(id_of)" up 'and in both places'
top 7 '"7"'
is "$(id_of)" 7 'as integer and text'
top '"up"' null
is "$(id_of)" up 'null counts as absent'
for route in invoke stream; do
	top '"up"' '"down"' $route
	is "$STATUS|$(json '"\(.error_code)|\(.detail)"' "$BODY")" \
		'400|BAD_REQUEST|thread_id and config.thread_id must match' "different ids in $route are refused"
done
top 7 '"07"'
is "$STATUS" 400 'different texts are different ids'
api GET /v1/threads/down
is "$STATUS" 404 'and create nothing'
api POST /v1/graph/invoke "$(run_body "[$(user hi)]" '"thread_id":0')"
is "$STATUS|$(json '.error.details[0].loc | join(".")' "$BODY")" '422|body.thread_id' 'the same rules hold there'

# ---- runs

# named JSON: the id of a run.
named() { api POST /v1/graph/invoke "$(run_body "[$(user hi)]" "\"config\":{\"thread_id\":\"r\",\"run_id\":$1}")"; }
named '"my run/1"'
is "$(json .data.meta.run_id "$BODY")" 'my run/1' 'a run takes the id it is given'
api GET /v1/threads/r
is "$(json .data.thread_data.run_id "$BODY")" 'my run/1' 'the thread remembers it'
for given in null '""' '" "' 7 true '{}'; do
	named "$given"
	like "$(json .data.meta.run_id "$BODY")" "$uuid7" "run_id $given stands for none"
done
for given in '"a\u0001"' "\"$(printf '%256s' '' | tr ' ' a)\""; do
	named "$given"
	is "$STATUS|$(json '.error.details[0].loc | join(".")' "$BODY")" '422|body.config.run_id' \
		"run_id $(printf '%.30s' "$given") is refused"
done
api POST /v1/graph/stream "$(run_body "[$(user hi)]" '"config":{"thread_id":9,"run_id":"R"}')"
chunks <<'TABLE'
chunks carry both as text :: all(.thread_id == "9" and .run_id == "R" and .metadata.thread_id == "9")
TABLE

done_testing
