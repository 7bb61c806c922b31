/* SPDX-License-Identifier: ISC */
/*
 * The sender: takes from the outbox what is due and delivers it (doc/webhooks.md#what-is-sent).
 *
 * One process of an instance sends, a runner's or, where nothing runs in the background, a
 * worker's; that of others waits until it is gone.  A thread looks what is due and gives it to
 * others, of which each makes one request at a time; of one site there are only a few at once, so
 * that a slow receiver holds up no other.  What a process had under way when it died is due still.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_BACKGROUND_WEBHOOK_SENDER_H
#define AGENTGRAPH_SERVICE_RUN_BACKGROUND_WEBHOOK_SENDER_H

#include "service/service.h"

struct webhook_sender;

/* Milliseconds that a receiver has for its answer. */
#define WEBHOOK_ANSWER_MS 15000

/* Starts it; NULL with err set.  service outlives it. */
struct webhook_sender *webhook_sender_start(
    struct service *service, int64_t answer_ms, struct error *err);

/* Takes nothing more, waits for what is under way until clock_monotonic_ms reaches deadline, and
 * ends the rest, which stays due.  NULL is fine. */
void webhook_sender_stop(struct webhook_sender *sender, int64_t deadline);

#endif
