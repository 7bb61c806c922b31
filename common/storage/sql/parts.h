/* SPDX-License-Identifier: ISC */
/* Threads in parts, as history_ops has them: taken out whole, and made of them. */
#ifndef AGENTGRAPH_STORAGE_SQL_PARTS_H
#define AGENTGRAPH_STORAGE_SQL_PARTS_H

#include "storage/history.h"

bool parts_places(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    int64_t after, int64_t until, history_part_fn fn, void *arg, struct error *err);
bool parts_origin(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    struct history_origin *origin, struct error *err);
bool parts_make(struct storage *st, const struct storage_context *ctx, const struct lease *lease,
    struct thread *thread, const struct history_origin *origin, struct history_source *source,
    struct error *err);

#endif
