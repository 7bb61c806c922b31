/* SPDX-License-Identifier: ISC */
/*
 * The OpenAPI document (doc/protocol.md#the-openapi-document).
 *
 * It has the routes of the table, in its order, and of each what fcgi/openapi/operations.json says
 * under "METHOD path".  What follows from the row is not written there: path parameters, the
 * envelope, headers, errors that every route of its kind can give, permission and security.
 */
#ifndef AGENTGRAPH_FCGI_ROUTE_OPENAPI_H
#define AGENTGRAPH_FCGI_ROUTE_OPENAPI_H

#include "config/config.h"
#include "fcgi/route/route.h"

#include <cjson/cJSON.h>

/* A new tree, for a table that routes_mount made. */
cJSON *openapi_document(const struct route_table *table, const struct config *config);

/* Whether the row, of the table as it is written, has an operation. */
bool openapi_describes(const struct route *row);

/* Takes out, in place, the components that no operation leads to. */
void openapi_prune(cJSON *document);

#endif
