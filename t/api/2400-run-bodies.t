#!/bin/sh
# SPDX-License-Identifier: ISC
# What the body of a run must be: every field with wrong types and out of its range.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

hi="\"messages\":[$(user hi)]"

# wrong LOC TEXT MEMBERS...: 422 for each body, with one mistake at LOC.  TEXT "" is any sentence.
wrong() {
	loc=$1 text=$2
	shift 2
	for members in "$@"; do
		api POST /v1/graph/invoke "{$members}"
		is "$STATUS|$(json '"\(.error_code)|\(.error.details | map(.loc | map(tostring) | join(".")) | join(" "))"' "$BODY")" \
			"422|VALIDATION_ERROR|$loc" "$(printf '%.50s' "${members#"$hi",}") is refused"
		[ -z "$text" ] || is "$(json .detail "$BODY")" "$text" 'with a sentence'
	done
}
# wrong_value LOC NAME TEXT VALUE...: the same for one field beside good messages.
wrong_value() {
	value_loc=$1 value_name=$2 value_text=$3
	shift 3
	for value in "$@"; do
		wrong "$value_loc" "$value_text" "$hi,\"$value_name\":$value"
	done
}

# ---- the fields of the body

text='messages must contain at least one message'
wrong body.messages "$text" '' '"messages":null' '"messages":[]' '"config":{}' '"resumed":1'
wrong body.messages '' '"messages":{}' '"messages":"hi"' '"messages":1' '"messages":true'
wrong_value body.recursion_limit recursion_limit 'recursion_limit must be between 1 and 100' \
	0 -1 101 1000000 99999999999999999999 1.5 '"5"' true '[]' '{}'
wrong_value body.response_granularity response_granularity 'response_granularity must be one of full, partial, low' \
	'"FULL"' '""' '"all"' 1 true '[]' '{}'
wrong_value body.config config 'config must be an object' '[]' '"x"' 1 true
wrong_value body.initial_state initial_state '' '[]' '"x"' 1 true
for name in node_timeout tool_timeout; do
	for value in 0 -1 '"5"' true '[]' '{}'; do
		wrong "body.config.$name" '' "$hi,\"config\":{\"$name\":$value}"
	done
done

# right MEMBERS...: accepted beside good messages.
right() {
	for members in "$@"; do
		api POST /v1/graph/invoke "{$hi,$members}"
		is "$STATUS" 200 "$members is accepted"
	done
}
right '"recursion_limit":1' '"recursion_limit":100' '"recursion_limit":25.0' '"recursion_limit":null' \
	'"response_granularity":null' '"config":null' '"config":{}' '"initial_state":null' '"initial_state":{}' \
	'"unknown":1' '"config":{"node_timeout":1e9,"tool_timeout":0.5}' '"config":{"node_timeout":null}' \
	'"recursion_limit":0,"recursion_limit":5' '"stream":true'

# ---- messages

# wrong_message LOC TEXT MESSAGE...: as the second of two.
wrong_message() {
	message_loc=$1 message_text=$2
	shift 2
	for message in "$@"; do
		wrong "body.messages.1${message_loc:+.$message_loc}" "$message_text" "\"messages\":[$(user hi),$message]"
	done
}
roles='role must be one of user, assistant, system, tool'
wrong_message '' '' 1 '"hi"' null '[]' true
wrong_message role "$roles" '{"content":"x"}' '{"role":null,"content":"x"}' '{"role":"User","content":"x"}' \
	'{"role":"","content":"x"}' '{"role":"developer","content":"x"}' '{"role":1,"content":"x"}' '{"role":[],"content":"x"}'
wrong_message content '' '{"role":"user"}' '{"role":"user","content":null}' '{"role":"user","content":1}' \
	'{"role":"user","content":{}}' '{"role":"user","content":true}'
wrong_message metadata '' "$(user x '"metadata":1')" "$(user x '"metadata":[]')" "$(user x '"metadata":"x"')"
wrong_message timestamp '' "$(user x '"timestamp":"x"')" "$(user x '"timestamp":true')"
wrong_message tool_call_id 'messages[1].tool_call_id must be a string' '{"role":"tool","content":"x","tool_call_id":5}'

# wrong_block LOC TEXT BLOCK...: as the second of two.
wrong_block() {
	block_loc=$1 block_text=$2
	shift 2
	for block in "$@"; do
		wrong_message "content.1${block_loc:+.$block_loc}" "$block_text" \
			"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},$block]}"
	done
}
wrong_block '' '' 1 '"text"' null '[]'
wrong_block type '' '{}' '{"type":null}' '{"type":1}' '{"type":"Text","text":"x"}' '{"type":"picture"}' '{"text":"x"}'
wrong_block text '' '{"type":"text"}' '{"type":"text","text":1}' '{"type":"text","text":null}' '{"type":"text","text":[]}'
wrong_block '' 'messages[1].content[1] needs one of file_id, url, data_base64' \
	'{"type":"image"}' '{"type":"audio","mime_type":"audio/wav"}' '{"type":"video","media":{}}' \
	'{"type":"document","media":{"kind":"url"}}' '{"type":"image","media":null}'
# refused_block NAME BLOCK...: with 422, wherever the mistake is said to be.
refused_block() {
	block_name=$1
	shift
	for block in "$@"; do
		api POST /v1/graph/invoke "{\"messages\":[{\"role\":\"user\",\"content\":[$block]}]}"
		is "$STATUS|$(json '.error_code' "$BODY")" '422|VALIDATION_ERROR' "$block_name is refused: $(printf '%.60s' "$block")"
	done
}
refused_block 'an url of another scheme' '{"type":"image","url":"file:///etc/passwd"}' '{"type":"image","url":"ftp://a/b"}' \
	'{"type":"image","url":"javascript:1"}' '{"type":"image","media":{"kind":"url","url":"blob:https://a/b"}}' \
	'{"type":"image","url":""}' '{"type":"image","url":7}'
refused_block 'bad base64' '{"type":"image","data_base64":"a b","mime_type":"image/png"}' \
	'{"type":"image","data_base64":"abc","mime_type":"image/png"}' '{"type":"image","data_base64":"ab=c","mime_type":"image/png"}' \
	'{"type":"image","data_base64":"====","mime_type":"image/png"}' '{"type":"image","data":"%%%%","mime_type":"image/png"}'
refused_block 'data without type' '{"type":"image","data_base64":"AAAA"}' '{"type":"image","data":"AAAA","mime_type":""}'
refused_block 'a wrong member' '{"type":"image","url":"https://a/b","bbox":"x"}' '{"type":"document","url":"https://a/b","pages":["x"]}' \
	'{"type":"tool_result","output":1}' '{"type":"tool_result","call_id":1,"output":1}'

# right_block BLOCK...: accepted.
right_block() {
	for block in "$@"; do
		api POST /v1/graph/invoke "{\"messages\":[{\"role\":\"user\",\"content\":[$block]}]}"
		is "$STATUS" 200 "a block is accepted: $(printf '%.70s' "$block")"
	done
}
right_block '{"type":"text","text":""}' '{"type":"text","text":"x","annotations":[],"extra":1}' \
	'{"type":"image","url":"https://example.com/a.png"}' '{"type":"image","url":"HTTP://example.com/a"}' \
	'{"type":"audio","data":"AAAA","mime_type":"audio/wav","transcript":"x","sample_rate":16000,"channels":1}' \
	'{"type":"video","media":{"kind":"url","url":"http://a/b"},"thumbnail":{"kind":"url","url":"http://a/t"}}' \
	'{"type":"document","url":"https://a/b","pages":[1,2],"excerpt":"x"}' '{"type":"data","mime_type":"x/y","data_base64":"AAAA"}' \
	'{"type":"reasoning","summary":"x","details":["a"]}' '{"type":"annotation","kind":"note","refs":[],"spans":[[0,1]]}' \
	'{"type":"error","message":"x","code":"y","data":{}}'
api POST /v1/graph/invoke '{"messages":[{"role":"user","content":[{"type":"image","url":"https://a/b.png","mime_type":"image/png","odd":1}]}]}'
facts <<'TABLE'
the short form comes back in both :: .data.messages[0].content[0] | [.url, .mime_type, .media.kind, .media.url, .media.mime_type, has("odd")] == ["https://a/b.png", "image/png", "url", "https://a/b.png", "image/png", false]
TABLE

# ---- a file that is not there

for route in invoke stream; do
	api POST "/v1/graph/$route" '{"messages":[{"role":"user","content":[{"type":"image","file_id":"nope"}]}],"config":{"thread_id":"nofile"}}'
	case $route in
	invoke) is "$STATUS|$(json '"\(.error_code)|\(.detail)"' "$BODY")" '422|INVALID_INPUT|File not found: nope' 'an unknown file is refused' ;;
	stream)
		is "$STATUS|$(printf '%s' "$BODY" | jq -rs '[.[0].data | .status, .reason, .error_code] + [.[1].data.status] | join("|")')" \
			'200|error|File not found: nope|INVALID_INPUT|done' 'in a stream by a chunk'
		;;
	esac
done
api GET /v1/threads/nofile
is "$STATUS" 404 'and nothing is stored'

# ---- several mistakes

api POST /v1/graph/invoke '{"messages":[{"role":"robot"},{"role":"user","content":[{"type":"nope"}]}],"config":{"thread_id":true,"node_timeout":0},
	"recursion_limit":0,"response_granularity":"x","initial_state":[]}'
is "$STATUS" 422 'several mistakes are one refusal'
facts <<'TABLE'
each is listed :: [.error.details[].loc | map(tostring) | join(".")] | contains(["body.messages.0.role", "body.messages.1.content.0.type", "body.config.thread_id", "body.config.node_timeout", "body.recursion_limit", "body.response_granularity", "body.initial_state"])
the first one is the text :: .detail == .error.details[0].msg
in three places :: [.error.message, .metadata.message] == [.detail, .detail]
each detail has three members :: .error.details | all(keys == ["loc", "msg", "type"] and (.msg | length > 0))
the types are words of four :: [.error.details[].type] | unique - ["missing", "type_error", "value_error", "json_invalid"] == []
the error has the shape of all errors :: [keys, (.error | keys), (.metadata | keys)] == [["detail", "error", "error_code", "metadata"], ["code", "details", "message"], ["message", "request_id", "timestamp"]]
TABLE
api POST /v1/graph/invoke "{$hi,\"recursion_limit\":101}"
facts <<'TABLE'
a value out of range is a value error :: .error.details[0].type == "value_error"
TABLE
api POST /v1/graph/invoke "{$hi,\"recursion_limit\":\"5\"}"
facts <<'TABLE'
another type is a type error :: .error.details[0].type == "type_error"
TABLE
api POST /v1/graph/invoke '{"messages":[{"content":"x"}]}'
facts <<'TABLE'
what is not there is missing :: .error.details[0].type == "missing"
TABLE
api POST /v1/graph/stream "{$hi,\"recursion_limit\":0}"
is "$STATUS|$(header Content-Type)|$(json .detail "$BODY")" \
	'422|application/json|recursion_limit must be between 1 and 100' 'a stream is refused before it begins'
for route in invoke stream; do
	api POST "/v1/graph/$route" ''
	is "$STATUS|$(json .detail "$BODY")" '422|Request body is required' "$route needs a body"
	api POST "/v1/graph/$route" '[]'
	is "$(json .detail "$BODY")" 'Request body must be a JSON object' 'an object'
	api POST "/v1/graph/$route" '{"messages":['
	is "$(json '"\(.detail)|\(.error.details[0].type)"' "$BODY")" 'Request body must be valid JSON|json_invalid' 'of valid JSON'
done
api GET /v1/threads
is "$(json '[.data.threads[] | select(.thread_id == "nowhere")] | length' "$BODY")" 0 'refused bodies create nothing'

done_testing
