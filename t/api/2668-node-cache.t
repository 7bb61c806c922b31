#!/bin/sh
# SPDX-License-Identifier: ISC
# Nodes whose results are kept: for which values, for how long, and what is not kept.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

cat >work <<'SH'
#!/bin/sh
read -r state
case $state in
*'"user_text":"cut"'*) echo x >>cut; echo '{"message": {"role": "assistant", "content": "half of", "metadata": {"finish_reason": "length"}}}'; exit 0 ;;
esac
echo x >>ran
case $state in
*'"user_text":"fail"'*) echo '{"error": "broken"}'; exit 0 ;;
*'"user_text":"calls"'*) echo '{"message": {"role": "assistant", "content": [{"type": "tool_call", "id": "c1", "name": "t", "args": {}}]}}'; exit 0 ;;
esac
echo '{"delta": "wor"}'
echo '{"event": {"name": "at", "data": 1}}'
echo '{"message": {"role": "assistant", "content": "worked", "usages": {"prompt_tokens": 5, "completion_tokens": 6, "total_tokens": 11}}}'
echo '{"update": {"list": ["x"], "n": 1}}'
SH
chmod +x work
ran() { if [ -e ran ]; then grep -c '' ran; else echo 0; fi; }
cat >graph.json <<'JSON'
{"work": {
  "state": {"fields": {"list": {"type": "array", "reducer": "append"}, "n": {"type": "integer", "reducer": "add"}, "city": {"type": "string"}, "items": {"type": "array"}}},
  "nodes": {"work": {"kind": "exec", "command": "./work", "cache": {"key": ["user_text", "city"], "ttl": 3600}},
    "last": {"kind": "reply", "text": "{{n}} {{list}}"}},
  "edges": [{"from": "START", "to": "work"}, {"from": "work", "to": "last"}, {"from": "last", "to": "END"}]},
 "short": {
  "nodes": {"work": {"kind": "exec", "command": "./work", "cache": {"key": ["user_text"], "ttl": 0.01}}},
  "edges": [{"from": "START", "to": "work"}, {"from": "work", "to": "END"}]},
 "ask": {
  "nodes": {"ask": {"kind": "interrupt", "value": "why?", "reply": "{{answer}}", "cache": {"key": ["user_text"], "ttl": 60}}},
  "edges": [{"from": "START", "to": "ask"}, {"from": "ask", "to": "END"}]},
 "map": {
  "state": {"fields": {"items": {"type": "array"}}},
  "nodes": {"says": {"kind": "reply", "text": "{{item}} of {{index}}", "cache": {"key": ["item"], "ttl": 60}}},
  "edges": [{"from": "START", "map": "items", "to": "says", "join": "END", "limit": 1}, {"from": "says", "to": "END"}]},
 "names": {
  "nodes": {"a": {"kind": "reply", "text": "", "cache": {"key": ["town"], "ttl": 0}}},
  "edges": [{"from": "START", "to": "a"}, {"from": "a", "to": "END"}]}}
JSON
serve_graph() {
	printf '{"agent":"graph.json:%s"}\n' "$1" >agentgraph.json
	api_start || tap_bail "the service does not start with $1"
}
full='"response_granularity":"full"'

serve_graph work
stream hello "$(thread a),$full"
chunks <<'TABLE'
an execution is what it is :: [(finals | texts), (pieces | map(select(.metadata.node == "work")) | length), (map(select(.event == "custom")) | length)] == [["worked", "1 [\"x\"]"], 2, 1]
TABLE
first=$(printf '%s' "$BODY" | jq -rs 'map(select(.event == "message" and (.message.delta | not)))[0].message.message_id')
stream hello "$(thread b),$full"
chunks <<'TABLE'
the next with equal values is taken from it, as one message :: [(finals | texts), (pieces | map(select(.metadata.node == "work")) | length), (map(select(.event == "custom")) | length)] == [["worked", "1 [\"x\"]"], 0, 0]
it is a step :: [.[] | select(.event == "updates" and .data.status == "node_invoked").data.step] == [1, 2]
nothing was spent for it :: finals[0].usages == null
TABLE
is "$(ran)" 1 'and does not run'
unlike "$BODY" "$first" 'its message is another one'
invoke hello '"initial_state":{"city":"Rome"}'
is "$(ran)" 2 'another value of the key is another result'
invoke hello '"initial_state":{"city":"Rome"}'
invoke hello "$(thread b),$full"
facts <<'TABLE'
what it sets enters through the reducers :: .data.state | [.n, .list] == [2, ["x", "x"]]
TABLE
is "$(ran)" 2 'the first is still there'
invoke fail
invoke fail
is "$(ran)|$STATUS" '4|500' 'a failure is not kept'
invoke calls
invoke calls
is "$(ran)" 6 'nor is what asks for tools'
invoke cut
invoke cut
is "$(grep -c '' cut)" 2 'nor a model'\''s answer that was cut off'
env -i PATH="$PATH" REQUEST_METHOD=GET REQUEST_URI=/metrics SERVER_PROTOCOL=HTTP/1.1 REMOTE_ADDR=127.0.0.1 HTTP_HOST=localhost \
	AGENTGRAPH_INTERNAL=metrics cgi-fcgi -bind -connect "$SOCKET" </dev/null | tr -d '\r' >numbers
like "$(cat numbers)" '^agentgraph_node_cache_total\{result="hit"\} 3' 'hits are counted'
like "$(cat numbers)" '^agentgraph_node_cache_total\{result="miss"\} 8' 'and so are misses'
api GET /v1/graph
facts <<'TABLE'
the graph shows it :: .data.nodes[1].cache == {"key": ["user_text", "city"], "ttl": 3600}
TABLE
like "$("$AGENTGRAPH" graph)" '^work \(exec\) .*; kept for 3600 s$' 'so does its drawing'
is "$(stat -c %a "$STATE"/nodes/* | sort -u)" 600 'results are for the owner of the service alone'
again() {
	state=$STATE
	serve_stop
	STATE=$state
	serve_graph work
}
again
invoke hello
is "$(ran)" 6 'it is there for other processes'

# ---- what a process leaves that dies

for file in "$STATE"/nodes/*; do
	size=$(wc -c <"$file")
	truncate -s $((size / 2)) "$file"
done
invoke hello
is "$(ran)|$(json '.data.messages[1].content[0].text' "$BODY")" '7|worked' 'half a result is none'
invoke hello
is "$(ran)" 7 'and is replaced'
for file in "$STATE"/nodes/*; do
	flock -x -F "$file" sleep 300 &
	locks="${locks-} $!"
	locked() { ! flock -n -s "$file" true; }
	wait_for 30 locked
done
invoke hello
is "$(ran)|$STATUS" '8|200' 'one that is being written is not waited for'
for lock in $locks; do kill "$lock"; done
rm -rf "$STATE/nodes"
: >"$STATE/nodes"
invoke hello
is "$(ran)|$STATUS" '9|200' 'where results cannot be kept, nodes run'
rm -f "$STATE/nodes"
invoke hello
sed -i 's|"command": "./work", "cache": {"key": \["user_text", "city"\]|"command": ["./work", "-"], "cache": {"key": ["user_text", "city"]|' graph.json
again
invoke hello
is "$(ran)" 11 'a node that is described otherwise has other results'
serve_stop

serve_graph short
invoke hello
sleep 0.1
invoke hello
is "$(ran)" 13 'results have an end'
serve_stop
serve_graph ask
invoke hello "$(thread a)"
resume '"so"' a
invoke hello "$(thread b)"
facts <<'TABLE'
pauses and their answers are not kept :: .data.meta.interrupt.value == "why?"
TABLE
serve_stop
serve_graph map
invoke x '"initial_state":{"items":["a","b","a"]}'
facts <<'TABLE'
elements of a map share results :: said == ["x", "a of 0", "b of 1", "a of 0"]
TABLE
serve_stop

printf '{"agent":"graph.json:names"}\n' >agentgraph.json
out=$("$AGENTGRAPH" check 2>&1)
like "$out" '/names/nodes/a/cache/key/0: unknown name' 'names of the key are checked'
like "$out" '/names/nodes/a/cache/ttl: expected' 'so is its time'

done_testing
