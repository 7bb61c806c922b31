/* SPDX-License-Identifier: ISC */
/*
 * multipart/form-data (RFC 7578) while it arrives.
 *
 * Bytes are fed in pieces of any size and come out again, part by part; what is kept is one part's
 * header lines and as much of a delimiter as has been seen.
 */
#ifndef AGENTGRAPH_FCGI_REQUEST_MULTIPART_H
#define AGENTGRAPH_FCGI_REQUEST_MULTIPART_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

#define MULTIPART_BOUNDARY_MAX 70 /* characters, RFC 2046 5.1.1 */
#define MULTIPART_HEAD_MAX 16384  /* bytes of a part's header lines */

/* A part's header lines, as text without control characters but the tab; valid only during the
 * call.  NULL: not there. */
struct multipart_part {
	const char *name;
	const char *filename; /* unquoted; no part of it may be trusted */
	const char *content_type;
};

/* Called for each part and for its bytes; false ends the parsing. */
struct multipart_sink {
	bool (*part)(struct multipart_sink *sink, const struct multipart_part *part);
	bool (*data)(struct multipart_sink *sink, const char *data, size_t len);
};

enum multipart_state {
	MULTIPART_DATA,      /* bytes of a part, or of the preamble */
	MULTIPART_DELIMITER, /* what follows a boundary: the end of the line, or a dash */
	MULTIPART_LINE_END,  /* the newline of a delimiter line */
	MULTIPART_CLOSE,     /* the second dash of the last delimiter */
	MULTIPART_HEAD,      /* header lines */
	MULTIPART_END,       /* after the last delimiter: whatever comes is ignored */
	MULTIPART_MALFORMED, /* this is no multipart body, whatever follows */
	MULTIPART_STOPPED    /* the sink wanted no more */
};

struct multipart {
	struct multipart_sink *sink;
	enum multipart_state state;
	char delimiter[MULTIPART_BOUNDARY_MAX + 5]; /* with the newline and dashes before it */
	size_t length;                              /* of the delimiter */
	size_t matched;                             /* so many of its bytes have just been seen */
	size_t before; /* of those, how many are no bytes of the body */
	bool in_part;  /* in a part, and not in the preamble */
	struct buf head;
	const char *fault; /* MULTIPART_MALFORMED: what is wrong, a sentence */
};

/* Begins with the boundary that a Content-Type names.  False when that is no multipart/form-data,
 * or its boundary is not allowed; there is nothing to release then. */
bool multipart_init(struct multipart *mp, const char *content_type, struct multipart_sink *sink);
void multipart_release(struct multipart *mp);

/* Takes the next bytes.  False when no more are needed: MULTIPART_MALFORMED or
 * MULTIPART_STOPPED. */
bool multipart_feed(struct multipart *mp, const char *data, size_t len);

/* ---- multipart_head.c: the texts of a multipart body: the boundary that announces it, and the
 * header lines of its parts. */

/* The boundary of a Content-Type; false when that is no multipart/form-data or names none that is
 * allowed. */
bool multipart_boundary(const char *content_type, char out[MULTIPART_BOUNDARY_MAX + 1]);

/* Takes the lines of a part's head apart, the blank one included; part points into the buffer then.
 * False when they are no header lines. */
bool multipart_head(struct buf *head, struct multipart_part *part);

#endif
