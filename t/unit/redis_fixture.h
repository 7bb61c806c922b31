/* SPDX-License-Identifier: ISC */
/* Servers that answer as a cache: a real one, and some that misbehave. */
#ifndef AGENTGRAPH_UNIT_REDIS_FIXTURE_H
#define AGENTGRAPH_UNIT_REDIS_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Starts redis-server on a Unix socket; -1 when there is none on this machine. */
pid_t redis_start(const char *socket_path);

/* Ends a process of redis_start or fake_start. */
void redis_stop(pid_t pid);

/* What a fake server does with each connection. */
enum fake_manner {
	FAKE_SILENT,   /* reads, never answers */
	FAKE_CLOSES,   /* ends it at once */
	FAKE_DRIPS,    /* sends a byte of an endless answer every 50 ms */
	FAKE_GARBAGE,  /* answers everything with what is no RESP */
	FAKE_MILLIONS, /* begins an answer of hundreds of millions of values */
	FAKE_TWICE,    /* answers GET with the key, each time twice */
	FAKE_FULL      /* answers it once, and refuses all else for lack of memory */
};

/* Starts it, in a process of its own. */
pid_t fake_start(const char *socket_path, enum fake_manner manner);

#endif
