/* SPDX-License-Identifier: ISC */
/* A pool of read connections.  They are opened when needed; the one that was used last is used
 * first, so that the surplus of a busy moment stays cold; all but one are closed when the process
 * rests (base/os/rest.h). */
#ifndef AGENTGRAPH_STORAGE_SQL_DB_POOL_H
#define AGENTGRAPH_STORAGE_SQL_DB_POOL_H

#include "storage/sql/db/db.h"

struct pool;

/* Opens nothing yet. */
struct pool *pool_new(const struct db_source *source);

/* All connections must have been given back.  NULL is fine. */
void pool_free(struct pool *p);

/* Starts a query on a connection of its own; a connection that cannot be opened makes it a failed
 * query. */
void pool_query(struct pool *p, struct query *q, enum sql_id id, struct error *err);

/* Ends the query and gives the connection back.  False when anything failed. */
bool pool_query_end(struct pool *p, struct query *q);

#endif
