/* SPDX-License-Identifier: ISC */
/*
 * Which instance works on the schema.
 *
 * There is one at a time: leases, wake-ups and what one process tells another live in its memory.
 * Its number lies in the state directory, and in the table `instance` with the time when it was
 * seen last, by the database's clock.  Another one may take over when that is long ago; each
 * transaction asks who it is, so that one which was cut off and comes back writes nothing.
 */
#ifndef AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_INSTANCE_H
#define AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_INSTANCE_H

#include "storage/postgresql/postgresql_server.h"

struct postgresql_instance;

/* The number of the instance over that state directory, made where there is none; 0 with err set.
 */
int64_t postgresql_instance_number(const char *state_dir, struct error *err);

/*
 * Takes the schema for the instance of that number, and says again and again that it is there. NULL
 * with err set, whose detail says who has it.
 */
struct postgresql_instance *postgresql_instance_begin(
    struct postgresql_server *server, const char *state_dir, int64_t number, struct error *err);
void postgresql_instance_end(struct postgresql_instance *i); /* NULL is fine */

#endif
