/* SPDX-License-Identifier: ISC */
/*
 * Uploaded files: a record of each in the storage (file_records.h), and its bytes behind struct
 * blob_ops.
 *
 * The record is written last, when the bytes are in place, so what is listed is whole.  One struct
 * files is shared by all threads of a process.  Bytes in memory, and their records, are gone when
 * the service starts again; but the records stay while other instances work on the same database.
 */
#ifndef AGENTGRAPH_STORAGE_FILES_H
#define AGENTGRAPH_STORAGE_FILES_H

#include "base/os/shared.h"
#include "config/config.h"
#include "storage/blob/blob.h"
#include "storage/file_records.h"

struct files;

/*
 * Opens (and migrates) the records and the store that MEDIA_STORAGE_TYPE names.  The first process
 * of an instance forgets what was in memory, but keeps the records where another instance is there;
 * every process removes what a dead one left half-stored.  NULL with err set; its detail names the
 * file or variable.  storage must outlive it.
 */
struct files *files_open(
    const struct config *config, struct storage *storage, struct shared *shared, struct error *err);

/* Whether the database that is configured can keep bytes,
 * where MEDIA_STORAGE_TYPE asks for that. */
bool files_type_check(const struct config *config, struct error *err);

/* Whether files_open will be able to open (and migrate) the records; makes none where there are
 * none. */
bool files_check(struct storage *storage, struct error *err);

void files_close(struct files *files); /* NULL is fine */

/* The store for new bytes; files_add can then store their record.  NULL with err set. */
struct blobs *files_store(
    struct files *files, const struct storage_context *ctx, struct error *err);

/* The store that has the bytes of a record; NULL with err set when it is not configured any
 * more. */
struct blobs *files_store_of(
    struct files *files, const struct file_record *record, struct error *err);

/* Whether this machine has the bytes of a record; true also where that cannot be told.  Of several
 * instances over one database, each has only what is in its own memory and directory. */
bool files_here(struct files *files, const struct file_record *record);

/* Reads a record into the arena; false with no error set when there is none. */
bool files_get(struct files *files, const struct storage_context *ctx, struct arena *arena,
    const char *file_id, struct file_record *record, struct error *err);

/* The text of a file, malloc'd; NULL when it has none, or with err set. */
char *files_text(
    struct files *files, const struct storage_context *ctx, const char *file_id, struct error *err);

/*
 * The text of a file with the same bytes and the same type, as it was extracted before: malloc'd;
 * NULL when there is none, or it cannot be read.
 */
char *files_same_text(struct files *files, const struct storage_context *ctx, const char *sha256,
    const char *mime_type);

/* Stores a record. */
bool files_add(struct files *files, const struct storage_context *ctx,
    const struct file_record *record, struct error *err);

/* Notes a use of the file, so that its record lives on.  A failure is only logged. */
void files_touch(
    struct files *files, const struct storage_context *ctx, const struct file_record *record);

/* Finds files by the time of their latest use. */
bool files_untouched(struct files *files, const struct storage_context *ctx, struct arena *a,
    struct untouched *old, struct error *err);

/* Takes a file away, bytes first, so that none are left without a record. */
bool files_remove(struct files *files, const struct storage_context *ctx,
    const struct file_record *record, struct error *err);

/* All bytes of a file, malloc'd, with a NUL behind them; NULL with err set when they cannot be had,
 * or are more than max. */
char *files_read(
    struct files *files, const struct file_record *record, int64_t max, struct error *err);

#endif
