#!/bin/sh
# SPDX-License-Identifier: ISC
# MCP servers over HTTP whose tools ask: one without sessions, and one of an older version.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
. "$TOP_SRCDIR/t/api/mcp.sh"

command -v python3 >/dev/null || tap_skip_all 'there is no python3'

# paused: what the run that was just made waits for.
paused() { json '.data.meta.interrupt | [.reason, .value.question, .value.tool, (.response_schema.properties | keys | join(","))] | join(" ")' "$BODY"; }
said() { json '.data.messages[-1].content[0].text' "$BODY"; }

# seen FILTER: of the requests that the server saw, an array.
seen() { jq -rs "$1" seen; }

for kind in new old; do
	rm -f port seen
	python3 -B "$TOP_SRCDIR/t/api/mcp-asking-server.py" $kind &
	tap_pids="$! $tap_pids"
	wait_for 60 test -f port || tap_bail 'the server does not start'
	tools_graph "{\"name\": \"shop\", \"mcp\": {\"url\": \"http://127.0.0.1:$(cat port)/mcp\"}}"
	api_start --config agentgraph.json

	is "$(told 'plain {"text":"fact"}')" 'plain fact' "$kind: a tool is called"

	invoke 'book {}' "$(thread "$kind-a")"
	is "$(paused)" 'elicitation When? book day' "$kind: a question pauses the run, with its schema"
	is "$(json .data.meta.interrupt.value.server "$BODY")" shop "$kind: and says whose it is"
	resume '{"day":"Monday"}' "$kind-a"
	is "$(said)" 'booked Monday' "$kind: the answer goes back"

	invoke 'book {}' "$(thread "$kind-b")"
	resume '"Tuesday"' "$kind-b"
	is "$(said)" 'booked Tuesday' "$kind: a text is the only member"
	invoke 'book {}' "$(thread "$kind-c")"
	resume false "$kind-c"
	is "$(said)" 'not booked: decline' "$kind: false declines"
	invoke 'book {}' "$(thread "$kind-d")"
	resume null "$kind-d"
	is "$(said)" 'not booked: cancel' "$kind: null cancels"
	invoke 'count {}' "$(thread "$kind-e")"
	resume '"3"' "$kind-e"
	is "$(said)" '{"n": 3}' "$kind: a number that is written as text is one"

	invoke 'odd {}' "$(thread "$kind-g")"
	resume '"x"' "$kind-g"
	is "$(said)" '{}' "$kind: where members are not named none is answered"

	invoke 'order {} && plain {\"text\":\"b\"} && book {}' "$(thread "$kind-f")"
	is "$(paused)" 'elicitation When? order day' "$kind: of several calls the first asks first"
	resume '"Friday"' "$kind-f"
	is "$(paused)" 'elicitation How many? order count,gift' "$kind: a call may ask twice"
	resume '{"action":"accept","content":{"count":2,"gift":true}}' "$kind-f"
	is "$(paused)" 'elicitation When? book day' "$kind: then the next one asks"
	resume '"Sunday"' "$kind-f"
	is "$(said)" '[{"action": "accept", "content": {"day": "Friday"}}, {"action": "accept", "content": {"count": 2, "gift": true}}] | plain b | booked Sunday' \
		"$kind: and each has its own answer"

	if [ $kind = new ]; then
		is "$(seen 'map(.message.method) | .[0]')" server/discover 'new: it is asked what it can do'
		is "$(seen 'map(select(.message.method == "initialize" or .headers["Mcp-Session-Id"])) | length')" 0 'new: and no session begins'
		is "$(seen 'map(select(.headers["Mcp-Name"] == "plain"))[0].headers["Mcp-Param-Text"]')" fact 'new: a marked argument is a header'
		is "$(seen 'map(select(.message.params.requestState)) | length > 0')" true 'new: the state of a question comes back'
		is "$(seen 'map(.message.params._meta["io.modelcontextprotocol/clientCapabilities"].elicitation.form) | unique | tojson')" '[{}]' \
			'new: each request says what the client can'
		api GET /v1/graph/tools
		is "$(json '[.data.nodes[].tools[]?.name] | join(" ")' "$BODY")" 'plain book order count odd' 'new: a tool with a wrong mark is left out'
		: >changed
		later() { api GET /v1/graph/tools; json '[.data.nodes[].tools[]?.name] | any(. == "later")' "$BODY" | grep -q true; }
		ok "wait_for 60 later" 'new: tools are listed again when they are not fresh any more'
		rm changed
	else
		is "$(seen 'map(.message.method) | .[:3] | join(" ")')" 'server/discover initialize notifications/initialized' \
			'old: who knows nothing of that has its handshake'
		is "$(seen 'map(select(.message.method == "initialize"))[0].message.params.capabilities | tojson')" '{"elicitation":{"form":{}}}' \
			'old: which says that questions are answered'
		is "$(seen 'map(select(.message.result.action == "cancel")) | length > 0')" true 'old: while the run waits the question is cancelled'
	fi
	serve_stop
done

done_testing
