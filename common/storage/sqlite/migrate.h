/* SPDX-License-Identifier: ISC */
/* Creating a database file and bringing it to the schema of this version. */
#ifndef AGENTGRAPH_STORAGE_SQLITE_MIGRATE_H
#define AGENTGRAPH_STORAGE_SQLITE_MIGRATE_H

#include "storage/sqlite/sqlite_db.h"

/* Makes an empty file (0600), unless there is one already.  SQLite gives the files beside it the
 * same mode. */
bool database_create(const char *path, struct error *err);

/* Reads which version of the schema called name the database in the file has, 0 for none.  False
 * with err set when it is one that this program does not know. */
bool database_version(
    struct db *db, const char *path, const char *name, int *version, struct error *err);

/*
 * Opens the file for writing, in WAL mode and with all migrations that
 * sql/migrations/<name>-NNNN.sql has beyond the file's user_version. Safe when many processes start
 * at once.  The detail of an error names the file.
 */
struct db *sqlite_open_current(const struct db_source *source, const char *name, enum db_mode mode,
    struct turnstile *turnstile, struct error *err);

/*
 * Moves the messages that are still in the table of version 2 of threads.db to where version 3 has
 * them.  It copies every message, so it takes time, and as much room on the disk as they have;
 * beginning and end are logged.  db was opened for writing, and nobody else uses it yet.  If the
 * process dies in the middle, the next one goes on.
 */
bool messages_move(struct db *db, struct error *err);

#endif
