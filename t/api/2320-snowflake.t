#!/bin/sh
# SPDX-License-Identifier: ISC
# The other generator of ids: positive integers made of time, node, worker and sequence.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

epoch=1723323246031

# near MS: whether that is a time of this minute.
near() { [ "$(($(date +%s) - $1 / 1000))" -ge -60 ] && [ "$(($(date +%s) - $1 / 1000))" -le 60 ]; }

api GET /v1/graph
facts <<'TABLE'
without a setting ids are UUIDs :: .data.info | [.id_generator, .id_type] == ["uuid7", "string"]
TABLE
serve_stop

export SNOWFLAKE_NODE_ID=5
api GET /v1/graph
facts <<'TABLE'
one setting makes them snowflakes :: .data.info | [.id_generator, .id_type] == ["snowflake", "BIGINT"]
TABLE
invoke '/slow 5 0' '"response_granularity":"full"'
facts <<'TABLE'
all ids are decimal text :: [.data.meta.thread_id, .data.meta.run_id, .data.messages[].message_id] | all(test("^[1-9][0-9]{0,18}$"))
no two are the same :: [.data.meta.thread_id, .data.meta.run_id, .data.messages[].message_id] | unique | length == 9
they grow :: [.data.messages[].message_id] | . == sort
the state names the thread as text :: .data.state.execution_meta.thread_id == .data.meta.thread_id
TABLE
id=$(json .data.meta.thread_id "$BODY")
near $(((id >> 24) + epoch))
ok $? 'their upper bits are the time'
is "$(((id >> 17) & 127)) $(((id >> 12) & 31))" '5 0' 'the next ones node and worker'
api GET "/v1/threads/$id"
is "$STATUS" 200 'the id names its thread'
api POST /v1/graph/invoke "$(run_body "[$(user hi)]" "\"config\":{\"thread_id\":$id}")"
is "$(json .data.meta.is_new_thread "$BODY")" false 'as a number, too'
stream hi
chunks <<'TABLE'
streams have them as text :: .[0] | [.thread_id, .run_id, .message.message_id] | all(test("^[0-9]+$"))
TABLE
invoke hi '"config":{"thread_id":"mine","run_id":"r"}'
facts <<'TABLE'
ids that are given are kept :: .data.meta | [.thread_id, .run_id] == ["mine", "r"]
TABLE
serve_stop

export SNOWFLAKE_EPOCH=0 SNOWFLAKE_TIME_BITS=42 SNOWFLAKE_NODE_BITS=4 SNOWFLAKE_WORKER_BITS=3 SNOWFLAKE_NODE_ID=15 SNOWFLAKE_WORKER_ID=7
invoke hi
id=$(json .data.meta.thread_id "$BODY")
near $((id >> 21))
ok $? 'every part can be set'
is "$(((id >> 17) & 15)) $(((id >> 14) & 7))" '15 7' 'each in its place'
serve_stop
unset SNOWFLAKE_EPOCH SNOWFLAKE_TIME_BITS SNOWFLAKE_NODE_BITS SNOWFLAKE_WORKER_BITS SNOWFLAKE_NODE_ID SNOWFLAKE_WORKER_ID

# refused NAME=VALUE...: the service does not start, and says which setting is wrong.
refused() {
	env "$@" "$AGENTGRAPH" check --state "$WORK/checked" >out 2>&1
	is "$?" 1 "$* is refused"
	like "$(cat out)" "${1%%=*}" 'by name'
}
refused SNOWFLAKE_NODE_ID=128
refused SNOWFLAKE_NODE_ID=-1
refused SNOWFLAKE_WORKER_ID=32
refused SNOWFLAKE_NODE_ID=one
refused SNOWFLAKE_EPOCH=1.5
env SNOWFLAKE_TIME_BITS=51 "$AGENTGRAPH" check --state "$WORK/checked" >out 2>&1
is "$?" 1 'a layout without sequence bits is refused'
env SNOWFLAKE_TIME_BITS=50 "$AGENTGRAPH" check --state "$WORK/checked" >out 2>&1
is "$?" 0 'one sequence bit is enough'

done_testing
