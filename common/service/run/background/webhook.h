/* SPDX-License-Identifier: ISC */
/*
 * Webhooks (doc/webhooks.md): which addresses may be told of the end of a run, what they are told,
 * and how that is signed (Standard Webhooks).
 */
#ifndef AGENTGRAPH_SERVICE_RUN_BACKGROUND_WEBHOOK_H
#define AGENTGRAPH_SERVICE_RUN_BACKGROUND_WEBHOOK_H

#include "base/buf.h"
#include "config/config.h"
#include "service/service.h"
#include "storage/runs.h"

/*
 * The address in the form that is used, malloc'd (url_normal).  NULL for what is no address, and
 * for one that is below none of the prefixes, which are in that form: scheme, host and port must be
 * the same, and the path the same or below.
 */
char *webhook_address(const struct string_list *prefixes, const char *url);

/* Whether webhook_address would accept the URL. */
bool webhook_allows(const struct string_list *prefixes, const char *url);

/* Whether a request may name this URL; false with the mistake added to call->error. */
bool webhook_check(struct call *call, const char *url);

/* The body of the webhook for a run that has ended, malloc'd; this is storage.webhook_body, and its
 * argument the service. */
char *webhook_body(void *service, const struct run_record *record);

/* Appends the value of webhook-signature, for a body of len bytes that is sent with that id at that
 * time (Unix seconds).  secret is a WEBHOOK_SECRET that was checked at the start. */
void webhook_sign(struct buf *out, const char *secret, const char *id, int64_t seconds,
    const char *body, size_t len);

#endif
