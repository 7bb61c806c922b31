#!/bin/sh
# SPDX-License-Identifier: ISC
# How large the console is, and what it costs the browser: the first view, long threads, fast streams.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/e2e/console.sh"

command -v python3 >/dev/null || tap_skip_all 'python3 is not installed'

look() {
	console_look console_speed "$1 came to its end" "$BASE/console" "$1"
}

cat >pieces <<'END'
#!/usr/bin/env python3
import json, sys, time

json.load(sys.stdin)
begin = time.time()
for i in range(100000):
    print(json.dumps({"delta": f"word{i} "}), flush=True)
    time.sleep(max(0, begin + (i + 1) / 500 - time.time()))
END
chmod +x pieces
echo '{"fast": {"nodes": {"go": {"kind": "exec", "command": "./pieces"}}, "edges": [{"from": "START", "to": "go"}, {"from": "go", "to": "END"}]}}' >graph.json

serve_start --processes 1 || tap_bail 'the service does not start'
http GET /console
build=$(printf '%s' "$BODY" | sed -n 's/.*src="\([^"]*\)app\.js".*/\1/p')
size=0
for file in $(cd "$TOP_SRCDIR/web/console" && ls) marked.js diff.js; do
	curl -sS -H 'Accept-Encoding: gzip' -o part "$BASE/$build$file"
	size=$((size + $(wc -c <part)))
done
ok "[ $size -gt 20000 ] && [ $size -le 122880 ]" "all of it is $size bytes on the wire, at most 120 KiB"
look long
serve_stop

echo '{"agent": "graph.json:fast"}' >agentgraph.json
serve_start --processes 1 || tap_bail 'no start with a quick agent'
look stream
serve_stop

done_testing
