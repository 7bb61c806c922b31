/* SPDX-License-Identifier: ISC */
/* Telling the run that has a thread to end, wherever it is (doc/protocol-runs.md#stop). */
#ifndef AGENTGRAPH_SERVICE_RUN_HALT_H
#define AGENTGRAPH_SERVICE_RUN_HALT_H

#include "service/service.h"

/*
 * Gives the run that aim means its order (lease_stop); *running says whether there was such a run.
 * A background run whose process has died ends at once, or heeds the order when it is taken up
 * again.  Runs that have not begun are not reached.  Call run_ops.stop_queued first: it keeps the
 * order in case the run's process dies.  False with call->error set.
 */
bool halt_run(struct call *call, const char *thread_id, const struct lease_aim *aim, bool *running);

/* Gives this run alone an order, whether it is in the queue or has the thread.  False with
 * call->error set. */
bool halt_one(struct call *call, const char *thread_id, const char *run_id, enum lease_order order);

#endif
