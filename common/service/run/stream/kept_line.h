/* SPDX-License-Identifier: ISC */
/*
 * How a chunk is kept (doc/inside.md#kept-chunks): as the line that
 * /v1/graph/stream would send at full, with marks in it that no JSON has.  And how it is told, to
 * who reads it later and to the client that waits.
 *
 * Of a state's context only its span is kept: a chunk costs what is new in it, and what was deleted
 * from the thread is in none.  The other marks say what readers of a lower granularity leave out.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_STREAM_KEPT_LINE_H
#define AGENTGRAPH_SERVICE_RUN_STREAM_KEPT_LINE_H

#include "base/buf.h"
#include "service/run/run_input.h"
#include "service/service.h"
#include "service/thread/feed.h"
#include "storage/runs.h"

/* Around the span in the place of a context's messages: "[\x01" after "," until "\x01]". */
#define KEPT_SPAN FEED_MARK
/* At the beginning of metadata: a digit follows, the least granularity that shows the chunk, plus
 * KEPT_TOLD where an earlier one told of the same, and the number, where it has one. */
#define KEPT_NUMBER '\x02'
#define KEPT_TOLD 4
/* Before and behind a state. */
#define KEPT_STATE '\x03'
/* Behind the chunk: what follows is for readers who are told it in other words. */
#define KEPT_ASIDE '\x05'

/* Bytes of a part: so much, or a message that is larger, is printed at once. */
#define KEPT_PART (64 << 10)

struct kept_line {
	const char *text; /* without the newline; not ended by NUL */
	size_t len;
	size_t shown; /* of that, what is not aside */
	int64_t seq;  /* 0: it has no number; also where its reader is not to see it */
	enum granularity least;
	const char *event; /* in text */
	size_t event_len;
	bool told;
	bool ends; /* it is the terminator */
};

/* How far a line was printed; all-zero is its beginning. */
struct kept_place {
	size_t at;     /* in the text */
	bool in_span;  /* between two messages of the span at at */
	bool behind;   /* the first of them */
	int64_t after; /* the latest of them */
	int64_t skip;  /* of a line in other words: the reader has what is numbered up to this */
};

struct kept_reader;

/* Other words for chunks: those of another protocol. */
struct kept_words {
	/*
	 * Appends what a reader is told of a line, nothing where that is nothing, with a KEPT_SPAN
	 * where messages of the thread's list belong, and without the last newline; each time the
	 * same.
	 */
	void (*tell)(const struct kept_reader *reader, const struct kept_line *line, int64_t skip,
	    struct buf *out);
	void (*put)(struct buf *out, const char *body_json); /* one of those messages */
};

/* Who is told of a run, and how. */
struct kept_reader {
	struct storage *storage;
	struct run_key run; /* number 0: nothing of it is kept */
	enum granularity granularity;
	const struct kept_words *words; /* NULL: it sees the chunks */
	unsigned modes;                 /* of those words */
	const char *thread_id, *run_id; /* for them */
};

/* Appends a state whose context is a feed (feed.h), with that span for the feed's marks. */
void kept_line_add_state(struct buf *out, const struct thread_view *view, const char *state);

/* Appends a chunk that was printed with marks, under that number, and a newline. */
void kept_line_add(struct buf *out, const char *json, size_t len, int64_t seq);

/* Looks at the line that begins at text, which has len bytes; false where that is none. */
bool kept_line_read(struct kept_line *line, const char *text, size_t len);

/* The chunk as a new tree, without its state: *state and *len are the text of that, NULL where it
 * has none. */
cJSON *kept_line_json(const struct kept_line *line, const char **state, size_t *len);

/* Whether it is an update with that status in its data. */
bool kept_line_has_status(const struct kept_line *line, const char *status);

/*
 * Appends the line, or its next part, as the reader sees it, without a newline; *place moves on,
 * and *more says whether something is left.  Nothing at all is appended of a line that other words
 * have nothing for.  False with err set: messages cannot be read.
 */
bool kept_line_print(const struct kept_line *line, const struct kept_reader *reader,
    struct kept_place *place, struct buf *out, bool *more, struct error *err);

/* ---- kept_live.c: the lines of a run as the client is told them that waits for it */

/* Until a database that is away for the moment is tried again, and for how long that goes on. */
#define KEPT_AGAIN_MS 100
#define KEPT_AWAY_MS 30000

struct chunk_sink;

struct kept_live {
	struct kept_reader reader;
	struct chunk_sink *sink;
	int64_t seq; /* of the latest that was told, or left out */
};

/* Tells chunks, without numbers where they were not kept, but for those up to live->seq, which
 * moves on.  False when nobody reads any more. */
bool kept_live_tell(struct kept_live *live, const struct buf *lines, bool numbered);

/* The same for what comes next on the disk, where there is something up to stored. */
bool kept_live_catch_up(struct kept_live *live, int64_t stored);

#endif
