/* SPDX-License-Identifier: ISC */
/* Backup and restore of the databases in a state directory, as struct storage_engine has them. */
#ifndef AGENTGRAPH_STORAGE_SQLITE_BACKUP_H
#define AGENTGRAPH_STORAGE_SQLITE_BACKUP_H

#include "storage/sql/engine.h"

bool engine_backup(
    struct storage *st, const struct storage_context *ctx, const char *path, struct error *err);

bool engine_may_restore(
    const char *state_dir, const char *backup, bool overwrite, struct error *err);

bool engine_restore(const char *state_dir, const char *backup, struct error *err);

/* False with err set when a restore, or a copy into the directory, was interrupted in the
 * middle. */
bool restore_check(const char *state_dir, struct error *err);

/* Moves the closed databases of a copy from copied, a directory below state_dir, to their places,
 * and removes that directory. */
bool restore_take_copy(const char *state_dir, const char *copied, struct error *err);

/* Removes what an interrupted copy has left there. */
bool restore_clear_copy(const char *state_dir, struct error *err);

#endif
