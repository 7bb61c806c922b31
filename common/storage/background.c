/* SPDX-License-Identifier: ISC */
/* Starting, stopping and sleeping of background threads, and the lock of an office. */
#include "storage/background.h"

#include "base/memory.h"
#include "base/os/clock.h"
#include "base/os/owned.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#define STACK_SIZE (256u << 10)

static void background_destroy(struct background *b)
{
	pthread_cond_destroy(&b->wake);
	pthread_mutex_destroy(&b->lock);
}

bool background_start(struct background *b, void *(*fn)(void *arg), void *arg, struct error *err)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int rc;
	*b = (struct background){0};
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->wake, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&b->thread, &attr, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (rc == 0)
		return true;
	background_destroy(b);
	return error_set(err, ERR_STORAGE, "cannot start a thread: %s", strerror(rc));
}

void background_stop(struct background *b)
{
	pthread_mutex_lock(&b->lock);
	b->stopping = true;
	pthread_cond_signal(&b->wake);
	pthread_mutex_unlock(&b->lock);
	pthread_join(b->thread, NULL);
	background_destroy(b);
}

void background_sleep(struct background *b, int64_t due)
{
	if (due < 0)
		pthread_cond_wait(&b->wake, &b->lock);
	else
		clock_cond_wait(&b->wake, &b->lock, due);
}

bool background_pause(struct background *b, int64_t ms)
{
	pthread_mutex_lock(&b->lock);
	if (!b->stopping)
		background_sleep(b, clock_monotonic_ms() + ms);
	bool go_on = !b->stopping;
	pthread_mutex_unlock(&b->lock);
	return go_on;
}

int background_office(const char *state_dir, const char *name, struct error *err)
{
	char *path = xasprintf("%s/%s", state_dir, name);
	int office = owned_open(path);
	if (office < 0)
		error_set(err, ERR_STORAGE, "%s cannot be opened: %s", path, strerror(errno));
	free(path);
	return office;
}

bool background_in_office(int office)
{
	return flock(office, LOCK_EX | LOCK_NB) == 0;
}
