#!/bin/sh
# SPDX-License-Identifier: ISC
# Downloads by the service itself: headers, conditions, ranges, HEAD.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/files.sh"
json_fast=jq # some facts are about the order of members

api_start
upload digits.txt text/plain 0123456789
url=/v1/files/$FILE
sha=84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882

# headers NAME...: their values, a line each.
headers() {
	for name; do
		printf '%s: %s\n' "$name" "$(header "$name")"
	done
}

api GET "$url"
is "$STATUS $BODY" '200 0123456789' 'the bytes'
is "$(headers Content-Type Content-Length Content-Disposition ETag Accept-Ranges Cache-Control Content-Range)" \
	"Content-Type: text/plain
Content-Length: 10
Content-Disposition: inline
ETag: \"$sha\"
Accept-Ranges: bytes
Cache-Control: private, no-cache
Content-Range: " 'and their headers'
modified=$(header Last-Modified)
like "$modified" '^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} 20[0-9]{2} [0-9:]{8} GMT$' 'Last-Modified is a date'
like "$(header X-Request-ID)" '^[0-9a-f-]{36}$' 'the usual headers are there'
is "$(header X-Content-Type-Options) $(header X-Frame-Options)" 'nosniff DENY' 'those for security, too'
is "$(printf '%s\n' "$HEADERS" | cut -d: -f1 | sort | uniq -d)" '' 'none comes twice'
api HEAD "$url"
is "$STATUS $(header Content-Length) [$BODY]" '200 10 []' 'HEAD has the headers alone'
api GET "$url?download=1"
is "$BODY" 0123456789 'a query changes nothing'

# ---- conditions ----

# asked EXPECTED NAME HEADER...: status and body.
asked() {
	asked_want=$1 asked_name=$2
	shift 2
	api GET "$url" '' "$@"
	is "$STATUS $(printf '%.20s' "$BODY")" "$asked_want" "$asked_name"
}
asked '304 ' 'the tag is known' "If-None-Match: \"$sha\""
is "$(headers ETag Last-Modified Cache-Control Content-Length Content-Type)" \
	"ETag: \"$sha\"
Last-Modified: $modified
Cache-Control: private, no-cache
Content-Length: 
Content-Type: " 'which is told without the bytes'
asked '304 ' 'the tag is among others' "If-None-Match: \"x\", W/\"$sha\""
asked '304 ' 'any tag' 'If-None-Match: *'
asked '200 0123456789' 'another tag' 'If-None-Match: "x"'
asked '304 ' 'not modified since' "If-Modified-Since: $modified"
asked '200 0123456789' 'modified since' 'If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT'
asked '200 0123456789' 'a date that is none' 'If-Modified-Since: yesterday'
asked '200 0123456789' 'the tag comes before the date' "If-Modified-Since: $modified" 'If-None-Match: "x"'

# ---- ranges ----

asked '206 234' 'a range' 'Range: bytes=2-4'
is "$(headers Content-Range Content-Length ETag Accept-Ranges Content-Type)" \
	"Content-Range: bytes 2-4/10
Content-Length: 3
ETag: \"$sha\"
Accept-Ranges: bytes
Content-Type: text/plain" 'says which'
asked '206 789' 'from an offset' 'Range: bytes=7-'
asked '206 89' 'the last bytes' 'Range: bytes=-2'
asked '206 0123456789' 'more of the last than there are' 'Range: bytes=-20'
asked '206 9' 'an end behind the last' 'Range: bytes=9-100'
asked '200 0123456789' 'several ranges give all of it' 'Range: bytes=0-1,4-5'
asked '200 0123456789' 'nonsense is no range' 'Range: bytes=5-2'
asked '200 0123456789' 'nor is another unit' 'Range: lines=1-2'
for range in 10- 10-20 -0 99999999999999999999-; do
	api GET "$url" '' "Range: bytes=$range"
	is "$(said)" '416 RANGE_NOT_SATISFIABLE Requested range not satisfiable' "the range $range is outside"
	is "$(headers Content-Range Content-Type)" "Content-Range: bytes */10
Content-Type: application/json" 'and the size is told'
done
asked '206 234' 'if the tag is the same' 'Range: bytes=2-4' "If-Range: \"$sha\""
asked '200 0123456789' 'if it is another' 'Range: bytes=2-4' 'If-Range: "x"'
asked '200 0123456789' 'if it is weak' 'Range: bytes=2-4' "If-Range: W/\"$sha\""
asked '206 234' 'if the date is the same' 'Range: bytes=2-4' "If-Range: $modified"
asked '200 0123456789' 'if it is another date' 'Range: bytes=2-4' 'If-Range: Sun, 06 Nov 1994 08:49:37 GMT'
asked '200 0123456789' 'a range outside of another file' 'Range: bytes=20-' 'If-Range: "x"'
asked '304 ' 'a condition comes before a range' 'Range: bytes=2-4' "If-None-Match: \"$sha\""
api HEAD "$url" '' 'Range: bytes=2-4'
is "$STATUS $(header Content-Length) [$BODY]" '206 3 []' 'HEAD of a range'

# ---- a web server that sends the bytes ----

api GET "$url" '' 'X-Accel-Redirect: /x' 'X-Sendfile: /etc/passwd' 'Agentgraph-Files: /x/' 'AGENTGRAPH_FILES: /x/'
is "$STATUS $(header X-Accel-Redirect) $BODY" '200  0123456789' 'no client can ask for that'
# asked by its parameters: accel HEADER...
accel() {
	env -i PATH="$PATH" REQUEST_METHOD=GET REQUEST_URI="$url" SERVER_PROTOCOL=HTTP/1.1 HTTP_HOST=localhost \
		AGENTGRAPH_FILES=/_agentgraph/files/ "$@" cgi-fcgi -bind -connect "$SOCKET" </dev/null >"$RAW"
	take_answer
}
key=$(printf %.2s "$FILE")/$FILE
accel
is "$STATUS $(header X-Accel-Redirect) [$BODY]" "200 /_agentgraph/files/local/$key []" 'it is told where they lie'
is "$(headers Content-Type Content-Disposition ETag)" "Content-Type: text/plain
Content-Disposition: inline
ETag: \"$sha\"" 'and what they are'
accel HTTP_RANGE=bytes=2-4
is "$STATUS $(header X-Accel-Redirect)" "200 /_agentgraph/files/local/$key" 'it sees to a range by itself'
accel HTTP_RANGE=bytes=2-4 "HTTP_IF_RANGE=\"$sha\""
is "$(header X-Accel-Redirect)" "/_agentgraph/files/local/$key" 'if the tag is the same, too'
accel HTTP_RANGE=bytes=2-9999999999999999999
is "$STATUS $(header X-Accel-Redirect)[$BODY]" '206 [23456789]' 'one with numbers that it may not hold is seen to here'
accel HTTP_RANGE=bytes=20-
is "$(said)" '416 RANGE_NOT_SATISFIABLE Requested range not satisfiable' 'an outside one is refused here'
accel "HTTP_IF_NONE_MATCH=\"$sha\""
is "$STATUS$(header X-Accel-Redirect)" 304 'a known tag is, too'
for other in HTTP_RANGE=bytes=0-1,4-5 HTTP_RANGE=nonsense 'HTTP_IF_NONE_MATCH="x"' 'HTTP_IF_MATCH="x"' \
	'HTTP_IF_MODIFIED_SINCE=Sun, 06 Nov 1994 08:49:37 GMT' 'HTTP_IF_UNMODIFIED_SINCE=Sun, 06 Nov 1994 08:49:37 GMT'; do
	accel "$other"
	is "$STATUS $(header X-Accel-Redirect) $BODY" '200  0123456789' "with $other the service sends them itself"
done

# ---- ids ----

for id in 0123456789abcdef0123456789abcdef x .. %2e%2e%2fetc%2fpasswd "$(printf %s "$FILE" | tr a-f A-F)A" "${FILE}0" \
	'..%2F..%2Fuploads' "$(printf %.2s "$FILE")%2F$FILE"; do
	for what in '' /info /url; do
		[ "$id$what" != .. ] || continue
		api GET "/v1/files/$id$what"
		case $id in
		..) like "$(said)" '^404 NOT_FOUND' "$id$what is no file" ;;
		*) is "$(said)" '404 RESOURCE_NOT_FOUND File not found' "$id$what is no file" ;;
		esac
	done
done
api GET "$url/info"
is "$(json '.data | [keys_unsorted[]] | join(" ")' "$BODY")" \
	'file_id filename mime_type content_type size_bytes created_at extracted_text direct_url direct_url_expires_at' 'info'
is "$(data '[.filename, .mime_type, .content_type, .size_bytes] | tojson')" '["digits.txt","text/plain","text/plain",10]' \
	'tells what is known'
like "$(data .created_at)" '^20[0-9-]{8}T[0-9:]{8}\.[0-9]{6}Z$' 'and when it came'
api GET "$url/url"
is "$(json '.data | tojson' "$BODY")" \
	"{\"file_id\":\"$FILE\",\"url\":\"$url\",\"expires_at\":null,\"mime_type\":\"text/plain\"}" 'url'

rm "uploads/$key"
api GET "$url"
is "$(said)" '500 STORAGE_ERROR An error occurred accessing storage.' 'bytes that somebody has taken away are told'

done_testing
