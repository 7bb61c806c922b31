/* SPDX-License-Identifier: ISC */
/* The thread of the elected process: its election, its rounds, and beginning the log anew. */
#include "storage/sqlite/wal.h"

#include "base/memory.h"
#include "base/os/chore.h"
#include "base/os/clock.h"

#include <stdlib.h>

/* In frames of a page each. */
#define LOG_BOUND (64u << 20 >> 12)
#define LOG_LIMIT (512u << 20 >> 12)

/* A round waits for the disk twice, and writes a page only once however often it is in the log; so
 * rounds are rare. */
#define SHORTEST_PAUSE_MS 400
#define LONGEST_PAUSE_MS 800
#define ELECTION_MS 1000
#define READER_PATIENCE_MS 20
#define CATCH_UPS 2 /* each leaves only what is written meanwhile, so the second leaves little */

struct wal_keeper {
	struct chore thread;
	struct db *db;
	struct turnstile *turnstile;
	struct shared *shared;
	uint32_t seen;  /* length of the log at the latest checkpoint */
	bool oversized; /* the log's file has passed the bound */
	int64_t pause_ms;
};

/* Whether this process is the elected one.  A process that got the slot of a dead one inherits the
 * office. */
static bool wal_elected(struct wal_keeper *c)
{
	uint32_t self = shared_self(c->shared);
	uint32_t now = atomic_load(&c->turnstile->wal_keeper);
	if (now == self)
		return true;
	if (now != 0 && shared_alive(c->shared, now))
		return false;
	return atomic_compare_exchange_strong(&c->turnstile->wal_keeper, &now, self);
}

static bool wal_checkpoint(struct db *db, int mode)
{
	return sqlite3_wal_checkpoint_v2(sqlite_db_of(db)->handle, "main", mode, NULL, NULL) ==
	    SQLITE_OK;
}

/* Checkpoints within a turn of the turnstile, so that our own writers queue instead of racing. */
static bool wal_restart(struct wal_keeper *c, int mode)
{
	bool done;
	turnstile_enter(c->turnstile);
	done = wal_checkpoint(c->db, mode);
	if (done)
		atomic_store(&c->turnstile->log_frames, 0);
	turnstile_leave(c->turnstile);
	return done;
}

/*
 * Moves most of the log into the database while writers go on, and only the rest while they wait.
 * A checkpoint that does not reach the end of the log, since writers go on, leaves the database
 * unsynced, and the last one would have to sync all of it while they wait; so each of the others
 * comes after a sync.
 */
static bool wal_begin_anew(struct wal_keeper *c)
{
	for (int i = 0; i < CATCH_UPS; i++) {
		sqlite3_file *file = NULL;

		if (sqlite3_file_control(sqlite_db_of(c->db)->handle, "main",
			SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
		    file->pMethods->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY) !=
			SQLITE_OK ||
		    !wal_checkpoint(c->db, SQLITE_CHECKPOINT_PASSIVE))
			return false;
	}
	return wal_restart(c, SQLITE_CHECKPOINT_RESTART);
}

static void wal_look(struct wal_keeper *c)
{
	uint32_t frames = atomic_load(&c->turnstile->log_frames);
	if (frames == c->seen) {
		/* when nobody writes, a log that was large gives its space back */
		if (c->pause_ms >= LONGEST_PAUSE_MS && c->oversized)
			c->oversized = !wal_restart(c, SQLITE_CHECKPOINT_TRUNCATE);
		if (c->pause_ms < LONGEST_PAUSE_MS)
			c->pause_ms *= 2;
		return;
	}
	c->pause_ms = SHORTEST_PAUSE_MS;
	if (wal_checkpoint(c->db, SQLITE_CHECKPOINT_PASSIVE))
		c->seen = frames;
	if (frames < LOG_BOUND)
		return;
	c->oversized = true;
	if (!wal_begin_anew(c))
		c->pause_ms = LONGEST_PAUSE_MS; /* a long reader: do not make writers wait often */
}

static void *wal_run(void *arg)
{
	struct wal_keeper *c = arg;
	pthread_mutex_lock(&c->thread.lock);
	while (!c->thread.stopping) {
		pthread_mutex_unlock(&c->thread.lock);
		if (wal_elected(c))
			wal_look(c);
		else
			c->pause_ms = ELECTION_MS;
		pthread_mutex_lock(&c->thread.lock);
		if (!c->thread.stopping)
			chore_sleep(&c->thread, clock_monotonic_ms() + c->pause_ms);
	}
	pthread_mutex_unlock(&c->thread.lock);
	uint32_t self = shared_self(c->shared); /* leaves the office */
	atomic_compare_exchange_strong(&c->turnstile->wal_keeper, &self, 0);
	return NULL;
}

struct wal_keeper *wal_keeper_new(
    struct db *db, struct shared *sh, struct turnstile *turnstile, struct error *err)
{
	struct wal_keeper *c = xcalloc(1, sizeof(*c));
	sqlite_db_of(db)->patience_ms = READER_PATIENCE_MS;
	c->db = db;
	c->shared = sh;
	c->turnstile = turnstile;
	c->pause_ms = SHORTEST_PAUSE_MS;
	if (chore_start(&c->thread, wal_run, c, err))
		return c;
	db_close(db);
	free(c);
	return NULL;
}

void wal_keeper_free(struct wal_keeper *c)
{
	if (!c)
		return;
	chore_stop(&c->thread);
	db_close(c->db);
	free(c);
}

/* Publishes the length of the log for the elected process. */
static int wal_note_log(void *arg, sqlite3 *handle, const char *name, int frames)
{
	struct turnstile *t = arg;
	(void)handle;
	(void)name;
	atomic_store_explicit(&t->log_frames, (uint32_t)frames, memory_order_relaxed);
	return SQLITE_OK;
}

void wal_attend(struct db *db, struct turnstile *t)
{
	sqlite3_wal_hook(sqlite_db_of(db)->handle, wal_note_log, t);
}

void wal_write_back(struct db *db, struct turnstile *t)
{
	uint32_t frames = atomic_load_explicit(&t->log_frames, memory_order_relaxed);
	if (frames > LOG_LIMIT)
		wal_checkpoint(db, SQLITE_CHECKPOINT_PASSIVE);
}
