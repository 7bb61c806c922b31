#!/bin/sh
# SPDX-License-Identifier: ISC
# A file through the service, against nginx alone: a download against a static file, an upload against a PUT (dav
# module).  MEGABYTES and ROUNDS change the load.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/results.sh"

: "${MEGABYTES:=100}" "${ROUNDS:=7}"
PATH=$PATH:/usr/sbin
port=$((20000 + $$ % 10000))

for tool in nginx curl jq; do
	command -v $tool >/dev/null || tap_skip_all "$tool is not installed"
done

nginx_conf() {
	nginx_head
	cat <<CONF
error_log $WORK/nginx.log warn;
worker_processes auto;
events { worker_connections 1024; }
http {
	access_log off;
	sendfile on;
	tcp_nopush on;
	$(nginx_paths)
	server {
		listen 127.0.0.1:$port;
		root $WORK/dav;
		client_max_body_size 0;
		dav_methods PUT;
	}
}
CONF
}

# speed CURL-ARGUMENT...: MiB a second; nothing if the answer is an error.
speed() {
	took=$(curl -s --fail-with-body -o "$WORK/answer" -w '%{time_total}' "$@") || return
	awk -v mb="$MEGABYTES" -v seconds="$took" 'BEGIN { printf "%d\n", mb / seconds }'
}

both() { echo "$("$1") $("$2")"; }

upload_mine() { speed -H Expect: -F "file=@$WORK/big;type=application/octet-stream" "$BASE/v1/files/upload"; }
upload_theirs() { speed -H Expect: -T "$WORK/big" "http://127.0.0.1:$port/put"; }
download_mine() { speed "$BASE/v1/files/$file_id"; }
download_theirs() { speed "http://127.0.0.1:$port/static"; }

# memory: the largest resident set of a worker, in MiB.
memory() {
	for worker in $(children "$SERVE_PID"); do
		case $(readlink "/proc/$worker/exe") in
		*/agentgraph-fcgi) sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$worker/status" ;;
		esac
	done | sort -n | tail -n 1 | awk -v when="$1" '{ printf "# %.1f MiB  largest worker %s\n", $1 / 1024, when }'
}

export MEDIA_MAX_SIZE_MB=$((MEGABYTES + 1)) MEDIA_STORAGE_PATH="$WORK/uploads"
head -c "$((MEGABYTES << 20))" /dev/urandom >"$WORK/big"
mkdir "$WORK/dav"
cp "$WORK/big" "$WORK/dav/static"
nginx_conf >"$WORK/nginx.conf"
nginx -p "$WORK" -e "$WORK/nginx.log" -c "$WORK/nginx.conf" 2>/dev/null &
tap_pids="$! $tap_pids"
serve_start || exit 1
wait_for 5 curl -sf -o /dev/null -r 0-0 "http://127.0.0.1:$port/static" || tap_bail 'nginx does not answer'

memory 'before the first upload'
rounds up both upload_mine upload_theirs
ratio upload up
memory 'after the uploads'
upload_mine >/dev/null || tap_bail "nothing is uploaded: $(cat "$WORK/answer")"
file_id=$(jq -r .data.file_id "$WORK/answer")
rounds down both download_mine download_theirs
ratio download down
memory 'after the downloads'
tap_plan 0
