#!/bin/sh
# SPDX-License-Identifier: ISC
# Chat completions with bodies that are cut, wrong or hostile, clients that leave, production, and files in messages.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/openai.sh"

openai_configure

# ---- what is no request

raw() { api POST /v1/chat/completions "$@"; }
raw '{"model":"demo","messages":[{"role":"user","con'
wrong VALIDATION_ERROR null 'must be valid JSON' 'a body that is cut'
raw '[]'
wrong VALIDATION_ERROR null 'must be a JSON object' 'no object'
raw ''
wrong VALIDATION_ERROR null 'is required' 'no body'
raw '{"model":"demo","messages":[]}' 'Content-Type: text/plain'
wrong VALIDATION_ERROR content-type 'application/json' 'another type'
raw "{\"model\":\"demo\",\"messages\":$(printf '%0200d' 0 | tr 0 '[')"
is "$STATUS $(json .error.type "$BODY")" '400 invalid_request_error' 'one that is too deep'

while IFS='|' read -r param pattern body; do
	raw "$body"
	wrong VALIDATION_ERROR "$param" "$pattern" "$body"
done <<'TABLE'
model|must be|{"messages":[{"role":"user","content":"x"}]}
model|must be|{"model":1,"messages":[{"role":"user","content":"x"}]}
messages|at least one|{"model":"demo"}
messages|at least one|{"model":"demo","messages":[]}
messages|must be|{"model":"demo","messages":"x"}
messages[0]|must be an object|{"model":"demo","messages":[1]}
messages[0].role|one of system, developer, user, assistant, tool|{"model":"demo","messages":[{"content":"x"}]}
messages[1].role|one of|{"model":"demo","messages":[{"role":"user","content":"x"},{"role":"function","content":"x"}]}
messages[0].role|one of|{"model":"demo","messages":[{"role":["user"],"content":"x"}]}
messages[0].content|a string or an array of parts|{"model":"demo","messages":[{"role":"user"}]}
messages[0].content|a string or an array of parts|{"model":"demo","messages":[{"role":"user","content":{}}]}
messages[0].content|a string or an array of parts|{"model":"demo","messages":[{"role":"system","content":null}]}
messages[0].content[0]|must be an object|{"model":"demo","messages":[{"role":"user","content":["x"]}]}
messages[0].content[0].type|must be a string|{"model":"demo","messages":[{"role":"user","content":[{}]}]}
messages[0].content[1].type|one of text, image_url, input_audio, file|{"model":"demo","messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"video"}]}]}
messages[0].content[0].type|must be text|{"model":"demo","messages":[{"role":"system","content":[{"type":"image_url","image_url":{"url":"http://x"}}]}]}
messages[0].content[0].text|must be a string|{"model":"demo","messages":[{"role":"user","content":[{"type":"text"}]}]}
messages[0].content[0].image_url|must be an object|{"model":"demo","messages":[{"role":"user","content":[{"type":"image_url","image_url":"http://x"}]}]}
messages[0].content[0].image_url.url|must be|{"model":"demo","messages":[{"role":"user","content":[{"type":"image_url","image_url":{}}]}]}
messages[0].content[0].image_url.url|http or https|{"model":"demo","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}]}]}
messages[0].content[0].input_audio.format|one of wav, mp3|{"model":"demo","messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AAAA","format":"ogg"}}]}]}
messages[0].content[0].image_url.url|valid base64|{"model":"demo","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,!"}}]}]}
messages[0].content[0].file.file_data|valid base64|{"model":"demo","messages":[{"role":"user","content":[{"type":"file","file":{"file_data":"!"}}]}]}
messages[0].content[0].input_audio.data|base64|{"model":"demo","messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"!","format":"wav"}}]}]}
messages[0].content[0].file|file_data or file_id|{"model":"demo","messages":[{"role":"user","content":[{"type":"file","file":{"filename":"x"}}]}]}
messages[1].tool_calls|must be an array|{"model":"demo","messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":{}}]}
messages[0].tool_calls[0]|must be an object|{"model":"demo","messages":[{"role":"assistant","tool_calls":[1]}]}
messages[0].tool_calls[0].function.arguments|a JSON object as text|{"model":"demo","messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"x","arguments":"{"}}]}]}
messages[0].tool_calls[0].function.arguments|a JSON object as text|{"model":"demo","messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"x","arguments":"[1]"}}]}]}
messages[0].tool_call_id|a string|{"model":"demo","messages":[{"role":"tool","content":"x"}]}
messages[0]|behind the message with the call|{"model":"demo","messages":[{"role":"tool","tool_call_id":"a","content":"x"}]}
messages[0]|followed by an answer|{"model":"demo","messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"x","arguments":""}}]},{"role":"user","content":"x"}]}
messages[0]|followed by an answer|{"model":"demo","messages":[{"role":"assistant","tool_calls":[{"id":"b","function":{"name":"x","arguments":"{}"}},{"id":"a","function":{"name":"x","arguments":"{}"}},{"id":"b","function":{"name":"x","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"x"},{"role":"tool","tool_call_id":"b","content":"x"},{"role":"user","content":"x"}]}
messages[4]|behind the message with the call|{"model":"demo","messages":[{"role":"assistant","tool_calls":[{"id":"b","function":{"name":"x","arguments":"{}"}},{"id":"a","function":{"name":"x","arguments":"{}"}},{"id":"b","function":{"name":"x","arguments":"{}"}}]},{"role":"tool","tool_call_id":"b","content":"x"},{"role":"tool","tool_call_id":"a","content":"x"},{"role":"tool","tool_call_id":"b","content":"x"},{"role":"tool","tool_call_id":"b","content":"x"}]}
messages[1]|followed by an answer|{"model":"demo","messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"x","arguments":"{}"}}]}]}
stream|true or false|{"model":"demo","messages":[{"role":"user","content":"x"}],"stream":"yes"}
stream_options|an object|{"model":"demo","messages":[{"role":"user","content":"x"}],"stream_options":true}
stream_options.include_usage|true or false|{"model":"demo","messages":[{"role":"user","content":"x"}],"stream_options":{"include_usage":1}}
metadata|an object|{"model":"demo","messages":[{"role":"user","content":"x"}],"metadata":"x"}
n|above 0|{"model":"demo","messages":[{"role":"user","content":"x"}],"n":0}
tools|must be an array|{"model":"demo","messages":[{"role":"user","content":"x"}],"tools":{}}
tools[0]|must be an object|{"model":"demo","messages":[{"role":"user","content":"x"}],"tools":["x"]}
tools[0].function|an object|{"model":"demo","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function"}]}
tools[0].type|must be function|{"model":"demo","messages":[{"role":"user","content":"x"}],"tools":[{"type":"custom","custom":{"name":"x"}}]}
tools[0].function.name|a string|{"model":"demo","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{}}]}
tools[0]|Invalid client tool name|{"model":"demo","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"a b"}}]}
tools[1]|Duplicate client tool name|{"model":"demo","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"a"}}]}
tools[0].function.parameters|JSON Schema object|{"model":"demo","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"a","parameters":[]}}]}
TABLE

# Millions of mistakes cost no more than a thousand.
awk 'BEGIN { printf "{\"model\":\"demo\",\"messages\":["; for (i = 0; i < 200000; i++) printf "1,"; print "1]}" }' >many.json
raw "$(cat many.json)"
is "$STATUS $(json .error.param "$BODY")" '400 messages[0]' 'a body full of mistakes is told of the first'

# ---- files

png=iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
complete '{"role":"user","content":[{"type":"text","text":"/files"},{"type":"image_url","image_url":{"url":"data:image/png;base64,'$png'","detail":"low"}},
	{"type":"input_audio","input_audio":{"data":"AAAA","format":"mp3"}},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}},
	{"type":"file","file":{"filename":"a.txt","file_data":"aGVsbG8="}},{"type":"image_url","image_url":{"url":"https://x.example/y.png"}}]}'
said_is "$(printf 'image image/png 70\naudio audio/mpeg 3\ndocument application/pdf 3\ndocument text/plain 5\nimage unknown 0')" 'parts are blocks'
upload=$(printf -- '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nhello file\r\n--b--\r\n')
api POST /v1/files/upload "$upload" 'Content-Type: multipart/form-data; boundary=b'
file=$(json '.data.file_id' "$BODY")
complete '{"role":"user","content":[{"type":"text","text":"/files"},{"type":"file","file":{"file_id":"'"$file"'"}}]}'
like "$(json '.choices[0].message.content' "$BODY")" '^document text/plain 10' 'a file that was uploaded is meant by its id'
complete '{"role":"user","content":[{"type":"text","text":"/files"},{"type":"file","file":{"file_id":"none"}}]}'
is "$STATUS $(json .error.message "$BODY")" '400 File not found: none' 'one that is not there is refused'

# ---- a client that leaves

waiting_steps
serve_stop
printf '{"agent":"graph.json:steps","openai":{"enabled":true,"model":"demo"}}\n' >agentgraph.json
ended() { [ "$(number "runs_total{status=\"$1\"}")" = 1 ]; }
leaves complete "$(user hi)"
wait_for 30 ended stopped
is "$(wc -l <marks)" 1 'a run without a thread ends before its next node when its client leaves'
leaves on left "$(user hi)"
wait_for 30 ended done
is "$(wc -l <marks)" 2 'on a thread it goes on'
serve_stop

# ---- production

export MODE=production
openai_configure
complete "$(user '/error secret')"
is "$STATUS $(json '.error | "\(.message) \(.param)"' "$BODY")" '500 An error occurred in a graph node. null' 'production tells nothing of it'
complete "$(user '/error secret')" '"stream":true'
is "$(json '.[-2].error.message' "$BODY")" 'An error occurred in a graph node.' 'nor in a stream'
unset MODE

done_testing
