#!/bin/sh
# SPDX-License-Identifier: ISC
# Branches over AG-UI: steps and messages side by side, and several pauses.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/ag-ui.sh"

make_speaker speak
cat >graph.json <<'JSON'
{"g": {
  "state": {"fields": {"list": {"type": "array", "reducer": "append"}}},
  "nodes": {
    "a": {"kind": "exec", "command": ["./speak", "a", "b"]},
    "b": {"kind": "exec", "command": ["./speak", "b", "a"]},
    "x": {"kind": "interrupt", "value": {"question": "x?"}, "field": "list", "reply": "x {{answer}}"},
    "y": {"kind": "interrupt", "value": {"question": "y?"}, "field": "list", "reply": "y {{answer}}"}
  },
  "edges": [
    {"from": "START", "to": ["a", "b"], "join": "END"},
    {"from": "a", "to": "x"}, {"from": "b", "to": "y"}, {"from": "x", "to": "END"}, {"from": "y", "to": "END"}]},
 "s": {
  "state": {"fields": {"list": {"type": "array"}}},
  "nodes": {"in": {"kind": "graph", "graph": "inner", "output": {"list": ["set"]}}},
  "edges": [{"from": "START", "to": "in"}, {"from": "in", "to": "END"}]},
 "inner": {"nodes": {"a": {"kind": "reply", "text": "a"}}, "edges": [{"from": "START", "to": "a"}, {"from": "a", "to": "END"}]}}
JSON
printf '{"agent":"graph.json:g","ag_ui":{"enabled":true}}\n' >agentgraph.json
entry() { printf '{"interruptId":"%s","status":"resolved","payload":%s}' "$1" "$2"; }

run t "$(says m1 hi)"
is "$STATUS" 200 'a run with branches is told'
facts <<'TABLE'
every message begins and ends once :: [.[] | select(.type == "TEXT_MESSAGE_START").messageId] | length == 2 and (unique | length == 2)
its text is whole, although they speak at once :: [.[] | select(.type == "TEXT_MESSAGE_CONTENT")] | group_by(.messageId) | map(map(.delta) | join("")) | sort == ["a says", "b says"]
and ends behind it :: [.[] | select(.type == "TEXT_MESSAGE_END")] | length == 2
steps are open side by side :: [.[] | select(.type == "STEP_STARTED" or .type == "STEP_FINISHED") | .type[5:]][:2] == ["STARTED", "STARTED"]
each ends :: ([.[] | select(.type == "STEP_STARTED").stepName] | sort) == ([.[] | select(.type == "STEP_FINISHED").stepName] | sort)
the outcome lists both pauses :: .[-1].outcome.interrupts | map(.metadata.node) == ["x", "y"]
TABLE
ids=$(json '.[-1].outcome.interrupts | map(.id) | join(" ")' "$BODY")
run t '' "\"resume\":[$(entry int_x 1)]"
facts <<'TABLE'
an answer to another one is refused :: .[-1] | [.type, .code] == ["RUN_ERROR", "INVALID_INPUT"]
TABLE
run t '' "\"resume\":[$(entry "${ids#* }" '"two"'),$(entry "${ids% *}" '"one"')]"
facts <<'TABLE'
both are answered at once :: [.[] | select(.type == "TEXT_MESSAGE_CONTENT")] | group_by(.messageId) | map(map(.delta) | join("")) | sort == ["x one", "y two"]
the state is told when they have joined :: [.[] | select(.type == "STATE_SNAPSHOT").snapshot] == [{"list": ["one", "two"]}]
and the run is over :: .[-1] | [.type, .outcome] == ["RUN_FINISHED", null]
TABLE

serve_stop
printf '{"agent":"graph.json:s","ag_ui":{"enabled":true}}\n' >agentgraph.json
run s "$(says m1 hi)"
facts <<'TABLE'
what a subgraph at the end has set is told :: [.[] | select(.type == "STATE_SNAPSHOT").snapshot] == [{"list": ["set"]}]
TABLE

done_testing
