/* SPDX-License-Identifier: ISC */
/* What a live session is made of: a queue of input, a keeper of the thread, and calls of tools. */
#ifndef AGENTGRAPH_SERVICE_LIVE_LIVE_PARTS_H
#define AGENTGRAPH_SERVICE_LIVE_LIVE_PARTS_H

#include "graph/live/live.h"
#include "service/service.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- live_queue.c: frames that a client sent and the model has not taken yet; when there are too
 * many, the oldest is dropped */

enum live_input_kind { LIVE_INPUT_AUDIO, LIVE_INPUT_TEXT, LIVE_INPUT_START, LIVE_INPUT_END };

struct live_input {
	struct live_input *next;
	enum live_input_kind kind;
	size_t len;
	char data[]; /* audio, or text ended by NUL */
};

struct live_queue {
	size_t most; /* as many frames as it may hold */
	struct live_input *first, **last;
	size_t count, bytes;
	uint64_t dropped;
};

/* Makes an empty queue for at most this many frames; clear frees those in it. */
void live_queue_init(struct live_queue *q, size_t most);
void live_queue_clear(struct live_queue *q);

/* Copies the frame to the end, behind the byte *first, if it is not NULL. */
void live_queue_push(struct live_queue *q, enum live_input_kind kind, const char *first,
    const void *data, size_t len);

/* The first frame, which the caller frees, or NULL. */
struct live_input *live_queue_take(struct live_queue *q);

/* ---- live_keeper.c: the thread and its messages.  A thread of its own reads and writes all of it,
 * in the order of the calls, so that audio never waits for a disk. */

struct live_keeper;

/* wake, an eventfd, is written to whenever something was done.  All arguments are borrowed. */
struct live_keeper *live_keeper_new(
    struct service *service, const struct identity *identity, const char *request_id, int wake);

/* Waits until everything is stored, and gives the thread back.  Afterwards only live_keeper_free
 * may be called; what the keeper has returned lives until then. */
void live_keeper_end(struct live_keeper *k);
void live_keeper_free(struct live_keeper *k);

/* Opens the storage if need be, and takes the thread, or creates it; NULL: a new one. */
void live_keeper_open(struct live_keeper *k, const char *thread_id);

enum live_keeper_state { KEEPER_OPENING, KEEPER_OPEN, KEEPER_REFUSED };
/* How far live_keeper_open has come. */
enum live_keeper_state live_keeper_state(struct live_keeper *k);

/* Once refused: the reason.  Once open: the thread as it was found, and its resumption handle, or
 * NULL.  They live as long as the keeper. */
const struct error *live_keeper_error(const struct live_keeper *k);
const struct thread *live_keeper_thread(const struct live_keeper *k);
const char *live_keeper_handle(const struct live_keeper *k);

/* Add a message in output form, which is taken over; and store a handle, or forget it when it is
 * NULL. */
void live_keeper_add(struct live_keeper *k, cJSON *message);
void live_keeper_set_handle(struct live_keeper *k, const char *handle);

/* Lets another session have the thread, because the client is gone.  What still comes is stored if
 * nobody else has the thread at that moment. */
void live_keeper_let_go(struct live_keeper *k);

/* Why something could not be stored, malloc'd, once; else NULL. */
char *live_keeper_unstored(struct live_keeper *k);

/* Whether so much waits to be stored that what is typed waits, too; what a model says does not. */
bool live_keeper_is_behind(struct live_keeper *k);

/* Whether there is nothing left to do. */
bool live_keeper_rests(struct live_keeper *k);

/* ---- live_tools.c: tool calls, each on a thread of its own, so that none holds up the audio */

struct live_tools;

/* What the tools of one session see.  All of it must outlive the calls. */
struct live_tools_setup {
	struct service *service;
	const struct node *node; /* the node that has the tools */
	const struct thread *thread;
	const cJSON *config;
	const char *request_id;
	int wake; /* an eventfd, written when a call has ended */
};

struct tool_done {
	struct tool_done *next;
	char *id, *name;
	unsigned epoch; /* as given to live_tools_start */
	cJSON *output;
	bool is_error;
};

/* Nothing runs yet.  setup is copied; what it points to must live as long as this. */
struct live_tools *live_tools_new(const struct live_tools_setup *setup);

/* Asks calls that go on to stop, and waits for them for up to wait_ms.  False when one goes on all
 * the same: it still uses the setup, and the memory of tools is never freed. */
bool live_tools_free(struct live_tools *tools, int64_t wait_ms);

/* Calls a tool; args is taken over.  live_tools_take will return the result. */
void live_tools_start(
    struct live_tools *tools, const char *id, const char *name, cJSON *args, unsigned epoch);

/* The same for a call that is refused. */
void live_tools_refuse(struct live_tools *tools, const char *id, const char *name, unsigned epoch);

/* Returns a call that has ended, which the caller frees, or NULL. */
struct tool_done *live_tools_take(struct live_tools *tools);
void tool_done_free(struct tool_done *done);

/* Asks the calls that go on to stop. */
void live_tools_stop(struct live_tools *tools);

/* How many calls were started and not taken yet. */
size_t live_tools_open(struct live_tools *tools);

/*
 * ---- live_config.c: the first frame of a live socket, which says what the client asks of the
 * agent (doc/protocol-live.md#the-first-frame).
 */

struct live_config {
	const char *thread_id;                     /* NULL: a new one */
	const char *model, *voice, *system_prompt; /* the client's, or the agent's, or NULL */
	bool text;
	const cJSON *vad;   /* the agent's settings, with the client's merged over them */
	const cJSON *tools; /* the tools that the provider may call */
};

enum live_init {
	LIVE_INIT_OK,
	LIVE_INIT_NO_OBJECT, /* close 1003 */
	LIVE_INIT_INVALID    /* invalid_config; call->error says why */
};

/* Reads the frame, merging it over the settings of the service's live agent.  What config points to
 * lives as long as call. */
enum live_init live_config_read(
    struct call *call, const char *text, size_t len, struct live_config *config);

/* The tool with this name that the model may call, or NULL. */
const struct tool *live_config_tool(
    const struct live_config *config, const struct live_agent *agent, const char *name);

#endif
