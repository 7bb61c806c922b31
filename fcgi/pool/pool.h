/* SPDX-License-Identifier: ISC */
/* The threads of a process, and what they share: bodies that are on their way, the intake that
 * waits for them, and the balance between processes. */
#ifndef AGENTGRAPH_FCGI_POOL_POOL_H
#define AGENTGRAPH_FCGI_POOL_POOL_H

#include "base/error.h"
#include "base/os/shared.h"
#include "fcgi/server.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * ---- pending.c: the bodies that are on their way, of all processes together: how many each
 * address has, and how many bytes of them are in temporary files.
 *
 * The table is in shared memory; what a process had ends with it, however it ends.
 */

/* One body's place; all-zero is none. */
struct pending {
	struct shared *shared;
	uint32_t place;
};

enum pending_answer {
	PENDING_TAKEN,
	PENDING_ADDRESS_FULL, /* the address has as many as it may */
	PENDING_FULL          /* there are too many of all addresses */
};

/* Takes a place for a body of that address, which may have `most` of them. */
enum pending_answer pending_take(
    struct pending *pending, struct shared *shared, const char *address, int64_t most);

/* Counts bytes that go to the body's file; false, and nothing counted, when all files together
 * would hold more than `most`. */
bool pending_grow(struct pending *pending, int64_t bytes, int64_t most);

/* Gives the place back, and the bytes with it; without effect on none. */
void pending_drop(struct pending *pending);

/*
 * ---- intake.c: requests whose bodies come slower than they are read.
 *
 * What arrives, records of FastCGI, goes as it is into a temporary file without a name, in memory
 * while it is small; one thread of the process looks after all of them.  So a slow client costs two
 * descriptors, and no thread.  libfcgi reads the file afterwards as it would have read the socket.
 */

/* Where a stream of records is; all-zero at its start. */
struct records {
	unsigned char header[8];
	unsigned have;             /* bytes of the header */
	uint32_t content, padding; /* bytes of the record that are still to come */
	int64_t body;              /* bytes of the body so far */
	bool head;                 /* all of the head is there */
	bool end;                  /* and all of the body */
	bool bad;                  /* it is no request of FastCGI, or was called off */
};

/* Looks at what comes next. */
void records_scan(struct records *records, const char *data, size_t len);

enum arrival_state {
	ARRIVAL_MORE, /* is to come */
	ARRIVAL_OVER, /* the body is there, or will never be (lacking) */
	ARRIVAL_GONE  /* so is the client */
};

struct arrival {
	int socket, file;
	const char *directory; /* of the file, when it is on the disk */
	bool on_disk;
	struct records records;
	int64_t size;       /* of the file */
	int64_t most;       /* bytes of the body that are taken; -1: any number */
	int64_t most_files; /* for pending_grow */
	int64_t deadline;   /* clock_monotonic_ms */
	enum error_kind lacking;
	struct pending pending; /* none while nothing is waited for */
	struct arrival *next, *previous;
};

/* A file for one, in memory at first, so that a small request needs no disk; -1 with errno set. */
int arrival_file(void);

/* Takes what is there, without waiting, and not more than some at once. */
enum arrival_state arrival_take(struct arrival *arrival);

/* Its file goes, and is counted no more. */
void arrival_forget(struct arrival *arrival);

struct intake;

/* over is called by the intake's thread, with `arg`, when an arrival is, or is gone.  NULL with err
 * set. */
struct intake *intake_start(
    void (*over)(void *arg, struct arrival *arrival, bool gone), void *arg, struct error *err);

/* Hands the arrival over, until it comes back. */
void intake_add(struct intake *intake, struct arrival *arrival);

/* Only when nothing is in it. */
void intake_free(struct intake *intake);

/*
 * ---- balance.c: how many requests each process of the pool has in hand, so that none takes more
 * than its part.
 *
 * The processes take connections in turn (workers.c), which alone spreads what comes one by one. In
 * a burst, or when one process gets less of the processors, another could take a connection more
 * while the first is still waking up.  So a process that has more in hand than another one that
 * could take more stands back for a moment.
 */

/* This process's part; all-zero is one that is alone. */
struct balance {
	struct shared *shared;
	struct balance_cell *own;
};

/* Takes a cell among those of the other processes; when all are taken, the process goes without. */
void balance_join(struct balance *balance, struct shared *shared);

/* A connection was accepted (1), or is done (-1); from any thread. */
void balance_count(struct balance *balance, int change);

/* Whether the process has any in hand. */
bool balance_busy(const struct balance *balance);

/* Somebody waits for connections at this time of clock_monotonic_ms; 0: nobody does any more. */
void balance_waits(struct balance *balance, int64_t now);

/* Whether another process that waits for connections has so few in hand
 * that the next one is its. */
bool balance_ahead(const struct balance *balance, int64_t now);

/*
 * ---- workers.c: the threads of one process: each accepts a connection, serves its one request and
 * closes it.  One that is not there whole is the business of slow.h.
 *
 * One at a time waits for the listening socket, which the other processes of the pool share, and
 * for the end; the processes take connections in turn.  Who has just answered takes one that is
 * there already out of turn, while the process has other requests in hand.
 */

struct workers;

/* Starts the first of so many threads on the listening, non-blocking socket.  Signals should be
 * blocked by then: the threads inherit that.  When more than their part wait for clients that do
 * not read, the answer to the one who has read nothing for the longest is broken off.  NULL with
 * err set on failure. */
struct workers *workers_start(
    const struct server *server, int listener, unsigned threads, struct error *err);

/* To be called now and then: one thread more where none is at the listening socket, because it
 * could not be started when the last one left, or the places were those of threads about to end. */
void workers_tend(struct workers *workers);

/*
 * How many of the threads may wait for one kind of others: until a run of another request has
 * ended, or until a client reads on.  A quarter, at least four, at most half; the rest answers what
 * waits for nothing.
 */
unsigned workers_part(unsigned threads);

/* From now on nothing more is accepted; requests in hand go on. */
void workers_stop(struct workers *workers);

/* A descriptor that becomes readable when the last thread has finished. */
int workers_done(const struct workers *workers);

/* How many threads are left. */
unsigned workers_running(const struct workers *workers);

/* Only after workers_done. */
void workers_free(struct workers *workers);

#endif
