/* SPDX-License-Identifier: ISC */
/* The queue and its batches, the sending thread, and pauses after failures. */
#include "telemetry/outlet.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/chore.h"
#include "base/os/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define ITEMS_MAX 4096
#define BYTES_MAX (8u << 20)
#define REQUEST_BYTES (1u << 20) /* a batch does not grow beyond this */
#define KEEP_BYTES (256u << 10)  /* a larger buffer is not kept for another batch */
#define ATTEMPTS 6               /* for one request */
#define ITEMS_BETWEEN ",\n"
#define FIRST_PAUSE_MS 1000
#define LONGEST_PAUSE_MS 30000
#define LONGEST_LIMIT_MS 3600000
#define CONNECT_MS 5000
#define ANSWER_MS 10000

/* The items of one request; its body lacks the suffix.  Where there are several each has a line. */
struct batch {
	TAILQ_ENTRY(batch) link;
	struct buf body;
	size_t count;
	unsigned kind;
	int64_t since; /* when its first item came */
};

TAILQ_HEAD(batches, batch);

struct outlet {
	struct outlet_setup setup;
	struct http_header headers[OUTLET_HEADERS];
	pthread_mutex_t start; /* guards started */
	bool started;
	struct chore thread;  /* its lock, once started, guards what follows */
	struct batches queue; /* items are added to the last one while it has room */
	struct batch *spare; /* an empty one, or NULL: allocating large buffers anew is expensive */
	size_t count, bytes; /* of all items */
	bool busy;           /* the first batch is being sent and grows no more */
	int64_t not_before;  /* when the next request may be made */
	int64_t paused_until[OUTLET_KINDS];
	int64_t deadline;  /* until when it may send, once it is stopping */
	unsigned attempts; /* that were made for the first batch */
	uint64_t dropped;
	bool failing; /* requests fail, which the log has been told */
};

struct outlet *outlet_new(const struct outlet_setup *setup)
{
	struct outlet *outlet = xcalloc(1, sizeof(*outlet));
	outlet->setup = *setup;
	for (size_t i = 0; i < setup->header_count; i++)
		outlet->headers[i] =
		    (struct http_header){setup->headers[i][0], setup->headers[i][1]};
	TAILQ_INIT(&outlet->queue);
	outlet->deadline = INT64_MAX;
	pthread_mutex_init(&outlet->start, NULL);
	return outlet;
}

/* ---- the queue ---- */

static void outlet_drop(struct outlet *outlet, uint64_t n)
{
	outlet->dropped += n;
	metrics_count(outlet->setup.dropped, n);
}

static void outlet_free_batch(struct batch *batch)
{
	if (!batch)
		return;
	buf_release(&batch->body);
	free(batch);
}

/* Takes the first batch out of the queue. */
static void outlet_take_first(struct outlet *outlet)
{
	struct batch *batch = TAILQ_FIRST(&outlet->queue);
	TAILQ_REMOVE(&outlet->queue, batch, link);
	outlet->count -= batch->count;
	outlet->bytes -= batch->body.len;
	outlet->attempts = 0;
	metrics_gauge(GAUGE_EXPORT_QUEUE, -(int64_t)batch->count);
	if (outlet->spare || batch->body.size > KEEP_BYTES) {
		outlet_free_batch(batch);
		return;
	}
	buf_reset(&batch->body);
	outlet->spare = batch;
}

static void outlet_add(struct outlet *outlet, const char *text, size_t len, unsigned kind)
{
	int64_t now = clock_monotonic_ms();
	if (outlet->count >= ITEMS_MAX || outlet->bytes + len > BYTES_MAX ||
	    now < outlet->paused_until[kind]) {
		outlet_drop(outlet, 1);
		return;
	}
	/* the item goes to the last batch, or to a new one */
	struct batch *batch = TAILQ_LAST(&outlet->queue, batches);
	bool sent = batch && outlet->busy && batch == TAILQ_FIRST(&outlet->queue);
	if (!batch || sent || batch->kind != kind || batch->count >= outlet->setup.batch ||
	    batch->body.len + len > REQUEST_BYTES) {
		batch = outlet->spare ? outlet->spare : xcalloc(1, sizeof(*batch));
		outlet->spare = NULL;
		batch->count = 0;
		batch->kind = kind;
		batch->since = now;
		TAILQ_INSERT_TAIL(&outlet->queue, batch, link);
	}
	size_t before = batch->body.len;
	if (!batch->count++)
		buf_puts(&batch->body, outlet->setup.prefix ? outlet->setup.prefix : "");
	else
		buf_puts(&batch->body, ITEMS_BETWEEN);
	buf_add(&batch->body, text, len);
	outlet->bytes += batch->body.len - before;
	outlet->count++;
	metrics_gauge(GAUGE_EXPORT_QUEUE, 1);
	if (batch->count == 1 || batch->count == outlet->setup.batch)
		pthread_cond_signal(&outlet->thread.wake);
}

/* Makes two batches of the first one. */
static void outlet_halve_first(struct outlet *outlet)
{
	struct batch *first = TAILQ_FIRST(&outlet->queue), *second = xcalloc(1, sizeof(*second));
	const char *prefix = outlet->setup.prefix ? outlet->setup.prefix : "";
	const char *rest = first->body.data + strlen(prefix);
	*second =
	    (struct batch){.count = first->count / 2, .kind = first->kind, .since = first->since};
	first->count -= second->count;
	for (size_t i = 0; i < first->count; i++)
		rest = strstr(rest, ITEMS_BETWEEN) + strlen(ITEMS_BETWEEN);
	size_t len = first->body.len - (size_t)(rest - first->body.data);
	buf_puts(&second->body, prefix);
	buf_add(&second->body, rest, len);
	first->body.len -= len + strlen(ITEMS_BETWEEN);
	outlet->bytes += strlen(prefix);
	outlet->bytes -= strlen(ITEMS_BETWEEN);
	TAILQ_INSERT_AFTER(&outlet->queue, first, second, link);
	outlet->attempts = 0;
}

/* ---- sending ---- */

static bool outlet_expired(void *arg)
{
	return clock_monotonic_ms() >= ((struct outlet *)arg)->deadline;
}

enum outcome { DELIVERED, MAY_PASS, REFUSED };

static enum outcome outlet_outcome_of(
    const struct outlet *outlet, const struct http_response *response)
{
	int status = response->status;
	if (response->end == HTTP_BAD_REQUEST || response->end == HTTP_UNAVAILABLE)
		return REFUSED;
	if (response->end != HTTP_DONE && response->end != HTTP_TOO_LARGE)
		return MAY_PASS;
	if (status >= 200 && status < 300)
		return DELIVERED;
	if (status == 429)
		return outlet->setup.keeps_refused ? MAY_PASS : REFUSED;
	return status == 502 || status == 503 || status == 504 ? MAY_PASS : REFUSED;
}

static void outlet_settle(struct outlet *outlet, const struct http_response *response)
{
	size_t n = TAILQ_FIRST(&outlet->queue)->count;
	if (response->status == 413 && n > 1) {
		outlet_halve_first(outlet);
		return;
	}
	enum outcome outcome = outlet_outcome_of(outlet, response);
	char *complaint = outcome == DELIVERED && outlet->setup.complaint
	    ? outlet->setup.complaint(response)
	    : NULL;
	/* The log is told once that requests fail, and once that they work again. */
	if (complaint && !outlet->failing)
		log_warning("%s: %s", outlet->setup.name, complaint);
	else if (outcome == DELIVERED && !complaint && outlet->failing)
		log_info("%s: sending works again, %" PRIu64 " dropped so far", outlet->setup.name,
		    outlet->dropped);
	else if (outcome != DELIVERED && !outlet->failing && response->end == HTTP_DONE)
		log_warning("%s: sending fails: status %d", outlet->setup.name, response->status);
	else if (outcome != DELIVERED && !outlet->failing)
		log_warning("%s: sending fails: %s", outlet->setup.name, response->reason);
	outlet->failing = outcome != DELIVERED || complaint;
	free(complaint);
	int64_t pause_ms[OUTLET_KINDS] = {0}, now = clock_monotonic_ms();
	if (outlet->setup.limits && response->end == HTTP_DONE) {
		outlet->setup.limits(response, pause_ms);
		for (int i = 0; i < OUTLET_KINDS; i++) {
			if (pause_ms[i] > LONGEST_LIMIT_MS)
				pause_ms[i] = LONGEST_LIMIT_MS;
			if (pause_ms[i] > 0)
				outlet->paused_until[i] = now + pause_ms[i];
		}
	}
	if (outcome == DELIVERED)
		metrics_count(outlet->setup.sent, n);
	else if (outcome == REFUSED || ++outlet->attempts == ATTEMPTS)
		outlet_drop(outlet, n);
	else {
		int64_t asked = http_retry_after_ms(response);
		int64_t pause = FIRST_PAUSE_MS << (outlet->attempts - 1);
		if (pause > LONGEST_PAUSE_MS)
			pause = LONGEST_PAUSE_MS;
		if (asked > LONGEST_LIMIT_MS)
			asked = LONGEST_LIMIT_MS;
		outlet->not_before = clock_monotonic_ms() + (asked > pause ? asked : pause);
		return;
	}
	outlet_take_first(outlet);
}

/* Sends the first batch.  The lock is held, but not while the request is made: only this thread
 * takes batches out of the queue. */
static void outlet_send_batch(struct outlet *outlet)
{
	const char *suffix = outlet->setup.suffix ? outlet->setup.suffix : "";
	struct http_response response = {0};
	struct batch *batch;
	int64_t now = clock_monotonic_ms();
	/* items may have been queued before their kind was refused */
	while ((batch = TAILQ_FIRST(&outlet->queue)) && now < outlet->paused_until[batch->kind]) {
		outlet_drop(outlet, batch->count);
		outlet_take_first(outlet);
	}
	if (!batch)
		return;
	outlet->busy = true;
	pthread_mutex_unlock(&outlet->thread.lock);
	size_t len = batch->body.len;
	buf_puts(&batch->body, suffix);
	const struct http_request request = {
	    .method = "POST",
	    .url = outlet->setup.url,
	    .headers = outlet->headers,
	    .header_count = outlet->setup.header_count,
	    .body = batch->body.data,
	    .body_len = batch->body.len,
	    .connect_ms = CONNECT_MS,
	    .first_byte_ms = ANSWER_MS,
	    .idle_ms = ANSWER_MS,
	    .deadline_ms = now + outlet->setup.patience_ms,
	    .max_body = 65536,
	    .stop = outlet_expired,
	    .arg = outlet,
	};
	http_call(&request, &response);
	batch->body.len = len;
	pthread_mutex_lock(&outlet->thread.lock);
	outlet_settle(outlet, &response);
	outlet->busy = false;
	http_response_release(&response);
}

/* When the head of the queue is due; INT64_MAX when there is none. */
static int64_t outlet_due(const struct outlet *outlet)
{
	const struct batch *first = TAILQ_FIRST(&outlet->queue);
	if (!first)
		return INT64_MAX;
	bool full = first->count >= outlet->setup.batch || TAILQ_NEXT(first, link) ||
	    outlet->thread.stopping;
	int64_t ready = full ? 0 : first->since + outlet->setup.delay_ms;
	return ready > outlet->not_before ? ready : outlet->not_before;
}

static void *outlet_work(void *arg)
{
	struct outlet *outlet = arg;
	pthread_mutex_lock(&outlet->thread.lock);
	/* until it is asked to end; then until the queue is empty or the time is up */
	while (!outlet->thread.stopping ||
	    (outlet->count && outlet_due(outlet) < outlet->deadline && !outlet_expired(outlet))) {
		int64_t when = outlet_due(outlet);
		if (when <= clock_monotonic_ms())
			outlet_send_batch(outlet);
		else
			chore_sleep(&outlet->thread, when == INT64_MAX ? -1 : when);
	}
	pthread_mutex_unlock(&outlet->thread.lock);
	return NULL;
}

/* ---- the others' side ---- */

void outlet_put(struct outlet *outlet, const char *text, size_t len, unsigned kind)
{
	struct error err = {0};
	pthread_mutex_lock(&outlet->start);
	if (!outlet->started)
		outlet->started = chore_start(&outlet->thread, outlet_work, outlet, &err);
	bool started = outlet->started;
	pthread_mutex_unlock(&outlet->start);
	error_release(&err);
	if (!started) {
		metrics_count(outlet->setup.dropped, 1);
		return;
	}
	pthread_mutex_lock(&outlet->thread.lock);
	outlet_add(outlet, text, len, kind);
	pthread_mutex_unlock(&outlet->thread.lock);
}

void outlet_stop(struct outlet *outlet, int64_t deadline)
{
	if (!outlet || !outlet->started)
		return;
	pthread_mutex_lock(&outlet->thread.lock);
	outlet->deadline = deadline;
	outlet->thread.stopping = true;
	pthread_cond_signal(&outlet->thread.wake);
	pthread_mutex_unlock(&outlet->thread.lock);
}

void outlet_free(struct outlet *outlet)
{
	if (!outlet)
		return;
	if (outlet->started)
		chore_stop(&outlet->thread);
	if (outlet->count)
		log_warning("%s: %zu not sent before the end", outlet->setup.name, outlet->count);
	outlet_drop(outlet, outlet->count);
	while (outlet->count)
		outlet_take_first(outlet);
	outlet_free_batch(outlet->spare);
	free(outlet->setup.url);
	free(outlet->setup.prefix);
	free(outlet->setup.suffix);
	for (size_t i = 0; i < outlet->setup.header_count; i++) {
		free(outlet->setup.headers[i][0]);
		free(outlet->setup.headers[i][1]);
	}
	pthread_mutex_destroy(&outlet->start);
	free(outlet);
}
