/* SPDX-License-Identifier: ISC */
/* Looking for due items, making the requests, and storing what became of them. */
#include "service/run/background/webhook_sender.h"

#include "base/http/http.h"
#include "base/http/url.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/metrics/metrics.h"
#include "base/os/chore.h"
#include "base/os/clock.h"
#include "service/run/background/webhook.h"
#include "storage/queue.h"
#include "storage/runs.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FLIGHTS 64    /* most requests under way */
#define PER_SITE 4    /* most of them to one site */
#define LOOKED_AT 256 /* items of the outbox that are read at once */
#define SECOND_MS 1000
#define LOOK_MS 10000 /* a process that died may not have told that something is due */

/* Pauses between attempts, in seconds. */
static const int64_t pauses[] = {5, 30, 120, 600, 3600};
#define PAUSES (sizeof(pauses) / sizeof(pauses[0]))

/* A thread that makes requests, and what it sends. */
struct flight {
	struct chore thread;
	struct webhook_sender *sender;
	bool started;
	_Atomic bool busy;   /* item, address and answered belong to the thread */
	struct webhook item; /* its texts are malloc'd */
	char *address;       /* NULL: the configuration does not allow it any more */
	int64_t answered;    /* when the answer's head was whole, by clock_monotonic_ms; or 0 */

	/* Only the thread that looks uses these; they are valid while busy is set. */
	int64_t row;
	char *site; /* malloc'd, or NULL */
};

struct webhook_sender {
	struct service *service;
	struct chore thread; /* looks for due items */
	int office;
	int64_t answer_ms;
	_Atomic bool stopping, over; /* stopping: no new requests; over: those under way end, too */
	int64_t counted_at;          /* by clock_monotonic_ms */
	int64_t waiting;             /* what the gauge was last set to */
	struct flight flights[FLIGHTS];
};

/* ---- a request ---- */

static bool webhook_note_head(int status, void *arg)
{
	(void)status;
	((struct flight *)arg)->answered = clock_monotonic_ms();
	return true;
}

/* The body does not matter; it is only read so that the connection can be used again. */
static bool webhook_skip(const char *data, size_t len, void *arg)
{
	(void)data, (void)len, (void)arg;
	return true;
}

static bool webhook_is_over(void *arg)
{
	const struct flight *flight = arg;
	return atomic_load(&flight->sender->over) ||
	    (flight->answered && clock_monotonic_ms() > flight->answered + SECOND_MS);
}

static void webhook_post(struct flight *flight, struct http_response *response)
{
	const struct webhook *item = &flight->item;
	struct webhook_sender *sender = flight->sender;
	int64_t seconds = clock_now() / 1000000;
	struct buf signature = {0};
	struct storage *st = sender->service->storage;
	struct push_message message = {.body = item->body, .type = "application/json"};
	struct arena *a = arena_new();
	char time[24];
	if (item->how_json)
		st->pushes->deliver(st->webhook_arg, a, item, &message);
	size_t len = strlen(message.body);
	snprintf(time, sizeof(time), "%" PRId64, seconds);
	webhook_sign(&signature, sender->service->config->env.webhook_secret, item->id, seconds,
	    message.body, len);
	struct http_header headers[6] = {{"Content-Type", message.type}, {"webhook-id", item->id},
	    {"webhook-timestamp", time}, {"webhook-signature", buf_str(&signature)}};
	size_t count = 4;
	if (message.token)
		headers[count++] = (struct http_header){"X-A2A-Notification-Token", message.token};
	if (message.authorization)
		headers[count++] = (struct http_header){"Authorization", message.authorization};
	const struct http_request request = {.method = "POST",
	    .url = flight->address,
	    .headers = headers,
	    .header_count = count,
	    .body = message.body,
	    .body_len = len,
	    .deadline_ms = clock_monotonic_ms() + sender->answer_ms,
	    .on_head = webhook_note_head,
	    .on_data = webhook_skip,
	    .stop = webhook_is_over,
	    .arg = flight};
	flight->answered = 0;
	http_call(&request, response);
	buf_release(&signature);
	arena_free(a);
}

/* ---- what becomes of it ---- */

/* Notes a failed attempt.  The log does not show the query, which may have a secret in it. */
static void webhook_failed(struct flight *flight, const char *why, bool for_good)
{
	struct webhook *item = &flight->item;
	int site = (int)strcspn(item->url, "?");
	metrics_count(METRIC_WEBHOOKS_FAILED, 1);
	if (!for_good && item->attempts <= (int64_t)PAUSES) {
		int64_t pause = pauses[item->attempts - 1];
		item->due_at = clock_now() + pause * 1000000;
		log_info("webhook %s to %.*s: attempt %" PRId64 ": %s; again in %" PRId64 " s",
		    item->id, site, item->url, item->attempts, why, pause);
	} else {
		item->due_at = 0;
		metrics_count(METRIC_WEBHOOKS_GIVEN_UP, 1);
		log_warning("webhook %s to %.*s: given up after attempt %" PRId64 ": %s", item->id,
		    site, item->url, item->attempts, why);
	}
}

/* Makes an attempt; false when the end of the process ended the request. */
static bool webhook_attempt(struct flight *flight)
{
	struct webhook *item = &flight->item;
	struct http_response response = {0};
	char status[32];
	if (!flight->address) {
		/* where there are several instances, another one may have the address, or this one
		 * when it is started again */
		bool others = flight->sender->service->storage->engine->can.instances;
		item->attempts += others;
		webhook_failed(
		    flight, "the configuration has no such address, or protocol", !others);
		return true;
	}
	webhook_post(flight, &response);
	bool answered = response.status >= 200, ended = !answered && response.end == HTTP_STOPPED;
	item->attempts += !ended;
	item->last_status = answered ? response.status : 0;
	snprintf(status, sizeof(status), "status %d", response.status);
	if (answered && response.status < 300) {
		item->delivered_at = clock_now();
		metrics_count(METRIC_WEBHOOKS_DELIVERED, 1);
	} else if (!ended) {
		webhook_failed(flight, answered ? status : response.reason, false);
	}
	http_response_release(&response);
	return !ended;
}

/* Stores what became of an item.  An item that cannot be stored would be sent again at once, so its
 * flight waits until it can. */
static void webhook_settle(struct flight *flight)
{
	struct storage *st = flight->sender->service->storage;
	struct error err = {0};
	bool stored = false, told = false;
	do {
		stored = st->runs->webhook_settle(st, NULL, &flight->item, &err);
		if (!stored && !told)
			log_warning("webhook %s: %s", flight->item.id, error_why(&err));
		told = true;
		error_release(&err);
	} while (!stored && chore_pause(&flight->thread, SECOND_MS));
}

/* ---- flights ---- */

static void flight_clear(struct flight *flight)
{
	free((char *)flight->item.id);
	free((char *)flight->item.url);
	free((char *)flight->item.body);
	free((char *)flight->item.how_json);
	free(flight->address);
	flight->item = (struct webhook){0};
	flight->address = NULL;
}

static void *flight_run(void *arg)
{
	struct flight *flight = arg;
	struct shared *shared = flight->sender->service->shared;
	pthread_mutex_lock(&flight->thread.lock);
	while (!flight->thread.stopping) {
		if (!atomic_load(&flight->busy)) {
			chore_sleep(&flight->thread, -1);
			continue;
		}
		pthread_mutex_unlock(&flight->thread.lock);
		if (webhook_attempt(flight))
			webhook_settle(flight);
		flight_clear(flight);
		atomic_store(&flight->busy, false);
		/* the flight is free again, and an item may be due earlier than was thought */
		bell_ring(shared, BELL_OUTBOX);
		pthread_mutex_lock(&flight->thread.lock);
	}
	pthread_mutex_unlock(&flight->thread.lock);
	return NULL;
}

/* Gives an item to a flight, unless its thread cannot be started. */
static void flight_begin(struct flight *flight, const struct webhook *item, char *address)
{
	struct error err = {0};
	if (!flight->started)
		flight->started = chore_start(&flight->thread, flight_run, flight, &err);
	if (!flight->started) {
		log_warning("webhook %s: %s", item->id, err.detail);
		error_release(&err);
		free(address);
		return;
	}
	pthread_mutex_lock(&flight->thread.lock);
	flight->item = *item;
	flight->item.id = xstrdup(item->id);
	flight->item.url = xstrdup(item->url);
	flight->item.body = xstrdup(item->body);
	flight->item.how_json = xstrdup(item->how_json);
	flight->address = address;
	atomic_store(&flight->busy, true);
	pthread_cond_signal(&flight->thread.wake);
	pthread_mutex_unlock(&flight->thread.lock);
}

/* ---- what is due ---- */

/* Gives an item to a free flight; does nothing where none is free, or where the site has as many
 * requests under way as it may have. */
static void webhook_dispatch(struct webhook_sender *sender, const struct webhook *item)
{
	const struct service *service = sender->service;
	bool sayable = !item->how_json || service->storage->pushes;
	char *address =
	    sayable ? webhook_address(&service->config->runs_webhooks, item->url) : NULL;
	char *site = url_site(item->url);
	struct flight *flight = NULL;
	int same = 0;
	for (size_t i = 0; i < FLIGHTS; i++) {
		struct flight *f = &sender->flights[i];
		if (!atomic_load(&f->busy))
			flight = flight ? flight : f;
		else if (site && f->site && strcmp(f->site, site) == 0)
			same++;
	}
	if (!flight || same >= PER_SITE) {
		free(site);
		free(address);
		return;
	}
	free(flight->site);
	flight->site = site;
	flight->row = item->row;
	flight_begin(flight, item, address);
}

/* The rows of items under way, noted before the outbox is read: they must not be sent again, and
 * may be settled while it is being read. */
static size_t webhooks_under_way(const struct webhook_sender *sender, int64_t rows[FLIGHTS])
{
	size_t count = 0;
	for (size_t i = 0; i < FLIGHTS; i++)
		if (atomic_load(&sender->flights[i].busy))
			rows[count++] = sender->flights[i].row;
	return count;
}

static bool webhooks_has(const int64_t *rows, size_t count, int64_t row)
{
	while (count > 0)
		if (rows[--count] == row)
			return true;
	return false;
}

/* Updates the gauge of waiting items, at most once a second while there are any. */
static void webhooks_count(struct webhook_sender *sender)
{
	struct storage *st = sender->service->storage;
	struct error err = {0};
	int64_t now = clock_monotonic_ms(), waiting;
	if (sender->waiting && now < sender->counted_at + SECOND_MS)
		return;
	sender->counted_at = now;
	if (st->runs->webhooks_waiting(st, NULL, &waiting, &err)) {
		metrics_gauge(GAUGE_WEBHOOKS, waiting - sender->waiting);
		sender->waiting = waiting;
	}
	error_release(&err);
}

/* Begins requests for what is due.  Returns how long there is nothing to do, in milliseconds. */
static int64_t webhooks_look(struct webhook_sender *sender)
{
	struct storage *st = sender->service->storage;
	struct error err = {0};
	struct arena *a = arena_new();
	struct webhooks_due due = {
	    .now = clock_now(),
	    .per_site = 2 * PER_SITE,
	    .items = arena_alloc(a, LOOKED_AT * sizeof(*due.items)),
	    .limit = LOOKED_AT,
	};
	int64_t rows[FLIGHTS];
	size_t busy = webhooks_under_way(sender, rows);
	if (!st->runs->webhooks_due(st, NULL, a, &due, &err)) {
		log_warning("webhooks: %s", error_why(&err));
		error_release(&err);
		due.count = 0;
		due.next_due = due.now;
	}
	for (size_t i = 0; i < due.count; i++)
		if (!webhooks_has(rows, busy, due.items[i].row))
			webhook_dispatch(sender, &due.items[i]);
	arena_free(a);
	webhooks_count(sender);
	/* not until next_due: the clock may be set meanwhile */
	return due.next_due < INT64_MAX || due.count || sender->waiting ? SECOND_MS : LOOK_MS;
}

static void *webhooks_run(void *arg)
{
	struct webhook_sender *sender = arg;
	struct shared *shared = sender->service->shared;
	for (;;) {
		uint32_t seen = bell_word(shared, BELL_OUTBOX);
		if (atomic_load(&sender->stopping))
			return NULL;
		int64_t wait = chore_in_office(sender->office) ? webhooks_look(sender) : SECOND_MS;
		bell_wait(shared, BELL_OUTBOX, seen, wait);
	}
}

/* ---- the outside ---- */

struct webhook_sender *webhook_sender_start(
    struct service *service, int64_t answer_ms, struct error *err)
{
	struct webhook_sender *sender = xcalloc(1, sizeof(*sender));
	sender->service = service;
	sender->answer_ms = answer_ms;
	for (size_t i = 0; i < FLIGHTS; i++)
		sender->flights[i].sender = sender;
	sender->office = chore_office(service->config->state_dir, "webhooks.lock", err);
	if (sender->office >= 0 && chore_start(&sender->thread, webhooks_run, sender, err))
		return sender;
	if (sender->office >= 0)
		close(sender->office);
	free(sender);
	return NULL;
}

void webhook_sender_stop(struct webhook_sender *sender, int64_t deadline)
{
	if (!sender)
		return;
	struct shared *shared = sender->service->shared;
	int64_t rows[FLIGHTS], left;
	atomic_store(&sender->stopping, true);
	bell_ring(shared, BELL_OUTBOX);
	chore_stop(&sender->thread);
	for (;;) {
		uint32_t seen = bell_word(shared, BELL_OUTBOX);
		left = deadline - clock_monotonic_ms();
		if (left <= 0 || !webhooks_under_way(sender, rows))
			break;
		bell_wait(shared, BELL_OUTBOX, seen, left);
	}
	atomic_store(&sender->over, true);
	for (size_t i = 0; i < FLIGHTS; i++) {
		if (sender->flights[i].started)
			chore_stop(&sender->flights[i].thread);
		free(sender->flights[i].site);
	}
	metrics_gauge(GAUGE_WEBHOOKS, -sender->waiting);
	close(sender->office);
	free(sender);
}
