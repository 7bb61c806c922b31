#!/bin/sh
# SPDX-License-Identifier: ISC
# builtin:demo by invoke: the effect of each command, one row for each.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# says TEXT ANSWER: a new thread that TEXT is said to has it and ANSWER, nothing else.
says() {
	invoke "$1" "${3-}"
	is "$STATUS|$(json 'if .data then [.data.messages[1:][].content[].text] else .detail end | tojson' "$BODY")" \
		"200|[\"$2\"]" "'$(printf '%.40s' "$1")' is answered '$(printf '%.40s' "$2")'"
}

says 'hello world' 'echo: hello world'
says 'a' 'echo: a'
says '  two  blanks ' 'echo:   two  blanks '
says 'lines\nof\ttext' 'echo: lines\nof\ttext'
says 'grüße 👋🏽 \"quoted\" \\\\' 'echo: grüße 👋🏽 \"quoted\" \\\\'
says '/unknown command' 'echo: /unknown command'
says '/addition 1 2' 'echo: /addition 1 2'
says 'say /add 1 2' 'echo: say /add 1 2'
says '/ADD 1 2' 'echo: /ADD 1 2'
says '%s %d %n' 'echo: %s %d %n'
says '/note' 'noted'
says '/files' 'none'
says '/whoami' 'anonymous'
says '/context' 'context: 1'
says '/remote nosuch {}' 'unknown remote tool: nosuch'
says '/remote nosuch {\"a\":[1,2]} && other {}' 'unknown remote tool: nosuch'
long=$(printf '%8000s' '' | tr ' ' x)
says "$long" "echo: $long"

invoke 'hello world'
facts <<'TABLE'
the envelope is that of a success :: keys == ["data", "message", "metadata", "success", "timestamp"] and .success and .message == "OK"
the data holds messages and meta :: .data | keys == ["messages", "meta"]
meta holds four things :: .data.meta | keys == ["interrupt", "is_new_thread", "run_id", "thread_id"]
the thread is new :: .data.meta.is_new_thread == true
no interrupt is open :: .data.meta.interrupt == null
the metadata repeats the thread :: [.metadata.thread_id, .metadata.is_new_thread] == [.data.meta.thread_id, true]
the request's message comes first :: .data.messages | map(.role) == ["user", "assistant"]
each message has all fields :: .data.messages | all(keys == ["content", "delta", "message_id", "metadata", "parsed_content", "raw", "reasoning", "role", "timestamp", "tools_calls", "usages"])
a string became one text block :: .data.messages[0].content == [{"type": "text", "text": "hello world", "annotations": []}]
nothing is a piece :: .data.messages | all(.delta == false)
what has no value is null :: .data.messages | all([.tools_calls, .reasoning, .raw, .parsed_content] == [null, null, null, null])
the answer names its model :: .data.messages[1].metadata.model == "demo"
the user's message has no model :: .data.messages[0].metadata == {}
and no usage :: .data.messages[0].usages == null
the answer counts words :: .data.messages[1].usages | [.prompt_tokens, .completion_tokens, .total_tokens] == [2, 3, 5]
its usage has all kinds of tokens :: .data.messages[1].usages | del(.prompt_tokens, .completion_tokens, .total_tokens) == {"reasoning_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "image_tokens": 0, "audio_tokens": 0}
times are seconds of now :: .data.messages | all(.timestamp | type == "number" and . > (now - 60) and . < (now + 60))
TABLE

invoke '/add 2 3'
facts <<'TABLE'
an addition takes four messages :: .data.messages | map(.role) == ["user", "assistant", "tool", "assistant"]
the call is the only block of its message :: .data.messages[1].content | map(del(.id)) == [{"type": "tool_call", "name": "add", "args": {"a": 2, "b": 3}, "tool_type": "local"}]
the call has an id :: .data.messages[1].content[0].id | type == "string" and length > 0
tools_calls repeats it :: .data.messages[1] | .tools_calls == [{"id": .content[0].id, "type": "function", "function": {"name": "add", "arguments": "{\"a\":2,\"b\":3}"}}]
the result is that of the call :: .data.messages[2].content == [{"type": "tool_result", "call_id": .data.messages[1].content[0].id, "output": 5, "is_error": false, "status": "completed"}]
the result is no model's :: .data.messages[2].usages == null
the message with the call is :: .data.messages[1].usages.prompt_tokens == 3 and .data.messages[1].metadata.model == "demo"
the sum is told :: .data.messages[3] | text == "sum: 5"
all ids differ :: .data.messages | map(.message_id) | unique | length == 4
TABLE

# adds A B SUM: by the arguments, the result and the text.
adds() {
	invoke "/add $1 $2"
	is "$(printf '%s' "$BODY" | grep -o '"args":{"a":'"$1"',"b":'"$2"'}')|$(printf '%s' "$BODY" |
		grep -o '"output":[-0-9.e+]*')|$(json 'last(.data.messages[].content[]).text' "$BODY")" \
		"\"args\":{\"a\":$1,\"b\":$2}|\"output\":$3|sum: $3" "$1 and $2 are $3"
}
adds 0 0 0
adds -7 3 -4
adds 0.5 0.25 0.75
adds 9007199254740993 1 9007199254740994
adds 9223372036854775806 1 9223372036854775807
for args in '' ' 1' ' x y' ' 1 y' ' 1 2 3' ' {} []'; do
	invoke "/add$args"
	is "$STATUS" 200 "'/add$args' is answered, too"
done

invoke '/fail-tool'
facts <<'TABLE'
a failing tool fails no run :: .data.messages | map(.role) == ["user", "assistant", "tool", "assistant"]
its call has no arguments :: .data.messages[1].content[0] | [.name, .args, .tool_type] == ["fail", {}, "local"]
its result is an error :: .data.messages[2].content[0] | del(.call_id) == {"type": "tool_result", "output": "demo failure", "is_error": true, "status": "failed"}
which is told :: said[3] == "tool failed: demo failure"
TABLE

invoke '/think of a number'
facts <<'TABLE'
a thought has one answer :: .data.messages | length == 2
its reasoning stands in its field :: last.reasoning == "of a number"
and in a block before the text :: last | types == ["reasoning", "text"]
with summary and details :: last.content[0].summary == "of a number" and (last.content[0].details | type == "array")
then comes the thought :: last | text == "thought: of a number"
TABLE

invoke '/slow 3 1'
facts <<'TABLE'
a slow answer has a message a step, and one more :: said[1:] == ["tick 1", "tick 2", "tick 3", "done"]
all of them are the assistant's :: .data.messages[1:] | all(.role == "assistant" and .metadata.model == "demo")
TABLE
says '/slow 1 0' 'tick 1","done'  # two messages

api GET /v1/threads/none/state
is "$STATUS" 404 'a thread that no run used does not exist'
invoke '/note first' "$(thread notes)"
invoke '/note second one' "$(thread notes),\"response_granularity\":\"full\""
facts <<'TABLE'
notes are appended :: .data.state.notes == ["first", "second one"]
TABLE
invoke '/context' "$(thread notes)"
facts <<'TABLE'
the context counts all messages :: last | text == "context: 5"
the thread is not new any more :: [.data.meta.is_new_thread, .metadata.is_new_thread] == [false, false]
earlier messages are not repeated :: said == ["/context", "context: 5"]
TABLE

image='{"type":"image","data_base64":"iVBORw0KGgo=","mime_type":"image/png"}'
api POST /v1/graph/invoke "$(run_body "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"/files\"},$image,
	{\"type\":\"document\",\"media\":{\"kind\":\"data\",\"data_base64\":\"aGVsbG8=\",\"mime_type\":\"text/x-odd\"}}]}]")"
facts <<'TABLE'
files have a line each :: said[1] | split("\n") | map(split(": ")[0]) == ["image image/png 8", "document text/x-odd 5"]
inline data comes back in media alone :: .data.messages[0].content[1] | [.media.data_base64, .media.kind, .data_base64, .mime_type] == ["iVBORw0KGgo=", "data", null, "image/png"]
TABLE

user_said() { api POST /v1/graph/invoke "$(run_body "$1")"; }
user_said "[$(user one),$(user two)]"
facts <<'TABLE'
of two user messages the latest is shown :: said == ["two", "echo: two"]
TABLE
user_said "[$(user one),{\"role\":\"assistant\",\"content\":\"so?\"},{\"role\":\"system\",\"content\":\"be nice\"}]"
facts <<'TABLE'
assistant and system messages are accepted :: .data.messages | map(.role) == ["user", "assistant"]
and the last user message counts :: said[1] == "echo: one"
TABLE
user_said '[{"role":"system","content":"be nice"}]'
facts <<'TABLE'
without a user message only what was made is shown :: .data.messages | map(.role) == ["assistant"]
TABLE
user_said '[{"role":"user","content":[]}]'
is "$STATUS" 200 'a message without blocks is one'
user_said "[$(user '')]"
facts <<'TABLE'
an empty text is echoed :: said[1] == "echo: "
TABLE

done_testing
