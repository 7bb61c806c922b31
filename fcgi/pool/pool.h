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
 * ---- pending.c: how many bodies of each address are on their way, over all processes, and how
 * many bytes of them are in temporary files.
 *
 * The table is in shared memory; the places of a process are freed when it ends, however it ends.
 */

/* The place of one body in that table; all-zero is none. */
struct pending {
	struct shared *shared;
	uint32_t place;
};

enum pending_answer {
	PENDING_TAKEN,
	PENDING_ADDRESS_FULL, /* the address has as many as it may */
	PENDING_FULL          /* there are too many of all addresses */
};

/* Takes a place for a body of that address, which may have `most` places. */
enum pending_answer pending_take(
    struct pending *pending, struct shared *shared, const char *address, int64_t most);

/* Counts bytes that go to the body's file.  False, and nothing is counted, if all files together
 * would then hold more than `most`. */
bool pending_grow(struct pending *pending, int64_t bytes, int64_t most);

/* Gives the place and its bytes back; does nothing without a place. */
void pending_drop(struct pending *pending);

/*
 * ---- intake.c: requests whose bodies come slower than they are read.
 *
 * The FastCGI records that arrive go as they are into a temporary file without a name, which stays
 * in memory while it is small.  One thread of the process looks after all of these, so a slow
 * client costs two descriptors and no thread.  Afterwards libfcgi reads the file as it would have
 * read the socket.
 */

/* How far a stream of records has been read; all-zero at its start. */
struct records {
	unsigned char header[8];
	unsigned have;             /* bytes of the header */
	uint32_t content, padding; /* bytes of the record that are still to come */
	int64_t body;              /* bytes of the body so far */
	bool head;                 /* all of the head is there */
	bool end;                  /* and all of the body */
	bool bad;                  /* this is no request of FastCGI, or it was called off */
};

/* Follows the records through the bytes that come next. */
void records_scan(struct records *records, const char *data, size_t len);

enum arrival_state {
	ARRIVAL_MORE, /* more of the request is to come */
	ARRIVAL_OVER, /* the body is there, or will never be (lacking) */
	ARRIVAL_GONE  /* the client has left */
};

struct arrival {
	int socket, file;
	const char *directory; /* of the file, when it is on the disk */
	bool on_disk;
	struct records records;
	int64_t size;       /* bytes of the file */
	int64_t most;       /* bytes of the body that are taken; -1: any number */
	int64_t most_files; /* bytes of all files together, for pending_grow */
	int64_t deadline;   /* clock_monotonic_ms */
	enum error_kind lacking;
	struct pending pending; /* its place, once the body is waited for */
	struct arrival *next, *previous;
};

/* A file for an arrival, in memory so that a small request needs no disk; -1 with errno set. */
int arrival_file(void);

/* Moves what has come from the socket to the file, without waiting, and a limited amount at
 * once. */
enum arrival_state arrival_take(struct arrival *arrival);

/* Closes the file and gives the place back. */
void arrival_forget(struct arrival *arrival);

struct intake;

/* The intake's thread calls over, with `arg`, for each arrival that is over or gone.  NULL with err
 * set when it cannot be started. */
struct intake *intake_start(
    void (*over)(void *arg, struct arrival *arrival, bool gone), void *arg, struct error *err);

/* Hands an arrival to the intake, which gives it back through over. */
void intake_add(struct intake *intake, struct arrival *arrival);

/* Only when nothing is in it. */
void intake_free(struct intake *intake);

/*
 * ---- balance.c: how many requests each process of the pool has in hand, so that none takes more
 * than its part.
 *
 * The processes take connections in turn (workers.c), which is enough for requests that come one by
 * one.  In a burst, or when one process gets less of the processors, another could take one more
 * connection while the first is still waking up.  So a process stands back for a moment while
 * another one that waits for connections has fewer in hand.
 */

/* This process's view of the table; all-zero is a process that is alone. */
struct balance {
	struct shared *shared;
	struct balance_cell *own;
};

/* Takes a cell of the table; if all are taken the process goes without, and never stands back. */
void balance_join(struct balance *balance, struct shared *shared);

/* A connection was accepted (1), or is done (-1); from any thread. */
void balance_count(struct balance *balance, int change);

/* Whether the process has any in hand. */
bool balance_busy(const struct balance *balance);

/* Says that the process waits for connections, at this time of clock_monotonic_ms; 0: no longer. */
void balance_waits(struct balance *balance, int64_t now);

/* Whether the next connection is for another process, which waits and has fewer in hand. */
bool balance_ahead(const struct balance *balance, int64_t now);

/*
 * ---- workers.c: the threads of one process.  Each accepts a connection, serves its one request
 * and closes it.  A request that is not there as a whole is the business of slow.h.
 *
 * One thread at a time waits at the listening socket, which the other processes of the pool share;
 * the processes take connections in turn.  A thread that has just answered takes a connection that
 * is there already without waiting for a turn, as long as its process has other requests in hand.
 */

struct workers;

/* Starts the first of `threads` threads on the listening socket, which must not block.  Signals
 * should be blocked by then, as the threads inherit that.  When more than their part wait for
 * clients that do not read, the answer to the one who has read nothing for the longest is broken
 * off.  NULL with err set on failure. */
struct workers *workers_start(
    const struct server *server, int listener, unsigned threads, struct error *err);

/* To be called now and then: starts a thread if none is at the listening socket.  That happens when
 * none could be started as the last one left, or all places were those of threads about to end. */
void workers_tend(struct workers *workers);

/*
 * How many of the threads may wait for one and the same thing: until a run of another request has
 * ended, or until a client reads on.  A quarter, at least four, but at most half; the other threads
 * answer requests that wait for nothing.
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
