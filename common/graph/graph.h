/* SPDX-License-Identifier: ISC */
/*
 * A graph: nodes, edges, tools and state fields, built once at start-up and immutable afterwards.
 *
 * Graphs are built through the functions of agentgraph.h, by a C plug-in, by a JSON document, or by
 * the library itself (builtin:demo); all three end here.  Mistakes are collected while building and
 * reported together.
 */
#ifndef AGENTGRAPH_GRAPH_GRAPH_H
#define AGENTGRAPH_GRAPH_GRAPH_H

#include "agentgraph.h"
#include "base/problems.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;

#define GRAPH_END (-1)   /* target: the end */
#define GRAPH_UNSET (-2) /* no such node */
/* Where a run may go besides: into the branches of the i-th edge. */
#define GRAPH_FORK(i) (-3 - (int)(i))
#define GRAPH_IS_FORK(place) ((place) <= -3)
#define GRAPH_FORK_EDGE(graph, place) (&(graph)->edges[-3 - (place)])
#define GRAPH_NAME_MAX 64
#define GRAPH_MAP_LIMIT 1024                                       /* elements of a map at once */
#define GRAPH_NAME_LETTERS "64 letters, digits, blanks or _ - . :" /* the same for messages */

enum tool_source { TOOL_LOCAL, TOOL_MCP, TOOL_REMOTE };

/* A tool of a tools node. */
struct tool {
	char *name;
	char *description;
	cJSON *parameters;     /* with type, properties and required */
	struct schema *schema; /* of them; NULL: not checked here */
	enum tool_source source;
	ag_tool_fn fn; /* NULL when remote */
	void *data;
	char **tags; /* ends with NULL; NULL: none */
};

struct node;

/* Where a node, or START, leads: to one target, to the one of several that fn names, or to all of
 * them side by side until they have entered join (region.h): each once, or, of a map, its one
 * target once for each element of an array. */
struct edge {
	char *from;
	char *place;             /* in its document, for messages; NULL: it has none */
	char *join;              /* of a fork, else NULL */
	char *map;               /* of a map the field that has the array, else NULL */
	int limit;               /* of a map: how many elements at once; 0: as many as may be */
	const struct node *into; /* of the way into a subgraph its node, else NULL */
	int joins;               /* the same as node index or GRAPH_END, once compiled */
	char **names;            /* targets as declared */
	int *targets;            /* the same as node indexes or GRAPH_END, once compiled */
	size_t target_count;
	ag_route_fn fn; /* NULL: fixed, one target */
	void *data;
};

/* Under which values what a node says and sets is kept, and for how long (node_cache.h). */
struct node_cache {
	char **names;    /* as in templates; ends with NULL; NULL: nothing is kept */
	double ttl;      /* seconds */
	char *described; /* the node in its document, as text, or NULL */
};

/* What is done with a node that fails or takes its time (doc/agents.md#nodes-that-fail); all-zero:
 * nothing. */
struct node_policy {
	int attempts;                /* how often it runs at most; 0 as 1 */
	double initial, factor, max; /* seconds between attempts: of the first wait, how they grow,
					the most */
	double timeout;              /* seconds; 0: the run's */
	struct node_cache cache;
	char *on_error; /* the node where the run goes when it has failed, or NULL */
};

/* A graph inside of another one, with a state of its own. */
struct subgraph {
	ag_graph *graph;     /* whose nodes are named "node/inner" */
	const cJSON *input;  /* its fields from values of the graph around it, or NULL */
	const cJSON *output; /* fields of that from its values, or NULL; both live as long */
	bool own;            /* it begins with the last user text, and its last answer is kept */
	struct edge enter;   /* the way into it, once compiled */
};

struct node {
	char *name;       /* with those of the nodes around its graph: "node/inner" */
	const char *kind; /* as its document says, or NULL */
	ag_node_fn fn;    /* NULL for a tools node, a live agent and a subgraph */
	void *data;
	struct live_agent *live; /* of a live agent (live.h), else NULL */
	struct subgraph *sub;    /* of a subgraph, else NULL */
	bool is_tools;
	struct tool *tools;
	size_t tool_count;
	struct tool_server *servers; /* whose tools join those (node_tools.h) */
	size_t server_count;
	bool approve_all; /* a person allows each call of a tool before it is made */
	char **approve;   /* or those of these tools; ends with NULL; NULL: none */
	struct node_policy policy;
	int on_error;            /* the same as index, GRAPH_UNSET without; once compiled */
	const struct edge *edge; /* once compiled */
	const struct edge *fork; /* whose branch it belongs to; NULL: none; once compiled */
	size_t branch;           /* which of its targets begins that */
	bool interrupt_before, interrupt_after;
};

/* A state field of the graph's own. */
struct field {
	char *name;
	char *type;
	char *description; /* or NULL */
	ag_reducer reducer;
	cJSON *initial;
};

struct graph_free_hook {
	void (*fn)(void *data);
	void *data;
};

struct ag_graph {
	char *name;            /* the import path, for messages */
	char *prefix;          /* of its nodes' names: "node/" in a subgraph, else "" */
	const ag_graph *outer; /* while it is built: the graph that it is inside of, or NULL */
	ag_graph_fn *build;    /* what builds it, or NULL: a document does */
	char *state_type;      /* never NULL once compiled */
	struct node *nodes;
	size_t node_count;
	const struct node **all; /* the nodes with those of subgraphs behind each, once compiled */
	size_t all_count;
	struct edge *edges; /* in the order of declaration */
	size_t edge_count;
	const struct edge *start; /* once compiled */
	const struct node *live;  /* the live agent, once compiled; NULL: the engine runs it */
	struct field *fields;
	size_t field_count;
	struct graph_free_hook *hooks;
	size_t hook_count;
	uint64_t described; /* a hash of its document, with those of subgraphs; 0: it has none */
	char *store_user;   /* a node that needs the memory store, or NULL */
	void *library;      /* dlopen handle of a plug-in, or NULL */
	struct problems problems;
};

#define GRAPH_FIXED_FIELDS 3
/* Names of the state fields that every graph has: context, context_summary, execution_meta. */
extern const char *const graph_fixed_fields[GRAPH_FIXED_FIELDS];

/*
 * Loads the graph that config->agent names: a shared object, a JSON document or a
 * built-in one; adds config->remote_tools to their nodes; compiles.  NULL when there were errors,
 * each of them in problems.
 */
ag_graph *graph_load(const struct config *config, struct problems *problems);
void graph_free(ag_graph *graph);

/* An empty graph to build. */
ag_graph *graph_new(const char *name);

/* The same for a graph inside of another one, as the node called node. */
ag_graph *graph_new_inside(const ag_graph *graph, const char *node, const char *name);

/* Adds that node; its graph is compiled, and taken over. */
void graph_add_subgraph(ag_graph *graph, const char *name, const struct subgraph *sub);

/* The check of what was built; false adds every mistake to graph->problems. */
bool graph_compile(ag_graph *graph);

/* Lets config->remote_tools join their nodes; mistakes go to problems. */
void graph_add_remote_tools(
    ag_graph *graph, const struct config *config, struct problems *problems);

/* Whether nodes, tools, state fields and state types may have that name. */
bool graph_name_valid(const char *name);

/* Index of a node, GRAPH_END for "END", GRAPH_UNSET when there is none of that name; with the
 * prefix of the graph or without it. */
int graph_node_index(const ag_graph *graph, const char *name);

/* The node of that whole name in the graph and those inside, or NULL. */
const struct node *graph_node_find(const ag_graph *graph, const char *name);

/* The way into the branches, or the graph, at a place; NULL: a node or the end is there. */
const struct edge *graph_region_edge(const ag_graph *graph, int place);

/* Name of a node index, "END" for GRAPH_END. */
const char *graph_node_name(const ag_graph *graph, int index);

/* The node that comes next at a place: of branches the first. */
const char *graph_first_name(const ag_graph *graph, int place);

/* The state field of that name, or NULL; the graph has it. */
const struct field *graph_field_get(const ag_graph *graph, const char *name);

/* Whether value fits a field's type; null fits every field. */
bool graph_field_accepts(const struct field *field, const cJSON *value);

/* Finds out which node belongs to which branch (regions.c); mistakes go to graph->problems. */
void graph_compile_regions(ag_graph *graph);

/* Whether its reducer makes sense for its type (AG_REPLACE always does). */
bool graph_reducer_fits(const struct field *field);

/* The tool of that name in a tools node, or NULL. */
const struct tool *graph_tool_get(const struct node *node, const char *name);

/* Adds an empty tool; its parameters and function are the caller's to set. */
struct tool *graph_tool_add(struct node *node, const char *name, const char *description);

/* Fills in what a tool's parameters lack: type, properties, required (doc/protocol-runs.md#tools).
 * parameters may be NULL; taken over. */
cJSON *graph_tool_parameters(cJSON *parameters);

/* Builders of the graphs that ship in the library. */
int graph_demo(ag_graph *graph);
int graph_live_demo(ag_graph *graph);

/* Adds the tool `add` of both to a tools node. */
void graph_demo_add(ag_graph *graph, const char *node);

/*
 * Builds graph from the member attribute of the JSON document in file path; mistakes go to
 * graph->problems with their path in the document.  That there is no such member is a mistake of
 * who names it, and goes to problems.
 */
void graph_document(
    ag_graph *graph, const char *path, const char *attribute, struct problems *problems);

#endif
