/* SPDX-License-Identifier: ISC */
/*
 * A thread with all its history as lines of JSON (doc/protocol-history.md#lines): the thread, what
 * has a place in it, checkpoints, records of runs, and the end, which says how many lines there
 * were.
 */
#ifndef AGENTGRAPH_SERVICE_HISTORY_LINES_H
#define AGENTGRAPH_SERVICE_HISTORY_LINES_H

#include "base/buf.h"
#include "service/history/seal.h"
#include "service/service.h"
#include "storage/history.h"
#include "storage/runs.h"

#include <cjson/cJSON.h>
#include <stdio.h>

/* Each appends one line. */
void lines_put_thread(
    struct buf *out, const struct thread *thread, const struct history_origin *origin);
void lines_put_part(struct buf *out, const struct history_part *part);
void lines_put_end(struct buf *out, int64_t lines, const char *seal);

/* What is read, a line at a time; mistakes are ERR_VALIDATION and name line and member. */
struct lines {
	struct history_source source; /* first: the parts behind the first line */
	struct thread thread;         /* of the first line; its texts live as long as the lines */
	struct history_origin origin;

	FILE *in;
	struct call *call; /* while it is checked; NULL: any thread may read then */
	const struct id_source *ids;
	const ag_graph *graph;
	bool whole;     /* it may say what runs do next; else nothing waits, and nothing is next */
	long start;     /* where the second line begins */
	int64_t number; /* of the line that was read last */
	char *text;     /* of it */
	size_t size;
	struct arena *first, *arena; /* what belongs to the first line, and to that one */
	struct seal seal;
	bool sealed; /* by this installation */
	struct checkpoint checkpoint;
	struct run_record run;
	enum history_part_kind stage; /* nothing of an earlier kind may come any more */
	int64_t latest;               /* place or number of the part before */
};

/*
 * Reads all lines of what can be read twice (fseek), for call, which may have no other error yet,
 * and is ready to give the parts then.  trusted: whoever wrote them may say what runs do next, also
 * without the seal of this installation.  False with the call's error set, also where a message
 * names a file that the caller may not read; lines_release is fine in any case.
 */
bool lines_open(struct lines *lines, struct call *call, FILE *in, bool trusted);
void lines_release(struct lines *lines);

#endif
