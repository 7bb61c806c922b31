#!/bin/sh
# SPDX-License-Identifier: ISC
# Ids of messages: who makes them, and what happens to a message that the thread already has.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# sends THREAD MESSAGES [MEMBERS]
sends() { api POST /v1/graph/invoke "$(run_body "[$2]" "$(thread "$1")${3:+,$3}")"; }
# with ID [TEXT]: a user message of that id, written as JSON.
with() { user "${2-hi}" "\"message_id\":$1"; }
# texts THREAD: all messages, as "id=text" where the test gave the id.
texts() {
	api GET "/v1/threads/$1/messages"
	json "$facts_words"'.data.messages | map("\(.message_id | if length > 30 then "*" else . end)=\(text)") | join(" ")' "$BODY"
}

for given in null 0 '"0"' '""' '"  "' -0 0.0; do
	sends "a" "$(with "$given")"
	is "$(json '.data.messages[0].message_id | test("^[0-9a-f-]{36}$")' "$BODY")" true \
		"message_id $given asks for an id"
done
sends "a" "$(user hi)"
is "$(json '.data.messages[0].message_id | test("^[0-9a-f-]{36}$")' "$BODY")" true 'and so does none'
sends k "$(with '"m1"' a),$(with 5 b),$(with '"é/👋"' c),$(with '"00"' d),$(with -3 e),$(with 9007199254740993 f)"
is "$STATUS" 200 'other ids are kept'
is "$(texts k)" 'm1=a 5=b é/👋=c 00=d -3=e 9007199254740993=f *=echo: f' 'as text'
api GET /v1/threads/k/messages/%C3%A9%2F%F0%9F%91%8B
is "$STATUS" 200 'under which they are found'

# refused ID NAME
refused() {
	sends k "$(user one),$(with "$1")"
	is "$STATUS|$(json '"\(.error_code) \(.error.details[0].loc | map(tostring) | join("."))"' "$BODY")" \
		'422|VALIDATION_ERROR body.messages.1.message_id' "$2 is refused"
}
refused true 'a boolean'
refused 1.5 'a fraction'
refused '{}' 'an object'
refused '[]' 'an array'
refused '"a\u0007"' 'a control character'
refused "\"$(printf '%256s' '' | tr ' ' a)\"" 'an id of 256 characters'
sends k "$(with "\"$(printf '%255s' '' | tr ' ' a)\"" long)"
is "$STATUS" 200 'one of 255 is kept'

# ---- known ones

sends t "$(with '"m1"' one)"
sends t "$(with '"m1"' one),$(with '"m2"' two)"
is "$(texts t)" 'm1=one *=echo: one m2=two *=echo: two' 'a message that the thread has is not added again'
sends t "$(with '"m1"' one),$(with '"m2"' two),$(with '"m3"' three)" '"response_granularity":"partial"'
facts <<'TABLE'
the whole history may be sent each time :: [said, (.data.context | texts)] == [["three", "echo: three"], ["one", "echo: one", "two", "echo: two", "three", "echo: three"]]
TABLE
sends t "$(with '"m1"' one),$(with '"m2"' two)"
facts <<'TABLE'
without anything new the last user message is said again :: last | text == "echo: two"
and shown under the id that it has then :: .data.messages[0] | text == "two" and (.message_id | length == 36)
TABLE
is "$(texts t)" 'm1=one *=echo: one m2=two *=echo: two m3=three *=echo: three *=two *=echo: two' 'under a new id'
sends t "$(with '"m1"' 'something else')"
is "$(texts t | grep -c 'm1=one')|$(texts t | grep -c 'm1=some')" '1|0' 'a known message is never changed'
sends d "$(with '"x"' first),$(with '"x"' second)"
is "$STATUS" 200 'an id that is there twice is no error'
is "$(json "$facts_words"'said | join(" ")' "$BODY")" 'first echo: first' 'the first one counts, and is shown'
is "$(texts d | grep -o 'x=[a-z]*')" 'x=first' 'the first message has it'
sends e "$(with 7 seven)"
sends e "$(with '"7"' again)"
is "$(texts e | grep -o ' 7=[a-z]*\|^7=[a-z]*' | wc -l)" 1 '7 and "7" are one message'
sends f "$(with '"m1"' one)"
is "$(texts f)" 'm1=one *=echo: one' 'another thread may have the same id'
api POST /v1/graph/stream "$(run_body "[$(with '"m1"' one)]" "$(thread f)")"
is "$STATUS" 200 'a stream says it again, too'
is "$(texts f)" 'm1=one *=echo: one *=one *=echo: one' 'with the same result'

# ---- and what else a message carries

big='{"n":9007199254740993,"m":-9223372036854775808,"nested":{"list":[1,{"u":18446744073709551615}]},"f":0.1}'
api POST /v1/graph/invoke "$(run_body "[$(user hi "\"message_id\":\"b\",\"metadata\":$big")]" "$(thread g)")"
ok "printf '%s' \"\$BODY\" | grep -Fq '\"metadata\":$big'" 'metadata come back exactly'
api GET /v1/threads/g/messages/b
ok "printf '%s' \"\$BODY\" | grep -Fq '\"metadata\":$big'" 'and are stored exactly'
# at TIME SECONDS: the time of a message
at() {
	api POST /v1/graph/invoke "$(run_body "[$(user hi "\"timestamp\":$1")]")"
	is "$(json '.data.messages[0].timestamp' "$BODY")" "$2" "a timestamp $1 is $2 seconds"
}
at 1788256800.25 1788256800.25
at 1788256800250 1788256800.25
at 0 0
api POST /v1/graph/invoke "$(run_body "[$(user hi '"timestamp":"now"')]")"
is "$STATUS" 422 'a timestamp that is no number is refused'
api POST /v1/graph/invoke "$(run_body "[$(user hi '"delta":true,"raw":1,"usages":{"total_tokens":1},"reasoning":"x","extra":1')]")"
facts <<'TABLE'
what a client must not set is not kept :: .data.messages[0] | [.delta, .raw, has("extra")] == [false, null, false]
TABLE

done_testing
