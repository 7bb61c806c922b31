#!/bin/sh
# SPDX-License-Identifier: ISC
# The console under attack: whatever agents, users, tools, files and reports say stays text.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/e2e/console.sh"

command -v jq >/dev/null || tap_skip_all 'jq is not installed'

evil='<img src=x onerror=alert(1)><script>alert(1)</script>'
cat >agentgraph.json <<END
{"agent": "builtin:demo", "store": "builtin:store", "remote_tools":
 [{"node": "tools", "name": "pick", "description": "$evil", "parameters": {"type": "object", "title": "$evil", "properties": {}}}]}
END
mkdir eval_reports
for report in support_20260901_090000.json support_20260902_103000.json; do
	jq --arg evil "$evil" 'walk(if type == "string" then . + $evil else . end) | .eval_set_id = "support"' \
		"$TOP_SRCDIR/t/api/$report" >"eval_reports/$report"
done
APP_NAME="$evil" serve_start --processes 1 || tap_bail 'the service does not start'
console_look console_attacks 'the console was attacked to the end' "$BASE/console"
serve_stop

done_testing
