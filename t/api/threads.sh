# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# What the tests of threads share.  Sourced after lib.sh.

# refused STATUS CODE TEXT NAME: tests that the last answer is that error.
refused() {
	is "$STATUS $(json '"\(.error_code) \(.detail)"' "$BODY")" "$1 $2 $3" "$4"
}

# invalid TEXT NAME, not_found TEXT NAME: the same for the two most frequent errors.
invalid() {
	refused 422 VALIDATION_ERROR "$1" "$2"
}

not_found() {
	refused 404 RESOURCE_NOT_FOUND "$1" "$2"
}

# places EXPECTED NAME: tests loc and type of all details in the last answer, like "body.state|missing".
places() {
	is "$(json '.error.details | map("\(.loc | map(tostring) | join("."))|\(.type)") | join(" ")' "$BODY")" "$1" "$2"
}

# data EXPRESSION: evaluates it on the last answer's data; the output is compact.
data() {
	printf '%s' "$BODY" | jq -rc ".data$1"
}

# say THREAD TEXT: makes a turn on that thread.
say() {
	api POST /v1/graph/invoke "$(jq -nc --arg thread "$1" --arg text "$2" \
		'{messages: [{role: "user", content: $text}], config: {thread_id: $thread}}')"
}

# put THREAD MESSAGE...: stores messages, each one JSON.
put() {
	put_thread=$1
	shift
	api POST "/v1/threads/$put_thread/messages" "{\"messages\":[$(IFS=, && printf '%s' "$*")]}"
}

# user ID TEXT: a user message as JSON.
user() {
	jq -nc --arg id "$1" --arg text "$2" '{message_id: $id, role: "user", content: $text}'
}

# ids THREAD: the ids of the thread's messages; context THREAD: of those that nodes see.
ids() {
	api GET "/v1/threads/$1/messages"
	data '.messages | map(.message_id) | join(" ")'
}

context() {
	api GET "/v1/threads/$1/state"
	data '.state.context | map(.message_id) | join(" ")'
}

# change SQL: changes the database as an outsider could, where no request can.
change() {
	outside "$STATE/threads.db" "$1"
}

# repeat N TEXT
repeat() {
	printf "%$1s" '' | sed "s/ /$2/g"
}
