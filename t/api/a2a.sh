# shellcheck shell=sh disable=SC2034
# SPDX-License-Identifier: ISC
# What the tests of /v1/a2a share: the requests of other agents.  Sourced after lib.sh; needs jq.
#
# TEXT and MEMBERS are written as they stand in JSON, as in run.sh.

. "$TOP_SRCDIR/t/api/run.sh"

# a2a_configure [MEMBERS [TOP-MEMBERS]]: a configuration with A2A.
a2a_configure() {
	printf '{"agent":"builtin:demo","a2a":{"enabled":true%s}%s}\n' "${1:+,$1}" "${2:+,$2}" >agentgraph.json
}

# a2a_events: sets EVENTS to the results of a stream as one array, and BODY to the last response.
a2a_events() {
	EVENTS='[]'
	case $(header Content-Type) in
	text/event-stream*)
		BODY=$(printf '%s\n' "$BODY" | sed -n 's/^data: //p')
		EVENTS=$(printf '%s' "$BODY" | jq -cs 'map(.result)')
		BODY=$(printf '%s' "$BODY" | tail -n 1)
		;;
	esac
}

# ask METHOD PARAMS [HEADER...]: sends a request in version 1.0; ask_old: in version 0.3.
ask_as() {
	ask_body="{\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"method\":\"$2\"${3:+,\"params\":$3}}"
	ask_version=$1
	shift 3
	api POST /v1/a2a "$ask_body" ${ask_version:+"A2A-Version: $ask_version"} "$@"
	a2a_events
}
ask() { ask_as 1.0 "$@"; }
ask_old() { ask_as '' "$@"; }

# message TEXT [MEMBERS]: a message of 1.0 with a new id; message_old: one of 0.3.
a2a_count=0
message() {
	a2a_count=$((a2a_count + 1))
	printf '"message":{"messageId":"m%s-%s","role":"ROLE_USER","parts":[{"text":"%s"}]%s}' "$$" "$(date +%N)" "$1" "${2:+,$2}"
}
message_old() {
	printf '"message":{"kind":"message","messageId":"o%s-%s","role":"user","parts":[{"kind":"text","text":"%s"}]%s}' "$$" \
		"$(date +%N)" "$1" "${2:+,$2}"
}

# send TEXT [MESSAGE-MEMBERS [PARAMS-MEMBERS]]: sends it by SendMessage; send_old: by message/send.
send() { ask SendMessage "{$(message "$1" "${2-}")${3:+,$3}}"; }
send_old() { ask_old message/send "{$(message_old "$1" "${2-}")${3:+,$3}}"; }

# a2a_fault CODE REASON PATTERN SENTENCE: tests that the last answer is this error of the protocol.
a2a_fault() {
	is "$STATUS $(json '"\(.jsonrpc) \(.id) \(.error.code) \(.error.data[0].reason)"' "$BODY")" "200 2.0 q1 $1 $2" "$4"
	like "$(json .error.message "$BODY")" "$3" "$4: it says why"
}

# state: the state of the task in the last answer.
state() { json '.result | (.task // .) | .status.state' "$BODY"; }
