#!/bin/bash
# SPDX-License-Identifier: ISC
# Installed in a home directory, without privileges: with an nginx of one's own, or included in the host's.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

nginx=$(command -v nginx || echo /usr/sbin/nginx)
[ -x "$nginx" ] || tap_skip_all "no nginx here"
command -v make >/dev/null || tap_skip_all "no make here"

# As root there is a user to be for a while, who is in no list of users.
person=
home="$WORK/home"
mkdir -p "$home"
if [ "$(id -u)" = 0 ]; then
	command -v setpriv >/dev/null || tap_skip_all "no setpriv here"
	number=$((30000 + $$ % 20000))
	person="setpriv --reuid=$number --regid=$number --clear-groups --inh-caps=-all"
	chown "$number:$number" "$home" && chmod 711 "$WORK" && chmod 700 "$home"
	$person test -x "$TOP_BUILDDIR/agentgraph" || tap_skip_all "$TOP_BUILDDIR is closed to other users"
fi
# as_person COMMAND…: with that home, and without the rest of the environment.
as_person() {
	(cd "$home" && exec $person env -i HOME="$home" PATH="/usr/local/bin:/usr/bin:/bin" "$@")
}

# person_serves COMMAND: in the background.
person_serves() {
	: >serve.out # in which the one before has said that it serves
	(cd "$home" && exec $person env -i HOME="$home" PATH="/usr/local/bin:/usr/bin:/bin" sh -c "$1") \
		>serve.out 2>serve.err </dev/null &
	SERVE_PID=$!
	tap_pids="$SERVE_PID $tap_pids"
	wait_for 60 grep -q '^agentgraph: serving' serve.out
}

as_person make -s -C "$TOP_BUILDDIR" install prefix="$home/.local" >make.log 2>&1
is $? 0 "make install needs no privileges" || tap_bail "$(tail -n 1 make.log)"
agentgraph=$home/.local/bin/agentgraph
ok '[ -s "$home/.local/share/systemd/user/agentgraph.service" ]' "the unit is where systemd looks for those of a user"
if [ -n "$person" ]; then
	is "$(find "$home" ! -user "$number" | wc -l)" 0 "everything belongs to the person"
fi
sed 's|^\(Exec[A-Za-z]*\)="[^"]*"|\1=/bin/true|' "$home/.local/share/systemd/user/agentgraph.service" >agentgraph.service
if command -v systemd-analyze >/dev/null; then
	mkdir runtime && chmod 700 runtime
	XDG_RUNTIME_DIR=$WORK/runtime systemd-analyze --user --man=no verify "$WORK/agentgraph.service" >verify.out 2>&1
	is "$(grep -i 'agentgraph.service' verify.out)" "" "systemd finds no mistake in it"
fi

# ---- with an nginx of one's own ----

as_person "$agentgraph" init "$home/agentgraph" >init.out 2>&1
is $? 0 "a project in the home"
person_serves 'cd ~/agentgraph && exec ~/.local/bin/agentgraph serve --listen 127.0.0.1:0 --processes 1'
ok $? "is served, nginx included" || diag "$(cat serve.err)"
BASE=$(sed -n 's/^agentgraph: serving .* on //p' serve.out)
http POST /v1/graph/invoke '{"messages": [{"role": "user", "content": "Hello"}]}'
is "$(json '.data.messages[-1].content[0].text' "$BODY")" "You said: Hello" "and answers"
kill "$SERVE_PID" && wait "$SERVE_PID"
is $? 0 "and stops"

# ---- by an include in the host's nginx ----

# The host's workers are another user's, who may pass the home, look at nothing, and use the socket.
socket=$home/agentgraph/web/fcgi.sock
as_person sh -c 'umask 077; mkdir ~/agentgraph/web; chmod 711 ~ ~/agentgraph ~/agentgraph/web'
person_serves 'cd ~/agentgraph && exec ~/.local/bin/agentgraph serve --no-nginx --processes 1 --socket web/fcgi.sock --socket-mode 0666'
ok $? "a service with sockets that others may use" || diag "$(cat serve.err)"
is "$(stat -c %a "$socket" "$socket.relay" | paste -sd' ')" "666 666" "as was asked for"
is "$(stat -c %a "$home/agentgraph/.agentgraph")" 700 "while its state stays closed"
as_person sh -c 'cd ~/agentgraph && exec ~/.local/bin/agentgraph check --socket web/fcgi.sock --web-user nobody' 2>check.err
is $? 0 "the check finds the way open" || diag "$(cat check.err)"
as_person sh -c 'cd ~/agentgraph && exec ~/.local/bin/agentgraph nginx-conf --prefix /~me --socket web/fcgi.sock' >snippet.conf 2>/dev/null
mkdir -p html && echo 'the host' >html/index.html
cat >nginx.conf <<END
daemon off;
$([ -z "$person" ] || echo 'user nobody nogroup;')
pid $WORK/nginx.pid;
error_log stderr;
events { }
http {
    $(nginx_paths)
    access_log off;
    server {
        listen unix:$WORK/http.sock;
        root $WORK/html;
        include $WORK/snippet.conf;
    }
}
END
chmod -R a+rX html
"$nginx" -p "$WORK" -c "$WORK/nginx.conf" -e stderr >nginx.log 2>&1 &
tap_pids="$! $tap_pids"
BASE=http://host
wait_for 30 test -S http.sock || diag "$(cat nginx.log)"
http GET / "" --unix-socket http.sock
is "$BODY" "the host" "the host's pages stay"
http GET /~me/ping "" --unix-socket http.sock
is "$STATUS" 200 "the person's service is below a prefix"
http POST /~me/v1/graph/invoke '{"messages": [{"role": "user", "content": "Hello"}]}' --unix-socket http.sock
is "$(json '.data.messages[-1].content[0].text' "$BODY")" "You said: Hello" "and answers"
printf 'a file' >file.txt
id=$(curl -s --unix-socket http.sock -F file=@file.txt "$BASE/~me/v1/files/upload" | jq -r .data.file_id)
http GET "/~me/v1/files/$id" "" --unix-socket http.sock
is "$STATUS $BODY" "200 a file" "files go through the service, as the host's nginx cannot read them"

# ---- removed ----

as_person make -s -C "$TOP_BUILDDIR" uninstall prefix="$home/.local" >make.log 2>&1
is "$? $(find "$home/.local" ! -type d)" "0 " "make uninstall takes all of it away"
done_testing
