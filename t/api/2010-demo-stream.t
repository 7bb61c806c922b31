#!/bin/sh
# SPDX-License-Identifier: ISC
# builtin:demo by stream: the chunks, their order and their fields.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

stream 'hello world'
is "$STATUS" 200 'a stream is answered'
is "$(header Content-Type)" 'text/event-stream; charset=utf-8' 'as an event stream'
is "$(header Cache-Control)" 'no-cache, no-transform' 'that is not cached'
is "$(header X-Accel-Buffering)" no 'nor buffered'
is "$(header Content-Encoding)" identity 'nor compressed'
is "$(tr -d '\r' <"$RAW" | sed '1,/^$/d' | wc -l)|$(tail -c 1 "$RAW" | od -An -tx1)" '5| 0a' 'with five lines, the last one ended'
chunks <<'TABLE'
every chunk has eight keys :: all(keys == ["data", "event", "message", "metadata", "run_id", "state", "thread_id", "timestamp"])
words are sent as they come :: pieces | map(.message | text) == ["echo:", " hello", " world"]
the final message holds all of them :: finals | texts == ["echo: hello world"]
each piece is a whole message object :: pieces | all(.message | keys | length == 11)
all share one message id :: map(select(.message).message.message_id) | unique | length == 1
no message id is empty :: .[0].message.message_id | uuid7
all are the assistant's :: map(select(.message).message.role) | unique == ["assistant"]
the request is not sent back :: finals | all(.role != "user")
only the final message has usage :: (pieces | all(.message.usages == null)) and (finals[0].usages | [.prompt_tokens, .completion_tokens, .total_tokens] == [2, 3, 5])
and a model :: finals[0].metadata.model == "demo"
the terminator is last :: .[-1] | [.event, .data, .message, .state] == ["updates", {"status": "done"}, null, null]
and the only one :: map(select(.event == "updates")) | length == 1
message chunks have no data and no state :: .[:-1] | all(.data == null and .state == null)
thread and run are on every chunk :: .[0] as $c | all(.thread_id == $c.thread_id and .run_id == $c.run_id and .run_id != null and .thread_id != null)
the server made both ids :: .[0] | (.thread_id | uuid7) and (.run_id | uuid7)
the metadata names thread, node and step :: .[:-1] | all(.metadata == {"is_new_thread": true, "thread_id": .thread_id, "node": "agent", "step": 1})
the terminator belongs to no node :: .[-1] | .metadata == {"is_new_thread": true, "thread_id": .thread_id}
times do not run back :: map(.timestamp) == (map(.timestamp) | sort)
times are seconds of now :: .[0].timestamp | . > (now - 60) and . < (now + 60)
TABLE

# streams TEXT PIECES FINALS: as JSON arrays.
streams() {
	stream "$1"
	is "$(printf '%s' "$BODY" | jq -cs "$facts_words (pieces | map(.message | text)), (finals | texts)" | tr '\n' '|')" \
		"$2|$3|" "'$1' is streamed $2"
}
streams 'x' '["echo:"," x"]' '["echo: x"]'
streams '/whoami' '["anonymous"]' '["anonymous"]'
streams '/note it' '["noted"]' '["noted"]'
streams '/context' '["context:"," 1"]' '["context: 1"]'
streams '/remote none {}' '["unknown"," remote"," tool:"," none"]' '["unknown remote tool: none"]'
streams '/slow 2 1' '["tick 1","tick 2","done"]' '["tick 1","tick 2","done"]'
for text in ' lead' 'trail ' 'in  between' 'new\nline' 'ünï 👋🏽 çode' '   ' ''; do
	stream "$text"
	is "$(printf '%s' "$BODY" | jq -cs "$facts_words (pieces | map(.message | text) | join(\"\")) == (finals | texts | join(\"\"))")" \
		true "the pieces of '$text' joined are the answer"
done

stream '/add 2 3'
chunks <<'TABLE'
calls and results come as messages, without updates at low :: events == ["assistant", "tool", "piece", "piece", "assistant", "done"]
nodes and steps are counted :: .[:-1] | map(.metadata | "\(.node)\(.step)") == ["agent1", "tools2", "agent3", "agent3", "agent3"]
the call stands in the final message :: .[0].message | types == ["tool_call"] and .tools_calls[0].id == .content[0].id
the result too :: .[1].message.content[0] | [.type, .output, .is_error] == ["tool_result", 5, false]
TABLE

stream '/slow 2 1'
chunks <<'TABLE'
each tick has its own message :: finals | map(.message_id) | unique | length == 3
and shares its id with its piece :: [pieces[].message.message_id] == [finals[].message_id]
TABLE

stream '/think of it'
chunks <<'TABLE'
reasoning comes before the text :: map(select(.event == "message").message | "\(.delta) \(types | join(","))") == ["true reasoning", "true text", "true text", "true text", "false reasoning,text"]
under the same id :: map(select(.message).message.message_id) | unique | length == 1
the pieces of text make the thought :: pieces | map(.message | text) | join("") == "thought: of it"
TABLE

# ---- granularity

stream '/add 2 3' '"response_granularity":"partial"'
chunks <<'TABLE'
partial tells when nodes begin and end :: events == ["invoking_node", "assistant", "node_invoked", "invoking_node", "tool", "node_invoked", "invoking_node", "piece", "piece", "assistant", "node_invoked", "done"]
beginning has no state :: map(select(.data.status == "invoking_node")) | all(.state == null)
the end has a whole one :: map(select(.data.status == "node_invoked").state) | all(keys == ["context", "context_summary", "execution_meta", "notes"])
TABLE

stream '/add 2 3' '"response_granularity":"full","recursion_limit":7'
chunks <<'TABLE'
full shows the state after each node :: events == ["invoking_node", "assistant", "state", "node_invoked", "invoking_node", "tool", "state", "node_invoked", "invoking_node", "piece", "piece", "assistant", "state", "node_invoked", "done"]
the data of updates is exact :: [.[] | select(.event == "updates").data] == [{"status": "invoking_node", "node": "agent", "step": 1, "max_steps": 7}, {"status": "node_invoked", "node": "agent", "step": 1, "max_steps": 7}, {"status": "invoking_node", "node": "tools", "step": 2, "max_steps": 7}, {"status": "node_invoked", "node": "tools", "step": 2, "max_steps": 7}, {"status": "invoking_node", "node": "agent", "step": 3, "max_steps": 7}, {"status": "node_invoked", "node": "agent", "step": 3, "max_steps": 7}, {"status": "done"}]
state chunks have no data and no message :: map(select(.event == "state")) | all(.data == null and .message == null)
the context grows with the nodes :: map(select(.event == "state").state.context | length) == [2, 3, 4]
it ends with the node's message :: [.[] | select(.event == "state").state.context[-1].message_id] == [finals[].message_id]
the run is going on in it :: map(select(.state).state.execution_meta) | all(.is_running and .status == "running")
node and step are told :: map(select(.event == "state").state.execution_meta | "\(.current_node)\(.step)") == ["agent1", "tools2", "agent3"]
and the thread :: map(select(.state)) | all(.state.execution_meta.thread_id == .thread_id)
node_invoked has the same state :: [.[] | select(.event == "state").state] == [.[] | select(.data.status == "node_invoked").state]
TABLE

stream '/note this' "$(thread n),\"response_granularity\":\"full\""
stream '/note that' "$(thread n),\"response_granularity\":\"full\""
chunks <<'TABLE'
the state of fields is that after the node :: map(select(.event == "state").state.notes) == [["this", "that"]]
a thread that exists is not new :: all(.metadata.is_new_thread == false)
TABLE

invoke '/add 2 3' '"response_granularity":"partial"'
facts <<'TABLE'
invoke shows state and context at partial :: .data | keys == ["context", "messages", "meta", "state"]
the context is that of the state :: .data.context == .data.state.context
TABLE
invoke '/add 2 3' '"response_granularity":"full"'
facts <<'TABLE'
at full the summary too :: .data | keys == ["context", "messages", "meta", "state", "summary"]
which is null :: .data.summary == null
the state is whole :: .data.state | keys == ["context", "context_summary", "execution_meta", "notes"]
the run is over in it :: .data.state.execution_meta == {"current_node": "END", "step": 3, "is_running": false, "is_interrupted": false, "is_stopped_requested": false, "status": "completed", "interrupted_node": null, "interrupt_reason": null, "interrupt_data": null, "thread_id": .data.meta.thread_id, "stop_current_execution": "none", "internal_data": {}}
the context is the conversation :: .data.state.context == .data.messages
TABLE
state=$(json '.data.state | tojson' "$BODY")
api GET "/v1/threads/$(json .data.meta.thread_id "$BODY")/state"
is "$(json '.data.state | tojson' "$BODY")" "$state" 'the same state is read later'
invoke 'x' '"response_granularity":"low"'
facts <<'TABLE'
low has neither :: .data | keys == ["messages", "meta"]
TABLE
invoke 'x' '"response_granularity":null'
facts <<'TABLE'
low is the default :: .data | keys == ["messages", "meta"]
TABLE

done_testing
