# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# Many clients at a time, and processes to kill.  Sourced after lib.sh.

for load_tool in nginx:/usr/sbin/nginx curl:/usr/bin/curl jq:/usr/bin/jq; do
	command -v "${load_tool%%:*}" >/dev/null || [ -x "${load_tool#*:}" ] || tap_skip_all "no ${load_tool%%:*} here"
done

# turns PARALLEL: makes a turn for each line "THREAD ID TEXT" of standard input, PARALLEL at a time, where ID is the
# message's id.  Prints "STATUS ID" for each; a status of 000 means that no answer came.
turns() {
	load_turns=$(mktemp "$WORK/turns.XXXXXX")
	jq -Rr --arg base "$BASE" '
		capture("^(?<thread>\\S+) (?<id>\\S+) (?<text>.*)$")
		| .body = ({messages: [{role: "user", content: .text, message_id: .id}],
			config: {thread_id: .thread}, recursion_limit: 100} | tojson)
		| "next", "url = \"\($base)/v1/graph/invoke\"", "header = \"Content-Type: application/json\"",
			"data = \(.body | tojson)", "max-time = 100", "output = /dev/null",
			"write-out = \"%{http_code} \(.id)\\n\""' >"$load_turns"
	curl --parallel --parallel-immediate --parallel-max "$1" -K "$load_turns" 2>/dev/null || true
}

# say THREAD TEXT: one turn.
say() {
	http POST /v1/graph/invoke "$(jq -nc --arg thread "$1" --arg text "$2" \
		'{messages: [{role: "user", content: $text}], config: {thread_id: $thread}}')" --max-time 40
}

# meta THREAD EXPRESSION: evaluates it on the thread's execution_meta; the output is compact.
meta() {
	curl -s --max-time 10 "$BASE/v1/threads/$1/state" | jq -c ".data.state.execution_meta | $2"
}

runs() {
	[ "$(meta "$1" .is_running)" = true ]
}

rests() {
	[ "$(meta "$1" .is_running)" = false ]
}

# texts THREAD: all texts of the thread in order, one a line.
texts() {
	curl -s --max-time 20 "$BASE/v1/threads/$1/messages?limit=1000" | jq -r '.data.messages[].content[0].text'
}

# has_text THREAD TEXT
has_text() {
	texts "$1" | grep -qx -e "$2"
}

pings() {
	[ "$(curl -s -o "$WORK/ping" -w '%{http_code}' --max-time 5 "$BASE/ping")" = 200 ]
}

# workers: the process ids of the running service's workers.
workers() {
	for load_pid in $(children "$SERVE_PID"); do
		tr '\0' ' ' <"/proc/$load_pid/cmdline" 2>/dev/null | grep -q '^[^ ]*agentgraph-fcgi ' && echo "$load_pid"
	done
}

# nap MOST: sleeps for a random time of up to MOST milliseconds, and prints it.
nap() {
	load_ms=$(($(od -An -N2 -tu2 /dev/urandom) % $1))
	sleep "$(printf '%d.%03d' $((load_ms / 1000)) $((load_ms % 1000)))"
	echo "$load_ms"
}
