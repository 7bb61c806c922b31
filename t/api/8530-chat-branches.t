#!/bin/sh
# SPDX-License-Identifier: ISC
# Branches in chat completions: nodes that speak at the same time do not interrupt each other.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/openai.sh"

make_speaker speak
cat >graph.json <<'JSON'
{"g": {
  "nodes": {
    "a": {"kind": "exec", "command": ["./speak", "a", "b"]},
    "b": {"kind": "exec", "command": ["./speak", "b", "a"]},
    "c": {"kind": "reply", "text": "both"}
  },
  "edges": [
    {"from": "START", "to": ["a", "b"], "join": "c"},
    {"from": "a", "to": "c"}, {"from": "b", "to": "c"}, {"from": "c", "to": "END"}]}}
JSON
printf '{"agent":"graph.json:g","openai":{"enabled":true,"model":"demo"}}\n' >agentgraph.json

complete "$(user hi)"
is "$STATUS $(json '.choices[0].message.content' "$BODY")" "200 $(printf 'a says\n\nb says\n\nboth')" 'an answer has the order of declaration'
rm -f ./*.here
complete "$(user hi)" '"stream":true'
facts <<'TABLE'
in a stream each text is whole :: map(objects | .choices[0].delta.content // empty) | join("") | . == "a says\n\nb says\n\nboth" or . == "b says\n\na says\n\nboth"
TABLE
serve_stop

# ---- what nobody is shown costs as well

cat >costs <<'SH'
#!/bin/sh
echo '{"message": {"content": "cheap", "usages": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}}}'
SH
chmod +x costs
cat >graph.json <<'JSON'
{"g": {
  "nodes": {"in": {"kind": "graph", "graph": "two", "messages": "own"}},
  "edges": [{"from": "START", "to": "in"}, {"from": "in", "to": "END"}]},
 "two": {
  "nodes": {"a": {"kind": "exec", "command": "./costs"}, "b": {"kind": "exec", "command": "./costs"}},
  "edges": [{"from": "START", "to": "a"}, {"from": "a", "to": "b"}, {"from": "b", "to": "END"}]}}
JSON
complete "$(user hi)"
is "$(json '"\(.choices[0].message.content) \(.usage.total_tokens)"' "$BODY")" 'cheap 220' 'of a subgraph all answers are in the usage'

done_testing
