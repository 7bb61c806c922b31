/* SPDX-License-Identifier: ISC */
/*
 * Runs in the background whose process died, where nothing runs in the background any more: nobody
 * takes them up, so who wants their thread ends them (doc/protocol-runs.md#one-run-at-a-time).
 */
#ifndef AGENTGRAPH_SERVICE_RUN_LEFT_H
#define AGENTGRAPH_SERVICE_RUN_LEFT_H

#include "service/service.h"

/*
 * Ends the run that thread says is running, under the thread's lease, as it was ordered: stopped,
 * with the thread put back to where it was before; or, without any order, as one that was lost.
 * What the thread is then is read again.  One that another process has goes on.  False with the
 * error set.
 */
bool left_end(struct call *call, struct lease *lease, struct thread *thread);

#endif
