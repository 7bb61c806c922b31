#!/bin/sh
# SPDX-License-Identifier: ISC
# Dependencies run downwards between the modules, and each foreign library is known in one place only.
set -u
. "$(dirname "$0")/check.sh"

# violations: prints a line for each include below the current directory that points where it must not.
violations()
{
	# shellcheck disable=SC2046 # no path has a space
	awk '
	BEGIN {
		rank["public"] = 0
		rank["base"] = 0
		rank["config"] = 1
		rank["storage"] = rank["tool"] = rank["model"] = 2
		rank["graph"] = rank["access"] = rank["telemetry"] = 3
		rank["service"] = 4
		rank["fcgi"] = rank["cli"] = rank["ws-bridge"] = rank["runner"] = rank["extract"] = 5

		# where a foreign header may be included; "once" means in one file of the tree
		place["sqlite3.h"] = "common/storage/sqlite/"
		place["sql.h"] = "common/storage/"
		place["libpq-fe.h"] = "common/storage/postgresql/libpq_module.c"
		place["fcgiapp.h"] = place["fcgi_stdio.h"] = place["fcgios.h"] = "fcgi/"
		place["jwt.h"] = "common/access/"
		place["wslay/wslay.h"] = "ws-bridge/"
		place["curl/curl.h"] = place["hiredis.h"] = place["hiredis/hiredis.h"] = "once"
		place["magic.h"] = "common/service/files/media_magic.c"
		place["speex/speex_resampler.h"] = "common/model/"
		place["libwebsockets.h"] = "common/model/realtime/realtime_lws.h"
		place["archive.h"] = place["archive_entry.h"] = "extract/package.c"
		place["libxml/parser.h"] = place["libxml/HTMLparser.h"] = "extract/"
		place["seccomp.h"] = place["linux/landlock.h"] = "extract/cage.c"
	}

	function report(why) {
		printf "%s:%d: %s: %s\n", FILENAME, FNR, header, why
		failed = 1
	}

	# The module that a path belongs to: "common/base/arena.h" and "base/arena.h" are in base.
	function room_of(path,   part, n) {
		sub(/^common\//, "", path)
		n = split(path, part, "/")
		return n > 1 ? part[1] : path == "agentgraph.h" ? "public" : ""
	}

	function check_place(   where) {
		where = place[header]
		if (where == "once") {
			if (header in seen && seen[header] != FILENAME)
				report("also included in " seen[header])
			seen[header] = FILENAME
		} else if (index(FILENAME, where) != 1) {
			report("only allowed in " where)
		}
	}

	function check_room(   from, to) {
		from = room_of(FILENAME)
		to = room_of(header)
		if (to == "" || to == from)
			return
		if (!(from in rank))
			report("the module " from " has no rank")
		else if (to in rank && rank[to] >= rank[from] && rank[to] > 0)
			report(from " must not depend on " to)
		else if (to in rank && rank[from] == 0 && to != "public")
			report(from " must not depend on " to)
	}

	/^[ \t]*#[ \t]*include[ \t]*["<]/ {
		header = $0
		sub(/^[^"<]*["<]/, "", header)
		sub(/[">].*/, "", header)
		if (match(header, /^(common\/)?storage\/(sql|sqlite|postgresql)\//))
			place[header] = "common/storage/"
		# what drivers have in common knows none of them
		if (FILENAME ~ /^common\/storage\/sql\// && header ~ /^(common\/)?storage\/(sqlite|postgresql)\//)
			report("a driver")
		if (header in place)
			check_place()
		else
			check_room()
	}

	END { exit failed }' $(tree_files \( -path './common/*' -o -path './fcgi/*' -o -path './cli/*' \
		-o -path './extract/*' -o -path './runner/*' -o -path './ws-bridge/*' \) -name '*.[ch]') /dev/null
}

the_tree_is_layered() { cd "$top_srcdir" && violations; }

# made_up FILE HEADER...: a tree with one file that includes these headers, and nothing wrong in another.
made_up()
{
	rm -rf "$scratch/tree"
	mkdir -p "$scratch/tree/$(dirname "$1")" "$scratch/tree/common/graph"
	printf '#include "base/arena.h"\n#include "graph/run.h"\n#include <stdio.h>\n' >"$scratch/tree/common/graph/run.c"
	file=$scratch/tree/$1
	shift
	printf '#include %s\n' "$@" >"$file"
	cd "$scratch/tree" || return
}

accepts() { (made_up "$@" && violations); }
refuses() { (made_up "$@" && ! violations); }

# crowded: prints the modules below the current directory that have more than 25 files beside those in their subfolders.
crowded()
{
	tree_files \( -path './common/*' -o -path './fcgi/*' -o -path './cli/*' -o -path './extract/*' -o -path './runner/*' \
		-o -path './ws-bridge/*' -o -path './sql/*' -o -path './web/*' \) -name '*.*' |
		awk '
		{ sub(/\/[^\/]*$/, ""); files[$0]++ }
		END { for (module in files) if (files[module] > 25) { print module ": " files[module]; found = 1 } exit !found }'
}

no_module_is_crowded() { cd "$top_srcdir" && not crowded; }

test_that 'every include of the tree points downwards' the_tree_is_layered
test_that 'a module with many files has subfolders' no_module_is_crowded

test_that 'a module may use those below it' accepts common/service/x.c '"graph/graph.h"' '"base/buf.h"'
test_that 'a transport may use its own headers' accepts fcgi/x.c '"fcgi/http.h"' '"service/run/runs.h"' '<fcgiapp.h>'
test_that 'a module must not use one above it' refuses common/storage/x.c '"graph/graph.h"'
test_that 'a path from the top of the tree hides nothing' refuses common/storage/x.c '"common/graph/graph.h"'
test_that 'a module must not use its neighbour' refuses common/tool/x.c '"storage/storage.h"'
test_that 'base uses no other module' refuses common/base/x.c '"config/config.h"'
test_that 'a module that nobody ranked is noticed' refuses common/attic/x.c '"base/buf.h"'
test_that 'SQLite is known to its engine only' refuses common/storage/x.c '<sqlite3.h>'
test_that 'libpq is known to its module only' refuses common/storage/postgresql/x.c '<libpq-fe.h>'
test_that 'nothing outside includes an engine' refuses common/service/x.c '"storage/sql/db/db.h"'
test_that 'what drivers have in common knows none of them' refuses common/storage/sql/x.c '"storage/sqlite/sqlite_db.h"'
test_that 'an engine may use its own headers' accepts common/storage/sqlite/x.c '"storage/sql/db/db.h"' '"sql.h"'
test_that 'FastCGI is known in fcgi only' refuses common/service/x.c '<fcgiapp.h>'
test_that 'libjwt is known in access only' refuses fcgi/x.c '<jwt.h>'
test_that 'libcurl is known to one file' accepts common/tool/x.c '<curl/curl.h>'

a_crowd()
{
	made_up common/base/x.c '<stdio.h>' && for n in $(seq 25); do : >"common/base/$n.c"; done && crowded
}
test_that 'a crowd is noticed' a_crowd

two_users_of_curl()
{
	made_up common/tool/x.c '<curl/curl.h>' && echo '#include <curl/curl.h>' >common/tool/y.c && ! violations
}
test_that 'a second user of libcurl is refused' two_users_of_curl

done_testing
