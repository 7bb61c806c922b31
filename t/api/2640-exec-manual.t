#!/bin/sh
# SPDX-License-Identifier: ISC
# The programs printed in agentgraph-exec(7), if their languages are installed.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/run.sh"

# example NAME: the literal text behind that comment of the page.
example() {
	awk -v name="$1" '/^\.\\" example: / { wanted = $3 == name }
		wanted && /^\.Ed/ { exit }
		wanted && inside
		wanted && /^\.Bd/ { inside = 1 }' "$TOP_SRCDIR/man/agentgraph-exec.7" | sed 's/\\e/\\/g'
}

# said TEXT: what the agent says to it.
said() {
	invoke "$1" "$(thread "$language"),\"response_granularity\":\"full\""
	json '.data | "\(.messages[-1].content[0].text)|\(.state.words)|\(.meta.interrupt.value.question)"' "$BODY"
}

example graph.json >graph.json
echo '{"agent":"graph.json:counter"}' >agentgraph.json
printf '#!/bin/sh\n' >counter
chmod +x counter
api_start
for language in sh python3 perl node php ruby; do
	example $language >counter
	head -1 counter | grep -q "^#!.*$language\$" && passed=0 || passed=1
	ok $passed "the page has a program for $language"
	chmod +x counter
	command -v $language >/dev/null || { diag "$language is not installed"; continue; }
	is "$(said 'one  two three')" '3 words, 3 so far.|3|null' "$language: it counts and streams"
	is "$(said 'caf\u00e9 \"four\" \\ five')" '4 words, 7 so far.|7|null' "$language: it goes on where it was"
	is "$(said reset)" 'reset|7|Forget all words?' "$language: it asks"
	resume true "$language" '"response_granularity":"full"'
	is "$(json '.data | "\(.messages[-1].content[0].text)|\(.state.words)"' "$BODY")" 'Done.|0' "$language: it takes the answer"
done
example tool >tool
chmod +x tool
is "$(echo '{"a": 2, "b": 3}' | ./tool)" 5 'the tool adds'

done_testing
