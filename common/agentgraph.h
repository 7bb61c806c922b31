/*
 * agentgraph.h: what a plug-in may use.
 *
 * A plug-in is a shared object that is named in agentgraph.json as "path/to/file.so:attribute".  It
 * says which interface it was built for with AG_PLUGIN, once, and exports `attribute`, a function
 * of type ag_graph_fn that builds one graph.  The graph is built once per process at start-up and
 * never changes afterwards; its functions are then called from many threads at once, so a plug-in
 * keeps no mutable static data, or guards it.
 *
 *     #include <agentgraph.h>
 *
 *     AG_PLUGIN;
 *
 *     static ag_result greet(ag_run *run, const ag_state *state, void *data)
 *     {
 *             return ag_say(run, "Hello. You said: %s", ag_user_text(state));
 *     }
 *
 *     int hello(ag_graph *graph)
 *     {
 *             ag_graph_node(graph, "greet", greet, NULL);
 *             ag_graph_edge(graph, AG_START, "greet");
 *             ag_graph_edge(graph, "greet", AG_END);
 *             return 0;
 *     }
 *
 * Values are cJSON items.  "Taken over" means that the call owns the item from then on, also when
 * it fails; "borrowed" means that it stays the service's, is valid until the node returns, and must
 * not be changed.  Texts are UTF-8.  Numbers in borrowed items are read with ag_number, because
 * those that a double cannot hold are kept as text.
 */
#ifndef AGENTGRAPH_H
#define AGENTGRAPH_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Plug-ins find these names, although the programs hide all others. */
#pragma GCC visibility push(default)

/* The interface's version.  It grows when something is added; a plug-in built for a newer one, or
 * for an incompatible one, is refused at start-up. */
#define AG_ABI_VERSION 1

/* States the version the plug-in was built for; exactly once in each plug-in. */
#define AG_PLUGIN                                                                   \
	extern const unsigned ag_plugin_abi __attribute__((visibility("default"))); \
	const unsigned ag_plugin_abi = AG_ABI_VERSION

#define AG_START "START"
#define AG_END "END"

typedef struct ag_graph ag_graph; /* a graph being built */
typedef struct ag_run ag_run;     /* one run, during a node or tool */
typedef struct ag_state ag_state; /* the state as the node found it */

/* How a node or a tool ended. */
typedef enum {
	AG_OK = 0,
	AG_ERROR = -1, /* the run fails; say why with ag_fail */
	AG_PAUSE = 1   /* ag_interrupt said so: the run pauses here */
} ag_result;

/* ---- Building a graph
 * ---------------------------------------------------------------------------------------------- */

/* The function that agentgraph.json names.  Returns 0; anything else, or any mistake in the calls
 * below, refuses the start with a message that names the file and every mistake. */
typedef int ag_graph_fn(ag_graph *graph);

/* A node: reads the state, speaks, updates, and returns. data is the pointer given when it was
 * added. */
typedef ag_result (*ag_node_fn)(ag_run *run, const ag_state *state, void *data);

/* Chooses where a conditional edge leads: one of its targets (AG_END included), or NULL to fail the
 * run. */
typedef const char *(*ag_route_fn)(const ag_state *state, void *data);

/*
 * A tool.  args is borrowed and always an object.  On AG_OK *output is the result, taken over (NULL
 * stands for null).  On AG_ERROR the model sees an error result: *output when set, else the text of
 * ag_fail.  The run goes on either way.
 */
typedef ag_result (*ag_tool_fn)(ag_run *run, const cJSON *args, cJSON **output, void *data);

/* Adds a node.  Names are 1 to 64 characters, unique, and not START or END. */
void ag_graph_node(ag_graph *graph, const char *name, ag_node_fn fn, void *data);

/* Adds a tools node: it runs the calls of the last message and adds one tool message per call, in
 * their order. */
void ag_graph_tools(ag_graph *graph, const char *name);

/* Adds a tool to a tools node.  parameters is a JSON Schema of type object, as text; NULL means no
 * parameters. */
void ag_graph_tool(ag_graph *graph, const char *node, const char *name, const char *description,
    const char *parameters, ag_tool_fn fn, void *data);

/* A fixed edge.  Each node, and START, has either one fixed edge or one conditional edge. */
void ag_graph_edge(ag_graph *graph, const char *from, const char *to);

/* A conditional edge; targets lists every place it can lead to and ends with NULL. */
void ag_graph_branch(
    ag_graph *graph, const char *from, ag_route_fn fn, void *data, const char *const targets[]);

/* How an update of a state field joins the value that is there. */
typedef enum {
	AG_REPLACE, /* the new value */
	AG_APPEND,  /* arrays: elements are added at the end; a value that is no array is added as
		       one element */
	AG_ADD,     /* numbers: the sum */
	AG_MERGE    /* objects: key by key, deeply */
} ag_reducer;

/*
 * Adds a field to the state.  type is string, integer, number, boolean, array, object or any.
 * initial is JSON text of that type or "null"; NULL stands for "", 0, false, [], {} or null.
 * description may be NULL.
 */
void ag_graph_field(ag_graph *graph, const char *name, const char *type, ag_reducer reducer,
    const char *initial, const char *description);

/* Names the state type (info.state_type); without it a graph with fields of its own is "State". */
void ag_graph_state_type(ag_graph *graph, const char *name);

/* Every run pauses before, or after, that node. */
void ag_graph_interrupt_before(ag_graph *graph, const char *node);
void ag_graph_interrupt_after(ag_graph *graph, const char *node);

/* Calls fn(data) when the graph is taken down, for data given to nodes and tools. */
void ag_graph_on_free(ag_graph *graph, void (*fn)(void *data), void *data);

/* ---- Reading the state
 * --------------------------------------------------------------------------------------------- */

/* Text of the last user message, "" when there is none.  Does not load the history when the run
 * brought that message. */
const char *ag_user_text(const ag_state *state);

/* The last message, whatever its role, or NULL.  Borrowed. */
const cJSON *ag_last_message(const ag_state *state);

/* The context: all messages that nodes see, oldest first, as an array.  Borrowed.  Loads the
 * history on first use. */
const cJSON *ag_context(const ag_state *state);

/* How many messages the context has, without loading it. */
size_t ag_context_length(const ag_state *state);

/* The rolling summary, or NULL. */
const char *ag_summary(const ag_state *state);

/* Value of a state field; NULL when the graph has no such field.  Borrowed. */
const cJSON *ag_field(const ag_state *state, const char *name);

/* All fields of the graph's own, as one object.  Borrowed. */
const cJSON *ag_fields(const ag_state *state);

/* The plain text of a message: its text blocks joined.  Malloc'd; the caller frees it. */
char *ag_message_text(const cJSON *message);

/* The value of a number item, also of one kept as text; NAN when item is no number. */
double ag_number(const cJSON *item);

/* ---- What a node may do
 * -------------------------------------------------------------------------------------------- */

/* The run's configuration as nodes see it: the client's config with the verified "user".  Borrowed.
 */
const cJSON *ag_config(const ag_run *run);
const char *ag_thread_id(const ag_run *run);
const char *ag_run_id(const ag_run *run);

/* Name of the node that runs, and the number of its step in this run, from 1. */
const char *ag_node_name(const ag_run *run);
int ag_step(const ag_run *run);

/* Streams a piece of the answer that is being made.  The pieces of one message are followed by
 * ag_message, whose text then holds all of them. */
ag_result ag_delta(ag_run *run, const char *text);

/* Streams a piece of a reasoning summary, before the text. */
ag_result ag_reasoning_delta(ag_run *run, const char *text);

/*
 * Adds a message to the conversation.  message is taken over; it needs "role" and "content" (text
 * or an array of blocks), as in the REST interface; the id, time and other fields are filled in.
 * After deltas it closes the message that they began.  Tool calls are blocks {"type": "tool_call",
 * "id", "name", "args"}; one whose tool the client runs (ag_remote_tool) is turned into a
 * remote_tool_call by the engine.
 */
ag_result ag_message(ag_run *run, cJSON *message);

/* Says a text as the assistant: streamed word by word, then added as a message. */
ag_result ag_say(ag_run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Updates a state field through its reducer when the node has ended well.  value is taken over. */
ag_result ag_update(ag_run *run, const char *field, cJSON *value);

/*
 * Lets the oldest messages, up to last, which is one of ag_context, leave the context when the node
 * has ended well; they stay in the thread's list.  summary, when not NULL, replaces the rolling
 * summary (ag_summary), which should then tell what they said.  A call must not leave without its
 * result.
 */
ag_result ag_trim(ag_run *run, const cJSON *last, const char *summary);

/* Whether a client runs the tool of that name (remote_tools, or tools that an AG-UI client
 * brought). */
bool ag_remote_tool(const ag_run *run, const char *name);

/*
 * Asks a person.  The first call pauses the run: it returns AG_PAUSE, which the node returns at
 * once.  When the run is resumed the node runs again from its start, and the same call returns
 * AG_OK with the answer (null when it was cancelled), borrowed.  Several interrupts in one node are
 * answered in the order of their calls.  reason NULL stands for "input_required"; value, taken
 * over, is what the client is shown.
 */
ag_result ag_interrupt(ag_run *run, const char *reason, cJSON *value, const cJSON **answer);

/* The answers given so far to the interrupts of this node, in the order of its calls, as an array,
 * or NULL when there is none.  Borrowed.  For nodes that have their interrupts made elsewhere;
 * others get each answer from ag_interrupt. */
const cJSON *ag_answers(const ag_run *run);

/* Says why the node or tool failed; returns AG_ERROR. */
ag_result ag_fail(ag_run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Milliseconds until the node's time is up, 0 when it is; after that the run fails, whatever the
 * node returns. */
int64_t ag_time_left_ms(const ag_run *run);

/* Sleeps; AG_ERROR when the node's time is up first. */
ag_result ag_sleep_ms(ag_run *run, int64_t ms);

/* Whether a stop of this run was requested.  The engine looks between nodes; a long node may look
 * itself and return early. */
bool ag_stop_requested(const ag_run *run);

/* A line in the service's log, with the request's id. */
void ag_log(ag_run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- Who may use the service
 * --------------------------------------------------------------------------------------- */

/*
 * An authentication of your own: "auth": {"method": "custom", "path": "path/to/file.so:attribute"}
 * names an exported `const struct ag_auth`.  Its functions are called from many threads at once.
 */

typedef struct ag_request ag_request; /* a request that asks to be let in */

/* Borrowed texts.  A header's name is in lower case with dashes; NULL when the request has none. */
const char *ag_request_method(const ag_request *request);
const char *ag_request_path(const ag_request *request);
const char *ag_request_address(const ag_request *request);
const char *ag_request_header(const ag_request *request, const char *name);

/* The bearer token, or NULL; of a WebSocket, from wherever it stood. */
const char *ag_request_credential(const ag_request *request);
bool ag_request_is_websocket(const ag_request *request);

/*
 * Lets the request in as that user; taken over.  An object with user_id, a text or an integer, is
 * somebody; without one, or NULL, the request is anonymous.  The object is "user" in every node's
 * configuration.
 */
ag_result ag_let_in(ag_request *request, cJSON *user);

/* Refuses the account: 403 with a code of your own (capitals, digits and _; NULL stands for
 * USER_ACCOUNT_DISABLE) and a text for the client. */
ag_result ag_refuse_account(ag_request *request, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Refuses with an HTTP status from 400 to 599 and a text for the client. */
ag_result ag_refuse(ag_request *request, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#define AG_AUTH (0x61750000u + AG_ABI_VERSION)

struct ag_auth {
	unsigned kind; /* AG_AUTH */

	/* At start-up, once per process; *data is what the other functions get.  Not 0: the service
	 * does not start.  NULL stands for nothing to do. */
	int (*open)(void **data);

	/* Returns what one of the three functions above returned.  AG_OK without any of them lets
	 * in as anonymous; AG_ERROR without any is a failure of the service, answered with 500. */
	ag_result (*authenticate)(ag_request *request, void *data);

	/* At the end, or NULL. */
	void (*close)(void *data);
};

/*
 * An authorization of your own: "authorization": "path/to/file.so:attribute" names an exported
 * `const struct ag_authorization`.  Its functions are called from many threads at once.
 */

typedef enum {
	AG_DENY = 0,
	AG_ALLOW = 1 /* nothing else allows */
} ag_decision;

#define AG_AUTHORIZATION (0x617a0000u + AG_ABI_VERSION)

struct ag_authorization {
	unsigned kind; /* AG_AUTHORIZATION */

	/* As in struct ag_auth. */
	int (*open)(void **data);

	/* Whether user, borrowed, may do the action on the resource: "invoke" on "graph".
	 * resource_id is the id of the thread, memory or file, NULL where the request names none.
	 */
	ag_decision (*authorize)(const cJSON *user, const char *resource, const char *action,
	    const char *resource_id, void *data);

	/* Whose data listings reach: "owner", the caller's own, or "none", everybody's.  NULL
	 * stands for "owner". */
	const char *(*isolation_scope)(void *data);

	/* The scopes of the user, an array of texts like "graph:invoke", taken over: what is not
	 * among them is refused.  NULL, the function or its result, leaves it to the user's own
	 * "scopes". */
	cJSON *(*scopes_for)(const cJSON *user, void *data);

	/* Forget what is known about this thread: it is about to be deleted, or was.  Or NULL. */
	void (*evict)(const char *thread_id, void *data);

	/* At the end, or NULL. */
	void (*close)(void *data);
};

/*
 * A container of parts that stand in for built-in ones: "injectq": "path/to/file.so:attribute"
 * names an exported `const struct ag_container`.  Its functions are called from many threads at
 * once.
 */

struct ag_rate_verdict {
	bool allowed;
	int64_t remaining;   /* requests that are left in the window */
	int64_t reset_after; /* seconds until the oldest one leaves it */
};

/* The backend of the rate limit where "rate_limit" has "backend": "custom". */
struct ag_rate_limit {
	/* Counts a request of key, unless requests were allowed within the last window seconds, and
	 * fills in the verdict.  The client waits meanwhile, so it should take no longer than a
	 * second.  AG_ERROR is a failure: "fail_open" then says whether the request is let in. */
	ag_result (*check)(const char *key, int64_t requests, int64_t window,
	    struct ag_rate_verdict *verdict, void *data);
};

#define AG_CONTAINER (0x636f0000u + AG_ABI_VERSION)

struct ag_container {
	unsigned kind; /* AG_CONTAINER */

	/* As in struct ag_auth. */
	int (*open)(void **data);

	const struct ag_rate_limit *rate_limit; /* or NULL */

	/* At the end, or NULL. */
	void (*close)(void *data);
};

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
