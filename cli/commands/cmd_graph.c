/* SPDX-License-Identifier: ISC */
/* agentgraph graph: prints the graph that the configuration names, without running anything. */
#include "cli/command.h"
#include "cli/examine/examine.h"
#include "graph/draw.h"

#include <stdio.h>

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
	struct problems problems = {0};
	struct buf text = {0};
	struct config *config;
	int how;

	if (!command_options(specs, argc, argv, 0))
		return EXIT_USAGE;
	if (!choice_find(drawings, format, &how))
		return complain(
		    EXIT_USAGE, "--format must be text, dot or mermaid, not \"%s\"", format);
	config = command_config(&source);
	if (!config)
		return 1;

	ag_graph *graph = graph_load(config, &problems);
	problems_print_errors(&problems);
	problems_release(&problems);
	if (graph) {
		graph_draw(graph, (enum drawing)how, &text);
		fputs(buf_str(&text), stdout);
		buf_release(&text);
		graph_free(graph);
	}
	config_free(config);
	return graph ? 0 : 1;
}
