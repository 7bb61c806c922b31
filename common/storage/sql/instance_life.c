/* SPDX-License-Identifier: ISC */
/* The life of an instance: its number, its row in the database, and the time by the database's
 * clock. */
#include "storage/sql/instances.h"

#include "base/id.h"
#include "base/log/log.h"
#include "base/os/chore.h"
#include "base/os/clock.h"
#include "storage/queue.h"
#include "storage/sql/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RENEW_MS 2000 /* a fifth of what makes an instance dead (sql/claims.sql) */
#define LATE_MS 5000  /* when a process that is not in office does that */

/* After the database was away, or its clock has stepped, an instance that was not heard of for long
 * may be well: then all get time to be heard of again before any is given up. */
#define AWAY_US 7000000 /* an instance that is well renews its row sooner */
#define STEP_US 1000000
#define PATIENCE_US 10000000 /* the time after which an instance counts as dead */

/* The layout of the region SHARED_INSTANCE; its first mutex guards the beginning of a life. */
struct instance_life {
	struct shared_head head;
	_Atomic int64_t number;
	_Atomic uint32_t times;  /* how often others have given it up */
	_Atomic int64_t renewed; /* when its row was renewed, by clock_monotonic_ms */
	_Atomic int64_t clock;   /* the database's clock, as clock_agree wants it; 0: unknown */
	_Atomic int64_t heard; /* when the database last answered, by clock_uptime_us; 0: not yet */
	_Atomic int64_t patient; /* until when nobody is given up, by that clock */
	atomic_bool older;       /* one of the previous version was there at the latest renewal */
};

_Static_assert(sizeof(struct instance_life) <= SHARED_INSTANCE_SIZE, "SHARED_INSTANCE is small");

struct instance_life *instance_life(struct shared *shared)
{
	return shared_region(shared, SHARED_INSTANCE);
}

int64_t instance_number(const struct instance_life *life)
{
	return atomic_load(&life->number);
}

uint32_t instance_times(const struct instance_life *life)
{
	return atomic_load(&life->times);
}

bool instance_is_older_there(const struct instance_life *life)
{
	return atomic_load(&life->older);
}

void instance_agree(const struct instance_life *life)
{
	clock_agree(atomic_load(&life->clock));
}

static void instance_be_patient(struct instance_life *life)
{
	atomic_store(&life->patient, clock_uptime_us() + PATIENCE_US);
}

/* Takes in the time that the database gave at some moment since asked_at, by clock_uptime_us.  What
 * is known of its clock changes as little as that allows. */
static void instance_hear_clock(struct instance_life *life, int64_t clock, int64_t asked_at)
{
	int64_t most = clock - asked_at, least = clock - clock_uptime_us();
	int64_t known = atomic_load(&life->clock);
	int64_t zero = known < least ? least : known > most ? most : known;
	if (known && llabs(zero - known) > STEP_US)
		instance_be_patient(life);
	atomic_store(&life->clock, zero);
	clock_agree(zero);
}

static bool instance_end(struct db *db, int64_t number, struct error *err)
{
	static const enum sql_id steps[] = {SQL_INSTANCE_END, SQL_INSTANCE_PROCESSES_END};
	struct query q;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		query_start(&q, db, steps[i], err);
		query_int(&q, ":number", number);
		if (!query_run(&q))
			return false;
	}
	return true;
}

static bool instance_read_secret(struct db *db, struct storage *st, struct error *err)
{
	unsigned char own[STORAGE_SECRET_SIZE];
	const void *bytes = NULL;
	size_t size = 0;
	struct query q;
	random_bytes(own, sizeof(own));
	query_start(&q, db, SQL_SECRET_MAKE, err);
	query_blob(&q, ":bytes", own, sizeof(own));
	if (!query_run(&q))
		return false;
	query_start(&q, db, SQL_SECRET_READ, err);
	if (query_row(&q))
		bytes = query_column_blob(&q, SECRET_READ_BYTES, &size);
	if (bytes && size == sizeof(st->secret))
		memcpy(st->secret, bytes, size);
	if (!query_end(&q) || (bytes && size == sizeof(st->secret)))
		return !error_is_set(err);
	return error_set(err, ERR_STORAGE, "the table secret has no %zu bytes", sizeof(st->secret));
}

static bool instance_write_row(struct instance_life *life, struct storage *st, struct db *db,
    int64_t number, struct error *err)
{
	int64_t asked_at = clock_uptime_us();
	char host[65] = "";
	struct query q;
	gethostname(host, sizeof(host) - 1);
	query_start(&q, db, SQL_INSTANCE_BEGIN, err);
	query_int(&q, ":number", number);
	query_text(&q, ":host", host);
	query_text(&q, ":version", AGENTGRAPH_VERSION);
	if (query_row(&q)) {
		st->node = query_column_int(&q, INSTANCE_BEGIN_NODE);
		instance_hear_clock(life, query_column_int(&q, INSTANCE_BEGIN_CLOCK), asked_at);
		atomic_store(&life->older, query_column_int(&q, INSTANCE_BEGIN_OLDER) != 0);
	}
	return query_end(&q);
}

/* Where others have given this instance up, it has lost what it held.  Whoever writes its row tells
 * all its processes so, since nobody could see it afterwards. */
static bool instance_look_back(
    struct instance_life *life, struct engine *e, struct db *db, struct error *err)
{
	struct query q;
	bool lives;
	if (!instance_number(life))
		return true;
	query_start(&q, db, SQL_INSTANCE_LIVES, err);
	query_int(&q, ":number", instance_number(life));
	lives = query_row(&q);
	if (!query_end(&q))
		return false;
	if (!lives) {
		atomic_fetch_add(&life->times, 1);
		log_warning(
		    "this instance was not seen for so long that others took its runs over");
		chunks_moved_all(e->shared);
	}
	return true;
}

/* Writes the instance's row in one transaction, one instance at a time, and ends previous, an
 * earlier life over the same state directory (0: none). */
static bool instance_register(struct instance_life *life, struct engine *e, int64_t number,
    int64_t previous, struct error *err)
{
	struct db *db = db_open(&e->source, e->mode, err);
	struct query q;
	bool ok;
	if (!db)
		return false;
	ok = db_begin(db, err);
	if (ok) {
		query_start(&q, db, SQL_INSTANCES_LOCK, err);
		ok = query_run(&q);
	}
	if (ok) {
		query_start(&q, db, SQL_INSTANCES_FORGET, err);
		ok = query_run(&q);
	}
	if (ok) {
		query_start(&q, db, SQL_COMMITS_FORGET, err);
		ok = query_run(&q);
	}
	ok = ok && (!previous || instance_end(db, previous, err)) &&
	    instance_look_back(life, e, db, err) &&
	    instance_write_row(life, &e->storage, db, number, err) &&
	    instance_read_secret(db, &e->storage, err) && db_commit(db, err);
	if (!ok)
		db_rollback(db);
	db_close(db);
	return ok;
}

/* Each process holds a shared lock on the file, which the kernel drops when it dies.  A process
 * that gets an exclusive lock is the last one. */
static bool instance_lock(int file, short type)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};
	return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

int instance_begin(struct instance_life *life, struct engine *e, struct error *err)
{
	int file = chore_office(e->state_dir, "instance", err);
	int64_t number, previous = 0; /* the life that was over this directory last; 0: none */
	char text[32] = "";
	uint64_t bits;
	bool ok;
	if (file < 0)
		return -1;
	shared_lock(&life->head.mutex[0]);
	number = atomic_load(&life->number);
	if (!number) {
		if (pread(file, text, sizeof(text) - 1, 0) >= 0)
			previous = strtoll(text, NULL, 10);
		random_bytes(&bits, sizeof(bits));
		number = (int64_t)(bits >> 2) + 1;
	}
	ok = instance_lock(file, F_RDLCK) ||
	    error_set(err, ERR_STORAGE, "%s/instance cannot be locked: %s", e->state_dir,
		strerror(errno));
	ok = ok && instance_register(life, e, number, previous, err);
	if (ok && !atomic_load(&life->number)) {
		/* not before, as the last life was not ended then; if this is lost or half written,
		 * the next one only has to wait until this one is given up */
		if (ftruncate(file, 0) == 0)
			dprintf(file, "%" PRId64 "\n", number);
		instance_be_patient(life); /* the database may have been away until now */
		atomic_store(&life->heard, clock_uptime_us());
		atomic_store(&life->number, number);
	}
	shared_unlock(&life->head.mutex[0]);
	if (ok)
		return file;
	close(file);
	return -1;
}

/* The mutex keeps others from beginning meanwhile; a process that comes later begins another
 * life. */
void instance_leave(struct instance_life *life, struct engine *e, int presence)
{
	struct error ignored = {0};
	struct db *db;
	shared_lock(&life->head.mutex[0]);
	if (instance_lock(presence, F_WRLCK)) {
		db = db_open(&e->source, e->mode, &ignored);
		if (db)
			instance_end(db, atomic_exchange(&life->number, 0), &ignored);
		db_close(db);
		error_release(&ignored);
	}
	close(presence);
	shared_unlock(&life->head.mutex[0]);
}

/* ---- it goes on ---- */

bool instance_is_due(struct instance_life *life, bool in_office)
{
	int64_t now = clock_monotonic_ms(), renewed = atomic_load(&life->renewed);
	return now - renewed >= (in_office ? RENEW_MS : LATE_MS) &&
	    atomic_compare_exchange_strong(&life->renewed, &renewed, now);
}

bool instance_renew(struct instance_life *life, struct engine *e, struct error *err)
{
	int64_t asked_at = clock_uptime_us(), heard;
	struct query q;
	bool there;
	pool_query(e->pool, &q, SQL_INSTANCE_SEEN, err);
	query_int(&q, ":number", instance_number(life));
	there = query_row(&q);
	if (there) {
		instance_hear_clock(life, query_column_int(&q, INSTANCE_SEEN_CLOCK), asked_at);
		atomic_store(&life->older, query_column_int(&q, INSTANCE_SEEN_OLDER) != 0);
	}
	if (!pool_query_end(e->pool, &q) ||
	    (!there && !instance_register(life, e, instance_number(life), 0, err)))
		return false;
	heard = atomic_exchange(&life->heard, clock_uptime_us());
	if (heard && clock_uptime_us() - heard > AWAY_US)
		instance_be_patient(life);
	return true;
}

bool instance_is_patient(const struct instance_life *life)
{
	return clock_uptime_us() < atomic_load(&life->patient);
}
