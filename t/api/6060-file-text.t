#!/bin/sh
# SPDX-License-Identifier: ISC
# The text of documents comes from a child process, which may do whatever it likes.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/files.sh"

# Programs with an extractor of the test's own beside them.
mkdir bin
for program in agentgraph agentgraph-fcgi agentgraph-follow agentgraph-relay agentgraph-runner agentgraph-ws \
	agentgraph-postgresql.so; do
	[ ! -e "$(dirname "$AGENTGRAPH")/$program" ] || cp "$(dirname "$AGENTGRAPH")/$program" bin/
done
AGENTGRAPH=$WORK/bin/agentgraph
AGENTGRAPH_FCGI=$WORK/bin/agentgraph-fcgi
extractor() {
	{ echo '#!/bin/sh' && cat; } >bin/new
	chmod +x bin/new
	mv bin/new bin/agentgraph-extract
}

extractor <<'SCRIPT'
printf '%s: ' "$1"
tr a-z A-Z
SCRIPT
api_start
upload a.txt 'Text/Plain; charset=utf-8' "$(printf 'two\nlines')"
is "$(data .extracted_text)" 'text/plain: TWO
LINES' 'the program gets the file and its type, and its output is the text'
first=$FILE
api GET "/v1/files/$first/info"
is "$(data .extracted_text)" 'text/plain: TWO
LINES' 'which is kept'
api GET "/v1/files/$first"
is "$BODY" 'two
lines' 'beside the file'
said_of() {
	api POST /v1/graph/invoke "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"document\",\"file_id\":\"$1\"},{\"type\":\"text\",\"text\":\"/files\"}]}]}"
	json '.data.messages[-1].content[0].text' "$BODY"
}
is "$(said_of "$first")" 'document Text/Plain; charset=utf-8 9: text/plain: TWO
LINES' 'and handed to the graph'
for type in application/pdf application/vnd.openxmlformats-officedocument.wordprocessingml.document application/msword text/html \
	text/xml application/xml text/markdown text/csv application/json application/rtf application/vnd.oasis.opendocument.text \
	application/vnd.openxmlformats-officedocument.presentationml.presentation \
	application/vnd.openxmlformats-officedocument.spreadsheetml.sheet; do
	upload a "$type" x
	is "$(data .extracted_text)" "$type: X" "$type has text"
done
for type in image/png application/octet-stream text/plainer text/javascript; do
	upload a "$type" x
	is "$STATUS $(data .extracted_text)" '200 null' "$type has none"
done

# Texts are kept by the bytes they came from, so each of these files is another one.
fresh() { number=$((${number-0} + 1)) && upload a text/plain "$number"; }

# fails NAME <SCRIPT: a file is stored without its text.
fails() {
	extractor
	fresh
	is "$STATUS $(data '.extracted_text | tojson')" '200 null' "$1: there is no text, but the file"
}
fails 'a program that fails' <<'SCRIPT'
echo some text
echo why >&2
exit 1
SCRIPT
like "$(cat "$SERVE_ERR")" 'no text was extracted from a file of type text/plain' 'and the log says so'
fails 'a program that crashes' <<'SCRIPT'
kill -SEGV $$
SCRIPT
is "$(said_of "$FILE")" 'document text/plain 1' 'the graph sees it as it is'
rm bin/agentgraph-extract
fresh
is "$STATUS $(data '.extracted_text | tojson')" '200 null' 'no program at all'

extractor <<'SCRIPT'
:
SCRIPT
fresh
is "$(data '.extracted_text | tojson')" '""' 'an empty text is a text'
is "$(said_of "$FILE")" 'document text/plain 1: ' 'for the graph, too'
extractor <<'SCRIPT'
printf 'a\000b\377c\303\251'
SCRIPT
fresh
is "$(data '.extracted_text | tojson')" '"a b?cé"' 'what is no text is replaced'
extractor <<'SCRIPT'
head -c 5000000 /dev/zero | sed 's/\x00/é/g'
sleep 100
SCRIPT
fresh
is "$(data '.extracted_text | length')" 1000000 'a long text is cut at a character, and not waited for'
is "$(said_of "$FILE" | tail -c 161)" "$(printf 'é%.0s' $(seq 80))" 'the demo shows 80 characters'

# ---- the same bytes again ----

extractor <<'SCRIPT'
echo once >>"$0.count"
cat
SCRIPT
rm -f bin/agentgraph-extract.count
upload one.txt text/plain 'the same'
first=$FILE
upload two.txt text/plain 'the same'
is "$(data .extracted_text)" 'the same' 'the same bytes have the same text'
unlike "$FILE" "^$first\$" 'in a file of their own'
is "$(wc -l <bin/agentgraph-extract.count)" 1 'and are read once'
upload three.csv text/csv 'the same'
is "$(wc -l <bin/agentgraph-extract.count)" 2 'but not as another type'
extractor <<'SCRIPT'
echo once >>"$0.count"
exit 1
SCRIPT
rm -f bin/agentgraph-extract.count
upload a text/plain bad
upload a text/plain bad
is "$(wc -l <bin/agentgraph-extract.count)" 2 'what failed is tried again'
extractor <<'SCRIPT'
echo "$(env | grep -v -e '^PWD=' -e '^SHLVL=' -e '^_=' | wc -l)"
SCRIPT
fresh
is "$(data .extracted_text)" 0 'the program sees nothing of the environment'

# ---- many at once ----

# Of four threads two extract.  A third waits a moment for them, and the fourth does not: pages are still served.
serve_stop
api_start --processes 1 --threads 4
mkfifo bin/go
extractor <<'SCRIPT'
echo began >>"$0.count"
read -r _ <"${0%/*}/go"
echo late
SCRIPT
rm -f bin/agentgraph-extract.count
uploads=
for n in 1 2; do
	(
		trap - EXIT
		WORK=$WORK/at-once-$n
		mkdir "$WORK"
		upload a text/plain "at once $n"
		data '.extracted_text | tojson' >"$WORK/text"
	) &
	uploads="$uploads $!"
done
both_began() { [ "$(wc -l <bin/agentgraph-extract.count)" = 2 ]; }
wait_for 30 both_began
fresh
is "$STATUS $(data '.extracted_text | tojson')" '200 null' 'who comes while half the threads extract has the file without its text'
is "$(wc -l <bin/agentgraph-extract.count)" 2 'and starts no third one'
like "$(cat "$SERVE_ERR")" 'no text was extracted from a file: too many others are read' 'the log says why'
api GET /ping
is "$STATUS" 200 'others are served meanwhile'
# a line for each, which stays there until it is read
exec 5<>bin/go
printf '\n\n' >&5
for pid in $uploads; do wait "$pid"; done
exec 5>&-
is "$(cat at-once-1/text at-once-2/text | tr '\n' ' ')" '"late\n" "late\n" ' 'those that came first have theirs'
extractor <<'SCRIPT'
echo text
SCRIPT
fresh
is "$(data .extracted_text)" text 'and so has the next'
serve_stop

for handling in skip pass_raw whatever Extract_Text; do
	export DOCUMENT_HANDLING=$handling
	api_start
	fresh
	is "$STATUS $(data '.extracted_text | tojson')" '200 null' "DOCUMENT_HANDLING=$handling"
	serve_stop
done
done_testing
