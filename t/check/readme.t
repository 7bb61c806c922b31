#!/bin/sh
# SPDX-License-Identifier: ISC
# What the documents tell people to type or look at exists: make targets, pages, places within pages, manual pages.
# Installed pages link only to installed ones, and comments in the sources cite pages and places that exist.
set -u
. "$(dirname "$0")/check.sh"

# pages TREE: what is read here.
pages() { (cd "$1" && ls README doc/*.md examples/*/README.md cli/*/README.md 2>/dev/null); }

# rules FILE...: the targets of make that they name.
rules() { grep -ho '`make [a-z][a-z-]*' "$@" | sed 's/.* //' | sort -u; }

# links TREE: "PAGE TARGET" for each link to something of the tree.
links()
{
	(
		cd "$1" && pages . | while IFS= read -r page; do
			awk -v page="$page" '
				/^```/ { fenced = !fenced }
				fenced || /^    / { next }
				{ text = text " " $0 }
				END {
					gsub(/`[^`]*`/, "", text)
					while (match(text, /\]\([^)]*\)/)) {
						print page, substr(text, RSTART + 2, RLENGTH - 3)
						text = substr(text, RSTART + RLENGTH)
					}
				}' "$page"
		done | grep -v ' [a-z]*://'
	)
}

# anchors FILE: the names of its places, by its headings as GitHub makes them, and by <a id>.
anchors()
{
	awk '
		/^```/ { fenced = !fenced }
		fenced { next }
		/^#+ / {
			name = tolower($0)
			sub(/^#+ /, "", name)
			gsub(/[^a-z0-9 _-]/, "", name)
			gsub(/ /, "-", name)
			print name
		}
		{
			rest = $0
			while (match(rest, /<a id="[^"]*"/)) {
				print substr(rest, RSTART + 7, RLENGTH - 8)
				rest = substr(rest, RSTART + RLENGTH)
			}
		}' "$1"
}

# target TREE PAGE LINK: passes when the link leads to something that is there, and is installed where the page is.
target()
(
	cd "$1" || exit 1
	tree=$PWD
	case $2 in examples/*) echo "$2: $3 is not beside it where examples are installed, or copied to"; exit 1 ;; esac
	case $2 in */*) cd "${2%/*}" || exit 1 ;; esac
	file=${3%%#*}
	[ -n "$file" ] || file=${2##*/}
	[ -f "$file" ] || { echo "$2: no file $3"; exit 1; }
	case $file in */*) cd "${file%/*}" || exit 1 ;; esac
	file=${file##*/}
	case $PWD/$file in
	"$tree"/doc/* | "$tree/README" | "$tree/NEWS" | "$tree/COPYING") ;;
	*) echo "$2: $3 is not installed beside it"; exit 1 ;;
	esac
	case $3 in
	*'#'*) anchors "$file" | grep -qxF -- "${3#*#}" || { echo "$2: no place $3"; exit 1; } ;;
	esac
)

links_lead_somewhere()
{
	links "$1" >"$scratch/links"
	broken=0
	while read -r page link; do
		target "$1" "$page" "$link" || broken=1
	done <"$scratch/links"
	return $broken
}

# cited TREE: "FILE PAGE#PLACE" for each page of doc/ that a comment names.
cited()
{
	(
		cd "$1" && grep -rEo --include='*.[ch]' --include='*.sql' --include='*.t' --include='*.sh' --include='*.py' \
			--include='*.in' --include='*.inc' --include='*.[1-8]' --exclude-dir='_build*' --exclude-dir=node_modules \
			--exclude=readme.t 'doc/[a-z-]+\.md(#[a-z0-9-]+)?' . | sed 's|^\./||; s/:/ /'
	)
}

citations_lead_somewhere()
{
	cited "$1" | sort -u -k 2 | while read -r file page; do
		target "$1" README "$page" >/dev/null || echo "$file: no $page"
	done | not grep .
}

# Names a place once: a second heading of the same words would never be reached.
places_are_named_once()
{
	for page in $(pages "$1"); do
		anchors "$1/$page" | sort | uniq -d | sed "s|^|$page: |"
	done | not grep .
}

# Every page has its line in the index.
index_is_complete()
{
	for page in "$1"/doc/*.md; do
		name=$(basename "$page")
		[ "$name" = README.md ] || grep -q "^|.*]($name)" "$1/doc/README.md" || echo "$name"
	done | not grep .
}

pages_are_short()
{
	awk 'FILENAME ~ /README$/ && FNR == 251 || FNR == 401 { print FILENAME ": " FNR " lines and more" }' \
		"$1/README" "$1"/doc/*.md | not grep .
}

# Manual pages that pages or others of them name: man/NAME.SECTION.
manuals_are_there()
{
	(
		cd "$1" && {
			grep -hoE '\bagentgraph[a-z.-]*\([1-8]\)' README doc/*.md examples/*/README.md
			sed -n 's/^\.Xr \(agentgraph[a-z.-]*\) \([1-8]\).*/\1(\2)/p' man/*.[1-8]
		} 2>/dev/null | sort -u | tr '()' '. ' | while read -r manual; do [ -f "man/$manual" ] || echo "$manual"; done
	) | not grep .
}

is_rule() { grep -Eq "^([a-z -]+ )?$1( [a-z -]+)?:" "${top_builddir:-.}/Makefile"; }

for rule in $(rules "$top_srcdir/README" "$top_srcdir"/doc/*.md); do
	test_that "make $rule is a rule" is_rule "$rule"
done
test_that 'there are links to look at' [ "$(links "$top_srcdir" | wc -l)" -gt 30 ]
test_that 'links lead to what is there, and is installed with them' links_lead_somewhere "$top_srcdir"
test_that 'comments cite the pages' [ "$(cited "$top_srcdir" | wc -l)" -gt 150 ]
test_that 'and what they cite is there' citations_lead_somewhere "$top_srcdir"
test_that 'no page has two places of one name' places_are_named_once "$top_srcdir"
test_that 'every page is in the index' index_is_complete "$top_srcdir"
test_that 'README has 250 lines at most, and no page more than 400' pages_are_short "$top_srcdir"
test_that 'manual pages that are named are there' manuals_are_there "$top_srcdir"

# A small tree, to see the checks fail.
small=$scratch/small
mkdir -p "$small/doc" "$small/man" "$small/t"
touch "$small/t/here" "$small/man/agentgraph.1"
small_tree() { printf '%s\n' "$@" >"$small/doc/page.md"; }
small_tree '# A page' '' 'See [this' 'one](#a-page), [that](#b) <a id="b"></a> and agentgraph(1).'
echo 'See [it](doc/page.md#a-page).' >"$small/README"
echo '| [page](page.md) | |' >"$small/doc/README.md"
test_that 'good links pass' links_lead_somewhere "$small"
test_that 'so does a good index' index_is_complete "$small"
test_that 'and a manual page' manuals_are_there "$small"
echo '/* The steps of a page (doc/page.md#a-page), or doc/page.md. */' >"$small/t/cites.c"
test_that 'good citations pass' citations_lead_somewhere "$small"
echo '/* The steps of a page (doc/page.md#another). */' >"$small/t/cites.c"
test_that 'a citation of no place is noticed' not citations_lead_somewhere "$small"
for link in no.md '#nothing' 'README.md#nothing' ../t/here; do
	small_tree '# A page' "See [it]($link)."
	test_that "a link to $link is noticed" not links_lead_somewhere "$small"
done
test_that 'a link of an example is noticed' not target "$small" examples/one/README.md ../../doc/page.md
# shellcheck disable=SC2016 # the quotes are those of Markdown
small_tree '# A page' '# A page' 'See `make nothing` and agentgraph-nothing(8).'
test_that 'a rule that is not there is noticed' not is_rule "$(rules "$small/doc/page.md")"
test_that 'so are two places of one name' not places_are_named_once "$small"
test_that 'a manual page that is not there' not manuals_are_there "$small"
yes | head -n 401 >"$small/doc/page.md"
test_that 'a page that is too long' not pages_are_short "$small"
echo >"$small/doc/README.md"
test_that 'and one that the index lacks' not index_is_complete "$small"

done_testing
