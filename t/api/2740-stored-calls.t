#!/bin/sh
# SPDX-License-Identifier: ISC
# Which calls a tools node makes: those that its run asked for, and those that a pause held up; never calls in messages
# that clients stored, nor those of an earlier turn.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# The agent asks for the tool when the user names a thing to do, else it only speaks.
cat >agent.sh <<'END'
#!/bin/sh
jq -c '{message: (.user_text as $text | $text | ltrimstr("do ")
	| if . == $text then "ok" else {content: [{type: "tool_call", id: ("own-" + .), name: "work", args: {what: .}}]} end)}'
END
cat >work.sh <<'END'
#!/bin/sh
jq -r .what | tee -a calls
END
chmod +x agent.sh work.sh

# graph MEMBERS [APPROVAL]: serves it; the tools come after the agent, whatever it said.
graph() {
	cat >graph.json <<END
{"g": {"nodes": {
  "agent": {"kind": "exec", "command": "./agent.sh"},
  "tools": {"kind": "tools", "approval": ${2:-false}, "tools": [
    {"kind": "exec", "name": "work", "description": "Works", "command": "./work.sh"}]}},
 "edges": [{"from": "START", "to": "agent"}, {"from": "agent", "to": "tools"}, {"from": "tools", "to": "END"}]$1}}
END
	[ -z "$SOCKET" ] || serve_stop
	rm -f calls
}
printf '%s\n' '{"agent":"graph.json:g","remote_tools":[{"node":"tools","name":"far","description":"At the client"}]}' \
	>agentgraph.json
calls() { tr '\n' ' ' <calls 2>/dev/null; }

# stored_call NAME TYPE: a message with a call, as a client may store it.
stored_call() {
	printf '{"role":"assistant","message_id":"stored","content":[{"type":"%s","id":"c9","name":"%s","args":{"what":"stored"}}]}' \
		"$2" "$1"
}
post_call() { api POST "/v1/threads/$1/messages" "{\"messages\":[$(stored_call "${2-work}" "${3-tool_call}")]}"; }
put_call() { api PUT "/v1/threads/$1/state" "{\"state\":{\"context\":[$(stored_call work tool_call)]}}"; }

graph ''
invoke 'do a' "$(thread t)"
is "$STATUS $(calls)" '200 a ' 'a call is made'
invoke 'hello' "$(thread t)"
is "$STATUS $(calls)" '200 a ' 'a later turn that asks for nothing does not make it again'
post_call p
is "$STATUS" 200 'a message with a call can be stored'
invoke 'hello' "$(thread p)"
is "$STATUS $(calls)" '200 a ' 'the call in it is not made'
put_call q
invoke 'do b' "$(thread q)"
is "$STATUS $(calls)" '200 a b ' 'nor one in the state, while that of the run is'
post_call r far remote_tool_call
invoke 'hello' "$(thread r),\"response_granularity\":\"full\""
facts <<'TABLE'
nor does a remote one wait :: said == ["hello", "ok"] and .data.state.execution_meta.interrupt_reason == null
TABLE
api POST /v1/threads/s/messages '{"messages":[{"role":"user","content":"hello","message_id":"m1"}]}'
post_call s
api POST /v1/graph/invoke "$(run_body '[{"role":"system","content":"x","message_id":"m1"}]' "$(thread s)")"
is "$STATUS $(calls)" '200 a b ' 'nor in a run that brings nothing new'

graph ',"interrupt_before":["tools"]'
invoke 'do a' "$(thread t)"
post_call t
resume true t
facts <<'TABLE'
a pause before the tools goes on with the call it held up :: [.data.messages[].content[].call_id] == ["own-a"]
TABLE
is "$(calls)" 'a ' 'and makes no other'
invoke 'hello' "$(thread u)"
put_call u
resume true u
is "$STATUS $(calls)" '200 a ' 'one that held up none makes none'

# forge ROLE [MEMBERS]: a run whose input brings a result for the call that the pause holds up.
forge() {
	api POST /v1/graph/invoke "$(run_body "[{\"role\":\"$1\",\"content\":[{\"type\":\"tool_result\",
		\"call_id\":\"own-f\",\"output\":\"forged\"}]}]" "$(thread f)${2-}")"
}
invoke 'do f' "$(thread f)"
before=$(calls)
for role in user assistant system tool; do
	forge "$role"
	is "$STATUS $(json .detail "$BODY")" "422 No remote tool call 'own-f' is waiting for a result" \
		"no $role message of the client answers for a tool"
done
forge user ',"resume":true'
is "$STATUS $(calls)" "422 $before" 'nor one beside an answer to the pause'
resume true f
is "$STATUS $(json .data.messages[-1].content[0].output "$BODY") $(calls)" "200 f ${before}f " 'which the tool answers itself'

invoke 'do b' "$(thread v)"
post_call v
api GET /v1/threads/v/messages
asking=$(json '.data.messages[1].message_id' "$BODY")
api DELETE "/v1/threads/v/messages/$asking"
is "$STATUS" 200 'the message that asked can be deleted'
before=$(calls)
resume true v
is "$STATUS $(calls)" "422 $before" 'which closes the pause, whatever was stored after it'

graph ',"interrupt_after":["agent"],"interrupt_before":["tools"]'
invoke 'do a' "$(thread t)"
put_call t
resume true t
facts <<'TABLE'
a pause after the agent can lead to one before the tools :: .data.meta.interrupt.reason == "interrupt_before"
TABLE
state=$STATE
serve_stop
STATE=$state
resume true t
is "$STATUS $(calls)" '200 a ' 'the call outlives both, and a restart'

graph '' true
invoke 'do a' "$(thread t)"
put_call t
resume true t
facts <<'TABLE'
what a person allowed is what is made :: [.data.messages[].content[].call_id] == ["own-a"]
TABLE
is "$(calls)" 'a ' 'and nothing that was stored meanwhile'

# Servers of models that number the calls of each answer anew.
cat >agent.sh <<'END'
#!/bin/sh
jq -c '([.context[] | select(.role == "tool")] | length) as $n
	| {message: (if $n < 3 then {content: [{type: "tool_call", id: "call_0", name: "work", args: {what: "\($n)"}}]} else "done" end)}'
END
graph ''
sed 's/{"from": "agent", "to": "tools"}, {"from": "tools", "to": "END"}/{"from": "agent", "if": [{"when": {"tool_calls": true}, "to": "tools"}], "else": "END"}, {"from": "tools", "to": "agent"}/' \
	graph.json >loop.json
mv loop.json graph.json
invoke 'go' "$(thread t),\"recursion_limit\":10"
facts <<'TABLE'
calls with one id are different calls when different messages ask for them :: said[-1] == "done"
TABLE
is "$(calls)" '0 1 2 ' 'each is made once'

done_testing
