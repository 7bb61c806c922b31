/* SPDX-License-Identifier: ISC */
/* Taking the head of a slow request, letting its body come, and answering it. */
#include "fcgi/pool/slow.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "base/metrics/metrics.h"
#include "base/os/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#define MOST_SLOW 4096 /* requests of one process that wait for their bodies */

struct slow {
	struct arrival arrival; /* first */
	struct slow *next;      /* in the list of those that have arrived */
	FCGX_Request request;
	struct admission admission;
};

static void slow_end(struct slow *slow, bool gone)
{
	arrival_forget(&slow->arrival);
	if (slow->request.in)
		connection_end(&slow->request, gone || slow->arrival.records.end);
	else
		close(slow->arrival.socket);
	free(slow);
}

/* Takes what is there of a request, waiting for its whole head; NULL after closing the
 * connection. */
static struct slow *slow_begin(const struct config *config, int fd)
{
	const struct environment *env = &config->env;
	struct slow *slow = xcalloc(1, sizeof(*slow));
	struct arrival *arrival = &slow->arrival;
	enum arrival_state state = ARRIVAL_MORE;
	*arrival = (struct arrival){.socket = fd,
	    .file = arrival_file(),
	    .directory = env->body_path ? env->body_path : config->state_dir,
	    .most = -1,
	    .most_files = env->max_body_files,
	    .deadline = clock_monotonic_ms() + env->max_body_seconds * 1000};
	if (arrival->file < 0)
		log_error("cannot make a file in memory: %s", strerror(errno));
	while (arrival->file >= 0 && state == ARRIVAL_MORE && !arrival->records.head)
		state = connection_await(fd) ? arrival_take(arrival) : ARRIVAL_GONE;
	FCGX_InitRequest(&slow->request, -1, 0);
	if (arrival->records.head && state != ARRIVAL_GONE) {
		if (connection_begin(&slow->request, arrival->file)) {
			slow->request.ipcFd = fd;
			return slow;
		}
		arrival->file = slow->request.ipcFd; /* libfcgi may have closed it */
		slow->request.in = NULL;
	}
	slow_end(slow, false);
	return NULL;
}

/* Called by the intake's thread. */
static void slow_over(void *arg, struct arrival *arrival, bool gone)
{
	struct slows *slows = arg;
	struct slow *slow = (struct slow *)arrival;
	if (gone) {
		slow_end(slow, true);
		balance_count(slows->balance, -1);
	}
	pthread_mutex_lock(&slows->lock);
	if (gone) {
		slows->count--;
		metrics_gauge(GAUGE_ARRIVING, -1);
	} else {
		*slows->arrived_end = slow;
		slows->arrived_end = &slow->next;
		eventfd_write(slows->ready, 1); /* counts what is there: under the lock */
	}
	pthread_cond_broadcast(&slows->changed);
	pthread_mutex_unlock(&slows->lock);
}

/* The lock is held. */
static struct slow *slows_take(struct slows *slows)
{
	eventfd_t one;
	struct slow *slow = slows->arrived;
	if (!slow)
		return NULL;
	slows->arrived = slow->next;
	if (!slow->next)
		slows->arrived_end = &slows->arrived;
	eventfd_read(slows->ready, &one);
	slow->next = NULL;
	slows->count--;
	metrics_gauge(GAUGE_ARRIVING, -1);
	pthread_cond_broadcast(&slows->changed);
	return slow;
}

struct slow *slows_next(struct slows *slows)
{
	pthread_mutex_lock(&slows->lock);
	struct slow *slow = slows_take(slows);
	pthread_mutex_unlock(&slows->lock);
	return slow;
}

struct slow *slows_last(struct slows *slows)
{
	struct slow *slow;
	pthread_mutex_lock(&slows->lock);
	slows->staying++;
	while (!(slow = slows_take(slows)) && slows->count >= slows->staying)
		pthread_cond_wait(&slows->changed, &slows->lock);
	slows->staying--;
	pthread_mutex_unlock(&slows->lock);
	return slow;
}

bool slows_have_arrived(struct slows *slows)
{
	pthread_mutex_lock(&slows->lock);
	bool arrived = slows->arrived;
	pthread_mutex_unlock(&slows->lock);
	return arrived;
}

unsigned slows_count(struct slows *slows)
{
	pthread_mutex_lock(&slows->lock);
	unsigned count = slows->count;
	pthread_mutex_unlock(&slows->lock);
	return count;
}

void slow_answer(struct slows *slows, struct slow *slow, struct response *buffers)
{
	struct connection connection =
	    connection_of(slows->holdups, &slow->request, &slow->arrival);
	server_answer(slows->server, &connection.client, buffers, &slow->admission);
	slow_end(slow, false);
}

/* Takes a place among the requests that wait; false, with the reason in lacking, when there is
 * none. */
static bool slow_wait(struct slows *slows, struct slow *slow)
{
	const struct environment *env = &slows->server->service->config->env;
	struct arrival *arrival = &slow->arrival;
	enum pending_answer answer = pending_take(&arrival->pending, slows->server->service->shared,
	    slow->admission.address, env->max_pending);
	bool room = answer == PENDING_TAKEN &&
	    pending_grow(&arrival->pending, arrival->size, arrival->most_files);
	pthread_mutex_lock(&slows->lock);
	room = room && slows->count < slows->room;
	slows->count += room;
	metrics_gauge(GAUGE_ARRIVING, room);
	pthread_mutex_unlock(&slows->lock);
	if (room)
		balance_count(slows->balance, 1);
	else
		arrival->lacking =
		    answer == PENDING_ADDRESS_FULL ? ERR_RATE_LIMIT : ERR_TRANSIENT_STORAGE;
	return room;
}

void slows_serve(struct slows *slows, int fd, struct response *buffers)
{
	struct slow *slow = slow_begin(slows->server->service->config, fd);
	if (!slow)
		return;
	struct connection connection =
	    connection_of(slows->holdups, &slow->request, &slow->arrival);
	struct arrival *arrival = &slow->arrival;
	if (!server_admit(slows->server, &connection.client, buffers, &slow->admission)) {
		slow_end(slow, false);
		return;
	}
	arrival->most = slow->admission.most;
	enum arrival_state state =
	    arrival->records.end || arrival->most < 0 ? ARRIVAL_OVER : arrival_take(arrival);
	if (state == ARRIVAL_GONE)
		slow_end(slow, true);
	else if (state == ARRIVAL_MORE && slow_wait(slows, slow))
		intake_add(slows->intake, arrival);
	else
		slow_answer(slows, slow, buffers);
}

bool slows_init(struct slows *slows, const struct server *server, struct balance *balance,
    struct holdups *holdups, struct error *err)
{
	struct rlimit files;
	bool known = getrlimit(RLIMIT_NOFILE, &files) == 0;
	*slows = (struct slows){.server = server, .balance = balance, .holdups = holdups};
	slows->arrived_end = &slows->arrived;
	/* Each takes two descriptors; half of them all are left to everything else. */
	slows->room =
	    known && files.rlim_cur <= MOST_SLOW * 4 ? (unsigned)(files.rlim_cur / 4) : MOST_SLOW;
	pthread_mutex_init(&slows->lock, NULL);
	pthread_cond_init(&slows->changed, NULL);
	slows->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
	if (slows->ready < 0)
		return error_set(err, ERR_INTERNAL, "cannot wait for bodies: %s", strerror(errno));
	slows->intake = intake_start(slow_over, slows, err);
	return slows->intake;
}

void slows_release(struct slows *slows)
{
	intake_free(slows->intake);
	close(slows->ready);
	pthread_cond_destroy(&slows->changed);
	pthread_mutex_destroy(&slows->lock);
}
