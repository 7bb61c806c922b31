/* SPDX-License-Identifier: ISC */
/*
 * What a thread shows, as ranges of places (struct thread_view).
 *
 * Nearly every thread is plain: one range, found without a query.  Else the branches are walked
 * from the end of the list to its beginning, and messages that entered the context again are taken
 * out of their places and put into their second ones.
 */
#ifndef AGENTGRAPH_STORAGE_SQL_THREAD_VIEW_H
#define AGENTGRAPH_STORAGE_SQL_THREAD_VIEW_H

#include "storage/sql/engine.h"

/* The messages with a seq above after, up to until.  For a message that entered the context again,
 * it alone, and its second place. */
struct view_range {
	int64_t after, until;
	int64_t second; /* 0: each message is at its own place */
};

struct view {
	int64_t thread; /* row of threads */
	struct thread_view shown;
	struct view_range one;   /* of a plain thread */
	struct view_range *list; /* ascending */
	size_t list_count;
	struct view_range *again; /* messages that entered again, one each, ascending by seq */
	size_t again_count;
};

/* Fills v with what shown says, NULL: with what the thread shows now, read with a connection of the
 * engine's pool for ctx, or with db inside a transaction.  False with err set; view_release is fine
 * in any case. */
bool view_read(struct view *v, struct storage *st, const struct storage_context *ctx,
    int64_t thread_row, const struct thread_view *shown, struct error *err);
bool view_read_in(struct view *v, struct db *db, int64_t thread_row,
    const struct thread_view *shown, struct error *err);
void view_release(struct view *v);

/* Whether the list has a place; and the place at which the context has the message with this
 * seq. */
bool view_has(const struct view *v, int64_t place);
int64_t view_place(const struct view *v, int64_t seq);

/* Finds the seq of the message with this id; *seq is 0 when the view has none. */
bool view_find(
    const struct view *v, struct db *db, const char *message_id, int64_t *seq, struct error *err);

/* Looks on all branches for a message whose id occurs earlier in the same list; *place is its
 * place, 0 when there is none.  Takes time in proportion to messages and branches. */
bool view_find_twice(struct db *db, int64_t thread_row, int64_t *place, struct error *err);

/* Counts the messages of a list. */
bool view_count(struct db *db, int64_t thread_row, const struct thread_view *shown, int64_t *count,
    struct error *err);

/* The context as *count ranges, in its order; the caller frees them. */
struct view_range *view_context(const struct view *v, size_t *count);

#endif
