/* SPDX-License-Identifier: ISC */
/*
 * The OpenAPI document (doc/protocol.md#the-openapi-document).
 *
 * It describes the routes of the table, in that order, as fcgi/openapi/operations.json has them
 * under "METHOD path".  What follows from a row is not written there: path parameters, the
 * envelope, headers, errors that every route of its kind can give, permission and security.
 */
#ifndef AGENTGRAPH_FCGI_ROUTE_OPENAPI_H
#define AGENTGRAPH_FCGI_ROUTE_OPENAPI_H

#include "config/config.h"
#include "fcgi/route/route.h"

#include <cjson/cJSON.h>

/* A new tree, for a table that routes_mount made. */
cJSON *openapi_document(const struct route_table *table, const struct config *config);

/* Takes out, in place, the components that no operation leads to. */
void openapi_prune(cJSON *document);

#endif
