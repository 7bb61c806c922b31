#!/bin/sh
# SPDX-License-Identifier: ISC
# Maps of a thousand elements whose process dies in the middle, or which ask; and subgraphs in maps.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# Writes down which element it is given, and says so.  Of those named in "waits" it waits in the first attempt, and what is
# named in "asks" asks first.
cat >work <<'SH'
#!/bin/sh
state=$(sed 's/\[[0-9,]\{9,\}\]/[]/g') # long lists take the shell long
case $state in *'}') ;; *) exit 1 ;; esac # whoever wrote it died meanwhile
index=${state#*\"index\":} index=${index%%[!0-9]*}
case $1:$state in
asks:*'"answers":[]'*)
	case " 3 500 999 " in *" $index "*)
		echo "{\"interrupt\": {\"value\": $index}}"
		exit 0 ;;
	esac ;;
esac
echo "$1$index" >>ran
case $1:$state in
dies:*'"attempt":1'*) [ "$index" -lt 3 ] || exec sleep 60 ;;
esac
echo "{\"message\": \"did $index\"}"
echo "{\"update\": {\"list\": $index, \"sum\": 1}}"
SH
chmod +x work
FIELDS='"state": {"fields": {"items": {"type": "array"}, "list": {"type": "array", "reducer": "append"}, "sum": {"type": "integer", "reducer": "add"}}}'
map() {
	printf '{%s, "nodes": {"w": {"kind": %s}, "done": {"kind": "reply", "text": "all {{sum}}"}},
	"edges": [{"from": "START", "map": "items", "to": "w", "join": "done", "limit": %s}, {"from": "w", "to": "done"}, {"from": "done", "to": "END"}]}' "$FIELDS" "$1" "$2"
}
cat >graph.json <<JSON
{"many": $(map '"exec", "command": ["./work", ""]' 8),
 "asks": $(map '"exec", "command": ["./work", "asks"]' 8),
 "inner": {$FIELDS,
   "nodes": {"one": {"kind": "exec", "command": ["./work", "one"]}, "two": {"kind": "exec", "command": ["./work", "dies"]}, "three": {"kind": "exec", "command": ["./work", "three"]}},
   "edges": [{"from": "START", "to": "one"}, {"from": "one", "to": "two"}, {"from": "two", "to": "three"}, {"from": "three", "to": "END"}]},
 "nested": $(map '"graph", "graph": "inner", "messages": "own", "output": {"list": "{{list}}", "sum": "{{sum}}"}' 2),
 "shared": $(map '"graph", "graph": "inner", "output": {"list": "{{list}}", "sum": "{{sum}}"}' 2)}
JSON
thousand=$(jq -nc '[range(1000)]')
serve_graph() {
	rm -f ran
	printf '{"agent":"graph.json:%s","runs":{"background":1}}\n' "$1" >agentgraph.json
	api_start || tap_bail "the service does not start with $1"
}
# begins ITEMS: a run in the background over them.
begins() {
	api POST /v1/graph/runs "$(run_body "[$(user x)]" "\"initial_state\":{\"items\":$1},$(thread t '"run_id":"r1"')")"
}
over() {
	api GET /v1/threads/t/runs/r1
	case $(json .data.status "$BODY") in completed | error | interrupted) ;; *) return 1 ;; esac
}
ran_lines() { [ "$(grep -c '' ran 2>/dev/null)" -ge "$1" ]; }
kill_runner() {
	for pid in $(children "$SERVE_PID"); do
		case $(readlink "/proc/$pid/exe") in */agentgraph-runner) kill -9 "$pid" ;; esac
	done
}
twice() { sort ran | uniq -d | grep -c ''; }

# ---- a thousand

serve_graph many
begins "$thousand"
ok 'wait_for 120 ran_lines 500' 'a thousand elements run in the background'
kill_runner
ok 'wait_for 120 over' 'when their process dies the run goes on'
facts <<'TABLE'
to its end, and counts each execution :: .data | [.status, .attempt, .step >= 1001 and .step <= 1009] == ["completed", 2, true]
TABLE
ok '[ "$(twice)" -le 8 ]' 'only elements that had not arrived run again, as many as run at once' || diag "$(twice) ran twice"
is "$(sort -u ran | grep -c '')" 1000 'and all of them have run'
api GET '/v1/threads/t/messages?limit=501'
facts <<'TABLE'
what they said enters once, in order :: .data.messages | texts == ["x"] + [range(500) | "did \(.)"]
TABLE
api GET '/v1/threads/t/messages?offset=501&limit=1000'
facts <<'TABLE'
to the last one :: .data.messages | texts == [range(500; 1000) | "did \(.)"] + ["all 1000"]
TABLE
api GET /v1/threads/t/state
facts <<'TABLE'
so does what they set :: .data.state | [.sum, .list == [range(1000)]] == [1000, true]
TABLE
serve_stop

serve_graph asks
begins "$thousand"
ok 'wait_for 120 over' 'elements may ask'
facts <<'TABLE'
all others arrive before the run pauses :: .data.status == "interrupted"
TABLE
is "$(grep -c '' ran)" 997 'each once'
# a run says how it ended before it gives up its thread
rests() {
	api GET /v1/threads/t/state
	[ "$(json .data.state.execution_meta.is_running "$BODY")" = false ]
}
ok 'wait_for 60 rests' 'and the thread rests'
ids=$(json '.data.state.execution_meta.interrupts // [] | map({(.id): "yes"}) | add | tojson' "$BODY")
facts <<'TABLE'
what they ask is listed :: .data.state.execution_meta.interrupts | map(.value) == [3, 500, 999]
TABLE
invoke_resume() { resume "$1" t '"response_granularity":"full"'; }
invoke_resume "$ids"
facts <<'TABLE'
with all answers the run goes on :: [.data.state.sum, (.data.state.list == [range(1000)]), (last | text)] == [1000, true, "all 1000"]
TABLE
is "$(sort ran | uniq -c | awk '$1 > 1' | grep -c '')|$(grep -c '' ran)" '0|1000' 'and none has run twice'
serve_stop

# ---- subgraphs in a map

for kind in nested shared; do
	serve_graph $kind
	begins '[0,1,2,3,4,5]'
	ok 'wait_for 60 ran_lines 13' "$kind: subgraphs run for elements"
	sleep 0.3
	kill_runner
	ok 'wait_for 90 over' "$kind: when their process dies"
	is "$(sort ran | uniq -c | awk '$1 > 1 { print $2 }' | tr '\n' ' ')" 'dies3 dies4 ' "$kind: they go on behind their last node"
	api GET /v1/threads/t/state
	facts <<-'TABLE'
		and leave what they set in order :: .data.state | [.sum, .list] == [18, [range(6) | (., ., .)]]
	TABLE
	serve_stop
done

# ---- thousands that have said something, and ask

cat >graph.json <<JSON
{"many": {$FIELDS,
   "nodes": {"say": {"kind": "reply", "text": "mine"}, "done": {"kind": "reply", "text": "all"},
    "ask": {"kind": "interrupt", "value": "?", "reply": "{{last_text}} {{answer}}"}},
   "edges": [{"from": "START", "map": "items", "to": "say", "join": "done"}, {"from": "say", "to": "ask"},
    {"from": "ask", "to": "done"}, {"from": "done", "to": "END"}]}}
JSON
printf '{"agent":"graph.json:many","ag_ui":{"enabled":true}}\n' >agentgraph.json
api_start || tap_bail 'the service does not start with ag_ui'
before=$(serve_spent)
invoke x "\"initial_state\":{\"items\":$(jq -nc '[range(1500)]')},$(thread m)"
asked=$(($(serve_spent) - before)) # by which the time of answers is measured
api GET /v1/threads/m/state
answers=$(printf '%s' "$BODY" | jq -c '[.. | objects | select(.reason? == "input_required") | .id] | unique | .[:750] |
	map({key: ., value: "yes"}) | from_entries')
before=$(serve_spent)
api POST /v1/ag-ui "$(printf '%s' "$answers" | jq -c '{threadId: "m", runId: "r2", state: {}, messages: [], tools: [], context: [],
	forwardedProps: {}, resume: [(range(100000) as $i | keys[-1]), "nobody"] | map({interruptId: ., status: "resolved"})}')"
like "$BODY" 'resume does not answer the open interrupt' 'answers that none asked for are refused'
ok '[ $(($(serve_spent) - before)) -lt $((12 * asked + 30)) ]' 'however many there are'
before=$(serve_spent)
api POST /v1/graph/invoke "{\"resume\":$answers,\"config\":{\"thread_id\":\"m\"}}"
is "$STATUS $(json '[.data.messages[] | select(.content[0].text == "mine yes")] | length' "$BODY")" '200 750' \
	'each goes on with what it said itself'
ok '[ $(($(serve_spent) - before)) -lt $((30 * asked + 30)) ]' 'and is not compared with all others'
serve_stop

# ---- more elements than a process should have in memory

printf '{"plain": %s}\n' "$(map '"reply", "text": "i", "update": {"sum": 1}' 1)" >graph.json
printf '{"agent":"graph.json:plain","graph":{"elements":100}}\n' >agentgraph.json
invoke x "\"initial_state\":{\"items\":[$(seq -s , 100)]}"
is "$STATUS $(json '.data.messages | length' "$BODY")" '200 102' 'a map may have as many elements as the configuration says'
invoke x "\"initial_state\":{\"items\":[$(seq -s , 101)]}"
is "$STATUS $(json .detail "$BODY")" \
	"500 Graph execution failed: with 'items' the maps of this run have 101 elements, and graph.elements is 100" 'and no more'
peak() { awk '/^VmHWM/ { print $2 }' "/proc/$(pgrep -P "$SERVE_PID" -f agentgraph-fcgi | head -n 1)/status"; }
large=$(head -c 600000 /dev/zero | tr '\0' x)
invoke x "\"initial_state\":{\"items\":[\"$large\"]}"
before=$(peak)
api POST /v1/graph/stream "$(run_body "[$(user x)]" "\"initial_state\":{\"items\":[\"$large\"$(seq -s '' -f ,%g 99)]}")"
after=$(peak)
is "$(printf '%s\n' "$BODY" | grep -c '"delta":false')" 101 'a stream tells of each'
ok '[ $((after - before)) -lt 30000 ]' 'and needs no memory for the whole array with each' || diag "$before KiB, then $after KiB"

done_testing
