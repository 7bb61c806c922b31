#!/bin/bash
# SPDX-License-Identifier: ISC
# The commands other than `serve`, and the snippet in an nginx that somebody else configured.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

# run ARGUMENT…: sets OUT, ERR and CODE.
run() {
	"$AGENTGRAPH" "$@" >run.out 2>run.err </dev/null
	CODE=$?
	OUT=$(cat run.out)
	ERR=$(cat run.err)
}

# ---- the command line ----

run
is "$CODE" 2 "no command is a usage error"
run frobnicate
is "$CODE" 2 "an unknown command is one"
like "$ERR" '^agentgraph: there is no command "frobnicate"' "with a sentence that names it"
run serve --colour red
is "$CODE" 2 "an unknown option is one"
like "$ERR" '^agentgraph: there is no option --colour; see agentgraph help serve$' "with a sentence that names it"
run serve --processes many
is "$CODE" 2 "a number that is none is one"
run serve --processes
is "$CODE" 2 "an option without its value is one"
run serve --no-nginx=yes
is "$CODE" 2 "a flag with a value is one"
run check here
is "$CODE" 2 "an argument too many is one"
run backup
is "$CODE" 2 "an argument too few is one"
for address in example 127.0.0.1: 127.0.0.1:70000 1:2:3; do
	run serve --listen "$address"
	is "$CODE" 2 "the address $address is one"
done
like "$ERR" '^agentgraph: --listen must be HOST:PORT' "and the sentence says what is expected"
run serve --listen 192.0.2.1:8080
is "$CODE" 1 "an address of another machine is none"
run serve --socket-mode 0999
is "$CODE" 2 "a mode that is none is one"
for command in check nginx-conf; do
	run "$command" --prefix agent
	is "$CODE" 2 "$command: a prefix that is no path is one"
	like "$ERR" '^agentgraph: --prefix must be a path like /agent.* not "agent"$' "and the sentence says what is expected"
done
for from in sqlite:/none mysql://x; do
	run copy --from "$from" --to sqlite:"$WORK"/new
	is "$CODE $(ls -d new 2>&1 >/dev/null | wc -l)" '2 1' "a copy from $from to where it can not go is one, and makes nothing"
done
(
	trap '' XFSZ
	ulimit -f 1
	"$AGENTGRAPH" init half 2>run.err
)
like "$? $(cat run.err) $(ls -A half)" '^1 agentgraph: cannot write half/README.md: File too large $' "a project that cannot be written whole is not left"
echo '{"agent": "a:b"}' >foreign.json
sh -c 'trap "" XFSZ; ulimit -f 1; exec "$0" init --from foreign.json half' "$AGENTGRAPH" >run.out 2>run.err
like "$? $(cat run.err) $(ls -A half)" '^1 agentgraph: cannot write half/graph.json: File too large $' "nor one of another service's configuration"
rm foreign.json
run init --list react
is "$CODE" 2 "an argument where there is none is one"
ok '[ ! -e react ]' "and makes nothing"
run help serve check
is "$CODE $ERR" '2 agentgraph: there is no command "serve check"' "help of two commands is one"
run help runs show
like "$CODE $OUT" '^0 usage: agentgraph runs ' "that of a subcommand is its command's"
run --help
is "$CODE" 0 "--help is no error"
for command in serve check init nginx-conf chat graph routes backup version help; do
	like "$OUT" "^  $command " "and lists $command"
	"$AGENTGRAPH" help "$command" | grep -q "^usage: agentgraph $command"
	ok $? "$command has help of its own"
done
like "$("$AGENTGRAPH" help --help 2>&1)" '^usage: agentgraph help' "help explains itself as the others do"
for command in $("$AGENTGRAPH" help | sed -n 's/^  \([a-z-]*\)  .*/\1/p'); do
	"$AGENTGRAPH" help "$command" >help.out
	sed -n '/^$/q; p' help.out | grep -o -e '--[a-z-]*' | sort -u >taken
	sed -n 's/^  \(--[a-z-]*\) .*[^ ]$/\1/p' help.out | sort -u >explained
	is "$(comm -3 taken explained | paste -sd' ')" "" "$command --help explains each of its $(wc -l <taken) options, and no other"
done
is "$("$AGENTGRAPH" serve --help | grep -c '^  --')" 10 "those of serve among them"
run version
like "$OUT" '^agentgraph [0-9]+\.[0-9]+' "version prints it"
run routes
is "$CODE" 0 "the routes can be listed"
like "$OUT" '/v1/graph/invoke.*graph:invoke' "with their permissions"
echo '{"agent": "builtin:demo", "auth": "jwt"}' >jwt.json
printf 'JWT_SECRET_KEY=0123456789abcdef0123456789abcdef\nJWT_ALGORITHM=HS256\n' >secrets
run routes --config jwt.json --environment secrets
is "$CODE" 0 "with the secrets of a file"
run routes --environment nosuch
is "$CODE $ERR" "1 agentgraph: error: --environment: cannot read nosuch: No such file or directory" "which must be there"


# ---- output that cannot be written ----

for command in --help 'help serve' version graph routes 'nginx-conf --full' 'init --list'; do
	"$AGENTGRAPH" $command >/dev/full 2>run.err
	is $? 1 "$command on a full disk fails"
	like "$(cat run.err)" ': cannot write all of the output' "and says so"
done
"$AGENTGRAPH" version >&- 2>run.err
is $? 1 "so does one whose output is closed"
{
	wait_for 20 test -e gone
	(trap '' PIPE; "$AGENTGRAPH" nginx-conf 2>run.err; echo $? >run.code)
} | {
	exec <&-
	: >gone
}
is "$(cat run.code)" 1 "so does one whose reader is gone"
for program in agentgraph-fcgi agentgraph-follow agentgraph-relay agentgraph-runner agentgraph-ws; do
	"$(dirname "$AGENTGRAPH")/$program" --version >/dev/full 2>run.err
	is $? 1 "$program on a full disk fails"
done

# ---- check ----

run check --state state
is "$CODE" 0 "without a file the built-in graph is checked"
ok '[ ! -e state ]' "and nothing is made by that"
mkdir -m 700 empty
run check --state empty
is "$CODE $(ls empty)" "0 " "nor in a directory without databases"
echo '{"agent": "builtin:demo", "auth": 7, "rate_limit": {"requests": 0}, "websocket": {"max_connections": -1}}' >bad.json
run check --config bad.json
is "$CODE" 1 "a bad configuration fails"
is "$(grep -c '^agentgraph: error: bad.json' run.err)" 3 "with a line for each of its mistakes"
like "$ERR" '^agentgraph: configuration bad.json test failed: 3 errors$' "and a sum"
echo '{"agent": "builtin:demo", "auth": 7}' >bad.json
run check --config bad.json
like "$ERR" '^agentgraph: configuration bad.json test failed: 1 error$' "one error is one"
echo '{"agent": "builtin:demo", "rate_limit": {"enabled": false, "enabled": true}}' >bad.json
run check --config bad.json
is "$CODE" 1 "a key that stands there twice is a mistake"
like "$ERR" '^agentgraph: error: bad.json: rate_limit.enabled: expected the key once, found it twice$' "with its name"
# agent IMPORT REGEX NAME: a configuration with that agent is refused, in words that name it and its key.
agent() {
	echo "{\"agent\": \"$1\", \"auth\": null}" >bad.json
	run check --config bad.json
	is "$CODE" 1 "$3"
	like "$ERR" "error: bad.json: agent: $2" "with file, key and what was expected"
}
touch agent.py && mkdir -p graph && touch graph/react.py
agent nosuch/graph.so:build '[^ ]*/nosuch/graph.so: expected a loadable plug-in: ' 'a plug-in that is not there is refused'
agent graph.json:nosuch '[^ ]*/graph.json: expected a readable JSON file: No such file' 'and a document'
echo '{"$schema": "x", "one": {}, "two": {}}' >two.json
agent two.json:three '[^ ]*/two.json: /three: the document has no graph of that name; it has one, two$' 'and a graph that a document lacks'
agent builtin:nosuch "expected one of builtin:demo, builtin:live-demo, found 'builtin:nosuch'" 'and a built-in graph'
for path in agent.py:graph graph.react:app ./graph/react.py:app; do
	agent $path '[^ ]*\.(py|so): Python modules cannot be loaded, expected .*FILE.so.*FILE.json' "no Python module is loaded, $path"
done
echo '{"agent": "builtin:demo", "auth": {"method": "custom", "path": "agent.py:auth"}}' >bad.json
run check --config bad.json
like "$ERR" 'bad.json: auth.path: .*/agent.py: Python modules cannot be loaded, expected a plug-in' "for no key"

run check --config nowhere.json
is "$CODE" 1 "a missing file fails"
MAX_REQUEST_SIZE=much run check
is "$CODE" 1 "a bad variable fails"
like "$ERR" '^agentgraph: error: .*MAX_REQUEST_SIZE' "and is named"
DOCS_PATH=/v1/graph REDOCS_PATH=/v1/threads/x run check
is "$CODE" 1 "so do pages where routes lie"
like "$ERR" '^agentgraph: error: DOCS_PATH: expected a path that no route has' "which are named"
like "$ERR" '^agentgraph: error: REDOCS_PATH: expected a path that no route has' "each of them"
DOCS_PATH=/1/2/3/4/5/6/7 run check
is "$CODE $(grep -c 'error: DOCS_PATH: expected a path of at most' <<<"$ERR")" "1 1" "those of more parts than a route has"
CONSOLE_PATH=/v1/graph run check
is "$CODE" 1 "and the console's"
like "$ERR" '^agentgraph: error: CONSOLE_PATH: expected a path that no route has' "which is named, too"
DOCS_PATH=/v1/docs run check
is "$CODE" 0 "other paths beside them are free"
AGENTGRAPH_SYNCHRONOUS=off run check
is "$CODE" 1 "also one that the databases read"
like "$ERR" 'error: AGENTGRAPH_SYNCHRONOUS: expected NORMAL or FULL, found "off"' "with what was expected"
ln -s nowhere dangling
run check --state dangling
is "$CODE $(grep -c 'error: the state directory .*/dangling is a link to nowhere' <<<"$ERR")" "1 1" "a state directory that is a link to nowhere fails"
mkdir -p broken && echo 'this is no database, and it is long enough to be looked at as one' >broken/threads.db
run check --state broken
is "$CODE" 1 "a database that is none fails"
mkdir -p broken2 && cp broken/threads.db broken2/files.db
run check --state broken2
is "$CODE" 1 "also one of files"
like "$ERR" '^agentgraph: error: .*/files\.db ' "which is named"
if command -v "${CC:-cc}" >/dev/null; then
	echo '{"agent": "crash.so:crash", "auth": null}' >crash.json
	printf 'int crash(void *graph);\nint crash(void *graph) { return !graph; }\n' >crash.c
	${CC:-cc} -shared -fPIC -o crash.so crash.c
	run check --config crash.json
	is "$CODE" 1 "a plug-in that does not fit fails the check"
	printf '#include <stdlib.h>\n__attribute__((constructor)) static void crash(void) { abort(); }\n' >crash.c
	${CC:-cc} -shared -fPIC -o crash.so crash.c
	run check --config crash.json
	like "$CODE $ERR" '^1 agentgraph: error: .* crashed while it was loaded' "so does one that crashes, not the program"
	mkdir -m 700 looked && touch looked/threads.db
	for command in graph 'runs list' 'threads list'; do
		# shellcheck disable=SC2086 # words
		AGENTGRAPH_STATE_DIR=$PWD/looked run $command --config crash.json
		like "$CODE $ERR" '^[1-9][0-9]* agentgraph: error: .* crashed while it was loaded' "$command does not die of it silently"
	done
	like "$ERR" '^agentgraph: error: ' "with a sentence"
fi

# ---- init ----

run init project
is "$CODE" 0 "init makes a project"
ok '[ -s project/agentgraph.json ] && [ -s project/graph.json ] && [ -s project/README.md ]' "with configuration, graph and README"
is "$(stat -c %a project/.env)" 600 "and settings for the owner alone"
like "$OUT" "^    $(readlink -f "$AGENTGRAPH") check" "it says what to type next"
run init "it's another"
like "$OUT" "^    cd 'it'\\\\''s another'" "as a shell takes it"
PATH=$(dirname "$AGENTGRAPH"):$PATH run init another
like "$OUT" '^    agentgraph check' "by its name where PATH has it"
(cd project && "$AGENTGRAPH" check) 2>check.err
is $? 0 "the project passes the check"
unlike "$(cat check.err)" 'error' "without an error"
echo mine >project/graph.json
run init project
is "$CODE" 1 "init does not overwrite"
is "$(cat project/graph.json)" mine "not a byte"
run init /dev/null/x
is "$CODE" 1 "a directory that cannot be made is an error"
run init --list
is "$CODE $(printf '%s\n' "$OUT" | cut -d' ' -f1 | tr '\n' ' ')" '0 assistant react supervisor desks approval knowledge ' "templates are listed"
for template in react supervisor desks approval knowledge; do
	run init "$template-project" "$template"
	is "$CODE" 0 "init makes the template $template"
	(cd "$template-project" && OPENAI_BASE_URL=http://127.0.0.1:9/v1 "$AGENTGRAPH" check) 2>check.err
	is $? 0 "which passes the check"
done
# ---- what others have ----

mkdir others && cd others
for file in agentflow.json 10xgraph.json langgraph.json; do
	echo '{"agent": "graph.react:app", "env": ".env", "auth": null, "redis": null}' >$file
	run check --state state
	is "$CODE" 1 "with $file the demo is not served"
	like "$ERR" "error: there is $file, but no agentgraph.json: .*agentgraph init" "but said what to do"
	run serve --listen 0 --state state
	is "$CODE" 1 "by serve neither"
	echo '{"agent": "builtin:demo", "auth": null}' >own.json
	run check --state state --config own.json
	is "$CODE" 0 "a configuration that is named is taken"
	GRAPH_PATH=own.json run check --state state
	is "$CODE" 0 "by GRAPH_PATH too"
	rm $file
done
echo 'APP_NAME=theirs' >.env
echo '{"agent": "graph.react:app", "env": ".env", "auth": null, "redis": null, "store": "their.store:Store",
	"injectq": "their.container:container", "evaluation": {"serve": false}, "rate_limit": {"requests": 7},
	"remote_tools": [{"node": "t", "name": "n", "description": "d"}]}' >agentflow.json
run init --from agentflow.json
is "$CODE" 0 "init makes our configuration of one of theirs"
like "$OUT" 'agent: Python modules cannot be loaded' "says what cannot be had"
run check --state state
is "$CODE" 0 "and it works" || diag "$ERR"
is "$(jq -c '[.agent, .env, .store, .injectq, .evaluation.serve, .rate_limit.requests]' agentgraph.json)" \
	'["graph.json:assistant",".env","builtin:store",null,false,7]' "with the keys that it had"
run init --from agentflow.json
is "$CODE" 1 "init --from does not overwrite"
run init --from agentflow.json elsewhere
is "$CODE $(jq -r .env elsewhere/agentgraph.json)" "0 $PWD/.env" "in another directory the dotenv file is found"
cd elsewhere && run check --state state
is "$CODE" 0 "there it works, too" || diag "$ERR"
cd ..
echo '{"agent": "graph.react:app", "auth": {"method": "custom", "path": "auth.own:Auth"}, "env": ".nothing"}' >10xgraph.json
run init --from=10xgraph.json closed
like "$CODE $OUT" 'auth: still names a Python module' "what lets people in is not left out"
is "$(jq -c '[.auth.path, .env]' closed/agentgraph.json)" '["auth.own:Auth",null]' "but a dotenv file that is not there is"
echo '{"agent": "builtin:demo", "auth": "jwt"}' >plain.json
run init --from plain.json plain
is "$CODE $(jq -c . plain/agentgraph.json) $(ls plain)" '0 {"agent":"builtin:demo","auth":"jwt"} agentgraph.json' "what fits stays as it is"
echo '{"dependencies": ["."], "graphs": {"agent": "./a.py:graph"}}' >langgraph.json
run init --from langgraph.json lang
is "$CODE" 1 "programs are no configuration"
like "$ERR" 'langgraph.json: its graphs are programs' "which is said"
for bad in nowhere.json .env; do
	run init --from $bad none
	is "$CODE" 1 "$bad is none either"
done
run init --from plain.json a b
is "$CODE" 2 "one directory is enough"
cd ..

run init other nonsense
is "$CODE" 2 "another one is a usage error"
like "$ERR" 'one of assistant, react, supervisor, desks, approval, knowledge' "which names them"
rm -rf project
run init project
cd project && serve_run --listen 127.0.0.1:0
ok $? "the project can be served"
BASE=$(sed -n 's/^agentgraph: serving .* on //p' "$SERVE_OUT")
http POST /v1/graph/invoke '{"messages": [{"role": "user", "content": "Hello"}]}'
like "$BODY" 'You said: Hello' "and its reply node answers"
http POST /v1/graph/invoke '{"messages": [{"role": "user", "content": "What time is it?"}]}'
like "$BODY" 'It is [0-9][0-9]:[0-9][0-9] on ' "and so does the node that is a program"

# ---- backup ----

state=$STATE
run backup "$WORK/copy" --state "$state"
is "$CODE" 0 "the databases can be copied while the service runs"
ok '[ -e "$WORK/copy" ]' "and the copy is there"
is "$ERR" "" "without a word that cron would send by mail"
serve_stop
cd "$WORK" || exit 1
echo '{"agent": "nowhere.json:x", "auth": "jwt", "cache": "$NO_SUCH_VARIABLE"}' >secret.json
(unset JWT_SECRET_KEY JWT_ALGORITHM; "$AGENTGRAPH" backup copy3 --config secret.json --state "$state") >run.out 2>run.err
is "$?$(cat run.err)" 0 "without the secrets of the service they can be copied, too"
ok '[ -s copy3/threads.db ]' "and are"
mkdir nothing
for command in 'backup copy2' 'embed --show' 'runs list' 'threads list'; do
	# shellcheck disable=SC2086 # words
	run $command --state nothing
	is "$CODE $ERR $(ls nothing)" \
		"1 agentgraph: error: $PWD/nothing/threads.db: No such file or directory; --state or AGENTGRAPH_STATE_DIR names the state directory " \
		"$command makes no state of a directory that has none"
done
echo '{"agent": "builtin:demo", "database": "$NO_SUCH_VARIABLE"}' >unset.json
run backup copy2 --config unset.json --state nothing
is "$CODE $ERR" '1 agentgraph: error: unset.json: database: expected a URL, found the variable NO_SUCH_VARIABLE, which is not set' \
	"nor is it blamed where the storage may be another"

run backup deep/er/copy --state "$state"
is "$CODE" 0 "what is missing above the copy is made"
mkdir killed
touch killed/threads.db.part killed/threads.db.part-journal killed/files.db killed/store.db.part
flock killed "$AGENTGRAPH" backup killed --state "$state" >run.out 2>run.err
is "$? $(cat run.err)" "1 agentgraph: backup of $state to killed failed: another backup is being made in killed" \
	"two backups are not made in one directory"
touch killed/mine
run backup killed --state "$state"
is "$CODE $(cd killed && echo ./*)" '1 ./files.db ./mine ./store.db.part ./threads.db.part ./threads.db.part-journal' \
	"one whose directory has something else is refused, and takes nothing away"
rm killed/mine
run backup killed --state "$state"
is "$CODE $(cd killed && echo ./*)" "0 $(cd "$WORK/copy" && echo ./*)" "what a killed one has left does not keep the next one out"

# ---- restore ----

threads() { sqlite3 "$1/threads.db" 'SELECT count(*) FROM threads'; }
mkdir -p saved/ab saved/incoming && echo 'a file' >saved/ab/file && echo part >saved/incoming/upload
export MEDIA_STORAGE_PATH=$WORK/restored-files
run restore copy --state new/state --files saved
is "$CODE" 0 "a backup is put back" || diag "$ERR"
is "$(threads new/state) $(stat -c %a new/state new/state/threads.db | paste -sd' ')" "$(threads "$WORK/copy") 700 600" "with all its threads"
is "$(cd restored-files && find . -type f) $(cat restored-files/ab/file)" "./ab/file a file" "and the files that are whole"
run restore copy/threads.db --state new/state
is "$CODE $ERR" "1 agentgraph: restore of copy/threads.db into $PWD/new/state failed: copy/threads.db/threads.db: Not a directory" \
	"what cannot be looked into is not called incomplete"
run check --state new/state
is "$CODE" 0 "the service takes it"
echo more >saved/ab/more
run restore copy --state new/state --files saved
is "$CODE $(ls restored-files/ab)" "1 file" "what is there is not overwritten, and no file copied then"
like "$ERR" '/new/state/threads.db exists: --force replaces' "unless one says so"
rm saved/ab/more
sqlite3 new/state/threads.db 'DELETE FROM threads'
touch new/state/threads.db-wal new/state/threads.db-shm
run restore copy --state new/state --files saved --force
is "$CODE $(threads new/state) $(cd new/state && ls *.part *-wal restoring 2>/dev/null)" "0 $(threads copy) " "and then nothing of it stays"
like "$OUT" '0 files were copied to .*, and 1 were there' "files that are there are left alone"
mkdir foreign
sqlite3 foreign/threads.db 'CREATE TABLE threads (a)'
cp -r copy newer && sqlite3 newer/files.db 'PRAGMA user_version = 99'
for backup in empty nowhere copy/threads.db foreign newer; do
	run restore $backup --state new/state --files saved/incoming --force
	is "$CODE $(threads new/state) $(ls restored-files)" "1 $(threads copy) ab" "$backup is no backup, and changes nothing"
	run restore $backup --state none
	is "$CODE $(ls -d none 2>/dev/null)" '1 ' 'nor makes a directory'
done
run restore copy --state none --files nowhere
is "$CODE $ERR $(ls -d none 2>/dev/null)" '1 agentgraph: cannot read nowhere: No such file or directory ' 'nor for files that are not there'
run restore newer --state none
like "$ERR" 'newer/files.db has schema version 99, but this program knows' 'and it is said why'
cp -r copy torn && printf 'torn' | dd of=torn/threads.db bs=1 seek=4096 conv=notrunc 2>/dev/null && truncate -s 6000 torn/threads.db
run restore torn --state new/state --force
is "$CODE $(threads new/state) $(ls new/state/*.part 2>/dev/null)" "1 $(threads copy) " "a torn one neither"
ln -s state new/link
run restore new/link --state new/state --force
is "$CODE $ERR $(threads new/state)" \
	"1 agentgraph: restore of new/link into $PWD/new/state failed: new/link is the state directory itself $(threads copy)" \
	"nor does one replace itself"
touch new/state/restoring
run check --state new/state
is "$CODE" 1 "what an interrupted restore left is not served"
like "$ERR" 'a restore into .* was interrupted: run agentgraph restore again' "and says what to do"
run restore copy --state new/state
is "$CODE $(threads new/state) $(ls new/state/restoring 2>/dev/null)" "0 $(threads copy) " "again makes it whole"
mkdir new/state/restoring
run restore copy --state new/state
is "$CODE $(threads new/state) $(ls -d new/state/restoring 2>/dev/null)" "0 $(threads copy) " "as it does over what an interrupted copy left"
if [ "$(id -u)" = 0 ]; then
	mkdir given && chown 12345:12345 given
	run restore copy --state given
	is "$CODE $(find given ! -user 12345)" "0 " "what root restores is the owner's of the state"
	run check --state given
	run threads list --state given
	is "$(find given ! -user 12345)" '' "so is what its commands make there"
	like "$(ls given)" '^shared$' "which they do"
	# Who has the directory may have put links into it.
	for name in shared reserve run/serve.lock; do
		echo precious >precious
		rm -rf fresh && mkdir fresh fresh/run && ln -s "$PWD/precious" "fresh/$name" && chown -R 12345:12345 fresh
		run restore copy --state fresh
		run check --state fresh
		is "$(cat precious)" precious "where $name is a link root writes nothing through it"
	done
fi
unset MEDIA_STORAGE_PATH
STATE=$WORK/new/state
serve_start || tap_bail "the restored state is not served"
run restore copy --state new/state --force
is "$CODE" 1 "nothing is restored below a service that runs"
like "$ERR" 'process [0-9]+ serves from this state directory already' "which is said"
serve_stop

# ---- variables as systemd has them ----

printf 'APP_NAME=two words # and a half\nMAX_REQUEST_SIZE="4096"\nDOCS_PATH=/manual\nJWT_SECRET_KEY=$(touch ran) `touch ran`\n' >environment
run nginx-conf --environment environment
is "$CODE" 0 "a file of systemd is read" || diag "$ERR"
like "$OUT" 'client_max_body_size 4096;' "with what it sets"
MAX_REQUEST_SIZE=8192 run nginx-conf --environment environment
like "$OUT" 'client_max_body_size 4096;' "in the place of what is set here"
ok '[ ! -e ran ]' "nothing in it is run"
run check --environment nowhere --state new/state
is "$CODE" 1 "one that is not there is a mistake"
like "$ERR" 'error: --environment: cannot read nowhere: No such file' "with its name"

# ---- the snippet ----

run nginx-conf --socket /run/agentgraph/fcgi.sock
is "$CODE" 0 "the snippet is printed"
like "$OUT" 'fastcgi_pass "unix:/run/agentgraph/fcgi.sock";' "with the socket"
unlike "$OUT" '@[A-Z_]+@' "and everything filled in"
MAX_REQUEST_SIZE=4096 AGENTGRAPH_READ_TIMEOUT=77 AGENTGRAPH_SEND_TIMEOUT=7 FRAME_OPTIONS=SAMEORIGIN DOCS_PATH=/manual run nginx-conf
like "$OUT" 'client_max_body_size 4096;' "the size limit is the configured one"
like "$OUT" 'fastcgi_read_timeout 77s;' "so is the time-out"
like "$OUT" ' send_timeout 7s;' "and that of readers"
like "$OUT" 'add_header X-Frame-Options "SAMEORIGIN" always;' "so are the headers"
like "$OUT" 'location = "/manual"' "so are the pages"
AGENTGRAPH_READ_TIMEOUT=soon run nginx-conf
is "$CODE" 1 "a time-out that is no number is refused"
SECURITY_HEADERS_ENABLED=false run nginx-conf
unlike "$OUT" 'X-Frame-Options "' "headers can be turned off"
run nginx-conf --state 'a$b'
is "$CODE" 1 "a path that nginx cannot be told is refused"
run nginx-conf --socket "/run/$(printf '%093d' 0)/s"
is "$CODE" 0 "a socket whose neighbours' paths just fit is written"
run nginx-conf --socket "/run/$(printf '%094d' 0)/s"
is "$CODE$OUT" 1 "one that is longer is not"
like "$ERR" '^agentgraph: error: the path of the socket for runs, "/run/0.*/s.follow", is too long for a socket' "as nginx would refuse it"
CSP_POLICY='default-src $self' run nginx-conf
is "$CODE" 0 "a header that nginx cannot be told is left out"
like "$ERR" '^agentgraph: warning: Content-Security-Policy' "with a warning"

nginx=$(command -v nginx || echo /usr/sbin/nginx)
if [ ! -x "$nginx" ]; then
	done_testing
	exit 0
fi
mkdir -p full
run nginx-conf --full --state "$WORK/full"
mkdir -p full/run && printf '%s\n' "$OUT" >full/nginx.conf
"$nginx" -t -p "$WORK/full" -c "$WORK/full/nginx.conf" -e stderr >nginx.out 2>&1
ok $? "nginx accepts the whole configuration" || diag "$(cat nginx.out)"

# Somebody's server, at a Unix socket, with a site of its own, whose settings are for large answers of other services,
# for a cache, and for pages that nginx puts together.
api_start
mkdir -p site/html && echo 'my own page' >site/html/index.html
ORIGINS=https://a.example,https://b.example "$AGENTGRAPH" nginx-conf --socket "$SOCKET" >site/snippet.conf
cat >site/nginx.conf <<END
daemon off;
$([ "$(id -u)" != 0 ] || echo 'user root;')
pid $WORK/site/nginx.pid;
error_log stderr;
events { }
http {
    $(nginx_paths)
    access_log off;
    proxy_buffer_size 128k;
    proxy_buffers 4 256k;
    proxy_busy_buffers_size 256k;
    fastcgi_temp_file_write_size 8k;
    fastcgi_cache_path $WORK/site/cache keys_zone=pages:1m;
    server {
        listen unix:$WORK/site/http.sock;
        fastcgi_cache pages;
        fastcgi_cache_key \$uri;
        fastcgi_cache_valid any 1m;
        fastcgi_ignore_headers Cache-Control;
        ssi on;
        root $WORK/site/html;
        location ~ \\.js\$ { return 418; }
        include $WORK/site/snippet.conf;
    }
}
END
TZ=Asia/Kathmandu "$nginx" -p "$WORK/site" -c "$WORK/site/nginx.conf" -e stderr >site/log 2>&1 &
tap_pids="$! $tap_pids"
BASE=http://site.example
site() {
	local method=$1 path=$2
	shift 2
	http "$method" "$path" "" --unix-socket "$WORK/site/http.sock" "$@"
}
wait_for 30 curl -s -o site/first --unix-socket site/http.sock http://site.example/
site GET /ping
is "$STATUS $(json .data "$BODY")" "200 pong" "the snippet serves /ping"
first=$(header X-Request-ID)
site GET /ping
ok '[ -n "$first" ] && [ "$(header X-Request-ID)" != "$first" ]' "no answer is taken from the site's cache"
printf '<p><!--# echo var="document_root" --></p>' >page.html
site POST /v1/files/upload -F file=@page.html
site GET "$(json .data.url "$BODY")"
is "$BODY" "$(cat page.html)" "an uploaded page is sent as it is"
site GET /index.html
is "$BODY" "my own page" "the site's own pages stay"
site GET /nowhere
is "$STATUS" 404 "and so do its errors"
unlike "$BODY" 'error_code' "as they were"
site GET /v1/nowhere
is "$STATUS $(json .error_code "$BODY")" "404 NOT_FOUND" "below /v1/ the service answers"
site GET /v1/a%2Fb%00
is "$STATUS $(json .detail "$BODY")" "400 Invalid path" "what cannot be parsed is answered in shape"
site POST /v1/graph/invoke -H 'Content-Length: 99999999' -H 'Origin: https://b.example'
is "$STATUS $(json .error_code "$BODY")" "413 REQUEST_TOO_LARGE" "a body over the limit is refused"
is "$(header Access-Control-Allow-Origin)" https://b.example "an allowed page may read that"
like "$(header Access-Control-Expose-Headers)" 'X-Request-ID' "with its headers"
now=$(date -u +%s)
then=$(date -u -d "$(header X-Timestamp)" +%s)
ok '[ $((now - then)) -le 2 ] && [ $((then - now)) -le 2 ]' "times are in UTC on a machine in another zone"
site POST /v1/graph/invoke -H 'Content-Length: 99999999' -H 'Origin: https://bXexample'
is "$(header Access-Control-Allow-Origin)" "" "another page may not read it"
is "$(header Strict-Transport-Security)" "" "plain HTTP gets no Strict-Transport-Security"
site POST /v1/graph/invoke -H 'Content-Length: 99999999' -H 'X-Forwarded-Proto: https'
like "$(header Strict-Transport-Security)" '^max-age=31536000; includeSubDomains$' "HTTPS gets it"
site POST /v1/files/upload -H 'Content-Length: 99999999'
is "$STATUS $(json '.error_code + " " + .detail' "$BODY")" "413 FILE_TOO_LARGE File exceeds maximum 25.0MB" "an upload has a limit of its own"
site GET /v1/graph -H 'Accept-Encoding: gzip'
is "$STATUS" 200 "the graph is described"
site GET /openapi.json
like "$STATUS" '^(200|404)$' "the service answers for its description"
like "$HEADERS" 'X-Request-ID' "by itself"
serve_stop
site GET /ping
is "$STATUS $(json '.error_code + " " + .detail' "$BODY")" "503 SERVICE_UNAVAILABLE Service is temporarily unavailable" "without the service the snippet says so"
done_testing
