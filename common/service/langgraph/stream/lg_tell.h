/* SPDX-License-Identifier: ISC */
/*
 * The events of LangGraph's stream modes (doc/protocol-langgraph.md#streams), made from a run that
 * goes on (lg_writer.c) or from its kept chunks (lg_words.h).
 *
 * A run is told in steps, numbered from 1 on.  Each event of a step has one of LG_EVENTS_MOST ids
 * of that step, whichever modes are asked for.  So a reader can name an id and go on behind it,
 * even in other modes.
 */
#ifndef AGENTGRAPH_SERVICE_LANGGRAPH_STREAM_LG_TELL_H
#define AGENTGRAPH_SERVICE_LANGGRAPH_STREAM_LG_TELL_H

#include "base/buf.h"
#include "service/run/stream/gate.h"
#include "service/run/stream/told_fields.h"
#include "service/run/turn.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#define LG_EVENTS_MOST 8

enum lg_step_kind {
	LG_NODE_STARTS,
	LG_PIECE,   /* a piece of a message */
	LG_MESSAGE, /* a whole message */
	LG_CUSTOM_EVENT,
	LG_NODE_ENDS,
	LG_SUBGRAPH_ENDS, /* of a node that is a graph; its start is no step */
	LG_PAUSE,
	LG_FAILURE,
	LG_END
};

struct lg_step {
	enum lg_step_kind kind;
	int64_t number;     /* 0: the step has no number, and its events no ids */
	const char *node;   /* NULL: the step belongs to no node */
	const char *branch; /* NULL: the step is in no branch */
	int step;
	const cJSON *message; /* LG_PIECE, LG_MESSAGE */
	bool told;            /* pieces of that message came before */
	const cJSON *data;    /* LG_CUSTOM_EVENT: {"name", "data"} */
	const cJSON *update;  /* LG_NODE_ENDS, LG_SUBGRAPH_ENDS: what was said and set, or null */
	const cJSON *asked;   /* LG_PAUSE: what is asked, an array */
	const char *code, *reason; /* LG_FAILURE */

	/* The values after the step: what stands between the brackets of messages, which may be a
	 * mark (feed.h, kept_line.h), or NULL: values are not told; and the graph's fields. */
	const char *messages;
	const cJSON *fields;
};

struct lg_teller {
	unsigned modes;                 /* enum lg_mode */
	const char *thread_id, *run_id; /* thread_id NULL: the run has no thread */
	int64_t skip;                   /* events up to this id are left out */
	struct buf *out;
};

/* Appends the events of a step, if any.  An empty line follows each; that of the last one is the
 * newline that the sink adds. */
void lg_tell(const struct lg_teller *teller, const struct lg_step *step);

/* Appends the event with which a stream begins, for a first step that tells nothing else. */
void lg_tell_beginning(const struct lg_teller *teller);

/* The update of a node, a new tree: what it said (an array, taken over, or NULL), and those of the
 * graph's fields that it set (an array of names); null where it did neither. */
cJSON *lg_update(cJSON *said, const cJSON *fields, const cJSON *set);

/* ---- lg_writer.c: telling a run while it goes on */

struct lg_writer {
	struct run_observer observer; /* first: what the engine sees */
	struct turn *turn;
	struct gate gate;
	unsigned modes;  /* enum lg_mode */
	int64_t steps;   /* how many were told */
	struct buf text; /* the present step */
	cJSON *streamed; /* ids of messages that were told in pieces and are not yet whole */
	cJSON *said;     /* what the open nodes have said, by branch */
	struct told_fields fields;
	bool inside; /* the latest node was in a branch or a subgraph, and the whole was not told
			since */
};

/* lg_writer_release frees its memory. */
void lg_writer_init(
    struct lg_writer *writer, struct turn *turn, unsigned modes, struct chunk_sink *sink);
void lg_writer_release(struct lg_writer *writer);

/* Tells the end of a run: what is asked, if anything, and `end`; and before that the beginning, if
 * nothing was told yet. */
void lg_writer_finish(struct lg_writer *writer);

/* Tells the end of a run that failed, with the error in the turn's call. */
void lg_writer_fail(struct lg_writer *writer);

#endif
