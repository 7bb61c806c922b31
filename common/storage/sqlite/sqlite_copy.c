/* SPDX-License-Identifier: ISC */
/* A state directory that is copied from or to.  A copy is written to a directory of its own below
 * it and, when it is complete, moved to its place. */
#include "base/memory.h"
#include "base/os/owned.h"
#include "storage/sql/copy.h"
#include "storage/sqlite/backup.h"
#include "storage/sqlite/sqlite_db.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[COPY_DATABASES] = {"threads", "store", "files"};

/* The directory that a copy is written to. */
static char *sqlite_scratch(const struct copy_place *place)
{
	return xasprintf("%s/copying", place->path);
}

static bool sqlite_is_free(const struct copy_place *place, struct error *err)
{
	bool is_free = restore_clear_copy(place->path, err) && restore_check(place->path, err);
	for (int d = 0; is_free && d < COPY_DATABASES; d++) {
		char *path = xasprintf("%s/%s.db", place->path, names[d]);
		if (access(path, F_OK) == 0)
			is_free = error_set(err, ERR_STORAGE,
			    "%s exists: a copy needs a state directory without databases", path);
		free(path);
	}
	return is_free;
}

static bool sqlite_copy_open(
    struct copy_place *place, const char *url, bool is_target, struct error *err)
{
	char *dir;
	bool ok = true;
	place->path = xstrdup(strchr(url, ':') + 1);
	dir = is_target ? sqlite_scratch(place) : xstrdup(place->path);
	if (is_target)
		ok = sqlite_is_free(place, err) &&
		    (owned_directory(dir) ||
			error_set(err, ERR_STORAGE, "%s: %s", dir, strerror(errno)));
	else
		ok = restore_check(dir, err);
	for (int d = 0; ok && d < COPY_DATABASES; d++) {
		struct db_source source = sqlite_source(xasprintf("%s/%s.db", dir, names[d]));
		bool wanted = is_target || database_is_there(&source);
		if (is_target)
			database_throw_away(&source); /* left by a copy that was not completed */
		if (wanted)
			place->dbs[d] = database_open(&source, names[d], DB_DURABLE, NULL, err);
		free(source.path);
		/* commands write to a source without a service, too */
		ok = !wanted || (place->dbs[d] && copy_begin(place->dbs[d], err));
	}
	if (ok && !place->dbs[COPY_THREADS])
		ok = error_set(
		    err, ERR_STORAGE, "%s is no state directory: it has no threads.db", dir);
	free(dir);
	return ok;
}

static void sqlite_close_all(struct copy_place *place)
{
	for (int d = 0; d < COPY_DATABASES; d++) {
		db_close(place->dbs[d]);
		place->dbs[d] = NULL;
	}
}

static bool sqlite_copy_publish(struct copy_place *place, struct error *err)
{
	char *dir = sqlite_scratch(place);
	bool ok = true;
	sqlite_close_all(place);
	for (int d = 0; ok && d < COPY_DATABASES; d++) {
		char *log = xasprintf("%s/%s.db-wal", dir, names[d]);
		/* it is left where there was no room when the database was closed */
		if (access(log, F_OK) == 0)
			ok = error_set(err, ERR_STORAGE, "%s is not in its database", log);
		free(log);
	}
	ok = ok && restore_take_copy(place->path, dir, err);
	free(dir);
	return ok;
}

static void sqlite_copy_close(struct copy_place *place)
{
	sqlite_close_all(place);
	free(place->path);
}

const struct copy_ops sqlite_copy = {
    .open = sqlite_copy_open,
    .publish = sqlite_copy_publish,
    .close = sqlite_copy_close,
};
