#!/bin/sh
# SPDX-License-Identifier: ISC
# What telemetry costs: runs that are recorded and exported by OTLP against runs with both off, each on a service and an
# nginx of its own.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/bench/http.sh"

# receiver_conf PORT: an nginx that accepts everything.
receiver_conf() {
	[ "$(id -u)" -ne 0 ] || echo 'user root;'
	cat <<CONF
daemon off;
pid $WORK/receiver.pid;
error_log $WORK/receiver.log warn;
events { worker_connections 64; }
http {
	access_log off;
	client_max_body_size 0;
	client_body_buffer_size 2m;
	client_body_temp_path $WORK/receiver-body;
	fastcgi_temp_path $WORK/receiver-fastcgi;
	proxy_temp_path $WORK/receiver-proxy;
	scgi_temp_path $WORK/receiver-scgi;
	uwsgi_temp_path $WORK/receiver-uwsgi;
	keepalive_requests 1000000;
	server { listen 127.0.0.1:$1; location / { return 200 "{}"; } }
}
CONF
}

receiver_start() {
	receiver=$((30000 + $$ % 10000))
	receiver_conf "$receiver" >"$WORK/receiver.conf"
	nginx -p "$WORK" -e "$WORK/receiver.log" -c "$WORK/receiver.conf" 2>/dev/null &
	tap_pids="$! $tap_pids"
	wait_for 3 curl -sf "http://127.0.0.1:$receiver/"
}

# service NAME: starts one; sets BASE.
service() {
	SOCKET=$WORK/$1.sock STATE=
	serve_run --no-nginx --processes "$PROCESSES" --threads "$THREADS" --socket "$SOCKET" || exit 1
	bench_nginx || exit 1
	curl -sf "$BASE/ping" >/dev/null || exit 1
}

receiver_start || tap_bail 'there is no receiver'
MODE=production ALLOWED_HOST=localhost,127.0.0.1 ORIGINS=http://localhost
export MODE ALLOWED_HOST ORIGINS
service off
off=$BASE
unset MODE
OTEL_ENABLED=true OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:$receiver
export OTEL_ENABLED OTEL_EXPORTER_OTLP_ENDPOINT
service on
on=$BASE

script=$(post_script '{"messages":[{"role":"user","content":"hello there"}]}')
rates() {
	BASE=$on
	with=$(rate /v1/graph/invoke "$script")
	BASE=$off
	echo "$with $(rate /v1/graph/invoke "$script")"
}
rounds ratios rates
ratio telemetry ratios
grep -E 'traces|OpenTelemetry' "$SERVE_ERR" | tail -3 | sed 's/^/# /'
env -i PATH="$PATH" REQUEST_METHOD=GET REQUEST_URI=/ AGENTGRAPH_INTERNAL=metrics \
	cgi-fcgi -bind -connect "$SOCKET" </dev/null 2>/dev/null | grep -E 'exports_total.*traces|traces_dropped' | grep -v '^# ' | sed 's/^/# /'
tap_plan 0
