/* SPDX-License-Identifier: ISC */
/*
 * The way out: records, one a line, to a descriptor that may be slow.
 *
 * Any thread may send.  What the descriptor does not take at once waits here until the thread that
 * polls comes and flushes; so nobody who sends ever blocks, but a run that is too far ahead of its
 * reader.  Of chunks that follow each other closely the first goes out at once and the others
 * together, a millisecond later at most: every line that goes out alone wakes four processes.
 */
#ifndef AGENTGRAPH_WS_BRIDGE_WS_OUTPUT_H
#define AGENTGRAPH_WS_BRIDGE_WS_OUTPUT_H

#include "base/buf.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTPUT_LINE 32768      /* bytes of a line to which no record is joined any more */
#define OUTPUT_AHEAD (1 << 20) /* bytes that wait before a chunk has to */

struct output {
	int fd;     /* not blocking */
	bool joins; /* records that wait together share a line */
	/* What the polling thread watches, and reads when it is readable: */
	int wake;  /* an eventfd: something has changed */
	int timer; /* a timerfd: time to flush */
	pthread_mutex_t lock;
	pthread_cond_t room;
	/* guarded by lock */
	struct buf waiting;
	size_t sent;     /* of waiting */
	bool muted;      /* chunks are thrown away */
	bool broken;     /* nobody reads any more: everything is */
	size_t line;     /* bytes of the last line */
	bool armed;      /* the timer runs */
	int64_t flushed; /* when, in milliseconds */
};

/* Makes a pipe or socket at fd non-blocking; a terminal, which others share, is left as it is. */
void output_init(struct output *out, int fd);
void output_release(struct output *out);

/* Sends a record, to which the newline is added. */
void output_send(struct output *out, struct buf *record);

/* The same for what only the client reads: thrown away once muted, and made to wait for room. */
void output_chunk(struct output *out, struct buf *record);

/* The client is gone: throws away all lines that were not begun, and every chunk to come. */
void output_mute(struct output *out);

/* Nobody reads any more, though the descriptor may not say so:
 * throws everything away from now on. */
void output_break(struct output *out);

/* Has the polling thread look at what has changed. */
void output_wake(struct output *out);

/* Writes what can be written; for the rest the polling thread is woken. */
void output_flush(struct output *out);

/* After wake or timer were found readable. */
void output_woken(struct output *out);

/* Bytes that wait, and whether there are any. */
size_t output_waiting(struct output *out);
bool output_is_waiting(struct output *out);
bool output_is_broken(struct output *out);
bool output_is_muted(struct output *out);

#endif
