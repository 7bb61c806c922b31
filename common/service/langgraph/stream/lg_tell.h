/* SPDX-License-Identifier: ISC */
/*
 * The events of LangGraph's stream modes (doc/protocol-langgraph.md#streams), whoever they come
 * from: a run that goes on (lg_writer.c) or its kept chunks (lg_words.h).
 *
 * A run is told in steps.  Each has a number, from 1 on, and each of its events has one of
 * LG_EVENTS_MOST ids of its own, whichever modes are asked for.  So a reader that names an id can
 * go on behind it, and in other modes.
 */
#ifndef AGENTGRAPH_SERVICE_LANGGRAPH_STREAM_LG_TELL_H
#define AGENTGRAPH_SERVICE_LANGGRAPH_STREAM_LG_TELL_H

#include "base/buf.h"
#include "service/run/stream/gate.h"
#include "service/run/turn.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#define LG_EVENTS_MOST 8

enum lg_step_kind {
	LG_NODE_STARTS,
	LG_PIECE,   /* of a message */
	LG_MESSAGE, /* a whole one */
	LG_CUSTOM_EVENT,
	LG_NODE_ENDS,
	LG_PAUSE,
	LG_FAILURE,
	LG_END
};

struct lg_step {
	enum lg_step_kind kind;
	int64_t number;     /* 0: it has none, and its events no ids */
	const char *node;   /* NULL: it belongs to none */
	const char *branch; /* NULL: it is in none */
	int step;
	const cJSON *message;      /* LG_PIECE, LG_MESSAGE */
	bool told;                 /* pieces of that message came before */
	const cJSON *data;         /* LG_CUSTOM_EVENT: {"name", "data"} */
	const cJSON *update;       /* LG_NODE_ENDS: what the node said and set, or null */
	const cJSON *asked;        /* LG_PAUSE: what is asked, an array */
	const char *code, *reason; /* LG_FAILURE */

	/* The values that it leaves: what stands between the brackets of messages, which may be a
	 * mark (feed.h, kept_line.h), NULL: they are not told; and the fields of the graph. */
	const char *messages;
	const cJSON *fields;
};

struct lg_teller {
	unsigned modes;                 /* enum lg_mode */
	const char *thread_id, *run_id; /* thread_id NULL: the run is about no thread */
	int64_t skip;                   /* events up to this id are left out */
	struct buf *out;
};

/* Appends the events of a step, each with an empty line behind it but for the last, whose empty
 * line is the newline that its sink adds.  Nothing where nothing is told. */
void lg_tell(const struct lg_teller *teller, const struct lg_step *step);

/* Appends only the event with which a stream begins, whose first step tells nothing else. */
void lg_tell_beginning(const struct lg_teller *teller);

/* Whether any mode of those tells of such a step. */
bool lg_tells(unsigned modes, enum lg_step_kind kind);

/* What a node said (an array, taken over, or NULL), and those of the graph's fields that it set, as
 * its update shows it: null where it did neither.  A new tree. */
cJSON *lg_update(
    cJSON *said, const cJSON *fields, bool (*is_set)(void *arg, const cJSON *field), void *arg);

/* ---- lg_writer.c: a run told while it goes on */

struct lg_writer {
	struct run_observer observer; /* first: what the engine sees */
	struct turn *turn;
	struct gate gate;
	unsigned modes;  /* enum lg_mode */
	int64_t steps;   /* that were told */
	struct buf text; /* of the one at hand */
	cJSON *streamed; /* ids of messages that were told in pieces and are not yet whole */
	cJSON *said;     /* of open nodes, by branch: what they said */
	cJSON *fields;   /* of the graph, as they were told last; NULL: not yet */
	bool in_branch;  /* the latest node was in one, and nothing has told the whole since */
};

/* lg_writer_release gives its memory back. */
void lg_writer_init(
    struct lg_writer *writer, struct turn *turn, unsigned modes, struct chunk_sink *sink);
void lg_writer_release(struct lg_writer *writer);

/* The end: what is asked, where something is, and `end`.
 * Before any event the first comes first. */
void lg_writer_finish(struct lg_writer *writer);

/* The end of a run that failed: the error in the turn's call. */
void lg_writer_fail(struct lg_writer *writer);

#endif
