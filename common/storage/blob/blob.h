/* SPDX-License-Identifier: ISC */
/*
 * Stores for the bytes of files: a struct of functions, so that a directory, memory, a bucket or a
 * database can be behind the same records (files.h).
 *
 * An object is shared by all threads of a process.  Bytes never change once they are stored.
 * Failures: ERR_TRANSIENT_STORAGE (no room, or out of reach for the moment), ERR_STORAGE (anything
 * else).
 */
#ifndef AGENTGRAPH_STORAGE_BLOB_BLOB_H
#define AGENTGRAPH_STORAGE_BLOB_BLOB_H

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The name of every kind of store, as MEDIA_STORAGE_TYPE and the records have it. */
#define BLOBS_MEMORY "memory"
#define BLOBS_LOCAL "local"
#define BLOBS_CLOUD "cloud"
#define BLOBS_DATABASE "database"

#define BLOB_KEY_SIZE 256
#define BLOB_ID_DIGITS 32

/* Whether text can be the id of a file; nothing else in a store's directory is the store's. */
bool blob_id_valid(const char *text);

struct blobs {
	const struct blob_ops *ops;
};

/* An upload: bytes on their way into a store.  A store's own data follow in its memory. */
struct blob_upload {
	struct blobs *blobs;
	int fd; /* what was written so far can be read from it with pread */
};

/* Bytes that are being read. */
struct blob {
	struct blobs *blobs;
};

/* Headers for the bytes, where a store answers clients by itself. */
struct blob_answer {
	const char *type, *disposition; /* Content-Type, Content-Disposition */
};

/* Whether a record names these bytes; where that is unknown, nothing is changed. */
enum blob_named { BLOB_UNNAMED, BLOB_NAMED, BLOB_UNKNOWN };
typedef enum blob_named blob_recorded(const char *file_id, void *arg);

struct blob_ops {
	const char *name;
	void (*close)(struct blobs *blobs);

	/*
	 * Uploads: begin, write, publish (or not), and always end.  Nobody can see an upload until
	 * it is published.  begin returns NULL with err set when it cannot.
	 */
	struct blob_upload *(*begin)(struct blobs *blobs, const char *file_id, struct error *err);
	bool (*write)(struct blob_upload *upload, const void *data, size_t len, struct error *err);
	/* Puts the bytes on disk under a name of the store's choice, and tells it.  modified_at is
	 * in microseconds. */
	bool (*publish)(struct blob_upload *upload, int64_t modified_at, char key[BLOB_KEY_SIZE],
	    struct error *err);
	/* Frees the upload.  keep: a record names the bytes now; else nothing is left of them. */
	void (*end)(struct blob_upload *upload, bool keep);

	/* NULL with err set when the bytes cannot be had. */
	struct blob *(*open)(struct blobs *blobs, const char *key, struct error *err);
	/* Up to size bytes from offset on; 0 at the end, -1 with err set. */
	ssize_t (*read)(
	    struct blob *blob, void *out, size_t size, int64_t offset, struct error *err);
	void (*shut)(struct blob *blob);

	/* Takes the bytes away; true when nothing is left of them, also when nothing was there. */
	bool (*remove)(struct blobs *blobs, const char *key, struct error *err);

	/* Whether this machine has the bytes, also where that cannot be told;
	 * NULL: every one has. */
	bool (*here)(struct blobs *blobs, const char *key);

	/* Whether a web server on this machine finds the bytes under the store's directory by their
	 * key. */
	bool has_paths;

	/* A URL that gives the bytes to anybody until *expires (Unix seconds), in the arena; NULL:
	 * there is none. */
	const char *(*sign)(struct blobs *blobs, const char *key, const struct blob_answer *as,
	    struct arena *arena, int64_t *expires);

	/* Takes away what processes that died have left, here or in an earlier life; NULL: nothing
	 * can be left. */
	void (*sweep)(struct blobs *blobs, blob_recorded *recorded, void *arg);

	/* Takes away everything; NULL: this store is never emptied. */
	void (*clear)(struct blobs *blobs);
};

/* Files below a directory, which is made when the first one comes.  They survive a power cut. */
struct blobs *blobs_local(const char *path);

/*
 * Files that go when the service stops: below a directory too, so that all processes share them,
 * but nobody waits for a disk.  All of them together have at most max bytes; used counts them and
 * is shared by the processes.
 */
struct blobs *blobs_memory(const char *path, _Atomic int64_t *used, int64_t max);

/* The directory of the store in memory, malloc'd. */
char *blobs_memory_path(const char *state_dir);

/* Whether path is a directory that can be written, or one that can be made; else why not, in err,
 * as a sentence. */
bool blobs_local_check(const char *path, struct error *err);

/*
 * Files in a bucket (s3.h), by the settings MEDIA_CLOUD_*, which s3_check accepts.
 *
 * What arrives is collected in a file below the state directory and sent when it is whole, so a
 * client that gives up costs the bucket nothing.  The writer keeps the file, and its lock, until
 * the record is written: a file that nobody has locked was left by a dead process, and names an
 * object that may have no record.
 */
struct blobs *blobs_cloud(const struct config *config);

/* Where another program keeps the bytes of whole files under keys; s3.h describes the functions. */
struct blob_bytes {
	/* Takes size bytes from the file behind fd; whole, or an error. */
	bool (*put)(void *place, const char *key, int fd, int64_t size, struct error *err);
	int64_t (*size)(void *place, const char *key, struct error *err); /* -1 with err set */
	bool (*get)(
	    void *place, const char *key, int64_t offset, char *out, size_t len, struct error *err);
	bool (*remove)(void *place, const char *key, struct error *err);
	void (*tidy)(void *place);  /* takes away what has had no record for long; or NULL */
	void (*close)(void *place); /* NULL: nothing to do */
};

/* Files in the database that keeps their records, for an engine that keeps bytes; works in the same
 * way. */
struct blobs *blobs_database(const char *state_dir, const struct blob_bytes *bytes, void *place);

#endif
