/* SPDX-License-Identifier: ISC */
/* A thread that gives runs the ends which their processes did not live to write, and ends those
 * whose followers have left; the loop itself writes nothing. */
#ifndef AGENTGRAPH_RUNNER_FOLLOW_MEND_H
#define AGENTGRAPH_RUNNER_FOLLOW_MEND_H

#include "service/service.h"

struct follow_mender;

/* NULL with err set when there can be no thread. */
struct follow_mender *follow_mender_new(struct service *service, struct error *err);
void follow_mender_free(struct follow_mender *mender);

/* Asks for the end of a run; who follows it is woken when it is there. */
void follow_mend(struct follow_mender *mender, const char *thread_id, const char *run_id);

/* Asks for a run to be stopped. */
void follow_cancel(struct follow_mender *mender, const char *thread_id, const char *run_id);

#endif
