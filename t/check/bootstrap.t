#!/bin/sh
# SPDX-License-Identifier: ISC
# What bootstrap installs, makes and says, in a toy tree on a toy machine: apt-get, autoreconf and configure are stand-ins.
set -u
. "$(dirname "$0")/check.sh"

tree=$scratch/tree
bin=$scratch/bin

# Nothing else is there to be run: no npm, and no compiler.
mkdir "$bin" "$scratch/stubs"
for tool in sh awk basename cat chmod cmp cp date dirname echo env find grep head make mkdir nice nproc printf rm sed sort tail tee touch tr true; do
	path=$(env which $tool) && ln -s "$path" "$bin/$tool" # not what this shell has inside
done

stub() { cat >"$bin/$1" && chmod +x "$bin/$1"; }
stub id <<'END'
#!/bin/sh
echo 0
END
stub dpkg-query <<'END'
#!/bin/sh
for word; do
	! grep -qx "$word" "$MACHINE/installed" || printf '%s installed,' "$word"
done
END
stub apt-get <<'END'
#!/bin/sh
echo "$*" >>"$MACHINE/apt"
case "$* " in
update*) : >"$MACHINE/lists" ;;
*--print-uris*)
	[ -f "$MACHINE/lists" ] || exit 100
	printf '0 upgraded, 7 newly installed, 0 to remove and 0 not upgraded.\nNeed to get 5 MB/12.5 MB of archives.\n'
	echo 'After this operation, 34 MB of additional disk space will be used.'
	echo "'http://mirror/part.deb' part.deb 5000000 MD5Sum:0"
	;;
*)
	[ -f "$MACHINE/lists" ] || exit 100
	echo 'Unpacking a lot'
	for word; do echo "$word"; done | grep -v '^-' >>"$MACHINE/installed"
	;;
esac
END
stub pkg-config <<'END'
#!/bin/sh
sed -n 's/^lib\(.*\)-dev$/\1 - a library/p' "$MACHINE/installed"
END
stub autoreconf <<'END'
#!/bin/sh
cat ./*/Makefile.inc >/dev/null && cp configure.ac configure && cp Makefile.am Makefile.in && chmod +x configure &&
	: >build-aux/tap-driver.sh && : >aclocal.m4 && echo made >>"$MACHINE/autoreconf"
END

# new_machine: an empty one, with a fresh tree.
new_machine()
{
	MACHINE=$scratch/machine
	export MACHINE
	rm -rf "$tree" "$MACHINE"
	mkdir -p "$MACHINE" "$tree/build-aux" "$tree/part" "$tree/other" "$tree/web" "$tree/t/peers/node_modules"
	: >"$MACHINE/installed"
	cp "$top_srcdir/bootstrap" "$tree/"
	# The tests' peers are there, the API reference's pages are not.
	: >"$tree/web/package-lock.json"
	: >"$tree/t/peers/package-lock.json"
	: >"$tree/t/peers/node_modules/.installed"
	printf '%s\n' 'part' >"$tree/part/Makefile.inc"
	cp "$tree/part/Makefile.inc" "$tree/other/Makefile.inc"
	# configure tells the Makefile, which is itself, whether there is CUnit.
	cat >"$tree/configure.ac" <<'END'
#!/bin/sh
cunit=$(pkg-config --list-all | grep -c '^cunit1 ')
sed "s/@CUNIT@/$cunit/" ../Makefile.in >Makefile
echo "$@" >options
: >config.status
echo "checking for everything"
END
	cat >"$tree/Makefile.am" <<'END'
all: agentgraph
agentgraph:
	@echo compiling
	@printf '#!/bin/sh\necho served "$$@"\n' >$@ && chmod +x $@
install:
	@cp options "$$MACHINE/placed" && umask >"$$MACHINE/umask"
test-programs:
check-patient:
check-others: check
check:
	@[ @CUNIT@ = 1 ] || { echo "CUnit is missing" >&2; exit 1; }
	@printf '%s\n' '2.5 1.0 t/quick.t' '80.0 3.0 t/slow.t' >"$$TEST_TIMES"
	@mkdir -p t && : >test-suite.log
	@printf ':test-result: PASS %s\n' one two three >t/quick.trs
END
}

# bootstrap ARGUMENT...: what it says is then in the file said.
bootstrap() { (cd "$tree" && PATH=$bin CC='' ./bootstrap "$@") >"$scratch/said" 2>&1; }

said() { grep -Eq "$1" "$scratch/said" || { cat "$scratch/said" && false; }; }
ends_with() { [ "$(tail -n 1 "$scratch/said")" = "$1" ] || { cat "$scratch/said" && false; }; }
installed() { grep -qx "$1" "$MACHINE/installed"; }
run_serves() { bootstrap run --listen 1 && ends_with 'served serve --listen 1'; }
check_passes() { bootstrap check && ends_with '6 passed, 0 failed'; }

# ---- Both orders

new_machine
test_that 'run serves on a machine with nothing' run_serves
test_that 'and says beforehand what is fetched' said '^bootstrap: apt-get installs 7 packages, 5 MB to fetch, 34 MB on the disk$'
test_that 'packages are installed once' test "$(grep -c '^install -y ' "$MACHINE/apt")-$(grep -vc '^install -y \|^update\|--print-uris' "$MACHINE/apt")" = 1-0
test_that 'it is quiet meanwhile' not grep -E 'Unpacking|checking|compiling' "$scratch/said"
test_that 'no npm is asked for' not installed npm
test_that 'the smallest compiler is taken' installed gcc-11
test_that 'nothing that was fetched is kept' grep -q 'install -y .*APT::Keep-Downloaded-Packages=false' "$MACHINE/apt"
test_that 'what only documents need is named' said 'apt-get install poppler-utils'
umask 077
test_that 'install works after it' bootstrap install --prefix=/opt/agentgraph
umask 022
test_that 'for everybody, also by a root whose files are for nobody else' test "$(cat "$MACHINE/umask")" = 0022
test_that 'with its options, not those for the debugger' test "$(cat "$MACHINE/placed")" = --prefix=/opt/agentgraph
test_that 'check works after it, with what has come since' check_passes
test_that 'it tells how long each pass took' said '^bootstrap: _build-san: [0-9]+ s for the build, [0-9]+ s for the tests'
test_that 'and which test most' said '^ *80\.0 s +3\.0 s +t/slow\.t$'
touch "$scratch/before"
sleep 0.1
test_that 'run works after that' run_serves
configured_since() { find "$tree" -name config.status -newer "$scratch/before" | grep .; }
test_that 'and configures nothing, because nothing has changed' not configured_since

new_machine
test_that 'check works on a machine with nothing' check_passes
test_that 'and run after it' run_serves

new_machine
: >"$bin/cc" && chmod +x "$bin/cc"
test_that 'run takes the compiler that is there' run_serves
test_that 'and installs none' not installed gcc-11
rm "$bin/cc"

# ---- After an update of the tree

new_machine
bootstrap run
touch -d '-1 hour' "$tree/configure" "$tree/Makefile.in" "$tree/_build/config.status"
rm -r "$tree/other"
test_that 'a part that is gone is no obstacle' run_serves
test_that 'configure is made again for it' test "$(wc -l <"$MACHINE/autoreconf")" = 2
printf ': >new-setting\n' >>"$tree/configure.ac"
touch -d '+1 minute' "$tree/configure.ac"
test_that 'nor is another configure.ac' run_serves
test_that 'which is heeded' test -f "$tree/_build/new-setting"
touch "$tree/configure.ac"
test_that 'check works after it' check_passes

# A release has what autoreconf makes.
new_machine
(cd "$tree" && PATH=$bin autoreconf)
test_that 'a release is served' run_serves
test_that 'without the tools for what it has already' not installed autoconf

# ---- What fails is named

# complain WHERE: the Makefile stops there with the words of a compiler.
complain()
{
	new_machine
	sed "/^$1:/a\\
	@echo 'odd.c:7:3: error: too odd'; exit 1" "$tree/Makefile.am" >"$scratch/Makefile.am"
	cp "$scratch/Makefile.am" "$tree/Makefile.am"
}
named() { said '^odd.c:7:3: error: too odd' && said "^==== $1\$"; }

complain agentgraph
test_that 'a build that fails ends check' not bootstrap check
test_that 'which counts it' ends_with '0 passed, 2 failed'
summary() { sed -n '/^====/,$p' "$scratch/said" >"$scratch/summary" && mv "$scratch/summary" "$scratch/said"; }
summary
test_that 'and names it at the end' named _build/check.log
test_that 'for each directory' named _build-san/check.log
test_that 'a build that fails ends run' not bootstrap run
test_that 'which names it as well' named _build/build.log
new_machine
: >"$tree/_build"
test_that 'a directory that cannot be written ends run' not bootstrap run
test_that 'and is all that is named' not said 'all of it is in|last lines'
complain check
test_that 'tests that cannot be built count' not bootstrap check
summary
test_that 'and are named' named _build/check.log
complain check-patient
test_that 'a failure among those that wait ends check' not bootstrap check
test_that 'which counts it' ends_with '6 passed, 2 failed'

new_machine
mkdir "$tree/t"
: >"$tree/t/odd.t"
cat >>"$tree/Makefile.am" <<'END'
	@printf ':test-result: PASS\n:test-result: FAIL\n' >t/odd.trs && printf 'ok 1 - fine\nnot ok 2 - it is odd\n' >t/odd.log
	@[ "$(ALONE)$(TESTS)" = passes:t/odd.t ] && printf ':test-result: PASS\n:test-result: PASS\n' >t/odd.trs
END
test_that 'a test that fails twice ends check' not bootstrap check
test_that 'and counts' ends_with '8 passed, 2 failed'
test_that 'it was run again alone' said '^bootstrap: not steady, run twice: t/odd.t t/odd.t$'
summary
test_that 'and is named' said '^2:not ok 2 - it is odd'
test_that 'not the build' not said 'but the build'
ALONE=passes:
export ALONE
test_that 'one that fails only beside others does not' bootstrap check
test_that 'and counts as what it was alone' ends_with '10 passed, 0 failed'
test_that 'but what failed is shown' said '^2:not ok 2 - it is odd'
test_that 'and said at the end' said '^bootstrap: not steady, run twice: t/odd.t t/odd.t$'
unset ALONE

: >"$bin/apt-get"
new_machine
test_that 'packages that cannot be had end run' not bootstrap run
test_that 'and are named' said 'still missing after the installation: .*nginx'

# ---- What npm delivered

# make_release: what a release has of it, with what is in $scratch/npm.
make_release()
{
	rm -rf "$scratch/release" "$scratch/web"
	make -C "$top_builddir" -s dist-hook distdir="$scratch/release" WEB_ASSETS="$scratch/npm"
}
has_pages() { "$top_srcdir/build-aux/web-assets" "$scratch/release/web/node_modules" "$scratch/none" "$scratch/web" && [ -s "$scratch/web/swagger-ui-bundle.js" ]; }

mkdir -p "$scratch/npm/swagger-ui-dist" "$scratch/npm/redoc/bundles"
test_that 'a release can be made without it' make_release
test_that 'and then has nothing of it' test ! -e "$scratch/release"
for file in swagger-ui-dist/swagger-ui.css swagger-ui-dist/swagger-ui-bundle.js \
	swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt swagger-ui-dist/LICENSE swagger-ui-dist/NOTICE \
	redoc/LICENSE redoc/bundles/redoc.standalone.js redoc/bundles/redoc.standalone.js.LICENSE.txt; do
	echo "$file" >"$scratch/npm/$file"
done
echo more >"$scratch/npm/redoc/more"
test_that 'one that is made with it' make_release
test_that 'has all that the build takes' has_pages
test_that 'and no more' test ! -e "$scratch/release/web/node_modules/redoc/more"

done_testing
