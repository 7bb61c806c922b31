/* SPDX-License-Identifier: ISC */
/*
 * Requests whose bodies come slower than they are read.
 *
 * What arrives, records of FastCGI, goes as it is into a temporary file without a name, in memory
 * while it is small; one thread of the process looks after all of them.  So a slow client costs two
 * descriptors, and no thread. libfcgi reads the file afterwards as it would have read the socket.
 */
#ifndef AGENTGRAPH_FCGI_POOL_INTAKE_H
#define AGENTGRAPH_FCGI_POOL_INTAKE_H

#include "base/error.h"
#include "fcgi/pool/pending.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

struct intake;

/* over is called by the intake's thread, with `arg`, when an arrival is, or is gone.  NULL with err
 * set. */
struct intake *intake_start(
    void (*over)(void *arg, struct arrival *arrival, bool gone), void *arg, struct error *err);

/* Hands the arrival over, until it comes back. */
void intake_add(struct intake *intake, struct arrival *arrival);

/* Only when nothing is in it. */
void intake_free(struct intake *intake);

#endif
