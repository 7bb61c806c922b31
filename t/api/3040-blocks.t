#!/bin/sh
# SPDX-License-Identifier: ISC
# Blocks of content: every type, every form of media, and what is refused.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/threads.sh"

# store BLOCK
store() {
	put t "{\"role\":\"user\",\"content\":[$1]}"
}

# block INPUT OUTPUT NAME: a block as it is sent, and as it is stored.
block() {
	store "$1"
	api GET "/v1/threads/t/messages/$(data '.data.message_ids[0]')"
	is "$STATUS $(data '.content[0] | tojson' | sorted .)" "200 $(printf '%s' "$2" | sorted .)" "$3"
}

# bad BLOCK LOC TYPE TEXT: is refused, as the second of two.
bad() {
	store "{\"type\":\"text\",\"text\":\"fine\"},$1"
	invalid "$4" "$1 is refused"
	places "body.messages.0.content.1$2|$3" 'and the details say where'
}

# wrong TYPE MEMBER VALUE EXPECTED [FAULT]: one member of a block has the wrong type, or FAULT.
wrong() {
	bad "{\"type\":\"$1\",$required\"$2\":$3}" ".$2" "${5-type_error}" "messages[0].content[1].$2 must be $4"
}

# media KIND [MEMBERS]: a media object with its members, all others null.
media() {
	jq -nc --arg kind "$1" "{kind: \$kind, url: null, file_id: null, data_base64: null, mime_type: null,
		size_bytes: null, sha256: null, filename: null, width: null, height: null, duration_ms: null,
		page: null} + ${2-{\}}"
}

url=http://example.com/a.png
by_url=$(media url "{url: \"$url\"}")
short="\"file_id\":null,\"url\":\"$url\",\"mime_type\":null"

# ---- URLs that are none ----

# inline URL TYPE BASE64 NAME
inline() {
	block "{\"type\":\"image\",\"url\":\"$1\"}" \
		"{\"type\":\"image\",\"media\":$(media data "{data_base64: \"$3\", mime_type: \"$2\"}"),\"alt_text\":null,\"bbox\":null,\"file_id\":null,\"url\":null,\"mime_type\":\"$2\"}" "$4"
}
inline 'data:image/png;base64,aGk=' image/png aGk= 'a data: URL is its bytes'
inline 'DATA:image/PNG;name=a.png;Base64,aGk%3D' image/PNG aGk= 'whatever its case and parameters'
inline 'data:text/plain,%C3%A9%20b%00' text/plain w6kgYgA= 'also when it is no base64'
inline 'data:,hi' text/plain aGk= 'or has no type'
inline 'data:;base64,' text/plain '' 'or no bytes'
block '{"type":"image","media":{"url":"data:image/png;base64,aGk="},"mime_type":"a/b"}' \
	"{\"type\":\"image\",\"media\":$(media data '{data_base64: "aGk=", mime_type: "image/png"}'),\"alt_text\":null,\"bbox\":null,\"file_id\":null,\"url\":null,\"mime_type\":\"image/png\"}" \
	'its type is that of the bytes'
bad '{"type":"image","url":"data:image/png;base64,a"}' .url value_error \
	'messages[0].content[1].url must be an http or https URL, or a data URL with valid base64'

# ---- types ----

bad 7 '' type_error 'messages[0].content[1] must be an object'
bad '{}' .type missing 'messages[0].content[1].type must be a string'
bad '{"type":null,"text":"x"}' .type missing 'messages[0].content[1].type must be a string'
bad '{"type":1,"text":"x"}' .type type_error 'messages[0].content[1].type must be a string'
types='text, image, audio, video, document, data, tool_call, remote_tool_call, tool_result, reasoning, annotation, error'
for type in Text '' image_url file 'text ' media; do
	bad "{\"type\":\"$type\",\"text\":\"x\"}" .type value_error "messages[0].content[1].type must be one of $types"
done

# ---- text ----

block '{"type":"text","text":"a"}' '{"type":"text","text":"a","annotations":[]}' 'a text'
block '{"type":"text","text":"","annotations":[{"any":1},2],"extra":1,"media":{}}' \
	'{"type":"text","text":"","annotations":[{"any":1},2]}' 'annotations stay, unknown members go'
block '{"type":"text","text":"a","annotations":null}' '{"type":"text","text":"a","annotations":[]}' 'null is as if absent'
required=
bad '{"type":"text"}' .text missing 'messages[0].content[1].text must be a string'
wrong text text 1 'a string'
required='"text":"x",'
wrong text annotations '{}' 'an array'

# ---- media, in all forms ----

block "{\"type\":\"image\",\"url\":\"$url\"}" "{\"type\":\"image\",\"media\":$by_url,\"alt_text\":null,\"bbox\":null,$short}" \
	'an image by url on the block'
block "{\"type\":\"image\",\"media\":{\"url\":\"$url\"}}" \
	"{\"type\":\"image\",\"media\":$by_url,\"alt_text\":null,\"bbox\":null,$short}" 'or in media'
block "{\"type\":\"image\",\"media\":{\"kind\":\"data\",\"url\":\"$url\",\"unknown\":1}}" \
	"{\"type\":\"image\",\"media\":$by_url,\"alt_text\":null,\"bbox\":null,$short}" 'kind is what there is'
block "{\"type\":\"image\",\"url\":\"HTTPS://a/b\",\"mime_type\":\"image/png\",\"alt_text\":\"cat\",\"bbox\":[0,1.5,-2,3]}" \
	"{\"type\":\"image\",\"media\":$(media url '{url: "HTTPS://a/b", mime_type: "image/png"}'),
	\"alt_text\":\"cat\",\"bbox\":[0,1.5,-2,3],\"file_id\":null,\"url\":\"HTTPS://a/b\",\"mime_type\":\"image/png\"}" \
	'a type on the block is that of its media'
inline=$(media data '{data_base64: "aGk=", mime_type: "image/png"}')
for form in '"data_base64":"aGk=","mime_type":"image/png"' '"data":"aGk=","mime_type":"image/png"' \
	'"media":{"data_base64":"aGk=","mime_type":"image/png"}' '"media":{"data":"aGk="},"mime_type":"image/png"' \
	'"media":{"kind":"data","data_base64":"aGk="},"mime_type":"image/png","url":null,"file_id":null'; do
	block "{\"type\":\"image\",$form}" \
		"{\"type\":\"image\",\"media\":$inline,\"alt_text\":null,\"bbox\":null,\"file_id\":null,\"url\":null,\"mime_type\":\"image/png\"}" \
		"inline: $form"
done
full='{"kind":"url","url":"http://a/","file_id":null,"data_base64":null,"mime_type":"video/mp4","size_bytes":9007199254740993,"sha256":"ab","filename":"a.mp4","width":1,"height":2,"duration_ms":3,"page":4}'
store "{\"type\":\"video\",\"media\":$full}"
api GET "/v1/threads/t/messages/$(data '.data.message_ids[0]')"
like "$BODY" "$(printf '%s' "\"media\":$full" | sed 's/[{.]/[&]/g')" 'every member of media is kept, numbers exactly'

for type in image audio video document data; do
	bad "{\"type\":\"$type\"}" '' missing 'messages[0].content[1] needs one of file_id, url, data_base64'
	bad "{\"type\":\"$type\",\"media\":{}}" '' missing 'messages[0].content[1] needs one of file_id, url, data_base64'
	bad "{\"type\":\"$type\",\"file_id\":null,\"url\":null,\"data\":null,\"mime_type\":\"a/b\",\"media\":null}" '' missing \
		'messages[0].content[1] needs one of file_id, url, data_base64'
	required=
	wrong "$type" media '"x"' 'an object'
	wrong "$type" url '"a.png"' 'an http or https URL' value_error
	required='"mime_type":"a/b",'
	wrong "$type" data_base64 '"abc"' 'valid base64' value_error
	bad "{\"type\":\"$type\",\"data_base64\":\"aGk=\"}" .mime_type missing \
		'messages[0].content[1].mime_type must be given with data_base64'
	bad "{\"type\":\"$type\",\"media\":{\"data_base64\":\"aGk=\"}}" .mime_type missing \
		'messages[0].content[1].mime_type must be given with data_base64'
	required="\"url\":\"$url\","
	wrong "$type" mime_type 7 'a string'
	wrong "$type" file_id 7 'a string that is not empty'
	wrong "$type" file_id '""' 'a string that is not empty' value_error
	for form in '"file_id":"nope"' '"media":{"file_id":"nope"}' '"media":{"kind":"file_id","file_id":"nope"},"mime_type":"a/b"'; do
		store "{\"type\":\"$type\",$form}"
		refused 422 INVALID_INPUT 'File not found: nope' "$type with $form names no file"
	done
done
required=
for member in 'url "a.png" an http or https URL' 'file_id "" a string that is not empty' \
	'data_base64 "abc" valid base64' 'data "abc" valid base64'; do
	name=${member%% *} rest=${member#* }
	bad "{\"type\":\"image\",\"mime_type\":\"a/b\",\"media\":{\"$name\":${rest%% *}}}" ".media.$name" value_error \
		"messages[0].content[1].media.$name must be ${rest#* }"
done
bad '{"type":"image","mime_type":"a/b","data":"abc"}' .data value_error 'messages[0].content[1].data must be valid base64'
bad '{"type":"image","url":"a.png","media":{"width":1}}' .url value_error \
	'messages[0].content[1].url must be an http or https URL'
for bad_url in '""' '"ftp://a/"' '"//a/b"' '"javascript:alert(1)"' '"data:image/png;base64"' '"agentflow://media/"' '"graph://file/x"' '"/v1/files/x/url"' '"/v1/files/"' '"/svc/v1/files/x"' '"httpx://a"' '" http://a/"'; do
	wrong image url "$bad_url" 'an http or https URL' value_error
done
for bad_url in 1 '{}'; do wrong image url "$bad_url" 'an http or https URL'; done
required='"mime_type":"a/b",'
for data in '"a"' '"ab=c"' '"a==="' '"aGk=="' '"aG k"' '"aGk=x"' '"aGk-"' '"aG%6B"' '"é"'; do
	wrong image data_base64 "$data" 'valid base64' value_error
done
wrong image data_base64 7 'valid base64'
put never '{"role":"user","content":"x"}' '{"role":"user","content":[{"type":"text","text":"y"},{"type":"document","file_id":"a/../b"}]}'
refused 422 INVALID_INPUT 'File not found: a/../b' 'a file that is not there is found in any message'
api GET /v1/threads/never
not_found 'Thread not found' 'and then nothing is stored'
put never '{"role":"user","content":[{"type":"image","file_id":"nope"}]}' '{"role":"king","content":"x"}'
invalid 'role must be one of user, assistant, system, tool' 'mistakes of form come first'

# ---- the other members of media blocks ----

block "{\"type\":\"audio\",\"url\":\"$url\"}" \
	"{\"type\":\"audio\",\"media\":$by_url,\"transcript\":null,\"sample_rate\":null,\"channels\":null,$short}" 'audio'
block "{\"type\":\"audio\",\"url\":\"$url\",\"transcript\":\"hi\",\"sample_rate\":16000,\"channels\":1,\"extra\":1}" \
	"{\"type\":\"audio\",\"media\":$by_url,\"transcript\":\"hi\",\"sample_rate\":16000,\"channels\":1,$short}" 'audio with all members'
block "{\"type\":\"video\",\"url\":\"$url\"}" "{\"type\":\"video\",\"media\":$by_url,\"thumbnail\":null,$short}" 'video'
block "{\"type\":\"video\",\"url\":\"$url\",\"thumbnail\":{\"url\":\"$url\"}}" \
	"{\"type\":\"video\",\"media\":$by_url,\"thumbnail\":$by_url,$short}" 'a thumbnail is media'
block "{\"type\":\"document\",\"url\":\"$url\"}" "{\"type\":\"document\",\"media\":$by_url,\"pages\":null,\"excerpt\":null,$short}" \
	'a document'
block "{\"type\":\"document\",\"url\":\"$url\",\"pages\":[1,2.0,30],\"excerpt\":\"e\"}" \
	"{\"type\":\"document\",\"media\":$by_url,\"pages\":[1,2,30],\"excerpt\":\"e\",$short}" 'a document with all members'
block "{\"type\":\"data\",\"url\":\"$url\"}" "{\"type\":\"data\",\"media\":$by_url,\"data_base64\":null,$short}" 'data'
block '{"type":"data","mime_type":"a/b","data_base64":"aGk="}' \
	"{\"type\":\"data\",\"media\":$(media data '{data_base64: "aGk=", mime_type: "a/b"}'),\"data_base64\":null,\"file_id\":null,\"url\":null,\"mime_type\":\"a/b\"}" \
	'inline data stands in media only'
required="\"url\":\"$url\","
wrong image alt_text 1 'a string or null'
for box in '[1,2,3]' '[1,2,3,4,5]' '[1,2,3,"4"]' '{}' 1; do
	wrong image bbox "$box" 'an array of four numbers'
done
wrong audio transcript '[]' 'a string or null'
wrong audio sample_rate '"16000"' 'a number or null'
wrong audio channels true 'a number or null'
wrong document pages '[1.5]' 'an array of integers'
wrong document pages '["1"]' 'an array of integers'
wrong document pages 1 'an array of integers'
wrong document excerpt 1 'a string or null'
for thumbnail in 1 '"x"' '[]'; do
	store "{\"type\":\"video\",\"url\":\"$url\",\"thumbnail\":$thumbnail}"
	is "$STATUS" 422 "the thumbnail $thumbnail is refused"
	like "$(json .detail "$BODY")" 'messages\[0\]\.content\[0\]\.thumbnail' 'by its name'
done
bad "{\"type\":\"video\",\"url\":\"$url\",\"thumbnail\":{}}" .thumbnail missing \
	'messages[0].content[1].thumbnail needs one of file_id, url, data_base64'
bad "{\"type\":\"video\",\"url\":\"$url\",\"thumbnail\":{\"url\":\"x\"}}" .thumbnail.url value_error \
	'messages[0].content[1].thumbnail.url must be an http or https URL'
store "{\"type\":\"video\",\"url\":\"$url\",\"thumbnail\":{\"file_id\":\"nope\"}}"
refused 422 INVALID_INPUT 'File not found: nope' 'a thumbnail may name a file, too'
for member in 'size_bytes "1"' 'width "1"' 'height []' 'duration_ms {}' 'page true' 'filename 1' 'sha256 1'; do
	store "{\"type\":\"image\",\"media\":{\"url\":\"$url\",\"${member%% *}\":${member#* }}}"
	is "$STATUS" 422 "media with $member is refused"
	like "$(json .detail "$BODY")" "content\[0\]\.media\.${member%% *} must be a" 'by its name'
done

bad "{\"type\":\"image\",\"media\":{\"url\":\"$url\",\"mime_type\":7}}" .media.mime_type type_error \
	'messages[0].content[1].media.mime_type must be a string'

# ---- calls and results ----

for type in tool_call remote_tool_call; do
	kind=local
	[ "$type" = tool_call ] || kind=remote
	block "{\"type\":\"$type\",\"id\":\"c1\",\"name\":\"f\"}" \
		"{\"type\":\"$type\",\"id\":\"c1\",\"name\":\"f\",\"args\":{},\"tool_type\":\"$kind\"}" "a $type"
	block "{\"type\":\"$type\",\"id\":\"c1\",\"name\":\"f\",\"args\":{\"n\":[null]},\"tool_type\":\"$kind\",\"x\":1}" \
		"{\"type\":\"$type\",\"id\":\"c1\",\"name\":\"f\",\"args\":{\"n\":[null]},\"tool_type\":\"$kind\"}" 'with all members'
	bad "{\"type\":\"$type\",\"name\":\"f\"}" .id missing 'messages[0].content[1].id must be a string'
	bad "{\"type\":\"$type\",\"id\":\"c1\"}" .name missing 'messages[0].content[1].name must be a string'
	required='"id":"c1","name":"f",'
	wrong "$type" args '"{}"' 'an object'
	wrong "$type" args '[]' 'an object'
	wrong "$type" tool_type 1 'a string'
	store "{\"type\":\"$type\",\"id\":\"c1\",\"name\":\"f\",\"tool_type\":\"other\"}"
	is "$STATUS" 422 'another tool_type is refused'
done
block '{"type":"tool_call","id":"c1","name":"f","tool_type":"mcp"}' \
	'{"type":"tool_call","id":"c1","name":"f","args":{},"tool_type":"mcp"}' 'a call of an MCP tool'
required='"id":"c1","name":"f",'
wrong tool_call tool_type '"remote"' 'local or mcp' value_error
wrong remote_tool_call tool_type '"local"' remote value_error
required=
wrong annotation kind '"remark"' 'citation or note' value_error

block '{"type":"tool_result","call_id":"c1"}' \
	'{"type":"tool_result","call_id":"c1","output":null,"is_error":false,"status":"completed"}' 'a result may be null'
for output in '"text"' '{"a":[1,null]}' '[]' 0 false; do
	block "{\"type\":\"tool_result\",\"call_id\":\"c1\",\"output\":$output}" \
		"{\"type\":\"tool_result\",\"call_id\":\"c1\",\"output\":$output,\"is_error\":false,\"status\":\"completed\"}" \
		"or $output"
done
block '{"type":"tool_result","call_id":"c1","output":1,"is_error":true}' \
	'{"type":"tool_result","call_id":"c1","output":1,"is_error":true,"status":"failed"}' 'an error has failed'
block '{"type":"tool_result","call_id":"c1","output":1,"is_error":true,"status":"completed"}' \
	'{"type":"tool_result","call_id":"c1","output":1,"is_error":true,"status":"failed"}' 'whatever its status says'
required='"call_id":"c1",'
wrong tool_result is_error 1 'true or false'
wrong tool_result is_error '"true"' 'true or false'
required=
bad '{"type":"tool_result","output":1}' .call_id missing 'messages[0].content[1].call_id must be a string'
wrong tool_result call_id 1 'a string'

# ---- the rest ----

block '{"type":"reasoning"}' '{"type":"reasoning","summary":"","details":[]}' 'reasoning'
block '{"type":"reasoning","summary":"s","details":["a","b"]}' '{"type":"reasoning","summary":"s","details":["a","b"]}' \
	'reasoning with all members'
wrong reasoning summary 1 'a string'
wrong reasoning details '"a"' 'an array of strings'
wrong reasoning details '[1]' 'an array of strings'
put t '{"message_id":"r","role":"assistant","content":[{"type":"reasoning","summary":"one"},{"type":"text","text":"x"},{"type":"reasoning","summary":"two"}]}'
api GET /v1/threads/t/messages/r
is "$(data .reasoning)" "$(printf 'one\n\ntwo')" 'summaries are the reasoning of the message, joined by a blank line'

block '{"type":"annotation"}' '{"type":"annotation","kind":"citation","refs":[],"spans":[]}' 'an annotation'
block '{"type":"annotation","kind":"note","refs":[{"url":"u","page":2,"x":1},{}],"spans":[[0,5],[6,7]]}' \
	'{"type":"annotation","kind":"note","refs":[{"url":"u","file_id":null,"page":2,"index":null,"title":null},{"url":null,"file_id":null,"page":null,"index":null,"title":null}],"spans":[[0,5],[6,7]]}' \
	'an annotation with all members'
store '{"type":"annotation","kind":"other"}'
is "$STATUS" 422 'another kind is refused'
wrong annotation refs '[1]' 'an array of objects'
wrong annotation refs '{}' 'an array of objects'
bad '{"type":"annotation","refs":[{},{"page":"2"}]}' .refs.1.page type_error \
	'messages[0].content[1].refs[1].page must be a number or null'
for spans in '[1]' '[[1]]' '[[1,2,3]]' '[[1,2.5]]' '{}'; do
	wrong annotation spans "$spans" 'an array of pairs of integers'
done

block '{"type":"error"}' '{"type":"error","message":"","code":null,"data":null}' 'an error'
block '{"type":"error","message":"m","code":"E1","data":{"a":1}}' '{"type":"error","message":"m","code":"E1","data":{"a":1}}' \
	'an error with all members'
wrong error message 1 'a string'

# ---- several ----

put t '{"message_id":"all","role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"error"}]}'
api GET /v1/threads/t/messages/all
is "$(data '.content | map(.type + (.text // "")) | join(" ")')" 'texta textb error' 'blocks keep their order'
put t '{"role":"user","content":[{"type":"x"},{"type":"image"}]}' '{"role":"user","content":[{"type":"text"}]}'
places 'body.messages.0.content.0.type|value_error body.messages.0.content.1|missing body.messages.1.content.0.text|missing' \
	'every bad block is told'
put t '{"role":"user","content":[{"type":"image","url":"x","alt_text":1,"bbox":[1],"media":{"width":"w"}}]}'
places 'body.messages.0.content.0.url|value_error body.messages.0.content.0.media.width|type_error body.messages.0.content.0.alt_text|type_error body.messages.0.content.0.bbox|type_error' \
	'and everything that is wrong with one'
api PUT /v1/threads/t/state '{"state":{"context":[{"role":"user","content":[{"type":"image","url":"x"}]}]}}'
refused 422 VALIDATION_ERROR 'state.context[0].content[0].url must be an http or https URL' 'and told as well for a state'
places 'body.state.context.0.content.0.url|value_error' 'with its place'

done_testing
