#!/bin/bash
# SPDX-License-Identifier: ISC
# The Debian package in a Debian of its own: installed, served behind a site, upgraded, removed, purged.
# systemd does not run in there: what it would do is done by hand, from the unit's lines.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

[ -n "${AGENTGRAPH_DEBS-}" ] || tap_skip_all "it takes minutes and a package: ./bootstrap check-deb"
[ "$(id -u)" = 0 ] || tap_skip_all "a chroot takes root"
for tool in debootstrap dpkg-deb lintian systemd-analyze sqlite3 curl jq; do
	command -v "$tool" >/dev/null || tap_skip_all "no $tool here"
done
mirror=${AGENTGRAPH_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | sed 1q)} # the machine's own
deb=$(ls "$AGENTGRAPH_DEBS"/agentgraph_*.deb) && module=$(ls "$AGENTGRAPH_DEBS"/agentgraph-postgresql_*.deb) ||
	tap_bail "no package in $AGENTGRAPH_DEBS"

# ---- the package itself ----

# No person's address belongs into the tree, so the maintainer's has no host.
lintian --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog --fail-on error,warning "$AGENTGRAPH_DEBS"/agentgraph*.deb >lintian.out 2>&1
is $? 0 "lintian has nothing to say" || diag "$(cat lintian.out)"
dpkg-deb --contents "$deb" >contents
is "$(sed -n 's|.* \./etc/agentgraph/||p' contents | sort | paste -sd' ')" " agentgraph.json environment" "it has the two files of settings"
like "$(cat contents)" '^-rw------- root/root .*/etc/agentgraph/environment' "the one for secrets for root alone"
unlike "$(cat contents)" '/(home|root|tmp|work|usr/local)/' "and nothing where packages have no business"

# ---- a Debian ----

root=$WORK/root
leave() {
	local status=$?
	stop_postgres >/dev/null 2>&1
	umount "$root/proc" 2>/dev/null
	(exit "$status")
	tap_end
}
trap leave EXIT
debootstrap --variant=minbase "${AGENTGRAPH_RELEASE:-bookworm}" "$root" "$mirror" >debootstrap.log 2>&1 ||
	tap_skip_all "debootstrap failed; is $mirror reachable? $(tail -n 1 debootstrap.log)"
mount -t proc proc "$root/proc" || tap_skip_all "nothing can be mounted here"
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" && chmod +x "$root/usr/sbin/policy-rc.d"

inside() {
	chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"
}
as_postgres() { chroot --userspec=postgres:postgres "$root" env -i -C / PATH=/usr/sbin:/usr/bin:/bin LC_ALL=C "$@"; }
postgres_version() { ls "$root/etc/postgresql"; }
on_cluster() { as_postgres pg_ctlcluster "$(postgres_version)" main "$@"; }
stop_postgres() { on_cluster stop -m immediate; }
# as_service COMMAND...: as the unit would run it; in place of this shell when run is exec.
run=
as_service() {
	$run chroot --userspec=agentgraph:agentgraph --groups= "$root" env -i -C /var/lib/agentgraph PATH=/usr/bin:/bin \
		$(grep -hv '^#' "$root/etc/agentgraph/environment") "$@"
}
unit_line() { sed -n "s/^$1=//p" "$root/lib/systemd/system/agentgraph.service"; }
install_deb() {
	cp "$1" "$root/tmp/agentgraph.deb"
	inside apt-get install -y --no-install-recommends /tmp/agentgraph.deb >apt.log 2>&1
}
serve() {
	install -d -m 750 -o "$(inside id -u agentgraph)" -g "$(inside id -g agentgraph)" "$root/run/agentgraph"
	(run=exec && as_service $(unit_line ExecStart)) >serve.out 2>serve.err &
	SERVE_PID=$!
	tap_pids="$SERVE_PID $tap_pids"
	wait_for 60 grep -q '^agentgraph: serving' serve.out
}

inside apt-get update >apt.log 2>&1 && inside apt-get install -y --no-install-recommends nginx-light >>apt.log 2>&1 ||
	tap_skip_all "the mirror has no packages for it: $(tail -n 1 apt.log)"

# ---- installed ----

install_deb "$deb"
is $? 0 "apt installs it with what it depends on" || diag "$(tail -n 15 apt.log)"
is "$(stat -c '%a %U' "$root/etc/agentgraph/environment")" "600 root" "secrets are root's"
is "$(inside stat -c '%a %U:%G' /var/lib/agentgraph)" "700 agentgraph:agentgraph" "the state is the service's own"
is "$(inside getent passwd agentgraph | cut -d: -f6,7)" "/var/lib/agentgraph:/usr/sbin/nologin" "whose user cannot log in"
ok '! inside sh -c "ldd /usr/bin/agentgraph /usr/libexec/agentgraph/*" | grep "not found"' "no library is missing"
is "$(inside dpkg --verify agentgraph)" "" "all files are as packed"
ok '[ -L "$root/etc/systemd/system/multi-user.target.wants/agentgraph.service" ]' "the unit is enabled"

ok '[ ! -e "$root/etc/systemd/user/default.target.wants/agentgraph.service" ]' "that of a person's own service is not"
is "$(inside stat -c '%a %U' /var/backups/agentgraph)" "700 agentgraph" "there is a place for backups"
unit_check() { as_service $(unit_line ExecReload | sed 1q) 2>check.err; }
unit_check
is $? 0 "a reload checks first"
like "$(unit_line MemoryMax)" '^[0-9]+%$' "the machine keeps some of its memory"
ok '[ -f "$root/etc/logrotate.d/agentgraph" ]' "logs are rotated"
ok '[ -s "$root/usr/share/doc/agentgraph/README.Debian" ]' "what is where can be read"

# There is no systemd in there, and no agentgraph out here.
sed 's|/usr/bin/agentgraph|/bin/true|' "$root/lib/systemd/system/agentgraph.service" >agentgraph.service
systemd-analyze verify --man=no "$WORK/agentgraph.service" >verify.out 2>&1
is "$(grep agentgraph.service verify.out)" "" "systemd finds no mistake in the unit"
systemd-analyze security --offline=true --root="$root" --threshold=20 agentgraph.service >security.out 2>&1
is $? 0 "its exposure is 2.0 at most" || diag "$(grep -v '^.\[32m' security.out | tail -n 40)"
diag "$(tail -n 1 security.out)"

# ---- served, behind a site that was there before ----

echo ROOT_PATH=/agent >>"$root/etc/agentgraph/environment"
serve
ok $? "the unit's lines start it as its user" || diag "$(cat serve.err)"
is "$(stat -c %a "$root/run/agentgraph/fcgi.sock")" 660 "its socket is for its group"
port=$((20000 + (RANDOM % 12000)))
BASE=http://127.0.0.1:$port
cat >"$root/etc/nginx/sites-available/default" <<END
server {
    listen 127.0.0.1:$port;
    root /var/www/html;
    index index.html;
    include snippets/agentgraph.conf;
}
END
mkdir -p "$root/var/www/html" && echo 'my own page' >"$root/var/www/html/index.html"
inside /usr/bin/agentgraph nginx-conf --config /etc/agentgraph/agentgraph.json --state /var/lib/agentgraph \
	--environment /etc/agentgraph/environment --socket /run/agentgraph/fcgi.sock >"$root/etc/nginx/snippets/agentgraph.conf" 2>/dev/null
check_web() {
	as_service /usr/bin/agentgraph check --config /etc/agentgraph/agentgraph.json --state /var/lib/agentgraph \
		--socket /run/agentgraph/fcgi.sock --snippet /etc/nginx/snippets/agentgraph.conf \
		--nginx-conf /etc/nginx/nginx.conf 2>check.err
}
check_web
is $? 1 "the check sees that the web server cannot reach the socket"
like "$(cat check.err)" 'usermod -aG agentgraph www-data' "and says what to do"
inside usermod -aG agentgraph www-data
check_web
is $? 0 "after which it is content" || diag "$(cat check.err)"
inside nginx -t 2>nginx.log
is $? 0 "nginx takes the snippet" || diag "$(cat nginx.log)"
chroot "$root" nginx -g 'daemon off;' 2>>nginx.log &
tap_pids="$! $tap_pids"
wait_for 20 curl -sf -o /dev/null "$BASE/"
http GET /
is "$BODY" "my own page" "the site is there as before"
http GET /agent/ping
is "$STATUS" 200 "and the service below its prefix"
http POST /agent/v1/graph/invoke '{"messages": [{"role": "user", "content": "before"}], "config": {"thread_id": "t1"}}'
is "$(json '.data.messages[-1].content[0].text' "$BODY")" "echo: before" "which runs the graph"
printf 'text of a file' >file.txt
id=$(curl -s -F file=@file.txt "$BASE/agent/v1/files/upload" | jq -r .data.file_id)
http GET "/agent/v1/files/$id"
is "$STATUS $BODY" "200 text of a file" "and keeps files"
http GET /agent/docs
is "$STATUS" 200 "and shows its pages"
http GET /agent/console
page=$BODY
scripts=$(printf '%s' "$page" | sed -n 's/.*src="\([^"]*\)".*/\1/p')
is "$(printf '%s\n' "$scripts" | sed 's|.*/||' | paste -sd' ')" "app.js marked.js" "the console loads what shows Markdown"
like "$page" 'data-differences="yes"' "and has what shows differences"
base=$(printf '%s\n' "$scripts" | sed -n 's|/app.js$||p')
for asset in app.js console.css marked.js diff.js; do
	http GET "/agent/$base/$asset"
	ok '[ "$STATUS" = 200 ] && [ -n "$BODY" ]' "$asset is there"
done

serve_stop
is $? 0 "it stops"

# ---- over PostgreSQL, with the package for it ----

inside apt-get install -y --no-install-recommends postgresql >apt.log 2>&1 || tap_bail "no PostgreSQL: $(tail -n 1 apt.log)"
echo "listen_addresses = ''" >"$root/etc/postgresql/$(postgres_version)/main/conf.d/socket.conf"
on_cluster start >postgres.log 2>&1 || tap_bail "PostgreSQL does not start: $(cat postgres.log)"
as_postgres createuser agentgraph
as_postgres createdb --owner agentgraph --encoding UTF8 --template template0 agents
echo 'DATABASE_URL=postgresql:///agents?host=/var/run/postgresql' >>"$root/etc/agentgraph/environment"
unit_check
is $? 1 "without the module the check fails"
like "$(cat check.err)" 'agentgraph-postgresql' "and names it"
install_deb "$module"
is $? 0 "its package installs beside the other" || diag "$(tail -n 15 apt.log)"
is "$(inside dpkg --verify agentgraph-postgresql)" "" "all its files are as packed"
ok '! inside ldd /usr/libexec/agentgraph/agentgraph-postgresql.so | grep "not found"' "with the libraries of it"
stop_postgres
serve
ok $? "the service starts before its database" || diag "$(cat serve.err)"
on_cluster start
served() { http GET /agent/v1/threads && [ "$STATUS" = 200 ]; }
ok 'wait_for 30 served' "which it finds when it is there"
# each process looks for it on its own
kept() {
	http POST /agent/v1/graph/invoke '{"messages": [{"role": "user", "content": "kept there"}], "config": {"thread_id": "p1"}}'
	[ "$STATUS" != 503 ]
}
wait_for 30 kept
is "$STATUS $(json '.data.messages[-1].content[0].text' "$BODY")" "200 echo: kept there" "runs the graph"
is "$(as_postgres psql -Atc 'SELECT count(*) FROM agentgraph.messages' agents)" 2 "and keeps what was said in the database"
serve_stop
is $? 0 "it stops"
sed -i '/^DATABASE_URL=/d' "$root/etc/agentgraph/environment"
stop_postgres
inside apt-get purge -y agentgraph-postgresql >apt.log 2>&1
is $? 0 "the package can be purged, and the other stays" || diag "$(tail -n 15 apt.log)"
ok '[ ! -e "$root/usr/libexec/agentgraph/agentgraph-postgresql.so" ] && [ -x "$root/usr/bin/agentgraph" ]' "without the module"

# ---- upgraded ----

dpkg-deb -R "$deb" new && sed -i 's/^Version: .*/&+1/' new/DEBIAN/control && dpkg-deb -b new new.deb >/dev/null
# A database of the first schema; its files are gone, which nobody asks for any more.
old=$root/var/lib/agentgraph/files.db
rm -f "$old-wal" "$old-shm" && : >"$old"
sqlite3 "$old" ".read $TOP_SRCDIR/sql/migrations/files-0001.sql" 'PRAGMA user_version = 1' || tap_bail "no database of the first schema"
sed -i 's/"auth": null/"auth": null, "ag_ui": {"enabled": true}/' "$root/etc/agentgraph/agentgraph.json"
install_deb new.deb
is $? 0 "a newer version installs over it" || diag "$(tail -n 15 apt.log)"
like "$(inside dpkg-query -W -f '${Version}' agentgraph)" '\+1$' "and is the newer one"
like "$(cat "$root/etc/agentgraph/agentgraph.json")" ag_ui "settings that were changed stay"
serve
ok $? "it starts" || diag "$(cat serve.err)"
is "$(sqlite3 "$old" 'PRAGMA user_version; PRAGMA integrity_check' | paste -sd' ')" \
	"$(ls "$TOP_SRCDIR"/sql/migrations/files-[0-9]*.sql | wc -l) ok" "a database of the first schema was brought up to date"
http GET /agent/v1/threads/t1/messages
like "$BODY" 'echo: before' "the thread of the older version is there"
http POST /agent/v1/graph/invoke '{"messages": [{"role": "user", "content": "/context"}], "config": {"thread_id": "t1"}}'
is "$(json '.data.messages[-1].content[0].text' "$BODY")" "context: 3" "and goes on"
serve_stop

# ---- removed and purged ----

inside apt-get remove -y agentgraph >apt.log 2>&1
is $? 0 "it can be removed"
ok '[ ! -e "$root/usr/bin/agentgraph" ] && [ ! -e "$root/usr/libexec/agentgraph" ]' "with its programs"
ok '[ -s "$root/var/lib/agentgraph/threads.db" ] && [ -s "$root/etc/agentgraph/environment" ]' "while data and settings stay"
inside install -o agentgraph -m 600 /dev/null /var/backups/agentgraph/kept
inside apt-get purge -y agentgraph >apt.log 2>&1
is $? 0 "it can be purged"
is "$(inside stat -c %U /var/backups/agentgraph/kept)" agentgraph "backups stay, and so does their user, whose number no other one gets"
ok '[ -s "$root/etc/nginx/snippets/agentgraph.conf" ] && inside nginx -t 2>nginx.log' "a site that includes the snippet goes on"
sed -i '/agentgraph/d' "$root/etc/nginx/sites-available/default"
rm "$root/var/backups/agentgraph/kept"
install_deb new.deb && inside apt-get purge -y agentgraph >apt.log 2>&1
is $? 0 "and once more"
rm -f "$root/tmp/agentgraph.deb"
is "$(find "$root" -path "$root/proc" -prune -o -name '*agentgraph*' -print)" "" "and nothing is left of it"
is "$(inside getent passwd agentgraph)" "" "not even its user"
done_testing
