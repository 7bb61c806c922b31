/* SPDX-License-Identifier: ISC */
/* Telling the run that has a thread to end, wherever it is (doc/protocol-runs.md#stop). */
#ifndef AGENTGRAPH_SERVICE_RUN_HALT_H
#define AGENTGRAPH_SERVICE_RUN_HALT_H

#include "service/service.h"

/*
 * Orders the run that is meant to do as aim says (lease_stop); *running says whether there was one.
 * One in the background that its process has left, by dying say, ends at once, or heeds the order
 * when it is taken up again.  Those that have not begun are not meant.  False with call->error set.
 * run_ops.stop_queued comes before it, as that keeps the order for the case that its process dies.
 */
bool halt_run(struct call *call, const char *thread_id, const struct lease_aim *aim, bool *running);

#endif
