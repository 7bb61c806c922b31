/* SPDX-License-Identifier: ISC */
/*
 * Stores in a directory: blobs_local and blobs_memory.
 *
 * A file is written as incoming/<id>, which its writer keeps locked, and gets a second name, <first
 * two digits>/<id>, when it is whole and on disk.  The first name goes last, after the record is
 * written.  So whoever finds one that nobody has locked knows that its writer died, and whether the
 * second name is to go too: when there is no record.  Every name is made here, of an id that the
 * service has made.
 */
#include "base/memory.h"
#include "base/os/clock.h"
#include "storage/blob/blob.h"
#include "storage/blob/blob_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The umask takes its bits away; a web server of the same group may read. */
#define DIRECTORY_MODE 0750
#define FILE_MODE 0640

#define INCOMING "incoming"
#define NAME_SIZE 64

/* How much is flushed to the disk while more arrives, so that the end has little to wait for. */
#define FLUSH_STEP (8 << 20)

struct directory {
	struct blobs blobs; /* first: it is the object */
	char *path;
	bool durable;
	_Atomic int64_t *used; /* NULL: unbounded */
	int64_t max;
	pthread_mutex_t lock; /* guards what follows */
	int root;             /* -1 before it was needed */
};

struct directory_upload {
	struct blob_upload upload; /* first */
	char name[NAME_SIZE];      /* incoming/<id> */
	char key[NAME_SIZE];       /* "" before it was published */
	int64_t size, flushed;
};

struct directory_blob {
	struct blob blob; /* first */
	int fd;
};

static struct directory *directory_of(struct blobs *blobs)
{
	return (struct directory *)blobs;
}

/* ---- failures ---- */

static bool directory_failed(
    const struct directory *d, const char *what, const char *name, struct error *err)
{
	return blob_file_failed(what, d->path, name, err);
}

/* ---- the directory ---- */

enum root { ROOT_THERE, ROOT_MADE }; /* only where there is one; or it is made */

static int directory_open_root(struct directory *d, enum root root)
{
	int fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 || errno != ENOENT || root != ROOT_MADE)
		return fd;
	char *copy = xstrdup(d->path);
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(copy, DIRECTORY_MODE);
		*slash = '/';
	}
	free(copy);
	if (mkdir(d->path, DIRECTORY_MODE) != 0 && errno != EEXIST)
		return -1;
	return open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* The directory's descriptor, -1 with errno set. */
static int directory_root_of(struct directory *d, enum root root)
{
	pthread_mutex_lock(&d->lock);
	if (d->root < 0)
		d->root = directory_open_root(d, root);
	int fd = d->root;
	pthread_mutex_unlock(&d->lock);
	return fd;
}

static bool blob_directory_put_on_disk(int root, const char *name)
{
	int fd = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool ok = fd >= 0 && fsync(fd) == 0;
	if (fd >= 0)
		close(fd);
	return ok;
}

/* Makes a directory below the root unless it is there. */
static bool directory_make_below(const struct directory *d, int root, const char *name)
{
	if (mkdirat(root, name, DIRECTORY_MODE) != 0)
		return errno == EEXIST;
	return !d->durable || fsync(root) == 0;
}

/* ---- in ---- */

static void blob_directory_key_of(const char *id, char key[NAME_SIZE])
{
	snprintf(key, NAME_SIZE, "%.2s/%s", id, id);
}

static struct blob_upload *directory_begin(
    struct blobs *blobs, const char *file_id, struct error *err)
{
	struct directory *d = directory_of(blobs);
	struct directory_upload *u = xcalloc(1, sizeof(*u));
	int root = directory_root_of(d, ROOT_MADE);
	u->upload.blobs = blobs;
	u->upload.fd = -1;
	snprintf(u->name, sizeof(u->name), INCOMING "/%s", file_id);
	if (root >= 0 && directory_make_below(d, root, INCOMING))
		u->upload.fd = blob_file_create(root, u->name, FILE_MODE);
	if (u->upload.fd >= 0)
		return &u->upload;
	directory_failed(d, "make", u->name, err);
	free(u);
	return NULL;
}

static bool directory_write(
    struct blob_upload *upload, const void *data, size_t len, struct error *err)
{
	struct directory_upload *u = (struct directory_upload *)upload;
	struct directory *d = directory_of(upload->blobs);
	int64_t more = (int64_t)len;
	if (d->used && atomic_fetch_add(d->used, more) + more > d->max) {
		atomic_fetch_sub(d->used, more);
		error_set(err, ERR_TRANSIENT_STORAGE, NULL);
		return error_cause(
		    err, "the files in memory would have more than %lld bytes", (long long)d->max);
	}
	u->size += (int64_t)len;
	if (!blob_file_write(upload->fd, data, len))
		return directory_failed(d, "write", u->name, err);
	if (d->durable && u->size - u->flushed >= FLUSH_STEP) {
		sync_file_range(
		    upload->fd, u->flushed, u->size - u->flushed, SYNC_FILE_RANGE_WRITE);
		u->flushed = u->size;
	}
	return true;
}

static bool directory_publish(
    struct blob_upload *upload, int64_t modified_at, char key[BLOB_KEY_SIZE], struct error *err)
{
	struct directory_upload *u = (struct directory_upload *)upload;
	struct directory *d = directory_of(upload->blobs);
	int root = directory_root_of(d, ROOT_MADE);
	char shard[3];
	/* what a web server tells as the time of the last change */
	const struct timespec time = {modified_at / 1000000, (long)(modified_at % 1000000) * 1000};
	const struct timespec times[] = {time, time};
	snprintf(shard, sizeof(shard), "%.2s", u->name + strlen(INCOMING "/"));
	if (futimens(upload->fd, times) != 0 || (d->durable && fsync(upload->fd) != 0) ||
	    !directory_make_below(d, root, shard))
		return directory_failed(d, "store", u->name, err);
	blob_directory_key_of(u->name + strlen(INCOMING "/"), u->key);
	/* where a file system has no second names, the one name is changed */
	bool named = linkat(root, u->name, root, u->key, 0) == 0 ||
	    (errno != EEXIST && errno != ENOSPC && renameat(root, u->name, root, u->key) == 0);
	if (!named || (d->durable && !blob_directory_put_on_disk(root, shard)))
		return directory_failed(d, "name", u->key, err);
	snprintf(key, BLOB_KEY_SIZE, "%s", u->key);
	return true;
}

static void directory_end(struct blob_upload *upload, bool keep)
{
	struct directory_upload *u = (struct directory_upload *)upload;
	struct directory *d = directory_of(upload->blobs);
	int root = directory_root_of(d, ROOT_THERE);
	if (!keep && u->key[0])
		unlinkat(root, u->key, 0);
	unlinkat(root, u->name, 0);
	if (!keep && d->used)
		atomic_fetch_sub(d->used, u->size);
	close(upload->fd);
	free(u);
}

/* ---- out ---- */

static bool directory_key_is_ours(const char *key)
{
	return strlen(key) == BLOB_ID_DIGITS + 3 && key[2] == '/' && blob_id_valid(key + 3) &&
	    strncmp(key, key + 3, 2) == 0;
}

static struct blob *directory_open(struct blobs *blobs, const char *key, struct error *err)
{
	struct directory *d = directory_of(blobs);
	int root = directory_root_of(d, ROOT_THERE), fd = -1;
	struct directory_blob *blob;
	errno = ENOENT;
	if (root >= 0 && directory_key_is_ours(key))
		fd = openat(root, key, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		directory_failed(d, "open", key, err);
		return NULL;
	}
	blob = xcalloc(1, sizeof(*blob));
	blob->blob.blobs = blobs;
	blob->fd = fd;
	return &blob->blob;
}

static ssize_t directory_read(
    struct blob *blob, void *out, size_t size, int64_t offset, struct error *err)
{
	ssize_t n;
	do
		n = pread(((struct directory_blob *)blob)->fd, out, size, offset);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		directory_failed(directory_of(blob->blobs), "read", "a file", err);
	return n;
}

static void directory_shut(struct blob *blob)
{
	close(((struct directory_blob *)blob)->fd);
	free(blob);
}

static bool directory_remove(struct blobs *blobs, const char *key, struct error *err)
{
	struct directory *d = directory_of(blobs);
	int root = directory_root_of(d, ROOT_THERE);
	struct stat st;
	if (root >= 0)
		errno = ENOENT;
	if (root < 0 || !directory_key_is_ours(key) ||
	    fstatat(root, key, &st, AT_SYMLINK_NOFOLLOW) != 0 || unlinkat(root, key, 0) != 0)
		return errno == ENOENT || directory_failed(d, "remove", key, err);
	if (d->used)
		atomic_fetch_sub(d->used, st.st_size);
	return true;
}

static bool directory_here(struct blobs *blobs, const char *key)
{
	int root = directory_root_of(directory_of(blobs), ROOT_THERE);
	struct stat st;
	if (root >= 0)
		errno = ENOENT;
	return (root >= 0 && directory_key_is_ours(key) &&
		   fstatat(root, key, &st, AT_SYMLINK_NOFOLLOW) == 0) ||
	    errno != ENOENT;
}

/* ---- what is left over ---- */

/* Removes what a dead writer has left, both names or only the first.  The writer is dead if nobody
 * has locked the file. */
static void blob_directory_sweep_one(
    struct directory *d, const char *id, blob_recorded *recorded, void *arg)
{
	char name[NAME_SIZE], key[NAME_SIZE];
	struct stat st;
	int root = directory_root_of(d, ROOT_THERE);
	snprintf(name, sizeof(name), INCOMING "/%s", id);
	int fd = openat(root, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	/* if the name is gone, the writer finished before we got the lock */
	enum blob_named named = BLOB_UNKNOWN;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstatat(root, name, &st, 0) == 0)
		named = recorded(id, arg);
	if (named != BLOB_UNKNOWN) {
		blob_directory_key_of(id, key);
		if (named == BLOB_UNNAMED)
			unlinkat(root, key, 0);
		unlinkat(root, name, 0);
		if (named == BLOB_UNNAMED && d->used && fstat(fd, &st) == 0)
			atomic_fetch_sub(d->used, st.st_size);
	}
	close(fd);
}

static DIR *blob_directory_list(int root, const char *name)
{
	int fd = root < 0 ? -1 : openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

static void directory_sweep(struct blobs *blobs, blob_recorded *recorded, void *arg)
{
	struct directory *d = directory_of(blobs);
	DIR *dir = blob_directory_list(directory_root_of(d, ROOT_THERE), INCOMING);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir)))
		if (blob_id_valid(entry->d_name))
			blob_directory_sweep_one(d, entry->d_name, recorded, arg);
	if (dir)
		closedir(dir);
}

static void directory_clear_below(int root, const char *name)
{
	DIR *dir = blob_directory_list(root, name);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir)))
		if (blob_id_valid(entry->d_name))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

static void directory_clear(struct blobs *blobs)
{
	struct directory *d = directory_of(blobs);
	int root = directory_root_of(d, ROOT_THERE);
	char name[3];
	if (root < 0)
		return;
	directory_clear_below(root, INCOMING);
	for (unsigned i = 0; i < 256; i++) {
		snprintf(name, sizeof(name), "%02x", i);
		directory_clear_below(root, name);
	}
}

/* ---- the object ---- */

static void directory_close(struct blobs *blobs)
{
	struct directory *d = directory_of(blobs);
	if (d->root >= 0)
		close(d->root);
	pthread_mutex_destroy(&d->lock);
	free(d->path);
	free(d);
}

#define DIRECTORY_OPS                                                                 \
	.close = directory_close, .begin = directory_begin, .write = directory_write, \
	.publish = directory_publish, .end = directory_end, .open = directory_open,   \
	.read = directory_read, .shut = directory_shut, .remove = directory_remove,   \
	.here = directory_here, .has_paths = true, .sweep = directory_sweep

static const struct blob_ops local_ops = {.name = BLOBS_LOCAL, DIRECTORY_OPS};
static const struct blob_ops memory_ops = {
    .name = BLOBS_MEMORY, DIRECTORY_OPS, .clear = directory_clear};

static struct directory *directory_new(const struct blob_ops *ops, const char *path)
{
	struct directory *d = xcalloc(1, sizeof(*d));
	d->blobs.ops = ops;
	d->path = xstrdup(path);
	d->root = -1;
	pthread_mutex_init(&d->lock, NULL);
	return d;
}

struct blobs *blobs_local(const char *path)
{
	struct directory *d = directory_new(&local_ops, path);
	d->durable = true;
	return &d->blobs;
}

struct blobs *blobs_memory(const char *path, _Atomic int64_t *used, int64_t max)
{
	struct directory *d = directory_new(&memory_ops, path);
	d->used = used;
	d->max = max;
	return &d->blobs;
}

char *blobs_memory_path(const char *state_dir)
{
	return xasprintf("%s/memory", state_dir);
}

/* A directory that does not exist will be made below the nearest one that does, so that is
 * checked. */
bool blobs_local_check(const char *path, struct error *err)
{
	char *copy = xstrdup(path);
	const char *at = copy;
	struct stat st;
	bool ok;
	while (stat(at, &st) != 0 && errno == ENOENT && strcmp(at, "/") != 0)
		at = dirname(copy);
	ok = access(at, W_OK | X_OK) == 0;
	if (ok && !S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
		ok = false;
	}
	if (!ok)
		error_set(err, ERR_STORAGE,
		    "MEDIA_STORAGE_PATH: expected a directory that can be written, found %s: %s",
		    at, strerror(errno));
	free(copy);
	return ok;
}
