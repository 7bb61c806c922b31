# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# What the tests of authentication and authorization share.  Sourced after lib.sh; needs jq.

command -v jq >/dev/null || tap_skip_all 'jq is not installed'
MINT=$TOP_BUILDDIR/t/api/mint
[ -x "$MINT" ] || tap_bail "$MINT was not built (make check builds it)"

SECRET=0123456789abcdef0123456789abcdef
unset JWT_ISSUER JWT_AUDIENCE CACHE_URL REDIS_URL
JWT_SECRET_KEY=$SECRET JWT_ALGORITHM=HS256
export JWT_SECRET_KEY JWT_ALGORITHM
LATER=4102444800

# configure MEMBERS: agentgraph.json with builtin:demo and these members.
configure() { printf '{"agent":"builtin:demo"%s}\n' "${1:+,$1}" >agentgraph.json; }

# token USER [CLAIMS]: a good token; CLAIMS begin with a comma.
token() { "$MINT" HS256 "$SECRET" "{\"user_id\":\"$1\",\"exp\":$LATER${2-}}"; }

# with TOKEN METHOD PATH [BODY [HEADER...]]
with() {
	with_token=$1 with_method=$2 with_path=$3 with_body=${4-}
	[ $# -lt 4 ] || shift
	shift 3
	api "$with_method" "$with_path" "$with_body" "Authorization: Bearer $with_token" "$@"
}

# as USER METHOD PATH [BODY [HEADER...]]
as() {
	as_user=$1
	shift
	with "$(token "$as_user")" "$@"
}

# said: status, code and text of the last answer, or only the status if it was a success.
said() {
	case $STATUS$BODY in
	2*) echo "$STATUS" ;;
	*'"error_code":'*) json '"'"$STATUS"' \(.error_code) \(.detail)"' "$BODY" ;;
	*) json '"'"$STATUS"' \(.error_code // .code // (.error.data | if type == "array" then .[0].metadata.code else .code end) // .error.code) \(.detail // .error.message)"' "$BODY" ;;
	esac
}

# a_run TEXT [THREAD]: the body of a run.
a_run() {
	printf '{"messages":[{"role":"user","content":"%s"}]%s}' "$1" "${2:+,\"config\":{\"thread_id\":\"$2\"\}}"
}

# reply: the last text in the last answer.
reply() { json '.data.messages[-1].content[-1].text' "$BODY"; }
