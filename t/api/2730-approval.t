#!/bin/sh
# SPDX-License-Identifier: ISC
# Tools that a person must allow: what is asked, what an answer means, by every way to run a graph.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
json_fast=jq # some facts are about the order of members

AGENTGRAPH_WS=${AGENTGRAPH_WS:-$(dirname "$AGENTGRAPH")/agentgraph-ws}

# The agent asks for the calls that the user writes, an array of blocks, and then tells what came of them.
cat >agent.sh <<'END'
#!/bin/sh
jq -c 'def text: [.content[]? | select(.type == "text").text] | join("");
	if .context[-1].role == "tool"
	then {message: {role: "assistant", content: ([.context[] | select(.role == "tool").content[] | .output | tostring] | join(" | "))}}
	else {message: {role: "assistant", content: (.user_text | fromjson | map({type: "tool_call"} + .))}} end'
END
chmod +x agent.sh
graph() {
	cat >graph.json <<END
{"g": {"nodes": {
  "agent": {"kind": "exec", "command": "./agent.sh"},
  "tools": {"kind": "tools", "approval": $1, "tools": [
    {"kind": "exec", "name": "delete", "description": "Deletes", "command": ["sh", "-c", "echo x >>deleted; echo deleted"],
     "parameters": {"properties": {"file": {"type": "string"}}}},
    {"kind": "exec", "name": "save", "description": "Saves", "command": ["cat"],
     "parameters": {"properties": {"file": {"type": "string"}}, "required": ["file"]}},
    {"kind": "exec", "name": "look", "description": "Looks", "command": ["echo", "looked"]}]}},
 "edges": [{"from": "START", "to": "agent"},
  {"from": "agent", "if": [{"when": {"tool_calls": true}, "to": "tools"}], "else": "END"}, {"from": "tools", "to": "agent"}]}}
END
}
printf '{"agent":"graph.json:g","ag_ui":{"enabled":true}}\n' >agentgraph.json

ONE='[{\"id\":\"c1\",\"name\":\"delete\",\"args\":{\"file\":\"a\"}}]'
THREE='[{\"id\":\"c1\",\"name\":\"delete\",\"args\":{\"file\":\"a\"}},{\"id\":\"c2\",\"name\":\"look\",\"args\":{}},{\"id\":\"c3\",\"name\":\"delete\",\"args\":{\"file\":\"b\"}}]'
deleted() { wc -l <deleted 2>/dev/null | tr -d ' ' || echo 0; }

graph '["delete", "save"]'
invoke "$ONE" "$(thread a)"
is "$STATUS" 200 'a call that needs it pauses the run'
facts <<'TABLE'
the reason says why :: .data.meta.interrupt | [.reason, .node] == ["tool_approval", "tools"]
the value shows the call :: .data.meta.interrupt.value == {"calls": [{"id": "c1", "name": "delete", "args": {"file": "a"}}]}
TABLE
ok '[ ! -e deleted ]' 'nothing was called'
resume true a
facts <<'TABLE'
true lets it be made :: said[-1] == "deleted"
TABLE
is "$(deleted)" 1 'once'

# refused ANSWER NAME
refused() {
	refused_thread=r$tap_count
	invoke "$ONE" "$(thread "$refused_thread")"
	before=$(deleted)
	resume "$1" "$refused_thread"
	is "$STATUS $(json '[.data.messages[] | select(.role == "tool").content[0] | .is_error, .output] | tojson' "$BODY")" \
		'200 [true,"The user declined this call."]' "$2 refuses it"
	is "$(deleted)" "$before" 'and it is not made'
}
refused null 'a cancelled question'
refused false 'false'
refused '"yes"' 'a word'
refused '{"approve":false}' 'an object that says so'
refused '{"approve":["c9"]}' 'a list without it'
refused '{"approve":"c1"}' 'an id that stands alone'
refused '["c1"]' 'a bare list'
refused '{}' 'an empty object'

invoke "$THREE" "$(thread b)"
facts <<'TABLE'
only those that need it are asked for :: [.data.meta.interrupt.value.calls[].id] == ["c1", "c3"]
TABLE
before=$(deleted)
resume '{"approve":["c3"]}' b
facts <<'TABLE'
some can be allowed, and the results keep the order of the calls :: [.data.messages[] | select(.role == "tool").content[0] | [.call_id, .is_error, .status]] == [["c1", true, "failed"], ["c2", false, "completed"], ["c3", false, "completed"]]
TABLE
is "$(deleted)" $((before + 1)) 'one was made'
resume true b
is "$STATUS $(json .error_code "$BODY")" '422 INVALID_INPUT' 'an answer counts once'
resume '{"approve":true}' a
is "$STATUS" 422 'and only to a question'
invoke "$ONE" "$(thread c)"
resume '{"approve":true}' c
facts <<'TABLE'
an object lets all be made :: said[-1] == "deleted"
TABLE
invoke '[{\"id\":\"c1\",\"name\":\"look\",\"args\":{}}]' "$(thread d)"
facts <<'TABLE'
a tool that is not named needs none :: (.data.meta.interrupt == null) and (said[-1] == "looked")
TABLE

# ---- other arguments

SAVE='[{\"id\":\"c1\",\"name\":\"save\",\"args\":{\"file\":\"a\"}},{\"id\":\"c2\",\"name\":\"save\",\"args\":{\"file\":\"b\"}}]'
outputs() { json '[.data.messages[] | select(.role == "tool").content[0] | [.is_error, .output]] | tojson' "$BODY"; }
note='"note":"The user changed the arguments of this call."'
invoke "$SAVE" "$(thread e)"
resume '{"approve":true,"arguments":{"c1":{"file":"mine"},"c9":{}}}' e
is "$(outputs)" "[[false,{$note,\"arguments\":{\"file\":\"mine\"},\"output\":{\"file\":\"mine\"}}],[false,{\"file\":\"b\"}]]" \
	'a call is made with the arguments that a person wrote, and the model is told'
api GET /v1/threads/e/messages
facts <<'TABLE'
so it is stored :: .data.messages | map(select(.role == "tool").content[0].output.arguments) == [{"file": "mine"}, null]
TABLE
invoke "$SAVE" "$(thread f)"
resume '{"approve":["c2"],"arguments":{"c1":{"file":"mine"},"c2":{"file":7}}}' f
is "$(outputs)" "[[true,\"The user declined this call.\"],[true,{$note,\"arguments\":{\"file\":7},\"output\":\"arguments.file: expected a string, found number\"}]]" \
	'arguments allow nothing, and have to fit'
invoke "$SAVE" "$(thread h)"
resume '{"approve":true,"arguments":{"c1":"mine","c2":{"file":"b"}}}' h
is "$(outputs)" "[[true,{$note,\"arguments\":\"mine\",\"output\":\"arguments: expected an object\"}],[false,{\"file\":\"b\"}]]" \
	'what is no object is refused, and the same arguments are no change'
invoke "$ONE" "$(thread i)"
resume '{"approve":true,"arguments":"x"}' i
facts <<'TABLE'
what is no object of arguments changes none :: said[-1] == "deleted"
TABLE

# ---- by other ways

stream "$ONE" "$(thread s)"
chunks <<'TABLE'
a stream says that it waits :: any(.[]; .data.interrupt.reason? == "tool_approval")
TABLE
api POST /v1/graph/stream "{\"resume\":true,$(thread s)}"
chunks <<'TABLE'
and goes on :: (finals | texts)[-1] == "deleted"
TABLE

printf 'T%s\nT{"resume":{"approve":true},%s}\n' "$(run_body "[$(user "$ONE")]" "$(thread w)")" "$(thread w)" |
	"$AGENTGRAPH_WS" --by-hand --state "$STATE" >frames 2>>log
like "$(cat frames)" 'tool_approval' 'a socket says that it waits'
like "$(cat frames)" '"delta":false.*"text":"deleted"|"text":"deleted".*"delta":false' 'and goes on'

ag_ui() { api POST /v1/ag-ui "{\"threadId\":\"g\",\"runId\":\"$1\",$2}"; }
ag_ui r1 "\"messages\":[{\"id\":\"m1\",\"role\":\"user\",\"content\":\"$ONE\"}]"
EVENTS=$(printf '%s\n' "$BODY" | sed -n 's/^data: //p')
ID=$(printf '%s\n' "$EVENTS" | jq -r 'select(.type == "RUN_FINISHED").outcome.interrupts[0].id')
like "$EVENTS" 'tool_approval' 'AG-UI has the reason'
like "$ID" '^int_' 'and an interrupt to answer'
ag_ui r2 "\"messages\":[],\"resume\":[{\"interruptId\":\"$ID\",\"status\":\"resolved\",\"payload\":{\"approve\":[\"c1\"]}}]"
is "$(printf '%s\n' "$BODY" | sed -n 's/^data: //p' | jq -r 'select(.type == "TOOL_CALL_RESULT").content')" deleted \
	'its payload is the answer'
ag_ui r3 "\"messages\":[{\"id\":\"m3\",\"role\":\"user\",\"content\":\"$ONE\"}]"
ID=$(printf '%s\n' "$BODY" | sed -n 's/^data: //p' | jq -r 'select(.type == "RUN_FINISHED").outcome.interrupts[0].id')
ag_ui r4 "\"messages\":[],\"resume\":[{\"interruptId\":\"$ID\",\"status\":\"cancelled\"}]"
like "$BODY" 'Error: The user declined this call' 'a cancelled one refuses'

# ---- the pause outlives the service

invoke "$ONE" "$(thread k)"
kept=$STATE
serve_stop
STATE=$kept
resume true k
facts <<'TABLE'
a restart keeps the question :: said[-1] == "deleted"
TABLE
serve_stop

graph true
invoke '[{\"id\":\"c1\",\"name\":\"look\",\"args\":{}},{\"id\":\"c2\",\"name\":\"none\",\"args\":{}}]' "$(thread a)"
facts <<'TABLE'
all tools can need it :: [.data.meta.interrupt.value.calls[].id] == ["c1", "c2"]
TABLE
serve_stop

# refused_graph APPROVAL PATTERN NAME: no start.
refused_graph() {
	graph "$1"
	"$AGENTGRAPH" check --state "$WORK/checked" >out 2>&1
	is "$?" 1 "$3 is refused"
	like "$(cat out)" "$2" 'with the place'
}
refused_graph '["delte"]' "/g/nodes/tools/approval: there is no tool 'delte' in this node" 'a name that is no tool'
refused_graph '"all"' '/g/nodes/tools/approval: expected true or false or an array' 'a word'
refused_graph '[5]' '/g/nodes/tools/approval/0: expected a string' 'a number'

done_testing
