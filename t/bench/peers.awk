# SPDX-License-Identifier: ISC
# Prints peers.tsv as a table of servers measured side by side, in Markdown; rates and times are multiples of
# agentgraph's.

function times(value, unit) { return value / unit < 10 ? sprintf("%.2g", value / unit) : sprintf("%.0f", value / unit) }

function mib(kib) { return kib > 0 ? sprintf("%.0f MiB", kib / 1024) : "" }

function seconds(ms) { return ms == "" ? "" : ms < 1000 ? sprintf("%.0f ms", ms) : sprintf("%.1f s", ms / 1000) }

BEGIN {
	FS = "\t"
	print "| at 64 clients | what is kept | requests a second | median time | 99th percentile | memory at rest | under load | start |"
	print "|---|---|--:|--:|--:|--:|--:|--:|"
}

{ line[NR] = $0 }

$1 == "agentgraph" {
	rate = $3
	p50 = $4
	p99 = $5
}

END {
	for (i = 1; i <= NR; i++) {
		if (split(line[i], f, "\t") < 3) {
			printf "| %s | %s | not installed | | | | | |\n", f[1], f[2]
			continue
		}
		printf "| %s | %s | %s | %s | %s | %s | %s | %s |\n", f[1], f[2], times(f[3], rate), times(f[4], p50),
			times(f[5], p99), mib(f[6]), mib(f[7]), seconds(f[8])
	}
}
