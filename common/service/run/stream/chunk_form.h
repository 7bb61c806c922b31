/* SPDX-License-Identifier: ISC */
/* The shape of a StreamChunk (doc/protocol-messages.md#chunks) and what stands in its data. */
#ifndef AGENTGRAPH_SERVICE_RUN_STREAM_CHUNK_FORM_H
#define AGENTGRAPH_SERVICE_RUN_STREAM_CHUNK_FORM_H

#include "base/buf.h"
#include "service/run/run_input.h"
#include "storage/threads.h"

#include <cjson/cJSON.h>

/* What all chunks of a run have in common, and the one that was printed last. */
struct chunk_form {
	struct buf line;
	struct buf tail; /* thread_id, run_id and the common part of metadata */
	size_t metadata; /* where that begins in tail */
	bool kept;       /* with the marks of kept_line.h */
};

void chunk_form_init(
    struct chunk_form *form, const char *thread_id, const char *run_id, bool is_new, bool kept);
void chunk_form_release(struct chunk_form *form);

/* The parts of one chunk that are not null; texts are JSON. */
struct chunk {
	const char *event;
	enum granularity least; /* that shows it */
	const char *message;
	const char *state; /* whose context is a feed's (feed.h) */
	const char *data;
	const char *node; /* NULL: the chunk belongs to no node */
	int step;
	const char *branch; /* NULL: in none */
	const char *thread_name;
	/* An earlier one told of the same: a piece of the message, its pieces, or, of the
	 * terminator, that the run failed.  Only those that are kept say so. */
	bool told;
	const char *aside; /* kept with it, for readers who are told it in other words; or NULL */
};

/* Prints a chunk, of now, into form->line; span is that of its state's context, where it has one
 * and is kept. */
void chunk_form_print(
    struct chunk_form *form, const struct chunk *chunk, const struct thread_view *view);

/* The data of a chunk that has a status, a new tree; node NULL: the status alone, max_steps 0: that
 * is not known. */
cJSON *chunk_node_data(const char *status, const char *node, int step, int64_t max_steps);

/* What is said of a thread that is paused, and of a run that was stopped. */
const char *chunk_pause_reason(const struct thread *thread);
#define CHUNK_ASKED_REASON "Graph execution paused by interrupt()"
#define CHUNK_STOPPED_REASON "Graph execution stopped by request"

/* The data of the terminator. */
#define CHUNK_DONE "{\"status\":\"done\"}"

#endif
