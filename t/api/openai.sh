# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# What the tests of chat completions share.  Sourced after lib.sh; needs jq.
#
# TEXT and MEMBERS are written as they stand in JSON, as in run.sh.

. "$TOP_SRCDIR/t/api/run.sh"

# openai_configure [MEMBERS]: a configuration with chat completions.
openai_configure() {
	printf '{"agent":"builtin:demo","openai":{"enabled":true}%s}\n' "${1:+,$1}" >agentgraph.json
}

# assistant TEXT: an earlier answer, as the client has it.
assistant() { printf '{"role":"assistant","content":"%s"}' "$1"; }

# asked ID...: an assistant message with calls of the tool pick.
asked() {
	printf '{"role":"assistant","content":null,"tool_calls":['
	asked_comma=
	for asked_id; do
		printf '%s{"id":"%s","type":"function","function":{"name":"pick","arguments":"{\\"n\\":1}"}}' "$asked_comma" "$asked_id"
		asked_comma=,
	done
	printf ']}'
}

# told ID TEXT: the answer to a call.
told() { printf '{"role":"tool","tool_call_id":"%s","content":"%s"}' "$1" "$2"; }

# number NAME: the service's counter of that name.
number() {
	env -i PATH="$PATH" REQUEST_METHOD=GET REQUEST_URI=/metrics SERVER_PROTOCOL=HTTP/1.1 REMOTE_ADDR=127.0.0.1 HTTP_HOST=localhost \
		AGENTGRAPH_INTERNAL=metrics timeout 60 cgi-fcgi -bind -connect "$SOCKET" </dev/null | sed -n "s/^agentgraph_$1 //p"
}

# PICK: the member tools, with the tool pick.
# shellcheck disable=SC2034 # for those who source this
PICK='"tools":[{"type":"function","function":{"name":"pick","description":"Picks","parameters":{"type":"object"}}}]'

# complete MESSAGES [MEMBERS [HEADER...]]: a request to the demo; if it streams, BODY becomes an array of the chunks.
complete() {
	complete_body="{\"model\":\"demo\",\"messages\":[$1]${2:+,$2}}"
	shift
	[ $# -eq 0 ] || shift
	api POST /v1/chat/completions "$complete_body" "$@"
	case $(header Content-Type) in
	text/event-stream*) BODY=$(printf '%s\n' "$BODY" | sed -n 's/^data: //p' | sed 's/^\[DONE\]$/"done"/' | jq -cs .) ;;
	esac
}

# on THREAD MESSAGES [MEMBERS]: the same on a thread.
on() { complete "$2" "${3-}" "X-Thread-ID: $1"; }

# jq functions with short names, for answers and chunks.
facts_words="$facts_words"'
def answer: .choices[0].message.content;
def reason: .choices[0].finish_reason;
def calls: [.choices[0].message.tool_calls[]? | "\(.function.name) \(.function.arguments)"];
def deltas: map(objects | .choices[0]?.delta.content // empty);
def reasons: map(objects | .choices[0]?.finish_reason // empty);
def ended: .[-1] == "done" and (map(select(. == "done")) | length) == 1;
'

# said_is TEXT SENTENCE: tests the text of the last answer.
said_is() { is "$STATUS $(json '.choices[0].message.content' "$BODY")" "200 $1" "$2"; }

# wrong CODE PARAM MESSAGE-PART SENTENCE: tests that the last answer says this is the client's mistake.
wrong() {
	is "$STATUS $(json '.error | "\(.type) \(.code) \(.param)"' "$BODY")" "400 invalid_request_error $1 $2" "$4"
	like "$(json .error.message "$BODY")" "$3" "$4: it says why"
}
