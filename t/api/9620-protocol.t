#!/bin/sh
# SPDX-License-Identifier: ISC
# The pages of doc/ that describe the protocol say the same as the OpenAPI document: routes with their scopes and
# bodies, fields and their values, error codes.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

command -v python3 >/dev/null || tap_skip_all 'no python3 here'

echo '{"agent": "builtin:demo", "store": "builtin:store", "ag_ui": {"enabled": true}, "openai": {"enabled": true}, "langgraph": {"enabled": true}, "mcp": {"enabled": true}, "a2a": {"enabled": true}}' >agentgraph.json
api_start || tap_bail 'the service does not start'
api GET /openapi.json
printf '%s' "$BODY" >openapi.json

# differences PAGES: what is printed about them and the document.
differences() { python3 "$TOP_SRCDIR/t/api/protocol.py" "$1" openapi.json 2>&1; }

is "$(differences "$TOP_SRCDIR/doc")" '' 'pages and document agree'

# changed SED-SCRIPT EXPECTED SENTENCE: a copy of the pages, changed, is told from the document.
changed() {
	rm -rf pages && mkdir pages && cp "$TOP_SRCDIR"/doc/protocol*.md pages/
	sed -i "$1" pages/*.md
	is "$(differences pages | head -n 1)" "$2" "$3"
}

changed '/^| `POST` | `.v1.graph.stop`/d' 'POST /v1/graph/stop is in the document only' 'a route that is not described is noticed'
changed 's/| `GET` | `.v1.threads` | `checkpointer:read`/| `GET` | `\/v1\/threads` | `graph:read`/' \
	"GET /v1/threads: scope is 'checkpointer:read' in the document, 'graph:read' in the pages" 'so is another scope'
changed 's/`ConfigRequest`?/`ConfigRequest`/' \
	"DELETE /v1/threads/{thread_id}/messages/{message_id}: required is False in the document, True in the pages" \
	'a body that is said to be required'
changed 's/^| `THREAD_BUSY` | 409/| `THREAD_BUSY` | 423/' 'code THREAD_BUSY with 409 is in the document only' 'another status of a code'
changed 's/`recursion_limit`?/`recursion_limits`?/' 'RunRequest.recursion_limit is in the document only' 'another name of a field'
changed 's/`meta.thread_name`?/`meta.thread_name`/' \
	'RunResult.meta.thread_name may be absent: True in the document, False in the pages' 'a field that is said to be always there'
changed 's/, `graph_traversal`//' 'MemorySearch.retrieval_strategy: the pages do not name its value graph_traversal' \
	'a value that is not named'
changed '/^| `StateDeleted`/d' 'StateDeleted is in the document only' 'and a shape that is not described'
changed 's/`POST .v1.graph.stop`, //' 'protocol-changes.md: POST /v1/graph/stop is in no version' 'and a route of no version'

done_testing
