#!/bin/bash
# SPDX-License-Identifier: ISC
# Two instances with prefixes of their own in a server that already has a site.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

nginx=$(command -v nginx || echo /usr/sbin/nginx)
[ -x "$nginx" ] || tap_skip_all "no nginx here"

# ---- what is printed ----

conf() { "$AGENTGRAPH" nginx-conf --socket /run/x/fcgi.sock "$@" >conf.out 2>conf.err; }

conf --prefix /agent
is $? 0 "a prefix is taken"
like "$(cat conf.err)" 'ROOT_PATH is "" and the prefix /agent; set ROOT_PATH=/agent' "and what goes with it is said"
ROOT_PATH=/agent/ conf --prefix /agent
unlike "$(cat conf.err)" ROOT_PATH "there is nothing to say when the two agree"
cp conf.out both.out
ROOT_PATH=/agent conf
ok 'cmp -s conf.out both.out' "ROOT_PATH alone is a prefix too"
ROOT_PATH=/agent conf --prefix /
like "$(cat conf.out)" '^location \^~ /v1/ ' "--prefix / is for a proxy in front that takes it off"
conf
unlike "$(cat conf.out)" 'agentgraph_uri' "without a prefix nothing is cut off"
for page in /docs /redocs /console; do
	is "$(grep -cF -e "location = \"$page\" {" -e "location ^~ \"$page/\" {" conf.out)" 2 "$page has its places, and what lies below it"
done
CONSOLE_PATH= conf
unlike "$(cat conf.out)" console "which is off has none"
for bad in agent '/a b' '/a//b' '/a/../b' '/a;b' '/a$b' '/{'; do
	conf --prefix "$bad"
	is $? 2 "the prefix $bad is refused"
done
like "$(cat conf.err)" '^agentgraph: --prefix must be a path like /agent' "with a sentence"
ROOT_PATH='/a(b)' conf
is $? 1 "a ROOT_PATH that is no prefix is a mistake in the configuration"
like "$(cat conf.err)" 'error: prefix: expected a path like /agent' "with a sentence"
HSTS_ENABLED=true conf --prefix /agent
like "$(cat conf.out)" 'agentgraph_hsts "max-age=31536000"' "HSTS below a prefix is for somebody to ask for"
HSTS_INCLUDE_SUBDOMAINS=true conf --prefix /agent
like "$(cat conf.out)" 'agentgraph_hsts "max-age=31536000; includeSubDomains"' "with the subdomains, or without"
conf
like "$(cat conf.out)" 'agentgraph_hsts "max-age=31536000; includeSubDomains"' "at the root it needs nobody"
conf --prefix /agent --full
is $? 2 "a private nginx takes none"

# ---- a site with two of them ----

# instance NAME PREFIX: a service of its own, and its snippet.
instance() {
	local name=$1 prefix=$2
	export ROOT_PATH=$prefix APP_NAME="app $name" MEDIA_STORAGE_PATH=$WORK/uploads-$name
	STATE=$WORK/state-$name
	mkdir -p "$STATE" "$MEDIA_STORAGE_PATH"
	serve_run --no-nginx --processes 1 --threads 16 --socket "$WORK/$name.sock" || tap_bail "$name does not start"
	"$AGENTGRAPH" nginx-conf --state "$STATE" --socket "$WORK/$name.sock" >"$name.conf" || tap_bail "no snippet"
	STATE=
	unset ROOT_PATH APP_NAME MEDIA_STORAGE_PATH
}
printf '{"agent":"builtin:demo","a2a":{"enabled":true}}\n' >agentgraph.json
instance one /agent
instance two /tools/a-b.c

mkdir -p html/agents && echo 'my own page' >html/index.html && echo 'not an agent' >html/agents/index.html
echo 'my own mistake' >html/mistake.html
cat >nginx.conf <<END
$(nginx_head)
error_log stderr;
events { }
http {
    $(nginx_paths)
    access_log off;
    error_page 400 405 404 /mistake.html;
    expires 1h;
    limit_req_zone \$request_method zone=few:64k rate=1r/m;
    charset utf-8;
    charset_types *;
    ssi on;
    ssi_types *;
    gzip on;
    gzip_types *;
    gzip_min_length 1;
    add_header X-Site yes always;
    add_header Access-Control-Allow-Origin https://site always;
    fastcgi_intercept_errors on;
    server {
        listen unix:$WORK/http.sock;
        listen 127.0.0.1:PORT;
        root $WORK/html;
        location ~ \\.(?:js|css|json)\$ { return 418; }
        location ~ ^/agent/v1/files { return 418; }
        include $WORK/one.conf;
        include $WORK/two.conf;
    }
    server {
        listen unix:$WORK/closed.sock;
        deny all;
        include $WORK/one.conf;
    }
    server {
        listen unix:$WORK/limited.sock;
        limit_req zone=few;
        limit_req_status 429;
        include $WORK/one.conf;
    }
    server {
        listen unix:$WORK/blind.sock;
        include $WORK/blind.conf;
    }
}
END
sed "s|alias \".*\"|alias \"$WORK/nowhere/\"|" one.conf >blind.conf
# A port that is free now may be taken a moment later; another try finds another one.
listening() { curl -s -o /dev/null --unix-socket http.sock http://x/ && [ -s nginx.pid ]; }
for try in 1 2 3 4 5; do
	port=$((20000 + (RANDOM % 12000)))
	sed "s/PORT/$port/" nginx.conf >now.conf
	"$nginx" -p "$WORK" -c "$WORK/now.conf" -e stderr >nginx.log 2>&1 &
	nginx_pid=$!
	tap_pids="$nginx_pid $tap_pids"
	wait_for 30 listening && alive "$nginx_pid" && break
done
listening || { diag "$(cat nginx.log)" && tap_bail "nginx does not start"; }
is "$(grep -c emerg nginx.log)" 0 "nginx takes both snippets in one server"
BASE=http://127.0.0.1:$port

http GET /
is "$BODY" "my own page" "the site's own pages stay"
for path in graph ping files/upload; do
	like "$(curl -s -i --unix-socket closed.sock http://x/agent/v1/$path)" '^HTTP/1.1 403 ' "whom the site itself denies /agent/v1/$path does not reach it"
done
is "$(curl -s -i --unix-socket closed.sock -d "$(head -c 20000 /dev/zero | tr '\0' x)" http://x/agent/v1/graph/invoke | grep -ci '^x-request-id')" 0 "nor by a large body"
# What the site adds to its own pages.
http GET /
is "$(header X-Site) $(header Content-Type)" "yes text/html; charset=utf-8" "with the site's headers"
for path in v1/graph nowhere v1/graph/ws console openapi.json; do
	http GET "/agent/$path" "" -H 'Origin: http://page'
	is "$(header X-Site) $(printf '%s\n' "$HEADERS" | sed 1d | cut -d: -f1 | grep -v '^Vary$' | sort | uniq -d)" ' ' "/agent/$path has none of those, and none twice"
	is "$(header Access-Control-Allow-Origin)" 'http://page' "so that other pages can read it"
done
head -c 30000 /dev/zero >zeros.txt
id=$(curl -s -F file=@zeros.txt "$BASE/agent/v1/files/upload" | jq -r .data.file_id)
for socket in http blind; do
	curl -s --unix-socket $socket.sock -H 'Accept-Encoding: gzip' -D headers "http://x/agent/v1/files/$id" >back.txt
	ok 'cmp -s zeros.txt back.txt' "a file comes back as it was ($socket)"
	is "$(tr -d '\r' <headers | sed 1d | cut -d: -f1 | sort | uniq -d)$(grep -i '^x-site' headers)" '' "with its own headers, each once"
	like "$(tr -d '\r' <headers)" '^Content-Type: text/plain$' "and its own type"
	like "$(tr -d '\r' <headers)" '^ETag: "' "and its ETag"
done
curl -s --unix-socket limited.sock http://x/agent/ping >/dev/null
for path in graph files/upload graph/stream; do
	curl -s -D headers --unix-socket limited.sock http://x/agent/v1/$path >refused.json
	is "$(tr -d '\r' <headers | sed -n '1s/[^ ]* \(...\).*/\1/p; s/^Content-Type: //p' | tr '\n' ' ')$(json .error_code <refused.json)" "429 application/json RATE_LIMIT_EXCEEDED" "whom the site limits at /agent/v1/$path is told so in the service's form"
done
is "$(curl -s --unix-socket limited.sock http://x/agent/v1/graph/ws | jq -c '[.detail, .close_code]')" '["Too many requests",1013]' "and of a socket with the code to close with"
http GET /agents/
is "$BODY" "not an agent" "also where a path only begins alike"
http GET /nowhere
is "$STATUS $BODY" "404 my own mistake" "so do its errors"
http GET /a%2Fb%00
is "$STATUS $BODY" "400 my own mistake" "those for what cannot be parsed too"
http POST /index.html x
is "$STATUS $BODY" "405 my own mistake" "and for a wrong method"
for path in /ping /v1/graph /_agentgraph/error; do
	http GET "$path"
	is "$STATUS $BODY" "404 my own mistake" "$path is the site's, not the service's"
done

for prefix in /agent /tools/a-b.c; do
	case $prefix in /agent) name=one ;; *) name=two ;; esac
	http GET "$prefix?a=b"
	is "$STATUS $(header Location) $(header X-Frame-Options)" "301 $prefix/?a=b DENY" "$prefix leads to what is below it"
	is "$(header Expires)" "" "not for an hour"
	like "$(header X-Request-ID)" '^[0-9a-f-]{36}$' "with the headers of all answers"
	http GET "$prefix/ping"
	is "$STATUS $(json .data "$BODY")" "200 pong" "$prefix/ping is answered"
	http POST "$prefix/v1/graph/invoke" "{\"messages\": [{\"role\": \"user\", \"content\": \"hello $name\"}], \"config\": {\"thread_id\": \"$name\"}}"
	is "$STATUS $(json '.data.messages[-1].content[0].text' "$BODY")" "200 echo: hello $name" "a run below it"
	http POST "$prefix/v1/graph/stream" '{"messages": [{"role": "user", "content": "a b"}]}'
	is "$STATUS" 200 "a stream"
	like "$BODY" '"event": ?"message"' "with its chunks"
	http GET "$prefix/.well-known/agent-card.json"
	is "$STATUS $(json .supportedInterfaces[0].url "$BODY")" "200 $BASE$prefix/v1/a2a" "its card says where it is"
	http POST "$prefix/v1/graph/stop" '{"thread_id": "%2e"}'
	like "$STATUS" '^[24]' "a body is not taken for a path"
	http POST "$prefix/v1/graph/stream" "{\"messages\": [{\"role\": \"user\", \"content\": \"a b\"}], \"resumable\": true, \"config\": {\"thread_id\": \"$name\", \"run_id\": \"kept\"}}"
	streamed=$BODY
	http GET "$prefix/v1/threads/$name/runs/kept/stream?response_granularity=low"
	is "$BODY" "$streamed" "which can be taken up again"
	http POST "$prefix/v1/graph/runs" "{\"messages\": [{\"role\": \"user\", \"content\": \"/slow 2 200\"}], \"config\": {\"thread_id\": \"$name\", \"run_id\": \"later\"}}"
	http GET "$prefix/v1/threads/$name/runs/later/result?wait=60"
	is "$STATUS $(json '.data.messages[-1].content[0].text' "$BODY")" "200 done" "and a result waited for"
	http GET "$prefix/v1/threads/$name/messages?limit=1"
	is "$STATUS $(header Cache-Control) $(header Expires)" "200 no-store " "a thread, with a query, which nobody keeps"
	http GET "$prefix/v1/threads/$([ $name = one ] && echo two || echo one)"
	is "$STATUS" 404 "and none of the other instance"

	http POST "$prefix/v1/graph/invoke" '{"messages": [{"role": "user", "content": "hi"}], "config": {"thread_id": "a/b c"}}'
	http GET "$prefix/v1/threads/a%2Fb%20c"
	is "$STATUS" 200 "an id is decoded once, as without a prefix"

	printf 'some text\n' >upload.txt
	curl -s -F file=@upload.txt "$BASE$prefix/v1/files/upload" >upload.json
	id=$(json .data.file_id <upload.json)
	http GET "$prefix/v1/files/$id"
	is "$STATUS $BODY" "200 some text" "a file comes back"
	is "$(header Content-Type)" text/plain "through the internal location"
	http GET "$prefix/v1/files/$id" "" -H 'Range: bytes=5-8'
	is "$STATUS $BODY" "206 text" "a part of it too"
	ok "ls -R uploads-$name | grep -q \"${id%%-*}\"" "from its own place"

	http GET "$prefix/openapi.json"
	is "$(json '.servers[0].url + " " + .info.title' "$BODY")" "$prefix app $name" "the description names the prefix"
	http GET "$prefix/docs"
	is "$STATUS" 200 "a page"
	like "$BODY" "data-document=\"$prefix/openapi.json\"" "with links that have it"
	http GET "$prefix/docs/assets/docs.js"
	is "$STATUS" 200 "and its files, whatever the site has for such names"

	for path in nowhere v1 v1/files; do
		http GET "$prefix/$path"
		is "$STATUS $(json .error_code "$BODY")" "404 NOT_FOUND" "what is not there is the service's to say, $path"
	done
	http GET "$prefix/_agentgraph/files/local/$id"
	is "$STATUS $(json .error_code "$BODY")" "404 NOT_FOUND" "the inside is not to be had"
	http GET "$prefix/_agentgraph/relay/v1/graph/ws"
	is "$STATUS $(json .error_code "$BODY")" "404 NOT_FOUND" "nor the relay"
	http GET "$prefix/_agentgraph/follow/stream"
	is "$STATUS $(json .error_code "$BODY")" "404 NOT_FOUND" "nor the follower"
	http GET "$prefix/_agentgraph/waited"
	is "$STATUS $(json .error_code "$BODY")" "404 NOT_FOUND" "nor can anybody say that he has waited"
	http POST "$prefix/v1/graph/invoke" "" -H 'Content-Length: 99999999'
	is "$STATUS $(json .error_code "$BODY")" "413 REQUEST_TOO_LARGE" "a body over the limit is refused in shape"
	http POST "$prefix/v1/files/upload" "" -H 'Content-Length: 99999999'
	is "$STATUS $(json .error_code "$BODY")" "413 FILE_TOO_LARGE" "and so is an upload"
	http POST "$prefix/v1/graph/invoke" "" -H 'Content-Length: 99999999' -H 'X-Forwarded-Proto: https'
	is "$STATUS $(header Strict-Transport-Security)" "413 " "over HTTPS neither"
	http GET "$prefix/v1/files/$id" "" -H 'X-Forwarded-Proto: https'
	is "$STATUS $(header Strict-Transport-Security)" "200 " "nor with a file"
	http DELETE "$prefix/ping"
	is "$STATUS $(json .error_code "$BODY")" "405 METHOD_NOT_ALLOWED" "a wrong method too"
	http GET "$prefix/v1/graph/ws"
	like "$STATUS" '^4' "a socket that is none is refused"

	if command -v python3 >/dev/null; then
		python3 - "127.0.0.1" "$port" "$prefix/v1/graph/ws" >ws.out 2>&1 <<-'END'
			import base64, os, socket, struct, sys
			s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 20)
			s.sendall(("GET %s HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
			    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n"
			    % (sys.argv[3], base64.b64encode(os.urandom(16)).decode())).encode())
			data = b""
			while b"\r\n\r\n" not in data:
			    data += s.recv(4096)
			print(data.split(b"\r\n")[0].decode())
			text = b'{"messages": [{"role": "user", "content": "by socket"}]}'
			s.sendall(struct.pack("!BB4s", 0x81, 0x80 | len(text), b"\0\0\0\0") + text)
			while b"echo: by socket" not in data:
			    more = s.recv(4096)
			    if not more:
			        break
			    data += more
			print("echo" if b"echo: by socket" in data else data)
		END
		is "$(paste -sd' ' ws.out)" "HTTP/1.1 101 Switching Protocols echo" "a WebSocket works below it"
	fi
done

# What is the prefix only after decoding stays whole, and is no route.
http GET /%61gent/v1/graph
is "$STATUS $(json .error_code "$BODY")" "404 NOT_FOUND" "a prefix in disguise leads nowhere"
http GET /agent/../agent/v1/graph
like "$STATUS" '^40[04]$' "neither do dots"
http GET /agent/v1/threads/a%2Fb
like "$STATUS" '^4' "an encoded slash reaches the service as it was sent"
serve_stop
http GET /tools/a-b.c/ping
is "$STATUS $(json .error_code "$BODY")" "503 SERVICE_UNAVAILABLE" "a service that is down is answered in shape"
http GET /agent/ping
is "$STATUS" 200 "and the other one goes on"
done_testing
