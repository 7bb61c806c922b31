/* SPDX-License-Identifier: ISC */
/*
 * The backup is a directory with a copy of each database under its own name.  A copy gets that name
 * only when it is complete and on disk, so what looks like a backup is one.
 */
#include "storage/sqlite/backup.h"

#include "base/memory.h"
#include "base/os/directory.h"
#include "base/texts.h"
#include "storage/sqlite/migrate.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool backup_failed(struct error *err, const char *path)
{
	return error_set(err, ERR_STORAGE, "%s: %s", path, strerror(errno));
}

/* Whether a backup leaves a file of that name behind when it is killed. */
static bool backup_leaves(const char *name)
{
	static const char *const complete[] = {"files.db", "store.db", NULL};
	static const char *const begun[] = {"threads.db.part", "files.db.part", "store.db.part"};
	for (size_t i = 0; i < sizeof(begun) / sizeof(begun[0]); i++)
		if (strncmp(name, begun[i], strlen(begun[i])) == 0)
			return true;
	return texts_has(complete, name);
}

/* Whether the directory is empty, or, if *left allows it, has nothing but what a backup has left
 * that was killed; *left then says so. */
static bool backup_is_free(const char *path, bool *left, struct error *err)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool any = false, others = false, begun = false;
	if (!dir)
		return backup_failed(err, path);
	while ((entry = readdir(dir)) != NULL) {
		const char *name = entry->d_name;
		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		any = true;
		others = others || !backup_leaves(name);
		begun = begun || strcmp(name, "threads.db.part") == 0;
	}
	closedir(dir);
	*left = *left && begun && !others;
	return !any || *left ||
	    error_set(
		err, ERR_STORAGE, "%s is not empty: a backup needs a directory of its own", path);
}

/* fsync of a file or a directory. */
static bool backup_put_on_disk(const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool ok = fd >= 0 && fsync(fd) == 0;
	if (!ok)
		backup_failed(err, path);
	if (fd >= 0)
		close(fd);
	return ok;
}

/* Removes a database and the files that SQLite keeps beside it. */
static void backup_remove_database(const char *path)
{
	static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		char *file = xasprintf("%s%s", path, ends[i]);
		unlink(file);
		free(file);
	}
}

/* A database on its way into the backup. */
struct copy {
	const char *dir;
	char *part, *final;
};

static bool backup_copy_begin(
    struct copy *c, const char *from, const char *dir, const char *name, struct error *err)
{
	*c = (struct copy){dir, xasprintf("%s/%s.part", dir, name), xasprintf("%s/%s", dir, name)};
	/* it may be one that database_create has made */
	int fd = open(c->part, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 && errno != EEXIST)
		return backup_failed(err, c->part);
	if (fd >= 0)
		close(fd);
	/* a snapshot, taken by a reader: writers go on meanwhile */
	struct db *db = sqlite_open(from, DB_WRITE, err);
	struct query q;
	query_start(&q, db, SQL_BACKUP, err);
	query_text(&q, ":path", c->part);
	bool ok = query_run(&q);
	db_close(db);
	return ok && backup_put_on_disk(c->part, err);
}

/* Gives the copy its name when all went well; removes it when not. */
static bool backup_copy_end(struct copy *c, bool ok, struct error *err)
{
	if (ok && rename(c->part, c->final) != 0)
		ok = backup_failed(err, c->final);
	ok = ok && backup_put_on_disk(c->dir, err);
	if (!ok) {
		backup_remove_database(c->part);
		unlink(c->final); /* a name that is not on disk is none */
	}
	free(c->part);
	free(c->final);
	return ok;
}

/* Databases beside threads.db, for files and memories; an older service has none of them. */
static const char *const beside[] = {"files.db", "store.db"};

/* Removes what a backup that was not completed has left. */
static void backup_clear(const char *path)
{
	char *part = xasprintf("%s/threads.db.part", path);
	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		char *copy = xasprintf("%s/%s", path, beside[i]);
		char *copy_part = xasprintf("%s.part", copy);
		unlink(copy);
		backup_remove_database(copy_part);
		free(copy);
		free(copy_part);
	}
	backup_remove_database(part);
	free(part);
}

/* Makes the directory, or takes one that is empty but for what a backup has left that was killed.
 * A lock on it keeps other backups out until it is closed; -1 with err set. */
static int backup_take_directory(const char *path, struct error *err)
{
	bool there = directory_make(path) || errno == EEXIST;
	int dir = there ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (dir < 0) {
		backup_failed(err, path);
		return -1;
	}
	bool locked = flock(dir, LOCK_EX | LOCK_NB) == 0; /* some file systems know no locks */
	bool alone = locked || errno != EWOULDBLOCK ||
	    error_set(err, ERR_STORAGE, "another backup is being made in %s", path);
	bool left = locked;
	if (!alone || !backup_is_free(path, &left, err)) {
		close(dir);
		return -1;
	}
	if (left)
		backup_clear(path);
	return dir;
}

/*
 * threads.db is copied first, so that all files that its messages name have their records in the
 * copy of files.db.  It gets its name last: a backup that has it is whole.
 */
bool engine_backup(
    struct storage *st, const struct storage_context *ctx, const char *path, struct error *err)
{
	const char *from = engine_of(st)->source.path;
	int state = (int)(strrchr(from, '/') - from); /* the length of the directory's name */
	struct copy threads;
	bool ok;
	(void)ctx;
	int dir = backup_take_directory(path, err);
	if (dir < 0)
		return false;
	ok = backup_copy_begin(&threads, from, path, "threads.db", err);
	for (size_t i = 0; ok && i < sizeof(beside) / sizeof(beside[0]); i++) {
		char *other = xasprintf("%.*s/%s", state, from, beside[i]);
		struct copy copy;
		if (access(other, F_OK) == 0)
			ok = backup_copy_end(
			    &copy, backup_copy_begin(&copy, other, path, beside[i], err), err);
		free(other);
	}
	ok = backup_copy_end(&threads, ok, err);
	if (!ok) /* only whole backups stay, so the next one can use the directory */
		backup_clear(path);
	close(dir);
	return ok;
}

/* ---- and back ---- */

/* While this marker lies in a state directory, its databases may not belong together.  It is a
 * directory if they come from a copy, with those that are not in their places yet. */
#define RESTORING "restoring"

static const char *const restored[] = {"threads.db", "files.db", "store.db"};

#define RESTORED_COUNT (sizeof(restored) / sizeof(restored[0]))

bool restore_check(const char *state_dir, struct error *err)
{
	char *marker = xasprintf("%s/" RESTORING, state_dir);
	struct stat st;
	bool whole = lstat(marker, &st) != 0;
	const char *what = !whole && S_ISDIR(st.st_mode) ? "copy" : "restore";
	free(marker);
	return whole ||
	    error_set(err, ERR_STORAGE, "a %s into %s was interrupted: run agentgraph %s again",
		what, state_dir, what);
}

/* Whether one of the databases of a backup, which need not be there, is one that this program can
 * open. */
static bool backup_is_known(const char *backup, const char *file, struct error *err)
{
	char *path = xasprintf("%s/%s", backup, file);
	char *name = xstrndup(file, strcspn(file, "."));
	bool there = access(path, F_OK) == 0;
	struct db *db = there ? sqlite_open(path, DB_READ, err) : NULL;
	int version;
	bool ok = !there || (db && database_version(db, path, name, &version, err));
	if (ok && there && version == 0)
		ok = error_set(err, ERR_STORAGE, "%s is no database of agentgraph", path);
	db_close(db);
	free(name);
	free(path);
	return ok;
}

/* Whether that threads.db of a backup is the one in a directory. */
static bool backup_is_same(const char *threads, const char *dir)
{
	char *path = xasprintf("%s/%s", dir, restored[0]);
	struct stat from, to;
	bool same = stat(threads, &from) == 0 && stat(path, &to) == 0 && from.st_dev == to.st_dev &&
	    from.st_ino == to.st_ino;
	free(path);
	return same;
}

bool engine_may_restore(
    const char *state_dir, const char *backup, bool overwrite, struct error *err)
{
	char *marker = xasprintf("%s/" RESTORING, state_dir);
	char *threads = xasprintf("%s/%s", backup, restored[0]);
	bool ok = access(threads, F_OK) == 0 ||
	    (errno == ENOENT ? error_set(err, ERR_STORAGE, "%s is no whole backup: it has no %s",
				   backup, restored[0])
			     : backup_failed(err, threads));
	if (ok && backup_is_same(threads, state_dir))
		ok = error_set(err, ERR_STORAGE, "%s is the state directory itself", backup);
	if (ok && backup_is_same(threads, marker))
		ok = error_set(err, ERR_STORAGE,
		    "%s is what an interrupted copy has left: run agentgraph copy again", backup);
	for (size_t i = 0; ok && i < RESTORED_COUNT; i++)
		ok = backup_is_known(backup, restored[i], err);
	/* what an interrupted restore left may be replaced */
	overwrite = overwrite || access(marker, F_OK) == 0;
	for (size_t i = 0; ok && !overwrite && i < RESTORED_COUNT; i++) {
		char *path = xasprintf("%s/%s", state_dir, restored[i]);
		if (access(path, F_OK) == 0)
			ok = error_set(err, ERR_STORAGE,
			    "%s exists: --force replaces all databases there", path);
		free(path);
	}
	free(threads);
	free(marker);
	return ok;
}

/* Puts the copies in place.  From here on there is no way back. */
static bool backup_switch_over(
    struct copy *copies, const char *state_dir, const char *marker, struct error *err)
{
	bool ok = database_create(marker, err) && backup_put_on_disk(state_dir, err);
	for (size_t i = 0; ok && i < RESTORED_COUNT; i++) {
		char *path = xasprintf("%s/%s", state_dir, restored[i]);
		backup_remove_database(path);
		if (copies[i].part && rename(copies[i].part, path) != 0)
			ok = backup_failed(err, path);
		free(path);
	}
	ok = ok && backup_put_on_disk(state_dir, err) &&
	    (unlink(marker) == 0 || backup_failed(err, marker));
	return ok && backup_put_on_disk(state_dir, err);
}

bool restore_take_copy(const char *state_dir, const char *copied, struct error *err)
{
	char *marker = xasprintf("%s/" RESTORING, state_dir);
	bool ok = true;
	for (size_t i = 0; ok && i < RESTORED_COUNT; i++) {
		char *path = xasprintf("%s/%s", copied, restored[i]);
		ok = backup_put_on_disk(path, err);
		free(path);
	}
	ok = ok && backup_put_on_disk(copied, err) &&
	    (rename(copied, marker) == 0 || backup_failed(err, marker)) &&
	    backup_put_on_disk(state_dir, err);
	for (size_t i = 0; ok && i < RESTORED_COUNT; i++) {
		char *old = xasprintf("%s/%s", marker, restored[i]);
		char *new = xasprintf("%s/%s", state_dir, restored[i]);
		ok = rename(old, new) == 0 || backup_failed(err, old);
		free(old);
		free(new);
	}
	ok = ok && backup_put_on_disk(state_dir, err) &&
	    (rmdir(marker) == 0 || backup_failed(err, marker)) &&
	    backup_put_on_disk(state_dir, err);
	free(marker);
	return ok;
}

bool restore_clear_copy(const char *state_dir, struct error *err)
{
	char *marker = xasprintf("%s/" RESTORING, state_dir);
	const char *const dirs[] = {state_dir, marker};
	struct stat st;
	bool ok = true;
	if (lstat(marker, &st) == 0 && S_ISDIR(st.st_mode)) {
		for (size_t i = 0; i < 2 * RESTORED_COUNT; i++) {
			char *path = xasprintf("%s/%s", dirs[i % 2], restored[i / 2]);
			backup_remove_database(path);
			free(path);
		}
		ok = backup_put_on_disk(state_dir, err) &&
		    (rmdir(marker) == 0 || backup_failed(err, marker));
	}
	free(marker);
	return ok;
}

bool engine_restore(const char *state_dir, const char *backup, struct error *err)
{
	char *marker = xasprintf("%s/" RESTORING, state_dir);
	struct copy copies[RESTORED_COUNT] = {0};
	bool ok = restore_clear_copy(state_dir, err);
	for (size_t i = 0; ok && i < RESTORED_COUNT; i++) {
		char *source = xasprintf("%s/%s", backup, restored[i]);
		char *part = xasprintf("%s/%s.part", state_dir, restored[i]);
		/* a backup need not have all of them; a restore that died may have left a part */
		if (access(source, F_OK) == 0) {
			backup_remove_database(part);
			ok = database_create(part, err) &&
			    backup_copy_begin(&copies[i], source, state_dir, restored[i], err);
		}
		free(part);
		free(source);
	}
	ok = ok && backup_switch_over(copies, state_dir, marker, err);
	for (size_t i = 0; i < RESTORED_COUNT; i++) {
		if (copies[i].part)
			backup_remove_database(copies[i].part);
		free(copies[i].part);
		free(copies[i].final);
	}
	free(marker);
	return ok;
}
