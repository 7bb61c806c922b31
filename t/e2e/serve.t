#!/bin/bash
# SPDX-License-Identifier: ISC
# The whole service: what `agentgraph serve` starts, keeps alive, reloads and stops.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

for tool in nginx:/usr/sbin/nginx curl:/usr/bin/curl jq:/usr/bin/jq; do
	command -v "${tool%%:*}" >/dev/null || [ -x "${tool#*:}" ] || tap_skip_all "no ${tool%%:*} here"
done

ping_status() {
	curl -s -o /dev/null -w '%{http_code}' --max-time 60 "$BASE/ping"
}

pings() {
	[ "$(ping_status)" = 200 ]
}

# All processes below PID, PID included.
family() {
	local child
	echo "$1"
	for child in $(children "$1"); do
		family "$child"
	done
}

all_gone() {
	local pid
	for pid in "$@"; do
		alive "$pid" && return 1
	done
	return 0
}

# The children of the service whose command line matches.
members() {
	local child
	for child in $(children "$SERVE_PID"); do
		tr '\0' ' ' <"/proc/$child/cmdline" 2>/dev/null | grep -q -e "$1" && echo "$child"
	done
}

workers_are() {
	[ "$(members agentgraph-fcgi | wc -l)" -eq "$1" ]
}

# raw BYTES [READER]: as they are to the service's port; READER (cat) has what comes back.
raw() {
	exec 3<>"/dev/tcp/127.0.0.1/${BASE##*:}"
	printf "$1" >&3
	${2:-cat} <&3
	exec 3>&-
}
first_line() { head -n 1 | tr -d '\r'; }

# The names of the members of an error, in the order in which they come.
shape() {
	json '[., .error, .metadata] | map(keys_unsorted | join(" ")) | join("|")' "$BODY"
}

# Whether BODY is the error that HEADERS, STATUS and the arguments CODE and TEXT say.
is_error() {
	is "$STATUS" "$1" "$4: status $1"
	is "$(json '[.error_code, .error.code, .detail, .error.message, .metadata.message] | unique | sort | join("|")' "$BODY")" \
		"$(printf '%s\n%s\n' "$2" "$3" | sort -u | paste -sd '|')" "$4: code and text in all their places"
	is "$(json '.metadata | .request_id + " " + .timestamp' "$BODY")" \
		"$(header X-Request-ID) $(header X-Timestamp)" "$4: headers and body agree"
	is "$(json '.error.details | type' "$BODY")" array "$4: details are an array"
	is "$(header Content-Type)" application/json "$4: it is JSON"
	is "$(header X-Frame-Options)" DENY "$4: security headers are there"
}

# ---- start and stop ----

serve_start
ok $? "the service starts on a free port"
[ -n "$BASE" ] || tap_bail "the rest needs a service"
is "$(cat "$SERVE_OUT")" "agentgraph: serving builtin:demo on $BASE" "standard output has one line, with agent and address"
is "$(ping_status)" 200 "it answers /ping"
is "$(stat -c %a "$STATE/run/fcgi.sock")" 600 "the socket is for its owner alone"
ok 'workers_are 2' "as many workers run as were asked for"

"$AGENTGRAPH" serve --listen 127.0.0.1:0 --state "$STATE" >second.out 2>second.err
is $? 1 "a second service on the same state directory is refused"
like "$(cat second.err)" "process $SERVE_PID serves from this state directory" "and the refusal says who is there"
"$AGENTGRAPH" serve --listen "${BASE#http://}" --state other >second.out 2>second.err
is $? 1 "a port in use is refused"
like "$(cat second.err)" "cannot listen on ${BASE#http://}: Address already in use; choose another address with --listen" "and the refusal names it"
is "$(cat second.out)" "" "a service that does not start prints nothing on standard output"
is "$(ping_status)" 200 "the first service has not noticed"

everybody=$(family "$SERVE_PID")
ok '[ "$(echo "$everybody" | wc -l)" -ge 5 ]' "supervisor, workers and nginx run"
state=$STATE
kill -INT "$SERVE_PID"
wait "$SERVE_PID"
is $? 0 "Ctrl-C ends it with status 0"
ok 'all_gone $everybody' "Ctrl-C leaves no process behind"
ok '[ ! -e "$state/run/fcgi.sock" ]' "nor the socket"
ok '[ ! -e "$state/run/nginx.pid" ]' "nor nginx's pid file"

# ---- killing ----

STATE=$state
serve_start
ok $? "it starts again on the state directory"
workers=$(members agentgraph-fcgi)
for worker in $workers; do
	kill -9 "$worker"
done
ok 'wait_for 30 pings' "it answers again after all workers were killed"
ok 'wait_for 30 workers_are 2' "the workers were replaced"
like "$(cat "$SERVE_ERR")" "worker ${workers%%[!0-9]*} ended by signal 9" "and the log says so"

master=$(members 'nginx: master')
nginx_workers=$(children "$master")
kill -9 "$master"
ok 'wait_for 30 pings' "it answers again after nginx was killed"
ok 'wait_for 30 all_gone $nginx_workers' "the killed nginx's workers are gone"
ok 'wait_for 30 members "nginx: master"' "nginx was replaced"

everybody=$(family "$SERVE_PID")
kill -9 "$SERVE_PID"
wait "$SERVE_PID" 2>/dev/null
ok 'wait_for 30 all_gone $everybody' "nothing survives kill -9 of the supervisor"
ok 'wait_for 30 test ! -e "$state/run/fcgi.sock"' "not even the socket"

# ---- reload ----

STATE=
printf 'MAX_REQUEST_SIZE=100000\n' >settings
echo '{"agent": "builtin:demo", "auth": null, "env": "settings"}' >agent.json
serve_start --config agent.json --drain 60
ok $? "it starts with a configuration file"
http POST /v1/graph/invoke "$(head -c 200000 /dev/zero | tr '\0' ' ')"
is_error 413 REQUEST_TOO_LARGE "Request body too large. Maximum size is 0.1MB" "a body over the limit"
is "$(json '.error.max_size_bytes' "$BODY")" 100000 "with the limit in bytes"
is "$(shape)" "detail error_code error metadata|code message details max_size_bytes max_size_mb|request_id timestamp message" \
	"behind what all errors have"

(
	sent=0 failed=0
	: >failures
	while [ ! -e enough ]; do
		sent=$((sent + 1))
		echo "$sent" >sent
		status=$(ping_status)
		[ "$status" = 200 ] || { failed=$((failed + 1)); echo "request $sent: $status" >>failures; }
	done
	echo "$failed" >dropped
) &
load=$!
workers=$(members agentgraph-fcgi)
echo '{"agent": 1, "store": 2}' >agent.json
kill -HUP "$SERVE_PID"
ok 'wait_for 30 grep -q "goes on with the one it has" "$SERVE_ERR"' "a bad configuration is refused by a reload"
is "$(grep -c '^agentgraph: error: agent.json' "$SERVE_ERR")" 2 "with all of its mistakes"
is "$(members agentgraph-fcgi)" "$workers" "and the workers stay"

echo '{"agent": "builtin:demo", "auth": null, "env": "settings"}' >agent.json
printf 'MAX_REQUEST_SIZE=300000\n' >settings
kill -HUP "$SERVE_PID"
ok 'wait_for 30 grep -q "reloaded configuration" "$SERVE_ERR"' "a good configuration is taken over"
ok 'wait_for 30 all_gone $workers' "the old workers leave"
kill -HUP "$SERVE_PID"
kill -HUP "$SERVE_PID"
sleep 1.5
were_sent() { [ "$(cat sent)" -gt 20 ]; }
ok 'wait_for 30 were_sent' "there were requests meanwhile"
touch enough
wait "$load"
is "$(cat dropped)" 0 "and reloads drop none of them" || diag "$(cat failures)"
ok 'wait_for 20 workers_are 2' "as many workers run as before"
http POST /v1/graph/invoke "$(head -c 200000 /dev/zero | tr '\0' ' ')"
is "$STATUS" 422 "a changed dotenv file counts after a reload, in workers and nginx"

echo '{' >agent.json
printf 'MAX_REQUEST_SIZE=100000\n' >settings
workers=$(members agentgraph-fcgi)
for pid in $workers; do
	kill -9 "$pid"
done
others_serve() { [ "$(members agentgraph-fcgi)" != "$workers" ] && workers_are 2 && [ "$(ping_status)" = 200 ]; }
ok 'wait_for 20 others_serve' "before the next one a worker that dies is replaced by one with the old files"
http POST /v1/graph/invoke "$(head -c 200000 /dev/zero | tr '\0' ' ')"
is "$STATUS" 422 "the dotenv file among them"
is "$(stat -c %a "$STATE/run/accepted.json")" 600 "which are kept for their owner alone"

# A graph with which no worker comes up while there is a file "dead", whatever its examination says.
cat >own.c <<'END'
#include <agentgraph.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
AG_PLUGIN;
static ag_result speak(ag_run *run, const ag_state *state, void *data)
{
	(void)state;
	(void)data;
	return ag_say(run, "my own");
}
int own(ag_graph *graph)
{
	if (access("dead", F_OK) == 0 && strstr(program_invocation_short_name, "fcgi"))
		_exit(1);
	ag_graph_node(graph, "speak", speak, NULL);
	ag_graph_edge(graph, AG_START, "speak");
	ag_graph_edge(graph, "speak", AG_END);
	return 0;
}
END
${CC:-cc} -D_GNU_SOURCE -I"$TOP_SRCDIR/common" -shared -fPIC -o own.so own.c || tap_bail "no plug-in"
# reload_as WORDS: says SIGHUP, and waits for one more line with them.
reload_as() {
	seen=$(grep -c "$1" "$SERVE_ERR")
	kill -HUP "$SERVE_PID"
	wait_for 20 one_more "$1"
}
one_more() { [ "$(grep -c "$1" "$SERVE_ERR")" -gt "$seen" ]; }
answers_own() {
	http POST /v1/graph/invoke '{"messages":[{"role":"user","content":"x"}]}'
	json '.data.messages[-1].content[0].text' "$BODY"
}

touch dead
echo '{"agent": "own.so:own", "auth": null, "env": "settings"}' >agent.json
printf 'MAX_REQUEST_SIZE=100000\n' >settings
before=$("$AGENTGRAPH" status --state "$STATE" --json | jq .reloads.failed)
ok 'reload_as "ERROR .*new workers could not start.*goes on with the configuration it has"' "where no new worker comes up a reload has failed"
told() { "$AGENTGRAPH" status --state "$STATE" --json | jq -e "[.reloads.failed, .reloads.last_failed, .agent] == [$((before + 1)), true, \"builtin:demo\"]"; }
ok 'wait_for 30 told' "as the status says"
ok 'workers_are 2' "nobody tries any more"
workers=$(members agentgraph-fcgi)
for pid in $workers; do
	kill -9 "$pid"
done
ok 'wait_for 20 others_serve' "and a worker that dies is replaced by one that serves"
http POST /v1/graph/invoke "$(head -c 200000 /dev/zero | tr '\0' ' ')"
is "$STATUS" 422 "with the files from before, as nginx does"
rm dead
ok 'reload_as "reloaded configuration"' "the next reload is taken over"
is "$(answers_own)" "my own" "when it comes up"

# Sockets that were bound again wait for workers that cannot start with what is served.
touch dead
rm "$STATE/run/fcgi.sock"
ok 'wait_for 20 test -S "$STATE/run/fcgi.sock"' "a socket that was removed is bound again"
echo '{"agent": "builtin:demo", "auth": null, "env": "settings"}' >agent.json
printf 'MAX_REQUEST_SIZE=300000\n' >settings
ok 'reload_as "reloaded configuration"' "a reload comes through while its workers cannot start"
ok 'wait_for 20 pings' "and the service can be reached"
ok 'wait_for 20 workers_are 2' "with as many workers as before"

# ---- what passes through ----

http GET /v1/graph:StateSchema "" -H "Accept-Encoding: gzip"
is "$STATUS $(header Content-Encoding)" "200 gzip" "a long answer is compressed when the client can read that"
is "$(gunzip -c "$RAW" | json .success)" true "and is itself again afterwards"
like "$HEADERS" "^Vary: .*Accept-Encoding" "with a Vary header"
http GET /v1/graph:StateSchema
is "$(header Content-Encoding)" "" "otherwise it is not"
http GET /ping "" -H "Accept-Encoding: gzip"
is "$(header Content-Encoding)" "" "nor is a short one"
http POST /v1/threads '{"thread_id":"patched"}'
http PATCH /v1/threads/patched '{"metadata":{"team":"x&y"}}'
is "$STATUS $(json .data.thread_data.thread_id "$BODY")" '200 patched' 'PATCH gets through'
http GET '/v1/threads?metadata.team=x%26y&status=idle'
is "$(json '.data.threads | map(.thread_id) | join(" ")' "$BODY")" patched 'and queries as they are'
http GET "/v1/threads/a%2Fb"
is "$STATUS" 404 "an id with a slash reaches the service"
http GET /v1/threads/
is "$STATUS" 422 "so does an empty one"
# stream [MS]: three pieces, each after so long.
stream() {
	curl -sN --compressed -D headers -H "Content-Type: application/json" \
		-d "{\"messages\": [{\"role\": \"user\", \"content\": \"/slow 3 ${1:-1500}\"}]}" "$BASE/v1/graph/stream"
}
arrivals=$(stream | while IFS= read -r line; do date +%s%N; done)
first=$(printf "%s\n" "$arrivals" | sed 1q)
last=$(printf "%s\n" "$arrivals" | sed -n "\$p")
ok '[ $((last - first)) -gt 500000000 ]' "the lines of a stream arrive one by one"
HEADERS=$(tr -d "\r" <headers)
is "$(header X-Accel-Buffering) $(header Content-Encoding)" "no identity" "with all of its headers"

# ---- stopping with requests in hand ----

stream 1000 >streamed &
reader=$!
wait_for 20 test -s streamed
serve_stop
is $? 0 "a stop waits for a stream"
wait "$reader"
is $? 0 "which comes to its end"
like "$(tail -n 1 streamed)" '"status":"done"' "with its last line"
serve_start --drain 100
rm streamed
stream 30000 >streamed &
reader=$!
wait_for 20 test -s streamed
before=$(date +%s)
kill -INT "$SERVE_PID"
wait_for 30 grep -q 'SIGINT: stopping' "$SERVE_ERR"
kill -INT "$SERVE_PID"
wait "$SERVE_PID"
is $? 0 "a second Ctrl-C is a clean end too"
ok '[ $(($(date +%s) - before)) -le 60 ]' "which does not wait"
wait "$reader"
serve_start --config agent.json

# ---- what nginx answers by itself ----

http GET /../etc/passwd
is_error 400 BAD_REQUEST "Invalid path" "a path that leaves the root"
http GET /v1/threads/%2e%2e/%2E./../x
is_error 400 BAD_REQUEST "Invalid path" "an encoded path that leaves the root"
http GET /v1/threads/a%00b
is_error 400 BAD_REQUEST "Invalid path" "a path with a NUL"
http GET /ping "" -H 'Host: /'
is_error 400 BAD_REQUEST "Bad request" "an invalid Host"
http GET /ping "" -H 'Content-Length: x'
is_error 400 INVALID_CONTENT_LENGTH "Invalid Content-Length header." "an invalid Content-Length"
http GET /ping "" -H 'Content-Length: 99999999999999999999'
is_error 400 INVALID_CONTENT_LENGTH "Invalid Content-Length header." "one that no number holds"
http GET "/$(head -c 70000 /dev/zero | tr '\0' a)"
is_error 414 URI_TOO_LONG "URI too long" "a long request line"
by_nginx=$(shape)
http GET /nowhere
is "$by_nginx" "$(shape)" "errors of nginx have the members of the service's, in their order"
is "$by_nginx" "detail error_code error metadata|code message details|request_id timestamp message" "which is this"
http GET /ping "" -H "X-Long: $(head -c 70000 /dev/zero | tr '\0' a)"
is_error 431 REQUEST_HEADER_TOO_LARGE "Request header too large" "a long header"
http POST /ping "" -H 'Transfer-Encoding: gzip'
is_error 501 NOT_IMPLEMENTED "Not implemented" "an unknown transfer encoding"
answer=$(raw 'GET / HTTP/7.0\r\n\r\n')
like "$answer" '^HTTP/1.1 505 ' "an unknown HTTP version is 505"
like "$answer" '"error_code":"HTTP_VERSION_NOT_SUPPORTED"' "and in shape"
like "$(raw 'nonsense\r\n\r\n')" '"detail":"Bad request"' "what is no request is 400, in shape"
http TRACE /ping
is "$STATUS" 405 "TRACE on a known path is 405"
like "$(header Allow)" GET "with the methods that the path has"
http TRACE /nowhere
is "$STATUS" 404 "TRACE on an unknown path is 404"
http GET /_agentgraph/error
is_error 404 NOT_FOUND "Not Found" "nginx's internal paths from outside"
for path in /nowhere /v1 /v1/files; do
	http GET "$path"
	is_error 404 NOT_FOUND "Not Found" "an unknown path, $path"
done
http GET /ping "" -H 'Origin: https://a.example'
is "$(header X-Request-ID | grep -Ec '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$')" 1 "request ids are UUIDs of version 4"
before=$(date -u +%s)
http POST /ping "" -H "Origin: https://a.example" -H "Transfer-Encoding: gzip"
is "$(header Access-Control-Allow-Origin)" https://a.example "errors of nginx can be read by allowed pages"
is "$(header X-Request-ID | grep -Ec '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$')" 1 "nginx's request ids are too"
now=$(date -u +%s)
then=$(date -u -d "$(header X-Timestamp)" +%s)
ok '[ "$then" -ge $((before - 1)) ] && [ "$then" -le $((now + 1)) ]' "nginx's time is the time, in UTC"
like "$(header X-Timestamp)" '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$' "with six decimals"

# What is in the way of a new one is there at once.
ln "$STATE/run/fcgi.sock" "$STATE/run/away.sock"
touch "$STATE/run/in-the-way"
mv -f "$STATE/run/in-the-way" "$STATE/run/fcgi.sock"
http GET /ping
is_error 503 SERVICE_UNAVAILABLE "Service is temporarily unavailable" "no socket to be had"
mv -f "$STATE/run/away.sock" "$STATE/run/fcgi.sock"
is "$(ping_status)" 200 "until it is there again"

# ---- workers that cannot start, and those that die one after the other ----

# A worker needs the file of the files' table, and ends where it finds something else.
mv "$STATE/files.db" files.away
mkdir "$STATE/files.db"
for pid in $(members agentgraph-fcgi); do
	kill -9 "$pid"
done
before=$(date +%s)
http GET /ping "" --max-time 60
is_error 503 SERVICE_UNAVAILABLE "Service is temporarily unavailable" "while no worker can start"
ok '[ $(($(date +%s) - before)) -le 50 ]' "the answer comes within seconds"
http POST /v1/graph/invoke '{"messages": [{"role": "user", "content": "x"}]}' --max-time 60
is "$STATUS" 503 "so it does for what has a body"
rmdir "$STATE/files.db"
mv files.away "$STATE/files.db"
ok 'wait_for 20 pings' "when they can they serve again"

(
	while [ ! -e enough-deaths ]; do
		curl -s -o slowest -w '%{time_total}\n' --max-time 60 "$BASE/ping"
	done >times
) &
load=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
	for pid in $(members agentgraph-fcgi); do
		kill -9 "$pid"
		sleep 0.1
	done
	sleep 0.2
done
wait_for 60 sh -c '[ "$(wc -l <times)" -gt 20 ]'
touch enough-deaths
wait "$load"
ok 'wait_for 20 workers_are 2' "workers that die one after the other are replaced at once"
is "$(awk '$1 > 25' times)" "" "and no request waits long"
ok '[ "$(wc -l <times)" -gt 20 ]' "of many"

# ---- sockets that somebody removed ----

for socket in fcgi.sock relay.sock; do
	rm "$STATE/run/$socket"
	ok 'wait_for 45 test -S "$STATE/run/$socket" || { diag "$(tail -n 20 "$SERVE_ERR")" && false; }' "$socket that was removed is bound again"
	is "$(stat -c %a "$STATE/run/$socket")" 600 "for its owner alone"
	ok 'wait_for 20 pings' "and the service can be reached"
	handshake=$(raw "GET /v1/graph/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n" first_line)
	is "$handshake" "HTTP/1.1 101 Switching Protocols" "by WebSockets, too"
	ok 'wait_for 20 workers_are 2' "with as many workers as before"
done
like "$(cat "$SERVE_ERR")" "WARNING .*the socket $STATE/run/fcgi.sock was removed" "and the log says so"
touch "$STATE/run/in-the-way"
rm "$STATE/run/fcgi.sock"
mv -f "$STATE/run/in-the-way" "$STATE/run/relay.sock"
ok 'wait_for 20 pings' "one that can be bound has new workers, whatever is in the way of another"
rm "$STATE/run/relay.sock"
kill -HUP "$SERVE_PID"
ok 'wait_for 20 test -S "$STATE/run/relay.sock" && wait_for 20 pings' "which is bound when that is gone"
ok 'wait_for 20 workers_are 2' "with no more workers than before"

# ---- signals ----

for signal in USR2 ALRM WINCH; do
	kill "-$signal" "$SERVE_PID"
done
ok 'wait_for 30 grep -q "signal 14 (ALRM) has no meaning here" "$SERVE_ERR"' "a signal without a meaning is logged"
like "$(cat "$SERVE_ERR")" 'signal 12 \(USR2\) has no meaning here' "SIGUSR2 among them"
is "$(ping_status)" 200 "and ends nothing"
serve_stop
is $? 0 "SIGTERM ends it with status 0"
like "$(cat "$SERVE_ERR")" 'SIGTERM: stopping' "and is in the log"

cat >nginx.sh <<'END'
#!/bin/sh
[ "$1" != -t ] || [ ! -e refuse ] || { echo "[emerg] no" >&2; exit 1; }
PATH=$PATH:/usr/sbin
exec nginx "$@"
END
chmod +x nginx.sh
origins=$(seq -f 'https://tenant-%03.0f.customers.example' -s, 150)
echo '{"agent": "builtin:demo", "auth": null, "env": "settings"}' >agent.json
: >settings
ORIGINS=$origins AGENTGRAPH_NGINX=$WORK/nginx.sh AGENTGRAPH_ACCESS_LOG=access.log serve_start --config agent.json
ok $? "it writes an access log"
for n in 001 150 151; do
	http POST /ping "" -H "Origin: https://tenant-$n.customers.example" -H "Transfer-Encoding: gzip"
	is "$(header Access-Control-Allow-Origin | wc -l)" $((n != 151)) "one of many origins, $n, is one"
done
touch refuse
ok 'reload_as "the service goes on with the one it has"' "where nginx does not take its configuration a reload has failed"
like "$(cat "$SERVE_ERR")" 'error: nginx does not take its configuration' "and says why"
rm refuse
echo MAX_REQUEST_SIZE=100000 >settings
mkdir "$STATE/run/nginx.conf.new"
ok 'reload_as "the service goes on with the configuration it has"' "so it has where nginx cannot be told"
rmdir "$STATE/run/nginx.conf.new"
logged() { grep -qs ' /ping" 200 ' access.log; }
is "$(ping_status)" 200 "with a line"
ok 'wait_for 30 logged' "for each request"
mv access.log access.log.1
kill -USR1 "$SERVE_PID"
ok 'wait_for 30 test -e access.log' "SIGUSR1 opens it anew"
is "$(ping_status)" 200 "and what follows"
ok 'wait_for 30 logged' "is in the new one"
like "$(cat "$SERVE_ERR")" 'SIGUSR1: opening the logs' "as the service's own log says"
serve_stop

# ---- not starting ----

echo '{"agent": "builtin:nothing-like-it", "auth": null}' >agent.json
timeout 100 "$AGENTGRAPH" serve --config agent.json --state other --listen 127.0.0.1:0 >bad.out 2>bad.err
is $? 1 "it does not start without a graph"
like "$(cat bad.err)" '^agentgraph: error: .*nothing-like-it' "and names what is missing"
echo '{"agent": 1, "auth": "magic", "runs": {"wait_timeout": -1}}' >agent.json
timeout 100 "$AGENTGRAPH" serve --config agent.json --state other --listen 127.0.0.1:0 >bad.out 2>bad.err
is $? 1 "it does not start with a bad configuration"
is "$(grep -c '^agentgraph: error: agent.json' bad.err)" 3 "and says all that is wrong with it"
is "$(cat bad.out)" "" "and nothing on standard output"
AGENTGRAPH_NGINX=/nowhere/nginx "$AGENTGRAPH" serve --state other --listen 127.0.0.1:0 >bad.out 2>bad.err
is $? 1 "it does not start without nginx"
like "$(cat bad.err)" 'nginx was not found .*apt-get install nginx.*AGENTGRAPH_NGINX.*--no-nginx' "and says what to do"
AGENTGRAPH_ACCESS_LOG=/nowhere/log timeout 100 "$AGENTGRAPH" serve --state other --listen 127.0.0.1:0 >bad.out 2>bad.err
is "$? $(grep -c 'error: .*/nowhere/log cannot be written: No such file' bad.err)" "1 1" "nor with an access log that cannot be"
AGENTGRAPH_NGINX=/bin/false timeout 100 "$AGENTGRAPH" serve --state other --listen 127.0.0.1:0 >bad.out 2>bad.err
is $? 1 "nor with one that ends at once"
like "$(cat bad.err)" 'nginx could not start' "and says so"
ok '[ ! -e other/run/fcgi.sock ]' "a service that did not start leaves no socket"

# ---- other ways to listen ----

serve_run --listen '[::1]:0' && like "$(cat "$SERVE_OUT")" '^agentgraph: serving builtin:demo on http://\[::1\]:[0-9]+$' "it serves on IPv6" || ok 1 "it serves on IPv6"
BASE=$(sed -n 's/^agentgraph: serving .* on //p' "$SERVE_OUT")
is "$(ping_status)" 200 "and answers there"
serve_stop
api_start
ok $? "it serves without nginx"
is "$(stat -c %a "$SOCKET")" 660 "at a socket that the group may use"
api GET /ping
is "$STATUS $(json .data "$BODY")" "200 pong" "that answers"
serve_stop
"$AGENTGRAPH" serve --state other --no-nginx --socket deaf.sock >/dev/full 2>deaf.err &
deaf=$!
ok 'wait_for 60 grep -q "WARNING .*standard output was not told that the service is up: No space left" deaf.err' \
	"where its line cannot be written it serves all the same, and says so"
tap_stop $deaf
is $? 0 "and ends with status 0"

# It reads its configuration from a pipe, so that it is still starting when it is asked for a reload.
mkfifo early.json
"$AGENTGRAPH" serve --state other --no-nginx --socket early.sock --config early.json >early.out 2>early.err &
early=$!
exec 4>early.json
kill -HUP $early
kill -USR1 $early
echo '{"agent": "builtin:demo"}' >&4
exec 4>&-
ok 'wait_for 60 grep -q "SIGHUP: looking at the configuration" early.err' "a reload before it serves waits until it does"
timeout 60 sh -c 'echo "{\"agent\": \"builtin:demo\"}" >early.json'
ok 'wait_for 60 grep -q "^agentgraph: serving" early.out' "and does not end it"
tap_stop $early
is $? 0 "which ends with status 0"
done_testing
