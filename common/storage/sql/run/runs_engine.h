/* SPDX-License-Identifier: ISC */
/* Operations of runs.h that have files of their own, for the table in runs.c. */
#ifndef AGENTGRAPH_STORAGE_SQL_RUN_RUNS_ENGINE_H
#define AGENTGRAPH_STORAGE_SQL_RUN_RUNS_ENGINE_H

#include "storage/runs.h"
#include "storage/sql/engine.h"

/* submit.c */
bool engine_submit(struct storage *st, const struct storage_context *ctx, const struct lease *lease,
    struct thread *thread, struct run_job *job, enum submit_result *result, struct error *err);
bool engine_stop_queued(struct storage *st, const struct storage_context *ctx,
    const char *thread_id, const char *run_id, enum lease_order order, struct error *err);
bool engine_ordered(struct storage *st, const struct storage_context *ctx, int64_t job_row,
    enum lease_order *order, struct error *err);
bool engine_queued_due(struct storage *st, const struct storage_context *ctx, const char *thread_id,
    int64_t now, int64_t at_least, bool *reached, struct error *err);

/* claim.c */
bool engine_claim(struct storage *st, const struct storage_context *ctx, struct arena *a,
    int64_t row, int64_t now, struct run_job *job, int64_t *next_due, struct error *err);
void engine_begins(struct storage *st, const struct run_job *job);
bool engine_give_back(struct storage *st, const struct storage_context *ctx,
    const struct run_job *job, struct error *err);
bool engine_lose(struct storage *st, const struct storage_context *ctx, const struct run_job *job,
    bool *lost, struct error *err);
bool engine_finish(struct storage *st, const struct storage_context *ctx, int64_t job_row,
    enum run_status status, const char *error_json, struct error *err);
bool engine_recover(struct storage *st, const struct storage_context *ctx, int64_t max_attempts,
    int64_t *rows, size_t *count, struct error *err);

/* arrivals.c */
bool engine_arrive(struct storage *st, const struct storage_context *ctx, const struct lease *lease,
    const struct arrival *arrival, struct error *err);
bool engine_arrived(struct storage *st, const struct storage_context *ctx, int64_t job,
    int64_t region, arrival_fn fn, void *arg, struct error *err);

/* chunks.c */
bool engine_chunks_append(struct storage *st, const struct storage_context *ctx,
    const struct chunk_batch *batches, size_t count, struct error *err);
bool engine_chunks_read(struct storage *st, const struct storage_context *ctx, struct run_key run,
    int64_t after, chunk_batch_fn fn, void *arg, struct error *err);
bool engine_chunks_last(struct storage *st, const struct storage_context *ctx, struct run_key run,
    int64_t *seq, struct error *err);
bool engine_chunks_forget(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    chunk_line_fn forgets, void *arg, struct error *err);
bool engine_chunks_expire(struct storage *st, const struct storage_context *ctx, int64_t now,
    int64_t most, int64_t *count, struct error *err);

/* outbox.c */

/* An item for the outbox, due now. */
struct outgoing {
	int64_t job; /* the job whose webhook it is; 0: it is a push */
	int64_t thread;
	const char *url, *body;
	const char *how_json; /* of a push, or NULL */
};
bool outbox_put(struct db *db, const struct outgoing *out, struct error *err);

/* webhooks.c */
bool engine_webhooks_due(struct storage *st, const struct storage_context *ctx, struct arena *a,
    struct webhooks_due *due, struct error *err);
bool engine_webhooks_waiting(
    struct storage *st, const struct storage_context *ctx, int64_t *count, struct error *err);
bool engine_webhook_settle(struct storage *st, const struct storage_context *ctx,
    const struct webhook *item, struct error *err);

/* pushes.c */
bool engine_push_put(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const struct push *push, enum run_status status, int64_t most, bool *room, struct error *err);
bool engine_pushes_read(struct storage *st, const struct storage_context *ctx, struct arena *a,
    int64_t thread_row, const char *task, struct push_list *list, struct error *err);
bool engine_push_remove(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    const char *task, const char *id, struct error *err);
bool engine_pushes_tell(struct storage *st, const struct storage_context *ctx, struct run_key run,
    enum run_status status, struct error *err);

#endif
