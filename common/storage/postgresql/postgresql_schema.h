/* SPDX-License-Identifier: ISC */
/* The service's schema, and bringing it to this program's version. */
#ifndef AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_SCHEMA_H
#define AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_SCHEMA_H

#include "storage/postgresql/postgresql_server.h"

/* Makes the schema where there is none, and runs all migrations of sql/postgresql/ beyond its
 * version, in one transaction; of several processes only one does.  A statement may take within_ms;
 * 0: any time.  A schema of the next version is fine, a newer one is an error. */
bool postgresql_migrate(struct postgresql_server *s, int64_t within_ms, struct error *err);

/* Whether this program knows all that is in the schema.  False with err set for a schema of the
 * next version, with which a service can work. */
bool postgresql_is_own(struct postgresql_server *s, struct error *err);

/* Says where the server is, what is there and what is still to be done, malloc'd; changes nothing.
 * NULL with err set where a service could not work on it. */
char *postgresql_look(struct postgresql_server *s, struct error *err);

#endif
