/* SPDX-License-Identifier: ISC */
/* Taking a connection, running one query on it, and giving it back. */
#include "storage/sql/db/pool.h"

#include "base/memory.h"
#include "base/os/rest.h"

#include <pthread.h>
#include <stdlib.h>

/* A read takes microseconds, so more than this many are seldom in use at once, however many threads
 * there are. */
#define IDLE_MAX 16

struct pool {
	struct db_source source;
	struct rest rest;
	pthread_mutex_t lock; /* guards what follows */
	struct db *idle;
	int idle_count;
};

static void pool_close(struct db *db)
{
	struct db *next;
	for (; db; db = next) {
		next = db->next;
		db_close(db);
	}
}

/* One stays, so that whoever comes next does not wait for it to be opened. */
static void pool_give_back(void *arg)
{
	struct pool *p = arg;
	struct db *surplus = NULL;
	pthread_mutex_lock(&p->lock);
	if (p->idle) {
		surplus = p->idle->next;
		p->idle->next = NULL;
		p->idle_count = 1;
	}
	pthread_mutex_unlock(&p->lock);
	pool_close(surplus);
}

struct pool *pool_new(const struct db_source *source)
{
	struct pool *p = xcalloc(1, sizeof(*p));
	p->source = *source;
	p->source.path = xstrdup(source->path);
	pthread_mutex_init(&p->lock, NULL);
	rest_join(&p->rest, pool_give_back, p);
	return p;
}

void pool_free(struct pool *p)
{
	if (!p)
		return;
	rest_leave(&p->rest);
	pool_close(p->idle);
	pthread_mutex_destroy(&p->lock);
	free(p->source.path);
	free(p);
}

void pool_query(struct pool *p, struct query *q, enum sql_id id, struct error *err)
{
	struct db *db;
	pthread_mutex_lock(&p->lock);
	db = p->idle;
	if (db) {
		p->idle = db->next;
		p->idle_count--;
	}
	pthread_mutex_unlock(&p->lock);
	if (!db)
		db = db_open(&p->source, DB_READ, err);
	query_start(q, db, id, err);
}

bool pool_query_end(struct pool *p, struct query *q)
{
	bool ok = query_end(q), keep;
	struct db *db = q->db;
	if (!db)
		return ok;
	pthread_mutex_lock(&p->lock);
	keep = p->idle_count < IDLE_MAX;
	if (keep) {
		db->next = p->idle;
		p->idle = db;
		p->idle_count++;
	}
	pthread_mutex_unlock(&p->lock);
	if (!keep)
		db_close(db);
	return ok;
}
