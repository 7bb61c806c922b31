#!/bin/sh
# SPDX-License-Identifier: ISC
# Live agents with OpenAI Realtime and Gemini Live: a mock that others wrote for text and tools; and for audio, which
# that lacks, one of our own after the public documentation (live_provider.py).
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

need_websockets
here=$TOP_SRCDIR/t/e2e
unset OPENAI_BASE_URL GEMINI_BASE_URL GOOGLE_API_KEY OPENAI_API_KEY GEMINI_API_KEY https_proxy all_proxy no_proxy
http_proxy=http://127.0.0.1:9 # goes to nobody
export http_proxy

# provider [CERTIFICATE KEY]: sets PORT.
provider() {
	rm -f port
	"$python" "$here/live_provider.py" log "$@" >port 2>>provider.err &
	tap_pids="$! $tap_pids"
	wait_for 30 test -s port
	PORT=$(cat port)
}

# talk NAME: a service with that agent, and the facts about it.
talk() {
	printf '{"agent": "agents.json:%s", "websocket": {"realtime_models":
		["closes", "garbage", "binary", "mute", "refuses", "late", "gemini-3.1-flash-live"]}}' "$1" >"$1.json"
	serve_start --config "$1.json" || tap_bail 'the rest needs a service'
	env -u http_proxy "$python" -B "$here/live_talk.py" "$BASE" log "$1" >facts 2>trouble || {
		tap_result 1 'the client came to its end'
		diag "$(cat trouble)"
	}
	tap_report <facts
	serve_stop
	is $? 0 "$1: the service ends in peace"
	unlike "$(cat "$SERVE_ERR")" 'Sanitizer|assert|secret' "$1: nothing complains, and no key is in the log"
}

document() {
	cat >agents.json <<JSON
{"moved": {"nodes": {
  "voice": {"kind": "live", "provider": "openai", "model": "good", "base_url": "ws://127.0.0.1:$PORT/moved"}},
  "edges": [{"from": "START", "to": "voice"}, {"from": "voice", "to": "END"}]},
 "openai": {"nodes": {
  "voice": {"kind": "live", "provider": "openai", "model": "good", "system_prompt": "Be kind.", "tools": "tools",
            "base_url": "ws://127.0.0.1:$PORT/v1", "api_key_env": "MY_KEY",
            "extra": {"audio": {"input": {"transcription": {"model": "whisper-1"}}, "output": {"speed": 1.25}}}},
  "tools": $TOOLS}, "edges": [{"from": "START", "to": "voice"}, {"from": "voice", "to": "END"}]},
 "gemini": {"nodes": {
  "voice": {"kind": "live", "provider": "gemini", "model": "good", "system_prompt": "Be kind.", "tools": "tools",
            "base_url": "http://127.0.0.1:$PORT", "extra": {"generationConfig": {"temperature": 0.5}}},
  "tools": $TOOLS}, "edges": [{"from": "START", "to": "voice"}, {"from": "voice", "to": "END"}]},
 "tls": {"nodes": {
  "voice": {"kind": "live", "provider": "openai", "model": "good", "base_url": "wss://localhost:${TLS_PORT:-1}/v1"}},
  "edges": [{"from": "START", "to": "voice"}, {"from": "voice", "to": "END"}]},
 "keyless": {"nodes": {"voice": {"kind": "live", "provider": "openai", "model": "good"}},
  "edges": [{"from": "START", "to": "voice"}, {"from": "voice", "to": "END"}]}}
JSON
}

TOOLS='{"kind": "tools", "tools": [{"kind": "exec", "name": "add", "description": "Adds.",
  "parameters": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}},
  "command": ["sh", "-c", "cat >/dev/null; echo 5"]}]}'

provider
document
export MY_KEY=sk-secret GEMINI_API_KEY=g/secret
talk openai
talk gemini

# ---- the start: keys and certificates

# tried NAME [VARIABLE=VALUE…]: the error that a session with that agent begins with, or none.
tried() {
	name=$1
	shift
	printf '{"agent": "agents.json:%s"}' "$name" >"$name.json"
	( for setting; do export "${setting?}"; done
	  serve_start --config "$name.json" || exit 1
	  env -u http_proxy "$python" - "$BASE" <<'PYTHON'
import asyncio
import json
import sys

import websockets


async def main():
    async with websockets.connect(sys.argv[1].replace("http", "ws", 1) + "/v1/graph/live") as ws:
        await ws.send("{}")
        await ws.send(json.dumps({"type": "text", "text": "hello"}))
        while True:
            event = await asyncio.wait_for(ws.recv(), 40)
            if isinstance(event, str) and json.loads(event)["type"] in ("error", "turn_complete"):
                print(event)
                return


asyncio.run(main())
PYTHON
	  serve_stop
	  cat "$SERVE_ERR" >"$name.err" )
}

is "$(tried keyless | jq -r '.code, .fatal, .message' | tr '\n' '|')" \
	'provider_error|true|expected the environment variable OPENAI_API_KEY, for the key, to be set|' \
	'without a key a session ends with an error that says so'
like "$(cat keyless.err)" 'warning: .*/keyless/nodes/voice: no session can be had: .* OPENAI_API_KEY' \
	'and the start warns of it'

is "$(tried moved OPENAI_API_KEY=sk-secret | jq -r '.code + ": " + .message')" \
	'provider_error: the live provider cannot be reached: openai: it cannot be connected to' \
	'a redirect is not followed: the key would go along'

openssl req -x509 -newkey rsa:2048 -nodes -keyout tls.key -out tls.crt -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost 2>/dev/null
provider tls.crt tls.key
TLS_PORT=$PORT
document
is "$(tried tls OPENAI_API_KEY=sk-secret | jq -r '.code + ": " + .message')" \
	'provider_error: the live provider cannot be reached: openai: it cannot be connected to' \
	'a certificate that nobody vouches for is refused'
is "$(tried tls OPENAI_API_KEY=sk-secret SSL_CERT_FILE="$WORK/tls.crt" | jq -r .type)" turn_complete \
	'with its authority it is accepted'
sed -i 's/wss:..localhost/wss:\/\/127.0.0.1/' agents.json
like "$(tried tls OPENAI_API_KEY=sk-secret SSL_CERT_FILE="$WORK/tls.crt" | jq -r '.code + ": " + .message')" \
	'^provider_error: .*cannot be reached' 'but not for another name'
unlike "$(cat tls.err)" secret 'no key is in the log'

# ---- who leaves while his connection is still being made: many authorities take a while

i=0
while [ $((i += 1)) -le 1500 ]; do cat tls.crt; done >many.pem
(
	export OPENAI_API_KEY=sk-secret SSL_CERT_FILE="$WORK/many.pem"
	serve_start --config tls.json && env -u http_proxy "$python" - "$BASE" <<'PYTHON'
import asyncio
import sys

import websockets


async def main():
    for _ in range(4):
        async with websockets.connect(sys.argv[1].replace("http", "ws", 1) + "/v1/graph/live") as ws:
            await ws.send("{}")
            await asyncio.sleep(0.2)


asyncio.run(main())
PYTHON
	serve_stop
	cat "$SERVE_ERR" >left.err
)
unlike "$(cat left.err)" 'Sanitizer|assert|signal' 'who leaves while his connection is being made leaves no trouble'

done_testing
