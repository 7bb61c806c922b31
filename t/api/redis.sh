# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# A Redis server for the test alone, on the socket REDIS, and servers that only look like one.  Sourced after lib.sh.

command -v redis-server >/dev/null || tap_skip_all 'redis-server is not installed'
command -v python3 >/dev/null || tap_skip_all 'python3 is not installed'

REDIS=$WORK/redis.sock

redis_start() {
	redis-server --port 0 --unixsocket "$REDIS" --save '' --appendonly no "$@" >redis.out 2>&1 &
	REDIS_PID=$!
	tap_pids="$tap_pids $REDIS_PID"
	wait_for 30 redis-cli -s "$REDIS" ping
}

redis_stop() {
	kill -9 "$REDIS_PID" 2>/dev/null
	wait "$REDIS_PID" 2>/dev/null
	rm -f "$REDIS"
}

redis() { redis-cli -s "$REDIS" "$@"; }

# redis_fake MANNER: starts a server that reads and is silent, answers with garbage, or answers everything with "OK".
redis_fake() {
	python3 - "$REDIS" "$1" <<'PYTHON' &
import socket, sys, threading

answers = {"silent": b"", "garbage": b"\x00\xffHTTP/1.1 200 OK\r\n\r\n", "agreeable": b"+OK\r\n"}
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen(16)

def serve(connection):
    while connection.recv(1000):
        connection.sendall(answers[sys.argv[2]])

while True:
    threading.Thread(target=serve, args=server.accept()[:1], daemon=True).start()
PYTHON
	REDIS_PID=$!
	tap_pids="$tap_pids $REDIS_PID"
	wait_for 30 test -S "$REDIS"
}
