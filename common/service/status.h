/* SPDX-License-Identifier: ISC */
/* The service itself, as those see it who run it (doc/protocol-service.md). */
#ifndef AGENTGRAPH_SERVICE_STATUS_H
#define AGENTGRAPH_SERVICE_STATUS_H

#include "service/service.h"

/* The data of GET /v1/service; rights, a new tree, becomes part of it. */
cJSON *service_status(struct call *call, cJSON *rights);

/* What of these the caller may do where no thread is named, as an array of scopes, each once; null
 * when that is all.  A new tree. */
cJSON *service_rights(struct call *call, const struct permission *permissions, size_t count);

#endif
