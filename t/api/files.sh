# shellcheck shell=sh
# SPDX-License-Identifier: ISC
# What the tests of files share.  Sourced after lib.sh; needs jq.
#
#	part DISPOSITION [TYPE] <CONTENT        one part of a body, with the boundary before it; DISPOSITION follows form-data
#	form <PARTS                             the whole body
#	upload NAME TYPE CONTENT [HEADER...]    one file; sets FILE to its id
#	send FILE [HEADER...]                   a body from a file, with bytes of any kind

for tool in jq python3; do
	command -v $tool >/dev/null || tap_skip_all "$tool is not installed"
done

MULTIPART='Content-Type: multipart/form-data; boundary=AaB03x'

part() {
	printf -- '--AaB03x\r\nContent-Disposition: form-data%s\r\n' "$1"
	[ -z "${2-}" ] || printf 'Content-Type: %s\r\n' "$2"
	printf '\r\n'
	cat
	printf '\r\n'
}

form() {
	cat
	printf -- '--AaB03x--\r\n'
}

send() {
	send_file=$1
	shift
	[ -n "$SOCKET" ] || api_start || return 1
	set -- "$MULTIPART" "$@"
	api_body "$send_file" "$@"
}

# api_body FILE HEADER...: like api POST /v1/files/upload with the file as the body; the first header is the
# Content-Type.
api_body() {
	RAW=$WORK/answer
	body_file=$1 body_type=${2#*: }
	shift 2
	for body_header in "$@"; do
		shift
		set -- "$@" "HTTP_$(printf '%s' "${body_header%%:*}" | tr 'a-z-' 'A-Z_')=${body_header#*: }"
	done
	env -i PATH="$PATH" REQUEST_METHOD=POST REQUEST_URI=/v1/files/upload SERVER_PROTOCOL=HTTP/1.1 \
		REQUEST_SCHEME=http REMOTE_ADDR=127.0.0.1 HTTP_HOST=localhost CONTENT_TYPE="$body_type" \
		CONTENT_LENGTH="${BODY_LENGTH-$(wc -c <"$body_file" | tr -d ' ')}" "$@" \
		timeout 60 cgi-fcgi -bind -connect "$SOCKET" <"$body_file" >"$RAW"
	take_answer
}

upload() {
	printf '%s' "$3" | part "; name=\"file\"; filename=\"$1\"" "$2" | form >"$WORK/form"
	shift 3
	send "$WORK/form" "$@"
	FILE=$(json '.data.file_id // ""' "$BODY")
}

# raw_send MODE FILE [TYPE]: sends a body of unknown length in small records.  MODE is whole; cut, which breaks off the
# connection after the file's bytes; or drip, which sends one byte at a time.
raw_send() {
	[ -n "$SOCKET" ] || api_start || return 1
	RAW=$WORK/answer
	python3 - "$SOCKET" "$1" "$2" "${3-${MULTIPART#*: }}" >"$RAW" <<'PYTHON'
import socket
import sys

path, mode, name, kind = sys.argv[1:]


def record(number, data):
    return bytes([1, number, 0, 1]) + len(data).to_bytes(2, "big") + b"\0\0" + data


def size(n):
    return bytes([n]) if n < 128 else (n | 1 << 31).to_bytes(4, "big")


values = {"REQUEST_METHOD": "POST", "REQUEST_URI": "/v1/files/upload", "CONTENT_TYPE": kind, "CONTENT_LENGTH": ""}
pairs = b"".join(size(len(k)) + size(len(v)) + k.encode() + v.encode() for k, v in values.items())
body = open(name, "rb").read()
step = 1 if mode == "drip" else 1000
c = socket.socket(socket.AF_UNIX)
c.settimeout(30)
c.connect(path)
try:
    c.sendall(record(1, bytes([0, 1, 0, 0, 0, 0, 0, 0])) + record(4, pairs) + record(4, b""))
    for at in range(0, len(body), step):
        c.sendall(record(5, body[at : at + step]))
    if mode == "cut":
        c.shutdown(socket.SHUT_WR)
    else:
        c.sendall(record(5, b""))
except BrokenPipeError:
    pass
data, out = b"", b""
while piece := c.recv(65536):
    data += piece
while len(data) >= 8:
    n, padding = int.from_bytes(data[4:6], "big"), data[6]
    if data[1] == 6:
        out += data[8 : 8 + n]
    data = data[8 + n + padding :]
sys.stdout.buffer.write(out)
PYTHON
	take_answer
}

take_answer() {
	HEADERS=$(tr -d '\r' <"$RAW" | sed '/^$/q')
	BODY=$(sed "1,/^\r\{0,1\}\$/d" "$RAW")
	STATUS=$(header Status)
	STATUS=${STATUS%% *}
}

# said: status, code and text of the last answer, or only the status if it was a success.
said() {
	case $STATUS in
	2*) echo "$STATUS" ;;
	*) json '"'"$STATUS"' \(.error_code) \(.detail)"' "$BODY" ;;
	esac
}

# data EXPRESSION: evaluates it on the last answer's data.
data() { json ".data | $1" "$BODY"; }

# stored: how many files there are in the directory, temporary ones included.
stored() { find "$WORK/uploads" -type f 2>/dev/null | wc -l | tr -d ' '; }
