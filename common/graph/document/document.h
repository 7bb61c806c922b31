/* SPDX-License-Identifier: ISC */
/*
 * What the files that read a graph document share: where in the document one is, how mistakes are
 * reported, and which keys each kind of object has.
 *
 * Reading goes on after a mistake, so that all of them are reported at once: document_read reports
 * what is wrong with an object's own members, and leaves out those of a wrong type as if they were
 * absent.
 */
#ifndef AGENTGRAPH_GRAPH_DOCUMENT_DOCUMENT_H
#define AGENTGRAPH_GRAPH_DOCUMENT_DOCUMENT_H

#include "agentgraph.h"
#include "base/fields.h"
#include "graph/graph.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* A document while it is read.  Its JSON lives as long as the graph, so that nodes may point into
 * it. */
struct document {
	ag_graph *graph;
	const char *file;             /* as named in the configuration, for messages */
	const char *key;              /* the member that is the graph */
	const struct document *outer; /* the document in which the graph is a node, or NULL */
	/* Reads the graph called key in a file: graph_document, for a graph that is a node of
	 * outer, or NULL. */
	void (*open)(ag_graph *graph, const char *file, const char *key, struct problems *problems,
	    const struct document *outer);
	char *dir; /* absolute; executables and folders are relative to it */
	const cJSON *nodes;
};

/* A place in the document, linked to the one that holds it; on the stack of who reads it. */
struct place {
	const struct place *up;
	const char *key; /* NULL: an array element */
	size_t index;
};

/* The place of member key, or of element index, of the value at up. */
#define PLACE_KEY(up, key) (&(const struct place){(up), (key), 0})
#define PLACE_INDEX(up, index) (&(const struct place){(up), NULL, (index)})

/* "agents.json: /assistant/nodes/greet", or "agents.json" for the whole, malloc'd. */
char *document_place(const struct document *d, const struct place *at);

/* Reports a mistake: "agents.json: /assistant/nodes/greet/text: expected …". */
void document_problem(struct document *d, const struct place *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a member of a member of the value at at: path is "fallbacks/1/timeouts". */
void document_problem_below(
    struct document *d, const struct place *at, const char *path, const char *text);

/* The same for a mistake that does not keep the service from starting. */
void document_warning(struct document *d, const struct place *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- The keys */

/* A kind of object.  document.schema.json has a definition of the same name and keys. */
struct document_shape {
	const char *name;
	const struct field_row *tables[4]; /* ends with NULL; the first one fills a target */
};

/* Defines the shape of that name with these rows. */
#define DOCUMENT_SHAPE(name, ...)                    \
	const struct document_shape shape_##name = { \
	    #name, {(const struct field_row[]){__VA_ARGS__, FIELDS_END}}}

/* The same for a kind of node, which has the rows of policy as well (document_policy.c). */
#define DOCUMENT_NODE_SHAPE(name, policy, ...)       \
	const struct document_shape shape_##name = { \
	    #name, {(const struct field_row[]){DOCUMENT_KIND, __VA_ARGS__, FIELDS_END}, policy}}

extern const struct document_shape shape_whole, shape_graph, shape_state, shape_field, shape_edge,
    shape_choice, shape_rule, shape_text_rule, shape_reply, shape_exec, shape_interrupt,
    shape_tools, shape_exec_tool, shape_http_tool, shape_http, shape_mcp_tools, shape_mcp,
    shape_oauth, shape_live, shape_model, shape_context, shape_prompt_file, shape_recall,
    shape_memory_tool, shape_retry, shape_cache, shape_a2a;

/* All of them, ending with NULL, for the test that compares them with the schema. */
extern const struct document_shape *const document_shapes[];

/* The key of each kind of node. */
#define DOCUMENT_KIND FIELD_ONLY("kind", .types = TYPE_STRING, .required = true)

/* Where the reader of an object stands: what kinds of values are given as field_reader's where. */
struct document_spot {
	struct document *document;
	const struct place *at;
};

/*
 * Reads item into target; only checks it where that is NULL.  Reports unknown keys, missing ones
 * and wrong values, which leave the target as it was; false when item is no object at all.
 */
bool document_read(struct document *d, const struct place *at, const cJSON *item,
    const struct document_shape *shape, void *target);

/* The strings of an array as a list that ends with NULL and that texts_free frees; NULL where array
 * is NULL. */
const char *const *document_names(struct document *d, const struct place *at, const cJSON *array);

/* Whether item has one of the types; where it has not, that is reported. */
bool document_is(struct document *d, const struct place *at, const cJSON *item, unsigned types);

/* ---- Templates (document_value.c) */

/* What the names of a template stand for during a run. */
struct values {
	ag_run *run;
	const ag_state *state;
	const cJSON *answer; /* NULL where there is none */
};

struct template;

/* Parses a template and checks its names; NULL when there was a mistake. */
struct template *document_template(
    struct document *d, const struct place *at, const char *text, bool with_answer);

/* The value of one name of values (struct values) now, a new item. */
cJSON *values_of(const char *name, const void *values);

/* The text of a template now, malloc'd. */
char *values_text(const struct template *t, const struct values *values);

/*
 * JSON with templates in its strings.  A string that is one name and nothing else becomes that
 * value itself, whatever its type; others become text.  The check reports mistakes; the value is a
 * new tree.
 */
void document_check_json(struct document *d, const struct place *at, const cJSON *json);
cJSON *values_json(const cJSON *json, const struct values *values);

/* For ag_graph_on_free: deletes JSON that nodes and edges point into. */
void document_delete(void *json);

/* Checks the members of object, which are to set fields of into, and so their values; missing is
 * what is reported of one that is no field there. */
void document_check_fields(struct document *d, const struct place *at, const cJSON *object,
    const ag_graph *into, const char *missing);

/* Whether templates and programs use that name for something other than a state field. */
bool document_reserved(const char *name);

/* ---- Rules (document_rule.c) */

struct rule;

/* Never NULL; one with mistakes, which are reported, never holds. */
struct rule *document_rule(struct document *d, const struct place *at, const cJSON *item);
void rule_free(struct rule *rule);
bool rule_holds(const struct rule *rule, const ag_state *state);

/* ---- Commands (document_command.c) */

struct command;

/* Kinds of the keys of a struct command. */
extern const struct field_kind field_argv, field_cwd, field_env;

/* The rows of a command that is a member of type. */
#define COMMAND_ROWS(type, member, most_seconds)                                               \
	FIELD_AT("command", type, member, .kind = &field_argv, .required = true),              \
	    FIELD_AT("cwd", type, member, .kind = &field_cwd),                                 \
	    FIELD_AT("env", type, member, .kind = &field_env),                                 \
	    FIELD_AT("timeout", type, member.timeout_ms, .kind = &field_seconds, .min = 0.001, \
		.max = (most_seconds)),                                                        \
	    FIELD_AT("max_output", type, member.max_output, COMMAND_BYTES)
#define COMMAND_BYTES .kind = &field_size, .min = 1, .max = 1 << 30

/* Gives command what the document does not say by keys, before those are read: the folder of the
 * document, and the environment that children may see. */
void document_command(const struct document *d, struct command *command);

/* ---- Nodes and edges (document_node.c, document_edge.c) */

/* Adds the node called name. */
void document_node(struct document *d, const struct place *at, const char *name, const cJSON *item);

/* What is done with a node that fails (document_policy.c): rows for all kinds of node except live
 * agents; document_retry_rows lack timeout, for kinds that have one already. */
extern const struct field_row document_policy_rows[], document_retry_rows[];

/* Gives the node called name its policy, out of an object that was checked by its shape. */
void document_policy(
    struct document *d, const struct place *at, const char *name, const cJSON *item);

/* Adds the node called name, a graph that is described elsewhere (document_graph.c). */
void document_subgraph(
    struct document *d, const struct place *at, const char *name, const cJSON *item);

/* Adds the node called name, another agent (document_a2a.c). */
void document_a2a(struct document *d, const struct place *at, const char *name, const cJSON *item);

/* Headers of requests, an array of count whose values may name environment variables, malloc'd with
 * its texts (document_tools.c). */
struct http_header;
struct http_header *document_headers(
    struct document *d, const struct place *at, const cJSON *object, size_t *count);

/* A model node (document_model.c). */
void document_model(
    struct document *d, const struct place *at, const char *name, const cJSON *item);

/* The chat model that settings describe, which hold nothing else; NULL when there were mistakes,
 * which are reported. */
struct chat_model *document_chat(struct document *d, const struct place *at, const cJSON *settings);

/* What a model node searches the memory store for (document_memory.c), as recall takes it: a new
 * tree. */
cJSON *document_recall(struct document *d, const struct place *at, const cJSON *item);

/* Adds the tool to the tools node called node. */
void document_memory_tool(
    struct document *d, const struct place *at, const char *node, const cJSON *item);

/* The state field of that name, or the member in it that "field.member.member" names; NULL when
 * there is none. */
const cJSON *document_field(const ag_state *state, const char *name);
bool document_field_known(const struct document *d, const char *name);

/* Adds a live agent (document_live.c). */
void document_live(struct document *d, const struct place *at, const char *name, const cJSON *item);

/* Whether a live agent calls the tools of that node: then it needs no edges. */
bool document_is_live_tools(const struct document *d, const char *name);

/* Checks a tool's name in the node that it joins. */
void document_tool_name(
    struct document *d, const struct place *at, const char *node, const char *name);

/* Adds the tools node called name (document_tools.c). */
void document_tools(
    struct document *d, const struct place *at, const char *name, const cJSON *item);

/* Adds all edges and checks that each node has one. */
void document_edges(struct document *d, const struct place *at, const cJSON *edges);

#endif
