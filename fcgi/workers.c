/* SPDX-License-Identifier: ISC */
#include "workers.h"

#include "balance.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"

#include <errno.h>
#include <fcgiapp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
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

#define SILENCE_SECONDS 90 /* a web server that sends nothing for so long is gone */

/* A process that dies or is stopped between the kernel's word of a connection and taking it leaves
 * it to whoever looks next: so often somebody does. */
#define LOOK_MS 1000

/* How long a process that is ahead of the others leaves connections to them: at first, and when
 * that goes on. */
#define STAND_BACK_MS 1
#define STAND_BACK_MOST_MS 8

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
	bool queued;              /* for the listening socket; the turn's */
	pthread_mutex_t lock;     /* guards the rest */
	bool accepting;           /* a thread is at the listening socket */
	struct acceptor *waiting; /* for its turn there; the last to come is the first to go */
};

/* A struct client over libfcgi. */
struct connection {
	struct client client;
	FCGX_Request *request;
};

static FCGX_Request *request_of(struct client *client)
{
	return ((struct connection *)client)->request;
}

/*
 * A process that was stopped and goes on, by a debugger or a suspended machine, finds its read of a
 * socket with a time-out interrupted, which libfcgi takes for the end.  Nothing of the stream is
 * lost then.
 */
static bool go_on(FCGX_Stream *in)
{
	if (FCGX_GetError(in) != EINTR)
		return false;
	FCGX_ClearError(in);
	in->isClosed = 0;
	return true;
}

static ssize_t connection_read(struct client *client, char *out, size_t size)
{
	FCGX_Stream *in = request_of(client)->in;
	int got;
	do
		got = FCGX_GetStr(out, (int)size, in);
	while (got == 0 && go_on(in));
	return got == 0 && FCGX_GetError(in) ? -1 : got;
}

static void connection_write(struct client *client, const char *data, size_t len)
{
	FCGX_PutStr(data, (int)len, request_of(client)->out);
}

static void connection_flush(struct client *client)
{
	FCGX_FFlush(request_of(client)->out);
}

/* The web server closes the connection when its own client leaves; one that has merely sent all it
 * had to say hangs up only one of the two directions. */
static bool connection_gone(struct client *client)
{
	struct pollfd fd = {.fd = request_of(client)->ipcFd};
	return poll(&fd, 1, 0) > 0 && (fd.revents & POLLHUP);
}

static void connection_abort(struct client *client)
{
	shutdown(request_of(client)->ipcFd, SHUT_RDWR);
}

static void serve(const struct server *server, FCGX_Request *request, struct response *buffers)
{
	struct connection connection = {
	    .client = {request->envp, connection_read, connection_write, connection_flush,
		connection_gone, connection_abort},
	    .request = request,
	};
	server_answer(server, &connection.client, buffers);
}

/* Web servers send a head at once, so that what waits for it, and may be interrupted, is this. */
static bool await_head(int fd)
{
	struct pollfd waiting = {fd, POLLIN, 0};
	int64_t end = clock_monotonic_ms() + SILENCE_SECONDS * 1000;
	int64_t left, ready = -1;
	while (ready < 0 && (left = end - clock_monotonic_ms()) > 0)
		ready = poll(&waiting, 1, (int)left);
	return ready > 0;
}

/*
 * libfcgi's one call to accept a connection and read the head of a request would let a connection
 * that sends nothing hold up the thread between the two, and its way to end one waits until the web
 * server has closed first.  So connections are accepted and, where that is safe, closed here, and
 * FCGX_Request's ipcFd and keepConnection say so: to libfcgi each is one that it keeps.  None is
 * kept in fact, whatever the web server wishes: a thread that waits for the next request on one
 * connection serves no other.
 */
static bool begin(FCGX_Request *request, int fd)
{
	const struct timeval silence = {.tv_sec = SILENCE_SECONDS};
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof(silence));
	if (!await_head(fd)) {
		close(fd);
		return false;
	}
	request->ipcFd = fd;
	request->keepConnection = 1;
	return FCGX_Accept_r(request) >= 0;
}

/* Whether the web server has nothing left to send, which closing at once would turn into an error
 * there.  Where no body was announced, the end of the body has mostly arrived with the head. */
static bool all_read(const FCGX_Request *request)
{
	const char *length = FCGX_GetParam("CONTENT_LENGTH", request->envp);
	if (FCGX_HasSeenEOF(request->in))
		return true;
	return (!length || !*length || !strcmp(length, "0")) && FCGX_GetChar(request->in) == EOF;
}

static void end(FCGX_Request *request)
{
	request->keepConnection = all_read(request);
	FCGX_Finish_r(request);
	if (request->ipcFd >= 0)
		close(request->ipcFd);
	request->ipcFd = -1;
}

/* Out of descriptors or memory the listening socket stays readable: do not spin on it. */
static void accept_failed(int error)
{
	if (error != EMFILE && error != ENFILE && error != ENOMEM && error != ENOBUFS)
		return;
	log_error("cannot accept a connection: %s", strerror(error));
	clock_sleep_ms(100);
}

static bool watch(struct workers *workers, int fd, uint32_t events)
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
static void take_turn(struct workers *workers, struct acceptor *self)
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

static void pass_turn(struct workers *workers)
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
static void leave_queue(struct workers *workers)
{
	if (workers->queued)
		epoll_ctl(workers->epoll, EPOLL_CTL_DEL, workers->listener, NULL);
	workers->queued = false;
}

static void queue_again(struct workers *workers)
{
	leave_queue(workers);
	workers->queued = watch(workers, workers->listener, EPOLLIN | EPOLLEXCLUSIVE);
}

/*
 * The next connection, or -1 when the workers stop.  A thread accepts once more after they have
 * been stopped (*last): the kernel may have told it alone of a connection that waits.  When this
 * process is ahead of others, they get some time for what comes; then it looks all the same, for
 * they may be slow.
 */
static int next_connection(struct workers *workers, struct acceptor *self, bool *last)
{
	struct epoll_event event;
	int back = STAND_BACK_MS;
	bool waited = false;
	int fd;
	take_turn(workers, self);
	for (;;) {
		int64_t now = clock_monotonic_ms();
		*last = atomic_load(&workers->stopping);
		balance_waits(&workers->balance, *last ? 0 : now);
		bool ahead = !*last && balance_ahead(&workers->balance, now);
		if (ahead) {
			leave_queue(workers);
			epoll_wait(workers->epoll, &event, 1, back);
			back = back < STAND_BACK_MOST_MS ? back * 2 : back;
		} else if (!workers->queued && !*last)
			queue_again(workers);
		fd = accept4(workers->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0 || *last)
			break;
		if (errno != EAGAIN)
			accept_failed(errno);
		else if (!ahead)
			waited = epoll_wait(workers->epoll, &event, 1, LOOK_MS) > 0;
	}
	if (fd >= 0)
		balance_count(&workers->balance, 1);
	if (*last)
		leave_queue(workers);
	else if (waited)
		queue_again(workers);
	pass_turn(workers);
	return fd;
}

static void *work(void *arg)
{
	struct workers *workers = arg;
	metrics_gauge(GAUGE_THREADS, 1);
	struct response buffers = {0};
	struct acceptor self = {0};
	FCGX_Request request;
	bool last = false;
	sem_init(&self.turn, 0, 0);
	FCGX_InitRequest(&request, -1, 0);
	while (!last) {
		int fd = next_connection(workers, &self, &last);
		if (fd < 0)
			continue;
		if (begin(&request, fd)) {
			serve(workers->server, &request, &buffers);
			end(&request);
		}
		balance_count(&workers->balance, -1);
	}
	response_release(&buffers);
	sem_destroy(&self.turn);
	metrics_gauge(GAUGE_THREADS, -1);
	if (atomic_fetch_sub(&workers->running, 1) == 1)
		eventfd_write(workers->done, 1);
	return NULL;
}

static bool open_descriptors(struct workers *workers, struct error *err)
{
	workers->epoll = epoll_create1(EPOLL_CLOEXEC);
	workers->wake = eventfd(0, EFD_CLOEXEC);
	workers->done = eventfd(0, EFD_CLOEXEC);
	if (workers->epoll >= 0 && workers->wake >= 0 && workers->done >= 0 &&
	    watch(workers, workers->wake, EPOLLIN)) {
		queue_again(workers);
		if (workers->queued)
			return true;
	}
	return error_set(err, ERR_INTERNAL, "cannot wait for connections: %s", strerror(errno));
}

static bool start_threads(struct workers *workers, struct error *err)
{
	pthread_attr_t attr;
	int failure = 0;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	for (unsigned i = 0; i < workers->threads && !failure; i++) {
		atomic_fetch_add(&workers->running, 1);
		failure = pthread_create(&workers->ids[i], &attr, work, workers);
	}
	pthread_attr_destroy(&attr);
	return !failure ||
	    error_set(err, ERR_INTERNAL, "cannot start %u threads: %s", workers->threads,
		strerror(failure));
}

struct workers *workers_start(
    const struct server *server, int listener, unsigned threads, struct error *err)
{
	struct workers *workers = xcalloc(1, sizeof(*workers));
	workers->server = server;
	workers->listener = listener;
	workers->threads = threads;
	workers->ids = xcalloc(threads, sizeof(*workers->ids));
	pthread_mutex_init(&workers->lock, NULL);
	struct storage *storage = server->service->storage;
	balance_join(&workers->balance, storage->ops->shared(storage));
	if (FCGX_Init() != 0)
		error_set(err, ERR_INTERNAL, "cannot initialise libfcgi");
	/* Workers that did not all start are never freed: some may run.  The process
	 * ends. */
	if (error_is_set(err) || !open_descriptors(workers, err) || !start_threads(workers, err))
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
	close(workers->epoll);
	close(workers->wake);
	close(workers->done);
	pthread_mutex_destroy(&workers->lock);
	free(workers->ids);
	free(workers);
}
