#include "workers.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <fcgiapp.h>
#include <pthread.h>
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

#define SILENCE_SECONDS 90 /* a web server that sends nothing for so long is gone */

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

static ssize_t connection_read(struct client *client, char *out, size_t size)
{
	FCGX_Stream *in = request_of(client)->in;
	int got = FCGX_GetStr(out, (int)size, in);
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

static void serve(const struct server *server, FCGX_Request *request, struct response *buffers)
{
	struct connection connection = {
	    .client = {request->envp, connection_read, connection_write, connection_flush},
	    .request = request,
	};
	server_answer(server, &connection.client, buffers);
}

/*
 * Reads the request's head from a connection.  FCGX_Accept_r would accept and read in one call, and
 * a connection that sends nothing would hold it up between the two; so the connection is handed to
 * it as one that it keeps.  It is not kept afterwards, whatever the web server wishes: a thread
 * that waits for the next request on one connection serves no other.
 */
static bool begin(FCGX_Request *request, int fd)
{
	const struct timeval silence = {.tv_sec = SILENCE_SECONDS};
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof(silence));
	request->ipcFd = fd;
	request->keepConnection = 1;
	if (FCGX_Accept_r(request) < 0)
		return false;
	request->keepConnection = 0;
	return true;
}

/* Out of descriptors or memory the listening socket stays readable: do not spin on it. */
static void accept_failed(int error)
{
	if (error != EMFILE && error != ENFILE && error != ENOMEM && error != ENOBUFS)
		return;
	log_error("cannot accept a connection: %s", strerror(error));
	clock_sleep_ms(100);
}

/* The next connection, or -1 when the workers stop. */
static int next_connection(struct workers *workers)
{
	struct epoll_event event;
	while (!atomic_load(&workers->stopping)) {
		int fd = accept4(workers->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			return fd;
		if (errno == EAGAIN)
			epoll_wait(workers->epoll, &event, 1, -1);
		else
			accept_failed(errno);
	}
	return -1;
}

static void *work(void *arg)
{
	struct workers *workers = arg;
	struct response buffers = {0};
	FCGX_Request request;
	int fd;
	FCGX_InitRequest(&request, -1, 0);
	while ((fd = next_connection(workers)) >= 0) {
		if (!begin(&request, fd))
			continue;
		serve(workers->server, &request, &buffers);
		FCGX_Finish_r(&request);
	}
	response_release(&buffers);
	if (atomic_fetch_sub(&workers->running, 1) == 1)
		eventfd_write(workers->done, 1);
	return NULL;
}

static bool watch(struct workers *workers, int fd, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.fd = fd};
	return epoll_ctl(workers->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool open_descriptors(struct workers *workers, struct error *err)
{
	workers->epoll = epoll_create1(EPOLL_CLOEXEC);
	workers->wake = eventfd(0, EFD_CLOEXEC);
	workers->done = eventfd(0, EFD_CLOEXEC);
	if (workers->epoll >= 0 && workers->wake >= 0 && workers->done >= 0 &&
	    watch(workers, workers->listener, EPOLLIN | EPOLLEXCLUSIVE) &&
	    watch(workers, workers->wake, EPOLLIN))
		return true;
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
	free(workers->ids);
	free(workers);
}
