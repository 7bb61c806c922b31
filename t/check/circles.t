#!/bin/sh
# SPDX-License-Identifier: ISC
# Files use each other one way, within a module as between modules: no header includes itself by way of others, and no
# two files call each other, directly or around.  What they call is what their objects lack and others define.
set -u
. "$(dirname "$0")/check.sh"

# loops: reads pairs "FILE USED", prints each circle of them; false when there is one.
loops()
{
	tsort >/dev/null 2>"$scratch/loops" || :
	sed 's/^tsort: //' "$scratch/loops"
	[ ! -s "$scratch/loops" ]
}

# includes: "HEADER HEADER" for each header below the current directory and those that it includes.
includes()
{
	# shellcheck disable=SC2046 # no path has a space
	awk '
	/^#include "/ {
		name = $0
		sub(/^[^"]*"/, "", name)
		sub(/".*/, "", name)
		module = FILENAME
		sub(/[^\/]*$/, "", module)
		if ((getline line < (module name)) >= 0)
			name = module name
		else
			name = "common/" name
		print FILENAME, name
	}' $(tree_files \( -path './common/*' -o -path './fcgi/*' -o -path './cli/*' -o -path './extract/*' \
		-o -path './runner/*' -o -path './ws-bridge/*' \) -name '*.h') /dev/null
}

# symbols SOURCES OBJECTS: "FILE KIND NAME" for what each object defines and lacks; of sources that are gone nothing.
symbols()
{
	(cd "$1" && find common fcgi cli extract runner ws-bridge -name '*.c' 2>/dev/null | sed 's/c$/o/') >"$scratch/objects"
	# shellcheck disable=SC2046 # no path has a space
	(cd "$2" && nm -A $(cat "$scratch/objects") 2>/dev/null) | awk '{ sub(/\.o:.*/, "", $1); print $1, $(NF - 1), $NF }'
}

# calls: of symbols "FILE FILE" for each that lacks what the other defines.  The public functions do not count: they
# are the door by which nodes and plug-ins come in.
calls()
{
	awk '
	$2 == "U" && $3 !~ /^ag_/ { lacks[$1 " " $3] }
	$2 ~ /^[TDRB]$/ { where[$3] = where[$3] " " $1 }
	END {
		for (pair in lacks) {
			split(pair, use, " ")
			n = split(where[use[2]], file, " ")
			for (i = 1; i <= n; i++)
				# programs may have a function of one name each; theirs is in their own module
				if (file[i] ~ /^common\// || module(file[i]) == module(use[1]))
					print use[1], file[i]
		}
	}
	function module(path) { sub(/\/.*/, "", path); return path }'
}

headers_go_one_way() { (cd "$top_srcdir" && includes | loops); }

calls_go_one_way()
{
	symbols "$top_srcdir" "$top_builddir" >"$scratch/symbols"
	calls <"$scratch/symbols" >"$scratch/calls"
	[ "$(wc -l <"$scratch/calls")" -gt 1000 ] || echo 'hardly any call was found'
	[ "$(wc -l <"$scratch/calls")" -gt 1000 ] && loops <"$scratch/calls"
}

test_that 'no header includes itself' headers_go_one_way
test_that 'no two files call each other' calls_go_one_way

# A tree with three files, each of which calls the next, and the last nobody, or the first.
planted()
{
	rm -rf "$scratch/tree"
	mkdir -p "$scratch/tree/common/graph" "$scratch/tree/common/base"
	cd "$scratch/tree" || return
	echo 'int b(void); int a(void); int a(void) { return b(); }' >common/graph/a.c
	echo 'int c(void); int b(void); int b(void) { return c(); }' >common/graph/b.c
	echo "int $1(void); int c(void); int c(void) { return $1(); }" >common/base/c.c
	for file in common/graph/a common/graph/b common/base/c; do
		"$CC" -c "$file.c" -o "$file.o" || return
	done
	symbols . . | calls | loops
}
test_that 'a chain is none' planted abs
test_that 'a circle of three is found' not planted a
test_that 'and named' grep -q common/graph/b "$scratch/loops"
test_that 'so is one that leaves out the first' not planted b
test_that 'the public functions are a door' planted ag_a

planted_headers()
{
	rm -rf "$scratch/tree"
	mkdir -p "$scratch/tree/common/graph" "$scratch/tree/common/base"
	cd "$scratch/tree" || return
	echo '#include "base/b.h"' >common/graph/a.h
	printf '#include "%s"\n' "$1" >common/base/b.h
	echo '#include <stdio.h>' >common/base/c.h
	includes | loops
}
test_that 'headers that go down are fine' planted_headers c.h
test_that 'headers in a circle are found' not planted_headers graph/a.h

done_testing
