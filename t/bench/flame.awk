# SPDX-License-Identifier: ISC
# Shows where processor time went, as SVG: a function stands above its caller, and its width is its share of the time.
#
#	perf script --no-inline | awk -f flame.awk -v title=TEXT >PLOT
#
# Functions of the kernel are one box above their caller; boxes narrower than a pixel or two are left out.

function escaped(text) {
	gsub(/&/, "\\&amp;", text)
	gsub(/</, "\\&lt;", text)
	return text
}

# Adds a sample.  perf prints its functions with the innermost one first; the path begins with the outermost one.
function take(   i, path, last) {
	if (!frames)
		return
	path = ""
	last = ""
	samples++
	for (i = frames; i > 0; i--) {
		if (frame[i] == last || frame[i] == "[unknown]")
			continue
		last = frame[i]
		if (!((path, last) in kind)) {
			kind[path, last] = library[i]
			children[path] = children[path] last "\t"
		}
		path = path SUBSEP last
		time[path]++
		if (last == "kernel")
			break
	}
	frames = 0
}

function box(name, class, count, x, level,   width, shown) {
	width = count / samples * across
	if (level > highest)
		highest = level
	shown = int(width / 6.2)
	boxes[++drawn] = sprintf("%.1f\t%d\t%.1f\t%s\t%s\t%s", x, level, width, class,
		sprintf("%s, %.1f %%", name, count / samples * 100), shown < 4 ? "" : length(name) > shown ? substr(name, 1, shown - 1) "…" : name)
}

# Draws what path called, side by side, sorted by name.
function spread(path, x, level,   names, count, i, j, swap, inner) {
	count = split(children[path], names, "\t") - 1
	for (i = 2; i <= count; i++)
		for (j = i; j > 1 && names[j] < names[j - 1]; j--) {
			swap = names[j]
			names[j] = names[j - 1]
			names[j - 1] = swap
		}
	for (i = 1; i <= count; i++) {
		inner = path SUBSEP names[i]
		if (time[inner] / samples * across >= 1.5) {
			box(names[i], kind[path, names[i]], time[inner], x, level)
			spread(inner, x, level + 1)
		}
		x += time[inner] / samples * across
	}
}

BEGIN {
	across = 960
	row = 17
}

/^$/ { take() }

# address, name+offset, (library)
/^[ \t]+[0-9a-f]+ / {
	name = $2
	sub(/\+0x[0-9a-f]+$/, "", name)
	sub(/\.(isra|part|constprop)\..*/, "", name)
	frame[++frames] = /kernel|\[k\]/ ? "kernel" : name
	library[frames] = /kernel/ ? "kernel" : /sqlite/ ? "sqlite" : /agentgraph/ ? "own" : "other"
}

END {
	take()
	spread("", 20, 0)
	height = (highest + 1) * row + 70
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1000 %d\">\n<style>\n", height
	print "text { font-family: system-ui, sans-serif; font-size: 11px; fill: #1f2328; } .title { font-size: 17px; font-weight: 600; }"
	print "rect { stroke: #ffffff; stroke-width: 0.6; } .page { fill: #ffffff; stroke: none; }"
	print ".own { fill: #f5a97f; } .sqlite { fill: #8ec3f5; } .kernel { fill: #c3c9d0; } .other { fill: #a9d9ae; }"
	print "@media (prefers-color-scheme: dark) { .page { fill: #0d1117; } rect { stroke: #0d1117; } .title, .key { fill: #e6edf3; } }"
	printf "</style>\n<rect class=\"page\" width=\"1000\" height=\"%d\"/>\n<text class=\"title\" x=\"20\" y=\"26\">%s</text>\n", height, escaped(title)
	keys = split("own|agentgraph|sqlite|SQLite|kernel|kernel|other|C library, cJSON, libfcgi", key, "|")
	for (i = 1; i < keys; i += 2)
		printf "<rect class=\"%s\" x=\"%d\" y=\"38\" width=\"11\" height=\"11\"/><text class=\"key\" x=\"%d\" y=\"48\">%s</text>\n", key[i],
			i * 50 - 30, i * 50 - 14, key[i + 1]
	for (i = 1; i <= drawn; i++) {
		split(boxes[i], b, "\t")
		y = height - 12 - (b[2] + 1) * row
		printf "<g><title>%s</title><rect class=\"%s\" x=\"%s\" y=\"%d\" width=\"%s\" height=\"%d\"/>", escaped(b[5]), b[4], b[1], y, b[3], row
		if (b[6] != "")
			printf "<text x=\"%.1f\" y=\"%d\">%s</text>", b[1] + 3, y + 12, escaped(b[6])
		print "</g>"
	}
	print "</svg>"
}
