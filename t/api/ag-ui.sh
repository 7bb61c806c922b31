# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# What the tests of /v1/ag-ui share.  Sourced after lib.sh; needs jq.
#
# TEXT and MEMBERS are written as they stand in JSON, as in run.sh.

. "$TOP_SRCDIR/t/api/run.sh"

runs=0

# ag_ui_configure [MEMBERS]: a configuration with AG-UI.
ag_ui_configure() {
	printf '{"agent":"builtin:demo","ag_ui":{"enabled":true}%s}\n' "${1:+,$1}" >agentgraph.json
}

# says ID TEXT: a user message.
says() {
	printf '{"id":"%s","role":"user","content":"%s"}' "$1" "$2"
}

# tool_says ID CALL TEXT [MEMBERS]: the result of a browser tool.
tool_says() {
	printf '{"id":"%s","role":"tool","toolCallId":"%s","content":"%s"%s}' "$1" "$2" "$3" "${4:+,$4}"
}

# tool NAME [MEMBERS]: a browser tool.
tool() {
	printf '{"name":"%s","description":"A tool"%s}' "$1" "${2:+,$2}"
}

# run THREAD MESSAGES [MEMBERS]: a run with a new run id; sets BODY to an array of the events.
run() {
	runs=$((runs + 1))
	ag_ui "{\"threadId\":\"$1\",\"runId\":\"r$runs\",\"messages\":[$2]${3:+,$3}}"
}

# ag_ui BODY [HEADER...]: sends a request; sets EVENTS to the types of the events, and BODY to an array of them.
ag_ui() {
	ag_ui_body=$1
	shift
	api POST /v1/ag-ui "$ag_ui_body" "$@"
	read_events
}

read_events() {
	EVENTS=
	case $(header Content-Type) in text/event-stream*) ;; *) return 0 ;; esac
	BODY=$(printf '%s\n' "$BODY" | sed -n 's/^data: //p' | jq -cs .)
	EVENTS=$(printf '%s' "$BODY" | jq -r "$events_words words")
}

# jq functions with short names, for the events of a run and the text that was streamed.
events_words='
def short: {
	RUN_STARTED: "run", RUN_FINISHED: "finished", RUN_ERROR: "error", STEP_STARTED: "step", STEP_FINISHED: "step.",
	TEXT_MESSAGE_START: "text", TEXT_MESSAGE_CONTENT: "piece", TEXT_MESSAGE_END: "text.",
	REASONING_START: "reasoning", REASONING_MESSAGE_START: "thought", REASONING_MESSAGE_CONTENT: "piece",
	REASONING_MESSAGE_END: "thought.", REASONING_END: "reasoning.",
	TOOL_CALL_START: "call", TOOL_CALL_ARGS: "args", TOOL_CALL_END: "call.", TOOL_CALL_RESULT: "result",
	STATE_SNAPSHOT: "state", MESSAGES_SNAPSHOT: "messages"}[.] // .;
def words: map(.type | short) | join(" ");
def of($type): map(select(.type == $type));
def spoken: of("TEXT_MESSAGE_CONTENT") | map(.delta) | join("");
'
facts_words="$facts_words $events_words"

# spoken: the text of the latest run.
spoken() {
	json "$events_words spoken" "$BODY"
}

# messages THREAD: the thread's messages, as "role: text or outputs" lines.
messages() {
	api GET "/v1/threads/$1/messages"
	json '.data.messages[] | "\(.role): \([.content[] | .text // .output // .type | if type == "string" then . else tojson end] | join(","))"' "$BODY"
}
