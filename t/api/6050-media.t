#!/bin/sh
# SPDX-License-Identifier: ISC
# Stored files in messages: they are looked up before anything runs, and described from their record.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/files.sh"
. "$TOP_SRCDIR/t/api/run.sh"
json_fast=jq # some facts are about the order of members

api_start
upload 'pic.png' image/png 'not really'
pic=$FILE
upload 'doc.pdf' 'Application/PDF; x=y' '%PDF'
doc=$FILE
missing=0123456789abcdef0123456789abcdef
sha=$(printf 'not really' | sha256sum | cut -d' ' -f1)

# block TYPE MEMBERS
block() { printf '{"type":"%s",%s}' "$1" "$2"; }
# message BLOCK...
message() { printf '{"role":"user","content":[%s]}' "$(IFS=, && printf '%s' "$*")"; }
text() { printf '{"type":"text","text":"%s"}' "$1"; }

full="{\"kind\":\"file_id\",\"url\":null,\"file_id\":\"$pic\",\"data_base64\":null,\"mime_type\":\"image/png\",\"size_bytes\":10,\"sha256\":\"$sha\",\"filename\":\"pic.png\",\"width\":null,\"height\":null,\"duration_ms\":null,\"page\":null}"

# filled MEMBERS NAME: an image block is stored with what the record says.
filled() {
	api POST /v1/threads/t/messages "{\"messages\":[$(message "$(block image "$1")")]}"
	id=$(json '.data.data.message_ids[0]' "$BODY")
	api GET "/v1/threads/t/messages/$id"
	is "$(json '.data.content[0].media | tojson' "$BODY")" "$full" "$2"
	is "$(json '.data.content[0] | [.file_id, .url, .mime_type] | tojson' "$BODY")" "[\"$pic\",null,\"image/png\"]" \
		'and once more on the block'
}
filled "\"file_id\":\"$pic\"" 'the short form'
filled "\"media\":{\"file_id\":\"$pic\"}" 'the long form'
filled "\"url\":\"agentflow://media/$pic\"" 'a URL that names a file is the file'
filled "\"media\":{\"url\":\"graph://media/$pic\"}" 'also in media'
filled "\"url\":\"/v1/files/$pic\",\"mime_type\":\"a/b\"" 'and so is its path'
filled "\"file_id\":\"$pic\",\"url\":\"/v1/files/$pic\"" 'which may stand beside its id'
filled "\"media\":{\"kind\":\"file_id\",\"file_id\":\"$pic\",\"mime_type\":\"text/html\",\"size_bytes\":999,\"sha256\":\"00\",\"filename\":\"x\"},\"mime_type\":\"a/b\"" \
	'what the client says of it does not count'
api POST /v1/threads/t/messages "{\"messages\":[$(message "$(block video "\"url\":\"http://a/b.mp4\",\"thumbnail\":{\"file_id\":\"$pic\"}")")]}"
api GET "/v1/threads/t/messages/$(json '.data.data.message_ids[0]' "$BODY")"
is "$(json '.data.content[0].thumbnail | tojson' "$BODY")" "$full" 'a thumbnail is filled in, too'

# refused BODY-OF-A-RUN NAME: on every route that takes messages.
refused() {
	api POST /v1/graph/invoke "{\"messages\":[$1],\"config\":{\"thread_id\":\"new-one\"}}"
	is "$STATUS $(json '"\(.error_code) \(.detail)"' "$BODY")" "422 INVALID_INPUT File not found: $3" "invoke: $2"
	api POST /v1/graph/stream "{\"messages\":[$1],\"config\":{\"thread_id\":\"new-one\"}}"
	is "$STATUS $(printf '%s' "$BODY" | jq -sc 'map([.event, .data.error_code, .data.reason, .data.status])')" \
		"200 [[\"error\",\"INVALID_INPUT\",\"File not found: $3\",\"error\"],[\"updates\",null,null,\"done\"]]" "stream: $2"
	api POST /v1/threads/new-one/messages "{\"messages\":[$1]}"
	is "$STATUS $(json '"\(.error_code) \(.detail)"' "$BODY")" "422 INVALID_INPUT File not found: $3" "messages: $2"
	api PUT /v1/threads/new-one/state "{\"state\":{\"context\":[$1]}}"
	is "$STATUS $(json '"\(.error_code) \(.detail)"' "$BODY")" "422 INVALID_INPUT File not found: $3" "state: $2"
	api GET /v1/threads/new-one
	is "$STATUS" 404 'and nothing is stored'
}
good=$(block image "\"file_id\":\"$pic\"")
refused "$(message "$(block image "\"file_id\":\"$missing\"")")" 'an unknown file' "$missing"
refused "$(message "$good" "$(text hi)" "$good" "$(block document "\"media\":{\"file_id\":\"../x\"}")")" 'the last of several blocks' '../x'
refused "$(message "$good"),$(message "$(text hi)"),$(message "$good" "$(block audio "\"file_id\":\"$missing\"")")" \
	'the last of several messages' "$missing"
refused "$(message "$(block video "\"file_id\":\"$pic\",\"thumbnail\":{\"file_id\":\"$missing\"}")")" 'a thumbnail' "$missing"
refused "$(message "$(block data "\"file_id\":\"$missing\"")")" 'a data block' "$missing"
citation='{"role":"assistant","content":[{"type":"annotation","kind":"citation","refs":[{"file_id":"file-of-somebody","title":"x"}]}]}'
api POST /v1/threads/t/messages "{\"messages\":[$citation]}"
is "$STATUS" 200 'a citation may name what is not stored here'

api POST /v1/graph/invoke "$(run_body "[$(message "$good" "$(block document "\"file_id\":\"$doc\"")" \
	"$(block image '"url":"http://a/b.png"')" "$(block audio '"data":"aGVsbG8=","mime_type":"audio/x"')" "$(text /files)")]")"
is "$(json '.data.messages[-1].content[0].text' "$BODY")" "image image/png 10
document Application/PDF; x=y 4
image unknown 0
audio audio/x 5" 'the graph sees all of them'
is "$(json '.data.messages[0].content[0].media | tojson' "$BODY")" "$full" 'and the answer repeats them, filled in'
thread=$(json .data.meta.thread_id "$BODY")
api GET "/v1/threads/$thread/state"
is "$(json '.data.state.context[0].content[0].media.sha256' "$BODY")" "$sha" 'so does the state'
api POST /v1/graph/invoke "$(run_body "[$(user /ask)]" "$(thread paused)")"
api POST /v1/graph/invoke "{\"resume\":1,\"messages\":[$(message "$(block image "\"file_id\":\"$missing\"")")],$(thread paused)}"
is "$STATUS" 422 'files that come with an answer are looked up, too'
api POST /v1/graph/invoke "{\"resume\":1,$(thread paused)}"
is "$(json '.data.messages[-1].content[0].text' "$BODY")" 'answer: 1' 'and the pause is still there'
# ---- below a path of a site

serve_stop
ROOT_PATH=/svc
export ROOT_PATH
api_start
upload 'pic.png' image/png 'not really'
for url in "/svc/v1/files/$FILE" "/v1/files/$FILE"; do
	api POST /v1/graph/invoke "{\"messages\":[$(message "$(text /files)" "$(block image "\"url\":\"$url\"")")]}"
	is "$STATUS|$(json '.data.messages[0].content[1] | [.file_id, .url] | tojson' "$BODY")" "200|[\"$FILE\",null]" "$url is the file"
done
api POST /v1/graph/invoke "{\"messages\":[$(message "$(block image "\"url\":\"/svc/svc/v1/files/$FILE\"")")]}"
is "$STATUS|$(json .detail "$BODY")" '422|messages[0].content[0].url must be an http or https URL' 'another path is no file'
api POST /v1/graph/invoke "{\"messages\":[$(message "$(block image "\"url\":\"/svc/v1/files/$missing\"")")]}"
is "$STATUS|$(json '"\(.error_code)|\(.detail)"' "$BODY")" "422|INVALID_INPUT|File not found: $missing" 'a file that is not there is said by its id'

done_testing
