/* SPDX-License-Identifier: ISC */
/* A VFS above SQLite's own: it holds back what is written to a log (wal.h says when that goes to
 * the file). */
#include "storage/sqlite/wal.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>

/* https://www.sqlite.org/fileformat2.html#the_write_ahead_log: a frame is this and a page; bytes 4
 * to 7 are not 0 in the one that commits. */
#define FRAME_HEADER 24
#define FRAME_COMMITS 4
#define FRAME_COMMITS_BYTES 4

/* SQLite's own access writes less than 128 KiB at once. */
#define HELD_MOST (31 * (FRAME_HEADER + 4096))

/* Which of the locks of the log's index: https://www.sqlite.org/walformat.html */
#define WRITE_LOCK 0

enum expected { A_HEADER, A_PAGE, THE_LAST_PAGE };

/* A database, or its log. */
struct wal_file {
	sqlite3_file file;      /* first, so that one pointer is both */
	struct wal_file *other; /* a database's log, or a log's database, while that is open */

	/* only for a log */
	unsigned char *held; /* HELD_MOST bytes of room */
	int length;          /* bytes that are held back */
	sqlite3_int64 at;    /* where they belong in the file */
	sqlite3_int64 end;   /* end of all that was written under the present write lock */
	enum expected next;  /* kind of the next write behind what is held back */

	sqlite3_int64 own[]; /* SQLite's own file */
};

static struct wal_file *wal_file_of(sqlite3_file *file)
{
	return (struct wal_file *)file;
}

static sqlite3_file *wal_own_of(sqlite3_file *file)
{
	return (sqlite3_file *)wal_file_of(file)->own;
}

/* ---- what is as SQLite has it ---- */

static int wal_own_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 at)
{
	return wal_own_of(file)->pMethods->xRead(wal_own_of(file), bytes, count, at);
}

static int wal_own_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at)
{
	return wal_own_of(file)->pMethods->xWrite(wal_own_of(file), bytes, count, at);
}

static int wal_own_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	return wal_own_of(file)->pMethods->xTruncate(wal_own_of(file), size);
}

static int wal_own_sync(sqlite3_file *file, int flags)
{
	return wal_own_of(file)->pMethods->xSync(wal_own_of(file), flags);
}

static int wal_own_size(sqlite3_file *file, sqlite3_int64 *size)
{
	return wal_own_of(file)->pMethods->xFileSize(wal_own_of(file), size);
}

static int wal_own_lock(sqlite3_file *file, int level)
{
	return wal_own_of(file)->pMethods->xLock(wal_own_of(file), level);
}

static int wal_own_unlock(sqlite3_file *file, int level)
{
	return wal_own_of(file)->pMethods->xUnlock(wal_own_of(file), level);
}

static int wal_own_is_reserved(sqlite3_file *file, int *result)
{
	return wal_own_of(file)->pMethods->xCheckReservedLock(wal_own_of(file), result);
}

static int wal_own_control(sqlite3_file *file, int operation, void *arg)
{
	return wal_own_of(file)->pMethods->xFileControl(wal_own_of(file), operation, arg);
}

static int wal_own_sector_size(sqlite3_file *file)
{
	return wal_own_of(file)->pMethods->xSectorSize(wal_own_of(file));
}

static int wal_own_characteristics(sqlite3_file *file)
{
	return wal_own_of(file)->pMethods->xDeviceCharacteristics(wal_own_of(file));
}

static int wal_own_fetch(sqlite3_file *file, sqlite3_int64 at, int count, void **page)
{
	return wal_own_of(file)->pMethods->xFetch(wal_own_of(file), at, count, page);
}

static int wal_own_unfetch(sqlite3_file *file, sqlite3_int64 at, void *page)
{
	return wal_own_of(file)->pMethods->xUnfetch(wal_own_of(file), at, page);
}

/* ---- what is held ---- */

static bool wal_held_has_room(struct wal_file *log, int count)
{
	if (!log->held)
		log->held = sqlite3_malloc(HELD_MOST);
	return log->held && count <= HELD_MOST - log->length;
}

static void wal_held_add(struct wal_file *log, const void *bytes, int count, sqlite3_int64 at)
{
	if (!log->length)
		log->at = at;
	memcpy(log->held + log->length, bytes, (size_t)count);
	log->length += count;
}

static void wal_held_drop(struct wal_file *log)
{
	log->length = 0;
	log->next = A_HEADER;
}

/* Writes what is held back.  If that fails it is kept for another try: SQLite may roll back only a
 * statement, and go on with its transaction. */
static int wal_held_write(struct wal_file *log)
{
	int rc = SQLITE_OK;
	if (log->length)
		rc = wal_own_write(&log->file, log->held, log->length, log->at);
	if (rc == SQLITE_OK)
		wal_held_drop(log);
	return rc;
}

/* ---- the log ---- */

static bool wal_frame_commits(const unsigned char *header)
{
	static const unsigned char nothing[FRAME_COMMITS_BYTES];
	return memcmp(header + FRAME_COMMITS, nothing, sizeof(nothing)) != 0;
}

/*
 * Holds back a header or a page that continues the log.  Anything else is written at once: the
 * header of the log, and what is rewritten under the same lock, which may be a header without a
 * page, as when checksums change behind a page that was replaced.
 */
static int wal_write_next(struct wal_file *log, const void *bytes, int count, sqlite3_int64 at)
{
	bool follows = log->length && at == log->at + log->length;
	int rc = SQLITE_OK;
	if (!follows || !wal_held_has_room(log, count))
		rc = wal_held_write(log);
	if (rc != SQLITE_OK)
		return rc;
	if (log->next == A_HEADER) {
		if (count != FRAME_HEADER || at < log->end || !wal_held_has_room(log, count)) {
			rc = wal_held_write(log);
			return rc == SQLITE_OK ? wal_own_write(&log->file, bytes, count, at) : rc;
		}
		wal_held_add(log, bytes, count, at);
		log->next = wal_frame_commits(bytes) ? THE_LAST_PAGE : A_PAGE;
		return SQLITE_OK;
	}
	wal_held_add(log, bytes, count, at);
	if (log->next == THE_LAST_PAGE) {
		rc = wal_held_write(log);
		/* a frame that failed is dropped, so that it cannot get into the file later when
		 * there is room again */
		if (rc != SQLITE_OK) {
			log->length -= FRAME_HEADER + count;
			log->next = A_HEADER;
		}
		return rc;
	}
	log->next = A_HEADER;
	return SQLITE_OK;
}

static int wal_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at)
{
	struct wal_file *log = wal_file_of(file);
	int rc = wal_write_next(log, bytes, count, at);
	if (rc == SQLITE_OK && at + count > log->end)
		log->end = at + count;
	return rc;
}

static int wal_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 at)
{
	struct wal_file *log = wal_file_of(file);
	int rc = SQLITE_OK;
	if (at < log->at + log->length && at + count > log->at)
		rc = wal_held_write(log);

	return rc == SQLITE_OK ? wal_own_read(file, bytes, count, at) : rc;
}

static int wal_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	int rc = wal_held_write(wal_file_of(file));
	return rc == SQLITE_OK ? wal_own_truncate(file, size) : rc;
}

static int wal_sync(sqlite3_file *file, int flags)
{
	int rc = wal_held_write(wal_file_of(file));
	return rc == SQLITE_OK ? wal_own_sync(file, flags) : rc;
}

static int wal_size(sqlite3_file *file, sqlite3_int64 *size)
{
	int rc = wal_held_write(wal_file_of(file));
	return rc == SQLITE_OK ? wal_own_size(file, size) : rc;
}

/* ---- the index of the log, which belongs to the database ---- */

static int wal_index_lock(sqlite3_file *file, int first, int count, int flags)
{
	sqlite3_file *own = wal_own_of(file);
	struct wal_file *log = wal_file_of(file)->other;
	bool writes = first == WRITE_LOCK && (flags & SQLITE_SHM_EXCLUSIVE);

	if (log && writes && (flags & SQLITE_SHM_UNLOCK))
		wal_held_drop(log); /* the transaction was rolled back */
	int rc = own->pMethods->xShmLock(own, first, count, flags);
	if (log && writes && (flags & SQLITE_SHM_LOCK) && rc == SQLITE_OK)
		log->end = 0;
	return rc;
}

/* SQLite calls this between the two steps of publishing a change of the index.  A commit must be in
 * the file by then: better to abort than to publish one that is not. */
static void wal_index_barrier(sqlite3_file *file)
{
	sqlite3_file *own = wal_own_of(file);
	struct wal_file *log = wal_file_of(file)->other;

	assert(!log || log->next != THE_LAST_PAGE);
	own->pMethods->xShmBarrier(own);
}

static int wal_index_map(
    sqlite3_file *file, int region, int size, int extend, void volatile **memory)
{
	return wal_own_of(file)->pMethods->xShmMap(wal_own_of(file), region, size, extend, memory);
}

static int wal_index_unmap(sqlite3_file *file, int and_delete)
{
	return wal_own_of(file)->pMethods->xShmUnmap(wal_own_of(file), and_delete);
}

/* ---- opened and closed ---- */

static int wal_file_close(sqlite3_file *file)
{
	struct wal_file *f = wal_file_of(file);
	if (f->other)
		f->other->other = NULL;
	sqlite3_free(f->held);
	return wal_own_of(file)->pMethods->xClose(wal_own_of(file));
}

static const sqlite3_io_methods database_methods = {
    .iVersion = 3,
    .xClose = wal_file_close,
    .xRead = wal_own_read,
    .xWrite = wal_own_write,
    .xTruncate = wal_own_truncate,
    .xSync = wal_own_sync,
    .xFileSize = wal_own_size,
    .xLock = wal_own_lock,
    .xUnlock = wal_own_unlock,
    .xCheckReservedLock = wal_own_is_reserved,
    .xFileControl = wal_own_control,
    .xSectorSize = wal_own_sector_size,
    .xDeviceCharacteristics = wal_own_characteristics,
    .xShmMap = wal_index_map,
    .xShmLock = wal_index_lock,
    .xShmBarrier = wal_index_barrier,
    .xShmUnmap = wal_index_unmap,
    .xFetch = wal_own_fetch,
    .xUnfetch = wal_own_unfetch,
};

static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = wal_file_close,
    .xRead = wal_read,
    .xWrite = wal_write,
    .xTruncate = wal_truncate,
    .xSync = wal_sync,
    .xFileSize = wal_size,
    .xLock = wal_own_lock,
    .xUnlock = wal_own_unlock,
    .xCheckReservedLock = wal_own_is_reserved,
    .xFileControl = wal_own_control,
    .xSectorSize = wal_own_sector_size,
    .xDeviceCharacteristics = wal_own_characteristics,
};

static int wal_file_open(
    sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *flags_out)
{
	sqlite3_vfs *own = vfs->pAppData;
	struct wal_file *f = wal_file_of(file);
	bool is_log = flags & SQLITE_OPEN_WAL;

	if (!is_log && !(flags & SQLITE_OPEN_MAIN_DB))
		return own->xOpen(own, name, file, flags, flags_out);
	*f = (struct wal_file){0};
	int rc = own->xOpen(own, name, wal_own_of(file), flags, flags_out);
	if (rc != SQLITE_OK)
		return rc;
	file->pMethods = is_log ? &log_methods : &database_methods;
	if (is_log) {
		f->other = wal_file_of(sqlite3_database_file_object(name));
		f->other->other = f;
	}
	return SQLITE_OK;
}

const char *wal_file_register(void)
{
	static sqlite3_vfs vfs;
	sqlite3_vfs *own = sqlite3_vfs_find("unix");

	if (!own)
		return NULL;
	vfs = *own;
	vfs.pNext = NULL;
	vfs.zName = "agentgraph";
	vfs.szOsFile = (int)sizeof(struct wal_file) + own->szOsFile;
	vfs.pAppData = own;
	vfs.xOpen = wal_file_open;
	return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK ? vfs.zName : NULL;
}
