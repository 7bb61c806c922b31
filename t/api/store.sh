# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# What the tests of the memory store share.  Sourced after lib.sh and auth.sh; needs jq.

# with_store [MEMBERS]: writes agentgraph.json with the built-in store.
with_store() { configure "\"store\":\"builtin:store\"${1:+,$1}"; }

# remember CONTENT [MEMBERS]: stores a memory; sets ID to its id.
remember() {
	api POST /v1/store/memories "{\"content\":\"$1\"${2:+,$2}}"
	ID=$(json .data.memory_id "$BODY")
}

# find QUERY [MEMBERS]: searches.
find() { api POST /v1/store/search "{\"query\":\"$1\"${2:+,$2}}"; }

# found: the contents of the memories that were found or listed, in their order.
found() { json '.data | (.results // .memories) | map(.content) | join(",")' "$BODY"; }

# scores: the scores of the memories that were found, to four decimals.
scores() { json '.data.results | map(.score * 10000 | round / 10000 | tostring) | join(" ")' "$BODY"; }

# user NAME [MEMBERS]: the member config with that user_id.
user() { printf '"config":{"user_id":"%s"%s}' "$1" "${2:+,$2}"; }
