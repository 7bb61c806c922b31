/* SPDX-License-Identifier: ISC */
/*
 * A thread with all its history as lines of JSON (doc/protocol-history.md#export-and-import): first
 * the thread, then what has a place in it, checkpoints, and records of runs; the last line says how
 * many there were.
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
 * ---- seal.c: the seal of an installation on exported lines.  Lines that come back with it are
 * what the installation has written, so they may also say what runs do next, such as the calls that
 * a pause holds up.  Lines that a client wrote must not say that: they could call any tool.
 *
 * The seal is an HMAC-SHA256 with the key of tickets over the digest of all lines but the last.
 * The first line goes in without its thread_id, which the importer may choose.
 */

#define SEAL_SIZE 65 /* size as text */

struct seal {
	struct ticket_key key;
	void *digest; /* NULL: not begun */
};

/* Begins a seal; false with err set where the key in the state directory cannot be read.
 * seal_release is fine in any case. */
bool seal_begin(struct seal *seal, const char *state_dir, struct error *err);

/* Adds the next line, with its newline; the first one by seal_add_first. */
void seal_add(struct seal *seal, const char *line, size_t len);
void seal_add_first(struct seal *seal, const char *line, size_t len);

/* Ends the seal; returns out. */
const char *seal_end(struct seal *seal, char out[SEAL_SIZE]);

/* Whether two seals are the same; other may be NULL. */
bool seal_is(const char seal[SEAL_SIZE], const char *other);

void seal_release(struct seal *seal);

/* ---- lines.c, lines_read.c */

/* Each appends one line. */
void lines_put_thread(
    struct buf *out, const struct thread *thread, const struct history_origin *origin);
void lines_put_part(struct buf *out, const struct history_part *part);
void lines_put_end(struct buf *out, int64_t lines, const char *seal);

/* Lines that are read, one at a time.  Mistakes are ERR_VALIDATION and name line and member. */
struct lines {
	/* first: gives the parts, which begin behind the first line */
	struct history_source source;
	struct thread thread; /* from the first line; its texts live as long as the lines */
	struct history_origin origin;

	FILE *in;
	struct call *call; /* the importer's call while lines are checked; then NULL, as any thread
			      may read */
	const struct id_source *ids;
	const ag_graph *graph;
	bool whole;     /* the lines may say what runs do next; if not, nothing waits and no node is
			   next */
	long start;     /* where the second line begins */
	int64_t number; /* number of the line that was read last */
	char *text;     /* text of that line */
	size_t size;
	struct arena *first, *arena; /* trees of the first line, and of that one */
	struct seal seal;
	bool sealed; /* the lines have the seal of this installation */
	struct checkpoint checkpoint;
	struct run_record run;
	enum history_part_kind stage; /* parts of an earlier kind may not come any more */
	int64_t latest;               /* rank of the place, or number, of the latest part */
};

/*
 * Reads and checks all lines of in, which must be seekable; lines->source can then give the parts.
 * call must have no error yet.  trusted: the lines may say what runs do next, even without the seal
 * of this installation.  False with the call's error set, also where a message names a file that
 * the caller may not read.  lines_release is fine in any case.
 */
bool lines_open(struct lines *lines, struct call *call, FILE *in, bool trusted);
void lines_release(struct lines *lines);

#endif
