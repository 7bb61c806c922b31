/* SPDX-License-Identifier: ISC */
/* Creating a database file and bringing it to the schema of this version. */
#ifndef AGENTGRAPH_STORAGE_SQLITE_MIGRATE_H
#define AGENTGRAPH_STORAGE_SQLITE_MIGRATE_H

#include "storage/sqlite/sqlite_db.h"

/* An empty file (0600) unless there is a file already.
 * SQLite gives its companions the same mode. */
bool database_create(const char *path, struct error *err);

/*
 * Opens the file for writing, in WAL mode and with all migrations that
 * sql/migrations/<name>-NNNN.sql has beyond the file's user_version. Safe when many processes start
 * at once.  The detail of an error names the file.
 */
struct db *sqlite_open_current(const struct db_source *source, const char *name, enum db_mode mode,
    struct turnstile *turnstile, struct error *err);

/*
 * Moves the messages that version 2 of threads.db had to where version 3 has them: what is left in
 * the old table.  It copies every message, so it takes time, and room on the disk for as much as
 * they are; the log tells its beginning and its end.  db is the one that was opened for writing,
 * before anybody else uses it.  A process that dies in the middle leaves the rest to the next.
 */
bool messages_move(struct db *db, struct error *err);

#endif
