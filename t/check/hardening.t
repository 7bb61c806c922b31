#!/bin/sh
# SPDX-License-Identifier: ISC
# Every program is built with what the compiler, the linker and the C library offer against exploits.
set -u
. "$(dirname "$0")/check.sh"

command -v readelf >/dev/null && command -v objdump >/dev/null || skip_all 'readelf and objdump (binutils) are not installed'

# asked VARIABLE: what configure found for it.
asked() { sed -n "s/^$1 = *//p" "$top_builddir/Makefile"; }

is_position_independent() { readelf -dW "$1" | grep 'FLAGS_1.*PIE'; }
has_relro() { readelf -lW "$1" | grep GNU_RELRO; }
binds_at_start() { readelf -dW "$1" | grep -E '\(FLAGS(_1)?\).*NOW'; }
has_no_search_path() { readelf -dW "$1" | not grep -E 'R(UN)?PATH'; }

# Neither the stack nor a segment can be written and executed.
executes_no_data()
{
	readelf -lW "$1" >"$scratch/segments"
	grep -q GNU_STACK "$scratch/segments" && not grep -E ' (RWE|[RW ]*WE) ' "$scratch/segments"
}

calls() { readelf -sW "$1" | grep -E "UND $2(@|\$)"; }
guards_stack() { calls "$1" __stack_chk_fail; }
checks_buffers() { calls "$1" '__[a-z]*_chk'; }

disassemble() { objdump -d --no-show-raw-insn "$@"; }
marks_targets() { disassemble --disassemble=main "$1" | grep -A 1 '<main>:' | grep endbr64; }

# A function with a large frame touches each of its pages.
probes_stack() { disassemble "$1" | grep -m 1 -E 'or[lq]? +\$0x0,(0x[0-9a-f]+)?\(%[er][sd]'; }

is_program() { [ -f "$1" ] && [ -x "$1" ] && readelf -h "$1" >/dev/null 2>&1; }

find_programs()
{
	for file in "$top_builddir"/agentgraph "$top_builddir"/agentgraph-*; do
		! is_program "$file" || printf '%s\n' "$file"
	done
}

find_programs >"$scratch/programs"
test_that 'there are programs' grep -q /agentgraph-fcgi "$scratch/programs"

while IFS= read -r program; do
	name=${program##*/}
	# a module has no main, and nothing in it that the rest is for
	case $name in
	*.so) code=no ;;
	*) code=yes ;;
	esac
	case $code$(asked PIE_LDFLAGS) in
	yes-pie) test_that "$name is position-independent" is_position_independent "$program" ;;
	esac
	test_that "$name makes its relocations read-only" has_relro "$program"
	test_that "$name binds all its symbols at the start" binds_at_start "$program"
	test_that "$name executes nothing that can be written" executes_no_data "$program"
	test_that "$name has no search path for libraries in it" has_no_search_path "$program"
	[ $code = yes ] || continue
	case $(asked HARDENING_CFLAGS) in
	*-fstack-protector*) test_that "$name guards its stack" guards_stack "$program" ;;
	esac
	case $(asked HARDENING_CFLAGS) in
	*-fcf-protection*) test_that "$name marks where indirect jumps may go" marks_targets "$program" ;;
	esac
	case $(asked HARDENING_CPPFLAGS) in
	*_FORTIFY_SOURCE*) test_that "$name checks the sizes of buffers" checks_buffers "$program" ;;
	esac
done <"$scratch/programs"

case $(asked HARDENING_CFLAGS) in
*-fstack-clash-protection*) test_that 'large frames do not jump over the guard page' probes_stack "$top_builddir/agentgraph-fcgi" ;;
esac

# One that has none of it, to see the checks fail.
printf '#include <string.h>\nint main(int c, char **v) { char b[64]; strcpy(b, v[0]); return b[c]; }\n' >"$scratch/soft.c"
if gcc -O1 -no-pie -fno-stack-protector -fcf-protection=none -U_FORTIFY_SOURCE -Wl,-z,norelro -Wl,-z,lazy \
	-Wl,-z,execstack -Wl,-rpath,/nowhere -o "$scratch/soft" "$scratch/soft.c" 2>"$scratch/.out"; then
	for check in is_position_independent has_relro binds_at_start executes_no_data has_no_search_path guards_stack \
		checks_buffers marks_targets; do
		test_that "$check notices a soft program" not "$check" "$scratch/soft"
	done
fi

done_testing
