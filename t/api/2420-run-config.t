#!/bin/sh
# SPDX-License-Identifier: ISC
# What nodes see of the config of a run.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# The config is what stands between "config": and the next key that the node's input has.
cat >show.sh <<'SH'
#!/bin/sh
read -r state
rest=${state##*\"config\":}
printf '{"message": {"content": "shown", "metadata": {"config": %s, "env": "%s %s %s", "arguments": "%s"}}}\n' \
	"${rest%%,\"thread_id\":\"seen\",\"run_id\"*}" "$AGENTGRAPH_THREAD_ID" "$AGENTGRAPH_RUN_ID" "$AGENTGRAPH_NODE" "$*"
SH
chmod +x show.sh
cat >graph.json <<'JSON'
{"shows": {
  "nodes": {"show": {"kind": "exec", "command": ["./show.sh", "{{user_text}}", "a b"]}},
  "edges": [{"from": "START", "to": "show"}, {"from": "show", "to": "END"}]},
 "says": {
  "nodes": {"say": {"kind": "reply", "text": "{{config.a.b}}|{{config.user.user_id}}|{{config.none}}|{{thread_id}}|{{run_id}}|{{{{x}}"}},
  "edges": [{"from": "START", "to": "say"}, {"from": "say", "to": "END"}]}}
JSON
printf '{"agent":"graph.json:shows"}\n' >agentgraph.json

# sees MEMBERS: BODY becomes the config that a node sees of a run with these members.
sees() {
	invoke "${2-hi}" "$(thread seen "\"run_id\":\"r1\"${1:+,$1}")"
	[ "$STATUS" = 200 ] || return 0
	BODY=$(printf '%s' "$BODY" | sed 's/.*"metadata":{"config":\(.*\),"env":"\([^"]*\)","arguments":"\([^"]*\)"}.*/\1/')
}

sees ''
facts <<'TABLE'
the server adds the user :: .user == {"user_id": "anonymous"}
thread and run are there :: [.thread_id, .run_id] == ["seen", "r1"]
TABLE
sees '"remote_tools":[{"name":"x"}],"user":{"user_id":"root","admin":true},"user_id":"root","authz":{"scopes":["*"]},"ag_ui":{"context":[]},"_secret":1,"__x":2,"_":3'
facts <<'TABLE'
what is the server's own is dropped :: keys == ["run_id", "thread_id", "user"]
nobody becomes somebody else :: .user == {"user_id": "anonymous"}
TABLE
sees '"a":1,"nested":{"_kept":1,"user":{"user_id":"x"},"list":[{"_y":null}]},"USER":2,"userid":3,"x_":4,"":5,"node_timeout":100,"tool_timeout":7,"recursion_limit":3'
facts <<'TABLE'
other keys are unchanged, in the depth as well :: del(.user, .thread_id, .run_id) == {"a": 1, "nested": {"_kept": 1, "user": {"user_id": "x"}, "list": [{"_y": null}]}, "USER": 2, "userid": 3, "x_": 4, "": 5, "node_timeout": 100, "tool_timeout": 7, "recursion_limit": 3}
TABLE
numbers='"n":[9007199254740993,-9223372036854775808,18446744073709551615,0.1,1e300,-0.5,100,3]'
sees "$numbers"
ok "printf '%s' \"\$BODY\" | grep -Fq '\"n\":[9007199254740993,-9223372036854775808,18446744073709551615,0.1,'" 'numbers are exact'
sees '"s":"\u00e9 \"\\ \ud83d\udc4b \u0001","null":null,"deep":[[[[[[[[[[1]]]]]]]]]]'
facts <<'TABLE'
so are strings :: .s == "\u00e9 \"\\ \ud83d\udc4b \u0001"
null stays :: has("null") and .null == null
and depth :: .deep == [[[[[[[[[[1]]]]]]]]]]
TABLE
sees '"user_id":"a","user_id":"b","k":1,"k":2'
facts <<'TABLE'
of a key that is there twice the last counts :: [.k, has("user_id")] == [2, false]
TABLE

# shellcheck disable=SC2016 # for no shell
invoke '$(id); `id`' "$(thread seen '"run_id":"r 2"')"
facts <<'TABLE'
the environment names thread, run and node :: last.metadata.env == "seen r 2 show"
arguments pass no shell and are no templates :: last.metadata.arguments == "{{user_text}} a b"
TABLE
serve_stop

printf '{"agent":"graph.json:says"}\n' >agentgraph.json
invoke x "$(thread t '"run_id":"r3","a":{"b":9007199254740993}')"
facts <<'TABLE'
templates see the config as well :: last | text == "9007199254740993|anonymous||t|r3|{{x}}"
TABLE

done_testing
