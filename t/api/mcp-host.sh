# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# What the tests of /v1/mcp share: the messages of a host.  Sourced after lib.sh; needs jq.
#
# TEXT and MEMBERS are written as they stand in JSON, as in run.sh.

. "$TOP_SRCDIR/t/api/run.sh"

# mcp_configure [MEMBERS [TOP-MEMBERS]]: writes a configuration with MCP; MEMBERS belong to the block mcp.
mcp_configure() {
	printf '{"agent":"builtin:demo","mcp":{"enabled":true%s}%s}\n' "${1:+,$1}" "${2:+,$2}" >agentgraph.json
}

# mcp_answer: from the last answer sets BODY to the response, and MESSAGES to an array of everything that came.
# shellcheck disable=SC2034 # for those who source this
mcp_answer() {
	case $(header Content-Type) in
	text/event-stream*)
		MESSAGES=$(printf '%s\n' "$BODY" | sed -n 's/^data: //p' | jq -cs .)
		BODY=$(printf '%s' "$MESSAGES" | jq -c '.[-1]')
		;;
	*) MESSAGES=$(printf '%s' "$BODY" | jq -cs .) ;;
	esac
}

# sent METHOD PARAMS [HEADER...]: a request in the versions of 2025; PARAMS is an object, or empty.
sent() {
	sent_body="{\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"method\":\"$1\"${2:+,\"params\":$2}}"
	shift 2
	api POST /v1/mcp "$sent_body" "$@"
	mcp_answer
}

# arguments TEXT [MEMBERS]: the params of a call of the tool, with further members.
arguments() { printf '"name":"demo","arguments":{"message":"%s"%s}' "$1" "${2:+,$2}"; }

# called TEXT [MEMBERS [HEADER...]]: calls the tool.
called() {
	called_params="{$(arguments "$1" "${2-}")}"
	shift
	[ $# -eq 0 ] || shift
	sent tools/call "$called_params" "$@"
}

# meta [CAPABILITIES]: the member _meta in the version of 2026.
meta() {
	printf '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s}' "${1-{\}}"
}

# modern METHOD MEMBERS [CAPABILITIES [HEADER...]]: a request in the version of 2026.
modern() {
	modern_method=$1 modern_members=$2 modern_can=${3-"{}"}
	shift 2
	[ $# -eq 0 ] || shift
	sent "$modern_method" "{$(meta "$modern_can")${modern_members:+,$modern_members}}" 'MCP-Protocol-Version: 2026-07-28' \
		"Mcp-Method: $modern_method" 'Mcp-Name: demo' "$@"
}

# fault STATUS CODE PATTERN SENTENCE: tests that the last answer is this error.
fault() {
	is "$STATUS $(json '"\(.jsonrpc) \(.error.code)"' "$BODY")" "$1 2.0 $2" "$4"
	like "$(json .error.message "$BODY")" "$3" "$4: it says why"
}

# text_is TEXT SENTENCE: tests that the last answer is a result with that text.
text_is() { is "$STATUS $(json '.result.content | map(.text) | join("|")' "$BODY")" "200 $1" "$2"; }
