/* SPDX-License-Identifier: ISC */
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
 * not be changed.  Texts are UTF-8; a byte that is none becomes U+FFFD wherever a plug-in hands it
 * over.  A text or a format that is NULL counts as an empty one, where it is not said what NULL
 * stands for.  Numbers in borrowed items are read with ag_number, because those that a double
 * cannot hold are kept as text.  A number that is handed over is what its double is, whole ones up
 * to 2^53 thus exact; an integer beyond that is given as cJSON_CreateRaw("9223372036854775807").
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

/* ---- Building a graph ---- */

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
 * A tool.  args is borrowed and always an object that fits the tool's parameters.  On AG_OK *output
 * is the result, taken over (NULL stands for null).  On AG_ERROR the model sees an error result:
 * *output when set, else the text of ag_fail.  The run goes on either way.
 *
 * Calls of one message run at the same time, each on a thread of its own with a run of its own;
 * what they say reaches the client in the order of the calls.  ag_interrupt waits for the calls
 * before this one; when a call pauses the run, all calls of the message are made again on its
 * resumption.  A tool that overruns its time (ag_time_left_ms) is waited for, and its result is
 * then an error.
 */
typedef ag_result (*ag_tool_fn)(ag_run *run, const cJSON *args, cJSON **output, void *data);

/* Adds a node.  Names are 1 to 64 characters, unique, and not START or END. */
void ag_graph_node(ag_graph *graph, const char *name, ag_node_fn fn, void *data);

/* Adds a tools node: it runs the calls of the latest message that asks for tools and adds one tool
 * message per call, in their order.  Only calls that nodes of this run asked for, or that a pause
 * held up, are run: not those of earlier turns, nor those in messages that clients stored. */
void ag_graph_tools(ag_graph *graph, const char *name);

/* Adds a tool to a tools node.  parameters is a JSON Schema of type object, as text; NULL means no
 * parameters.  One that is no valid schema refuses the start. */
void ag_graph_tool(ag_graph *graph, const char *node, const char *name, const char *description,
    const char *parameters, ag_tool_fn fn, void *data);

/*
 * Adds a model node: it asks a chat model with the context, streams its answer and adds it, calls
 * of tools included.  settings is what a JSON document says of such a node, as text: "model",
 * "provider", "system_prompt", "tools" and so on (agentgraph.json(5)).  The tools nodes and state
 * fields that it names were added before.
 */
void ag_graph_model(ag_graph *graph, const char *name, const char *settings);

/* A chat model for nodes of your own to ask (ag_chat), from the same settings without those of the
 * node.  It belongs to the graph; NULL when a setting is wrong, which refuses the start. */
typedef struct ag_chat_model ag_chat_model;
ag_chat_model *ag_graph_chat_model(ag_graph *graph, const char *settings);

/* A fixed edge.  Each node, and START, has either one fixed edge or one conditional edge. */
void ag_graph_edge(ag_graph *graph, const char *from, const char *to);

/* A conditional edge; targets lists every place it can lead to and ends with NULL. */
void ag_graph_branch(
    ag_graph *graph, const char *from, ag_route_fn fn, void *data, const char *const targets[]);

/*
 * Branches: from each of targets, which end with NULL, the run goes on side by side, along the
 * edges there, until all have entered join (AG_END included), which then runs once.  Every way out
 * of a branch leads to join, and a node belongs to one branch; branches may fork again.
 *
 * A branch sees the state as it was at the fork, and what it changes itself.  At the join messages
 * and updates enter in the order of targets, through the reducers; two branches that both set a
 * field with AG_REPLACE fail the run.  Nodes of different branches run on different threads.
 */
void ag_graph_branches(
    ag_graph *graph, const char *from, const char *const targets[], const char *join);

/*
 * A map: the same with a branch from the node to for each element of the state field, an array, at
 * most limit at once (0: as many as a run may have).  ag_config has "item", the element, and
 * "index", from 0, in its nodes.  What branches say and set enters in the order of the elements; an
 * empty array leads to join at once.
 */
void ag_graph_map(ag_graph *graph, const char *from, const char *field, const char *to,
    const char *join, unsigned limit);

/*
 * A node that is a graph, which build builds: it has state fields of its own, and its nodes are
 * called "name/node".  options is NULL, or a JSON object as nodes of documents have them: "input",
 * its fields from templates over the values here, "output", fields here from templates over its
 * values at its end, and "messages": "shared", or "own", with which it begins with the last user
 * text alone, and of what it says the last answer is kept.
 */
void ag_graph_subgraph(ag_graph *graph, const char *name, ag_graph_fn *build, const char *options);

/*
 * What is done with a node that fails or takes its time, as a JSON object with the keys that nodes
 * of documents have; those that are not there stay as they were:
 *
 *     ag_graph_policy(graph, "search", "{\"retry\": {\"attempts\": 3}, \"on_error\": \"sorry\"}");
 *
 * "retry", {"attempts": 3, "initial": 0.5, "factor": 2, "max": 60}, runs it again while it has
 * streamed no piece (ag_delta, ag_say); what else it said and set is not shown and not kept.
 * "timeout" gives it so many seconds at most; a function is not ended by that, but has failed.
 * "on_error" names the node, or END, where the run goes when it still fails: ag_config has "error"
 * there, a text.  "cache", {"key": ["user_text", "city"], "ttl": 3600}, lets an execution with
 * equal values of these names in the place of one; of a tools node a call of the same tool with
 * equal arguments in the place of one that did nothing but answer.  Of any node but a live agent,
 * which was added before; of a subgraph all of it holds for the graph as a whole.
 */
void ag_graph_policy(ag_graph *graph, const char *node, const char *policy);

/* How an update of a state field joins the value that is there.  null can replace it, but adds
 * nothing to it. */
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

/* ---- Live agents ---- */

/*
 * A graph whose one agent listens and speaks: it is served on /v1/graph/live, and nowhere else.
 *
 *     static int voice(ag_graph *graph)
 *     {
 *             const struct ag_live live = {.kind = AG_LIVE, .provider = &my_provider};
 *             ag_graph_live(graph, "voice", &live);
 *             ag_graph_edge(graph, AG_START, "voice");
 *             ag_graph_edge(graph, "voice", AG_END);
 *             return 0;
 *     }
 *
 * The audio is PCM16 little-endian mono: 16000 Hz from the client, 24000 Hz to it.
 */

typedef struct ag_live_session ag_live_session; /* one client's session, as a provider sees it */

/* What a connection to the model is opened with: the agent's settings and what the client's first
 * frame said of them.  Borrowed, until open returns. */
struct ag_live_setup {
	const char *model, *voice, *system_prompt; /* NULL: the provider's own */
	bool text;                                 /* answer in text, without audio */
	const cJSON *tools; /* array of {"name", "description", "parameters"}, maybe empty */
	const cJSON *vad;   /* object; of enabled, start_sensitivity, end_sensitivity,
			       prefix_padding_ms, silence_duration_ms those that were given */
	const char *resumption_handle; /* the latest one that was reported, or NULL */
};

#define AG_LIVE_PROVIDER (0x6c700000u + AG_ABI_VERSION)

/*
 * What stands behind a live agent.  All functions of one connection are called by one thread, and
 * none may block: a connection that waits for the network says so by its descriptor.  What happens
 * is reported by the ag_live_ functions below, from within step and the functions that send, never
 * from open, close, takes or descriptor.
 */
struct ag_live_provider {
	unsigned kind; /* AG_LIVE_PROVIDER */

	/* Begins a connection; ag_live_ready or ag_live_lost tells later what came of it.  data is
	 * struct ag_live's.  NULL: it cannot even be begun. */
	void *(*open)(ag_live_session *session, const struct ag_live_setup *setup, void *data);

	/* Ends it, at once, whatever its state. */
	void (*close)(void *connection);

	/* Whether it takes input now.  While it does not, input waits, and the oldest is dropped
	 * when that is too much.  Only asked once it is ready. */
	bool (*takes)(void *connection);

	/* Input: whole samples; a text turn; the bounds of speech where vad.enabled is false; the
	 * result of a tool call, which is borrowed. */
	void (*audio)(void *connection, const void *pcm, size_t bytes);
	void (*text)(void *connection, const char *text);
	void (*activity)(void *connection, bool starts);
	void (*tool_result)(void *connection, const char *call_id, const char *name,
	    const cJSON *result, bool is_error);

	/* There will be no more input: ag_live_ended when everything that was said is answered. */
	void (*finish)(void *connection);

	/* What to wait for with poll(2), -1 for nothing; *events as there. */
	int (*descriptor)(void *connection, short *events);

	/* Does what is due: called when the descriptor is ready, after input, and when the time is
	 * up that the last call asked for.  now counts milliseconds.  Returns the milliseconds
	 * until it wants to be called again at the latest, -1 for no such time. */
	int64_t (*step)(void *connection, int64_t now);
};

#define AG_LIVE (0x6c760000u + AG_ABI_VERSION)

/* A live agent.  What may be NULL or 0 is marked so. */
struct ag_live {
	unsigned kind; /* AG_LIVE */
	const struct ag_live_provider *provider;
	void *data;                                /* for its open */
	const char *model, *voice, *system_prompt; /* or NULL */
	bool text;         /* answers in text unless the client asks for audio */
	const char *tools; /* the tools node with its tools, or NULL */

	/* Only tools with one of these tags, which end with NULL; or NULL. */
	const char *const *tools_tags;

	const char *vad; /* a JSON object as in struct ag_live_setup, or NULL */
};

/* Adds the live agent: the one node that START leads to.  live is copied, its data is not. */
void ag_graph_live(ag_graph *graph, const char *name, const struct ag_live *live);

/* Gives a tool of a tools node tags; they end with NULL. */
void ag_graph_tool_tags(
    ag_graph *graph, const char *node, const char *tool, const char *const tags[]);

/* The connection stands: input may come. */
void ag_live_ready(ag_live_session *session);

/* Audio to the client, sent at once. */
void ag_live_audio(ag_live_session *session, const void *pcm, size_t bytes);

/* What was said, in pieces, and at the end with finished.  The whole text is then that of the
 * pieces joined when text is NULL.  Otherwise it is text: clients, who join pieces, are told what
 * it has beyond those before.  An end without pieces and text is told to nobody.  The end of a turn
 * finishes what is open, but what the user said only until the provider has done that once: from
 * then on it may come at any time. */
void ag_live_input_transcript(ag_live_session *session, const char *text, bool finished);
void ag_live_output_transcript(ag_live_session *session, const char *text, bool finished);

/* The model asks for a tool: the service runs it and gives the result to tool_result.  args, an
 * object, is taken over. */
void ag_live_tool_call(ag_live_session *session, const char *id, const char *name, cJSON *args);

/* The model has ended its turn; or the user spoke into it, and it was cut. */
void ag_live_turn_complete(ag_live_session *session);
void ag_live_interrupted(ag_live_session *session);

/* A handle with which a later connection can go on with this conversation; NULL: no longer. */
void ag_live_session_update(ag_live_session *session, const char *handle);

/* The connection will be ended by the other side, in so many seconds (below 0: unknown); the
 * service opens another one. */
void ag_live_go_away(ag_live_session *session, double seconds);

/* Another agent speaks from here on; author is its name. */
void ag_live_agent_changed(ag_live_session *session, const char *author);

/* An error that the client is told; code may be NULL.  A fatal one ends the session. */
void ag_live_error(ag_live_session *session, const char *code, bool fatal, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* The connection is lost, or could not be made; the service tries again. */
void ag_live_lost(ag_live_session *session, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The conversation is over. */
void ag_live_ended(ag_live_session *session);

/* ---- Reading the state ---- */

/* Where the storage cannot say what is asked for, these say what the run has itself, and the step
 * fails of that, whatever the node or edge makes of it.  Where the storage is away for now, a run
 * in the background is taken up again. */

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

/*
 * Files in messages.  media is a block of type image, audio, video, document or data, or the media
 * object in one, with kind "file_id" or "data"; a file that a message names was checked when the
 * message came in, so that its sender may read it.
 *
 * The text that was extracted from an uploaded document, malloc'd; NULL when there is none.
 */
char *ag_media_text(ag_run *run, const cJSON *media);

/* The bytes, malloc'd with a NUL behind them, and their number; NULL when media has none here (it
 * may be a URL), or more than max. */
void *ag_media_data(ag_run *run, const cJSON *media, size_t max, size_t *len);

/* The value of a number item, also of one kept as text; NAN when item is no number. */
double ag_number(const cJSON *item);

/* ---- What a node may do ---- */

/* The run's configuration as nodes see it: the client's config with the verified "user".
 * Borrowed. */
const cJSON *ag_config(const ag_run *run);

/* The run's thread; of a run that nothing is kept of, an id that no thread has. */
const char *ag_thread_id(const ag_run *run);
const char *ag_run_id(const ag_run *run);

/* Name of the node that runs, and the number of its step in this run, from 1. */
const char *ag_node_name(const ag_run *run);
int ag_step(const ag_run *run);

/* Streams a piece of the answer that is being made.  The pieces of one message are followed by
 * ag_message, whose text is all of them: who follows the pieces is shown nothing else of it. */
ag_result ag_delta(ag_run *run, const char *text);

/* Streams a piece of a reasoning summary, before the text. */
ag_result ag_reasoning_delta(ag_run *run, const char *text);

/*
 * Adds a message to the conversation.  message is taken over; it needs "role" and "content" (text
 * or an array of blocks), as in the REST interface; the time and other fields are filled in, and
 * the id always is.  After deltas it closes the message that they began.  Tool calls are blocks
 * {"type": "tool_call", "id", "name", "args"}, 4096 at most; one whose tool the client runs
 * (ag_remote_tool) is turned into a remote_tool_call by the engine.  A call with the id of another
 * one of the thread gets a new id.
 */
ag_result ag_message(ag_run *run, cJSON *message);

/* Says a text as the assistant: streamed word by word, then added as a message. */
ag_result ag_say(ag_run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Tells the client something of the application's own, at once: a chunk `custom`, or CUSTOM in
 * AG-UI, with {"name", "data"}.  data is taken over; NULL stands for null.  Nothing of it is
 * stored, and a node that runs again tells it again.
 */
ag_result ag_emit(ag_run *run, const char *name, cJSON *data);

/* What a model is asked.  Borrowed. */
struct ag_question {
	const char *system;    /* the system prompt, or NULL */
	const cJSON *messages; /* an array: ag_context's, or of your own, as for ag_message */
	bool show;             /* stream the answer to the client as it comes; JSON is not */
};

/*
 * Asks a chat model.  *answer, taken over by the caller, is then a message for ag_message: its
 * text, reasoning, usage and structured output.  AG_ERROR, with the reason in place for the node to
 * return it, when no model answered in time.
 */
ag_result ag_chat(
    ag_run *run, const ag_chat_model *model, const struct ag_question *question, cJSON **answer);

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
 * once; one that returns AG_OK has failed.  When the run is resumed the node runs again from its
 * start, and the same call returns AG_OK with the answer (null when it was cancelled), borrowed.
 * Several interrupts in one node are answered in the order of their calls.  reason NULL stands for
 * "input_required"; value, taken over, is what the client is shown; a schema in its member
 * response_schema is the interrupt's.
 */
ag_result ag_interrupt(ag_run *run, const char *reason, cJSON *value, const cJSON **answer);

/* The answers given so far to the interrupts of this node, in the order of its calls, as an array,
 * or NULL when there is none.  Borrowed.  For nodes that have their interrupts made elsewhere;
 * others get each answer from ag_interrupt. */
const cJSON *ag_answers(const ag_run *run);

/* Says why the node or tool failed; returns AG_ERROR. */
ag_result ag_fail(ag_run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * The memory store, as the run's user: body is taken over and is that of the route under
 * /v1/store, and *answer, borrowed, is the "data" that the route answers with.  NULL for a body
 * stands for {}.  Where no "config" is given, memories belong to and come from the user alone whose
 * run it is.  AG_ERROR with the reason as ag_fail has it, which a node may return or pass over;
 * also when no store is configured.  A run that fails of it is over, also where the store was away
 * for a moment: its node may be tried again (ag_graph_policy), and then puts what it puts again.
 */
ag_result ag_store_put(ag_run *run, cJSON *body, const cJSON **answer);
ag_result ag_store_search(ag_run *run, cJSON *body, const cJSON **answer);
ag_result ag_store_list(ag_run *run, cJSON *body, const cJSON **answer);
ag_result ag_store_get(ag_run *run, const char *memory_id, cJSON *body, const cJSON **answer);
ag_result ag_store_update(ag_run *run, const char *memory_id, cJSON *body, const cJSON **answer);
ag_result ag_store_delete(ag_run *run, const char *memory_id, cJSON *body, const cJSON **answer);
ag_result ag_store_forget(ag_run *run, cJSON *body, const cJSON **answer);

/* Milliseconds until the node's time is up, 0 when it is; after that the run fails, whatever the
 * node returns. */
int64_t ag_time_left_ms(const ag_run *run);

/* Sleeps; AG_ERROR when the node's time is up first. */
ag_result ag_sleep_ms(ag_run *run, int64_t ms);

/* Whether a stop of this run was requested.  The engine looks between nodes; a long node may look
 * itself and return early. */
bool ag_stop_requested(const ag_run *run);

/*
 * Which attempt of the run this is, from 1 on.  A run in the background is taken up again after its
 * process has died, at the node that it was in, so that a node whose effects cannot be undone may
 * have to look for them from 2 on.  Nodes of documents find it in config.attempt.
 */
unsigned ag_attempt(const ag_run *run);

/* A line in the service's log, with the request's id. */
void ag_log(ag_run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- Who may use the service ---- */

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
	 * does not start; say why on standard error.  NULL stands for nothing to do. */
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
 * Names for new threads: "thread_name_generator": "path/to/file.so:attribute" names an exported
 * `const struct ag_thread_names`.  Its functions are called from many threads at once.
 */

#define AG_THREAD_NAMES (0x746e0000u + AG_ABI_VERSION)

struct ag_thread_names {
	unsigned kind; /* AG_THREAD_NAMES */

	/* As in struct ag_auth. */
	int (*open)(void **data);

	/* The name of a thread whose first request has these user texts, a line each: malloc'd
	 * UTF-8 of up to 255 bytes; NULL for none.  The client waits meanwhile. */
	char *(*name)(const char *texts, void *data);

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

/*
 * A memory store of your own: "store": "path/to/file.so:attribute" names an exported
 * `const struct ag_store`.  Its functions are called from many threads at once.
 *
 * Each is given a request, borrowed, and answers with an item that is taken over.  The service has
 * checked what a client sent; what a caller reaches is in "scope": {"user_id", "thread_id"}, each a
 * text, or null for no such bound, and must be kept to.  "config" and "options" are the client's,
 * as they came.  A memory is an object with "memory_id", "content", "memory_type", "category",
 * "metadata", "user_id", "thread_id" and "timestamp" (ISO 8601); of a search also "score", from 0
 * to 1.  AG_ERROR is a failure of the store: the client gets 503.
 */

typedef ag_result (*ag_store_fn)(const cJSON *request, cJSON **answer, void *data);

#define AG_STORE (0x73740000u + AG_ABI_VERSION)

struct ag_store {
	unsigned kind; /* AG_STORE */

	/* As in struct ag_auth. */
	int (*open)(void **data);

	/* Stores "memory", which has an id already.  The answer is not read. */
	ag_store_fn put;

	/* The memory with "memory_id"; no answer, or null: there is none in the scope. */
	ag_store_fn get;

	/* Replaces the "content" of the memory with "memory_id" and, unless it is null, its
	 * "metadata".  true, or no answer for a memory that is not in the scope. */
	ag_store_fn update;

	/* Deletes the memory with "memory_id", and answers as update does. */
	ag_store_fn remove;

	/* Up to "limit" memories as an array, newest first. */
	ag_store_fn list;

	/* Memories as an array, best first: for "query", with "memory_type", "category", "filters",
	 * "limit", "score_threshold", "retrieval_strategy", "distance_metric" and "max_tokens",
	 * each null where it was not given and has no default. */
	ag_store_fn search;

	/* Deletes all that "memory_type", "category" and "filters" hold, each null for no bound.
	 * The answer is how many they were. */
	ag_store_fn forget;

	/* At the end, or NULL. */
	void (*close)(void *data);
};

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
