/* SPDX-License-Identifier: ISC */
/*
 * The shared-memory file of one instance: what all processes over one state directory see at once.
 *
 * <state>/shared holds a fixed layout of regions, each owned by one module.  A process that opens
 * it while no other has it open starts from zeroes, so nothing in it survives a stop of the whole
 * service.  Each process holds a slot for its lifetime by an open-file-description lock that the
 * kernel drops when the process dies, however it dies; that is how the others tell the living from
 * the dead.
 */
#ifndef AGENTGRAPH_BASE_OS_SHARED_H
#define AGENTGRAPH_BASE_OS_SHARED_H

#include "base/error.h"

#include <pthread.h>
#include <stdint.h>

#define SHARED_PROCESSES 16384

enum shared_region {
	SHARED_IDS,          /* snowflake: one atomic word */
	SHARED_WRITER,       /* the turnstile before SQLite's write lock */
	SHARED_LEASES,       /* who runs which thread */
	SHARED_OWNERS,       /* which threads were deleted, for caches of their owners */
	SHARED_LIMITS,       /* who asked how often, for the rate limit */
	SHARED_TRACES,       /* what runs did, on its way to the database */
	SHARED_METRICS,      /* counters for whoever watches the service */
	SHARED_FILES,        /* how many bytes of files are in memory */
	SHARED_STORE,        /* the turnstile before store.db */
	SHARED_BALANCE,      /* how much each process of the pool has to do */
	SHARED_FILE_RECORDS, /* the turnstile before files.db */
	SHARED_PENDING,      /* bodies that are on their way, by address */
	SHARED_RUNS,         /* what has moved in the queue of runs and in kept chunks */
	SHARED_INSTANCE,     /* which one this instance is, of several over one database */
	SHARED_REGIONS
};

/* Sizes are fixed in shared.c; a module checks its own with a static assertion against this. */
#define SHARED_IDS_SIZE 4096
#define SHARED_WRITER_SIZE 4096
#define SHARED_LEASES_SIZE (16u << 20)
#define SHARED_OWNERS_SIZE (260u << 10)
#define SHARED_LIMITS_SIZE (16u << 20)
#define SHARED_TRACES_SIZE ((4u << 20) + 4096)
#define SHARED_METRICS_SIZE (128u << 10)
#define SHARED_FILES_SIZE 4096
#define SHARED_STORE_SIZE 4096
#define SHARED_FILE_RECORDS_SIZE 4096
#define SHARED_BALANCE_SIZE 8192
#define SHARED_PENDING_SIZE (260u << 10)
#define SHARED_RUNS_SIZE (20u << 10)
#define SHARED_INSTANCE_SIZE 4096

struct shared;

/*
 * Opens or creates <state_dir>/shared and takes a process slot.  NULL with err set on failure.
 * state_dir must exist.  Call after fork: a child without exec would share its parent's slot and
 * keep it alive.
 */
struct shared *shared_open(const char *state_dir, struct error *err);
/* The same, but makes state_dir (0700) first, with what is missing above it. */
struct shared *shared_make(const char *state_dir, struct error *err);
void shared_close(struct shared *sh);

/*
 * What every region starts with: two robust process-shared mutexes, ready to use; the owning module
 * names them. The rest of a new region is zero.
 */
struct shared_head {
	pthread_mutex_t mutex[2];
};

/* Makes another mutex of that kind.  The caller must make sure that nobody uses it yet. */
void shared_mutex_init(pthread_mutex_t *m);

/* The region's memory, page-aligned, the same contents in every process. */
void *shared_region(struct shared *sh, enum shared_region region);

/* This process's slot, 1 or more, and whether the process that holds slot is alive.
 * Never blocks. */
uint32_t shared_self(const struct shared *sh);
bool shared_alive(const struct shared *sh, uint32_t slot);

/*
 * shared_lock returns true when the previous holder has died with the mutex: the mutex is usable,
 * but the caller must repair what it guards before going on.
 */
bool shared_lock(pthread_mutex_t *m);
void shared_unlock(pthread_mutex_t *m);

#endif
