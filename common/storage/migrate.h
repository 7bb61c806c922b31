/* Creating a database file and bringing it to the schema of this version. */
#ifndef AGENTGRAPH_STORAGE_MIGRATE_H
#define AGENTGRAPH_STORAGE_MIGRATE_H

#include "storage/db.h"
#include "storage/turnstile.h"

/* An empty file (0600) unless there is a file already.  SQLite gives its companions the same mode.
 */
bool database_create(const char *path, struct error *err);

/*
 * Opens the file for writing, in WAL mode and with all migrations that sql/<name>-NNNN.sql has
 * beyond the file's user_version. Safe when many processes start at once.  The detail of an error
 * names the file.
 */
struct db *database_open(const char *path, const char *name, enum db_mode mode,
    struct turnstile *turnstile, struct error *err);

#endif
