/* SPDX-License-Identifier: ISC */
/* Threads, their state and messages (doc/protocol-threads.md).  thread_id and
 * message_id come percent-decoded from the path. */
#ifndef AGENTGRAPH_SERVICE_THREAD_THREADS_H
#define AGENTGRAPH_SERVICE_THREAD_THREADS_H

#include "base/arena.h"
#include "service/service.h"

/* A member of a thread's metadata that only the server can set. */
#define THREAD_RESUMPTION_HANDLE "resumption_handle"

/* Query parameters as they came, percent-decoded; NULL when absent. */
struct list_query {
	const char *search;
	const char *offset;
	const char *limit;
};

/* The query of a list of threads. */
struct thread_query {
	struct list_query page;
	const char *status;
	unsigned statuses; /* statuses that are wanted as well, as bits 1 << enum run_status */
	const struct label *labels; /* members of the metadata */
	size_t label_count;
};

/* Each returns the data of its route.  What is wrong with the query's form may be in call->error
 * already; the lists add what is wrong with its values. */
cJSON *threads_list(struct call *call, const struct thread_query *query);
/* Counts all threads that the query finds, whatever its page. */
bool threads_count(struct call *call, const struct thread_query *query, int64_t *count);
cJSON *thread_read(struct call *call, const char *thread_id);
cJSON *thread_create(struct call *call, const cJSON *body);
/* The same; where history is on, keeps a checkpoint of the new thread. */
cJSON *thread_create_kept(struct call *call, const cJSON *body);
cJSON *thread_update(struct call *call, const char *thread_id, const cJSON *body);
cJSON *thread_remove(struct call *call, const char *thread_id, const cJSON *body);

/* Deletes a thread that is not in use and was not changed since before (microseconds).  False when
 * it was, or with the error set. */
bool thread_retire(struct call *call, const char *thread_id, int64_t before);

cJSON *state_read(struct call *call, const char *thread_id);

/* What an update of a state is applied to. */
struct state_place {
	const char *checkpoint_id; /* NULL: the thread as it is */
	bool at_end;               /* its pause and waiting calls are closed (thread_close_pause) */
	const cJSON *remove;       /* ids of messages that are deleted before; NULL: none */
	bool remove_all;           /* all messages are deleted before */
};

/* place NULL: the thread as it is. */
cJSON *state_update(
    struct call *call, const char *thread_id, const struct state_place *place, const cJSON *body);
cJSON *state_clear(struct call *call, const char *thread_id, const cJSON *body);

cJSON *messages_list(struct call *call, const char *thread_id, const struct list_query *query);
cJSON *messages_add(struct call *call, const char *thread_id, const cJSON *body);
cJSON *message_read(struct call *call, const char *thread_id, const char *message_id);
cJSON *message_remove(
    struct call *call, const char *thread_id, const char *message_id, const cJSON *body);

/* Repairs a thread and returns the data of POST /v1/graph/fix. */
cJSON *thread_fix(struct call *call, const cJSON *body);

/*
 * Finds the messages that a repair removes from messages (a thread's, in output form and in order):
 * assistant messages one of whose calls has no result in a later message, and the tool messages
 * that answered their other calls.  Returns an array of ids, tied to the arena.  Takes time in
 * proportion to the messages, however calls and results depend on each other.
 */
cJSON *orphans_find(struct arena *arena, const cJSON *messages);

#endif
