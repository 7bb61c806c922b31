#!/bin/sh
# Names of threads: when one is generated, and where it is told.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

invoke hi "$(thread t)"
facts <<'TABLE'
without a generator no name is told :: .data.meta | has("thread_name") | not
TABLE
api GET /v1/threads/t
is "$(json .data.thread_data.thread_name "$BODY")" '' 'the name is empty'
kept=$STATE
serve_stop
STATE=$kept

printf '{"agent":"builtin:demo","thread_name_generator":"builtin:names"}\n' >agentgraph.json
invoke hi "$(thread t)"
facts <<'TABLE'
a thread that exists gets no name later :: .data.meta | has("thread_name") | not
TABLE
invoke hi "$(thread u)"
facts <<'TABLE'
a new one gets two words :: .data.meta.thread_name | test("^[a-z]+-[a-z]+$")
TABLE
name=$(json .data.meta.thread_name "$BODY")
api GET /v1/threads/u
is "$(json .data.thread_data.thread_name "$BODY")" "$name" 'which the thread keeps'
invoke hi "$(thread u)"
facts <<'TABLE'
and which is told once :: .data.meta | has("thread_name") | not
TABLE
stream hi "$(thread s)"
chunks <<'TABLE'
a stream tells it in the terminator :: .[-1].metadata | [.thread_id, .is_new_thread, (.thread_name | test("^[a-z]+-[a-z]+$"))] == ["s", true, true]
and nowhere else :: .[:-1] | all(.metadata | has("thread_name") | not)
TABLE
name=$(printf '%s' "$BODY" | jq -rs '.[-1].metadata.thread_name')
api GET /v1/threads/s
is "$(json .data.thread_data.thread_name "$BODY")" "$name" 'it is the same name'
invoke '/ask x' "$(thread p)"
facts <<'TABLE'
a run that pauses names its thread as well :: .data.meta | has("thread_name") and (.interrupt != null)
TABLE
invoke '/error x' "$(thread e)"
invoke hi "$(thread e)"
facts <<'TABLE'
after a run that failed the thread is not new :: .data.meta | has("thread_name") | not
TABLE

done_testing
