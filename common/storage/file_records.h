/* SPDX-License-Identifier: ISC */
/*
 * Records of uploaded files, as a storage engine keeps them; their bytes are elsewhere (files.h).
 *
 * One struct file_records is shared by all threads of a process, and closed before its storage.
 */
#ifndef AGENTGRAPH_STORAGE_FILE_RECORDS_H
#define AGENTGRAPH_STORAGE_FILE_RECORDS_H

#include "base/arena.h"
#include "base/error.h"
#include "storage/storage.h"

#include <stdbool.h>
#include <stdint.h>

/* What became of the extraction of a file's text. */
enum text_state {
	TEXT_NONE, /* none was asked for, or the type has none */
	TEXT_EXTRACTED,
	TEXT_FAILED
};

struct file_record {
	const char *file_id;
	const char *owner; /* NULL: nobody in particular */
	const char *filename;
	const char *mime_type;
	int64_t size;
	const char *sha256;
	int64_t created_at; /* microseconds */
	/* likewise: when it was last used, to an hour; add sets it to created_at */
	int64_t touched_at;
	const char *backend, *key;
	enum text_state text_state;
	const char *text; /* what was extracted, or NULL; get leaves it out */
};

struct file_record_ops;

struct file_records {
	const struct file_record_ops *ops;
};

struct file_record_ops {
	/* Opens nothing yet. */
	struct file_records *(*open)(struct storage *st);
	void (*close)(struct file_records *records);

	/*
	 * Makes, or migrates, the database of the records; to be called once before anything else.
	 * Where there is none yet and make is false, this only tells whether it could be made.  The
	 * detail of an error names the file.
	 */
	bool (*prepare)(struct file_records *records, const struct storage_context *ctx, bool make,
	    struct error *err);

	/* The record, in the arena; false with no error set when there is none. */
	bool (*get)(struct file_records *records, const struct storage_context *ctx,
	    struct arena *a, const char *file_id, struct file_record *record, struct error *err);
	/* Its text, malloc'd; NULL when it has none, or with err set. */
	char *(*text)(struct file_records *records, const struct storage_context *ctx,
	    const char *file_id, struct error *err);
	/* The text of any record with TEXT_EXTRACTED and that sum and type, in the same way. */
	char *(*same_text)(struct file_records *records, const struct storage_context *ctx,
	    const char *sha256, const char *mime_type, struct error *err);
	/* Finds records by the time of their latest use. */
	bool (*untouched)(struct file_records *records, const struct storage_context *ctx,
	    struct arena *a, struct untouched *old, struct error *err);

	/* An id that is there already is an error. */
	bool (*add)(struct file_records *records, const struct storage_context *ctx,
	    const struct file_record *record, struct error *err);
	/* Sets touched_at, which never goes back.  Does nothing where there is no such record. */
	bool (*touch)(struct file_records *records, const struct storage_context *ctx,
	    const char *file_id, int64_t now, struct error *err);
	bool (*remove)(struct file_records *records, const struct storage_context *ctx,
	    const char *file_id, struct error *err);
	/* Removes all records of a backend, but none while other instances are there. */
	bool (*forget)(struct file_records *records, const struct storage_context *ctx,
	    const char *backend, struct error *err);
};

#endif
