#!/bin/sh
# SPDX-License-Identifier: ISC
# initial_state, and how runs treat fields of every type.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

cat >update.sh <<'SH'
#!/bin/sh
# Says the fields it sees, and makes the update that the user gives as JSON.
read -r state
printf '%s\n' "$state" | jq -c '{message: "saw \([.s, .i, .n, .b, .a, .o, .x, .sum, .set] | tojson)"},
	(.user_text | fromjson? | {update: .})'
SH
chmod +x update.sh
cat >graph.json <<'JSON'
{"typed": {
  "state": {"type": "Typed", "fields": {
    "s": {"type": "string", "default": "deep", "description": "A word"},
    "i": {"type": "integer"},
    "n": {"type": "number", "default": 0.5},
    "b": {"type": "boolean"},
    "a": {"type": "array", "reducer": "append"},
    "o": {"type": "object", "reducer": "merge", "default": {"k": {"l": 1}}},
    "x": {"type": "any"},
    "sum": {"type": "integer", "reducer": "add", "default": 10},
    "set": {"type": "array", "default": ["d"]}}},
  "nodes": {"only": {"kind": "exec", "command": "./update.sh"}},
  "edges": [{"from": "START", "to": "only"}, {"from": "only", "to": "END"}]}}
JSON
printf '{"agent":"graph.json:typed"}\n' >agentgraph.json

full='"response_granularity":"full"'
# with STATE [THREAD [TEXT]]: a run with that initial state.
with() { invoke "${3-hi}" "$(thread "${2-}"),$full,\"initial_state\":$1"; }

with '{}'
facts <<'TABLE'
fields begin with their defaults, or an empty value of their type :: .data.state | del(.context, .context_summary, .execution_meta) == {"s": "deep", "i": 0, "n": 0.5, "b": false, "a": [], "o": {"k": {"l": 1}}, "x": null, "sum": 10, "set": ["d"]}
TABLE
with '{"s":"w","i":-5,"n":2,"b":true,"a":[1,"two"],"o":{"m":2},"x":[null],"sum":1,"set":[]}' t
facts <<'TABLE'
a state is given whole, replacing what is there :: .data.state | del(.context, .context_summary, .execution_meta) == {"s": "w", "i": -5, "n": 2, "b": true, "a": [1, "two"], "o": {"m": 2}, "x": [null], "sum": 1, "set": []}
the nodes see it :: last | text == "saw [\"w\",-5,2,true,[1,\"two\"],{\"m\":2},[null],1,[]]"
TABLE
with '{"a":["three"],"sum":5}' t
facts <<'TABLE'
on an old thread it replaces, too, whatever the reducer :: .data.state | [.a, .sum, .s] == [["three"], 5, "w"]
TABLE
with 'null' t
facts <<'TABLE'
without it the fields stay :: .data.state | [.a, .sum, .s] == [["three"], 5, "w"]
TABLE
with '{"s":null,"context":[{"role":"user","content":"smuggled"}],"context_summary":"x","execution_meta":{"status":"error"},"nope":1,"thread_id":"z"}' t
facts <<'TABLE'
null, fixed fields and unknown names are ignored :: .data.state | [.s, .context_summary, .execution_meta.status, has("nope"), has("thread_id")] == ["w", null, "completed", false, false]
no message is smuggled in :: .data.context | texts | index("smuggled") == null
TABLE
with '{"i":9007199254740993,"x":{"big":18446744073709551615},"n":1e300}' t
ok "printf '%s' \"\$BODY\" | grep -Fq '\"i\":9007199254740993'" 'large integers are exact'
ok "printf '%s' \"\$BODY\" | grep -Fq '\"x\":{\"big\":18446744073709551615}'" 'inside of objects, too'

# wrong FIELD VALUE...: refused, and the thread stays as it is.
wrong() {
	name=$1
	shift
	for value in "$@"; do
		with "{\"sum\":99,\"$name\":$value}" t
		is "$STATUS|$(json '"\(.error_code) \(.error.details | map(.loc | join(".")) | join(" "))"' "$BODY")" \
			"422|VALIDATION_ERROR body.initial_state.$name" "$name does not take $value"
	done
}
wrong s 1 true '[]' '{}'
wrong i '"1"' 1.5 true '[]'
wrong n '"1"' true '{}'
wrong b 0 1 '"true"'
wrong a '{}' '"x"' 1
wrong o '[]' '"x"' false
api GET /v1/threads/t/state
facts <<'TABLE'
what is refused is not stored :: .data.state | [.sum, .s] == [5, "w"]
TABLE
with '{"i":25.0}' t
facts <<'TABLE'
25.0 is an integer :: .data.state.i == 25
TABLE
like "$BODY" '"i":25[,}]' 'and written as one'
with '{"s":1}' neverborn
api GET /v1/threads/neverborn
is "$STATUS" 404 'nor is a thread created'
api POST /v1/graph/stream "$(run_body "[$(user hi)]" '"initial_state":{"s":1}')"
is "$STATUS" 422 'a stream refuses it before it begins'

# ---- updates of nodes

# updates TEXT NAME EXPECTED: what the node's update makes of the field, on one thread.
updates() {
	invoke "$1" "$(thread u),$full"
	is "$STATUS|$(json ".data.state.$2 | tojson" "$BODY")" "200|$3" "an update $1 makes $3"
}
updates '{\"s\":\"new\"}' s '"new"'
updates '{\"a\":[1,2]}' a '[1,2]'
updates '{\"a\":3}' a '[1,2,3]'
updates '{\"a\":[[4]]}' a '[1,2,3,[4]]'
updates '{\"sum\":5}' sum 15
updates '{\"sum\":-20}' sum -5
updates '{\"o\":{\"k\":{\"m\":2}}}' o '{"k":{"l":1,"m":2}}'
updates '{\"set\":[\"e\"]}' set '["e"]'
updates '{\"x\":{\"any\":1}}' x '{"any":1}'
updates '{\"x\":\"thing\"}' x '"thing"'
# spoils TEXT TEXT-OF-ERROR: an update that fails the run and is not kept.
spoils() {
	invoke "$1" "$(thread u)"
	is "$STATUS|$(json .error_code "$BODY")" '500|GRAPH_ERROR' "an update $1 fails the run"
	like "$(json .detail "$BODY")" "^Graph execution failed: .*$2" 'and names the field'
}
spoils '{\"s\":\"lost\",\"i\":\"text\"}' i
spoils '{\"nope\":1}' nope
spoils '{\"sum\":\"five\"}' sum
api GET /v1/threads/u/state
facts <<'TABLE'
nothing of a failed update is kept :: .data.state | [.s, .i, .sum, .execution_meta.status] == ["new", 0, -5, "error"]
TABLE

done_testing
