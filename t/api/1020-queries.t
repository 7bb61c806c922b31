#!/bin/sh
# SPDX-License-Identifier: ISC
# Query parameters.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

for i in 1 2 3; do
	api POST /v1/threads/t/messages "{\"messages\":[{\"role\":\"user\",\"content\":\"a b+$i\"}]}"
done

# count QUERY EXPECTED NAME: of the messages of t.
count() {
	api GET "/v1/threads/t/messages$1"
	is "$(json '.data.messages | length' "$BODY")" "$2" "$3"
}

# refused QUERY TEXT
refused() {
	api GET "/v1/threads/t/messages?$1"
	is "$STATUS" 422 "?$1 is refused"
	is "$(json .detail "$BODY")" "$2" 'with a sentence'
}

count '' 3 'without a query all are listed'
count '?limit=2' 2 'limit counts'
count '?limit=1&limit=2' 2 'of two limits the last one counts'
count '?limit=&limit=2' 2 'also when the first is empty'
count '?l%69mit=%32' 2 'names and values are decoded'
count '?unknown=1&limits=1&Limit=1&&=' 3 'unknown parameters are ignored'
count '?search=' 3 'an empty search is none'
count '?search=a+b%2B2' 1 'plus is a space, %2B a plus'
count '?search=%00x&search=b' 3 'what is replaced is not looked at'

refused 'limit=' 'limit must not be empty'
refused 'offset' 'offset must not be empty'
refused 'search=%ff' 'search must be valid UTF-8 text without NUL'
refused 'search=a%00' 'search must be valid UTF-8 text without NUL'
is "$(json '.error.details[0].loc | join(".")' "$BODY")" query.search 'details say where'

done_testing
