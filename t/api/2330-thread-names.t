#!/bin/sh
# SPDX-License-Identifier: ISC
# Names of threads: when one is generated, and where it is shown.
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
serve_stop

# ---- a generator of one's own ----

cat >names.c <<'C'
#include <agentgraph.h>
#include <stdlib.h>
#include <string.h>

AG_PLUGIN;

static char *name(const char *texts, void *data)
{
	(void)data;
	if (strcmp(texts, "nameless") == 0)
		return NULL;
	if (strcmp(texts, "long") == 0) {
		char *text = malloc(401);
		for (int i = 0; i < 400; i += 2)
			memcpy(text + i, "\303\244", 2);
		text[400] = '\0';
		return text;
	}
	return strdup(texts);
}

const struct ag_thread_names names = {.kind = AG_THREAD_NAMES, .name = name};
const struct ag_thread_names none = {.kind = AG_THREAD_NAMES};
const struct ag_auth other = {.kind = AG_AUTH};
C
# shellcheck disable=SC2086 # words
${CC:-cc} ${CPPFLAGS:-} -I"$TOP_SRCDIR/common" -shared -fPIC -o names.so names.c || tap_bail 'names.c does not compile'
printf '{"agent":"builtin:demo","thread_name_generator":"names.so:names"}\n' >agentgraph.json
invoke 'my name'
facts <<'TABLE'
a plug-in is given what the user said :: .data.meta.thread_name == "my name"
TABLE
api POST /v1/graph/invoke "$(run_body "[$(user 'a\u0007b'),$(user c)]")"
facts <<'TABLE'
all of it, and what it gives is cleaned :: .data.meta.thread_name == "a b c"
TABLE
invoke long
facts <<'TABLE'
and cut between characters :: .data.meta.thread_name | [utf8bytelength, .[-1:]] == [254, "ä"]
TABLE
invoke nameless
facts <<'TABLE'
or there is no name :: .data.meta | has("thread_name") | not
TABLE
serve_stop

# refused PATH SENTENCE NAME
refused() {
	printf '{"agent":"builtin:demo","thread_name_generator":"%s"}\n' "$1" >agentgraph.json
	like "$("$AGENTGRAPH" check --state check 2>&1)" "$2" "$3"
}
refused names.so:none "agentgraph.json: thread_name_generator: 'names.so:none' has no function name" 'one without a function is refused'
refused names.so:other 'agentgraph.json: thread_name_generator: .*struct ag_thread_names' 'so is another struct'
refused builtin:poems "agentgraph.json: thread_name_generator: expected a plug-in, or what .* found 'builtin:poems'" 'and what is not built in'

done_testing
