/* SPDX-License-Identifier: ISC */
/* The service's schema, and bringing it to what this program knows. */
#ifndef AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_SCHEMA_H
#define AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_SCHEMA_H

#include "storage/postgresql/postgresql_server.h"

/* Makes the schema where there is none, and runs all migrations that sql/postgresql/ has beyond its
 * version, in one transaction; of several processes one does.  A statement may take within_ms; 0:
 * as long as it does.  The next version is fine, and one that is newer than that an error. */
bool postgresql_migrate(struct postgresql_server *s, int64_t within_ms, struct error *err);

/* Whether this program knows all that is in it: false with err set of a schema of the next version,
 * which it works beside. */
bool postgresql_is_own(struct postgresql_server *s, struct error *err);

/* Where the server is, and what is found and outstanding there, malloc'd; it changes nothing.  NULL
 * with err set where a service could not work on it. */
char *postgresql_look(struct postgresql_server *s, struct error *err);

#endif
