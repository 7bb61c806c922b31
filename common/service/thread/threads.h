/* SPDX-License-Identifier: ISC */
/* Threads, their state and messages (doc/protocol-threads.md).  thread_id and
 * message_id come percent-decoded from the path. */
#ifndef AGENTGRAPH_SERVICE_THREAD_THREADS_H
#define AGENTGRAPH_SERVICE_THREAD_THREADS_H

#include "base/arena.h"
#include "service/service.h"

/* What the server keeps in the metadata of a thread, and nobody else can set. */
#define THREAD_RESUMPTION_HANDLE "resumption_handle"

/* Query parameters as they came, percent-decoded; NULL when absent. */
struct list_query {
	const char *search;
	const char *offset;
	const char *limit;
};

/* The same of threads, of which more can be asked. */
struct thread_query {
	struct list_query page;
	const char *status;
	unsigned statuses;          /* the same as bits, 1 << enum run_status, beside it; 0: any */
	const struct label *labels; /* members of the metadata */
	size_t label_count;
};

/* Each returns the data of its route.  What is wrong with the query's form may be in call->error
 * already; the lists add what is wrong with its values. */
cJSON *threads_list(struct call *call, const struct thread_query *query);
/* How many there are, whatever page is asked for. */
bool threads_count(struct call *call, const struct thread_query *query, int64_t *count);
cJSON *thread_read(struct call *call, const char *thread_id);
cJSON *thread_create(struct call *call, const cJSON *body);
/* The same with a checkpoint of the thread as it begins, where history is on. */
cJSON *thread_create_kept(struct call *call, const cJSON *body);
cJSON *thread_update(struct call *call, const char *thread_id, const cJSON *body);
cJSON *thread_remove(struct call *call, const char *thread_id, const cJSON *body);

/* Deletes a thread that nobody is on and that was changed last before that (microseconds); false
 * when it was not, or with the error set. */
bool thread_retire(struct call *call, const char *thread_id, int64_t before);

cJSON *state_read(struct call *call, const char *thread_id);

/* Where a thread goes on with what is written. */
struct state_place {
	const char *checkpoint_id; /* NULL: as it is */
	bool at_end;               /* nothing is asked there any more (thread_close_pause) */
};

/* place NULL: as it is. */
cJSON *state_update(
    struct call *call, const char *thread_id, const struct state_place *place, const cJSON *body);
cJSON *state_clear(struct call *call, const char *thread_id, const cJSON *body);

cJSON *messages_list(struct call *call, const char *thread_id, const struct list_query *query);
cJSON *messages_add(struct call *call, const char *thread_id, const cJSON *body);
cJSON *message_read(struct call *call, const char *thread_id, const char *message_id);
cJSON *message_remove(
    struct call *call, const char *thread_id, const char *message_id, const cJSON *body);

/* data of POST /v1/graph/fix. */
cJSON *thread_fix(struct call *call, const cJSON *body);

/*
 * Ids of the messages that a repair removes from messages (a thread's, in output form and order):
 * assistant messages one of whose calls has no result in a later message, and the tool messages
 * that answered their other calls.  An array of strings, tied to the arena.  Takes time in
 * proportion to the messages, however calls and results depend on each other.
 */
cJSON *orphans_find(struct arena *arena, const cJSON *messages);

#endif
