#!/bin/bash
# SPDX-License-Identifier: ISC
# What `agentgraph check` finds on the machine and at the web server, and what it advises.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

# check ARGUMENT…: sets CODE and ERR.
check() {
	"$AGENTGRAPH" check --state "$WORK/state" "$@" >/dev/null 2>check.err </dev/null
	CODE=$?
	ERR=$(cat check.err)
}
finds() {
	check "${@:4}"
	is "$CODE" "$1" "$3"
	like "$ERR" "$2" "and says what to do"
}

STATE=$WORK/state
api_start || tap_bail "no service"
api GET /ping
check
is "$CODE" 0 "a machine as it should be"
is "$(grep -vc 'authentication is off\|only .* free on the disk\|enough for\|nginx was not found' check.err)" 1 "is no reason to say more than that it is ok"

# ---- state ----

chmod 755 state
finds 0 'warning: others may look into .*: chmod 700 ' "a state directory that is open"
for mode in 777 770 707; do
	chmod $mode state
	finds 1 "error: others may write to the state directory [^ ]*/state \(mode $mode\).*: chmod 700" "one of mode $mode"
	mkdir -p open && chmod $mode open
	timeout 60 "$AGENTGRAPH" serve --no-nginx --state "$WORK/open" >/dev/null 2>check.err
	is "$? $(grep -c 'error: others may write to the state directory' check.err)" "1 1" "from which nothing is served"
done
chmod 700 state
wait_for 30 test -s state/ticket.key
chmod 644 state/ticket.key
finds 1 'error: others may read .*ticket.key .*restart the service' "a key that others can read"
chmod 600 state/ticket.key
touch -d '+1 hour' state/ticket.key
finds 0 "warning: .*ticket.key is newer than the workers.*kill -HUP $SERVE_PID" "a key that the workers do not have"
touch -d '-1 hour' state/ticket.key
serve_stop
check
is "$CODE" 0 "all is well again"
if [ "$(id -u)" = 0 ]; then
	chown 12345 state
	setpriv --reuid=12346 --clear-groups true 2>/dev/null && chmod 711 "$WORK" && {
		setpriv --reuid=12346 --clear-groups "$AGENTGRAPH" check --state "$WORK/state" 2>check.err
		like "$(cat check.err)" 'error: the state directory .* belongs to user 12345, and this is user 12346' "a state that is somebody else's is told"
		chown -R 12345 state && chown 0 state/runners state/ticket.key
		setpriv --reuid=12345 --clear-groups "$AGENTGRAPH" check --state "$WORK/state" 2>check.err
		is "$? $(grep -cE '/(runners cannot be written|ticket.key cannot be read) \(Permission denied\): give it' check.err)" "1 2" "so are files of root in it"
		chown -R 0 state
	}
	chown 0 state
	chown 12345 state/ticket.key
	finds 1 'error: .*/ticket.key belongs to user 12345' "a key that is somebody else's is told"
	chown 0 state/ticket.key
fi

# ---- limits, programs, clock, disk ----

(ulimit -n 1024 && "$AGENTGRAPH" check --state "$WORK/state" 2>check.err)
like "$(cat check.err)" 'warning: 1024 files may be open, .* 240 WebSockets, .* 1000: raise the limit to 4064' "few open files are told"
AGENTGRAPH_WEBSOCKETD=$WORK/none finds 1 'error: websocketd was not found .*install it' "a missing websocketd"
AGENTGRAPH_NGINX=$WORK/none finds 0 'warning: nginx was not found .*install nginx.*--no-nginx' "a missing nginx"
AGENTGRAPH_NGINX=$WORK/none check --socket "$WORK/state/run/fcgi.sock"
unlike "$ERR" 'nginx was not found' "which is not missed where another web server is in front"
printf '#!/bin/sh\necho "websocketd 0.1 --port --address"\n' >old && chmod +x old
AGENTGRAPH_WEBSOCKETD=$WORK/old finds 1 'error: .*too old.*0.4 or later' "an old websocketd"
if command -v faketime >/dev/null; then
	touch state/threads.db
	ASAN_OPTIONS=verify_asan_link_order=0 faketime '2001-01-01' "$AGENTGRAPH" check --state "$WORK/state" 2>check.err
	like "$(cat check.err)" 'warning: the clock says 2001-.*: set the clock' "a clock that is wrong is told"
fi
unshare -m true 2>/dev/null && unshare -m sh -c "mkdir -p '$WORK/small' && mount -t tmpfs -o size=8m none '$WORK/small' && \
	'$AGENTGRAPH' check --state '$WORK/small'" 2>check.err && {
	like "$(cat check.err)" 'warning: only [0-9] MiB are free on the disk of .*make room' "a small disk is told"
}

# ---- words that mean nothing, or not what they seem to ----

JWT_SECRET=x finds 0 'warning: the variable JWT_SECRET is none of the service.s; JWT_SECRET_KEY is one' "a variable without its last word"
ORIGIN=x finds 0 'warning: the variable ORIGIN .*; ORIGINS is one' "one that lacks a letter"
MEDIA_MAXSIZE_MB=5 finds 0 'warning: the variable MEDIA_MAXSIZE_MB .*; MEDIA_MAX_SIZE_MB is one' "or an underscore"
MODE=prod finds 0 'warning: MODE: found "prod", expected production, staging' "a mode that nobody knows"
OTEL_TRACES_EXPORTER=none ORIGINS=https://a.example LOGNAME=me REDIS_URL=redis://127.0.0.1:1 check
unlike "$ERR" 'is none of the service' "what is known, or somebody else's, is none of them"
cat >roles.json <<'END'
{"agent": "builtin:demo", "auth": "jwt", "authorization": {"backend": "rbac",
 "roles": {"all": ["*"], "some": ["graph:invoke", "graph:invok"]}, "default_scopes": ["files:read", "file:read"]}}
END
export JWT_SECRET_KEY=0123456789abcdef0123456789abcdef JWT_ALGORITHM=HS256
finds 0 'warning: roles.json: authorization.roles.some: no route takes the scope "graph:invok";' "a scope that there is not" --config roles.json
like "$ERR" 'authorization.default_scopes: no route takes the scope "file:read"' "also among those of everybody"
is "$(grep -c 'no route takes' check.err)" 2 "and no other"
unset JWT_SECRET_KEY JWT_ALGORITHM
printf 'A=1\nno assignment\nB="x" y\nC=2\n-=3\n' >bad.env
echo '{"agent": "builtin:demo", "auth": null, "env": "bad.env"}' >env.json
check --config env.json
is "$CODE $(grep -o 'bad.env: line [0-9]*' check.err | cut -d' ' -f3 | paste -sd' ')" "1 2 3 5" "a dotenv file has all its mistakes told"

# ---- files that are no text, a database that cannot be had ----

printf '{"agent":"builtin:demo\377"}' >bytes.json
check --config bytes.json
is "$CODE $(grep -c 'error: ' check.err) $(grep -c 'bytes.json: line 1: ' check.err) $(grep -c 'configuration bytes.json test failed' check.err)" "1 1 1 1" \
	"bytes that are no UTF-8 are one mistake, of that file"
DATABASE_URL=mysql://u:secret@h/x check
is "$CODE $(grep -c 'error: ' check.err) $(grep -c 'error: DATABASE_URL: expected .*, found mysql:' check.err)" "1 1 1" \
	"a database that nobody has here is one mistake"
DATABASE_URL=sqlite:/elsewhere check
is "$CODE $(grep -c 'error: DATABASE_URL: SQLite lies in the state directory' check.err)" '1 1' 'and one of SQLite elsewhere, before there is a state directory'
echo '{"g": {"nodes": {"a": {"kind": "reply", "text": "x"}, "b": {"kind": "reply", "text": "y"}},
 "edges": [{"from": "START", "to": "a"}, {"from": "a", "to": "b"}, {"from": "b", "to": "a"}]}}' >loop.json
echo '{"agent": "loop.json:g", "auth": null}' >endless.json
finds 0 'warning: .*no way leads to END' "a graph that cannot end" --config endless.json

# ---- what the agent needs ----

# servers MEMBERS…: the configuration mcp.json, with an MCP server of each.
servers() {
	printf '{"g": {"nodes": {"t": {"kind": "tools", "tools": ['
	printf '{"kind": "mcp", "mcp": {%s}}\n' "$@" | paste -sd,
	printf ']}, "r": {"kind": "reply", "text": "x"}}, "edges": [{"from": "START", "to": "t"}, {"from": "t", "to": "r"}, {"from": "r", "to": "END"}]}}'
} >servers.json
echo '{"agent": "servers.json:g", "auth": null}' >mcp.json
cp "$TOP_SRCDIR/t/api/mcp-server.sh" .
servers '"command": "./mcp-server.sh"'
check --config mcp.json
is "$CODE $(grep -c '/mcp: ' check.err)" "0 0" "an MCP server that answers is no reason for a warning"
cat >refuses.py <<'END'
import http.server, json, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/v1/embeddings":
            answer = json.dumps({"data": [{"index": 0, "embedding": [0.5] * 5} for _ in asked["input"]]}).encode()
            self.send_response(200)
        else:
            answer = json.dumps({"error": {"message": "no key like " + self.headers["X-Key"]}}).encode()
            self.send_response(401)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
open("port.new", "w").write(str(server.server_address[1]))
os.rename("port.new", "port")
server.serve_forever()
END
python3 refuses.py &
tap_pids="$! $tap_pids"
wait_for 20 test -s port || tap_bail "no server that refuses"
printf '#!/no/such/interpreter\n' >unable && chmod +x unable
servers '"command": "./mcp-server.sh dumb"' '"command": "./unable"' '"command": "./mcp-server.sh stillborn"' \
	'"url": "http://127.0.0.1:1/mcp"' "\"url\": \"http://127.0.0.1:$(cat port)/mcp\", \"headers\": {\"X-Key\": \"Basic hunter2\"}" \
	'"command": "./mcp-server.sh dumb x"' '"command": "./mcp-server.sh noise"'
sed -i 's|"\./\(mcp-server.sh\) \([a-z ]*\)"|["./\1", "\2"]|g' servers.json
begun=$(date +%s)
check --config mcp.json
took=$(($(date +%s) - begun))
is "$CODE $(grep -c 'servers.json: /g/nodes/t/tools/[0-9]/mcp: ' check.err)" "0 6" "each MCP server that does not answer is told"
at() { printf 'warning: [^ ]*servers.json: /g/nodes/t/tools/%s/mcp: ' "$1"; }
like "$ERR" "$(at 0).* in time: start the server, or see to its command or url" "one that says nothing"
like "$ERR" "$(at 1).*could not be started: .*: start the server" "a program that cannot be started"
like "$ERR" "$(at 2).*the server (has ended|ended .status 4.)" "one that ends"
like "$ERR" "$(at 3).*: start the server" "one to which there is no way"
like "$ERR" "$(at 4).*answered 401: no key like \*" "one that refuses the key"
unlike "$ERR" 'hunter2' "and repeats it, which is not shown"
unlike "$ERR" "$(at 6)" "one that answers among lines that are no messages is well"
ok "[ $took -lt 30 ]" "they are asked side by side ($took s)"
pids_are_gone() { for pid in $(cat pids); do [ ! -d "/proc/$pid" ] || return 1; done; }
wait_for 30 pids_are_gone
is $? 0 "and none is left behind"
unset REDIS_URL
export MY_KEY=sk-secret-of-mine
embeds() {
	printf '{"agent": "builtin:demo", "auth": null, "store": "builtin:store", "embeddings": {"provider": "openai", "model": "m",
		"base_url": "http://127.0.0.1:%s/v1", "dimensions": %s, "api_key_env": "MY_KEY"}}' "$1" "$2" >embed.json
}
embeds "$(cat port)" 5
check --config embed.json
is "$CODE $(grep -c embeddings: check.err)" "0 0" "an embedding service that answers is no reason for a warning"
embeds "$(cat port)" 26
finds 0 'warning: embed.json: embeddings: .*too few numbers; expected a vector of 26 numbers: .*dimensions' "one of another dimension" --config embed.json
embeds 1 26
finds 0 'warning: embed.json: embeddings: .*: start the service, or see to base_url' "one that does not answer" --config embed.json
unlike "$ERR" "$MY_KEY" "the key is not shown"
unset MY_KEY

# ---- the snippet ----

socket=$WORK/run/fcgi.sock
mkdir run
"$AGENTGRAPH" nginx-conf --state "$WORK/state" --socket "$socket" --prefix /agent >snippet.conf 2>/dev/null
check --socket "$socket" --prefix /agent --snippet snippet.conf
is "$CODE" 0 "a snippet of these settings is right"
sed -i 's/^\( *\)# \(location = .metrics {\)/\1\2/; s|^# access_log|access_log|' snippet.conf
check --socket "$socket" --prefix /agent --snippet snippet.conf
is "$CODE" 0 "what was added to it is nobody's business"
MAX_REQUEST_SIZE=4096 finds 1 'snippet snippet.conf is not of these settings, which give "client_max_body_size 4096;": make it again' \
	"one with another limit" --socket "$socket" --prefix /agent --snippet snippet.conf
finds 1 'which give .*: make it again' "one with another prefix" --socket "$socket" --snippet snippet.conf
finds 1 'cannot be read .*: make it with agentgraph nginx-conf' "none" --socket "$socket" --snippet none.conf

python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$WORK/run/left.sock" 2>/dev/null && {
	check --socket "$WORK/run/left.sock"
	is "$CODE" 0 "a socket that a killed service left"
	like "$ERR" 'warning: nobody answers at the service.s socket .*/left.sock: start the service' "is told"
	rm run/left.sock
}
# One that listens and never accepts; with a second argument its queue is full.
cat >hung.py <<'END'
import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen(0 if sys.argv[2:] else 8)
clients = []
try:
    while sys.argv[2:]:
        c = socket.socket(socket.AF_UNIX)
        c.setblocking(False)
        c.connect(sys.argv[1])
        clients.append(c)
except BlockingIOError:
    pass
print("ready", flush=True)
time.sleep(1000)
END
for queue in "" full; do
	rm -f ready
	python3 hung.py "$WORK/run/hung$queue.sock" $queue >ready &
	tap_pids="$! $tap_pids"
	wait_for 20 test -s ready
	check --socket "$WORK/run/hung$queue.sock"
	is "$CODE" 0 "a service that hangs${queue:+ with a full queue}"
	like "$ERR" "warning: the service at .*/hung$queue.sock takes connections and does not answer /ping: see its log, and restart it" "is told"
done
timeout 60 "$AGENTGRAPH" serve --no-nginx --state "$WORK/another" --socket "$WORK/run/hungfull.sock" >/dev/null 2>check.err
is "$? $(grep -c 'another process serves at' check.err)" "1 1" "and its socket is not taken away"

# ---- its include, and the way to the socket ----

mkdir -p nginx/sites
user=$(id -un)
printf 'user %s;\nworker_processes 4;\nevents { worker_connections 4096; }\nhttp { include sites/*; }\n' "$user" >nginx/nginx.conf
finds 1 'no server of nginx/nginx.conf passes requests to .*: put an include' "a missing include" \
	--socket "$socket" --nginx-conf nginx/nginx.conf
printf 'server { include %s; }\n' "$WORK/snippet.conf" >nginx/sites/one
check --socket "$socket" --nginx-conf nginx/nginx.conf
is "$CODE" 0 "an include through other files is found"
cat nginx/nginx.conf nginx/sites/one snippet.conf >whole.conf
"$AGENTGRAPH" check --state "$WORK/state" --socket "$socket" --nginx-conf - <whole.conf 2>check.err
is $? 0 "what nginx -T prints is read from standard input"
sed -i 's/worker_processes 4/worker_processes auto/; s/4096/64/' nginx/nginx.conf
finds 0 'warning: nginx has worker_connections 64' "few connections of nginx" --socket "$socket" --nginx-conf nginx/nginx.conf
finds 1 'nginx.s configuration none cannot be read .*nginx -T' "a configuration that is not there" --nginx-conf none
if getent passwd nobody >/dev/null; then
	chmod 711 "$WORK" && chmod 700 run
	finds 1 'user nobody cannot pass the directory .*/run \(mode 700\): put the socket where it can' \
		"a directory that the web server cannot pass" --socket "$socket" --web-user nobody
	chmod 711 run
	STATE=$WORK/state
	serve_run --no-nginx --processes 1 --threads 4 --socket "$socket" --socket-mode 0600
	ok $? "a socket with a mode of its own"
	is "$(stat -c %a "$socket" "$socket.relay" | paste -sd' ')" "600 600" "both sockets have it"
	finds 1 'user nobody cannot connect to .*fcgi.sock \(mode 600\): put the socket' "a socket that is closed to it" \
		--socket "$socket" --web-user nobody
	serve_stop
	STATE=$WORK/state
	serve_run --no-nginx --processes 1 --threads 4 --socket "$socket" --socket-mode 0666 --socket-group "$(id -g)"
	check --socket "$socket" --web-user nobody
	is "$CODE" 0 "an open one is in reach"
	serve_stop
	finds 0 'user no-such-one is unknown' "a user who is none" --socket "$socket" --web-user no-such-one
fi
for bad in 0060 rw 1777 8; do
	"$AGENTGRAPH" serve --socket-mode "$bad" 2>check.err
	is "$?" 2 "the mode $bad is refused"
done
"$AGENTGRAPH" serve --socket-group no-such-group 2>check.err
is "$?" 2 "a group that is none is refused"
done_testing
