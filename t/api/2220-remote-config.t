#!/bin/sh
# SPDX-License-Identifier: ISC
# Declarations of remote tools: which are refused at start, which are listed, and what clients may announce.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# refused ENTRIES TEXT NAME: the service does not start, and says TEXT.
refused() {
	printf '{"agent":"builtin:demo","remote_tools":%s}\n' "$1" >agentgraph.json
	"$AGENTGRAPH" check --state "$WORK/checked" >out 2>&1
	is "$?" 1 "$3 is refused"
	like "$(cat out)" "$2" 'with its place'
}
tool='"node":"tools","name":"pick","description":"Picks"'
refused "[{$tool},{$tool}]" "remote_tools\\[1\\].*Duplicate remote tool name 'pick'" 'a name that is there twice'
refused '[{"name":"pick","description":"d"}]' 'remote_tools\[0\].*node' 'an entry without node'
refused '[{"node":"tools","description":"d"}]' 'remote_tools\[0\].*name' 'an entry without name'
refused '[{"node":"tools","name":"pick"}]' 'remote_tools\[0\].*description' 'an entry without description'
refused '[{"node":" ","name":"pick","description":"d"}]' 'remote_tools\[0\].node' 'a blank node'
refused '[{"node":"tools","name":"\t","description":"d"}]' 'remote_tools\[0\].name' 'a blank name'
refused '[{"node":"tools","name":"pick","description":""}]' 'remote_tools\[0\].description' 'an empty description'
refused '[{"node":"none","name":"pick","description":"d"}]' "remote_tools: 'pick': .*'none' is not" 'an unknown node'
refused '[{"node":"agent","name":"pick","description":"d"}]' "remote_tools: 'pick': .*'agent' is not" 'a node without tools'
refused '[{"node":"tools","name":"add","description":"d"}]' "remote_tools: 'add': .*" "the name of a server's tool"
refused "[{$tool,\"extra\":1}]" 'remote_tools\[0\].extra' 'an unknown field'
refused "[{$tool,\"parameters\":{\"type\":\"array\"}}]" 'remote_tools\[0\].parameters.type' 'another type of parameters'
refused "[{$tool,\"parameters\":{\"type\":\"object\",\"properties\":[]}}]" 'parameters.properties' 'properties in an array'
refused "[{$tool,\"parameters\":{\"type\":\"object\",\"required\":[1]}}]" 'parameters.required' 'a required name that is none'
refused "[{$tool,\"parameters\":{\"type\":\"object\",\"required\":\"n\"}}]" 'parameters.required' 'required without array'
refused "[{$tool,\"parameters\":\"{}\"}]" 'remote_tools\[0\].parameters' 'parameters in a string'
refused '[7]' 'remote_tools\[0\]' 'an entry that is no object'
refused '{}' 'remote_tools' 'an object for the array'
api_start 2>/dev/null >start.out
is "$?" 1 'the service itself refuses them, too'
like "$(cat start.out)" 'remote_tools' 'and says so'
SOCKET=
STATE=

cat >agentgraph.json <<'JSON'
{"agent": "builtin:demo", "remote_tools": [
  {"node": "tools", "name": "pick", "description": "Picks one", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
  {"node": "tools", "name": "look", "description": "Looks around", "parameters": null},
  {"node": "tools", "name": "go", "description": "Goes", "parameters": {"type": "object"}}]}
JSON
api GET /v1/graph/tools
facts <<'TABLE'
the tool list has three keys :: .data | keys == ["node_count", "nodes", "tool_count"]
it counts nodes and tools :: .data | [.node_count, .tool_count, .nodes[0].tool_count] == [1, 5, 5]
a node has three keys :: .data.nodes[0] | keys == ["node_name", "tool_count", "tools"] and .node_name == "tools"
a tool has four :: .data.nodes[0].tools | all(keys == ["description", "name", "parameters", "source"])
remote tools come last, in order :: .data.nodes[0].tools | map("\(.source) \(.name)") == ["local add", "local fail", "remote pick", "remote look", "remote go"]
parameters are whole :: .data.nodes[0].tools | all(.parameters | .type == "object" and (.properties | type == "object") and (.required | type == "array"))
those declared are kept :: .data.nodes[0].tools[2].parameters == {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
missing ones are filled in :: .data.nodes[0].tools[3:] | all(.parameters == {"type": "object", "properties": {}, "required": []})
descriptions are shown :: .data.nodes[0].tools[2].description == "Picks one"
TABLE

# announced BODY: posts it to setup.
announced() { api POST /v1/graph/setup "$1"; }
announced '{"tools":[{"node_name":"tools","name":"pick","description":"Mine","parameters":{}}]}'
is "$STATUS" 200 'a declared tool may be announced'
facts <<'TABLE'
the answer is exact :: .data == {"success": true, "status": "success", "message": "Registered 1 tool(s)", "details": "Tools available on nodes: tools", "registered_tools": 1}
TABLE
announced '{"tools":[{"node":"tools","name":"pick"},{"node":"tools","name":"look"}]}'
facts <<'TABLE'
node stands for node_name :: .data | [.registered_tools, .message] == [2, "Registered 2 tool(s)"]
TABLE
announced '{"tools":[]}'
facts <<'TABLE'
an empty array registers none :: [.data.success, .data.registered_tools] == [true, 0]
and says so :: .data.details == "Tools available on nodes: none"
TABLE
# foreign ENTRY TOOL NODE
foreign() {
	announced "{\"tools\":[$1,{\"node\":\"tools\",\"name\":\"other\"}]}"
	is "$STATUS|$(json '"\(.error_code)|\(.detail)"' "$BODY")" \
		"422|INVALID_INPUT|Tool '$2' is not declared in remote_tools for node '$3'" "'$2' on '$3' cannot be announced alone"
	announced "{\"tools\":[{\"node\":\"tools\",\"name\":\"other\"},{\"node\":\"tools\",\"name\":\"pick\"},$1]}"
	is "$STATUS|$(json '.data | "\(.registered_tools)|\(.message)|\(.details)"' "$BODY")" \
		"200|1|Registered 1 tool(s)|Tools available on nodes: tools; not declared: other, $2" 'beside one that is declared it is named'
}
foreign '{"node_name":"tools","name":"nope"}' nope tools
foreign '{"node_name":"agent","name":"pick"}' pick agent
foreign '{"node_name":"tools","name":"add"}' add tools
foreign '{"node_name":"none","name":"pick"}' pick none
for body in '{}' '{"tools":null}' '{"tools":{}}' '{"tools":[1]}' '{"tools":[{}]}' '{"tools":[{"name":1,"node":"tools"}]}' \
	'{"tools":[{"name":"pick"}]}' '{"tools":[{"name":"pick","node":"tools","description":1}]}' \
	'{"tools":[{"name":"pick","node":"tools","parameters":[]}]}' '[]' ''; do
	announced "$body"
	is "$STATUS|$(json .error_code "$BODY")" '422|VALIDATION_ERROR' "a body '$body' is refused"
done
announced '{"tools":[{"name":1},{"node":"tools"}]}'
is "$(json '.error.details | map(.loc[2:] | join(".")) | join(" ")' "$BODY")" '0.name 0.node_name 1.name' 'with all that is wrong'
# mistakes ENTRIES EXPECTED NAME: every mistake, with its place.
mistakes() {
	announced "{\"tools\":$1}"
	is "$(json '.error.details | map("\(.loc | map(tostring) | join(".")) \(.msg)") | join("; ")' "$BODY")" "$2" "$3"
}
mistakes '[{"node":"tools","name":"pick"},5,[],null]' \
	'body.tools.1 tools[1] must be an object; body.tools.2 tools[2] must be an object; body.tools.3 tools[3] must be an object' \
	'an entry that is no object is told as that alone'
mistakes '[{"name":"pick","node":5}]' 'body.tools.0.node tools[0].node must be a string' 'a wrong node is named as it was sent'
mistakes '[{"name":"pick","node_name":5,"node":"tools"}]' 'body.tools.0.node_name tools[0].node_name must be a string' \
	'also as node_name'
mistakes '[{"name":"pick","node_name":null}]' 'body.tools.0.node_name tools[0].node_name must be a string' \
	'and as node_name when there is none'
api GET /v1/graph/tools
is "$(json .data.tool_count "$BODY")|$(json '.data.nodes[0].tools[2].description' "$BODY")" '5|Picks one' 'nothing was changed by it'

done_testing
