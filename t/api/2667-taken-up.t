#!/bin/sh
# SPDX-License-Identifier: ISC
# Regions of background runs whose process dies: branches that had ended count, and are reported only once.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
command -v sqlite3 >/dev/null || tap_skip_all 'sqlite3 is not installed'

# Says something that costs 3 tokens; called with "dies" it waits in its first attempt for the end of its process, with
# "waits" as long as there is hold.
cat >says <<'SH'
#!/bin/sh
read -r state
echo "$1" >>ran
case $2:$state in
dies:*'"attempt":1'*) : >here; exec sleep 60 ;;
waits:*) while [ -e hold ]; do : >here; sleep 0.05; done ;;
esac
echo "{\"message\": {\"role\": \"assistant\", \"content\": \"$1\", \"usages\": {\"prompt_tokens\": 1, \"completion_tokens\": 2, \"total_tokens\": 3}}}"
SH
chmod +x says
says() { printf '"%s": {"kind": "exec", "command": ["./says", "%s", "%s"]}' "$1" "$1" "${2-}"; }
cat >graph.json <<JSON
{"inner": {
  "nodes": {$(says one), $(says two dies), $(says three)},
  "edges": [{"from": "START", "to": "one"}, {"from": "one", "to": "two"}, {"from": "two", "to": "three"}, {"from": "three", "to": "END"}]},
 "short": {
  "nodes": {$(says one), $(says two)},
  "edges": [{"from": "START", "to": "one"}, {"from": "one", "to": "two"}, {"from": "two", "to": "END"}]},
 "asking": {
  "nodes": {$(says one), "ask": {"kind": "interrupt", "value": {"question": "why?"}}, $(says two dies)},
  "edges": [{"from": "START", "to": "one"}, {"from": "one", "to": "ask"}, {"from": "ask", "to": "two"}, {"from": "two", "to": "END"}]},
 "patient": {
  "nodes": {$(says one waits)},
  "edges": [{"from": "START", "to": "one"}, {"from": "one", "to": "END"}]},
 "shared": {
  "nodes": {"sub": {"kind": "graph", "graph": "inner"}, $(says done)},
  "edges": [{"from": "START", "to": "sub"}, {"from": "sub", "to": "done"}, {"from": "done", "to": "END"}]},
 "own": {
  "nodes": {"sub": {"kind": "graph", "graph": "inner", "messages": "own"}, $(says done)},
  "edges": [{"from": "START", "to": "sub"}, {"from": "sub", "to": "done"}, {"from": "done", "to": "END"}]},
 "behind": {
  "nodes": {"sub": {"kind": "graph", "graph": "short", "messages": "own"}, $(says after dies)},
  "edges": [{"from": "START", "to": "sub"}, {"from": "sub", "to": "after"}, {"from": "after", "to": "END"}]},
 "asked": {
  "nodes": {"sub": {"kind": "graph", "graph": "asking", "messages": "own"}},
  "edges": [{"from": "START", "to": "sub"}, {"from": "sub", "to": "END"}]},
 "unarrived": {
  "nodes": {$(says one), $(says b dies), $(says c dies), $(says done)},
  "edges": [{"from": "START", "to": "one"}, {"from": "one", "to": ["b", "c"], "join": "done"}, {"from": "b", "to": "done"},
    {"from": "c", "to": "done"}, {"from": "done", "to": "END"}]},
 "branches": {
  "nodes": {$(says a), $(says a2), $(says a3), $(says b dies), $(says done)},
  "edges": [{"from": "START", "to": ["a", "b"], "join": "done"}, {"from": "a", "to": "a2"}, {"from": "a2", "to": "a3"},
    {"from": "a3", "to": "done"}, {"from": "b", "to": "done"}, {"from": "done", "to": "END"}]}}
JSON

over() {
	api GET "/v1/threads/$1/runs/$2"
	case $(json .data.status "$BODY") in completed | error | interrupted) ;; *) return 1 ;; esac
}
here() { test -e here; }
# What stands at this run's state; of branches, that one has arrived.
kept() {
	api GET "/v1/threads/$1/runs/$2"
	[ "$(json .data.step "$BODY")" -ge "$3" ]
}
kill_runner() {
	for pid in $(children "$SERVE_PID") ${PAIR:+$(children "$(cat "$STATE.2.pid")")}; do
		case $(readlink "/proc/$pid/exe") in */agentgraph-runner) kill -9 "$pid" ;; esac
	done
}
no_runner() {
	for pid in $(children "$SERVE_PID") ${PAIR:+$(children "$(cat "$STATE.2.pid")")}; do
		case $(readlink "/proc/$pid/exe") in */agentgraph-runner) return 1 ;; esac
	done
}
# No chunk is there, and none came while it slept.
no_chunks() {
	sleep 0.1
	left=$(outside "$STATE/threads.db" 'SELECT count(*) FROM chunks')
	outside "$STATE/threads.db" 'DELETE FROM chunks'
	[ "$left" = 0 ]
}
# dies GRAPH STEPS [MEMBERS]: a run of that graph whose process dies when a node says so, and so many steps are stored,
# but no chunk yet that tells of them.
dies() {
	rm -f ran here
	printf '{"agent":"graph.json:%s","runs":{"background":1}}\n' "$1" >agentgraph.json
	api_start || tap_bail "the service does not start with $1"
	api POST /v1/graph/runs "$(run_body "[$(user x)]" "$(thread t '"run_id":"r1"')${3:+,$3}")"
	ok 'wait_for 60 here && wait_for 60 kept t r1 '"$2"' && wait_for 30 no_chunks' "$1: a node runs when its process dies"
	kill_runner
	ok 'wait_for 90 over t r1' "$1: the run is taken up again"
}
# told: what the stream of the run has told whole, and when it was taken up.
told() {
	"$AGENTGRAPH" runs follow t r1 --state "$STATE" --config agentgraph.json --granularity full |
		jq -sr "$facts_words"'if map(.metadata.seq) != [range(1; length + 1)] then "numbers \(map(.metadata.seq))" else
			map(if .event == "message" and (.message.delta | not) then .message | text else .data.status? end
				| select(. != null and . != "invoking_node" and . != "node_invoked")) | join(" ") end'
}

# ---- the recursion limit

dies shared 1 '"recursion_limit":4'
is "$(tr '\n' ' ' <ran)" 'one two two three done ' 'no node of a subgraph that had ended runs again'
is "$(told)" 'restarted one two three done done' 'what a node of a subgraph had said is told, before the nodes that follow'
api GET "/v1/threads/t/runs/r1"
facts <<'TABLE'
the limit is that of the whole run :: [.data.status, .data.usage.total_tokens] == ["completed", 12]
TABLE
serve_stop
dies shared 1 '"recursion_limit":3'
facts <<'TABLE'
nodes of a subgraph from before count for it :: .data.error.message == "Graph execution exceeded recursion limit: 3"
TABLE
serve_stop
dies branches 3 '"recursion_limit":4'
is "$(sort ran | tr '\n' ' ')" 'a a2 a3 b b done ' 'no branch that had arrived runs again'
is "$(told)" 'restarted a a2 a3 b done done' 'what one had said that had arrived is told'
api GET "/v1/threads/t/runs/r1"
facts <<'TABLE'
the longest branch counts :: [.data.status, .data.usage.total_tokens] == ["completed", 15]
TABLE
serve_stop
dies branches 3 '"recursion_limit":3'
facts <<'TABLE'
one that had arrived before counts as well :: .data.error.message == "Graph execution exceeded recursion limit: 3"
TABLE
serve_stop
dies unarrived 1
api GET /v1/threads/t/messages
facts <<'TABLE'
where none had arrived all run :: .data.messages | texts == ["x", "one", "b", "c", "done"]
TABLE
serve_stop

# ---- what it has cost

dies own 1
facts <<'TABLE'
what a subgraph with messages of its own has used before counts :: .data.usage == {"prompt_tokens": 4, "completion_tokens": 8, "reasoning_tokens": 0, "total_tokens": 12}
TABLE
serve_stop
dies behind 2
is "$(told)" 'two restarted after done' 'what was stored is told before the run is taken up'
api GET "/v1/threads/t/runs/r1"
facts <<'TABLE'
so does what one that had ended has used :: .data.usage.total_tokens == 9
TABLE
serve_stop

# ---- what its thread says meanwhile

rm -f ran here
api_start
api POST /v1/graph/runs "$(run_body "[$(user x)]" "$(thread t '"run_id":"r1"')")"
wait_for 60 here && wait_for 60 kept t r1 2
kill -STOP "$SERVE_PID" ${PAIR:+"$(cat "$STATE.2.pid")"} # they would see to the next process
kill_runner
wait_for 20 no_runner
api GET /v1/threads/t
is "$(json .data.thread_data.status "$BODY")" running 'the thread of a run whose process died, and that goes on, is running'
api GET '/v1/threads?status=running'
is "$(json '.data.threads | map(.thread_id) | join(" ")' "$BODY")" t 'is listed so'
api GET '/v1/threads?status=error'
is "$(json '.data.threads | length' "$BODY")" 0 'and not as failed'
api GET /v1/threads/t/runs/r1
is "$(json .data.status "$BODY")" running 'as is the run'
kill -CONT "$SERVE_PID" ${PAIR:+"$(cat "$STATE.2.pid")"}
ok 'wait_for 90 over t r1' 'which goes on'
api GET /v1/threads/t
is "$(json .data.thread_data.status "$BODY")" completed 'to its end'
serve_stop

if [ -z "$PAIR" ]; then
	rm -f ran here
	api_start
	api POST /v1/graph/runs "$(run_body "[$(user x)]" "$(thread t '"run_id":"r1"')")"
	wait_for 60 here && wait_for 60 kept t r1 2
	kill -STOP "$SERVE_PID"
	kill_runner
	workers=$(children "$SERVE_PID")
	kill -9 "$SERVE_PID"
	for pid in $workers; do wait_for 60 gone "$pid"; done
	sed -i 's/"background":1/"background":0/' agentgraph.json
	api_start
	api GET /v1/threads/t
	is "$(json .data.thread_data.status "$BODY")" error 'the thread of one that nobody takes up has failed'
	serve_stop
	sed -i 's/"background":0/"background":1/' agentgraph.json
fi

# ---- one that cannot be opened any more

rm -f ran here
api_start
api POST /v1/graph/runs "$(run_body "[$(user x)]" "$(thread t '"run_id":"r1"'),\"recursion_limit\":4")"
wait_for 60 here && wait_for 60 kept t r1 2
bodies=jobs
[ -z "$PG_DIR" ] || bodies=job_bodies # where PostgreSQL has them
outside "$STATE/threads.db" "UPDATE $bodies SET body = replace(body, '\"recursion_limit\":4', '\"recursion_limit\":0')"
kill_runner
wait_for 90 over t r1
is "$(told)" 'two restarted error done' 'what was stored is told before that it cannot go on'
serve_stop

rm -f ran here
printf '{"agent":"graph.json:asked","runs":{"background":1}}\n' >agentgraph.json
api_start
api POST /v1/graph/runs "$(run_body "[$(user x)]" "$(thread t '"run_id":"r1"')")"
wait_for 60 over t r1
facts <<'TABLE'
a subgraph that asks :: [.data.status, .data.usage.total_tokens] == ["interrupted", 3]
TABLE
api POST /v1/graph/runs "{\"resume\":\"so\",$(thread t '"run_id":"r2"')}"
wait_for 60 here && wait_for 60 kept t r2 1
kill_runner
wait_for 90 over t r2
facts <<'TABLE'
is a run of its own when it goes on, and pays for that alone :: [.data.status, .data.usage.total_tokens] == ["completed", 3]
TABLE
is "$(tr '\n' ' ' <ran)" 'one two two ' 'with each node that had ended once'
serve_stop

# ---- a process that cannot begin

# jobs: the processes that have taken up a run.
jobs() {
	for pid in $(children "$SERVE_PID") ${PAIR:+$(children "$(cat "$STATE.2.pid")")}; do
		for child in $(children "$pid"); do
			tr '\0' ' ' <"/proc/$child/cmdline" | grep -q -e '--job' && echo "$child"
		done
	done
}
begun() { [ -n "$(jobs)" ] && here; }
touch hold
rm -f ran here
printf '{"agent":"graph.json:patient","runs":{"background":1}}\n' >agentgraph.json
api_start
api POST /v1/graph/runs "$(run_body "[$(user x)]" "$(thread t '"run_id":"r1"')")"
wait_for 60 here
kill_runner
rm here
ok 'wait_for 90 begun' 'a run is taken up while its program is there'
mv says away
for pid in $(jobs); do kill -9 "$pid"; done
before=$(wc -l <"$SERVE_ERR")
sleep 2.5
failed=$(sed "1,${before}d" "$SERVE_ERR" | grep -c '^agentgraph-runner: ')
ok "[ $failed -le 2 ]" "when it is not, that is not tried without a pause ($failed times)"
mv away says
rm hold
ok 'wait_for 90 over t r1' 'when it is there again the run goes on'
facts <<'TABLE'
and a process that did not begin was no attempt :: [.data.status, .data.attempt] == ["completed", 3]
TABLE
serve_stop

done_testing
