#!/bin/sh
# SPDX-License-Identifier: ISC
# /v1/observability: what runs did, whichever way they were started.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

command -v sqlite3 >/dev/null || tap_skip_all 'sqlite3 is not installed'

observe() { api GET "/v1/observability/$1${2:+?run_id=$2}"; }

trace_words='
def run: .data.run;
def spans: run.spans;
def events: run.events;
def summaries: events | map(.summary) | reverse;
def names: spans | map(.name);
'
facts_words=$facts_words$trace_words

# ---- nothing yet ----

observe nobody
is "$STATUS" 200 'a thread that nobody knows has an answer'
facts <<'FACTS'
and it is empty :: .data == {"thread_id": "nobody", "run_count": 0, "run_ids": [], "run": null}
FACTS
observe 0
is "$STATUS" 422 'a thread id is checked'
api POST /v1/observability/x '{}'
is "$STATUS $(header Allow)" "405 GET, HEAD, OPTIONS" 'there is nothing to post'

# ---- invoke ----

invoke '/add 2 3' "$(thread add),\"response_granularity\":\"low\""
run=$(json .data.meta.run_id "$BODY")
observe add
facts <<'FACTS'
the run is there :: .data.run_count == 1 and .data.run_ids == [run.run_id] and run.thread_id == "add"
and done :: run.status == "done" and run.finished_at >= run.started_at
an invoke run is recorded as if it streamed at full :: summaries == ["invoking_node", "tool_call add", "state", "node_invoked", "invoking_node", "tool_result add", "state", "node_invoked", "invoking_node", "llm.generate · " + (run.usage.total_tokens - (4 | tostring | length) * 0 - (spans | map(select(.kind == "llm"))[0] | .input_tokens + .output_tokens) | tostring) + " tokens", "state", "node_invoked", "result"]
its spans are numbered as they appear :: names == ["graph", "node: agent", "llm.generate", "tool: add", "node: tools", "llm.generate"] and (spans | map(.id)) == ["root", "s1", "s2", "s3", "s4", "s5"]
and hang together :: (spans | map(.parent)) == [null, "root", "s1", "s1", "root", "s1"]
each has all keys :: [spans[] | keys | length] | unique == [9]
the model is named :: spans[2].model == "demo" and spans[1].model == null and spans[0].input_tokens == null
points have no length :: (spans | map(select(.kind == "llm" or .kind == "tool").duration_ms) | unique) == [0]
the root is as long as the run :: spans[0].duration_ms == run.duration_ms and spans[0].start_ms == 0
events are newest first :: (events | map(.id)) == ([range(events | length)] | reverse | map("e\(.)")) and events[0].type == "result" and events[0].node == ""
times do not step back :: (events | map(.offset_ms)) == (events | map(.offset_ms) | sort | reverse)
everything is counted :: run.llm_calls == 2 and run.tool_calls == 1 and run.iterations == 2 and run.usage.total_tokens == run.usage.prompt_tokens + run.usage.completion_tokens and run.usage.prompt_tokens == (spans | map(.input_tokens // 0) | add)
FACTS
is "$(json .data.run.run_id "$BODY")" "$run" 'under its own id'
unlike "$BODY" 'sum: 5' 'no text of a message is shown'

invoke 'again' "$(thread add)"
second=$(json .data.meta.run_id "$BODY")
observe add
is "$(json '.data.run_ids | join(" ")' "$BODY")" "$run $second" 'runs are listed oldest first'
is "$(json .data.run.run_id "$BODY")" "$second" 'the latest one is shown'
observe add "$run"
is "$(json .data.run.run_id "$BODY")" "$run" 'an earlier one by its id'
observe add nonsense
is "$(json '[.data.run, .data.run_count] | tojson' "$BODY")" '[null,2]' 'an unknown one is null beside the list'
api GET "/v1/observability/add?run_id="
is "$(json .data.run.run_id "$BODY")" "$second" 'an empty run id is none'

# ---- stream ----

stream 'hello there' "$(thread s)"
observe s
facts <<'FACTS'
a stream has its pieces :: summaries | map(select(. == "delta")) | length == 3
its result is no record, nor is its terminator :: events[0].summary == "node_invoked" and (summaries | index("done")) == null
FACTS

# ---- how runs end ----

invoke '/error jane@example.com has failed' "$(thread e)"
is "$STATUS" 500 'a run fails'
observe e
facts <<'FACTS'
an error is one :: run.status == "error" and events[0].type == "error" and events[0].node == "agent" and events[0].summary == "error"
FACTS
unlike "$BODY" 'jane' 'what the node said is not shown'

invoke '/ask why' "$(thread p)"
observe p
facts <<'FACTS'
a pause is an end like others :: run.status == "done" and (summaries[-2:] == ["interrupted", "result"]) and run.finished_at != null
FACTS
resume '"because"' p
observe p
is "$(json .data.run_count "$BODY")" 2 'going on is a run of its own'
invoke 'not now' "$(thread p2)"
invoke '/ask why' "$(thread p2)"
invoke 'hello' "$(thread p2)"
observe p2
is "$(json .data.run_count "$BODY")" 2 'a request that does not enter the graph leaves none'

invoke '/loop' "$(thread l),\"recursion_limit\":3"
observe l
facts <<'FACTS'
the recursion limit is an error :: run.status == "error" and run.iterations == 1
FACTS

# ---- while it runs ----

in_background slow stream '/slow 100 500' "$(thread slow),\"recursion_limit\":100"
running() { observe slow && [ "$(json '.data.run.status' "$BODY")" = running ]; }
wait_for 20 running
ok $? 'a run is seen while it goes on'
is "$(json .data.run.finished_at "$BODY")" null 'it has no end yet'
more() { observe slow && [ "$(json '.data.run.events | length' "$BODY")" -gt 6 ]; }
wait_for 20 more
ok $? 'with what it did so far'
# as in the moment between the end of the record and that of the trace
outside "$STATE/threads.db" "UPDATE runs SET status = 5 WHERE thread = (SELECT row FROM threads WHERE thread_id = 'slow')"
api POST /v1/graph/stop '{"thread_id":"slow"}'
observe slow
is "$(json '.data.run.status' "$BODY")" stopped 'what is over by its record is seen at its end'
collect slow
observe slow
facts <<'FACTS'
a stop is told :: run.status == "stopped" and events[0].summary == "stopped"
it is counted :: run.iterations == 1
FACTS

# ---- the same id again, many runs, many records ----

invoke 'first' "$(thread twice | sed 's/}$/,"run_id":"mine"}/')"
invoke '/add 1 1' "$(thread twice | sed 's/}$/,"run_id":"mine"}/')"
observe twice
facts <<'FACTS'
a run id used twice replaces the earlier run :: .data.run_ids == ["mine"] and run.tool_calls == 1
FACTS

n=0
while [ $n -lt 22 ]; do
	n=$((n + 1))
	invoke "n" "$(thread many | sed "s/}\$/,\"run_id\":\"r$n\"}/")"
done
observe many
facts <<'FACTS'
twenty runs stay :: .data.run_count == 20 and .data.run_ids[0] == "r3" and .data.run_ids[-1] == "r22"
FACTS

words=$(awk 'BEGIN { for (i = 0; i < 2100; i++) printf "w " }')
stream "$words" "$(thread long)"
observe long
facts <<'FACTS'
two thousand records stay :: (events | length) == 2000
the last of them says how many there were besides :: events[0].summary | test("^[0-9]+ more left out$")
what came after them still counts :: run.llm_calls == 1 and run.usage.prompt_tokens >= 2100
and the run is as long as it was :: run.duration_ms >= events[0].offset_ms
FACTS

# ---- deleted ----

api DELETE /v1/threads/add '{}'
is "$STATUS" 200 'a thread is deleted'
observe add
is "$(json '[.data.run, .data.run_count] | tojson' "$BODY")" '[null,0]' 'its traces went with it'
observe twice
is "$(json .data.run_count "$BODY")" 1 'others stay'
api DELETE /v1/threads/twice/state '{}'
observe twice
is "$(json .data.run_count "$BODY")" 1 'clearing the state is no deletion'

# ---- a process that dies ----

in_background dead stream '/slow 100 500' "$(thread dead),\"recursion_limit\":100"
dying() { observe dead && [ "$(json '.data.run.status' "$BODY")" = running ]; }
wait_for 20 dying
victim=$(workers)
kill -9 "$victim"
collect dead
replaced() { [ -n "$(workers)" ] && [ "$(workers)" != "$victim" ] && api GET /ping && [ "$STATUS" = 200 ]; }
wait_for 20 replaced
settled() { observe dead && [ "$(json .data.run.status "$BODY")" != running ]; }
[ -z "$PAIR" ] || wait_for 20 settled # the other instance learns of the death from this one
observe dead
facts <<'FACTS'
a run whose process died has failed, or is forgotten with it :: run == null or (run.status == "error" and run.finished_at != null)
FACTS

# As in the first moments of a thread's first run: it is not stored, so nobody's yet.
observe twice
is "$(json .data.run_count "$BODY")" 1 'a thread that is stored has its traces'
outside "$STATE/threads.db" "DELETE FROM threads WHERE thread_id = 'twice'"
observe twice
is "$STATUS $(json '[.data.run, .data.run_count, .data.run_ids] | tojson' "$BODY")" '200 [null,0,[]]' 'one that is not has none'
serve_stop

api_start
observe long
is "$(json .data.run_count "$BODY")" 0 'a restart forgets'
serve_stop

# ---- a name that is too long to be a name

cat >long <<'SH'
#!/bin/sh
cat >/dev/null
printf '{"message":{"role":"assistant","content":[{"type":"tool_call","id":"c1","args":{},"name":"'
for _ in $(seq 200); do printf 'é'; done
echo '"}]}}'
SH
chmod +x long
echo '{"g": {"nodes": {"a": {"kind": "exec", "command": "./long"}}, "edges": [{"from": "START", "to": "a"}, {"from": "a", "to": "END"}]}}' >graph.json
echo '{"agent": "graph.json:g"}' >named.json
api_start --config named.json
invoke hello "$(thread named)"
observe named
ok 'iconv -f UTF-8 -t UTF-8 "$RAW" >/dev/null' 'a long name is not cut within a character'
serve_stop

# ---- production ----

STATE=
MODE=production
export MODE
ALLOWED_HOST=localhost ORIGINS=http://x api_start
invoke 'hello' "$(thread prod)"
observe prod
is "$STATUS $(json '[.data.run, .data.run_count] | tojson' "$BODY")" '200 [null,0]' 'production records nothing'
ok '[ ! -e "$STATE/telemetry.db" ]' 'and has no file for it'
serve_stop
unset MODE

done_testing
