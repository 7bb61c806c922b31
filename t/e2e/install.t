#!/bin/bash
# SPDX-License-Identifier: ISC
# make install: into a directory, from where everything runs; moved elsewhere, and uninstalled.
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

command -v make >/dev/null || tap_skip_all "no make here"
[ -f "$TOP_BUILDDIR/Makefile" ] || tap_skip_all "no build directory here"

# What is being built meanwhile must not be built twice, and what calls this is no parent of it.
build_make() {
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -C "$TOP_BUILDDIR" "$@" >make.log 2>&1 ||
		{ diag "$(tail -n 5 make.log)" && return 1; }
}

# ---- in a staging directory ----

stage="$WORK/a stage+=~,%@[é]"
build_make install prefix=/opt/ag-1.0+b=c DESTDIR="$stage"
is $? 0 "it installs below any prefix and DESTDIR" || tap_bail "the rest needs that"
place=$stage/opt/ag-1.0+b=c
for file in bin/agentgraph libexec/agentgraph/agentgraph-fcgi libexec/agentgraph/agentgraph-relay \
	libexec/agentgraph/agentgraph-follow libexec/agentgraph/agentgraph-runner libexec/agentgraph/agentgraph-ws \
	include/agentgraph.h share/man/man1/agentgraph.1 share/bash-completion/completions/agentgraph \
	share/man/man5/agentgraph.json.5 share/doc/agentgraph/README share/doc/agentgraph/doc/README.md share/agentgraph/nginx-conf/agentgraph.conf; do
	ok "[ -s '$place/$file' ]" "$file is there"
done
is "$(find "$stage" -name 'agentgraph.pc' | wc -l)" 1 "so is the file for pkg-config"
is "$(find "$stage" -name 'agentgraph.service' | wc -l)" 2 "and two systemd units"
ok '! grep -rlE "@[a-z]+dir@" "$stage" --include="*.service" --include="*.pc"' "with everything filled in"
is "$(cd "$stage" && find . -type f ! -path './opt/ag-1.0+b=c/*')" "" "nothing lies elsewhere"
is "$(find "$stage" -type f -perm /022 | wc -l)" 0 "and others can write to nothing"

# ---- moved ----

mkdir -p "$WORK/new home" && mv "$place" "$WORK/new home/ag" && place="$WORK/new home/ag"
AGENTGRAPH="$place/bin/agentgraph"
"$AGENTGRAPH" version >version.out
is $? 0 "it runs from where it was moved to"
like "$(cat version.out)" '^agentgraph [0-9]' "and knows itself"
if [ -e "$TOP_BUILDDIR/agentgraph-postgresql.so" ]; then
	DATABASE_URL=postgresql://127.0.0.1:1/x "$AGENTGRAPH" check --state away >check.out 2>&1
	like "$(cat check.out)" 'port 1 failed' "PostgreSQL's module is found beside it"
fi
if [ -x "$(command -v nginx || echo /usr/sbin/nginx)" ]; then
	serve_start
	ok $? "the service starts from there"
	for child in $(children "$SERVE_PID"); do readlink "/proc/$child/exe"; done | grep agentgraph >programs
	is "$(grep -vc "^$place/" programs)" 0 "with none but its own programs"
	ok '[ "$(grep -c agentgraph-fcgi programs)" = 2 ] && grep -q agentgraph-relay programs' "workers and relay among them"
	http POST /v1/graph/invoke '{"messages": [{"role": "user", "content": "hello"}]}'
	is "$(json '.data.messages[-1].content[0].text' "$BODY")" "echo: hello" "and it answers"
	if [ -d "$place/share/agentgraph/web" ]; then
		http GET /docs/assets/swagger-ui.css
		is "$STATUS" 200 "the pages' files are found beside it"
	fi
	if [ -x "$place/libexec/agentgraph/agentgraph-extract" ]; then
		printf '<html><body>read this</body></html>' >page.html
		id=$(curl -s -F 'file=@page.html;type=text/html' "$BASE/v1/files/upload" | jq -r .data.file_id)
		extracted() { curl -s "$BASE/v1/files/$id/info" | grep -q 'read this'; }
		ok 'wait_for 30 extracted' "so is the program that reads documents"
	fi
	serve_stop
	is $? 0 "it stops"
fi
mv "$place" "$stage/opt/ag-1.0+b=c"

# ---- removed ----

build_make uninstall prefix=/opt/ag-1.0+b=c DESTDIR="$stage"
is $? 0 "it can be taken away"
is "$(find "$stage" ! -type d)" "" "not a file is left"
is "$(find "$stage" -type d -name 'agentgraph*')" "" "nor a directory of its own"
done_testing
