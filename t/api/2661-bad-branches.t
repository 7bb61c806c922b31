#!/bin/sh
# SPDX-License-Identifier: ISC
# Branches that hang, overrun, are killed, leave processes behind, or ask while another one fails; and many clients.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

cat >bad <<'SH'
#!/bin/sh
read -r state
case $1 in
hangs)
	trap '' TERM
	echo $$ >hangs.pid
	sleep 600 &
	echo $! >>hangs.pid
	while :; do sleep 0.1; done ;;
killed) kill -9 $$ ;;
forks)
	sleep 600 &
	echo $! >forks.pid
	echo '{"message": "parent"}' ;;
silent) exec >&- 2>&-; sleep 0.2 ;;
fails)
	while [ -e wait ]; do sleep 0.02; done
	echo '{"error": "it is broken"}' ;;
well) echo '{"message": "well"}'; echo '{"update": {"list": "well"}}'; echo >>well.n ;;
esac
SH
chmod +x bad
bad() { printf '"%s": {"kind": "exec", "command": ["./bad", "%s"]%s}' "${3:-$1}" "$1" "${2-}"; }
FIELDS='"state": {"fields": {"list": {"type": "array", "reducer": "append"}}}'
# beside NODE [MORE-NODES [MORE-EDGES]]: a graph whose branch x is that node, beside one that ends well.
beside() {
	printf '{%s, "nodes": {%s, %s, "done": {"kind": "reply", "text": "done {{list}}"}%s},
	"edges": [{"from": "START", "to": ["x", "well"], "join": "done"}, {"from": "x", "to": "done"}, {"from": "well", "to": "done"},
	{"from": "done", "to": "END"}%s]}' "$FIELDS" "$1" "$(bad well)" "${2-}" "${3-}"
}
asks='"ask": {"kind": "interrupt", "value": {"question": "why?"}, "reply": "because {{answer}}"}'
sixteen=$(seq 0 15 | jq -cn '[inputs | "n\(.)"] as $n | {nodes: ($n | map({key: ., value: {kind: "reply", text: ., update: {list: .}}}) | from_entries),
	edges: [{from: "START", to: $n, join: "END"}, ($n[] | {from: ., to: "END"})],
	state: {fields: {list: {type: "array", reducer: "append"}}}}')
cat >graph.json <<JSON
{"hangs": $(beside "$(bad hangs ', "timeout": 0.5' x)"),
 "sorry": $(beside "$(bad hangs ', "timeout": 0.5, "on_error": "sorry"' x)" ', "sorry": {"kind": "reply", "text": "sorry: {{error}}"}' ', {"from": "sorry", "to": "done"}'),
 "killed": $(beside "$(bad killed '' x)"),
 "forks": $(beside "$(bad forks '' x)"),
 "silent": $(beside "$(bad silent '' x)"),
 "asks": {$FIELDS, "nodes": {$asks, $(bad fails), $(bad well)},
   "edges": [{"from": "START", "to": ["ask", "fails", "well"], "join": "END"}, {"from": "ask", "to": "END"}, {"from": "fails", "to": "END"}, {"from": "well", "to": "END"}]},
 "asks-late": {$FIELDS, "nodes": {$asks, $(bad hangs ', "timeout": 0.5, "on_error": "well"'), $(bad well)},
   "edges": [{"from": "START", "to": ["ask", "hangs"], "join": "END"}, {"from": "ask", "to": "END"}, {"from": "hangs", "to": "END"}, {"from": "well", "to": "END"}]},
 "sixteen": $sixteen}
JSON
serve_graph() {
	rm -f ./*.pid ./*.n
	printf '{"agent":"graph.json:%s","graph":{"parallel":8}}\n' "$1" >agentgraph.json
	api_start || tap_bail "the service does not start with $1"
}
# none_of FILE: whether none of the processes named there is left.
none_of() {
	while read -r pid; do
		case $(sed 's/.*) //; s/ .*//' "/proc/$pid/stat" 2>/dev/null) in '' | Z) ;; *) return 1 ;; esac
	done <"$1"
}

# ---- one branch

serve_graph hangs
invoke x "$(thread t)"
facts <<'TABLE'
a branch that hangs fails when its time is over :: [.detail, .error.details[0].loc] == ["Graph execution failed: node x timed out after 0.5 s", ["node", "x"]]
TABLE
ok 'wait_for 30 none_of hangs.pid' 'with all its processes'
api GET /v1/threads/t/state
facts <<'TABLE'
what the other has said and set is kept :: .data.state | [(.context | texts), .list, .execution_meta.status] == [["x", "well"], ["well"], "error"]
TABLE
serve_stop
serve_graph sorry
invoke x
facts <<'TABLE'
another node may follow in its place :: said == ["x", "sorry: node x timed out after 0.5 s", "well", "done [\"well\"]"]
TABLE
serve_stop
serve_graph killed
invoke x
is "$STATUS" 500 'one that is killed fails'
like "$(json .detail "$BODY")" 'Graph execution failed: .*(signal 9|[Kk]illed)' 'and says of what'
serve_stop
serve_graph forks
invoke x
facts <<'TABLE'
one whose program leaves a process behind ends with the program :: said == ["x", "parent", "well", "done [\"well\"]"]
TABLE
ok 'wait_for 30 none_of forks.pid' 'and that process goes'
serve_stop
serve_graph silent
invoke x
facts <<'TABLE'
one that says nothing ends as well :: said == ["x", "well", "done [\"well\"]"]
TABLE
serve_stop

# ---- one that asks

serve_graph asks
invoke x "$(thread t)"
facts <<'TABLE'
where one asks while another fails, the run has failed :: [.detail, .error.details[0].loc] == ["Graph execution failed: it is broken", ["node", "fails"]]
TABLE
api GET /v1/threads/t/state
facts <<'TABLE'
and does not wait :: .data.state.execution_meta | [.status, .is_interrupted, .interrupt_data] == ["error", false, null]
TABLE
resume '"so"' t
is "$STATUS" 422 'nor can it be answered'
serve_stop
serve_graph asks-late
invoke x "$(thread t)"
facts <<'TABLE'
where another overruns and is followed, it waits :: [.data.meta.interrupt.value.question, said] == ["why?", ["x", "well"]]
TABLE
resume '"so"' t
facts <<'TABLE'
and goes on with the answer :: said == ["because so"]
TABLE
is "$(grep -c '' well.n)" 1 'and nothing else'
serve_stop

# ---- many clients

serve_graph sixteen
wanted=$(seq 0 15 | jq -cn '[inputs | "n\(.)"]')
clients=$(seq 1 64)
for i in $clients; do
	in_background "client$i" invoke "hi $i" "\"response_granularity\":\"full\""
done
good=0
for i in $clients; do
	collect "client$i"
	if printf '%s' "$BODY" | jq -e --argjson wanted "$wanted" --arg text "hi $i" "$facts_words"'
		[said, .data.state.list] == [[$text] + $wanted, $wanted]' >/dev/null 2>&1; then
		good=$((good + 1))
	fi
done
is $good 64 'of 64 clients at once each has its sixteen branches, in order, eight of them at once'
serve_stop

done_testing
