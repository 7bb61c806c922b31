#!/bin/bash
# SPDX-License-Identifier: ISC
# Chat models and embeddings against a server that others wrote to test clients of the three providers: text, calls,
# several calls at once and their results, reasoning, errors, and faults in the middle.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

. "$TOP_SRCDIR/t/e2e/aimock.sh"
CHAT_ASK=${CHAT_ASK:-$TOP_BUILDDIR/t/e2e/chat_ask}

cat >fixtures.json <<'END'
{"fixtures": [
  {"match": {"userMessage": "hello"}, "response": {"content": "Hello! How can I help you, dear café owner?",
   "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}},
  {"match": {"userMessage": "think"}, "response": {"content": "42", "reasoning": "six times nine"}},
  {"match": {"userMessage": "ponder", "hasToolResult": false},
   "response": {"reasoning": "Ulm, I think", "toolCalls": [{"name": "get_weather", "arguments": {"city": "Ulm"}}]}},
  {"match": {"userMessage": "ponder", "hasToolResult": true}, "response": {"content": "Sun."}},
  {"match": {"userMessage": "weather", "hasToolResult": false},
   "response": {"toolCalls": [{"name": "get_weather", "arguments": {"city": "Ulm"}}]}},
  {"match": {"userMessage": "both", "hasToolResult": false},
   "response": {"toolCalls": [{"name": "get_weather", "arguments": {"city": "Ulm"}},
                              {"name": "get_time", "arguments": {"zone": "UTC"}}]}},
  {"match": {"userMessage": "weather", "hasToolResult": true}, "response": {"content": "It rains."}},
  {"match": {"userMessage": "both", "hasToolResult": true}, "response": {"content": "Rain at noon."}},
  {"match": {"userMessage": "limit"},
   "response": {"error": {"message": "Rate limited: sk-openai-secret, sk-anthropic-secret, gemini-secret", "type": "rate_limit_error"}, "status": 429}},
  {"match": {"userMessage": "refuse"},
   "response": {"error": {"message": "Bad request, dear", "type": "invalid_request_error"}, "status": 400}},
  {"match": {"inputText": "vector"}, "response": {"embedding": [0.25, -1, 3]}}
]}
END

# settings PROVIDER STREAM [MEMBERS]: JSON.  responses is OpenAI by its other interface.
settings() {
	local base=$MOCK provider=$1 api=
	[ "$1" != responses ] || provider=openai api=',"api":"responses"'
	[ "$provider" != openai ] || base=$MOCK/v1
	printf '{"provider":"%s","model":"test-model","base_url":"%s","retries":0,"stream":%s%s%s}' "$provider" "$base" "$2" "$api" "${3-}"
}

TOOLS='[{"name":"get_weather","description":"Weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}},
        {"name":"get_time","parameters":{"type":"object","properties":{"zone":{"type":"string"}}}}]'

# ask PROVIDER STREAM TEXT [MEMBERS]: sets OUT and TEXT (the pieces joined).
ask() {
	OUT=$("$CHAT_ASK" "$(settings "$1" "$2" "${4-}")" "{\"system\":\"Be kind\",\"text\":\"$3\",\"tools\":$TOOLS}" 2>>ask.log)
	TEXT=$(printf '%s\n' "$OUT" | sed -n 's/^text //p' | tr -d '\n')
}

aimock_start fixtures.json || tap_bail "the mock does not start: $(cat mock.log)"
unset OPENAI_BASE_URL ANTHROPIC_BASE_URL GEMINI_BASE_URL # settings have it

for provider in openai responses anthropic gemini; do
	for stream in true false; do
		what="$provider, stream $stream"
		ask $provider $stream hello
		is "$TEXT" "Hello! How can I help you, dear café owner?" "$what: the pieces are the text"
		like "$OUT" '^done after 1: .*"text":"Hello! How can I help you, dear café owner\?"' "$what: and the message has it"
		like "$OUT" '"finish_reason":"stop"' "$what: with the reason of its end"
		like "$OUT" '"completion_tokens":5,"prompt_tokens":10,"total_tokens":15,' "$what: and its usage"

		ask $provider $stream weather
		like "$OUT" '^call get_weather {"city":"Ulm"}$' "$what: a call comes with its arguments"
		is "$TEXT" "It rains." "$what: and its result is understood"

		ask $provider $stream both
		is "$(printf '%s\n' "$OUT" | grep -c '^call ')" 2 "$what: two calls at once"
		is "$TEXT" "Rain at noon." "$what: have two results"

		ask $provider $stream refuse
		like "$OUT" "^failed after 1: ${provider/responses/openai} model test-model: answered 400: Bad request, dear$" "$what: a refusal is told"
		ask $provider $stream limit
		like "$OUT" '^failed after 1: .* answered 429: Rate limited: ' "$what: a limit is told"
		unlike "$OUT" "[: ](sk-)?${provider/responses/openai}-secret" "$what: without the key"
	done
done

ask openai true think
like "$OUT" '^reasoning six' "openai: reasoning is streamed"
like "$OUT" '"type":"reasoning","summary":"six times nine"' "and is a block"
ask anthropic true think ',"reasoning_tokens":1024'
like "$OUT" '"summary":"six times nine","details":\["{' "anthropic: reasoning keeps its signature"
ask responses true think ',"reasoning_effort":"low"'
like "$OUT" '^reasoning six' "responses: the summary of reasoning is streamed"
like "$OUT" '"summary":"six times nine","details":\["{.*encrypted_content' "and kept with what it is sealed in"
ask responses true ponder ',"reasoning_effort":"low"'
like "$OUT" '^reasoning Ulm, ' "responses: a call is thought about"
like "$OUT" '^call get_weather ' "and made"
is "$TEXT" "Sun." "and its result is understood, with that thought before it"
ask gemini true think
like "$OUT" '"type":"reasoning","summary":"six times nine"' "gemini: thoughts are reasoning"

is "$("$CHAT_ASK" embed "$MOCK/v1" 3 "vector one" "vector two" | tr '\n' ' ')" "0.25 0.25 " "texts are embedded"
like "$("$CHAT_ASK" embed "$MOCK/v1" 4 "vector")" 'failed: .*too few numbers' "a wrong length is noticed"

chaos '{"dropRate":1}'
ask openai true hello
like "$OUT" '^failed after 1: .* answered 500' "a server that fails is an error"
ask openai true hello ',"retries":1'
like "$OUT" '^failed after 2: ' "and is asked again"
chaos '{"disconnectRate":1}'
ask anthropic true hello
like "$OUT" '^failed after 1: anthropic model test-model: ' "so is one that hangs up"
chaos '{"malformedRate":1}'
ask gemini true hello
like "$OUT" '^failed after 1: gemini model test-model: gave an answer that is not JSON$' "and one that talks nonsense"
chaos '{}'
ask openai true hello ',"fallbacks":[]'
like "$OUT" '^done after 1' "afterwards all is well"
FALLBACKS=',"base_url":"http://127.0.0.1:1","fallbacks":['$(settings anthropic true | sed 's/}$/}/')']'
OUT=$("$CHAT_ASK" "{\"model\":\"first\",\"retries\":0$FALLBACKS}" '{"text":"hello"}' 2>>ask.log)
like "$OUT" '^done after 2: .*"provider":"anthropic"' "another provider answers when the first cannot be reached"
unlike "$(cat ask.log)" 'secret' "nothing that was logged holds a key"

# Over TLS, to a server whose certificate this test makes.
cat >tls.js <<'END'
const fs = require("fs");
const server = require("https").createServer({key: fs.readFileSync("key.pem"), cert: fs.readFileSync("cert.pem")},
	(req, res) => {
		res.setHeader("Content-Type", "application/json");
		req.resume().on("end", () => res.end('{"choices":[{"message":{"content":"safe"}}]}'));
	});
server.listen(0, "127.0.0.1", () => fs.writeFileSync("tls.port", String(server.address().port) + "\n"));
END
# The same in HTTP/2, whose first connection is dead.
sed 's/"https").createServer/"http2").createSecureServer/; s/tls\.port/h2.port/
	s/=> {$/&\n\t\tserver.dead = server.dead || req.stream.session;\n\t\tif (req.stream.session === server.dead) return;/' tls.js >h2.js
if command -v openssl >/dev/null && openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 \
	-subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 2>openssl.log; then
	"$NODE" tls.js >>mock.log 2>&1 &
	tap_pids="$! $tap_pids"
	wait_for 30 test -s tls.port
	TLS='{"model":"m","retries":0,"base_url":"https://127.0.0.1:'$(cat tls.port)'"}'
	OUT=$(SSL_CERT_FILE=$WORK/cert.pem "$CHAT_ASK" "$TLS" '{"text":"hello"}' 2>>ask.log)
	like "$OUT" '^done after 1: .*"text":"safe"' "a certificate that is trusted is taken"
	OUT=$(env -u SSL_CERT_FILE -u SSL_CERT_DIR "$CHAT_ASK" "$TLS" '{"text":"hello"}' 2>>ask.log)
	is "$OUT" 'failed after 1: openai model m: the server cannot be reached' "another one is not"
	like "$(tail -n 1 ask.log)" 'openai model m: .*certificate' "which the log explains"
	"$NODE" h2.js >>mock.log 2>&1 &
	tap_pids="$! $tap_pids"
	wait_for 30 test -s h2.port
	H2='{"model":"m","retries":3,"timeouts":{"first_byte":2},"base_url":"https://127.0.0.1:'$(cat h2.port)'"}'
	OUT=$(SSL_CERT_FILE=$WORK/cert.pem "$CHAT_ASK" "$H2" '{"text":"hello"}' 2>>ask.log)
	like "$OUT" '^done after [2-4]: .*"text":"safe"' "a connection of HTTP/2 that is dead is not used again"
fi

done_testing
