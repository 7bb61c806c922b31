#!/bin/sh
# SPDX-License-Identifier: ISC
# Searching memories: strategies, metrics, filters, thresholds, max_tokens, with scores worked out by hand.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/api/store.sh"
command -v sqlite3 >/dev/null || tap_skip_all 'sqlite3 is not installed'
change() { outside "$STATE/store.db" "$1"; }

with_store
api_start
remember 'green tea' '"metadata":{"n":1,"tag":"a","ok":true}'
remember 'black coffee' '"metadata":{"n":2,"tag":"b"}'
remember 'red wine' '"metadata":{"n":3.5,"tag":"c","none":null},"memory_type":"semantic","category":"drinks"'

# ---- similarity: equal texts have the same vector, of length 1 ----

find 'green tea' '"limit":1'
is "$(found) $(scores)" 'green tea 1' 'cosine of the same text: (1 + 1) / 2'
find 'GREEN   Téa!' '"limit":1'
is "$(found) $(scores)" 'green tea 1' 'whatever its case, marks and signs'
find 'green tea' '"limit":1,"distance_metric":"euclidean"'
is "$(scores)" 1 'euclidean: 1 / (1 + 0)'
find 'green tea' '"limit":1,"distance_metric":"manhattan"'
is "$(scores)" 1 'manhattan: 1 / (1 + 0)'
find 'green tea' '"limit":1,"distance_metric":"dot_product"'
is "$(scores)" 0.7311 'dot_product: the logistic function of 1'
find 'green tea'
is "$(json '.data.results | length' "$BODY")" 3 'all memories are ranked'
is "$(json '[.data.results[].score] | . == (sort | reverse) and all(. >= 0 and . <= 1)' "$BODY")" true 'best first, from 0 to 1'
find 'green tea' '"score_threshold":0.9'
is "$(found)" 'green tea' 'score_threshold leaves out the rest'
# Vectors of our own, whose scores can be worked out: (3, 4) against that of the text.
nothing='zeroblob(1536)'
[ -z "$PG_DIR" ] || nothing="decode(repeat('00', 1536), 'hex')"
change "UPDATE vectors SET vector = $nothing WHERE memory = (SELECT row FROM memories WHERE content = 'red wine')"
serve_stop_keep() { keep=$STATE; serve_stop; STATE=$keep; }
serve_stop_keep
api_start
find 'green tea' '"memory_type":"semantic"'
is "$(found) $(scores)" 'red wine 0.5' 'cosine with nothing is 0: (1 + 0) / 2'
find 'green tea' '"memory_type":"semantic","distance_metric":"euclidean"'
is "$(scores)" 0.5 'euclidean distance 1: 1 / (1 + 1)'
find 'green tea' '"memory_type":"semantic","distance_metric":"dot_product"'
is "$(scores)" 0.5 'the logistic function of 0'
api PUT "/v1/store/memories/$ID" '{"content":"red wine"}'

# ---- relevance ----

find 'green wine' '"retrieval_strategy":"relevance"'
is "$(scores | cut -d' ' -f1) $(json '.data.results | length' "$BODY")" '1 2' 'any of the words will do; the best has 1'
find 'wine' '"retrieval_strategy":"relevance"'
is "$(found) $(scores)" 'red wine 1' 'a word'
find 'WÏNE' '"retrieval_strategy":"relevance"'
is "$(found)" 'red wine' 'without regard to case and marks'
find 'milk—wine…wïne' '"retrieval_strategy":"relevance"'
is "$(found)" 'red wine' 'any of those that other signs than those of ASCII part'
find '—' '"retrieval_strategy":"relevance"'
is "$STATUS $(found)" '200 ' 'such signs are no words'
remember 'white wine' '"config":{"user_id":"ann"}'
find "wine$(seq -f '—w%g' 1 200 | tr -d '\n')" '"retrieval_strategy":"relevance","config":{"user_id":"ann"}'
is "$STATUS $(found)" '200 white wine' 'of very many that they part the first are looked for'
find "$(seq -f 'w%g—' 1 126 | tr -d '\n')wine—wine" '"retrieval_strategy":"relevance","config":{"user_id":"ann"}'
is "$STATUS $(found)" '200 white wine' 'the 127th is one of them'
find "$(seq -f 'w%g—' 1 127 | tr -d '\n')wine" '"retrieval_strategy":"relevance","config":{"user_id":"ann"}'
is "$STATUS $(found)" '200 ' 'and the next one is not'
api DELETE "/v1/store/memories/$ID"
for query in 'tea OR coffee' 'content:tea' 'tea*' '\"tea' "tea' --" 'NEAR(tea)' '(tea' '^tea' '-tea' '{tea}:' 'owner : x tea' 'tea AND NOT coffee'; do
	find "$query" '"retrieval_strategy":"relevance"'
	is "$STATUS" 200 "syntax is text: $query"
	like "$(found)" 'green tea' 'and its words are looked for'
done
for query in '!!!' '\"\"' '*' 'AND' '()'; do
	find "$query" '"retrieval_strategy":"relevance"'
	is "$STATUS $(found)" '200 ' "nothing to look for in $query"
done

# ---- time: half in seven days ----

now=$(date +%s)
change "UPDATE memories SET created_at = $(((now - 7 * 86400) * 1000000)) WHERE content = 'black coffee';
	UPDATE memories SET created_at = $(((now - 14 * 86400) * 1000000)) WHERE content = 'green tea';"
find 'whatever' '"retrieval_strategy":"temporal"'
is "$(found)" 'red wine,black coffee,green tea' 'temporal: newest first'
is "$(json '.data.results | map(.score * 100 | round / 100 | tostring) | join(" ")' "$BODY")" '1 0.5 0.25' 'half for every week'
change "UPDATE memories SET created_at = created_at - $((21 * 86400 * 1000000)) WHERE content = 'red wine';"
find 'whatever' '"retrieval_strategy":"temporal"'
is "$(found)" 'black coffee,green tea,red wine' 'also where they were stored in another order'
change "UPDATE memories SET created_at = created_at + $((21 * 86400 * 1000000)) WHERE content = 'red wine';"

# ---- hybrid: reciprocal ranks with k = 60, the best scaled to 1 ----

find 'green tea' '"retrieval_strategy":"hybrid"'
is "$(json '.data.results[0] | "\(.content) \(.score)"' "$BODY")" 'green tea 1' 'hybrid: first in both lists'
second=$(awk 'BEGIN { printf "%.4f", (1 / 62) / (2 / 61) }')
is "$(scores | cut -d' ' -f2)" "$second" 'second in one list: (1/62) / (1/61 + 1/61)'

# ---- links ----

api POST /v1/store/memories/forget '{}'
remember 'alpha beta' '"metadata":{"entity":"Ann"}'
alpha=$ID
remember 'zzzz' "\"metadata\":{\"relations\":[\"$alpha\",\"gone\"]}"
zzzz=$ID
remember 'qqqq' '"metadata":{"entity":"Ann"}'
remember 'kkkk' "\"metadata\":{\"relations\":[\"$zzzz\"]}"
remember 'mmmm'
find 'alpha beta' '"retrieval_strategy":"graph_traversal","limit":1'
is "$(found)" 'alpha beta' 'graph_traversal: the best start has the best score'
find 'alpha beta' '"retrieval_strategy":"graph_traversal","limit":2'
like "$(found)" '^alpha beta,' 'and what comes next is second'
change "DELETE FROM vectors WHERE memory IN (SELECT row FROM memories WHERE content <> 'alpha beta')"
serve_stop_keep
api_start
find 'alpha beta' '"retrieval_strategy":"graph_traversal"'
is "$(found) $(scores)" 'alpha beta,qqqq,zzzz,kkkk 1 0.5 0.5 0.25' 'one step halves the score, by relation or entity, two steps quarter it'
api DELETE "/v1/store/memories/$zzzz"
find 'alpha beta' '"retrieval_strategy":"graph_traversal"'
is "$(found)" 'alpha beta,qqqq' 'what is gone links nothing'
api POST /v1/store/memories/forget '{}'

# ---- filters ----

remember 'tea one' '"metadata":{"n":1,"tag":"a","ok":true}'
remember 'tea two' '"metadata":{"n":2,"tag":"b"}'
remember 'tea three' '"metadata":{"n":3.5,"tag":"c","none":null},"memory_type":"semantic","category":"drinks"'

# holds FILTERS CONTENTS: in every strategy, best first or not.
holds() {
	for strategy in similarity relevance temporal hybrid graph_traversal; do
		find tea "\"retrieval_strategy\":\"$strategy\",\"filters\":$1"
		is "$(json '.data.results | map(.content) | sort | join(",")' "$BODY")" "$2" "$strategy with $1"
	done
}
holds '{"n":1}' 'tea one'
holds '{"n":1.0,"tag":"a"}' 'tea one'
holds '{"n":"1"}' ''
holds '{"ok":true}' 'tea one'
holds '{"none":null}' 'tea three'
holds '{"tag":["a","c","x"]}' 'tea one,tea three'
holds '{"tag":[]}' ''
holds '{"n":{"gt":1,"lte":3.5}}' 'tea three,tea two'
holds '{"tag":{"gte":"b"}}' 'tea three,tea two'
holds '{"n":{"lt":2}}' 'tea one'
holds '{"tag":{"ne":"a"}}' 'tea three,tea two'
holds '{"ok":{"exists":false}}' 'tea three,tea two'
holds '{"ok":{"exists":true}}' 'tea one'
holds '{"category":"drinks"}' 'tea three'
find tea '"memory_type":"semantic"'
is "$(found)" 'tea three' 'memory_type is a filter'
find tea '"category":"drinks","memory_type":"episodic"'
is "$(found)" '' 'so is category, and all must hold'

# As many as are compared with every memory in a moment.
many() { awk -v n="$1" -v each="$2" 'BEGIN { for (i = 1; i <= n; i++) printf ("%s" each), (i > 1 ? "," : ""), i }'; }
bounded='filters must not have more than 1000 conditions and values'
holds "{\"n\":[$(many 999 %d)]}" 'tea one,tea two'
find tea "\"filters\":{\"n\":[$(many 1000 %d)]}"
is "$STATUS $(json '.detail + " " + (.error.details[0].loc | join("."))' "$BODY")" "422 $bounded body.filters" 'more values are a mistake'
find tea "\"filters\":{$(many 1001 '\"k%d\":1')}"
is "$STATUS $(json .detail "$BODY")" "422 $bounded" 'so are more keys'
find tea "\"filters\":{\"n\":\"$(many 12000 %06d)\"}"
is "$STATUS $(json .detail "$BODY")" '422 filters must not have more than 65536 bytes' 'and more bytes'
api POST /v1/store/memories/forget "{\"filters\":{\"n\":[$(many 1000 %d)]}}"
is "$STATUS $(json .detail "$BODY")" "422 $bounded" 'also where they choose what is forgotten'

# Never fewer results than there are, however many nearer ones the filter leaves out.
seq 1 300 | sed 's/.*/tea tea & again/' | while read -r text; do
	api POST /v1/store/memories "{\"content\":\"$text\",\"category\":\"noise\"}"
done
remember 'quite another thing' '"category":"rare"'
find 'tea tea again' '"category":"rare","limit":5'
is "$(found)" 'quite another thing' 'a rare one is found behind many that are nearer'

# ---- max_tokens ----

api POST /v1/store/memories/forget '{}'
remember 'éééé éééé'
remember 'bbbb bbbb'
remember 'cccc cccc'
budget() { find 'whatever' "\"retrieval_strategy\":\"temporal\",\"max_tokens\":$1"; json '.data.results | length' "$BODY"; }
is "$(budget 1) $(budget 4) $(budget 5) $(budget 6) $(budget 7)" '1 1 2 2 3' 'four characters a token, the first always'

done_testing
