# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# What the tests of LangGraph's protocol share.  Sourced after lib.sh; needs jq.
#
# TEXT and MEMBERS are written as they stand in JSON, as in run.sh.

. "$TOP_SRCDIR/t/api/run.sh"

# lg_configure [MEMBERS]: writes a configuration with /lg.
lg_configure() {
	printf '{"agent":"builtin:demo","langgraph":{"enabled":true}%s}\n' "${1:+,$1}" >agentgraph.json
}

# human TEXT [MEMBERS]: a user's message as such a client writes it.
human() { printf '{"type":"human","content":"%s"%s}' "$1" "${2:+,$2}"; }

# list_of COUNT: a JSON array of COUNT texts.
list_of() { jq -cn "[range($1) | \"a\(.)\"]"; }

# lg_refused STATUS CODE DETAIL SENTENCE: tests that the last answer is this error, in the form of the protocol.
lg_refused() { is "$STATUS $(json '"\(.code) \(.detail)"' "$BODY")" "$1 $2 $3" "$4"; }

# events: turns BODY, a stream, into an array of {id, event, data}.
events() {
	BODY=$(printf '%s\n' "$BODY" | jq -Rcn '[inputs] | reduce .[] as $l ({all: [], one: {}};
		if $l == "" then (if .one == {} then . else {all: (.all + [.one]), one: {}} end)
		elif ($l | startswith("id: ")) then .one.id = $l[4:]
		elif ($l | startswith("event: ")) then .one.event = $l[7:]
		elif ($l | startswith("data: ")) then .one.data = ($l[6:] | fromjson)
		else . end) | .all + (if .one == {} then [] else [.one] end)')
}

facts_words="$facts_words"'
def names: map(.event);
def of($event): map(select(.event == $event).data);
'
