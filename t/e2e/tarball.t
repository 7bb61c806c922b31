#!/bin/bash
# SPDX-License-Identifier: ISC
# The archive that needs no packages, in a Debian that has none, run without privileges.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

[ -n "${AGENTGRAPH_TARBALL-}" ] || tap_skip_all "it takes minutes and an archive: ./bootstrap check-tarball"
[ "$(id -u)" = 0 ] || tap_skip_all "a chroot takes root"
command -v debootstrap >/dev/null || tap_skip_all "no debootstrap here"
need_websockets
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | sed 1q)

root=$WORK/root
SERVE_PID=
debootstrap --variant=minbase "${AGENTGRAPH_RELEASE:-bookworm}" "$root" "$mirror" >debootstrap.log 2>&1 ||
	tap_skip_all "debootstrap failed; is $mirror reachable? $(tail -n 1 debootstrap.log)"
mount -t proc proc "$root/proc" || tap_skip_all "nothing can be mounted here"
leave() {
	local status=$?
	[ -z "$SERVE_PID" ] || tap_stop "$SERVE_PID"
	umount "$root/proc"
	(exit "$status")
	tap_end
}
trap leave EXIT
install -d -o 30000 -g 30000 "$root/home/me"
inside() { chroot --userspec=30000:30000 --groups= "$root" env -i HOME=/home/me PATH=/usr/bin:/bin LC_ALL=C "$@"; }

ok '! inside sh -c "command -v nginx || command -v websocketd || command -v curl"' "nothing of what it needs is there"
cp "$AGENTGRAPH_TARBALL" "$root/home/me/archive.tar.gz"
inside sh -c 'cd && tar -xzf archive.tar.gz && mv agentgraph-*/ here'
is $? 0 "it unpacks anywhere"
is "$(cd "$root/home/me/here" && find . ! -uid 30000 | wc -l)" 0 "and belongs to who unpacked it"
is "$(inside sh -c 'ldd ~/here/bin/* ~/here/libexec/agentgraph/* ~/here/lib/agentgraph/shared/*' 2>&1 | grep 'not found')" "" "no library is missing"
is "$(inside sh -c 'ldd ~/here/libexec/agentgraph/nginx ~/here/libexec/agentgraph/agentgraph-fcgi ~/here/libexec/agentgraph/agentgraph-postgresql.so' |
	sed -n 's/.* => \([^ ]*\) .*/\1/p' | grep -v /here/ | sed 's|.*/||' | sort -u | grep -vE '^lib(c|m|dl|rt|pthread|resolv)\.so')" "" \
	"but for the C library's, they are those that came along"
is "$(inside sh -c 'cd ~/here/lib/agentgraph/shared && ls | wc -l')" "$(inside sh -c 'cd ~/here/lib/agentgraph/shared && ldd * | grep -c :$')" "all of them are libraries"
for licence in nginx websocketd libcurl4 libsqlite3-0; do
	ok '[ -s "$root/home/me/here/share/doc/agentgraph/licences/$licence" ]' "the licence of $licence came along"
done

is "$(sed -nE 's/^Exec[a-zS-]*="([^"]*)".*/\1/p' "$root/home/me/here/share/systemd/user/agentgraph.service" | sort -u)" \
	"%h/.local/bin/agentgraph" "a person's own unit starts what is unpacked in ~/.local"
ok 'PKG_CONFIG_PATH=$root/home/me/here/lib/pkgconfig pkg-config --variable=includedir agentgraph | grep -q /home/me/here/' \
	"and pkg-config finds the header where it is"
inside sh -c '~/here/bin/agentgraph init ~/agent && cd ~/agent && ~/here/bin/agentgraph check' >check.out 2>&1
is $? 0 "a project is made, and found right" || diag "$(cat check.out)"
(cd / && exec chroot --userspec=30000:30000 --groups= "$root" env -i HOME=/home/me PATH=/usr/bin:/bin \
	sh -c 'cd ~/agent && exec ~/here/bin/agentgraph serve --listen 127.0.0.1:0 --processes 1') >serve.out 2>serve.err </dev/null &
SERVE_PID=$!
wait_for 60 grep -q '^agentgraph: serving' serve.out
ok $? "it is served, nginx included" || tap_bail "$(cat serve.err)"
BASE=$(sed -n 's/^agentgraph: serving .* on //p' serve.out)
http POST /v1/graph/invoke '{"messages": [{"role": "user", "content": "Hello"}], "config": {"thread_id": "t"}}'
is "$(json '.data.messages[-1].content[0].text' "$BODY")" "You said: Hello" "it answers"
http GET /v1/threads/t/messages
is "$(json '.data.messages | length' "$BODY")" 2 "and keeps what was said"
printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\001\0\0\0\001\b\002\0\0\0' >picture
is "$(curl -s -F "file=@picture;type=té/xt" "$BASE/v1/files/upload" | jq -r .data.mime_type)" image/png "types of files are told from their bytes"
"$python" - "ws${BASE#http}/v1/graph/ws" >socket.out 2>&1 <<'PYTHON'
import asyncio, json, sys, websockets

async def turn():
    async with websockets.connect(sys.argv[1]) as socket:
        await socket.send(json.dumps({"messages": [{"role": "user", "content": "by socket"}]}))
        async with asyncio.timeout(30):
            async for chunk in socket:
                print(chunk)
                if json.loads(chunk)["event"] == "updates" and json.loads(chunk)["data"]["status"] == "done":
                    return

asyncio.run(turn())
PYTHON
like "$(cat socket.out)" 'You said: by socket' "WebSockets go through the websocketd that came along"
unlike "$(cat serve.err)" '(cannot be (used|loaded)|was not found)' "nothing is missed while it serves"
kill "$SERVE_PID" && wait "$SERVE_PID"
is $? 0 "it stops"

done_testing
