/* SPDX-License-Identifier: ISC */
/*
 * How a chunk is kept (doc/inside.md#resumable-streams): as the line that /v1/graph/stream would
 * send with granularity full, with marks in it that no JSON has.  And how it is told, to those who
 * read it later and to the client that waits.
 *
 * Of a state's context only the span is kept, so a chunk has only what is new in it, and no chunk
 * has what was deleted from the thread.  The other marks show what readers of a lower granularity
 * do not get.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_STREAM_KEPT_LINE_H
#define AGENTGRAPH_SERVICE_RUN_STREAM_KEPT_LINE_H

#include "base/buf.h"
#include "service/run/run_input.h"
#include "service/service.h"
#include "service/thread/feed.h"
#include "storage/runs.h"

/* Surrounds the span that stands for a context's messages: "[\x01" after "," until "\x01]". */
#define KEPT_SPAN FEED_MARK
/* Stands at the beginning of metadata.  A digit follows, which is the least granularity that shows
 * the chunk, plus KEPT_TOLD where an earlier chunk told of the same; then the chunk's number, if it
 * has one. */
#define KEPT_NUMBER '\x02'
#define KEPT_TOLD 4
/* Stands before and behind a state. */
#define KEPT_STATE '\x03'
/* Stands behind the chunk: what follows is its aside (chunk_aside.h). */
#define KEPT_ASIDE '\x05'

/* Bytes that are printed at once, unless a single message is larger. */
#define KEPT_PART (64 << 10)

struct kept_line {
	const char *text; /* without the newline; not ended by NUL */
	size_t len;
	size_t shown; /* length without the aside */
	int64_t seq;  /* 0: it has no number, or the reader is not to see it */
	enum granularity least;
	const char *event; /* the event's name, in text */
	size_t event_len;
	bool told; /* an earlier chunk told of the same */
	bool ends; /* it is the terminator */
};

/* How far a line was printed; all-zero: from its beginning. */
struct kept_place {
	size_t at;     /* offset in the text */
	bool in_span;  /* it is between two messages of the span there */
	bool behind;   /* behind the first message of the span */
	int64_t after; /* place of the latest message that was printed */
	int64_t skip;  /* for other words: the reader has all that is numbered up to this */
};

struct kept_reader;

/* How another protocol tells chunks, in its own words. */
struct kept_words {
	/*
	 * Appends what a reader is told of a line, which may be nothing, with a KEPT_SPAN where
	 * messages of the thread's list belong, and without the last newline.  Must append the same
	 * each time.
	 */
	void (*tell)(const struct kept_reader *reader, const struct kept_line *line, int64_t skip,
	    struct buf *out);
	void (*put)(struct buf *out, const char *body_json); /* appends one of those messages */
};

/* A reader of a run's chunks, and how it is told them. */
struct kept_reader {
	struct storage *storage;
	struct run_key run; /* number 0: nothing of the run is kept */
	enum granularity granularity;
	const struct kept_words *words; /* NULL: it gets the chunks */
	unsigned modes;                 /* the modes of those words */
	const char *thread_id, *run_id; /* for those words */
};

/* Appends a state whose context is a feed (feed.h), with the span of view in place of the feed's
 * marks. */
void kept_line_add_state(struct buf *out, const struct thread_view *view, const char *state);

/* Appends a chunk that was printed with marks, with its number, and a newline. */
void kept_line_add(struct buf *out, const char *json, size_t len, int64_t seq);

/* Reads the line at the beginning of text, which has len bytes; false where there is no chunk. */
bool kept_line_read(struct kept_line *line, const char *text, size_t len);

/* The chunk as a new tree, without its state; *state and *len are the text of the state, NULL where
 * there is none. */
cJSON *kept_line_json(const struct kept_line *line, const char **state, size_t *len);

/* Whether the line is a chunk of this event. */
bool kept_line_is(const struct kept_line *line, const char *event);

/* Whether the chunk is an update with this status in its data. */
bool kept_line_has_status(const struct kept_line *line, const char *status);

/*
 * Appends the line, or its next part, as the reader sees it, without a newline; *place moves on,
 * and *more says whether anything is left.  Appends nothing where the reader's words have nothing
 * for the line.  False with err set when messages cannot be read.
 */
bool kept_line_print(const struct kept_line *line, const struct kept_reader *reader,
    struct kept_place *place, struct buf *out, bool *more, struct error *err);

/* ---- kept_live.c: telling the lines of a run to the client that waits for it */

/* How long to wait before a database that is away is tried again, and how long to go on trying. */
#define KEPT_AGAIN_MS 100
#define KEPT_AWAY_MS 30000

struct chunk_sink;

struct kept_live {
	struct kept_reader reader;
	struct chunk_sink *sink;
	int64_t seq; /* seq of the latest chunk that was told or left out */
};

/* Tells chunks, except those with numbers up to live->seq, which moves on.  numbered is false where
 * they were not kept.  False when nobody reads any more. */
bool kept_live_tell(struct kept_live *live, const struct buf *lines, bool numbered);

/* The same for the next chunks on the disk, as long as there are any up to the seq stored. */
bool kept_live_catch_up(struct kept_live *live, int64_t stored);

#endif
