/* SPDX-License-Identifier: ISC */
/* getaddrinfo on a thread of its own, which whoever waits can leave behind. */
#include "access/cache.h"

#include "base/memory.h"
#include "base/os/clock.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define STACK_SIZE (256u << 10) /* for a thread that asks the resolver */
#define LOOKUPS_MAX 4 /* lookups at once, including those that nobody waits for any more */

/* One question.  Its thread and who waits for it each hold it; the last one frees it. */
struct lookup {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	/* guarded by lock */
	int holders;
	bool done;
	int code; /* of getaddrinfo */
	char address[RESOLVE_SIZE];
	char host[]; /* constant */
};

static atomic_int lookups;

static struct lookup *lookup_new(const char *host)
{
	struct lookup *l = xcalloc(1, sizeof(*l) + strlen(host) + 1);
	memcpy(l->host, host, strlen(host));
	l->holders = 2;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->answered, NULL);
	return l;
}

/* Gives up a hold on the lookup; called with its lock held, which it gives up too. */
static void lookup_let_go(struct lookup *l)
{
	bool last = --l->holders == 0;
	pthread_mutex_unlock(&l->lock);
	if (!last)
		return;
	pthread_cond_destroy(&l->answered);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

static void *resolve_ask(void *arg)
{
	struct lookup *l = arg;
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
	struct addrinfo *found = NULL;
	char address[RESOLVE_SIZE] = "";
	int code = getaddrinfo(l->host, NULL, &hints, &found);
	if (code == 0)
		getnameinfo(found->ai_addr, found->ai_addrlen, address, sizeof(address), NULL, 0,
		    NI_NUMERICHOST);
	if (found)
		freeaddrinfo(found);
	atomic_fetch_sub(&lookups, 1);
	pthread_mutex_lock(&l->lock);
	memcpy(l->address, address, sizeof(address));
	l->code = code;
	l->done = true;
	pthread_cond_signal(&l->answered);
	lookup_let_go(l);
	return NULL;
}

static bool resolve_start(struct lookup *l)
{
	pthread_t thread;
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int code = pthread_create(&thread, &attr, resolve_ask, l);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return code == 0;
}

static const char *resolve_await(struct lookup *l, int64_t deadline_ms, char address[RESOLVE_SIZE])
{
	const char *why = NULL;
	pthread_mutex_lock(&l->lock);
	while (!l->done && clock_cond_wait(&l->answered, &l->lock, deadline_ms))
		;
	if (!l->done)
		why = "its name is not resolved in time";
	else if (l->code != 0)
		why = gai_strerror(l->code);
	memcpy(address, l->address, RESOLVE_SIZE);
	lookup_let_go(l);
	return why;
}

const char *resolve(const char *host, int64_t deadline_ms, char address[RESOLVE_SIZE])
{
	struct in6_addr in6;
	if (inet_pton(AF_INET, host, &in6) == 1 || inet_pton(AF_INET6, host, &in6) == 1) {
		strcpy(address, host);
		return NULL;
	}
	if (atomic_fetch_add(&lookups, 1) >= LOOKUPS_MAX) {
		atomic_fetch_sub(&lookups, 1);
		return "the resolver does not answer";
	}
	struct lookup *l = lookup_new(host);
	if (resolve_start(l))
		return resolve_await(l, deadline_ms, address);
	atomic_fetch_sub(&lookups, 1);
	l->holders = 1;
	pthread_mutex_lock(&l->lock);
	lookup_let_go(l);
	return "a thread cannot be started";
}
