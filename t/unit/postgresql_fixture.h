/* SPDX-License-Identifier: ISC */
/* A PostgreSQL for tests, where AGENTGRAPH_ENGINE=postgresql asks for tests on it. */
#ifndef AGENTGRAPH_UNIT_POSTGRESQL_FIXTURE_H
#define AGENTGRAPH_UNIT_POSTGRESQL_FIXTURE_H

#include "config/config.h"
#include "storage/storage.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether it was asked for. */
bool postgresql_wanted(void);

/* Starts the server, which ends with this process, before there are threads or other processes.
 * Where there is no PostgreSQL all tests are skipped, and the program ends. */
void postgresql_start(void);

/* Ends the server as a crash would; it is started again unless it is to stay away. */
void postgresql_crash(bool stays_away);

/* Of a schema, malloc'd. */
char *postgresql_url(const char *schema);

/* Opens the engine on a schema for that state directory alone. */
struct storage *postgresql_open_for(
    const struct config *config, struct shared *shared, struct error *err);

/* The number that a query on its schema gives, on a connection of its process. */
int64_t postgresql_ask(struct storage *st, const char *sql);

/* For a program that is about SQLite's files: where PostgreSQL is asked for it is skipped, and
 * ends. */
void postgresql_skip(void);

#endif
