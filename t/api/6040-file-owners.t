#!/bin/sh
# SPDX-License-Identifier: ISC
# Files belong to their owners: nobody else learns that they exist.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/files.sh"
. "$TOP_SRCDIR/t/api/auth.sh"

command -v sqlite3 >/dev/null || tap_skip_all 'sqlite3 is not installed'
outsider() { outside "$state/files.db" "$1"; }
bearer() { printf 'Authorization: Bearer %s' "$(token "$1" "${2-}")"; }

# reads USER ID EXPECTED NAME: all three ways of reading.
reads() {
	for what in '' /info /url; do
		as "$1" GET "/v1/files/$2$what"
		is "$(said)" "$3" "$4${what:+, its ${what#/}}"
	done
}
unseen='404 RESOURCE_NOT_FOUND File not found'

for authorization in ownership allow_all '{"backend":"rbac","roles":{"r":["*"]},"default_scopes":["files:read","files:upload"],"isolation":"none"}'; do
	case $authorization in '{'*) given=$authorization ;; *) given="\"$authorization\"" ;; esac
	configure "\"auth\":\"jwt\",\"authorization\":$given"
	state=$(mktemp -d "$WORK/kept.XXXXXX")
	STATE=$state
	api_start
	upload mine.png image/png hers "$(bearer alice)"
	is "$(said)" 200 "$authorization: alice stores a file"
	hers=$FILE
	is "$(outsider "SELECT owner FROM files WHERE file_id = '$hers'")" alice 'which is recorded as hers'
	reads alice "$hers" 200 'she reads it'
	reads bob "$hers" "$unseen" 'bob does not'
	upload nobody.txt text/plain x "$(bearer alice)"
	outsider "UPDATE files SET owner = NULL WHERE file_id = '$FILE'"
	reads bob "$FILE" 200 'one of nobody in particular is for all'
	outsider "UPDATE files SET owner = 'anonymous' WHERE file_id = '$FILE'"
	reads bob "$FILE" "$unseen" 'one of an anonymous user is for no verified one'
	serve_stop
done

configure '"auth":"jwt","authorization":"ownership"'
STATE=$state
export MEDIA_REQUIRE_OWNER=true
api_start
outsider "UPDATE files SET owner = NULL WHERE file_id = '$FILE'"
reads bob "$FILE" "$unseen" 'where owners are required, one of nobody in particular is for nobody'
reads alice "$hers" 200 'and others are as before'

upload x.txt text/plain x
is "$(said)" '403 REVOKED_TOKEN Invalid token, please login again' 'nobody stores without a token'
upload x.txt text/plain x "$(bearer alice ',"scopes":["files:read"]')"
is "$(said)" '403 PERMISSION_ERROR Missing required scope: files:upload' 'or without the scope'
with "$(token alice ',"scopes":["files:upload"]')" GET "/v1/files/$hers"
is "$(said)" '403 PERMISSION_ERROR Missing required scope: files:read' 'reading takes another one'
before=$(stored)
printf nothing | part '; name=none' | form >form
send form
is "$(said)" '403 REVOKED_TOKEN Invalid token, please login again' 'who it is comes before what the body holds'
BODY_LENGTH=99999999 send form
is "$(said)" '413 FILE_TOO_LARGE File exceeds maximum 25.0MB' 'an announced size comes before both'
is "$(stored)" "$before" 'and nothing is stored'
api GET /v1/config/multimodal
is "$(said) $(header WWW-Authenticate)" '401 REVOKED_TOKEN Invalid token, please login again Bearer' 'the configuration says 401'

# ---- in messages ----

unset MEDIA_REQUIRE_OWNER
file_run() { printf '{"messages":[{"role":"user","content":[{"type":"image","file_id":"%s"},{"type":"text","text":"/files"}]}],"config":{"thread_id":"%s"}}' "$1" "$2"; }
as alice POST /v1/graph/invoke "$(file_run "$hers" t1)"
is "$(said) $(reply)" '200 image image/png 4' 'alice shows her file to the graph'
as bob POST /v1/graph/invoke "$(file_run "$hers" t2)"
is "$(said)" "422 INVALID_INPUT File not found: $hers" 'bob does not'
as bob GET /v1/threads/t2
is "$STATUS" 404 'and gets no thread for it'
as bob POST /v1/threads/t3/messages "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"file_id\":\"$hers\"}]}]}"
is "$(said)" "422 INVALID_INPUT File not found: $hers" 'nor by adding a message'
as bob PUT /v1/threads/t3/state "{\"state\":{\"context\":[{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"file_id\":\"$hers\"}]}]}}"
is "$(said)" "422 INVALID_INPUT File not found: $hers" 'nor in a state'
as alice DELETE /v1/threads/t1 '{}'
as alice GET "/v1/files/$hers"
is "$STATUS" 200 'deleting a thread keeps its files'
serve_stop

# ---- without authentication ----

configure
STATE=$state
nobodys=$(outsider "SELECT file_id FROM files WHERE owner IS NULL")
export MEDIA_REQUIRE_OWNER=yes
api_start
reads_all() {
	for what in '' /info /url; do
		api GET "/v1/files/$1$what"
		is "$(said)" "$2" "$3${what:+, its ${what#/}}"
	done
}
reads_all "$hers" 200 'without authentication, files of all owners are read'
reads_all "$nobodys" "$unseen" 'but those without an owner only where none is required'
upload x.txt text/plain x
is "$(outsider "SELECT owner FROM files WHERE file_id = '$FILE'")" anonymous 'and what is stored is anonymous'
done_testing
