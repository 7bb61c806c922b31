#!/bin/sh
# SPDX-License-Identifier: ISC
# Vectors from a service: fetched in batches, kept by text, fetched later if it does not answer, and never mixed with
# others.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/api/store.sh"
command -v python3 >/dev/null || tap_skip_all 'python3 is not installed'

# A service that counts letters: 26 numbers for each text.  The file mode says how it behaves; asked has a line for
# each request.
cat >service.py <<'PYTHON'
import json
import http.server
import sys
import time


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        mode = open("mode").read().strip()
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        with open("asked", "a") as log:
            log.write(json.dumps([mode, self.headers.get("Authorization"), body["model"], len(texts)]) + "\n")
        data = []
        for i, text in enumerate(texts):
            vector = [float(text.lower().count(chr(97 + n))) for n in range(26)]
            if mode == "short":
                vector = vector[:5]
            data.append({"object": "embedding", "index": i, "embedding": vector})
        answer = json.dumps({"object": "list", "data": data, "model": body["model"]})
        if mode == "nan":
            answer = answer.replace("0.0", "NaN")
        if mode == "hang":
            open("hangs", "w").close()
            time.sleep(600)
        if mode == "text":
            answer = json.dumps({"data": [{"index": i, "embedding": "AACAPw=="} for i in range(len(texts))]})
        status = 500 if mode == "down" else 400 if mode == "picky" and "poison" in "".join(texts) else 200
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
open("port.new", "w").write(str(server.server_address[1]))
import os
os.rename("port.new", "port")
server.serve_forever()
PYTHON
echo good >mode
: >asked
python3 service.py &
tap_pids="$! $tap_pids"
wait_for 20 test -f port || tap_bail 'the embedding service does not start'
service="http://127.0.0.1:$(cat port)/v1"
export MY_KEY=sk-secret-of-mine
settings="\"embeddings\":{\"provider\":\"openai\",\"model\":\"letters\",\"base_url\":\"$service\",\"dimensions\":26,\"api_key_env\":\"MY_KEY\"}"
asked() { wc -l <asked | tr -d ' '; }

with_store "$settings"
STATE=$WORK/state
api_start
remember 'aaab'
remember 'bbbc'
is "$(asked)" 2 'the service is asked for each new text'
like "$(cat asked)" 'Bearer sk-secret-of-mine", "letters"' 'with key and model'
find 'aab' '"limit":1'
is "$(found)" 'aaab' 'the nearest is found'
is "$(scores)" 0.995 'by the cosine of its vectors: (1 + 7 / sqrt(5 * 10)) / 2'
find 'aab' '"limit":1,"distance_metric":"euclidean"'
is "$(scores)" 0.5 'or another measure, which is not normalised'
find 'aab' '"limit":1,"distance_metric":"manhattan"'
is "$(scores)" 0.5 'manhattan distance 1'
find 'aab' '"limit":1,"distance_metric":"dot_product"'
is "$(scores)" "$(awk 'BEGIN { printf "%.4f", 1 / (1 + exp(-7)) }')" 'the product 7'
before=$(asked)
find 'aab'
remember 'aaab'
is "$(asked)" "$before" 'neither a query nor a text is asked for twice'

# ---- the service does not answer ----

for mode in down nan text short; do
	echo $mode >mode
	with_store "$settings"
	serve_stop
	STATE=$WORK/state
	api_start
	remember "zzz $mode"
	is "$STATUS" 200 "$mode: a memory is stored"
	find "$mode" '"retrieval_strategy":"relevance"'
	is "$(found)" "zzz $mode" "$mode: and found by its words"
	find "$mode" '"retrieval_strategy":"hybrid"'
	is "$(found)" "zzz $mode" "$mode: also by a hybrid search"
	find 'something new'
	is "$(said)" '503 STORE_UNAVAILABLE Store is unavailable' "$mode: by similarity nothing can be said"
	unlike "$(cat "$SERVE_ERR")" sk-secret "$mode: the key is not in the log"
done
echo picky >mode
with_store "$settings"
serve_stop
STATE=$WORK/state
api_start
remember 'poison'
is "$STATUS" 200 'a memory whose text the service refuses is stored'
find 'poison'
is "$(said)" '503 STORE_UNAVAILABLE Store is unavailable' 'nothing is like it'
find 'something newer'
is "$STATUS" 200 'and what others look for is found meanwhile'
echo hang >mode
wait_for 90 test -f hangs
serve_stop
ok '[ ! -e "$WORK/state/store.db-wal" ]' 'who hangs keeps no process from closing what it has'
echo good >mode
STATE=$WORK/state
api_start
vectors() {
	find 'zzz' '"limit":100'
	[ "$(json '.data.results | map(select(.content | startswith("zzz"))) | length' "$BODY")" = 4 ]
}
ok "wait_for 90 vectors; true" 'it answers again'
vectors
is "$?" 0 'what was stored meanwhile gets its vectors, also after a restart'

# ---- another model ----

serve_stop
STATE=$WORK/state
with_store
"$AGENTGRAPH" check --state "$STATE" >out 2>&1
is "$?" 0 'another model is no mistake'
if [ -n "$PG_DIR" ]; then # a check opens no database server's store, a start does
	api_start
	cp "$SERVE_ERR" out
	serve_stop
	STATE=$WORK/state
fi
like "$(cat out)" 'store: some memories have vectors of another model than builtin:ngrams-1' 'but is told'
api_start
like "$(cat "$SERVE_ERR")" 'another model' 'also when it is served'
remember 'new one'
find 'zzz' '"limit":100'
is "$(found)" 'new one' 'vectors of two models are never compared'
find 'zzz' '"retrieval_strategy":"relevance"'
is "$(json '.data.results | length' "$BODY")" 4 'words find all'
"$AGENTGRAPH" embed --show --state "$STATE" >out
like "$(cat out)" 'openai:letters, 26 dimensions  \(not searched\)' 'the command shows what made them'
"$AGENTGRAPH" embed --state "$STATE" >out
like "$(cat out)" '8  made anew' 'and makes them anew'
find 'zzz' '"limit":100'
is "$(json '.data.results | length' "$BODY")" 9 'while the service runs'
serve_stop
configure
"$AGENTGRAPH" embed --state "$WORK/state" >out 2>&1
is "$? $(cat out | tail -1)" '1 agentgraph: no store is configured' 'without a store there is nothing to do'

# ---- mistakes in the configuration ----

# refuses MEMBERS TEXT
refuses() {
	with_store "\"embeddings\":$1"
	"$AGENTGRAPH" check >out 2>&1
	is "$?" 1 "$1 is refused"
	like "$(cat out)" "$2" 'with a sentence'
}
refuses '{}' 'agentgraph.json: embeddings.provider: expected "openai"'
refuses '{"provider":"magic","model":"x"}' 'embeddings.provider: expected "openai", found'
refuses '{"provider":"openai"}' 'embeddings.model: expected a string that is not empty'
refuses '{"provider":"openai","model":"x","base_url":"http://127.0.0.1:1/v1","dimensions":0}' 'embeddings.dimensions: expected an integer from 1 to 65536'
refuses '{"provider":"openai","model":"x","base_url":"http://127.0.0.1:1/v1","dimensions":65537}' 'embeddings.dimensions: expected an integer from 1 to 65536'
refuses '{"provider":"openai","model":"x","base_url":"ftp://x"}' 'embeddings: .*base_url'

done_testing
