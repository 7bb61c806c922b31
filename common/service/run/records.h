/* SPDX-License-Identifier: ISC */
/*
 * Records of runs: listed, read, stopped, removed, and the results of runs that are over
 * (doc/protocol-runs.md#run-records).  thread_id and run_id come percent-decoded from the path.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_RECORDS_H
#define AGENTGRAPH_SERVICE_RUN_RECORDS_H

#include "service/service.h"
#include "storage/runs.h"

/* A record as clients see it, a new tree; does not use the storage. */
cJSON *record_view(struct call *call, const struct run_record *record);

/* Query parameters as they came, percent-decoded; NULL when absent. */
struct record_query {
	const char *thread_id; /* only for the list over all threads */
	const char *status;
	/* if not 0, used instead of status: a bit for each, such as 1 << RUN_ERROR */
	unsigned statuses;
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

/* Returns what invoke would have answered, or fails with its error.  While the run goes on *active
 * is true, and the record is returned.  granularity is the query parameter as it came. */
cJSON *record_result(struct call *call, const char *thread_id, const char *run_id,
    const char *granularity, bool *active);

/* Reads a thread that the caller may have and the record of one of its runs, as they are now; false
 * with the error set. */
bool record_find(struct call *call, const char *thread_id, const char *run_id,
    struct thread *thread, struct run_record *record);

/* Reads a record as it is now, without asking whose it is; a run that was lost is shown as such.
 * False with the error set, or when there is no record. */
bool record_now(
    struct call *call, const char *thread_id, const char *run_id, struct run_record *record);

/* Sets the error with which a run failed, as its client was told; a run that could not tell it was
 * lost. */
void record_failure(const struct run_record *record, struct error *err);

/* Whether it is the latest run that the thread has had; a queued run does not count. */
bool record_is_latest(const struct run_record *record, const struct thread *thread);

/* Whether it is a background run that is not over, whoever has its thread now. */
bool record_is_active(const struct run_record *record);

/* Whether a background run only reported a pause that it met (TURN_REPORT_PAUSE). */
bool record_met_pause(const struct run_record *record);

/* Sets RUN_ACTIVE; false. */
bool record_refuse_active(struct call *call, const char *run_id);

/* Whether a run of this id may begin on the thread; NULL stands for a new id.  False with the error
 * set when a run of this id goes on, or the storage fails. */
bool record_may_begin(struct call *call, const char *thread_id, const char *run_id);

#endif
