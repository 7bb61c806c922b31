#!/bin/sh
# SPDX-License-Identifier: ISC
# Live agents against a mock of OpenAI Realtime and Gemini Live that others wrote: texts and tools.  It sends no audio,
# detects no voice activity and refuses Gemini's microphone: live-providers.t has those.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

need_websockets
. "$TOP_SRCDIR/t/e2e/aimock.sh"

cat >fixtures.json <<'END'
{"fixtures": [
  {"match": {"userMessage": "hello"}, "response": {"content": "Hello, dear café owner"}},
  {"match": {"userMessage": "add", "hasToolResult": false},
   "response": {"toolCalls": [{"name": "add", "arguments": {"a": 2, "b": 3}}]}},
  {"match": {"userMessage": "add", "hasToolResult": true}, "response": {"content": "It is five"}},
  {"match": {"userMessage": "refuse"},
   "response": {"error": {"message": "Bad request: sk-openai-secret, gemini-secret", "type": "INVALID_ARGUMENT"}, "status": 400}}
]}
END
aimock_start fixtures.json || tap_bail 'the mock does not start'

live() {
	printf '{"nodes": {"voice": {"kind": "live", "provider": "%s", "model": "m", "modalities": "TEXT", "tools": "tools"},
		"tools": {"kind": "tools", "tools": [{"kind": "exec", "name": "add", "description": "Adds.",
		"parameters": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}},
		"command": ["sh", "-c", "cat >/dev/null; echo 5"]}]}},
		"edges": [{"from": "START", "to": "voice"}, {"from": "voice", "to": "END"}]}' "$1"
}
printf '{"openai": %s, "gemini": %s}' "$(live openai)" "$(live gemini)" >agents.json

# said TEXT LAST: the events up to one of type LAST, each as "TYPE TEXT", with the pieces of a transcript joined.
said() {
	"$python" - "$BASE" "$@" <<'PYTHON'
import asyncio
import json
import sys

import websockets


async def main():
    async with websockets.connect(sys.argv[1].replace("http", "ws", 1) + "/v1/graph/live") as ws:
        await ws.send("{}")
        await ws.send(json.dumps({"type": "text", "text": sys.argv[2]}))
        pieces = ""
        while True:
            event = json.loads(await asyncio.wait_for(ws.recv(), 40))
            pieces += event.get("text", "")
            if event.get("finished", True):
                said = pieces or event.get("message", event.get("name", event.get("result", "")))
                print(f"{event['type']} {said}".strip())
                pieces = ""
            if event["type"] == sys.argv[3]:
                return


asyncio.run(main())
PYTHON
}

for name in openai gemini; do
	printf '{"agent": "agents.json:%s"}' $name >$name.json
	serve_start --config $name.json || tap_bail 'the rest needs a service'
	is "$(said hello turn_complete | tr '\n' '|')" 'output_transcript Hello, dear café owner|turn_complete|' \
		"$name: a text is answered"
	is "$(said add turn_complete | tr '\n' '|')" \
		'tool_call add|tool_result 5|output_transcript It is five|turn_complete|' "$name: a tool is called"
	like "$(said refuse error)" '^error .*Bad request' "$name: an error is told"
	unlike "$(said refuse error)" "$name-secret" "$name: without its key" # which the mock's error repeats
	serve_stop
	is $? 0 "$name: the service ends in peace"
	unlike "$(cat "$SERVE_ERR")" 'Sanitizer|assert|secret' "$name: nothing complains, and no key is in the log"
done
done_testing
