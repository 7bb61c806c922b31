#!/bin/sh
# SPDX-License-Identifier: ISC
# The build's lists of files are complete.
set -u
. "$(dirname "$0")/check.sh"

lists_are_up_to_date() { "$top_srcdir/build-aux/sources" --check "$1"; }

# forgotten TREE: the files that no Makefile of the tree names.  What autoreconf puts into build-aux names itself.
forgotten()
{
	(
		cd "$1" || exit
		named_files >"$scratch/named"
		tree_files -name '*.[ch]' -o -name '*.sql' -o -name '*.t' -o -name '*.py' -o -name '*.json' \
			-o -name '*.sh' ! -path './build-aux/*' | comm -23 - "$scratch/named"
	)
}

nothing_forgotten() { forgotten "$1" | not grep .; }

licence_is_named() { "$top_srcdir/build-aux/spdx" --check "$1"; }

# Below the licence every .c file begins with what it is.
heads_are_there()
{
	# shellcheck disable=SC2046 # no path has a space
	(cd "$1" && awk 'FNR == 2 && !/^\/\*/ { print FILENAME }' $(tree_files -name '*.c') /dev/null) | not grep .
}

scripts_are_executable() { cd "$top_srcdir" && tree_files -name '*.t' ! -perm -u+x | not grep .; }

# Every parser's fuzz target has inputs to begin with, words, and its place in the table of doc/testing.md.
targets_are_complete()
{
	for target in "$1"/t/fuzz/*.c; do
		name=$(basename "$target" .c)
		[ "$name" = replay ] && continue
		if [ ! -d "$1/t/fuzz/corpus/$name" ] || [ ! -s "$1/t/fuzz/$name.dict" ] || ! grep -q "^|.*\`$name\`" "$1/doc/testing.md"; then
			echo "$name"
		fi
	done | not grep .
}

test_that 'the lists name what is in the folders (else: make sources)' lists_are_up_to_date "$top_srcdir"
test_that 'every source, statement and test is in a list' nothing_forgotten "$top_srcdir"
test_that 'every source names the licence (else: build-aux/spdx)' licence_is_named "$top_srcdir"
test_that 'every C file begins with what it is' heads_are_there "$top_srcdir"
test_that 'every test script can be executed' scripts_are_executable
test_that 'every fuzz target has a corpus, a dictionary and a row in doc/testing.md' targets_are_complete "$top_srcdir"

# A small tree of the same form, to see the checks fail.
small=$scratch/small
mkdir -p "$small/room"
printf '# files: room/*.c !room/out.c\nx_SOURCES = \\\n\troom/a.c \\\n\troom/gone.c\nafter = 1\n' >"$small/room/Makefile.inc"
: >"$small/Makefile.am"
touch "$small/room/a.c" "$small/room/b.c" "$small/room/out.c"

test_that 'a list that is out of date is noticed' not lists_are_up_to_date "$small"
"$top_srcdir/build-aux/sources" "$small" >/dev/null
test_that 'it is brought up to date' lists_are_up_to_date "$small"
printf '# files: room/*.c !room/out.c\nx_SOURCES = \\\n\troom/a.c \\\n\troom/b.c\nafter = 1\n' >"$scratch/expected"
test_that 'and nothing else is changed' cmp "$scratch/expected" "$small/room/Makefile.inc"
test_that 'a source outside all lists is noticed' not nothing_forgotten "$small"

printf '#!/bin/sh\n# A test.\n' >"$small/room/a.t"
printf '/* SPDX-License-Identifier: ISC */\n#include "b.h"\n' >"$small/room/a.c"
rm "$small/room/b.c" "$small/room/out.c"
test_that 'a source that does not name the licence is noticed' not licence_is_named "$small"
"$top_srcdir/build-aux/spdx" "$small"
printf '#!/bin/sh\n# SPDX-License-Identifier: ISC\n# A test.\n' >"$scratch/expected"
test_that 'it is made to, below the line that says what runs it' cmp "$scratch/expected" "$small/room/a.t"
test_that 'and then is content' licence_is_named "$small"
test_that 'a C file that does not say what it is is noticed' not heads_are_there "$small"
printf '/* SPDX-License-Identifier: ISC */\n/* A source. */\n#include "b.h"\n' >"$small/room/a.c"
test_that 'one that does is fine' heads_are_there "$small"

mkdir -p "$small/t/fuzz/corpus/json" "$small/doc"
touch "$small/t/fuzz/json.c"
echo '"{"' >"$small/t/fuzz/json.dict"
# shellcheck disable=SC2016 # the quotes are those of Markdown
echo '| all | `json` |' >"$small/doc/testing.md"
test_that 'a complete fuzz target is seen as one' targets_are_complete "$small"
: >"$small/t/fuzz/json.dict"
test_that 'one without words is not' not targets_are_complete "$small"

done_testing
