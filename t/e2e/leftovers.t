#!/bin/sh
# SPDX-License-Identifier: ISC
# When a process is killed, so is what it had started: executables of nodes, MCP servers, and what these have started.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/e2e/load.sh"

# Both leave a program of their own in another process, which nobody waits for.
cat >node.sh <<'END_OF_NODE'
#!/bin/sh
read -r state
sleep 1000 &
echo "$$ $!" >>pids
wait
END_OF_NODE
cat >mcp.sh <<'END_OF_MCP'
#!/bin/sh
sleep 1000 &
echo "$$ $!" >>pids
exec sh "$TOOL_SERVER"
END_OF_MCP
chmod +x node.sh mcp.sh
cat >graph.json <<END_OF_GRAPH
{"g": {"nodes": {
	"wait": {"kind": "exec", "command": "./node.sh", "input": "last", "timeout": 100},
	"tools": {"kind": "tools", "tools": [{"mcp": {"command": ["./mcp.sh"], "env": {"TOOL_SERVER": "$TOP_SRCDIR/t/api/mcp-server.sh"}}}]}},
	"edges": [{"from": "START", "to": "wait"}, {"from": "wait", "if": [{"when": {"tool_calls": true}, "to": "tools"}], "else": "END"},
		{"from": "tools", "to": "END"}]}}
END_OF_GRAPH
echo '{"agent": "graph.json:g"}' >agent.json

programs() { tr ' ' '\n' <pids; }
some_alive() { for pid in $(programs); do alive "$pid" && return 0; done; return 1; }
all_dead() { ! some_alive; }
left() { for pid in $(programs); do ! alive "$pid" || tr '\0' ' ' <"/proc/$pid/cmdline"; done; }

# begin THREAD...: runs that wait, each with its programs, and an MCP server in some worker.
begin() {
	: >pids
	for thread; do
		curl -s -o /dev/null --max-time 60 -H 'Content-Type: application/json' \
			-d "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],\"config\":{\"thread_id\":\"$thread\"}}" \
			"$BASE/v1/graph/invoke" &
		tap_pids="$! $tap_pids"
	done
	curl -s -o /dev/null "$BASE/v1/graph/tools"
	wait_for 20 begun $(($# + 1))
}
begun() { [ "$(wc -l <pids)" -ge "$1" ]; }

serve_start --config agent.json --drain 2 || tap_bail 'the rest needs a service'
for round in 1 2 3; do
	begin a$round b$round c$round d$round
	some_alive
	ok $? "round $round: programs run"
	for pid in $(workers); do
		kill -9 "$pid"
	done
	wait_for 30 all_dead
	is "$(left)" '' 'when their workers are killed they go'
	wait_for 30 pings
done

begin e f g h
serve_stop
is $? 0 'the service stops while programs run'
wait_for 30 all_dead
is "$(left)" '' 'and they with it'

serve_start --config agent.json --drain 2 || tap_bail 'the service does not start again'
begin i j k l
kill -9 "$SERVE_PID"
wait "$SERVE_PID" 2>/dev/null
wait_for 30 all_dead
is "$(left)" '' 'when the supervisor is killed they go, too'
for pid in $(programs); do kill -9 "$pid" 2>/dev/null; done
done_testing
