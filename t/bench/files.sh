#!/bin/sh
# A file through the service, against nginx alone: a download against a static file, an upload against a PUT (dav
# module).  It prints ratios of speeds; nothing passes or fails.  MEGABYTES and ROUNDS change the load.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

: "${MEGABYTES:=100}" "${ROUNDS:=7}"
PATH=$PATH:/usr/sbin
port=$((20000 + $$ % 10000))

for tool in nginx curl jq; do
	command -v $tool >/dev/null || tap_skip_all "$tool is not installed"
done

nginx_conf() {
	[ "$(id -u)" -ne 0 ] || echo 'user root;'
	cat <<CONF
daemon off;
pid $WORK/nginx.pid;
error_log $WORK/nginx.log warn;
worker_processes auto;
events { worker_connections 1024; }
http {
	access_log off;
	sendfile on;
	tcp_nopush on;
	client_body_temp_path $WORK/dav/.body;
	fastcgi_temp_path $WORK/fastcgi;
	proxy_temp_path $WORK/proxy;
	scgi_temp_path $WORK/scgi;
	uwsgi_temp_path $WORK/uwsgi;
	server {
		listen 127.0.0.1:$port;
		root $WORK/dav;
		client_max_body_size 0;
		dav_methods PUT;
	}
}
CONF
}

# speed CURL-ARGUMENT...: bytes a second.
speed() {
	curl -s -o "$WORK/answer" -w '%{time_total}\n' "$@" | awk -v mb="$MEGABYTES" '{ printf "%d\n", mb / $1 }'
}

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# compare NAME WANTED MINE THEIRS: functions that print a speed.
compare() {
	: >"$WORK/ratios"
	round=0
	while [ "$round" -lt "$ROUNDS" ]; do
		round=$((round + 1))
		theirs=$($4)
		mine=$($3)
		echo "$mine $theirs" | awk '{ printf "%.2f %d %d\n", $1 / $2, $1, $2 }' >>"$WORK/ratios"
	done
	printf '%s  %s (at least %s); MiB a second, service/nginx:' "$(cut -d' ' -f1 "$WORK/ratios" | median)" "$1" "$2"
	awk '{ printf " %d/%d", $2, $3 } END { print "" }' "$WORK/ratios"
}

upload_mine() { speed -H Expect: -F "file=@$WORK/big;type=application/octet-stream" "$BASE/v1/files/upload"; }
upload_theirs() { speed -H Expect: -T "$WORK/big" "http://127.0.0.1:$port/put"; }
download_mine() { speed "$BASE/v1/files/$file_id"; }
download_theirs() { speed "http://127.0.0.1:$port/static"; }

# The largest resident set of a worker, in MiB.
memory() {
	for worker in $(children "$SERVE_PID"); do
		case $(readlink "/proc/$worker/exe") in
		*/agentgraph-fcgi) sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$worker/status" ;;
		esac
	done | sort -n | tail -n 1 | awk -v when="$1" '{ printf "%.1f MiB  largest worker %s\n", $1 / 1024, when }'
}

export MEDIA_MAX_SIZE_MB=$((MEGABYTES + 1)) MEDIA_STORAGE_PATH="$WORK/uploads"
head -c "$((MEGABYTES << 20))" /dev/urandom >"$WORK/big"
mkdir -p "$WORK/dav/.body"
cp "$WORK/big" "$WORK/dav/static"
nginx_conf >"$WORK/nginx.conf"
nginx -p "$WORK" -e "$WORK/nginx.log" -c "$WORK/nginx.conf" 2>/dev/null &
tap_pids="$! $tap_pids"
serve_start || exit 1
wait_for 5 curl -sf -o /dev/null -r 0-0 "http://127.0.0.1:$port/static" || tap_bail 'nginx does not answer'

memory 'before the first upload'
compare "upload of $MEGABYTES MiB" 0.4 upload_mine upload_theirs
memory 'after the uploads'
file_id=$(jq -r .data.file_id "$WORK/answer")
compare "download of $MEGABYTES MiB" 0.8 download_mine download_theirs
memory 'after the downloads'
tap_plan 0
