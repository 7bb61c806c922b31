/* SPDX-License-Identifier: ISC */
/* Accepting connections in turn, and answering one request from each. */
#include "fcgi/pool/pool.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "base/metrics/metrics.h"
#include "base/os/clock.h"
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

/* A process that dies or is stopped between the kernel's word of a connection and taking it leaves
 * it to whoever looks next: so often somebody does. */
#define LOOK_MS 1000

/* How long a process that is ahead of the others leaves connections to them: at first, and when
 * that goes on. */
#define STAND_BACK_MS 1
#define STAND_BACK_MOST_MS 8

/* How much of a request is looked at before it is read: one that is there whole, as most are, is
 * read where it is. */
#define LOOK_SIZE (64 << 10)

/* A thread that waits for its turn at the listening socket. */
struct acceptor {
	sem_t turn;
	struct acceptor *next;
};

struct workers {
	const struct server *server;
	int listener;
	int epoll;
	int wake; /* eventfd in epoll: readable from workers_stop on */
	int done; /* eventfd: readable when running is 0 */
	atomic_bool stopping;
	atomic_uint running;
	unsigned threads;
	pthread_t *ids;
	struct balance balance;
	struct holdups holdups;
	struct slows slows;       /* its `ready` is in epoll */
	bool queued;              /* for the listening socket; the turn's */
	pthread_mutex_t lock;     /* guards the rest */
	bool accepting;           /* a thread is at the listening socket */
	struct acceptor *waiting; /* for its turn there; the last to come is the first to go */
};

enum look { LOOK_NOTHING, LOOK_WHOLE, LOOK_PART, LOOK_STRANGE };

/* How much of the request is there.  What is none is libfcgi's to refuse. */
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

/* Out of descriptors or memory the listening socket stays readable: do not spin on it. */
static void workers_accept_failed(int error)
{
	if (error != EMFILE && error != ENFILE && error != ENOMEM && error != ENOBUFS)
		return;
	log_error("cannot accept a connection: %s", strerror(error));
	clock_sleep_ms(100);
}

static bool workers_watch(struct workers *workers, int fd, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.fd = fd};
	return epoll_ctl(workers->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

/*
 * One thread of the process is at the listening socket, the others wait here for its place.  Of
 * several threads there, the kernel would wake one after the other for as long as the first is not
 * done accepting, and one process would take a whole burst.  Who comes last goes first: its stack
 * and buffers are still in the caches, and threads that are not needed never take any memory.
 */
static void workers_take_turn(struct workers *workers, struct acceptor *self)
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
}

static void workers_pass_turn(struct workers *workers)
{
	pthread_mutex_lock(&workers->lock);
	struct acceptor *next = workers->waiting;
	if (next)
		workers->waiting = next->next;
	else {
		workers->accepting = false;
		balance_waits(&workers->balance, 0);
	}
	pthread_mutex_unlock(&workers->lock);
	if (next)
		sem_post(&next->turn);
}

/*
 * Of the processes that wait for the listening socket the kernel wakes the one that was added
 * first, again and again: who has taken a connection goes to the end of the queue.  So they take
 * turns, and one that is stopped, or whose threads are all busy, is passed over.
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
 * The next connection, or -1 when the workers stop, or for a request whose body has arrived
 * (*slow).  A thread accepts once more after they have been stopped (*last): the kernel may have
 * told it alone of a connection that waits.  When this process is ahead of others, they get some
 * time for what comes; then it looks all the same, for they may be slow.
 */
static int workers_next(
    struct workers *workers, struct acceptor *self, bool *last, struct slow **slow)
{
	struct epoll_event event;
	int back = STAND_BACK_MS;
	bool waited = false;
	int fd;
	workers_take_turn(workers, self);
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
		if (*slow) { /* whoever took it comes here once more */
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
	if (fd >= 0) /* a request whose body was waited for is counted since then */
		balance_count(&workers->balance, 1);
	if (*last)
		workers_leave_queue(workers);
	else if (waited)
		workers_queue_again(workers);
	workers_pass_turn(workers);
	return fd;
}

/*
 * A connection that is there already, or -1.  Who has just answered takes it without a turn: to
 * wake another thread for it costs more than a tenth of what a small request does.  Where there is
 * nothing else to do others are as near, and processes keep to their order.
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
	struct workers *workers = arg;
	metrics_gauge(GAUGE_THREADS, 1);
	struct response buffers = {0};
	struct acceptor self = {0};
	FCGX_Request request;
	struct slow *slow = NULL;
	bool last = false;
	int fd;
	sem_init(&self.turn, 0, 0);
	FCGX_InitRequest(&request, -1, 0);
	while (!last) {
		fd = workers_next(workers, &self, &last, &slow);
		for (; fd >= 0 || slow; fd = workers_waiting(workers), slow = NULL) {
			if (slow)
				slow_answer(&workers->slows, slow, &buffers);
			else
				workers_serve(workers, fd, &request, &buffers);
			balance_count(&workers->balance, -1);
		}
	}
	while ((slow = slows_last(&workers->slows)))
		slow_answer(&workers->slows, slow, &buffers);
	response_release(&buffers);
	sem_destroy(&self.turn);
	metrics_gauge(GAUGE_THREADS, -1);
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

static bool workers_start_threads(struct workers *workers, struct error *err)
{
	pthread_attr_t attr;
	int failure = 0;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	for (unsigned i = 0; i < workers->threads && !failure; i++) {
		atomic_fetch_add(&workers->running, 1);
		failure = pthread_create(&workers->ids[i], &attr, workers_work, workers);
	}
	pthread_attr_destroy(&attr);
	return !failure ||
	    error_set(err, ERR_INTERNAL, "cannot start %u threads: %s", workers->threads,
		strerror(failure));
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
	workers->threads = threads;
	workers->ids = xcalloc(threads, sizeof(*workers->ids));
	holdups_init(&workers->holdups, threads > 1 ? workers_part(threads) : 1);
	pthread_mutex_init(&workers->lock, NULL);
	balance_join(&workers->balance, server->service->shared);
	if (FCGX_Init() != 0)
		error_set(err, ERR_INTERNAL, "cannot initialise libfcgi");
	/* Workers that did not all start are never freed: some may run.  The process
	 * ends. */
	if (error_is_set(err) ||
	    !slows_init(&workers->slows, server, &workers->balance, &workers->holdups, err) ||
	    !workers_open(workers, err) || !workers_start_threads(workers, err))
		return NULL;
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
	for (unsigned i = 0; i < workers->threads; i++)
		pthread_join(workers->ids[i], NULL);
	slows_release(&workers->slows);
	close(workers->epoll);
	close(workers->wake);
	close(workers->done);
	holdups_release(&workers->holdups);
	pthread_mutex_destroy(&workers->lock);
	free(workers->ids);
	free(workers);
}
