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
/* A run can also go into the branches of the i-th edge: then its place is below GRAPH_UNSET. */
#define GRAPH_FORK(i) (-3 - (int)(i))
#define GRAPH_IS_FORK(place) ((place) <= -3)
#define GRAPH_FORK_EDGE(graph, place) (&(graph)->edges[-3 - (place)])
#define GRAPH_NAME_MAX 64
#define GRAPH_MAP_LIMIT 1024 /* elements of a map that run at once, at most */
/* What a name may be, for messages. */
#define GRAPH_NAME_LETTERS "64 letters, digits, blanks or _ - . :"

enum tool_source { TOOL_LOCAL, TOOL_MCP, TOOL_REMOTE };

/* A tool of a tools node. */
struct tool {
	char *name;
	char *description;
	cJSON *parameters;     /* with type, properties and required */
	struct schema *schema; /* compiled from parameters; NULL: arguments are not checked here */
	enum tool_source source;
	ag_tool_fn fn; /* NULL when remote */
	void *data;
	const char *const *tags; /* ends with NULL; NULL: none */
};

struct node;

/* Where a node, or START, leads.  A fixed edge has one target; a conditional one has several, of
 * which fn names one.  A fork runs all of its targets side by side until they have entered join
 * (region.h); a map is a fork whose one target runs once for each element of an array. */
struct edge {
	char *from;
	char *place;             /* where it stands in its document, for messages; NULL: in none */
	char *join;              /* of a fork, else NULL */
	int joins;               /* join as a node index or GRAPH_END, once compiled */
	char *map;               /* of a map, the field that holds its array, else NULL */
	int limit;               /* of a map: how many elements run at once; 0: it sets no limit */
	const struct node *into; /* the subgraph's node, where the edge leads into one; else NULL */
	char **names;            /* the targets as declared */
	int *targets;            /* names as node indexes or GRAPH_END, once compiled */
	size_t target_count;
	ag_route_fn fn; /* NULL: fixed, one target */
	void *data;
};

/* How what a node says and sets is kept (node_cache.h): under which values, and for how long. */
struct node_cache {
	const char *const *names; /* as in templates; ends with NULL; NULL: nothing is kept */
	double ttl;               /* seconds */
	char *described;          /* the node in its document, as text, or NULL */
};

/* What is done with a node that fails or takes its time (doc/agents.md#retries-and-error-handling);
 * all-zero: nothing. */
struct node_policy {
	int attempts;                /* how often it runs at most; 0 as 1 */
	double initial, factor, max; /* seconds between attempts: the first wait, how much longer
					each next one is, and the longest */
	double timeout;              /* seconds; 0: the run's */
	struct node_cache cache;
	char *on_error; /* the node where the run goes on when it has failed, or NULL */
};

/* A graph inside of another one, with a state of its own. */
struct subgraph {
	ag_graph *graph; /* whose nodes are named "node/inner" */
	/* What its fields begin with, made of values of the graph around it, and what fields of
	 * that get in the end, made of its own values; or NULL.  Both live as long as the graph. */
	const cJSON *input;
	const cJSON *output;
	bool own; /* it begins with the last user text alone, and leaves its last answer alone */
	struct edge enter; /* the way into it, once compiled */
};

struct node {
	char *name;       /* with the names of the subgraphs around it: "node/inner" */
	const char *kind; /* as its document says, or NULL */
	ag_node_fn fn;    /* NULL for a tools node, a live agent and a subgraph */
	void *data;
	struct live_agent *live; /* of a live agent (live.h), else NULL */
	struct subgraph *sub;    /* of a subgraph, else NULL */
	bool is_tools;
	struct tool *tools;
	size_t tool_count;
	struct tool_server *servers; /* whose tools the node has besides (node_tools.h) */
	size_t server_count;
	bool approve_all;           /* a person allows each call of a tool before it is made */
	const char *const *approve; /* or only those of these tools; ends with NULL; NULL: none */
	struct node_policy policy;
	int on_error;            /* policy.on_error as an index, or GRAPH_UNSET; once compiled */
	const struct edge *edge; /* once compiled */
	const struct edge *fork; /* the fork that it is in a branch of, or NULL; once compiled */
	size_t branch;           /* which target of fork begins that branch */
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
 * Loads the graph that config->agent names (a shared object, a JSON document or a built-in one),
 * adds config->remote_tools to their nodes, and compiles it.  NULL when there were errors, each of
 * them in problems.
 */
ag_graph *graph_load(const struct config *config, struct problems *problems);
void graph_free(ag_graph *graph);

/* An empty graph to build. */
ag_graph *graph_new(const char *name);

/* The same for a graph that is to be the node called node of another one. */
ag_graph *graph_new_inside(const ag_graph *graph, const char *node, const char *name);

/* Adds that node.  sub->graph has been compiled, and is taken over. */
void graph_add_subgraph(ag_graph *graph, const char *name, const struct subgraph *sub);

/* Checks what was built, and fills in what is there "once compiled".  False with every mistake
 * added to graph->problems. */
bool graph_compile(ag_graph *graph);

/* Lets config->remote_tools join their nodes; mistakes go to problems. */
void graph_add_remote_tools(
    ag_graph *graph, const struct config *config, struct problems *problems);

/* Whether nodes, tools, state fields and state types may have that name. */
bool graph_name_valid(const char *name);

/* Index of the node of that name, with the graph's prefix or without it; GRAPH_END for "END",
 * GRAPH_UNSET when there is none. */
int graph_node_index(const ag_graph *graph, const char *name);

/* The node of that full name, in the graph or in a subgraph of it, or NULL. */
const struct node *graph_node_find(const ag_graph *graph, const char *name);

/* The edge into the branches, or into the subgraph, at a place; NULL where a plain node or the end
 * is. */
const struct edge *graph_region_edge(const ag_graph *graph, int place);

/* Name of a node index, "END" for GRAPH_END. */
const char *graph_node_name(const ag_graph *graph, int index);

/* Name of the node that runs next at a place: where that is a fork, the first of its branches. */
const char *graph_first_name(const ag_graph *graph, int place);

/* The state field of that name, or NULL; the graph owns it. */
const struct field *graph_field_get(const ag_graph *graph, const char *name);

/* Whether value fits a field's type; null fits every field. */
bool graph_field_accepts(const struct field *field, const cJSON *value);

/* Finds out which node belongs to which branch (regions.c); mistakes go to graph->problems. */
void graph_compile_regions(ag_graph *graph);

/* Whether its reducer makes sense for its type (AG_REPLACE always does). */
bool graph_reducer_fits(const struct field *field);
#define GRAPH_REDUCERS_FIT "(append: array, add: number, merge: object)"

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

/* Adds the tool `add`, which both of them have, to the node `tools`. */
void graph_demo_add(ag_graph *graph);

/*
 * Builds graph from the member attribute of the JSON document in file path; mistakes go to
 * graph->problems with their path in the document.  A member that is not there is the mistake of
 * whoever named it, and goes to problems.
 */
void graph_document(
    ag_graph *graph, const char *path, const char *attribute, struct problems *problems);

#endif
