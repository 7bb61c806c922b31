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

/* ---- live_queue.c: what a client sent and the model has not taken yet; when that is too much, the
 * oldest goes */

enum live_input_kind { LIVE_INPUT_AUDIO, LIVE_INPUT_TEXT, LIVE_INPUT_START, LIVE_INPUT_END };

struct live_input {
	struct live_input *next;
	enum live_input_kind kind;
	size_t len;
	char data[]; /* audio, or text ended by NUL */
};

struct live_queue {
	size_t most; /* frames */
	struct live_input *first, **last;
	size_t count, bytes;
	uint64_t dropped;
};

/* An empty queue of at most so many frames; clear frees those that are in it. */
void live_queue_init(struct live_queue *q, size_t most);
void live_queue_clear(struct live_queue *q);

/* Copies the frame to the end. */
void live_queue_push(struct live_queue *q, enum live_input_kind kind, const void *data, size_t len);

/* The first frame, which the caller frees, or NULL. */
struct live_input *live_queue_take(struct live_queue *q);

/* ---- live_keeper.c: the thread record and the messages.  All of it is read and written by a
 * thread of its own, in the order of the calls, so that audio never waits for a disk. */

struct live_keeper;

/* wake, an eventfd, is written when something was done.  All are borrowed. */
struct live_keeper *live_keeper_new(
    struct service *service, const struct identity *identity, const char *request_id, int wake);

/* Waits until everything is stored, and gives the thread back; then there is only live_keeper_free,
 * and until that what was had from it lives on. */
void live_keeper_end(struct live_keeper *k);
void live_keeper_free(struct live_keeper *k);

/* Opens the storage where needed, takes the thread and creates it where it is new;
 * NULL: a new one. */
void live_keeper_open(struct live_keeper *k, const char *thread_id);

enum live_keeper_state { KEEPER_OPENING, KEEPER_OPEN, KEEPER_REFUSED };
/* How far live_keeper_open has come. */
enum live_keeper_state live_keeper_state(struct live_keeper *k);

/* Once refused: why.  Once open: the thread as it was found, and the resumption handle it has, or
 * NULL.  They live as long as the keeper. */
const struct error *live_keeper_error(const struct live_keeper *k);
const struct thread *live_keeper_thread(const struct live_keeper *k);
const char *live_keeper_handle(const struct live_keeper *k);

/* Adds a message in output form, which is taken over; stores a handle, or forgets it when it is
 * NULL. */
void live_keeper_add(struct live_keeper *k, cJSON *message);
void live_keeper_set_handle(struct live_keeper *k, const char *handle);

/* The client is gone: another session may have the thread from now on.  What still comes is stored
 * when nobody else has it at that moment. */
void live_keeper_let_go(struct live_keeper *k);

/* Why something is not stored, the first time that this is so; malloc'd, or NULL. */
char *live_keeper_unstored(struct live_keeper *k);

/* Whether everything is done. */
bool live_keeper_rests(struct live_keeper *k);

/* ---- live_tools.c: tool calls, each on a thread of its own, so that none holds up the audio */

struct live_tools;

/* What the tools of one session see.  All of it outlives the calls. */
struct live_tools_setup {
	struct service *service;
	const struct node *node; /* with the tools */
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

/* Nothing runs yet; setup is copied, and what it points to lives as long. */
struct live_tools *live_tools_new(const struct live_tools_setup *setup);

/* Asks the calls that go on to stop, and waits for them for up to wait_ms.  False when one goes on
 * all the same: it then still uses the setup, and the memory of this is never given back. */
bool live_tools_free(struct live_tools *tools, int64_t wait_ms);

/* Calls a tool; args is taken over.  What comes of it is among those that are taken later. */
void live_tools_start(
    struct live_tools *tools, const char *id, const char *name, cJSON *args, unsigned epoch);

/* The same for one that is not to be made. */
void live_tools_refuse(struct live_tools *tools, const char *id, const char *name, unsigned epoch);

/* A call that has ended, which the caller frees, or NULL. */
struct tool_done *live_tools_take(struct live_tools *tools);
void tool_done_free(struct tool_done *done);

/* Asks the calls that go on to stop. */
void live_tools_stop(struct live_tools *tools);

/* Calls whose end was not taken yet. */
size_t live_tools_open(struct live_tools *tools);

/*
 * ---- live_config.c: the first frame of a live socket: what the client asks of the agent
 * (doc/protocol-live.md#the-first-frame).
 */

struct live_config {
	const char *thread_id;                     /* NULL: a new one */
	const char *model, *voice, *system_prompt; /* the client's, or the agent's, or NULL */
	bool text;
	const cJSON *vad;   /* the agent's with the client's over it */
	const cJSON *tools; /* for the provider: those that it may call */
};

enum live_init {
	LIVE_INIT_OK,
	LIVE_INIT_NO_OBJECT, /* close 1003 */
	LIVE_INIT_INVALID    /* invalid_config; call->error says why */
};

/* Reads the frame over the settings of the service's live agent.  What config points to lives as
 * long as call. */
enum live_init live_config_read(
    struct call *call, const char *text, size_t len, struct live_config *config);

/* The tool that the model may call by that name, or NULL. */
const struct tool *live_config_tool(
    const struct live_config *config, const struct live_agent *agent, const char *name);

#endif
