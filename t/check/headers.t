#!/bin/sh
# SPDX-License-Identifier: ISC
# Every header includes what it needs.
set -u
. "$(dirname "$0")/check.sh"

# shellcheck disable=SC2086 # flags are words
compiles_alone() { printf '#include "%s"\n' "$1" | $CC $CPPFLAGS $CFLAGS -fsyntax-only -x c -; }

# led: of the C files that are named, the headers of the same name which they include before all else.  Whoever builds
# the file compiles the header alone.
led() {
	awk 'FNR == 1 { over = 0 }
		over || !/^#/ { next }
		{ over = 1 }
		/^#include "/ {
			header = FILENAME
			sub(/c$/, "h", header)
			split($0, quoted, "\"")
			at = length(header) - length(quoted[2])
			if (header == quoted[2] || (substr(header, at, 1) == "/" && substr(header, at + 1) == quoted[2]))
				print header
		}' "$@"
}

cd "$top_srcdir" || exit
# shellcheck disable=SC2046 # names without blanks
led $(tree_files -name '*.c') | sort >"$scratch/led"
for header in $(tree_files -name '*.h' | comm -23 - "$scratch/led"); do
	test_that "$header compiles alone" compiles_alone "$top_srcdir/$header"
done
test_that 'most headers are included first by their own files' eval '[ "$(grep -c "" "$scratch/led")" -gt 250 ]'

printf 'size_t length(struct nobody_knows x);\n' >"$scratch/needy.h"
test_that 'a header that needs another one first is refused' not compiles_alone "$scratch/needy.h"

printf '/* */\n#include "first.h"\n' >"$scratch/first.c"
printf '/* */\n#include <stddef.h>\n#include "behind.h"\n' >"$scratch/behind.c"
printf '#include "t/other.h"\n' >"$scratch/other.c"
test_that 'one behind another is not the first' \
	eval '[ "$(led "$scratch"/*.c)" = "$scratch/first.h" ]'

done_testing
