#!/bin/sh
# SPDX-License-Identifier: ISC
# The recursion limit, and time-outs of nodes.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# limited TEXT LIMIT [THREAD]
limited() { invoke "$1" "$(thread "${3-}"),\"recursion_limit\":$2"; }

limited /loop 3 t
is "$STATUS" 500 'a run without end is ended by the limit'
facts <<'TABLE'
with a sentence and a code :: [.detail, .error_code] == ["Graph execution exceeded recursion limit: 3", "GRAPH_RECURSION_LIMIT"]
and no details :: .error.details == []
TABLE
api GET /v1/threads/t/state
facts <<'TABLE'
the state is that after the last node :: .data.state | [.execution_meta.status, .execution_meta.step, .execution_meta.current_node, .execution_meta.is_running, (.context | length)] == ["error", 3, "agent", false, 4]
TABLE
invoke hello "$(thread t)"
facts <<'TABLE'
the next run is a new turn :: said == ["hello", "echo: hello"]
TABLE
resume 1 t
is "$STATUS" 422 'there is nothing to resume'

limited '/slow 5 0' 5
is "$STATUS" 200 'a graph that ends with the last step succeeds'
limited '/slow 5 0' 4 s
is "$STATUS" 500 'with one step less it fails'
api GET /v1/threads/s/messages
facts <<'TABLE'
and what was done is kept :: .data.messages | texts == ["/slow 5 0", "tick 1", "tick 2", "tick 3", "tick 4"]
TABLE
limited hi 1
is "$STATUS" 200 'one step is enough for one node'
limited '/add 1 2' 2
is "$STATUS" 500 'two are not for three'
limited '/add 1 2' 3
is "$STATUS" 200 'three are'
limited '/slow 100 0' 100
is "$STATUS" 200 'a hundred steps can be asked for'
invoke '/slow 25 0'
is "$STATUS" 200 'the limit is 25'
invoke '/slow 26 0'
is "$STATUS|$(json .detail "$BODY")" '500|Graph execution exceeded recursion limit: 25' 'without being named'

stream /loop "$(thread l),\"recursion_limit\":2,\"response_granularity\":\"partial\""
is "$STATUS" 200 'a stream answers 200'
chunks <<'TABLE'
the error comes after the last node, before the terminator :: events[-3:] == ["node_invoked", "error", "done"]
its data says why :: .[-2].data | [.status, .reason, .error_code] == ["error", "Graph execution exceeded recursion limit: 2", "GRAPH_RECURSION_LIMIT"]
there is one error :: map(select(.event == "error")) | length == 1
TABLE
limited '/ask x' 1 p
resume '"y"' p '"recursion_limit":1'
is "$STATUS" 200 'each run counts its own steps'

# ---- time

# timed TEXT CONFIG: a run with a limit of time.
timed() { invoke "$1" "$(thread slow "$2")"; }
timed '/slow 1 5000' '"node_timeout":0.2'
is "$STATUS" 500 'a node that takes too long fails'
facts <<'TABLE'
with the time it had :: [.detail, .error_code] == ["Graph execution failed: node agent timed out after 0.2 s", "NODE_TIMEOUT"]
and the place :: .error.details | map([.loc, .type]) == [[["node", "agent"], "node_error"]]
TABLE
timed '/slow 1 3000' '"node_timeout":1'
is "$(json .detail "$BODY")" 'Graph execution failed: node agent timed out after 1 s' 'whole seconds are written whole'
timed '/slow 3 2000' '"node_timeout":5'
is "$STATUS" 200 'the time is that of a node, not of the run'
api POST /v1/graph/stream "$(run_body "[$(user '/slow 2 5000')]" "$(thread slow '"node_timeout":0.1')")"
chunks <<'TABLE'
a stream tells it as well :: .[-2].data | [.status, .error_code, .node, .step] == ["error", "NODE_TIMEOUT", "agent", 1]
TABLE

done_testing
