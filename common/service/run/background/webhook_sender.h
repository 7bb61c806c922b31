/* SPDX-License-Identifier: ISC */
/*
 * The sender: takes due items from the outbox and delivers them
 * (doc/webhooks.md#requests-and-retries).
 *
 * One process of an instance sends: a runner or, where nothing runs in the background, a worker;
 * the senders of other processes wait until it is gone.  One thread looks for due items and gives
 * them to other threads, each of which makes one request at a time.  Only a few requests go to one
 * site at once, so that a slow receiver does not hold up others.  A request that was under way when
 * its process died is still due.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_BACKGROUND_WEBHOOK_SENDER_H
#define AGENTGRAPH_SERVICE_RUN_BACKGROUND_WEBHOOK_SENDER_H

#include "service/service.h"

struct webhook_sender;

/* How many milliseconds a receiver has for its answer. */
#define WEBHOOK_ANSWER_MS 15000

/* Starts the sender; NULL with err set.  service must outlive it. */
struct webhook_sender *webhook_sender_start(
    struct service *service, int64_t answer_ms, struct error *err);

/* Stops the sender: it begins no more requests, waits for those under way until clock_monotonic_ms
 * reaches deadline, and ends the rest, which stay due.  NULL is fine. */
void webhook_sender_stop(struct webhook_sender *sender, int64_t deadline);

#endif
