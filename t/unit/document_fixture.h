/* SPDX-License-Identifier: ISC */
/* What the tests of graph documents share: documents as text,
 * and conversations with their graphs. */
#ifndef AGENTGRAPH_UNIT_DOCUMENT_FIXTURE_H
#define AGENTGRAPH_UNIT_DOCUMENT_FIXTURE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "graph/graph.h"
#include "graph/run.h"
#include "storage/runs.h"
#include "storage/threads.h"

#include <stdbool.h>

/* Writes a file in the test's directory; a text that starts with #! is executable. */
void write_file(const char *name, const char *text);

/* The problems of the member "g" of a document, compiled when it has none: one a line, without the
 * file's name.  Static. */
const char *problems_of(const char *document);

/* A thread on which one talks with a graph; the document must be without mistakes. */
struct talk {
	ag_graph *graph;
	struct shared *shared;
	struct storage *storage;
	struct arena *arena;
	struct thread thread;
	struct error error;     /* of the latest run */
	struct run_usage usage; /* the same, but for its messages */
	struct buf heard;       /* messages of the latest run */
	struct buf pieces;      /* and its streamed pieces, each ended by '|' */
	double node_timeout;    /* seconds */
	const char *config;     /* as JSON, or NULL */
	struct run_store store; /* of memories; all-zero: there is none */
	bool stop_at_piece;     /* a stop is requested when the first piece comes */
};

void talk_open(struct talk *talk, const char *document);

/* The same with any graph, which is compiled and taken over. */
void talk_begin(struct talk *talk, ag_graph *graph);
void talk_close(struct talk *talk);

/* Goes on with a new, empty thread. */
void talk_renew(struct talk *talk);

/* Runs with a user message, or with an answer as JSON.  What was said: "role: text|" for each
 * message, "pause: value|" when it paused, "error: text|" when it failed. */
const char *talk_say(struct talk *talk, const char *text);
const char *talk_answer(struct talk *talk, const char *json);

/* The texts of the context, and of all messages of the thread, each ended by '|'; static. */
const char *talk_context(struct talk *talk);
const char *talk_list(struct talk *talk);

/* Adds a message, as JSON in output form, to the thread. */
void talk_add(struct talk *talk, const char *json);

/* The state field as JSON; static. */
const char *talk_field(const struct talk *talk, const char *name);

/* All at once: opens, says one text, closes; static. */
const char *said_by(const char *document, const char *text);

#endif
