/* SPDX-License-Identifier: ISC */
/*
 * A thread with all its history as lines of JSON (doc/protocol-history.md#lines): the thread, what
 * has a place in it, checkpoints, records of runs, and the end, which says how many lines there
 * were.
 */
#ifndef AGENTGRAPH_SERVICE_HISTORY_LINES_H
#define AGENTGRAPH_SERVICE_HISTORY_LINES_H

#include "access/ticket/ticket.h"
#include "base/buf.h"
#include "base/error.h"
#include "service/service.h"
#include "storage/history.h"
#include "storage/runs.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * ---- seal.c: the seal of an installation on lines of a history: what comes back with it says what
 * the installation has said, so it may also say what runs are to do next, such as the calls that a
 * pause holds up.  Of lines that a client wrote that must not be believed: it could call any tool.
 *
 * An HMAC-SHA256 with the key of tickets over the digest of all lines but the last, and of the
 * first without its thread_id, which who brings it in may choose.
 */

#define SEAL_SIZE 65 /* as text */

struct seal {
	struct ticket_key key;
	void *digest; /* NULL: not begun */
};

/* False with err set where the key of the state directory cannot be had;
 * seal_release is fine then. */
bool seal_begin(struct seal *seal, const char *state_dir, struct error *err);

/* The next line, with its newline. */
void seal_add(struct seal *seal, const char *line, size_t len);
void seal_add_first(struct seal *seal, const char *line, size_t len);

/* Ends it; returns out. */
const char *seal_end(struct seal *seal, char out[SEAL_SIZE]);

/* Whether two are the same; the second may be NULL. */
bool seal_is(const char seal[SEAL_SIZE], const char *other);

void seal_release(struct seal *seal);

/* ---- lines.c, lines_read.c */

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
	int64_t latest;               /* rank of the place, or number, of the part before */
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
