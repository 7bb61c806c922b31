#!/bin/bash
# SPDX-License-Identifier: ISC
# Many runs of an agent with a model, a program and an MCP server: the numbers of descriptors and children, and the
# memory, stay the same, except for the connections to databases that eight threads come to need.  SOAK_RUNS=10000 makes
# a long test.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1"
command -v python3 >/dev/null || tap_skip_all 'python3 is not installed'
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'
unset http_proxy https_proxy all_proxy

: "${SOAK_RUNS:=600}"
WARM=300

python3 "$TOP_SRCDIR/t/e2e/bad_provider.py" >port 2>provider.log &
tap_pids="$! $tap_pids"
wait_for 20 test -s port
export OPENAI_BASE_URL=http://127.0.0.1:$(cat port)/v1

cat >mcp.py <<'END'
import json, sys
tool = {"name": "echo", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    method = m.get("method")
    if method == "initialize":
        r = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}},
             "serverInfo": {"name": "soak", "version": "1"}}
    elif method == "tools/list":
        r = {"tools": [tool]}
    elif method == "tools/call":
        r = {"content": [{"type": "text", "text": "echoed"}]}
    else:
        r = {}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
END
cat >graph.json <<'END'
{"g": {"nodes": {
  "agent": {"kind": "model", "model": "m", "tools": "tools"},
  "tools": {"kind": "tools", "tools": [
   {"kind": "exec", "name": "upper", "description": "Upper", "command": ["tr", "a-z", "A-Z"]},
   {"kind": "mcp", "name": "soak", "mcp": {"command": ["python3", "mcp.py"]}}]}},
 "edges": [{"from": "START", "to": "agent"},
  {"from": "agent", "if": [{"when": {"tool_calls": true}, "to": "tools"}], "else": "END"}, {"from": "tools", "to": "agent"}]}}
END
printf '{"agent":"graph.json:g"}\n' >agentgraph.json
serve_start --processes 1 --threads 8 || tap_bail 'the service does not start'
WORKER=$(for worker in $(children "$SERVE_PID"); do
	case $(readlink "/proc/$worker/exe") in */agentgraph-fcgi) echo "$worker" ;; esac
done)

# runs N: that many, a thread each, eight at once; keeps the last answers.
runs() {
	seq "$1" | sed "s|.*|url = \"$BASE/v1/graph/invoke\"\noutput = \"answer.#\"\ndata-binary = @body\nheader = \"Content-Type: application/json\"\nnext|" |
		sed '$d' | awk '/^output/ { sub(/#/, n++) } { print }' >requests
	curl -s -Z --parallel-immediate --parallel-max 8 -K requests 2>/dev/null
}
printf '{"messages":[{"role":"user","content":"work"}]}' >body

# A sanitizer pads what is allocated, and keeps what was freed for a while.
room=2048
case ${CFLAGS-} in *-fsanitize=*) room=65536 ;; esac

descriptors() { ls "/proc/$WORKER/fd" | wc -l; }
memory() { sed -n 's/^Pss_Anon: *\([0-9]*\).*/\1/p' "/proc/$WORKER/smaps_rollup"; }
helpers() { cat /proc/"$WORKER"/task/*/children | wc -w; }
settled() { [ "$(helpers)" = 1 ] && [ "$(descriptors)" -le "${1:-100000}" ]; }

runs $WARM
wait_for 20 settled
before=$(descriptors)
# What leaks grows each time; what a thread takes when it works the first time beside seven others, which on a busy machine
# may come late, does not.
for try in 1 2 3; do
	left=$SOAK_RUNS first=$(memory)
	while [ "$left" -gt 0 ]; do
		rm -f answer.*
		runs $((left < 1000 ? left : 1000))
		left=$((left - 1000))
	done
	[ "$(memory)" -gt $((first + room)) ] || break
done
is "$(grep -lF '"text":"{\"TEXT\":\"X\"} echoed"' answer.* | wc -l)" "$(ls answer.* | wc -l)" 'every run has done its work'
ok 'wait_for 20 settled $((before + 24))' "descriptors and children are as before ($before, now $(descriptors); $(helpers) child)"
ok "[ $(memory) -le $((first + room)) ]" "and so is memory: $first KiB, $(memory) KiB after $SOAK_RUNS runs more"
is "$(children "$SERVE_PID" | tr ' ' '\n' | grep -cx "$WORKER")" 1 'the worker is the one that began'

done_testing
