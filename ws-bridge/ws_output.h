/* SPDX-License-Identifier: ISC */
/*
 * The way out: records, one a line, to a descriptor that may be slow.
 *
 * Any thread may send.  Bytes that the descriptor does not take at once wait here until the thread
 * that polls flushes them.  So sending never blocks, except for a run that is too far ahead of its
 * reader.  When chunks follow each other closely the first goes out at once, and the others go
 * together a millisecond later at most, because every line that goes out alone wakes four
 * processes.
 */
#ifndef AGENTGRAPH_WS_BRIDGE_WS_OUTPUT_H
#define AGENTGRAPH_WS_BRIDGE_WS_OUTPUT_H

#include "base/buf.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTPUT_LINE 32768      /* no record is joined to a line that has so many bytes */
#define OUTPUT_AHEAD (1 << 20) /* while more bytes than this wait, chunks have to wait */

struct output {
	int fd;     /* not blocking */
	bool joins; /* records that wait together share a line */
	/* The polling thread watches these, and calls output_woken: */
	int wake;  /* an eventfd: something has changed */
	int timer; /* a timerfd: time to flush */
	pthread_mutex_t lock;
	pthread_cond_t room;
	/* guarded by lock */
	struct buf waiting;
	size_t sent;     /* bytes of waiting */
	bool muted;      /* chunks are thrown away */
	bool broken;     /* nobody reads any more: everything is thrown away */
	size_t line;     /* bytes of the last line */
	bool armed;      /* the timer runs */
	int64_t flushed; /* when it was last flushed, in milliseconds */
};

/* Makes a pipe or socket at fd non-blocking; a terminal, which others share, is left as it is. */
void output_init(struct output *out, int fd);
void output_release(struct output *out);

/* Sends a record, to which the newline is added. */
void output_send(struct output *out, struct buf *record);

/* The same for a record that only the client needs: it is thrown away once the output is muted, and
 * waits until there is room. */
void output_chunk(struct output *out, struct buf *record);

/* Throws away all lines whose sending was not begun, and every chunk to come: the client is
 * gone. */
void output_mute(struct output *out);

/* Throws everything away from now on: nobody reads any more, even if the descriptor does not say
 * so. */
void output_break(struct output *out);

/* Wakes the polling thread, so that it looks at what has changed. */
void output_wake(struct output *out);

/* Writes what can be written; for the rest the polling thread is woken. */
void output_flush(struct output *out);

/* After wake or timer were found readable. */
void output_woken(struct output *out);

/* How many bytes wait, and whether there are any. */
size_t output_waiting(struct output *out);
bool output_is_waiting(struct output *out);
bool output_is_broken(struct output *out);
bool output_is_muted(struct output *out);

#endif
