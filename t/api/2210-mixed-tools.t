#!/bin/sh
# SPDX-License-Identifier: ISC
# Tools of the server and of the client in one step, and tools that are executables.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# The agent asks for what the user names, a word a call; after results it says how many there are.
cat >agent.sh <<'SH'
#!/bin/sh
jq -c 'if .context[-1].role == "tool" then
	{message: "results: \([.context[] | select(.role == "tool").content[]] | length)"}
else
	{message: {content: [.user_text | split(" ") | to_entries[] |
		{type: "tool_call", id: "\(.value)-\(.key)", name: .value, args: {at: .key}}]}}
end'
SH
cat >double.sh <<'SH'
#!/bin/sh
jq -c '{twice: (.at * 2)}'
SH
printf '#!/bin/sh\necho "just text"\n' >plain.sh
printf '#!/bin/sh\necho half\necho "it broke" >&2\nexit 3\n' >broken.sh
printf '#!/bin/sh\nsleep 30\n' >slow.sh
printf '#!/bin/sh\n[ "$(cat | head -c 1)" = "{" ] && printf %%s "{\\"n\\":9007199254740993}"\n' >exact.sh
printf '#!/bin/sh\nkill -9 $$\n' >killed.sh
printf '#!/bin/sh\nhead -c 3000000 /dev/zero | tr "\\0" x\n' >huge.sh
chmod +x ./*.sh
{
	printf '{"tooled": {"nodes": {"agent": {"kind": "exec", "command": "./agent.sh"},
	"tools": {"kind": "tools", "tools": ['
	for tool in double plain broken slow exact killed huge; do
		printf '{"kind": "exec", "name": "%s", "description": "Is %s", "command": "./%s.sh"},' $tool $tool $tool
	done
	printf '{"kind": "exec", "name": "gone", "description": "Never", "command": "sh"}]}},
	"edges": [{"from": "START", "to": "agent"}, {"from": "tools", "to": "agent"},
		{"from": "agent", "if": [{"when": {"tool_calls": true}, "to": "tools"}], "else": "END"}]}}\n'
} >graph.json
cat >agentgraph.json <<'JSON'
{"agent": "graph.json:tooled", "remote_tools": [{"node": "tools", "name": "far", "description": "Is far"}]}
JSON

invoke 'double far plain' "$(thread t),\"response_granularity\":\"full\""
is "$STATUS" 200 'tools of both kinds are called in one step'
facts <<'TABLE'
one message asks for all :: .data.messages[1].content | map([.type, .name, .tool_type]) == [["tool_call", "double", "local"], ["remote_tool_call", "far", "remote"], ["tool_call", "plain", "local"]]
the server's own are run :: [.data.messages[2:][].content[0] | [.call_id, .output, .is_error]] == [["double-0", {"twice": 0}, false], ["plain-2", "just text", false]]
the client's is waited for :: .data.state.execution_meta | [.interrupt_data, .status, .current_node] == [{"call_ids": ["far-1"]}, "completed", "tools"]
each call stands in one message :: [.data.messages[] | select(.tools_calls)] | length == 1
TABLE
api POST /v1/graph/invoke "$(run_body "[$(answer double-0 1)]" "$(thread t)")"
is "$STATUS" 422 'a call that the server ran waits for nobody'
api POST /v1/graph/stream "$(run_body "[$(answer far-1 '"here"')]" "$(thread t)")"
chunks <<'TABLE'
with the answer the agent runs :: finals | texts == ["results: 3"]
TABLE

stream 'far double' "$(thread s)"
chunks <<'TABLE'
a stream shows the result of the server's tool before it ends :: [finals[].role] == ["assistant", "tool"]
TABLE

invoke 'plain double plain double'
facts <<'TABLE'
results come in the order of the calls :: [.data.messages[] | select(.role == "tool").content[0].call_id] == ["plain-0", "double-1", "plain-2", "double-3"]
one message for each :: [.data.messages[] | select(.role == "tool")] | all(.content | length == 1)
TABLE

# fails TOOL OUTPUT: as an error result that the agent sees.
fails() {
	invoke "$1" "${3-}"
	is "$STATUS|$(json '.data.messages[2].content[0] | "\(.is_error) \(.status)"' "$BODY")" '200|true failed' \
		"$1 fails as a tool"
	like "$(json '.data.messages[2].content[0].output | tostring' "$BODY")" "$2" 'and says why'
	is "$(json '.data.messages[3].content[0].text' "$BODY")" 'results: 1' 'the run goes on'
}
fails broken 'it broke'
fails killed 'signal|killed'
fails huge '1048576|output'
fails nosuch 'nosuch'
fails slow 'time|slow' '"config":{"tool_timeout":0.2}'
api POST /v1/graph/stream "$(run_body "[$(user broken)]")"
chunks <<'TABLE'
in a stream there is no error chunk :: events == ["assistant", "tool", "assistant", "done"]
TABLE
invoke exact
like "$BODY" '"output":[{]"n":9007199254740993[}]' 'a large number of a tool is exact'

# ---- a program that makes its calls itself, under the same id each time

serve_stop
cat >both <<'SH'
#!/bin/sh
cat >/dev/null
echo '{"message": {"role": "assistant", "content": [{"type": "tool_call", "id": "c1", "name": "f", "args": {}}]}}'
echo '{"message": {"role": "tool", "content": [{"type": "tool_result", "call_id": "c1", "output": 1}]}}'
SH
chmod +x both
echo '{"g": {"nodes": {"a": {"kind": "exec", "command": "./both"}}, "edges": [{"from": "START", "to": "a"}, {"from": "a", "to": "END"}]}}' >graph.json
echo '{"agent": "graph.json:g"}' >agentgraph.json
invoke once "$(thread itself)"
invoke twice "$(thread itself)"
facts <<'TABLE'
a result goes with its call, whose id is new :: [.data.messages[].content[0] | .id // .call_id // empty] | .[0] != "c1" and .[0] == .[1]
TABLE

done_testing
