#!/bin/sh
# SPDX-License-Identifier: ISC
# Bodies that /v1/ag-ui refuses before anything runs, and those it accepts.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/ag-ui.sh"
ag_ui_configure

# refused BODY TEXT [WHAT]: 422 with that text.
refused() {
	ag_ui "$1"
	is "$STATUS $(json '"\(.error_code) \(.detail)"' "$BODY")" "422 VALIDATION_ERROR $2" "refused: ${3-$1}"
}
# invalid BODY FIELD EXPECTED
invalid() { refused "$1" "Invalid AG-UI RunAgentInput: $2: $3"; }
# with MEMBERS: a body with these besides the three that are needed.
with() { printf '{"threadId":"t","runId":"r","messages":[]%s}' "${1:+,$1}"; }
# message MESSAGE: a body with one message.
message() { printf '{"threadId":"t","runId":"r","messages":[%s]}' "$1"; }
# part PART: a body with one user message of one part.
part() { message "{\"id\":\"m\",\"role\":\"user\",\"content\":[$1]}"; }

# ---- JSON

refused '{' 'Request body must be JSON'
refused 'hello' 'Request body must be JSON'
refused "$(printf '{"threadId":"\377"}')" 'Request body must be JSON' 'what is not UTF-8'
refused '[]' 'Request body must be a JSON object'
refused '' 'Request body is required' 'no body'
ag_ui '{}' 'Content-Type: text/plain'
is "$(json .detail "$BODY")" 'Content-Type must be application/json' 'another media type is refused'
deep=$(printf '%0101d' 0 | sed 's/0/[/g')$(printf '%0101d' 0 | sed 's/0/]/g')
ag_ui "$(with "\"forwardedProps\":$deep")"
is "$STATUS" 422 'so is what nests too deep'
api POST /v1/graph/stop '{'
is "$(json .detail "$BODY")" 'Request body must be valid JSON' 'other routes keep their words'

# ---- what must be there

invalid '{"runId":"r","messages":[]}' threadId 'must be a string'
invalid '{"threadId":"t","messages":[]}' runId 'must be a string'
invalid '{"threadId":"t","runId":"r"}' messages 'must be an array'
invalid '{"threadId":null,"runId":"r","messages":[]}' threadId 'must be a string'
invalid '{"threadId":7,"runId":"r","messages":[]}' threadId 'must be a string'
invalid '{"threadId":"t","runId":7,"messages":[]}' runId 'must be a string'
invalid '{"threadId":"t","runId":"r","messages":{}}' messages 'must be an array'
for blank in '' ' ' '\t' '\u00a0'; do
	refused "{\"threadId\":\"$blank\",\"runId\":\"r\",\"messages\":[]}" 'threadId is required'
	refused "{\"threadId\":\"t\",\"runId\":\"$blank\",\"messages\":[]}" 'runId is required'
done
refused '{"threadId":"0","runId":"r","messages":[]}' 'thread_id must be a positive integer'
long=$(printf '%0256d' 0 | tr 0 x)
invalid "{\"threadId\":\"t\",\"runId\":\"$long\",\"messages\":[]}" runId 'must be 1 to 255 characters without control characters'
ag_ui "{\"threadId\":\"${long#x}\",\"runId\":\"${long#x}\",\"messages\":[]}"
is "$EVENTS" 'run finished' 'ids of 255 characters are fine'
ag_ui '{"threadId":"new","runId":"r","messages":[]}'
is "$(json '.[0].threadId' "$BODY")" new 'the id new is an ordinary id'
invalid "$(with '"protocolVersion":1')" protocolVersion 'must be a string'
invalid "$(with '"parentRunId":{}')" parentRunId 'must be a string'

# ---- messages

invalid "$(message '7')" 'messages[0]' 'must be an object'
invalid "$(message '{"id":"m"}')" 'messages[0].role' 'must be a string'
invalid "$(message '{"role":"user","content":"x"}')" 'messages[0].id' 'must be a string'
invalid "$(message '{"id":1,"role":"user","content":"x"}')" 'messages[0].id' 'must be a string'
invalid "$(message '{"id":"m","role":["user"]}')" 'messages[0].role' 'must be a string'
invalid "$(message '{"id":"m","role":"user"}')" 'messages[0].content' 'must be a string or an array of parts'
invalid "$(message '{"id":"m","role":"user","content":{}}')" 'messages[0].content' 'must be a string or an array of parts'
invalid "$(message "{\"id\":\"$long\",\"role\":\"user\",\"content\":\"x\"}")" 'messages[0].id' 'must be 1 to 255 characters without control characters'
invalid "$(message '{"id":"m","role":"tool","content":"x"}')" 'messages[0].toolCallId' 'must be a string'
invalid "$(message '{"id":"m","role":"tool","toolCallId":"c"}')" 'messages[0].content' 'must be a string or an array of parts'
invalid "$(message '{"id":"m","role":"tool","toolCallId":"c","content":"x","error":1}')" 'messages[0].error' 'must be a string'
ag_ui "$(message '{"id":"a","role":"assistant"},{"id":"m"},7')"
is "$(json '[.error.details[].loc | map(tostring) | join(".")] | join(" ")' "$BODY")" 'body.messages.1.role body.messages.2' 'all mistakes are told'
ag_ui "$(message '{"id":"s","role":"system","content":7},{"id":"d","role":"developer"},{"id":"x","role":"activity","content":{"a":[]}},{"id":"y","role":"reasoning","content":null},{"id":"a","role":"assistant","toolCalls":"?"}')"
is "$EVENTS" 'run finished' 'other roles are ignored, whatever they contain'

# ---- parts

invalid "$(part 7)" 'messages[0].content[0]' 'must be an object'
invalid "$(part '{}')" 'messages[0].content[0].type' 'must be a string'
invalid "$(part '{"type":"smell"}')" 'messages[0].content[0].type' 'must be one of text, image, audio, video, document, binary'
invalid "$(part '{"type":"text"}')" 'messages[0].content[0].text' 'must be a string'
invalid "$(part '{"type":"image"}')" 'messages[0].content[0].source' 'must be an object'
invalid "$(part '{"type":"image","source":{"type":"data","value":"aGk="}}')" 'messages[0].content[0].source.mimeType' 'must be a string'
invalid "$(part '{"type":"image","source":{"type":"url"}}')" 'messages[0].content[0].source.value' 'must be a string'
invalid "$(part '{"type":"image","source":{"type":"magic","value":"x"}}')" 'messages[0].content[0].source.type' 'must be one of data, url, file'
invalid "$(part '{"type":"image","source":{"type":"url","value":"ftp://x"}}')" 'messages[0].content[0].source.value' 'must be an http or https URL, or a data URL with valid base64'
invalid "$(part '{"type":"image","source":{"type":"data","value":"???","mimeType":"image/png"}}')" 'messages[0].content[0].source.value' 'must be valid base64'
invalid "$(part '{"type":"image","source":{"type":"data","value":"aGk=","mimeType":""}}')" 'messages[0].content[0].source.mimeType' 'must be a string that is not empty'
invalid "$(part '{"type":"image","source":{"type":"file","value":""}}')" 'messages[0].content[0].source.value' 'must be a string that is not empty'
invalid "$(part '{"type":"binary","data":"aGk="}')" 'messages[0].content[0].mimeType' 'must be a string'
invalid "$(part '{"type":"binary","mimeType":"image/png"}')" 'messages[0].content[0]' 'must have one of data, url, id'
invalid "$(part '{"type":"binary","mimeType":"image/png","data":"???"}')" 'messages[0].content[0].data' 'must be valid base64'
invalid "$(part '{"type":"binary","mimeType":"","data":"aGk="}')" 'messages[0].content[0].mimeType' 'must be a string that is not empty'
invalid "$(part '{"type":"binary","mimeType":"image/png","id":7}')" 'messages[0].content[0].id' 'must be a string'

# ---- state, context, resume

invalid "$(with '"state":{"notes":7}')" state.notes 'must be of type array'
invalid "$(with '"context":{}')" context 'must be an array'
invalid "$(with '"context":[7]')" 'context[0]' 'must be an object'
invalid "$(with '"context":[{"description":"x"}]')" 'context[0].value' 'must be a string'
invalid "$(with '"resume":{}')" resume 'must be an array'
invalid "$(with '"resume":[7]')" 'resume[0]' 'must be an object'
invalid "$(with '"resume":[{"status":"resolved"}]')" 'resume[0].interruptId' 'must be a string'
invalid "$(with '"resume":[{"interruptId":"i"}]')" 'resume[0].status' 'must be one of resolved, cancelled'
invalid "$(with '"resume":[{"interruptId":"i","status":"done"}]')" 'resume[0].status' 'must be one of resolved, cancelled'
for members in '"state":null' '"state":7' '"state":"x"' '"state":[1]' '"resume":null' '"resume":[]' '"tools":null,"context":null,"forwardedProps":null' \
	'"unknown":{"a":1},"protocolVersion":"1.0.0","parentRunId":"p","forwardedProps":7' '"state":{"context":7,"execution_meta":[],"context_summary":{},"other":1}'; do
	ag_ui "$(with "$members")"
	is "$EVENTS" 'run finished' "accepted: $members"
done

# ---- tools, each limit and one more

# tools N: that many.
tools() {
	i=0 list=
	while [ $i -lt "$1" ]; do
		i=$((i + 1))
		list="$list${list:+,}$(tool "t$i")"
	done
	printf '"tools":[%s]' "$list"
}
# schema BYTES: a schema of so many bytes.
schema() { printf '{"description":"%s"}' "$(printf "%0$(($1 - 18))d" 0)"; }
passes() {
	ag_ui "$1"
	is "$EVENTS" 'run finished' "accepted: $2"
}
limits() {
	passes "$(with "$(tools 64)")" '64 tools'
	refused "$(with "$(tools 65)")" 'At most 64 client tools are allowed per run' '65 tools'
	n64=$(printf '%064d' 0 | tr 0 n)
	passes "$(with "\"tools\":[$(tool "$n64")]")" 'a name of 64 characters'
	refused "$(with "\"tools\":[$(tool "n$n64")]")" "Invalid client tool name 'n$n64': use 1-64 letters, digits, '_' or '-'" 'a name of 65'
	passes "$(with "\"tools\":[$(tool A-z_09)]")" 'a name with all that is allowed'
	for name in '' 'a b' a.b 'ä' 'a/b'; do
		refused "$(with "\"tools\":[$(tool "$name")]")" "Invalid client tool name '$name': use 1-64 letters, digits, '_' or '-'"
	done
	refused "$(with "\"tools\":[$(tool a),$(tool b),$(tool a)]")" "Duplicate client tool name 'a'"
	d4096=$(printf '%04096d' 0 | sed 's/0/ä/g')
	passes "$(with "\"tools\":[{\"name\":\"a\",\"description\":\"$d4096\"}]")" 'a description of 4096 characters'
	refused "$(with "\"tools\":[{\"name\":\"a\",\"description\":\"${d4096}x\"}]")" "Client tool 'a': description exceeds 4096 characters" 'one more'
	passes "$(with "\"tools\":[$(tool a "\"parameters\": $(schema 16384)")]")" 'a schema of 16384 bytes'
	passes "$(with "\"tools\":[$(tool a "\"parameters\":   { \"description\"  : \"$(printf '%016366d' 0)\" }")]")" 'white space is not counted'
	refused "$(with "\"tools\":[$(tool a "\"parameters\":$(schema 16385)")]")" "Client tool 'a': parameters exceed 16384 bytes" 'one more byte'
}
limits
invalid "$(with '"tools":{}')" tools 'must be an array'
invalid "$(with '"tools":[7]')" 'tools[0]' 'must be an object'
invalid "$(with '"tools":[{}]')" 'tools[0].name' 'must be a string'
invalid "$(with '"tools":[{"name":"a","description":1}]')" 'tools[0].description' 'must be a string'
invalid "$(with '"tools":[{"name":"a","description":"","parameters":[]}]')" 'tools[0].parameters' 'must be a JSON Schema object'

api GET /v1/threads/t
is "$STATUS" 404 'nothing of all this made a thread'
serve_stop

ag_ui_configure '"x":1' && sed -i 's/"enabled":true/"enabled":true,"allow_client_tools":false/' agentgraph.json
limits
serve_stop
cat >graph.json <<'JSON'
{"says": {"nodes": {"say": {"kind": "reply", "text": "said"}}, "edges": [{"from": "START", "to": "say"}, {"from": "say", "to": "END"}]}}
JSON
printf '{"agent":"graph.json:says","ag_ui":{"enabled":true}}\n' >agentgraph.json
limits
run plain "$(says m hi)" "\"tools\":[$(tool a)]"
is "$EVENTS" 'run step text piece text. step. finished' 'a message that was not streamed is sent as one piece'

done_testing
