/* SPDX-License-Identifier: ISC */
/* Starting, stopping and sleeping of chores, and the lock of an office. */
#include "base/os/chore.h"

#include "base/memory.h"
#include "base/os/clock.h"
#include "base/os/owned.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#define STACK_SIZE (256u << 10)

static void chore_destroy(struct chore *chore)
{
	pthread_cond_destroy(&chore->wake);
	pthread_mutex_destroy(&chore->lock);
}

bool chore_start(struct chore *chore, void *(*fn)(void *arg), void *arg, struct error *err)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int rc;
	*chore = (struct chore){0};
	pthread_mutex_init(&chore->lock, NULL);
	pthread_cond_init(&chore->wake, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&chore->thread, &attr, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (rc == 0)
		return true;
	chore_destroy(chore);
	return error_set(err, ERR_STORAGE, "cannot start a thread: %s", strerror(rc));
}

void chore_stop(struct chore *chore)
{
	pthread_mutex_lock(&chore->lock);
	chore->stopping = true;
	pthread_cond_signal(&chore->wake);
	pthread_mutex_unlock(&chore->lock);
	pthread_join(chore->thread, NULL);
	chore_destroy(chore);
}

void chore_sleep(struct chore *chore, int64_t due)
{
	if (due < 0)
		pthread_cond_wait(&chore->wake, &chore->lock);
	else
		clock_cond_wait(&chore->wake, &chore->lock, due);
}

bool chore_pause(struct chore *chore, int64_t ms)
{
	pthread_mutex_lock(&chore->lock);
	if (!chore->stopping)
		chore_sleep(chore, clock_monotonic_ms() + ms);
	bool go_on = !chore->stopping;
	pthread_mutex_unlock(&chore->lock);
	return go_on;
}

int chore_office(const char *state_dir, const char *name, struct error *err)
{
	char *path = xasprintf("%s/%s", state_dir, name);
	int office = owned_open(path);
	if (office < 0)
		error_set(err, ERR_STORAGE, "%s cannot be opened: %s", path, strerror(errno));
	free(path);
	return office;
}

bool chore_in_office(int office)
{
	return flock(office, LOCK_EX | LOCK_NB) == 0;
}
