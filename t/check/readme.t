#!/bin/sh
# What README tells people to type and to look at is there: rules of make, and files that links lead to.
set -u
. "$(dirname "$0")/check.sh"

# rules README: the targets of make that it names.  links README: the files of the tree.
rules() { grep -o '`make [a-z][a-z-]*' "$1" | sed 's/.* //' | sort -u; }
links() { grep -o '](\([^)#:]*\))' "$1" | sed 's/^](//; s/)$//' | sort -u; }

is_rule() { grep -Eq "^([a-z -]+ )?$1( [a-z -]+)?:" "${top_builddir:-.}/Makefile"; }
is_file() { [ -e "$top_srcdir/$1" ]; }

for rule in $(rules "$top_srcdir/README"); do
	test_that "make $rule is a rule" is_rule "$rule"
done
for link in $(links "$top_srcdir/README"); do
	test_that "$link is there" is_file "$link"
done

# shellcheck disable=SC2016 # the quotes are those of Markdown
printf 'See `make nothing` and [this](no/such/file.svg).\n' >"$scratch/readme"
test_that 'a rule that is not there is noticed' not is_rule "$(rules "$scratch/readme")"
test_that 'and so is a file' not is_file "$(links "$scratch/readme")"

done_testing
