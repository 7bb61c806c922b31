/* SPDX-License-Identifier: ISC */
/*
 * The storage: what a process has open of what is kept, behind the engine that keeps it.
 *
 * An engine is a constant: its name, what it can do, and a table of operations for each subject, in
 * a header of its own (threads.h, memories.h, file_records.h, trace_records.h).  The configuration
 * chooses one of the engines that there are; tests open one of their own.  A struct storage is
 * shared by all threads of a process.
 *
 * Every operation takes a context, which may be NULL, and an error.  Each is one transaction; a
 * call that returns true has its effect on disk.  Failures: ERR_TRANSIENT_STORAGE (locked, disk
 * full), ERR_STORAGE (anything else), and what the operation names.
 */
#ifndef AGENTGRAPH_STORAGE_STORAGE_H
#define AGENTGRAPH_STORAGE_STORAGE_H

#include "base/error.h"
#include "base/os/waiter.h"

#include <stdbool.h>
#include <stdint.h>

struct blob_bytes;
struct config;
struct copy_ops;
struct deferrals;
struct shared;
struct storage;
struct run_ops;
struct push_words;
struct run_record;
struct thread_ops;
struct history_ops;
struct memory_ops;
struct file_record_ops;
struct trace_record_ops;

/* For whom an operation works. */
struct storage_context {
	/* Who waits for it: what only reads, and may take long, ends without them with status 499.
	 * NULL: nobody in particular. */
	const struct waiter *waiter;
	const char *request_id; /* for the log, or NULL */
};

/* What nobody has touched since then, the longest untouched first. */
struct untouched {
	int64_t before;   /* microseconds since 1970 */
	int64_t skip;     /* so many of the first are known, and stay */
	const char **ids; /* the arena's */
	size_t count;     /* the room in ids; then how many there are */
};

#define STORAGE_SECRET_SIZE 32

/* An instance that serves what is stored. */
struct storage_instance {
	const char *id, *version;
	int64_t started_at, seen_at; /* microseconds since 1970, by the database's clock */
};

struct storage_engine {
	const char *name; /* "sqlite": info.checkpointer_type */

	const char *backup_tools; /* what makes backups, where the engine makes none itself */

	/* What not every engine can do; callers ask here, never for the name. */
	struct {
		bool instances; /* several machines at once */
		bool backup;    /* there is a backup, and a restore */
		bool reserve;   /* there is a make_room */
	} can;

	/* Opens (and migrates, where needed) what config says; the caller fills struct storage. */
	struct storage *(*open)(
	    const struct config *config, struct shared *shared, struct error *err);
	void (*close)(struct storage *st);

	/*
	 * Looks where config's database is and whether a service could work on it, and changes
	 * nothing: a sentence without an end, malloc'd, never with a password; NULL with err set
	 * where it could not.  NULL in an engine whose database is in the state directory.
	 */
	char *(*examine)(const struct config *config, struct error *err);

	/* Tells each instance that was seen lately; NULL where there is no other than this one. */
	bool (*instances)(struct storage *st, const struct storage_context *ctx,
	    void (*tell)(void *arg, const struct storage_instance *instance), void *arg,
	    struct error *err);

	/*
	 * An online, consistent copy of everything (agentgraph backup) into the directory path,
	 * which is made (0700) or empty.  A copy gets its name when it is complete and on disk, so
	 * path can serve as a state directory.
	 */
	bool (*backup)(struct storage *st, const struct storage_context *ctx, const char *path,
	    struct error *err);
	/* Whether a backup is whole, and replaces databases in the state directory with overwrite
	 * alone. */
	bool (*may_restore)(
	    const char *state_dir, const char *backup, bool overwrite, struct error *err);
	/*
	 * Puts the databases of a backup into the state directory, of which nobody makes use
	 * meanwhile, for the owner of that directory, where may_restore has let it.  Up to the
	 * moment when all copies are complete and on disk nothing has changed; a process that dies
	 * after that leaves a state that does not open before it was restored again.
	 */
	bool (*restore)(const char *state_dir, const char *backup, struct error *err);

	const struct copy_ops *copy; /* of sql/copy.h; NULL in an engine that keeps no rows */

	/* Gives up what room on the disk was kept for removing something; false when there is none
	 * (any more), so that trying again is in vain. */
	bool (*make_room)(struct storage *st);

	const struct thread_ops *threads;
	const struct run_ops *runs;
	const struct history_ops *history;
	const struct memory_ops *memories;
	const struct blob_bytes *bytes; /* of files, at a struct storage; NULL: it keeps none */
	const struct file_record_ops *file_records;
	const struct trace_record_ops *trace_records;
};

/* SQLite, in files of the state directory; PostgreSQL, in one schema of a database. */
extern const struct storage_engine sqlite_engine, postgresql_engine;

struct storage {
	const struct storage_engine *engine;
	const struct thread_ops *threads; /* the engine's */
	const struct run_ops *runs;
	const struct history_ops *history;
	struct deferrals *deferrals; /* of defer.h */
	int64_t thread_max_bytes;    /* what a thread may hold; 0: no limit */
	int64_t runs_keep;           /* records of a thread's latest runs; 0: of all */
	int64_t history_keep;        /* a thread's latest checkpoints; 0: all */
	int64_t chunks_keep; /* microseconds from the end of a run to that of its kept chunks */

	/* Of an engine that can have instances: a number that no other one has now, from 0 on, and
	 * what all of them derive keys from. */
	int64_t node;
	unsigned char secret[STORAGE_SECRET_SIZE];

	/*
	 * What a webhook is to say of a run that has ended, malloc'd, for the outbox; set by the
	 * service before the first run.  An engine calls it within its transactions, from any
	 * thread, so it uses no storage.  NULL, or its result NULL: nobody is told.
	 */
	char *(*webhook_body)(void *arg, const struct run_record *record);
	void *webhook_arg;
	const struct push_words *pushes; /* of runs.h; NULL: nobody is told how tasks go on */
};

/* The engine that config's database names, SQLite where it names none; NULL with err set, whose
 * detail names the key. */
const struct storage_engine *storage_engine_of(const struct config *config, struct error *err);

/*
 * Opens the engine that config chooses; shared, the memory of the instance, outlives it.  It starts
 * threads, so a process that forks opens it afterwards.  The detail of an error names the file.
 */
struct storage *storage_open(const struct config *config, struct shared *shared, struct error *err);

/* The same with an engine that the caller chose. */
struct storage *storage_open_engine(const struct storage_engine *engine,
    const struct config *config, struct shared *shared, struct error *err);

void storage_close(struct storage *st); /* NULL is fine */

/* A backup back into the state directory (may_restore and restore above), by the engine that config
 * chooses. */
bool storage_may_restore(
    const struct config *config, const char *backup, bool overwrite, struct error *err);
bool storage_restore(const struct config *config, const char *backup, struct error *err);

struct copy_report {
	/* From time to time: the table, and how many of all rows are copied. */
	void (*tell)(const char *table, int64_t rows, int64_t all);
	int64_t rows;
	int64_t local_files; /* whose bytes lie in a directory, and stay there */
};

/* Copies everything from one place to another, sqlite:DIR or postgresql://... (sql/copy.h). */
bool storage_copy(const char *from, const char *to, struct copy_report *report, struct error *err);

#endif
