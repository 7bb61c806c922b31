# shellcheck shell=sh disable=SC2154
# SPDX-License-Identifier: ISC
# What the tests of tools in documents share.  Sourced after lib.sh and run.sh.

# make_caller FILE: makes an executable node that makes the tool calls a user writes, each as "NAME JSON", with " && "
# in between, and then says their results.
make_caller() {
	cat >"$1" <<'SCRIPT'
#!/bin/sh
jq -c '
	def call(i): capture("^(?<name>[^ ]+) ?(?<args>.*)$")
		| {type: "tool_call", id: "c\(i)", name, args: (.args | if . == "" then {} else fromjson end)};
	if .context[-1].role == "tool" then
		([.context | reverse | label $out | foreach .[] as $m (0; .; if $m.role == "tool" then $m else break $out end)]
			| reverse | map(.content[] | select(.type == "tool_result")
			| (if .is_error then "! " else "" end) + (.output | if type == "string" then . else tojson end))
			| {message: join(" | ")})
	else .user_text | split(" && ") | to_entries | {message: {role: "assistant", content: map(.key as $i | .value | call($i))}}
	end'
SCRIPT
	chmod +x "$1"
}

# tools_graph TOOLS: writes graph.json, whose node tools has these tools, and the configuration that names it.
tools_graph() {
	make_caller caller.sh
	cat >graph.json <<DOCUMENT
{"g": {"nodes": {
  "agent": {"kind": "exec", "command": "./caller.sh"},
  "tools": {"kind": "tools", "tools": [$1]},
  "report": {"kind": "exec", "command": "./caller.sh"}},
 "edges": [{"from": "START", "to": "agent"}, {"from": "agent", "to": "tools"},
  {"from": "tools", "to": "report"}, {"from": "report", "to": "END"}]}}
DOCUMENT
	echo '{"agent": "graph.json:g"}' >agentgraph.json
}

# told CALLS [MEMBERS]: what the graph says about these calls.
told() {
	text=$(printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g')
	invoke "$text" "${2-}"
	printf '%s' "$BODY" | jq -r "$facts_words .data.messages[-1] | text" 2>/dev/null || printf '%s' "$BODY"
}
