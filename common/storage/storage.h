/* SPDX-License-Identifier: ISC */
/*
 * The storage: a process's access to everything the service keeps, behind the engine that keeps it.
 *
 * An engine is a constant: its name, what it can do, and a table of operations for each subject, in
 * a header of its own (threads.h, memories.h, file_records.h, trace_records.h).  The configuration
 * chooses the engine; tests may open one of their own.  A struct storage is shared by all threads
 * of a process.
 *
 * Every operation takes a context, which may be NULL, and an error.  Each is one transaction; a
 * call that returns true has its effect on disk.  Failures: ERR_TRANSIENT_STORAGE (locked, disk
 * full), ERR_STORAGE (anything else), and those that the operation names.
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
	/* Who waits for the result: once they have left, a long read gives up with status 499.
	 * NULL: the operation runs to its end. */
	const struct waiter *waiter;
	const char *request_id; /* for the log, or NULL */
};

/* A search for rows that nobody has touched since before; the longest untouched come first. */
struct untouched {
	int64_t before; /* microseconds since 1970 */
	int64_t skip;   /* leave out this many at the front, which the caller has seen and keeps */
	const char **ids; /* in the arena */
	size_t count;     /* in: the room in ids; out: how many were found */
};

#define STORAGE_SECRET_SIZE 32

/* One of the instances that serve this storage. */
struct storage_instance {
	const char *id, *version;
	int64_t started_at, seen_at; /* microseconds since 1970, by the database's clock */
};

struct storage_engine {
	const char *name; /* "sqlite"; clients see it as info.checkpointer_type */

	/* names the tool to use where the engine makes no backups itself */
	const char *backup_tools;

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
	 * Says where config's database is, having checked that a service could work on it; changes
	 * nothing.  The result is a malloc'd sentence without its full stop and never has the
	 * password in it; NULL with err set where a service could not work.  The member is NULL in
	 * an engine whose database is in the state directory.
	 */
	char *(*examine)(const struct config *config, struct error *err);

	/* Calls tell with each instance that was seen lately.  NULL in an engine that has only
	 * one. */
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
	/* Whether the backup may be restored: it must be whole and of versions that this program
	 * knows, and databases that are in the state directory already are replaced only with
	 * overwrite. */
	bool (*may_restore)(
	    const char *state_dir, const char *backup, bool overwrite, struct error *err);
	/*
	 * Puts the databases of a backup, which may_restore has accepted, into the state directory;
	 * they get the owner of that directory, and nobody may use it meanwhile.  Nothing changes
	 * until all copies are complete and on disk; a process that dies after that leaves a state
	 * that refuses to open until it has been restored again.
	 */
	bool (*restore)(const char *state_dir, const char *backup, struct error *err);

	const struct copy_ops *copy; /* sql/copy.h; NULL in an engine that keeps no rows */

	/* Frees the disk space that is held in reserve so that something can be deleted on a full
	 * disk (sql/reserve.h).  False when there is none left, so that there is no point in trying
	 * again. */
	bool (*make_room)(struct storage *st);

	const struct thread_ops *threads;
	const struct run_ops *runs;
	const struct history_ops *history;
	const struct memory_ops *memories;
	const struct blob_bytes *bytes; /* the bytes of files; their place is a struct storage.
					   NULL: this engine keeps none */
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
	struct deferrals *deferrals; /* defer.h */
	/* most that a thread's messages and state may hold; 0: no limit */
	int64_t thread_max_bytes;
	int64_t runs_keep;    /* how many records are kept of a thread's runs, the latest; 0: all */
	int64_t history_keep; /* how many checkpoints of a thread are kept, the latest; 0: all */
	int64_t chunks_keep;  /* how long a run's kept chunks outlive it, in microseconds */

	/* Set by an engine that can have several instances: node, from 0 on, is this instance's
	 * alone among those that live now; secret is the same for all, and they derive keys from
	 * it. */
	int64_t node;
	unsigned char secret[STORAGE_SECRET_SIZE];

	/*
	 * Returns the body of the webhook for a run that has ended, malloc'd; the engine puts it
	 * into the outbox.  The service sets this before the first run.  An engine calls it within
	 * its transactions, from any thread, so it must not use the storage.  Where it, or its
	 * result, is NULL, nobody is told.
	 */
	char *(*webhook_body)(void *arg, const struct run_record *record);
	void *webhook_arg;
	const struct push_words *pushes; /* runs.h; NULL: nobody is told how tasks go on */
};

/* The engine that the URL in config's database asks for; SQLite where there is none.  NULL with err
 * set, whose detail names the key. */
const struct storage_engine *storage_engine_of(const struct config *config, struct error *err);

/*
 * Opens the engine that config chooses; shared, the memory of the instance, must outlive it.  This
 * starts threads, so a process that forks must fork first.  The detail of an error names the file.
 */
struct storage *storage_open(const struct config *config, struct shared *shared, struct error *err);

/* The same with an engine that the caller chose. */
struct storage *storage_open_engine(const struct storage_engine *engine,
    const struct config *config, struct shared *shared, struct error *err);

void storage_close(struct storage *st); /* NULL is fine */

/* Whether the engine that config chooses makes backups; if not, err names the tools that do. */
bool storage_backs_up(const struct config *config, struct error *err);

/* may_restore and restore, above, of the engine that config chooses. */
bool storage_may_restore(
    const struct config *config, const char *backup, bool overwrite, struct error *err);
bool storage_restore(const struct config *config, const char *backup, struct error *err);

/* To be called before a service starts in a state directory.  Where the disk is full, frees the
 * space that is kept there for deleting (sql/reserve.h): databases, and other files of a start,
 * need some, and only a service that has started can be told to delete something. */
void storage_make_room_to_start(const char *state_dir);

struct copy_report {
	/* Called now and then with the present table and how many of all rows are copied. */
	void (*tell)(const char *table, int64_t rows, int64_t all);
	int64_t rows;
	int64_t local_files; /* files whose bytes lie in a directory; they are not copied */
};

/* Copies everything from one place to another, sqlite:DIR or postgresql://... (sql/copy.h). */
bool storage_copy(const char *from, const char *to, struct copy_report *report, struct error *err);

#endif
