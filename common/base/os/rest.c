/* SPDX-License-Identifier: ISC */
/* Finding out when a busy spell is over, by the processor time that the process took. */
#include "base/os/rest.h"

#include "base/os/clock.h"

#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define SPELL_MS 5000 /* how often to look */
#define BUSY_MS 50    /* processor time since then that makes a spell busy */

static pthread_mutex_t rest_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list */
static struct rest *rest_first;

void rest_join(struct rest *rest, void (*give_back)(void *arg), void *arg)
{
	pthread_mutex_lock(&rest_lock);
	*rest = (struct rest){give_back, arg, rest_first};
	rest_first = rest;
	pthread_mutex_unlock(&rest_lock);
}

void rest_leave(struct rest *rest)
{
	pthread_mutex_lock(&rest_lock);
	struct rest **at = &rest_first;
	while (*at && *at != rest)
		at = &(*at)->next;
	if (*at)
		*at = rest->next;
	pthread_mutex_unlock(&rest_lock);
}

void rest_look(void)
{
	static int64_t looked_ms, used_ms;
	static bool busy;
	struct timespec used;
	int64_t time_ms = clock_monotonic_ms();
	if (time_ms - looked_ms < SPELL_MS)
		return;
	looked_ms = time_ms;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	int64_t now_ms = used.tv_sec * 1000 + used.tv_nsec / 1000000;
	bool was_busy = busy;
	busy = now_ms - used_ms > BUSY_MS;
	used_ms = now_ms;
	if (!was_busy || busy)
		return;
	pthread_mutex_lock(&rest_lock);
	for (struct rest *rest = rest_first; rest; rest = rest->next)
		rest->give_back(rest->arg);
	pthread_mutex_unlock(&rest_lock);
	malloc_trim(0);
}
