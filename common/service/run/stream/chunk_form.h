/* SPDX-License-Identifier: ISC */
/* The form of a StreamChunk (doc/protocol-messages.md#chunks), and what its data may be. */
#ifndef AGENTGRAPH_SERVICE_RUN_STREAM_CHUNK_FORM_H
#define AGENTGRAPH_SERVICE_RUN_STREAM_CHUNK_FORM_H

#include "base/buf.h"
#include "service/run/run_input.h"
#include "storage/threads.h"

#include <cjson/cJSON.h>

/* What all chunks of a run have in common, and the latest one as text. */
struct chunk_form {
	struct buf line;
	struct buf tail; /* thread_id, run_id and the common part of metadata */
	size_t metadata; /* offset of the metadata in tail */
	bool kept;       /* chunks get the marks of kept_line.h */
};

/* is_new: the run has made the thread.  The texts are copied. */
void chunk_form_init(
    struct chunk_form *form, const char *thread_id, const char *run_id, bool is_new, bool kept);
void chunk_form_release(struct chunk_form *form);

/* One chunk; a part that is NULL is null.  message, state and data are JSON. */
struct chunk {
	const char *event;
	enum granularity least; /* the least granularity that shows the chunk */
	const char *message;
	const char *state; /* with the mark of a feed as its context (feed.h) */
	const char *data;
	const char *node; /* NULL: the chunk belongs to no node */
	int step;
	const char *branch; /* NULL: not in a branch */
	const char *thread_name;
	/* An earlier chunk told of the same: an earlier piece of the message, for a whole message
	 * its pieces, or for the terminator the run's failure.  Only kept chunks say so. */
	bool told;
	const char *aside; /* the aside that is kept with it (chunk_aside.h), or NULL */
};

/* Prints a chunk, with the present time, into form->line.  view is what the state's context shows,
 * for a kept chunk that has a state. */
void chunk_form_print(
    struct chunk_form *form, const struct chunk *chunk, const struct thread_view *view);

/* The data of a chunk that has a status, a new tree.  node NULL: only the status; max_steps 0: the
 * limit is not known. */
cJSON *chunk_node_data(const char *status, const char *node, int step, int64_t max_steps);

/* The reasons that are given for a pause, and for a run that was stopped. */
const char *chunk_pause_reason(const struct thread *thread);
#define CHUNK_ASKED_REASON "Graph execution paused by interrupt()"
#define CHUNK_STOPPED_REASON "Graph execution stopped by request"

/* The data of the terminator. */
#define CHUNK_DONE "{\"status\":\"done\"}"

#endif
