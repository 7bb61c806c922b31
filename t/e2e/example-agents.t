#!/bin/bash
# SPDX-License-Identifier: ISC
# The agents of examples/ that need a model do what their READMEs say, with a model whose answers are fixed.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"
. "$TOP_SRCDIR/t/e2e/aimock.sh"
command -v bc >/dev/null || tap_skip_all 'bc is not installed'

cat >fixtures.json <<'END'
{"fixtures": [
  {"match": {"userMessage": "week", "hasToolResult": false},
   "response": {"toolCalls": [{"name": "now", "arguments": {}}, {"name": "calculate", "arguments": {"expression": "7*24*60*60"}}]}},
  {"match": {"userMessage": "week", "hasToolResult": true}, "response": {"content": "604800 seconds."}},
  {"match": {"systemMessage": "You lead two agents", "userMessage": "router", "sequenceIndex": 0},
   "response": {"content": "{\"agent\": \"technical\", \"task\": \"Explain the red light.\"}"}},
  {"match": {"systemMessage": "You lead two agents", "userMessage": "router", "sequenceIndex": 1},
   "response": {"content": "{\"agent\": \"billing\", \"task\": \"Explain the two payments.\"}"}},
  {"match": {"systemMessage": "You lead two agents", "userMessage": "router", "sequenceIndex": 2},
   "response": {"content": "{\"agent\": \"done\", \"task\": \"\"}"}},
  {"match": {"systemMessage": "Explain the red light"}, "response": {"content": "Red means no line."}},
  {"match": {"systemMessage": "Explain the two payments"}, "response": {"content": "One was for May."}},
  {"match": {"userMessage": "late", "hasToolResult": false},
   "response": {"toolCalls": [{"name": "send_mail", "arguments": {"to": "ann@example.org", "subject": "Late", "text": "I am late."}}]}},
  {"match": {"userMessage": "late", "toolResultContains": "declined"}, "response": {"content": "What shall I change?"}},
  {"match": {"userMessage": "late", "hasToolResult": true}, "response": {"content": "It is on its way."}},
  {"match": {"userMessage": "shed", "hasToolResult": false},
   "response": {"toolCalls": [{"name": "search_notes", "arguments": {"words": ["shed", "code"]}}]}},
  {"match": {"userMessage": "shed", "hasToolResult": true}, "response": {"content": "4711, says house.md."}},
  {"match": {"userMessage": "Remember", "hasToolResult": false},
   "response": {"toolCalls": [{"name": "memory", "arguments": {"action": "remember", "content": "Takes tea without milk."}}]}},
  {"match": {"userMessage": "Remember", "hasToolResult": true}, "response": {"content": "I will."}},
  {"match": {"systemMessage": "tea without milk"}, "response": {"content": "Tea, without milk."}},
  {"match": {"userMessage": "tea"}, "response": {"content": "I do not know."}}
]}
END
aimock_start fixtures.json || tap_bail "the mock does not start: $(cat mock.log)"

# example NAME: a copy of it is what is served.
example() {
	cp -r "$TOP_SRCDIR/examples/$1" .
	chmod -R u+w "$1"
	export GRAPH_PATH="$WORK/$1/agentgraph.json"
	"$AGENTGRAPH" check --state "$WORK/checked" >check.out 2>&1
	is $? 0 "$1 passes the check"
}

example react-agent
invoke 'How many seconds does this week have?'
facts <<'TABLE'
it calls its tools :: .data.messages[1].tools_calls | map(.function.name) == ["now", "calculate"]
which know the day :: .data.messages[2].content[0].output | test("^[A-Z][a-z]*day, [0-9]{4}-")
and the sum :: .data.messages[3].content[0].output == 604800 or .data.messages[3].content[0].output == "604800"
then it answers :: said[-1] == "604800 seconds."
TABLE
serve_stop

example supervisor-agent
invoke 'My router blinks red, and why did I pay twice?' '"response_granularity":"partial"'
facts <<'TABLE'
the supervisor hands over to one agent and then to the other :: said[1:] == ["Red means no line.", "One was for May."]
and ends :: .data.state.next.agent == "done"
TABLE
serve_stop

example approval-agent
MAILS=$WORK/approval-agent/outbox.jsonl
invoke 'Tell Ann that I am late' "$(thread m)"
facts <<'TABLE'
a mail waits :: .data.meta.interrupt | [.reason, .value.calls[0].args.to] == ["tool_approval", "ann@example.org"]
TABLE
ok "[ ! -e '$MAILS' ]" 'and was not sent'
resume true m
facts <<'TABLE'
until somebody says yes :: said[-1] == "It is on its way."
TABLE
is "$(jq -r .subject "$MAILS")" Late 'then it goes'
invoke 'Tell Ann that I am late' "$(thread n)"
resume false n
facts <<'TABLE'
or no :: said[-1] == "What shall I change?"
TABLE
is "$(wc -l <"$MAILS" | tr -d ' ')" 1 'and it does not'
serve_stop

example knowledge-agent
mkdir knowledge-agent/notes
echo 'The shed opens with code 4711.' >knowledge-agent/notes/house.md
invoke 'How do I get into the shed?'
facts <<'TABLE'
notes are searched :: .data.messages[2].content[0].output | test("house.md:1:The shed opens")
and tell the answer :: said[-1] == "4711, says house.md."
TABLE
invoke 'tea?'
facts <<'TABLE'
what was not said is not known :: said[-1] == "I do not know."
TABLE
invoke 'Remember that I take my tea without milk.'
facts <<'TABLE'
what was said is kept :: .data.messages[2].content[0] | [.is_error, (.output | has("memory_id"))] == [false, true]
TABLE
invoke 'tea?'
facts <<'TABLE'
and known in another thread :: said[-1] == "Tea, without milk."
TABLE
serve_stop

printf '{"agent":"graph.json:assistant"}\n' >knowledge-agent/agentgraph.json
"$AGENTGRAPH" check --state "$WORK/checked" >check.out 2>&1
is $? 1 'without a store it does not start'
like "$(cat check.out)" "expected the key 'store', a memory store: the node '(agent|tools)' uses it" 'and says what is missing'

done_testing
