/* SPDX-License-Identifier: ISC */
/* Writing, reading and removing blobs somewhere else, in a bucket or a database, and sweeping what
 * the dead left. */
#include "storage/blob/blob.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "storage/blob/blob_file.h"
#include "storage/blob/s3.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* How much is fetched ahead of a reader; doubled while it reads on. */
#define AHEAD_FIRST (128 << 10)
#define AHEAD_MAX (1 << 20)

struct remote {
	struct blobs blobs; /* first: it is the object */
	const struct blob_bytes *bytes;
	void *place;  /* their first argument */
	char *path;   /* of what is on its way */
	char *prefix; /* of keys */
	int64_t url_seconds;
};

struct remote_upload {
	struct blob_upload upload; /* first */
	char *file;
	char id[BLOB_ID_DIGITS + 1];
	int64_t size;
	bool sent; /* something of it may be there */
};

struct remote_blob {
	struct blob blob; /* first */
	char *key;
	int64_t size;
	char *window; /* of AHEAD_MAX bytes, once it was needed */
	int64_t at;   /* where the window begins */
	size_t len;
	size_t ahead;
};

static struct remote *remote_of(struct blobs *blobs)
{
	return (struct remote *)blobs;
}

/* ---- in ---- */

static void blob_remote_key_of(const struct remote *c, const char *id, char key[BLOB_KEY_SIZE])
{
	snprintf(key, BLOB_KEY_SIZE, "%s%s%.2s/%s", c->prefix, c->prefix[0] ? "/" : "", id, id);
}

static struct blob_upload *remote_begin(struct blobs *blobs, const char *file_id, struct error *err)
{
	const struct remote *c = remote_of(blobs);
	struct remote_upload *u = xcalloc(1, sizeof(*u));
	u->upload.blobs = blobs;
	u->file = xasprintf("%s/%s", c->path, file_id);
	snprintf(u->id, sizeof(u->id), "%s", file_id);
	mkdir(c->path, 0700);
	u->upload.fd = blob_file_create(AT_FDCWD, u->file, 0600);
	if (u->upload.fd >= 0)
		return &u->upload;
	blob_file_failed("make", c->path, file_id, err);
	free(u->file);
	free(u);
	return NULL;
}

static bool remote_write(
    struct blob_upload *upload, const void *data, size_t len, struct error *err)
{
	struct remote_upload *u = (struct remote_upload *)upload;
	if (!blob_file_write(upload->fd, data, len))
		return blob_file_failed("write", remote_of(upload->blobs)->path, u->id, err);
	u->size += (int64_t)len;
	return true;
}

static bool remote_publish(
    struct blob_upload *upload, int64_t modified_at, char key[BLOB_KEY_SIZE], struct error *err)
{
	struct remote_upload *u = (struct remote_upload *)upload;
	struct remote *c = remote_of(upload->blobs);
	(void)modified_at; /* the record has this */
	blob_remote_key_of(c, u->id, key);
	u->sent = true;
	return c->bytes->put(c->place, key, upload->fd, u->size, err);
}

/* Removes the object; true when nothing of it is left. */
static bool remote_take_away(struct remote *c, const char *id)
{
	char key[BLOB_KEY_SIZE];
	struct error err = {0};
	blob_remote_key_of(c, id, key);
	bool gone = c->bytes->remove(c->place, key, &err);
	if (!gone)
		log_warning("%s may be left until the service starts again: %s", key, err.cause);
	error_release(&err);
	return gone;
}

static void remote_end(struct blob_upload *upload, bool keep)
{
	struct remote_upload *u = (struct remote_upload *)upload;
	if (keep || !u->sent || remote_take_away(remote_of(upload->blobs), u->id))
		unlink(u->file);
	else if (ftruncate(upload->fd, 0) != 0)
		log_warning("%s: %s", u->file, strerror(errno));
	close(upload->fd);
	free(u->file);
	free(u);
}

/* ---- out ---- */

static struct blob *remote_open(struct blobs *blobs, const char *key, struct error *err)
{
	int64_t size = remote_of(blobs)->bytes->size(remote_of(blobs)->place, key, err);
	if (size < 0)
		return NULL;
	struct remote_blob *b = xcalloc(1, sizeof(*b));
	b->blob.blobs = blobs;
	b->key = xstrdup(key);
	b->size = size;
	b->ahead = AHEAD_FIRST;
	return &b->blob;
}

static ssize_t remote_read(
    struct blob *blob, void *out, size_t size, int64_t offset, struct error *err)
{
	struct remote_blob *b = (struct remote_blob *)blob;
	const struct remote *c = remote_of(blob->blobs);
	if (offset >= b->size)
		return 0;
	if ((int64_t)size > b->size - offset)
		size = (size_t)(b->size - offset);
	if (size >= AHEAD_MAX)
		return c->bytes->get(c->place, b->key, offset, out, size, err) ? (ssize_t)size : -1;
	if (offset < b->at || offset >= b->at + (int64_t)b->len) {
		size_t len = size > b->ahead ? size : b->ahead;
		if ((int64_t)len > b->size - offset)
			len = (size_t)(b->size - offset);
		if (!b->window)
			b->window = xmalloc(AHEAD_MAX);
		b->len = 0;
		if (!c->bytes->get(c->place, b->key, offset, b->window, len, err))
			return -1;
		b->at = offset;
		b->len = len;
		if (b->ahead < AHEAD_MAX)
			b->ahead *= 2;
	}
	size_t have = b->len - (size_t)(offset - b->at);
	if (size > have)
		size = have;
	memcpy(out, b->window + (offset - b->at), size);
	return (ssize_t)size;
}

static void remote_shut(struct blob *blob)
{
	struct remote_blob *b = (struct remote_blob *)blob;
	free(b->window);
	free(b->key);
	free(b);
}

static const char *remote_sign(struct blobs *blobs, const char *key, const struct blob_answer *as,
    struct arena *arena, int64_t *expires)
{
	const struct remote *c = remote_of(blobs);
	const struct s3_answer answer = {as->type, as->disposition};
	*expires = clock_now() / 1000000 + c->url_seconds;
	return s3_sign(c->place, key, &answer, c->url_seconds, arena);
}

/* ---- what is left over ---- */

/* Sweeps what a dead writer has left, whose lock we have; false when the store or the records are
 * out of reach. */
static bool remote_sweep_entry(struct remote *c, const char *id, blob_recorded *recorded, void *arg)
{
	char *file = xasprintf("%s/%s", c->path, id);
	struct stat there, ours;
	bool ok = true;
	int fd = open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	/* if the name is gone, the writer finished before we got the lock */
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &ours) == 0 &&
	    stat(file, &there) == 0 && there.st_ino == ours.st_ino) {
		enum blob_named named = recorded(id, arg);
		ok = named == BLOB_NAMED || (named == BLOB_UNNAMED && remote_take_away(c, id));
		if (ok)
			unlink(file);
	}
	if (fd >= 0)
		close(fd);
	free(file);
	return ok;
}

/* When the store is out of reach, the next start tries again. */
static void remote_sweep(struct blobs *blobs, blob_recorded *recorded, void *arg)
{
	struct remote *c = remote_of(blobs);
	DIR *dir = opendir(c->path);
	const struct dirent *entry;
	bool more = true;
	while (more && dir && (entry = readdir(dir)))
		more = !blob_id_valid(entry->d_name) ||
		    remote_sweep_entry(c, entry->d_name, recorded, arg);
	if (dir)
		closedir(dir);
	if (c->bytes->tidy)
		c->bytes->tidy(c->place);
}

/* ---- the object ---- */

static void remote_close(struct blobs *blobs)
{
	struct remote *c = remote_of(blobs);
	if (c->bytes->close)
		c->bytes->close(c->place);
	free(c->path);
	free(c->prefix);
	free(c);
}

static bool remote_remove(struct blobs *blobs, const char *key, struct error *err)
{
	return remote_of(blobs)->bytes->remove(remote_of(blobs)->place, key, err);
}

/* ---- a bucket ---- */

static bool bucket_put(void *s3, const char *key, int fd, int64_t size, struct error *err)
{
	return s3_put(s3, key, fd, size, err);
}

static int64_t bucket_size(void *s3, const char *key, struct error *err)
{
	return s3_size(s3, key, err);
}

static bool bucket_get(
    void *s3, const char *key, int64_t offset, char *out, size_t len, struct error *err)
{
	return s3_get(s3, key, offset, out, len, err);
}

static bool bucket_remove(void *s3, const char *key, struct error *err)
{
	return s3_remove(s3, key, err);
}

static void bucket_close(void *s3)
{
	s3_free(s3);
}

static const struct blob_bytes bucket_bytes = {
    .put = bucket_put,
    .size = bucket_size,
    .get = bucket_get,
    .remove = bucket_remove,
    .close = bucket_close,
};

#define REMOTE_OPS                                                                              \
	.close = remote_close, .begin = remote_begin, .write = remote_write,                    \
	.publish = remote_publish, .end = remote_end, .open = remote_open, .read = remote_read, \
	.shut = remote_shut, .remove = remote_remove, .sweep = remote_sweep

static const struct blob_ops cloud_ops = {.name = BLOBS_CLOUD, .sign = remote_sign, REMOTE_OPS};
static const struct blob_ops database_ops = {.name = BLOBS_DATABASE, REMOTE_OPS};

struct blobs *blobs_cloud(const struct config *config)
{
	struct remote *c = xcalloc(1, sizeof(*c));
	const char *prefix = config->env.media_cloud_prefix;
	prefix += strspn(prefix, "/"); /* without the slashes around it */
	size_t len = strlen(prefix);
	while (len > 0 && prefix[len - 1] == '/')
		len--;
	c->blobs.ops = &cloud_ops;
	c->bytes = &bucket_bytes;
	c->place = s3_new(&config->env);
	c->path = xasprintf("%s/cloud", config->state_dir);
	c->prefix = xstrndup(prefix, len);
	c->url_seconds = config->env.media_signed_url_ttl;
	return &c->blobs;
}

struct blobs *blobs_database(const char *state_dir, const struct blob_bytes *bytes, void *place)
{
	struct remote *c = xcalloc(1, sizeof(*c));
	c->blobs.ops = &database_ops;
	c->bytes = bytes;
	c->place = place;
	c->path = xasprintf("%s/uploading", state_dir);
	c->prefix = xstrdup("");
	return &c->blobs;
}
