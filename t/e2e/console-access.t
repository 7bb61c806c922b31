#!/bin/sh
# SPDX-License-Identifier: ISC
# The console for people who listen, who have only a keyboard, or who see little: axe-core judges every view.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/e2e/console.sh"

[ -d "$peers/node_modules/axe-core" ] || tap_skip_all 'axe-core is not installed'

# look SCRIPT [ARGUMENT...]
look() {
	console_look "$1" "$1 ${2+with an argument }came to its end" "$BASE/console" ${2+"$2"}
}

console_demo
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
