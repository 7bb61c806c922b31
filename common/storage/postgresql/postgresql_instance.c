/* SPDX-License-Identifier: ISC */
/* The instance's number, its claim to the schema, and the thread that renews it. */
#include "storage/postgresql/postgresql_instance.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"
#include "base/memory.h"
#include "storage/background.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RENEW_MS 3000
#define DEAD_SECONDS "15"

struct postgresql_instance {
	struct background thread;
	struct postgresql_server *server;
	int64_t number;
	int office;
	bool told; /* that it cannot be renewed */
};

/* ---- the number ---- */

static int64_t instance_read(const char *path)
{
	char text[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return strtoll(text, NULL, 10);
}

/* Under a name of its own first, so that nobody reads half of it. */
static bool instance_make(const char *path, int64_t number)
{
	char *own = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(own, O_CLOEXEC);
	bool ok = fd >= 0 && dprintf(fd, "%" PRId64 "\n", number) > 0 && fsync(fd) == 0;

	if (fd >= 0)
		close(fd);
	ok = ok && (link(own, path) == 0 || errno == EEXIST);
	unlink(own);
	free(own);
	return ok;
}

int64_t postgresql_instance_number(const char *state_dir, struct error *err)
{
	char *path = xasprintf("%s/instance", state_dir);
	int64_t number = instance_read(path);
	uint64_t bits;

	if (number <= 0) {
		random_bytes(&bits, sizeof(bits));
		if (instance_make(path, (int64_t)(bits >> 2) + 1))
			number = instance_read(path);
	}
	if (number <= 0)
		error_set(err, ERR_STORAGE, "%s cannot be made: %s", path, strerror(errno));
	free(path);
	return number;
}

/* ---- the schema ---- */

static bool instance_take(
    struct postgresql_server *s, struct postgresql_connection *c, int64_t number, struct error *err)
{
	char host[65] = "", literal[140], sql[700], got[400];
	size_t len = 0;

	gethostname(host, sizeof(host) - 1);
	for (const char *p = host; *p; p++) {
		if (*p == '\'')
			literal[len++] = '\'';
		literal[len++] = *p;
	}
	literal[len] = '\0';
	snprintf(sql, sizeof(sql),
	    "INSERT INTO instance (one, id, host, seen_at) VALUES (1, %" PRId64
	    ", '%s', clock_timestamp()) ON CONFLICT (one) DO UPDATE "
	    "SET id = excluded.id, host = excluded.host, seen_at = excluded.seen_at "
	    "WHERE instance.id = excluded.id "
	    "OR instance.seen_at < clock_timestamp() - interval '" DEAD_SECONDS " s'",
	    number, literal);
	if (postgresql_execute(s, c, sql, NULL, 0, err) != POSTGRESQL_FINE ||
	    postgresql_execute(s, c,
		"SELECT id || ' on ' || host || ', seen ' || "
		"round(extract(epoch FROM clock_timestamp() - seen_at)) || ' s ago' FROM instance",
		got, sizeof(got), err) != POSTGRESQL_FINE)
		return false;
	if (strtoll(got, NULL, 10) == number)
		return true;
	return error_set(err, ERR_STORAGE,
	    "another instance works on this schema (%s): one at a time can, so stop that one, and "
	    "start this one when it has not been seen for " DEAD_SECONDS
	    " s; or give this one a schema of its own",
	    strchr(got, ' ') ? strchr(got, ' ') + 4 : got);
}

static void instance_renew(struct postgresql_instance *i)
{
	struct error err = {0};
	struct postgresql_connection *c = postgresql_take(i->server, false, &err);
	char sql[128];
	bool ok;

	snprintf(sql, sizeof(sql),
	    "UPDATE instance SET seen_at = clock_timestamp() WHERE id = %" PRId64, i->number);
	ok = c && postgresql_execute(i->server, c, sql, NULL, 0, &err) == POSTGRESQL_FINE;
	if (c)
		postgresql_give_back(i->server, c);
	if (!ok && !i->told)
		log_warning("the database cannot be reached: %s", err.cause);
	else if (ok && i->told)
		log_info("the database can be reached again");
	i->told = !ok;
	error_release(&err);
}

static void *instance_run(void *arg)
{
	struct postgresql_instance *i = arg;

	pthread_mutex_lock(&i->thread.lock);
	while (!i->thread.stopping) {
		pthread_mutex_unlock(&i->thread.lock);
		if (background_in_office(i->office))
			instance_renew(i);
		pthread_mutex_lock(&i->thread.lock);
		if (!i->thread.stopping)
			background_sleep(&i->thread, clock_monotonic_ms() + RENEW_MS);
	}
	pthread_mutex_unlock(&i->thread.lock);
	return NULL;
}

struct postgresql_instance *postgresql_instance_begin(
    struct postgresql_server *server, const char *state_dir, int64_t number, struct error *err)
{
	struct postgresql_connection *c = postgresql_take(server, false, err);
	struct postgresql_instance *i;
	bool taken;

	if (!c)
		return NULL;
	taken = instance_take(server, c, number, err);
	postgresql_give_back(server, c);
	if (!taken)
		return NULL;
	i = xcalloc(1, sizeof(*i));
	i->server = server;
	i->number = number;
	i->office = background_office(state_dir, "instance.lock", err);
	if (i->office >= 0 && background_start(&i->thread, instance_run, i, err))
		return i;
	if (i->office >= 0)
		close(i->office);
	free(i);
	return NULL;
}

void postgresql_instance_end(struct postgresql_instance *i)
{
	if (!i)
		return;
	background_stop(&i->thread);
	close(i->office);
	free(i);
}
