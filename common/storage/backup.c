/*
 * The backup is a directory with a copy of each database under its own name.  A copy gets that name
 * only when it is complete and on disk, so what looks like a backup is one.
 */
#include "base/memory.h"
#include "storage/engine.h"
#include "storage/migrate.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool failed(struct error *err, const char *path)
{
	return error_set(err, ERR_STORAGE, "%s: %s", path, strerror(errno));
}

static bool is_empty(const char *path, struct error *err)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool empty = true;

	if (!dir)
		return failed(err, path);
	while (empty && (entry = readdir(dir)) != NULL)
		empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	closedir(dir);
	return empty ||
	    error_set(
		err, ERR_STORAGE, "%s is not empty: a backup needs a directory of its own", path);
}

static bool make_directory(const char *path, struct error *err)
{
	if (mkdir(path, 0700) == 0)
		return true;
	return errno == EEXIST ? is_empty(path, err) : failed(err, path);
}

/* fsync of a file or a directory. */
static bool put_on_disk(const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool ok = fd >= 0 && fsync(fd) == 0;

	if (!ok)
		failed(err, path);
	if (fd >= 0)
		close(fd);
	return ok;
}

/* A snapshot, taken by a reader: writers go on meanwhile. */
static bool copy_database(const char *from, const char *to, struct error *err)
{
	struct db *db = db_open(from, DB_WRITE, err);
	struct query q;
	bool ok;

	query_start(&q, db, SQL_BACKUP, err);
	query_text(&q, ":path", to);
	ok = query_run(&q);
	db_close(db);
	return ok;
}

static bool publish(const char *part, const char *final, const char *dir, struct error *err)
{
	if (rename(part, final) != 0)
		return failed(err, final);
	return put_on_disk(dir, err);
}

/* A database on its way into the backup. */
struct copy {
	const char *dir;
	char *part, *final;
};

static bool copy_begin(
    struct copy *c, const char *from, const char *dir, const char *name, struct error *err)
{
	*c = (struct copy){dir, xasprintf("%s/%s.part", dir, name), xasprintf("%s/%s", dir, name)};
	return database_create(c->part, err) && copy_database(from, c->part, err) &&
	    put_on_disk(c->part, err);
}

/* Gives it its name when all went well; takes it away when not. */
static bool copy_end(struct copy *c, bool ok, struct error *err)
{
	ok = ok && publish(c->part, c->final, c->dir, err);
	if (!ok)
		unlink(c->part);
	free(c->part);
	free(c->final);
	return ok;
}

/* Files, where there are any, and memories lie in databases beside the threads; an older service
 * has none. */
static const char *const beside[] = {"files.db", "store.db"};

static bool copy_beside(const char *threads, const char *dir, const char *name, struct error *err)
{
	int state = (int)(strrchr(threads, '/') - threads);
	char *from = xasprintf("%.*s/%s", state, threads, name);
	struct copy c;
	bool ok =
	    access(from, F_OK) != 0 || copy_end(&c, copy_begin(&c, from, dir, name, err), err);

	free(from);
	return ok;
}

/* Only whole backups stay, and the next one can have the directory: nothing else was in it. */
static void take_back(const char *dir)
{
	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		char *path = xasprintf("%s/%s", dir, beside[i]);

		unlink(path);
		free(path);
	}
}

/*
 * threads.db is copied first, so that the files that its messages name have their records, and gets
 * its name last: a backup that has it is whole.
 */
bool engine_backup(struct storage *st, const char *path, struct error *err)
{
	const char *from = engine_of(st)->path;
	struct copy threads;
	bool ok;

	if (!make_directory(path, err))
		return false;
	ok = copy_begin(&threads, from, path, "threads.db", err);
	for (size_t i = 0; ok && i < sizeof(beside) / sizeof(beside[0]); i++)
		ok = copy_beside(from, path, beside[i], err);
	ok = copy_end(&threads, ok, err);
	if (!ok)
		take_back(path);
	return ok;
}
