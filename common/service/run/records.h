/* SPDX-License-Identifier: ISC */
/*
 * Records of runs: listed, read, stopped, removed, and the results of runs that are over
 * (doc/protocol-runs.md#records).  thread_id and run_id come percent-decoded from the path.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_RECORDS_H
#define AGENTGRAPH_SERVICE_RUN_RECORDS_H

#include "service/service.h"
#include "storage/runs.h"

/* What a record says, a new tree; the storage is not asked. */
cJSON *record_view(struct call *call, const struct run_record *record);

/* Query parameters as they came, percent-decoded; NULL when absent. */
struct record_query {
	const char *thread_id; /* of the list of all threads */
	const char *status;
	unsigned statuses; /* instead of it, a bit for each, 1 << RUN_ERROR; 0: as it says */
	const char *offset;
	const char *limit;
};

/* Each returns the data of its route.  What is wrong with the query's form may be in call->error
 * already; the lists add what is wrong with its values. */
cJSON *records_list(struct call *call, const struct record_query *query);
cJSON *records_of_thread(
    struct call *call, const char *thread_id, const struct record_query *query);
cJSON *record_read(struct call *call, const char *thread_id, const char *run_id);
cJSON *record_stop(struct call *call, const char *thread_id, const char *run_id, const cJSON *body);
cJSON *record_remove(
    struct call *call, const char *thread_id, const char *run_id, const cJSON *body);

/* What invoke would answer, or the error that it would; while the run goes on *active becomes true,
 * and it is the record.  granularity as in struct record_query. */
cJSON *record_result(struct call *call, const char *thread_id, const char *run_id,
    const char *granularity, bool *active);

/* The record of a run of a thread that the caller may have, as it is now, and that thread; false
 * with the error set. */
bool record_find(struct call *call, const char *thread_id, const char *run_id,
    struct thread *thread, struct run_record *record);

/* The record as it is now, without asking whose it is; one that says that it runs may have been
 * lost.  False with the error set, or when there is none. */
bool record_now(
    struct call *call, const char *thread_id, const char *run_id, struct run_record *record);

/* Sets why a run failed, as its client was told; one that could not tell was lost. */
void record_failure(const struct run_record *record, struct error *err);

/* Whether it is the run that the thread has had last;
 * one whose first is in the queue has had none. */
bool record_is_latest(const struct run_record *record, const struct thread *thread);

/* Whether it is a run in the background that is not over, whoever has its thread. */
bool record_is_active(const struct run_record *record);

/* Sets RUN_ACTIVE; false. */
bool record_refuse_active(struct call *call, const char *run_id);

/* Whether a run of that id may begin on the thread; NULL is an id that nothing has yet.  False with
 * the error set: it goes on, storage. */
bool record_may_begin(struct call *call, const char *thread_id, const char *run_id);

#endif
