/* SPDX-License-Identifier: ISC */
/* Lines of text, and statements for the two programs that lay out graphs. */
#include "graph/draw.h"

#include <string.h>

const struct choice drawings[] = {
    {"text", DRAW_TEXT}, {"dot", DRAW_DOT}, {"mermaid", DRAW_MERMAID}, {NULL, 0}};

static const char *draw_kind(const struct node *node)
{
	return node->kind ? node->kind : node->is_tools ? "tools" : node->live ? "live" : NULL;
}

/* Whether the edge has no target before the i-th that is the same: several rules may lead to one
 * place. */
static bool draw_is_first(const struct edge *edge, size_t i)
{
	size_t first = 0;
	while (edge->targets[first] != edge->targets[i])
		first++;
	return first == i;
}

/* ---- text */

static void text_targets(const struct edge *edge, struct buf *out)
{
	for (size_t i = 0; edge && i < edge->target_count; i++) {
		if (draw_is_first(edge, i))
			buf_printf(out, "%s%s",
			    i == 0           ? " -> "
				: edge->join ? " & "
					     : " | ",
			    edge->names[i]);
	}
	if (edge && edge->map)
		buf_printf(out, " for each of %s", edge->map);
	if (edge && edge->limit)
		buf_printf(out, ", %d at once", edge->limit);
	if (edge && edge->join)
		buf_printf(out, " => %s", edge->join);
}

static void text_node(const struct node *node, int width, struct buf *out)
{
	const struct node_policy *policy = &node->policy;
	const char *kind = draw_kind(node);
	struct buf label = {0};
	buf_printf(
	    &label, "%s%s%s%s", node->name, kind ? " (" : "", kind ? kind : "", kind ? ")" : "");
	buf_printf(out, "%-*s", node->edge ? width : 0, buf_str(&label));
	text_targets(node->edge, out);
	if (policy->attempts > 1)
		buf_printf(out, "; %d attempts", policy->attempts);
	if (policy->timeout > 0)
		buf_printf(out, "; %g s", policy->timeout);
	if (policy->on_error)
		buf_printf(out, "; on error -> %s", policy->on_error);
	if (node->interrupt_before)
		buf_puts(out, "; pauses before");
	if (node->interrupt_after)
		buf_puts(out, "; pauses after");
	buf_putc(out, '\n');
	buf_release(&label);
}

static void draw_text(const ag_graph *graph, struct buf *out)
{
	size_t width = strlen(AG_START);
	for (size_t i = 0; i < graph->node_count; i++) {
		const char *kind = draw_kind(&graph->nodes[i]);
		size_t len = strlen(graph->nodes[i].name) + (kind ? strlen(kind) + 3 : 0);
		width = len > width ? len : width;
	}
	buf_printf(out, "%-*s", (int)width, AG_START);
	text_targets(graph->start, out);
	buf_putc(out, '\n');
	for (size_t i = 0; i < graph->node_count; i++)
		text_node(&graph->nodes[i], (int)width, out);
}

/* ---- DOT */

/* Names of nodes need no escapes; that of a graph, its import path, may. */
static void dot_quote(const char *text, struct buf *out)
{
	buf_putc(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buf_putc(out, '\\');
		buf_putc(out, *text);
	}
	buf_putc(out, '"');
}

static void dot_edge(const char *from, const struct edge *edge, struct buf *out)
{
	for (size_t i = 0; edge && i < edge->target_count; i++) {
		if (!draw_is_first(edge, i))
			continue;
		buf_printf(out, "\t\"%s\" -> \"%s\"", from, edge->names[i]);
		if (edge->fn)
			buf_puts(out, " [style=dashed]");
		if (edge->map)
			buf_printf(out, " [label=\"%s\"]", edge->map);
		buf_puts(out, ";\n");
	}
}

static void draw_dot(const ag_graph *graph, struct buf *out)
{
	buf_puts(out, "digraph ");
	dot_quote(graph->name, out);
	buf_puts(out,
	    " {\n\tnode [shape=box, style=rounded];\n\t\"START\" [shape=circle, style=\"\"];\n");
	for (size_t i = 0; i < graph->node_count; i++) {
		const char *kind = draw_kind(&graph->nodes[i]), *name = graph->nodes[i].name;
		buf_printf(out, "\t\"%s\"", name);
		if (kind)
			buf_printf(out, " [label=\"%s\\n%s\"]", name, kind);
		buf_puts(out, ";\n");
	}
	buf_puts(out, "\t\"END\" [shape=doublecircle, style=\"\"];\n");
	dot_edge(AG_START, graph->start, out);
	for (size_t i = 0; i < graph->node_count; i++) {
		const struct node *node = &graph->nodes[i];
		dot_edge(node->name, node->edge, out);
		if (node->policy.on_error)
			buf_printf(out, "\t\"%s\" -> \"%s\" [style=dotted, label=\"error\"];\n",
			    node->name, node->policy.on_error);
	}
	buf_puts(out, "}\n");
}

/* ---- Mermaid */

/* Nodes have numbers there, because a name may be a word of the language. */
static void mermaid_id(int node, struct buf *out)
{
	if (node < 0)
		buf_puts(out, "last");
	else
		buf_printf(out, "n%d", node);
}

static void mermaid_edge(const char *from, const struct edge *edge, struct buf *out)
{
	for (size_t i = 0; edge && i < edge->target_count; i++) {
		if (!draw_is_first(edge, i))
			continue;
		if (edge->map)
			buf_printf(out, "\t%s -- %s --> ", from, edge->map);
		else
			buf_printf(out, "\t%s %s ", from, edge->fn ? "-.->" : "-->");
		mermaid_id(edge->targets[i], out);
		buf_putc(out, '\n');
	}
}

static void draw_mermaid(const ag_graph *graph, struct buf *out)
{
	struct buf from = {0};
	buf_puts(out, "flowchart TD\n\tfirst([\"START\"])\n");
	for (size_t i = 0; i < graph->node_count; i++) {
		const char *kind = draw_kind(&graph->nodes[i]);
		buf_printf(out, "\tn%zu[\"%s%s%s\"]\n", i, graph->nodes[i].name, kind ? "<br>" : "",
		    kind ? kind : "");
	}
	buf_puts(out, "\tlast([\"END\"])\n");
	mermaid_edge("first", graph->start, out);
	for (size_t i = 0; i < graph->node_count; i++) {
		const struct node *node = &graph->nodes[i];
		buf_reset(&from);
		mermaid_id((int)i, &from);
		mermaid_edge(buf_str(&from), node->edge, out);
		if (!node->policy.on_error)
			continue;
		buf_printf(out, "\t%s -. error .-> ", buf_str(&from));
		mermaid_id(node->on_error, out);
		buf_putc(out, '\n');
	}
	buf_release(&from);
}

void graph_draw(const ag_graph *graph, enum drawing how, struct buf *out)
{
	switch (how) {
	case DRAW_TEXT:
		draw_text(graph, out);
		break;
	case DRAW_DOT:
		draw_dot(graph, out);
		break;
	case DRAW_MERMAID:
		draw_mermaid(graph, out);
		break;
	}
}
