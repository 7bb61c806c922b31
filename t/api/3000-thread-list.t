#!/bin/sh
# SPDX-License-Identifier: ISC
# GET /v1/threads: records, order, search, pages.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/threads.sh"
command -v sqlite3 >/dev/null || tap_skip_all 'sqlite3 is not installed'

# listed QUERY: the ids in their order.
listed() {
	api GET "/v1/threads$1"
	data '.threads | map(.thread_id) | join(" ")'
}

# finds TEXT IDS NAME: by a search.
finds() {
	is "$(listed "?search=$1")" "$2" "$3"
}

# bad QUERY TEXT TYPE
bad() {
	api GET "/v1/threads?$1"
	invalid "$2" "?$1 is refused"
	places "query.${1%%=*}|$3" 'and the details say where'
}

api GET /v1/threads
is "$STATUS $(data '')" '200 {"threads":[]}' 'at first there is no thread'

for id in b a c; do
	put "$id" "$(user '' "text of $id")"
done
is "$(listed '')" 'c a b' 'the thread that changed last comes first'
put b "$(user '' again)"
is "$(listed '')" 'b c a' 'a new message is a change'
api PUT /v1/threads/a/state '{"state":{}}'
is "$(listed '')" 'a b c' 'so is an update of the state'
api DELETE /v1/threads/c/state
is "$(listed '')" 'c a b' 'so is clearing it'
say b hello
is "$(listed '')" 'b c a' 'so is a run'
api GET /v1/threads/a
api GET /v1/threads/a/state
is "$(listed '')" 'b c a' 'reading is none'

api GET /v1/threads
is "$(data '.threads[0] | keys_unsorted | join(" ")')" \
	'thread_id thread_name user_id metadata created_at updated_at run_id status' 'a record has these members'
is "$(data '.threads[0] | [.thread_name, .user_id, (.metadata | tojson)] | join("|")')" '|anonymous|{}' \
	'without name, of the anonymous, without metadata'
is "$(data '.threads[1].run_id')" null 'run_id is null before the first run'
like "$(data '.threads[0].run_id')" '^[0-9a-f]{8}-[0-9a-f]{4}-7' 'and then that of the latest'
like "$(data '.threads[0].created_at')" '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$' \
	'created_at is an ISO time'
is "$(data '.threads | map(.created_at <= .updated_at) | all')" true 'no later than updated_at'
api DELETE /v1/threads/c '{}'
is "$(listed '')" 'b a' 'a deleted thread is not listed'

# ---- pages ----

for id in 1 2 3 4 5 é 10 B; do
	put "$(printf '%s' "$id" | sed 's/é/%C3%A9/')" "$(user '' x)"
done
change "UPDATE threads SET updated_at = 1000000"
is "$(listed '')" '1 10 2 3 4 5 B a b é' 'ties are settled by the id, byte by byte'
is "$(listed '?limit=3')" '1 10 2' 'limit takes the first'
is "$(listed '?limit=3&offset=3')" '3 4 5' 'offset skips them'
is "$(listed '?offset=8')" 'b é' 'an offset alone takes the rest'
is "$(listed '?limit=1&offset=9')" 'é' 'the last one has its page'
is "$(listed '?offset=10')" '' 'past the end there is nothing'
api GET '/v1/threads?offset=10'
is "$STATUS $(data .threads)" '200 []' 'which is an empty array'
is "$(listed '?offset=9223372036854775807&limit=1000')" '' 'however far past it'
is "$(listed '?offset=99999999999999999999')" '' 'or beyond all numbers'
is "$(listed '?limit=9223372036854775807&offset=9')" 'é' 'a huge limit is clamped'
is "$(listed '?limit=1001&offset=9')" 'é' 'as is 1001'
is "$(listed '?limit=007&offset=00')" '1 10 2 3 4 5 B' 'leading zeros are harmless'
api HEAD '/v1/threads?limit=2'
is "$STATUS $BODY" '200 ' 'HEAD has no body'

bad limit=0 'limit must be > 0' value_error
bad limit=-1 'limit must be > 0' value_error
bad limit=-99999999999999999999 'limit must be > 0' value_error
bad offset=-1 'offset must be >= 0' value_error
for text in abc 1.0 1e2 0x10 1a %201 1%20 -- - + 1,2 null true %D9%A1; do
	bad "limit=$text" 'limit must be an integer' type_error
done
bad offset=abc 'offset must be an integer' type_error
bad limit= 'limit must not be empty' value_error
bad offset= 'offset must not be empty' value_error
api GET '/v1/threads?limit=0&offset=-1'
is "$STATUS $(json '.error.details | map(.loc[1]) | sort | join(" ")' "$BODY")" '422 limit offset' \
	'two mistakes are both told'
is "$(json '.error.details[0].msg == .detail' "$BODY")" true 'the text is that of the first'

change "INSERT INTO threads (row, thread_id, user_id, created_at, updated_at, thread_name, metadata, last_number,
		status, stop, node, step, fields)
	WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1100)
	SELECT 1000000 + i, 'many-' || substr(CAST(10000 + i AS text), 2), 'anonymous', 1, 1, '', '{}', 0, 0, 0, 'START', 0, '{}' FROM n"
is "$(listed '' | wc -w | tr -d ' ')" 100 'without a limit there are 100'
is "$(listed '?limit=1000' | wc -w | tr -d ' ')" 1000 '1000 are served'
is "$(listed '?limit=1001' | wc -w | tr -d ' ')" 1000 'and never more'
is "$(listed '?limit=5000&offset=1000' | wc -w | tr -d ' ')" 110 'the rest is on the next page'
change "DELETE FROM threads"

# ---- search ----

for id in 'Mixed-Case' 'per%25cent' 'under_score' 'back%5Cslash' 'quote%27s' 'slash%2Fed' '%C3%84rger'; do
	put "$id" "$(user '' 'hidden words')"
done
change "UPDATE threads SET updated_at = 1;
	INSERT INTO threads (row, thread_id, user_id, created_at, updated_at, thread_name, metadata, last_number,
		status, stop, node, step, fields)
	VALUES (1, 'z', 'anonymous', 1, 0, 'calm-Otter', '{\"Handle\":\"Blue %d\",\"deep\":{\"a\":[1,\"Inner\"]},\"n\":4711}',
		0, 0, 0, 'START', 0, '{}')"
finds mixed Mixed-Case 'a search looks into the ids'
finds MIXED-case Mixed-Case 'without regard to case'
finds d-C Mixed-Case 'for a part'
finds %25 'per%cent z' 'a percent sign is a percent sign'
finds r%25c 'per%cent' 'also between letters'
finds _ under_score 'so is an underscore'
finds '%5C' 'back\slash' 'a backslash'
finds '%27' "quote's" 'and a quotation mark'
finds %2F slash/ed 'a slash finds a slash'
finds '*' '' 'an asterisk is no wildcard'
finds '%C3%84r' 'Ärger' 'other letters are found as they are'
finds '%C3%A4r' '' 'in their own case'
finds otter z 'a search looks into the names'
finds 'blue+%25d' z 'into the strings of metadata'
finds inner z 'however deep'
finds handle '' 'but not into its keys'
finds 4711 '' 'nor its numbers'
finds hidden '' 'nor into messages'
finds anonymous '' 'nor owners'
finds 'mixed&limit=1&offset=1' '' 'pages are pages of what was found'
finds '' 'Mixed-Case back\slash per%cent quote'"'"'s slash/ed under_score Ärger z' 'an empty search is none'
finds '+' z 'a blank is looked for'
finds "$(repeat 3000 a)" '' 'a long one finds nothing'

done_testing
