# SPDX-License-Identifier: ISC
# Plots three panels over one axis, as SVG: requests a second, and the times within which 50 and 99 of 100 are answered.
#
#	awk -f plot.awk -v title=TEXT -v xlabel=TEXT POINTS >PLOT
#
# POINTS has lines "SERIES X RATE P50 P99", with tabs.  All axes are logarithmic.  The colours of the page follow the
# reader's.

function log10(x) { return log(x) / log(10) }

# A number as one writes it on an axis.
function short(x) { return x >= 1000000 ? x / 1000000 "M" : x >= 1000 ? x / 1000 "k" : x "" }

function escaped(text) {
	gsub(/&/, "\\&amp;", text)
	gsub(/</, "\\&lt;", text)
	return text
}

function across(x) { return left + (xhigh > xlow ? (log10(x) - xlow) / (xhigh - xlow) : 0.5) * width }

function down(y) { return top + height - (log10(y) - ylow) / (yhigh - ylow) * height }

function text(x, y, class, anchor, what) {
	printf "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" text-anchor=\"%s\">%s</text>\n", x, y, class, anchor, escaped(what)
}

function line(x1, y1, x2, y2, class) {
	printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x1, y1, x2, y2, class
}

# The bounds of an axis that holds all values of a column: decades, or a half or a fifth of one.
function bounds(column,   i, s) {
	ylow = 99
	yhigh = -99
	for (s = 1; s <= count; s++)
		for (i = 1; i <= points[s]; i++) {
			if (value[s, i, column] <= 0)
				continue
			if (log10(value[s, i, column]) < ylow)
				ylow = log10(value[s, i, column])
			if (log10(value[s, i, column]) > yhigh)
				yhigh = log10(value[s, i, column])
		}
	ylow = stepped(ylow - 0.03, 0)
	yhigh = stepped(yhigh + 0.03, 1)
}

function stepped(y, up,   whole, i) {
	whole = int(y + 100) - 100
	split("1 2 5 10", steps, " ")
	if (up) {
		for (i = 1; log10(steps[i]) + whole < y; i++)
			continue
	} else {
		for (i = 4; log10(steps[i]) + whole > y; i--)
			continue
	}
	return log10(steps[i]) + whole
}

function axes(   decade, i, y, label, last) {
	for (decade = -4; decade <= 7; decade++)
		for (i = 1; i <= 3; i++) {
			y = decade + log10(steps[i])
			if (y < ylow - 1e-6 || y > yhigh + 1e-6)
				continue
			line(left, down(10 ^ y), left + width, down(10 ^ y), i == 1 ? "grid" : "fine")
			if (i == 1 || yhigh - ylow < 2.2)
				text(left - 6, down(10 ^ y) + 4, "tick", "end", short(steps[i] * 10 ^ decade))
		}
	last = -99
	for (i = 1; i <= ticks; i++) {
		line(across(tick[i]), top, across(tick[i]), top + height, "fine")
		label = short(tick[i])
		if (across(tick[i]) - last < 7 * length(label) + 4)
			continue
		text(across(tick[i]), top + height + 18, "tick", "middle", label)
		last = across(tick[i])
	}
	printf "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"frame\"/>\n", left, top, width, height
	text(left + width / 2, top + height + 38, "label", "middle", xlabel)
}

function curve(s, column,   i) {
	printf "<polyline class=\"s%d\" points=\"", s
	for (i = 1; i <= points[s]; i++)
		if (value[s, i, column] > 0)
			printf "%.1f,%.1f ", across(x[s, i]), down(value[s, i, column])
	print "\"/>"
	for (i = 1; i <= points[s]; i++)
		if (value[s, i, column] > 0)
			printf "<circle class=\"d%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"/>\n", s, across(x[s, i]),
				down(value[s, i, column]), s == 1 ? "3.5" : "2.5"
}

function panel(at, column, name,   s) {
	left = at
	bounds(column)
	text(left, top - 10, "name", "start", name)
	axes()
	for (s = count; s >= 1; s--)
		curve(s, column)
}

# The names of the series, each with a piece of its line, in rows of three.
function legend(   s, at, y) {
	for (s = 1; s <= count; s++) {
		at = 60 + (s - 1) % 3 * 310
		y = top + height + 68 + int((s - 1) / 3) * 22
		printf "<polyline class=\"s%d\" points=\"%d,%d %d,%d\"/>\n", s, at, y - 4, at + 34, y - 4
		printf "<circle class=\"d%d\" cx=\"%d\" cy=\"%d\" r=\"3\"/>\n", s, at + 17, y - 4
		text(at + 42, y, "label", "start", series[s])
	}
}

# The colour of a series: a fixed one for known names, else the next one.  All are halfway between black and white, so
# that they are seen on both.
function colour(name, s,   others) {
	if (name ~ /^agentgraph/)
		return "#e8590c"
	if (name ~ /^nginx/)
		return name == "nginx alone" ? "#7d8590" : "#b08800"
	if (name ~ /^LangGraph/)
		return name ~ /server/ ? "#1c7ed6" : "#2f9e44"
	split("#ae3ec9 #e8590c #1c7ed6 #2f9e44 #b08800 #7d8590", others, " ")
	return others[name ~ /^Mastra/ ? 1 : s % 6 + 1]
}

function style(   s) {
	print "<style>"
	print "text { font-family: system-ui, sans-serif; fill: #1f2328; }"
	print ".title { font-size: 17px; font-weight: 600; } .name { font-size: 14px; font-weight: 600; }"
	print ".label { font-size: 13px; } .tick { font-size: 12px; fill: #59636e; }"
	print ".page { fill: #ffffff; } .grid { stroke: #c4cbd3; } .fine { stroke: #eaeef2; } .frame { fill: none; stroke: #8c959f; }"
	print "polyline { fill: none; stroke-width: 1.8; stroke-linejoin: round; }"
	for (s = 1; s <= count; s++)
		printf ".s%d { stroke: %s;%s } .d%d { fill: %s; }\n", s, colour(series[s], s),
			(s == 1 ? " stroke-width: 3;" : series[s] ~ /^nginx|,.*all$/ ? " stroke-dasharray: 6 4;" : ""), s, colour(series[s], s)
	print "@media (prefers-color-scheme: dark) {"
	print "text { fill: #e6edf3; } .tick { fill: #9198a1; } .page { fill: #0d1117; }"
	print ".grid { stroke: #3d444d; } .fine { stroke: #1f252d; } .frame { stroke: #656c76; }"
	print "}"
	print "</style>"
}

BEGIN { FS = "\t" }

!($1 in number) {
	number[$1] = ++count
	series[count] = $1
}

{
	s = number[$1]
	i = ++points[s]
	x[s, i] = $2
	value[s, i, 1] = $3
	value[s, i, 2] = $4
	value[s, i, 3] = $5
	if (!($2 in seen)) {
		seen[$2] = 1
		tick[++ticks] = $2
	}
	if (NR == 1 || log10($2) < xlow)
		xlow = log10($2)
	if (NR == 1 || log10($2) > xhigh)
		xhigh = log10($2)
}

END {
	top = 76
	height = 300
	width = 262
	rows = int((count + 2) / 3)
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 980 %d\" role=\"img\" aria-label=\"%s\">\n",
		top + height + 62 + rows * 22, escaped(title)
	style()
	print "<rect class=\"page\" width=\"100%\" height=\"100%\"/>"
	text(60, 30, "title", "start", title)
	panel(60, 1, "requests a second")
	panel(380, 2, "median time, ms")
	panel(700, 3, "99th percentile, ms")
	legend()
	print "</svg>"
}
