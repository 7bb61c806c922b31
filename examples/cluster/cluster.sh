#!/bin/sh
# SPDX-License-Identifier: ISC
# Runs a service of several instances on one machine, to try what doc/scaling.md says: PostgreSQL, Redis if it is
# installed, instances with a state directory each, and nginx in front.  All files are below one directory; the programs
# come from Debian's packages.
#
#	examples/cluster/cluster.sh [-n INSTANCES] [-d DIRECTORY] [PORT]
#
# Ctrl-C ends everything; the data stay in the directory (./cluster by default).  AGENTGRAPH names the program, by
# default the one that is installed, or built in this tree; CONFIG names an agentgraph.json.
set -eu

built=$(dirname "$0")/../../_build/agentgraph
agentgraph=$(command -v "${AGENTGRAPH:-agentgraph}" || readlink -f "$built")
[ -x "$agentgraph" ] || { echo "${AGENTGRAPH:-agentgraph} is not installed, nor built in _build/; AGENTGRAPH can name it" >&2; exit 1; }
agentgraph=$(readlink -f "$agentgraph")
config=${CONFIG:+$(readlink -f "$CONFIG")}
instances=3
dir=./cluster
while getopts n:d: option; do
	case $option in
	n) instances=$OPTARG ;;
	d) dir=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
port=${1:-8080}

bin=$(find /usr/lib/postgresql -path '*/bin/initdb' 2>/dev/null | sort -V | tail -n 1)
[ -n "$bin" ] || { echo 'PostgreSQL is missing (Debian: apt-get install postgresql-15)' >&2; exit 1; }
bin=${bin%/initdb}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

# A database server refuses to run as root.
as=
if [ "$(id -u)" = 0 ]; then
	as='setpriv --reuid=postgres --regid=postgres --clear-groups --'
	mkdir -p "$dir/database"
	chown postgres "$dir/database"
fi

pids=
# finish STATUS
finish()
{
	trap '' INT TERM EXIT
	# shellcheck disable=SC2086 # lists of words
	kill $pids 2>/dev/null || :
	# shellcheck disable=SC2086
	wait $pids 2>/dev/null || :
	# shellcheck disable=SC2086
	(cd / && $as "$bin/pg_ctl" -D "$dir/database/data" -m fast -s stop) || :
	exit "$1"
}
trap 'finish $?' EXIT
trap 'finish 0' INT TERM

cd "$dir"
mkdir -p database
if [ ! -d database/data ]; then
	# shellcheck disable=SC2086
	(cd database && LC_ALL=C $as "$bin/initdb" -D "$dir/database/data" -A trust -U agent -E UTF8 --locale=C >/dev/null)
fi
# shellcheck disable=SC2086
(cd database && $as "$bin/pg_ctl" -D "$dir/database/data" -l "$dir/database/log" -w -s \
	-o "-k '$dir/database' -c listen_addresses= -c max_connections=300" start)
DATABASE_URL="postgresql:///postgres?host=$dir/database&user=agent"
MEDIA_STORAGE_TYPE=${MEDIA_STORAGE_TYPE:-database}
export DATABASE_URL MEDIA_STORAGE_TYPE

# With Redis the instances share the counts of rate limits.
if command -v redis-server >/dev/null; then
	redis-server --port 0 --unixsocket "$dir/redis.sock" --save '' --appendonly no >redis.log 2>&1 </dev/null &
	pids="$pids $!"
	CACHE_URL=unix://$dir/redis.sock
	export CACHE_URL
fi

# Each instance says where it listens when it starts.
: >upstreams
for i in $(seq "$instances"); do
	: >"instance-$i.out" # may have what an earlier instance said
	"$agentgraph" serve --state "$dir/instance-$i" --listen 127.0.0.1:0 ${config:+--config "$config"} \
		>"instance-$i.out" 2>"instance-$i.log" </dev/null &
	pids="$pids $!"
	until grep -q '^agentgraph: serving' "instance-$i.out"; do
		kill -0 "$!" || { cat "instance-$i.log" >&2; exit 1; }
		sleep 0.1
	done
	sed -n 's|^agentgraph: serving .* on http://\(.*\)$|server \1;|p' "instance-$i.out" >>upstreams
done

# The balancer: it does not hold back streams, lets WebSockets pass, and tells the instances who the client is.
cat >nginx.conf <<NGINX
daemon off;
pid $dir/nginx.pid;
error_log stderr;
events { worker_connections 1024; }
http {
	access_log off;
	client_body_temp_path $dir/body;
	proxy_temp_path $dir/proxy;
	fastcgi_temp_path $dir/fastcgi;
	uwsgi_temp_path $dir/uwsgi;
	scgi_temp_path $dir/scgi;
	map \$http_upgrade \$connection_upgrade { default upgrade; '' ''; }
	upstream instances {
		include $dir/upstreams;
		keepalive 32;
	}
	server {
		listen 127.0.0.1:$port;
		client_max_body_size 0;
		location / {
			proxy_pass http://instances;
			proxy_http_version 1.1;
			proxy_buffering off;
			proxy_request_buffering off;
			proxy_read_timeout 1d;
			proxy_set_header Host \$http_host;
			proxy_set_header X-Forwarded-For \$proxy_add_x_forwarded_for;
			proxy_set_header X-Forwarded-Proto \$scheme;
			proxy_set_header Upgrade \$http_upgrade;
			proxy_set_header Connection \$connection_upgrade;
		}
	}
}
NGINX
nginx=$(command -v nginx || echo /usr/sbin/nginx)
"$nginx" -p "$dir" -c "$dir/nginx.conf" -e stderr &
pids="$pids $!"
until [ -s nginx.pid ]; do
	kill -0 "$!" || exit 1
	sleep 0.1
done
echo "cluster: $instances instances on http://127.0.0.1:$port, with their logs in $dir"
wait "$!"
