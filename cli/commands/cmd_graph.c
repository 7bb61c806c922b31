/* SPDX-License-Identifier: ISC */
/* agentgraph graph: prints the graph that the configuration names, without running anything: lines
 * of text, or statements for the two programs that lay out graphs. */
#include "base/buf.h"
#include "base/fields.h"
#include "cli/command.h"
#include "cli/examine/examine.h"
#include "graph/graph.h"

#include <stdio.h>
#include <string.h>

enum drawing { DRAW_TEXT, DRAW_DOT, DRAW_MERMAID };

static const struct choice drawings[] = {
    {"text", DRAW_TEXT}, {"dot", DRAW_DOT}, {"mermaid", DRAW_MERMAID}, {NULL, 0}};

static const char *cmd_graph_kind(const struct node *node)
{
	return node->sub     ? "graph"
	    : node->kind     ? node->kind
	    : node->is_tools ? "tools"
	    : node->live     ? "live"
			     : NULL;
}

/* Whether the i-th target of the edge is the first one with that place: several rules may lead
 * there. */
static bool cmd_graph_is_first(const struct edge *edge, size_t i)
{
	size_t first = 0;
	while (edge->targets[first] != edge->targets[i])
		first++;
	return first == i;
}

/* ---- text */

static void cmd_graph_text_targets(const struct edge *edge, struct buf *out)
{
	for (size_t i = 0; edge && i < edge->target_count; i++) {
		if (cmd_graph_is_first(edge, i))
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

static void cmd_graph_text_nodes(const ag_graph *graph, int width, struct buf *out)
{
	struct buf start = {0};
	buf_printf(&start, "%s%s", graph->prefix, AG_START);
	buf_printf(out, "%-*s", width, buf_str(&start));
	buf_release(&start);
	cmd_graph_text_targets(graph->start, out);
	buf_putc(out, '\n');
	for (size_t i = 0; i < graph->node_count; i++) {
		const struct node *node = &graph->nodes[i];
		const struct node_policy *policy = &node->policy;
		const char *kind = cmd_graph_kind(node);
		struct buf label = {0};
		buf_printf(&label, "%s%s%s%s", node->name, kind ? " (" : "", kind ? kind : "",
		    kind ? ")" : "");
		buf_printf(out, "%-*s", node->edge ? width : 0, buf_str(&label));
		cmd_graph_text_targets(node->edge, out);
		if (policy->attempts > 1)
			buf_printf(out, "; %d attempts", policy->attempts);
		if (policy->timeout > 0)
			buf_printf(out, "; %g s", policy->timeout);
		if (policy->cache.names)
			buf_printf(out, "; kept for %g s", policy->cache.ttl);
		if (policy->on_error)
			buf_printf(out, "; on error -> %s", policy->on_error);
		if (node->interrupt_before)
			buf_puts(out, "; pauses before");
		if (node->interrupt_after)
			buf_puts(out, "; pauses after");
		buf_putc(out, '\n');
		buf_release(&label);
	}
	for (size_t i = 0; i < graph->node_count; i++) {
		if (graph->nodes[i].sub)
			cmd_graph_text_nodes(graph->nodes[i].sub->graph, width, out);
	}
}

static void cmd_graph_draw_text(const ag_graph *graph, struct buf *out)
{
	size_t width = strlen(AG_START);
	for (size_t i = 0; i < graph->all_count; i++) {
		const struct node *node = graph->all[i];
		const char *kind = cmd_graph_kind(node);
		size_t len = strlen(node->name) + (kind ? strlen(kind) + 3 : 0);
		size_t start = node->sub ? strlen(node->name) + 1 + strlen(AG_START) : 0;
		len = len > start ? len : start;
		width = len > width ? len : width;
	}
	cmd_graph_text_nodes(graph, (int)width, out);
}

/* ---- DOT */

/* The whole name of a place in a graph.  If the graph is the node sub of another one, that node
 * stands for its START and END; sub is NULL for the outermost graph. */
static const char *cmd_graph_place(const ag_graph *graph, int place, const struct node *sub)
{
	return place < 0 && sub ? sub->name : graph_node_name(graph, place);
}

static void cmd_graph_dot_edge(const ag_graph *graph, const struct node *sub, const char *from,
    const struct edge *edge, struct buf *out)
{
	for (size_t i = 0; edge && i < edge->target_count; i++) {
		if (!cmd_graph_is_first(edge, i))
			continue;
		buf_printf(
		    out, "\t\"%s\" -> \"%s\"", from, cmd_graph_place(graph, edge->targets[i], sub));
		if (edge->fn)
			buf_puts(out, " [style=dashed]");
		if (edge->map)
			buf_printf(out, " [label=\"%s\"]", edge->map);
		buf_puts(out, ";\n");
	}
}

static void cmd_graph_dot_edges(const ag_graph *graph, const struct node *sub, struct buf *out)
{
	cmd_graph_dot_edge(graph, sub, sub ? sub->name : AG_START, graph->start, out);
	for (size_t i = 0; i < graph->node_count; i++) {
		const struct node *node = &graph->nodes[i];
		cmd_graph_dot_edge(graph, sub, node->name, node->edge, out);
		if (node->policy.on_error)
			buf_printf(out, "\t\"%s\" -> \"%s\" [style=dotted, label=\"error\"];\n",
			    node->name, cmd_graph_place(graph, node->on_error, sub));
		if (node->sub)
			cmd_graph_dot_edges(node->sub->graph, node, out);
	}
}

static void cmd_graph_draw_dot(const ag_graph *graph, struct buf *out)
{
	buf_puts(out, "digraph \"");
	/* names of nodes need no escapes; that of a graph, its import path, may */
	for (const char *c = graph->name; *c; c++) {
		if (*c == '"' || *c == '\\')
			buf_putc(out, '\\');
		buf_putc(out, *c);
	}
	buf_puts(out,
	    "\" {\n\tnode [shape=box, style=rounded];\n\t\"START\" [shape=circle, style=\"\"];\n");
	for (size_t i = 0; i < graph->all_count; i++) {
		const char *kind = cmd_graph_kind(graph->all[i]), *name = graph->all[i]->name;
		buf_printf(out, "\t\"%s\"", name);
		if (kind)
			buf_printf(out, " [label=\"%s\\n%s\"]", name, kind);
		buf_puts(out, ";\n");
	}
	buf_puts(out, "\t\"END\" [shape=doublecircle, style=\"\"];\n");
	cmd_graph_dot_edges(graph, NULL, out);
	buf_puts(out, "}\n");
}

/* ---- Mermaid */

/* Nodes are numbered in Mermaid, because a name may be a word of its language. */
static void cmd_graph_mermaid_id(const ag_graph *whole, const struct node *node, struct buf *out)
{
	size_t i = 0;
	while (i < whole->all_count && whole->all[i] != node)
		i++;
	if (node)
		buf_printf(out, "n%zu", i);
	else
		buf_puts(out, "last");
}

static void cmd_graph_mermaid_edge(const ag_graph *whole, const ag_graph *graph,
    const struct node *sub, const struct edge *edge, const struct node *from, struct buf *out)
{
	for (size_t i = 0; edge && i < edge->target_count; i++) {
		int place = edge->targets[i];
		if (!cmd_graph_is_first(edge, i))
			continue;
		buf_putc(out, '\t');
		if (from)
			cmd_graph_mermaid_id(whole, from, out);
		else
			buf_puts(out, "first");
		if (edge->map)
			buf_printf(out, " -- %s --> ", edge->map);
		else
			buf_puts(out, edge->fn ? " -.-> " : " --> ");
		cmd_graph_mermaid_id(whole, place < 0 ? sub : &graph->nodes[place], out);
		buf_putc(out, '\n');
	}
}

static void cmd_graph_mermaid_edges(
    const ag_graph *whole, const ag_graph *graph, const struct node *sub, struct buf *out)
{
	cmd_graph_mermaid_edge(whole, graph, sub, graph->start, sub, out);
	for (size_t i = 0; i < graph->node_count; i++) {
		const struct node *node = &graph->nodes[i];
		cmd_graph_mermaid_edge(whole, graph, sub, node->edge, node, out);
		if (node->policy.on_error) {
			buf_putc(out, '\t');
			cmd_graph_mermaid_id(whole, node, out);
			buf_puts(out, " -. error .-> ");
			cmd_graph_mermaid_id(
			    whole, node->on_error < 0 ? sub : &graph->nodes[node->on_error], out);
			buf_putc(out, '\n');
		}
		if (node->sub)
			cmd_graph_mermaid_edges(whole, node->sub->graph, node, out);
	}
}

static void cmd_graph_draw_mermaid(const ag_graph *graph, struct buf *out)
{
	buf_puts(out, "flowchart TD\n\tfirst([\"START\"])\n");
	for (size_t i = 0; i < graph->all_count; i++) {
		const char *kind = cmd_graph_kind(graph->all[i]);
		buf_printf(out, "\tn%zu[\"%s%s%s\"]\n", i, graph->all[i]->name, kind ? "<br>" : "",
		    kind ? kind : "");
	}
	buf_puts(out, "\tlast([\"END\"])\n");
	cmd_graph_mermaid_edges(graph, graph, NULL, out);
}

/* ---- the command */

int cmd_graph(int argc, char **argv)
{
	struct config_source source = {0};
	const char *format = "text";
	const struct option_spec specs[] = {
	    {"--config", OPTION_TEXT, &source.file, 0, 0},
	    {"--environment", OPTION_TEXT, &source.environment, 0, 0},
	    {"--format", OPTION_TEXT, &format, 0, 0},
	    OPTION_END,
	};
	static void (*const draw[])(const ag_graph *graph, struct buf *out) = {
	    [DRAW_TEXT] = cmd_graph_draw_text,
	    [DRAW_DOT] = cmd_graph_draw_dot,
	    [DRAW_MERMAID] = cmd_graph_draw_mermaid};
	struct problems problems = {0};
	struct buf text = {0};
	struct config *config;
	int how;
	if (!command_options(specs, argc, argv, 0))
		return EXIT_USAGE;
	if (!choice_find(drawings, format, &how))
		return complain(
		    EXIT_USAGE, "--format must be text, dot or mermaid, not \"%s\"", format);
	config = config_load_or_print(&source, COMMAND_MISTAKE);
	if (!config)
		return 1;

	loading_begin();
	ag_graph *graph = graph_load(config, &problems);
	loading_end();
	problems_print_errors(&problems, COMMAND_MISTAKE);
	problems_release(&problems);
	if (graph) {
		draw[how](graph, &text);
		fputs(buf_str(&text), stdout);
		buf_release(&text);
		graph_free(graph);
	}
	config_free(config);
	return graph ? 0 : 1;
}
