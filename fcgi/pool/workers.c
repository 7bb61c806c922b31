/* SPDX-License-Identifier: ISC */
/* Accepting connections in turn, and answering one request from each. */
#include "fcgi/pool/pool.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "base/metrics/metrics.h"
#include "base/os/clock.h"
#include "base/os/descriptor.h"
#include "base/os/rest.h"
#include "fcgi/pool/slow.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* Room for SQLite, for recursion through JSON_TRUSTED_DEPTH levels and for what a plug-in's node
 * keeps on its stack; pages that are never touched cost nothing. */
#define STACK_SIZE (1 << 20)

/* How often somebody looks for connections unasked.  A process that dies, or is stopped, after the
 * kernel has told it of a connection and before it has taken it, leaves it to whoever looks
 * next. */
#define LOOK_MS 1000

/* How long a process that is ahead of the others leaves connections to them: at first, and when
 * that goes on. */
#define STAND_BACK_MS 1
#define STAND_BACK_MOST_MS 8

/* How much of a request is looked at before it is read: one that is there as a whole, as most are,
 * is read from the socket. */
#define LOOK_SIZE (64 << 10)

/* A place for a thread. */
struct worker {
	struct workers *workers;
	pthread_t id;        /* set by the thread itself */
	sem_t turn;          /* posted when it is to go to the listening socket, or to end */
	bool taken;          /* by a thread, which is joined when it has ended */
	bool surplus;        /* the thread is to end */
	struct worker *next; /* in the list of those that wait for their turn, or are free */
};

struct workers {
	const struct server *server;
	int listener;
	int epoll;
	int wake; /* eventfd in epoll: readable from workers_stop on */
	int done; /* eventfd: readable when running is 0 */
	atomic_bool stopping;
	atomic_uint running;
	unsigned most; /* threads */
	struct worker *places;
	struct rest rest;
	struct balance balance;
	struct holdups holdups;
	struct slows slows;   /* its `ready` is in epoll */
	bool queued;          /* epoll watches the listening socket; used by whoever has the turn */
	pthread_mutex_t lock; /* guards what follows */
	bool accepting;       /* a thread is at the listening socket */
	struct worker *waiting; /* for their turn there; the last to come goes first */
	struct worker *free;    /* places without a thread */
};

enum look { LOOK_NOTHING, LOOK_WHOLE, LOOK_PART, LOOK_STRANGE };

/* How much of the request is there.  Bytes that are no request are left for libfcgi to refuse. */
static enum look workers_look(int fd)
{
	char data[LOOK_SIZE];
	struct records records = {0};
	ssize_t got = recv(fd, data, sizeof(data), MSG_PEEK | MSG_DONTWAIT);
	if (got < 0 && errno == EAGAIN)
		return LOOK_NOTHING;
	if (got > 0)
		records_scan(&records, data, (size_t)got);
	if (got <= 0 || records.bad)
		return LOOK_STRANGE;
	return records.end ? LOOK_WHOLE : LOOK_PART;
}

static void workers_accept_failed(int error)
{
	if (!descriptor_shortage(error))
		return;
	log_error("cannot accept a connection: %s", strerror(error));
	clock_sleep_ms(100);
}

static bool workers_watch(struct workers *workers, int fd, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.fd = fd};
	return epoll_ctl(workers->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void *workers_work(void *arg);

static void worker_leave(struct worker *worker)
{
	struct workers *workers = worker->workers;
	pthread_mutex_lock(&workers->lock);
	worker->taken = false;
	worker->next = workers->free;
	workers->free = worker;
	pthread_mutex_unlock(&workers->lock);
}

/* Starts one thread more, if there is a place for it.  False with errno set when that fails. */
static bool workers_grow(struct workers *workers)
{
	pthread_mutex_lock(&workers->lock);
	struct worker *worker = workers->free;
	if (worker) {
		workers->free = worker->next;
		worker->taken = true;
	}
	pthread_mutex_unlock(&workers->lock);
	if (!worker)
		return true;
	pthread_attr_t attr;
	pthread_t id;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	worker->surplus = false;
	atomic_fetch_add(&workers->running, 1);
	int failure = pthread_create(&id, &attr, workers_work, worker);
	pthread_attr_destroy(&attr);
	if (failure) {
		atomic_fetch_sub(&workers->running, 1);
		worker_leave(worker);
		errno = failure;
	}
	return !failure;
}

/*
 * One thread of the process is at the listening socket, the others wait here for its place.  Of
 * several threads there, the kernel would wake one after the other for as long as the first is not
 * done accepting, and one process would take a whole burst.  Who comes last goes first: its stack
 * and buffers are still in the caches.  False: the thread is not needed any more.
 */
static bool workers_take_turn(struct workers *workers, struct worker *self)
{
	pthread_mutex_lock(&workers->lock);
	bool wait = workers->accepting;
	if (wait) {
		self->next = workers->waiting;
		workers->waiting = self;
	}
	workers->accepting = true;
	pthread_mutex_unlock(&workers->lock);
	while (wait && sem_wait(&self->turn) != 0)
		; /* interrupted by a debugger */
	return !self->surplus;
}

/* Gives the turn to the next thread that waits for it, or to a new one while it could have
 * something to do: at the listening socket or, once the workers have been stopped, for requests
 * that still arrive.  If none can be started, the first thread that has answered its request takes
 * the turn, or one that workers_tend starts. */
static void workers_pass_turn(struct workers *workers)
{
	pthread_mutex_lock(&workers->lock);
	struct worker *next = workers->waiting;
	if (next)
		workers->waiting = next->next;
	else {
		workers->accepting = false;
		balance_waits(&workers->balance, 0);
	}
	pthread_mutex_unlock(&workers->lock);
	if (next)
		sem_post(&next->turn);
	else if (!atomic_load(&workers->stopping) ||
	    slows_count(&workers->slows) >= atomic_load(&workers->running))
		workers_grow(workers);
}

void workers_tend(struct workers *workers)
{
	pthread_mutex_lock(&workers->lock);
	bool left = !workers->accepting;
	pthread_mutex_unlock(&workers->lock);
	if (left && !workers_grow(workers))
		log_warning("cannot start a thread: %s", strerror(errno));
}

/* Ends the threads that wait for their turn; the one at the socket, and those that are busy,
 * stay. */
static void workers_shrink(void *arg)
{
	struct workers *workers = arg;
	pthread_mutex_lock(&workers->lock);
	struct worker *surplus = workers->waiting, *next;
	workers->waiting = NULL;
	pthread_mutex_unlock(&workers->lock);
	for (; surplus; surplus = next) {
		next = surplus->next;
		surplus->surplus = true;
		sem_post(&surplus->turn);
		pthread_join(surplus->id, NULL);
		worker_leave(surplus);
	}
}

/*
 * Of the processes that wait for the listening socket the kernel wakes the one that was added
 * first, again and again.  So a process that has taken a connection leaves the queue and joins it
 * again at its end: they take turns, and one that is stopped, or whose threads are all busy, is
 * passed over.
 */
static void workers_leave_queue(struct workers *workers)
{
	if (workers->queued)
		epoll_ctl(workers->epoll, EPOLL_CTL_DEL, workers->listener, NULL);
	workers->queued = false;
}

static void workers_queue_again(struct workers *workers)
{
	workers_leave_queue(workers);
	workers->queued = workers_watch(workers, workers->listener, EPOLLIN | EPOLLEXCLUSIVE);
}

/*
 * The next connection; or -1, either with *last set, when the thread is to end, or with *slow, a
 * request whose body has arrived.  A thread accepts once more after the workers have been stopped:
 * the kernel may have told it alone of a connection that waits.  When this process is ahead of
 * others it leaves them some time to take what comes, and then looks all the same, for they may be
 * slow.
 */
static int workers_next(
    struct workers *workers, struct worker *self, bool *last, struct slow **slow)
{
	struct epoll_event event;
	int back = STAND_BACK_MS;
	bool waited = false;
	int fd;
	if (!workers_take_turn(workers, self)) {
		*last = true;
		return -1;
	}
	for (;;) {
		int64_t now = clock_monotonic_ms();
		*last = atomic_load(&workers->stopping);
		balance_waits(&workers->balance, *last ? 0 : now);
		bool ahead = !*last && balance_ahead(&workers->balance, now);
		if (ahead) {
			workers_leave_queue(workers);
			epoll_wait(workers->epoll, &event, 1, back);
			back = back < STAND_BACK_MOST_MS ? back * 2 : back;
		} else if (!workers->queued && !*last)
			workers_queue_again(workers);
		*slow = slows_next(&workers->slows);
		if (*slow) { /* this thread comes here once more when it has answered */
			*last = false;
			fd = -1;
			break;
		}
		fd = accept4(workers->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0 || *last)
			break;
		if (errno != EAGAIN)
			workers_accept_failed(errno);
		else if (!ahead)
			waited = epoll_wait(workers->epoll, &event, 1, LOOK_MS) > 0;
	}
	if (fd >= 0) /* a slow request has been counted since its body was waited for */
		balance_count(&workers->balance, 1);
	if (*last)
		workers_leave_queue(workers);
	else if (waited)
		workers_queue_again(workers);
	workers_pass_turn(workers);
	return fd;
}

/*
 * A connection that is there already, or -1.  A thread that has just answered takes it without a
 * turn, because waking another thread for it would cost more than a tenth of a small request.  If
 * the process has no other request in hand, the others are as near, and processes keep to their
 * order.
 */
static int workers_waiting(struct workers *workers)
{
	if (!balance_busy(&workers->balance))
		return -1;
	if (slows_have_arrived(&workers->slows) || atomic_load(&workers->stopping) ||
	    balance_ahead(&workers->balance, clock_monotonic_ms()))
		return -1;
	int fd = accept4(workers->listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		balance_count(&workers->balance, 1);
	return fd;
}

static void workers_serve(
    struct workers *workers, int fd, FCGX_Request *request, struct response *buffers)
{
	const struct timeval silence = {.tv_sec = SILENCE_SECONDS};
	enum look look = workers_look(fd);
	if (look == LOOK_NOTHING && connection_await(fd))
		look = workers_look(fd);
	if (look != LOOK_WHOLE) /* of which nothing is waited for */
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof(silence));
	if (look == LOOK_NOTHING) {
		close(fd);
	} else if (look == LOOK_PART) {
		slows_serve(&workers->slows, fd, buffers);
	} else if (connection_begin(request, fd)) {
		struct connection connection = connection_of(&workers->holdups, request, NULL);
		server_answer(workers->server, &connection.client, buffers, NULL);
		connection_end(request, connection_all_read(request));
	}
}

static void *workers_work(void *arg)
{
	struct worker *self = arg;
	struct workers *workers = self->workers;
	self->id = pthread_self();
	struct response buffers = {0};
	FCGX_Request request;
	struct slow *slow = NULL;
	bool last = false;
	int fd;
	FCGX_InitRequest(&request, -1, 0);
	while (!last) {
		fd = workers_next(workers, self, &last, &slow);
		for (; fd >= 0 || slow; fd = workers_waiting(workers), slow = NULL) {
			if (slow)
				slow_answer(&workers->slows, slow, &buffers);
			else
				workers_serve(workers, fd, &request, &buffers);
			balance_count(&workers->balance, -1);
		}
	}
	while (!self->surplus && (slow = slows_last(&workers->slows)))
		slow_answer(&workers->slows, slow, &buffers);
	response_release(&buffers);
	if (atomic_fetch_sub(&workers->running, 1) == 1)
		eventfd_write(workers->done, 1);
	return NULL;
}

static bool workers_open(struct workers *workers, struct error *err)
{
	workers->epoll = epoll_create1(EPOLL_CLOEXEC);
	workers->wake = eventfd(0, EFD_CLOEXEC);
	workers->done = eventfd(0, EFD_CLOEXEC);
	if (workers->epoll >= 0 && workers->wake >= 0 && workers->done >= 0 &&
	    workers_watch(workers, workers->wake, EPOLLIN) &&
	    workers_watch(workers, workers->slows.ready, EPOLLIN)) {
		workers_queue_again(workers);
		if (workers->queued)
			return true;
	}
	return error_set(err, ERR_INTERNAL, "cannot wait for connections: %s", strerror(errno));
}

unsigned workers_part(unsigned threads)
{
	unsigned most = threads / 2, quarter = threads / 4;
	return quarter >= 4 ? quarter : most < 4 ? most : 4;
}

struct workers *workers_start(
    const struct server *server, int listener, unsigned threads, struct error *err)
{
	struct workers *workers = xcalloc(1, sizeof(*workers));
	workers->server = server;
	workers->listener = listener;
	workers->most = threads;
	workers->places = xcalloc(threads, sizeof(*workers->places));
	pthread_mutex_init(&workers->lock, NULL);
	for (unsigned i = threads; i > 0; i--) {
		struct worker *worker = &workers->places[i - 1];
		worker->workers = workers;
		sem_init(&worker->turn, 0, 0);
		worker_leave(worker);
	}
	holdups_init(&workers->holdups, threads > 1 ? workers_part(threads) : 1);
	balance_join(&workers->balance, server->service->shared);
	if (FCGX_Init() != 0)
		error_set(err, ERR_INTERNAL, "cannot initialise libfcgi");
	/* What did not start is not freed: the process ends. */
	if (error_is_set(err) ||
	    !slows_init(&workers->slows, server, &workers->balance, &workers->holdups, err) ||
	    !workers_open(workers, err))
		return NULL;
	if (!workers_grow(workers)) {
		error_set(err, ERR_INTERNAL, "cannot start a thread: %s", strerror(errno));
		return NULL;
	}
	metrics_gauge(GAUGE_THREADS, (int)threads);
	rest_join(&workers->rest, workers_shrink, workers);
	return workers;
}

void workers_stop(struct workers *workers)
{
	atomic_store(&workers->stopping, true);
	eventfd_write(workers->wake, 1);
}

int workers_done(const struct workers *workers)
{
	return workers->done;
}

unsigned workers_running(const struct workers *workers)
{
	return atomic_load(&workers->running);
}

void workers_free(struct workers *workers)
{
	rest_leave(&workers->rest);
	(void)workers_running(workers); /* 0: all that the threads wrote is seen from here on */
	for (unsigned i = 0; i < workers->most; i++) {
		if (workers->places[i].taken)
			pthread_join(workers->places[i].id, NULL);
		sem_destroy(&workers->places[i].turn);
	}
	metrics_gauge(GAUGE_THREADS, -(int)workers->most);
	slows_release(&workers->slows);
	close(workers->epoll);
	close(workers->wake);
	close(workers->done);
	holdups_release(&workers->holdups);
	pthread_mutex_destroy(&workers->lock);
	free(workers->places);
	free(workers);
}
