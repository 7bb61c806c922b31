/* SPDX-License-Identifier: ISC */
/*
 * How a chunk is kept (doc/inside.md#kept-chunks): as the line that
 * /v1/graph/stream would send at full, with marks in it that no JSON has.
 *
 * Of a state's context only its span is kept: a chunk costs what is new in it, and what was deleted
 * from the thread is in none.  The other marks say what readers of a lower granularity leave out.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_KEPT_LINE_H
#define AGENTGRAPH_SERVICE_RUN_KEPT_LINE_H

#include "base/buf.h"
#include "service/run/run_input.h"
#include "service/service.h"
#include "service/thread/feed.h"

/* Around the span in the place of a context's messages: "[\x01" after "," until "\x01]". */
#define KEPT_SPAN FEED_MARK
/* At the beginning of metadata: a digit follows, the least granularity that shows the chunk, and
 * the number, where it has one. */
#define KEPT_NUMBER '\x02'
/* Before and behind a state. */
#define KEPT_STATE '\x03'

/* Bytes of a part: so much, or a message that is larger, is printed at once. */
#define KEPT_PART (64 << 10)

struct kept_line {
	const char *text; /* without the newline; not ended by NUL */
	size_t len;
	int64_t seq; /* 0: it has no number; also where its reader is not to see it */
	enum granularity least;
	const char *event; /* in text */
	size_t event_len;
	bool ends; /* it is the terminator */
};

/* How far a line was printed; all-zero is its beginning. */
struct kept_place {
	size_t at;     /* in the text */
	bool in_span;  /* between two messages of the span at at */
	bool behind;   /* the first of them */
	int64_t after; /* the latest of them */
};

/* Appends a state whose context is a feed (feed.h), with that span for the feed's marks. */
void kept_line_add_state(struct buf *out, const struct thread_view *view, const char *state);

/* Appends a chunk that was printed with marks, under that number, and a newline. */
void kept_line_add(struct buf *out, const char *json, size_t len, int64_t seq);

/* Looks at the line that begins at text, which has len bytes; false where that is none. */
bool kept_line_read(struct kept_line *line, const char *text, size_t len);

/* Whether it is an update with that status in its data. */
bool kept_line_has_status(const struct kept_line *line, const char *status);

/*
 * Appends the line, or its next part, as a reader of that granularity sees it, without a newline;
 * *place moves on, and *more says whether something is left.  False with err set: a context cannot
 * be read.
 */
bool kept_line_print(const struct kept_line *line, enum granularity granularity,
    struct storage *storage, int64_t thread_row, struct kept_place *place, struct buf *out,
    bool *more, struct error *err);

#endif
