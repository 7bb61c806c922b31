# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# What the HTTP benchmarks share: the service and the floor behind one private nginx.  Sourced after lib.sh.
#
#	bench_start              starts both pools and nginx; BASE is its address, /floor is the floor, /static nginx alone
#	rate PATH [LUA-FILE]     requests a second, at CONCURRENCY for SECONDS_EACH seconds
#	spent PID PATH [LUA]     processor time of a request, of nginx and the pool whose first process that is, in microseconds
#	post_script JSON         a file for wrk that posts this body
#	lua_script LUA           a file for wrk that posts JSON: the body of a function that returns request number n
#
# Only ratios of the same run mean anything.  CONCURRENCY, SECONDS_EACH, ROUNDS, PROCESSES and THREADS change the load.

. "$TOP_SRCDIR/t/bench/results.sh"

: "${CONCURRENCY:=64}" "${SECONDS_EACH:=3}" "${ROUNDS:=5}" "${PROCESSES:=2}" "${THREADS:=64}"
PATH=$PATH:/usr/sbin

for tool in wrk nginx curl; do
	command -v $tool >/dev/null || tap_skip_all "$tool is not installed"
done

# bench_nginx_conf PORT: an nginx in front of the service, in front of the floor, and by itself.  SOCKETS are those of
# several instances.
bench_nginx_conf() {
	nginx_head
	cat <<CONF
error_log $WORK/nginx.log warn;
worker_processes auto;
events { worker_connections 2048; }
http {
	access_log off;
	$(nginx_paths)
	keepalive_requests 1000000;
	upstream service { $(printf 'server unix:%s max_fails=0; ' ${SOCKETS:-$SOCKET}) }
	server {
		listen 127.0.0.1:$1;
		fastcgi_param REQUEST_METHOD \$request_method;
		fastcgi_param REQUEST_URI \$request_uri;
		fastcgi_param QUERY_STRING \$query_string;
		fastcgi_param CONTENT_TYPE \$content_type;
		fastcgi_param CONTENT_LENGTH \$content_length;
		fastcgi_param SERVER_PROTOCOL \$server_protocol;
		fastcgi_param REQUEST_SCHEME \$scheme;
		fastcgi_param REMOTE_ADDR \$remote_addr;
		client_body_buffer_size 64k;
		location = $SOCKET { return 204; }
		location = /static {
			default_type application/json;
			return 200 '{"success":true,"data":"pong","message":"OK"}';
		}
		location / { fastcgi_pass service; }
		location /v1/graph/stream { fastcgi_pass service; fastcgi_buffering off; }
		location ~ ^/lg/.*/stream\$ { fastcgi_pass service; fastcgi_buffering off; }
		location /floor { fastcgi_pass unix:$WORK/floor; }
	}
}
CONF
}

# bench_nginx: starts it on a free port.  Another nginx may have taken the port, and this one then retries for a while:
# only an answer with the name of this service is its own.
bench_nginx() {
	port=$((20000 + $$ % 10000))
	for _ in 1 2 3 4 5; do
		port=$((port + 1))
		bench_nginx_conf $port >"$WORK/nginx.conf"
		nginx -p "$WORK" -e "$WORK/nginx.log" -c "$WORK/nginx.conf" 2>/dev/null &
		nginx_pid=$!
		tap_pids="$nginx_pid $tap_pids"
		BASE=http://127.0.0.1:$port
		wait_for 3 curl -sf "$BASE$SOCKET" && return 0
		kill "$nginx_pid" 2>/dev/null
	done
	sed 's/^/# /' "$WORK/nginx.log" >&2
	return 1
}

bench_start() {
	built "$AGENTGRAPH" "${FLOOR:-$TOP_BUILDDIR/t/bench/floor}"
	SOCKET=$WORK/service
	serve_run --no-nginx --processes "$PROCESSES" --threads "$THREADS" --socket "$SOCKET" || exit 1
	"${FLOOR:-$TOP_BUILDDIR/t/bench/floor}" "$WORK/floor" "$PROCESSES" "$THREADS" &
	FLOOR_PID=$!
	tap_pids="$FLOOR_PID $tap_pids"
	wait_for 5 test -S "$WORK/floor"
	bench_nginx || exit 1
	curl -sf "$BASE/ping" >/dev/null || exit 1
}

rate() {
	wrk -t 1 -c "$CONCURRENCY" -d "${SECONDS_EACH}s" ${2:+-s "$2"} "$BASE$1" >"$WORK/wrk"
	if grep -Eq 'Non-2xx|Socket errors' "$WORK/wrk"; then
		sed 's/^/# /' "$WORK/wrk" >&2
	fi
	awk '/^Requests\/sec/ { print $2 }' "$WORK/wrk"
}

# ticks PID...: the processor time that these processes and their children have used so far.
ticks() {
	for pid; do
		for each in "$pid" $(pgrep -P "$pid"); do
			sed 's/.*) //' "/proc/$each/stat"
		done
	done | awk '{ sum += $12 + $13 } END { print sum }'
}

spent() {
	before=$(ticks "$nginx_pid" "$1")
	rate "$2" "${3-}" >/dev/null
	echo "$before $(ticks "$nginx_pid" "$1") $(getconf CLK_TCK) $(awk '/ requests in / { print $1 }' "$WORK/wrk")" |
		awk '{ printf "%.1f\n", ($2 - $1) / $3 / $4 * 1e6 }'
}

post_script() {
	file=$(mktemp "$WORK/post.XXXXXX")
	cat >"$file" <<LUA
wrk.method = "POST"
wrk.body = [==[$1]==]
wrk.headers["Content-Type"] = "application/json"
LUA
	echo "$file"
}

lua_script() {
	file=$(mktemp "$WORK/lua.XXXXXX")
	cat >"$file" <<LUA
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local n = 0
request = function()
	n = n + 1
	$1
end
LUA
	echo "$file"
}
