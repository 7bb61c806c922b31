/* SPDX-License-Identifier: ISC */
/* Messages and checkpoints of the engine in memory; all is called with its lock held. */
#ifndef AGENTGRAPH_UNIT_MEMORY_HISTORY_FIXTURE_H
#define AGENTGRAPH_UNIT_MEMORY_HISTORY_FIXTURE_H

#include "memory_runs_fixture.h"
#include "storage/history.h"

/* A message as it is handed out. */
struct kept_message {
	const char *id, *body;
	int64_t place; /* in the list, or in the context */
};

/* What a thread shows now; all-zero of NULL. */
struct thread_view memory_view_now(const struct kept_thread *k);

/* The list and the context of a view, malloc'd, oldest first; view NULL is that of now. */
struct kept_message *memory_list_of(
    const struct kept_thread *k, const struct thread_view *view, size_t *count);
struct kept_message *memory_context_of(
    const struct kept_thread *k, const struct thread_view *view, size_t *count);

/* Where the next place belongs, which there is room for; its number. */
int64_t memory_place_add(struct kept_thread *k, struct kept_place place);
/* Takes the message of a place away, if it has one. */
void memory_place_clear(struct kept_thread *k, int64_t place);

/* What the write does to list and context. */
bool memory_messages_apply(struct memory_storage *m, struct kept_thread *k,
    const struct thread_write *w, struct error *err);

/* Of a write; for each checkpoint there is room in k. */
void memory_history_keep(struct kept_thread *k, enum checkpoint_source source);
bool memory_history_rewind(struct kept_thread *k, const struct checkpoint *to, struct error *err);
void memory_history_back(struct kept_thread *k, const struct thread_write *w);

/* Removes what is not kept any more, and messages that nothing shows then. */
void memory_history_trim(const struct memory_storage *m, struct kept_thread *k);

bool memory_message_list(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, const struct page *page, message_fn fn, void *arg,
    struct error *err);
bool memory_message_part(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, struct page *page, message_fn fn, void *arg, struct error *err);
bool memory_messages_get(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, const char *const *message_ids, size_t count, message_fn fn,
    void *arg, struct error *err);
bool memory_messages_known(struct storage *st, const struct storage_context *ctx,
    int64_t thread_row, const struct thread_view *view, struct message_known *messages,
    size_t count, struct error *err);
bool memory_context(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, message_fn fn, void *arg, struct error *err);
bool memory_thread_view(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    struct thread_view *view, struct error *err);
bool memory_context_part(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    struct thread_view *view, message_fn fn, void *arg, struct error *err);
bool memory_context_count(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct thread_view *view, int64_t *count, struct error *err);

extern const struct history_ops memory_history;

#endif
