/* SPDX-License-Identifier: ISC */
/* One thread and one epoll.  Arrivals are in a list, in the order of their deadlines; each is added
 * to both under the lock, so that the thread cannot take one away, and close it, that is half
 * added. */
#include "fcgi/pool/pool.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "base/os/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define PIECE (64 << 10)
#define MEMORY_MAX (32 << 10) /* bytes of a request in memory; a longer one goes to the disk */
#define PIECES 16             /* read of one arrival before others have their turn */
#define EVENTS 64
#define LATE_MS 1000 /* so late only wakes who was stopped, or had no processor */

/* ---- records ---- */

enum { RECORD_ABORT = 2, RECORD_PARAMS = 4, RECORD_STDIN = 5 };

static void records_begin(struct records *records)
{
	const unsigned char *h = records->header;
	records->have = 0;
	records->content = (uint32_t)h[4] << 8 | h[5];
	records->padding = h[6];
	records->bad = h[0] != 1 || h[1] == RECORD_ABORT;
	if (records->content == 0) {
		records->head |= h[1] == RECORD_PARAMS;
		records->end = h[1] == RECORD_STDIN;
	}
}

void records_scan(struct records *records, const char *data, size_t len)
{
	while (len > 0 && !records->end && !records->bad) {
		size_t step = 1;
		if (records->content) {
			step = len < records->content ? len : records->content;
			records->content -= (uint32_t)step;
			if (records->header[1] == RECORD_STDIN)
				records->body += (int64_t)step;
		} else if (records->padding) {
			step = len < records->padding ? len : records->padding;
			records->padding -= (uint32_t)step;
		} else {
			records->header[records->have++] = (unsigned char)*data;
			if (records->have == sizeof(records->header))
				records_begin(records);
		}
		data += step;
		len -= step;
	}
}

/* ---- one arrival ---- */

int arrival_file(void)
{
	return memfd_create("request", MFD_CLOEXEC);
}

/* Moves the file from memory to the disk, under the same descriptor and at the same position. */
static bool arrival_move(struct arrival *arrival)
{
	int file = open(arrival->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char data[MEMORY_MAX];
	if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
		char *path = xasprintf("%s/body.XXXXXX", arrival->directory);
		file = mkostemp(path, O_CLOEXEC);
		if (file >= 0)
			unlink(path);
		free(path);
	}
	bool moved = file >= 0 && pread(arrival->file, data, sizeof(data), 0) == arrival->size &&
	    pwrite(file, data, (size_t)arrival->size, 0) == arrival->size &&
	    lseek(file, lseek(arrival->file, 0, SEEK_CUR), SEEK_SET) >= 0 &&
	    dup3(file, arrival->file, O_CLOEXEC) >= 0;
	if (!moved)
		log_error("cannot keep a body in %s: %s", arrival->directory, strerror(errno));
	if (file >= 0)
		close(file);
	return moved;
}

/* Appends to the file.  False when there is no room on the disk; this piece then stays in memory
 * all the same, as it may have the end of the head. */
static bool arrival_write(struct arrival *arrival, const char *data, size_t len)
{
	bool fits = arrival->on_disk || arrival->size + (int64_t)len <= MEMORY_MAX;
	if (!fits)
		fits = arrival->on_disk = arrival_move(arrival);
	while (len > 0) {
		ssize_t put = pwrite(arrival->file, data, len, (off_t)arrival->size);
		if (put < 0 && errno != EINTR) {
			log_error("cannot keep a body that is on its way: %s", strerror(errno));
			return false;
		}
		arrival->size += put > 0 ? put : 0;
		data += put > 0 ? put : 0;
		len -= put > 0 ? (size_t)put : 0;
	}
	return fits;
}

enum arrival_state arrival_take(struct arrival *arrival)
{
	char data[PIECE];
	for (int i = 0; i < PIECES; i++) {
		/* the head, which an answer needs, stays in memory until a disk has taken it */
		size_t room = arrival->size ? sizeof(data) : MEMORY_MAX;
		ssize_t got = recv(arrival->socket, data, room, MSG_DONTWAIT);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return ARRIVAL_MORE;
		if (got <= 0)
			return got < 0 || descriptor_hung_up(arrival->socket) ? ARRIVAL_GONE
									      : ARRIVAL_OVER;
		records_scan(&arrival->records, data, (size_t)got);
		if (arrival->records.bad)
			return ARRIVAL_GONE;
		bool fits = !arrival->pending.shared ||
		    pending_grow(&arrival->pending, got, arrival->most_files);
		if (!fits || !arrival_write(arrival, data, (size_t)got))
			arrival->lacking = ERR_TRANSIENT_STORAGE;
		bool enough = arrival->most >= 0 && arrival->records.body > arrival->most;
		if (arrival->lacking || arrival->records.end || enough)
			return ARRIVAL_OVER;
	}
	return ARRIVAL_MORE;
}

void arrival_forget(struct arrival *arrival)
{
	if (arrival->file >= 0)
		close(arrival->file);
	arrival->file = -1;
	pending_drop(&arrival->pending);
}

/* ---- all of them ---- */

struct intake {
	void (*over)(void *arg, struct arrival *arrival, bool gone);
	void *arg;
	int epoll;
	int wake; /* eventfd in epoll: another arrival is the first now, or it is time to end */
	atomic_bool stopping;
	pthread_t thread;
	pthread_mutex_t lock; /* guards the list */
	struct arrival *first, *last;
};

static void intake_remove(struct intake *intake, struct arrival *arrival)
{
	epoll_ctl(intake->epoll, EPOLL_CTL_DEL, arrival->socket, NULL);
	pthread_mutex_lock(&intake->lock);
	*(arrival->previous ? &arrival->previous->next : &intake->first) = arrival->next;
	*(arrival->next ? &arrival->next->previous : &intake->last) = arrival->previous;
	pthread_mutex_unlock(&intake->lock);
	arrival->next = arrival->previous = NULL;
}

/* Hands arrivals back whose time is over.  Returns the milliseconds to the next deadline, or -1. */
static int intake_expire(struct intake *intake)
{
	for (;;) {
		pthread_mutex_lock(&intake->lock);
		struct arrival *first = intake->first; /* only this thread takes any away */
		pthread_mutex_unlock(&intake->lock);
		if (!first)
			return -1;
		int64_t left = first->deadline - clock_monotonic_ms();
		if (left > 0)
			return (int)left;
		first->lacking = ERR_REQUEST_TIMEOUT;
		intake_remove(intake, first);
		intake->over(intake->arg, first, false);
	}
}

/* Gives all arrivals the time back in which nobody here could read: the clients were not slow. */
static void intake_postpone(struct intake *intake, int64_t ms)
{
	pthread_mutex_lock(&intake->lock);
	for (struct arrival *arrival = intake->first; arrival; arrival = arrival->next)
		arrival->deadline += ms;
	pthread_mutex_unlock(&intake->lock);
}

static void *intake_work(void *arg)
{
	struct intake *intake = arg;
	struct epoll_event events[EVENTS];
	while (!atomic_load(&intake->stopping)) {
		int wait = intake_expire(intake);
		int64_t from = clock_monotonic_ms();
		int count = epoll_wait(intake->epoll, events, EVENTS, wait);
		for (int i = 0; i < count; i++) {
			struct arrival *arrival = events[i].data.ptr;
			eventfd_t ignored;
			if (!arrival) {
				eventfd_read(intake->wake, &ignored);
				continue;
			}
			enum arrival_state state = arrival_take(arrival);
			if (state == ARRIVAL_MORE)
				continue;
			intake_remove(intake, arrival);
			intake->over(intake->arg, arrival, state == ARRIVAL_GONE);
		}
		int64_t passed = clock_monotonic_ms() - from;
		if (wait >= 0 && passed > wait + LATE_MS)
			intake_postpone(intake, passed);
	}
	return NULL;
}

struct intake *intake_start(
    void (*over)(void *arg, struct arrival *arrival, bool gone), void *arg, struct error *err)
{
	struct intake *intake = xcalloc(1, sizeof(*intake));
	struct epoll_event event = {.events = EPOLLIN};
	intake->over = over;
	intake->arg = arg;
	intake->epoll = epoll_create1(EPOLL_CLOEXEC);
	intake->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&intake->lock, NULL);
	if (intake->epoll < 0 || intake->wake < 0 ||
	    epoll_ctl(intake->epoll, EPOLL_CTL_ADD, intake->wake, &event) != 0 ||
	    (errno = pthread_create(&intake->thread, NULL, intake_work, intake)) != 0) {
		error_set(err, ERR_INTERNAL, "cannot wait for bodies: %s", strerror(errno));
		return NULL;
	}
	return intake;
}

void intake_add(struct intake *intake, struct arrival *arrival)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = arrival};
	pthread_mutex_lock(&intake->lock);
	struct arrival *after = intake->last;
	while (after && after->deadline > arrival->deadline)
		after = after->previous;
	arrival->previous = after;
	arrival->next = after ? after->next : intake->first;
	*(after ? &after->next : &intake->first) = arrival;
	*(arrival->next ? &arrival->next->previous : &intake->last) = arrival;
	bool wake = intake->first == arrival;
	if (epoll_ctl(intake->epoll, EPOLL_CTL_ADD, arrival->socket, &event) != 0)
		log_error("cannot wait for a body: %s", strerror(errno)); /* until its deadline */
	pthread_mutex_unlock(&intake->lock);
	if (wake)
		eventfd_write(intake->wake, 1);
}

void intake_free(struct intake *intake)
{
	atomic_store(&intake->stopping, true);
	eventfd_write(intake->wake, 1);
	pthread_join(intake->thread, NULL);
	close(intake->epoll);
	close(intake->wake);
	pthread_mutex_destroy(&intake->lock);
	free(intake);
}
