/* SPDX-License-Identifier: ISC */
/* Pictures of a graph: as text, for Graphviz (DOT), for Mermaid. */
#ifndef AGENTGRAPH_GRAPH_DRAW_H
#define AGENTGRAPH_GRAPH_DRAW_H

#include "base/buf.h"
#include "base/fields.h"
#include "graph/graph.h"

enum drawing { DRAW_TEXT, DRAW_DOT, DRAW_MERMAID };

/* Their names: "text", "dot", "mermaid". */
extern const struct choice drawings[];

/* Appends the drawing of a compiled graph.  As text it has a line for START and each node, in the
 * order of declaration. */
void graph_draw(const ag_graph *graph, enum drawing how, struct buf *out);

#endif
