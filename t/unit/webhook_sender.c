/* SPDX-License-Identifier: ISC */
/* The sender, against receivers of every kind and an outbox of the test's own. */
#include "service/run/background/webhook_sender.h"

#include "base/http/url.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "base/os/shared.h"
#include "config/string_list.h"
#include "http_fixture.h"
#include "service/run/background/webhook.h"
#include "storage/queue.h"
#include "storage/runs.h"
#include "storage/storage.h"
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECRET "whsec_YWdlbnRncmFwaC13ZWJob29rLXRlc3Rz"
#define ITEMS 400
#define SECOND 1000000
#define PATIENCE_MS 60000

/* ---- an outbox ---- */

static struct {
	pthread_mutex_t lock;
	struct webhook items[ITEMS];
	size_t count;
	int64_t ahead;    /* how far its time is ahead of the clock */
	int refused;      /* so many times nothing can be stored */
	unsigned settled; /* how often something was */
} outbox = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct storage_engine alone, one_of_several = {.can.instances = true};
static struct storage storage = {.engine = &alone};
static struct config config;
static struct service service;

static bool outbox_waits(const struct webhook *item)
{
	return item->due_at && !item->delivered_at;
}

/* How many of the items before it are for the same site, and due. */
static int64_t outbox_before(size_t at, int64_t now)
{
	char *site = url_site(outbox.items[at].url);
	int64_t same = 0;
	for (size_t i = 0; i < at; i++) {
		char *other = url_site(outbox.items[i].url);
		same += outbox_waits(&outbox.items[i]) && outbox.items[i].due_at <= now &&
		    strcmp(site, other) == 0;
		free(other);
	}
	free(site);
	return same;
}

static bool outbox_due(struct storage *st, const struct storage_context *ctx, struct arena *a,
    struct webhooks_due *due, struct error *err)
{
	(void)st, (void)ctx, (void)a, (void)err;
	due->count = 0;
	due->next_due = INT64_MAX;
	pthread_mutex_lock(&outbox.lock);
	int64_t now = due->now + outbox.ahead;
	for (size_t i = 0; i < outbox.count; i++) {
		const struct webhook *item = &outbox.items[i];
		if (!outbox_waits(item))
			continue;
		if (item->due_at > now)
			due->next_due = item->due_at < due->next_due ? item->due_at : due->next_due;
		else if (due->count < due->limit && outbox_before(i, now) < due->per_site)
			due->items[due->count++] = *item;
	}
	pthread_mutex_unlock(&outbox.lock);
	return true;
}

static bool outbox_waiting(
    struct storage *st, const struct storage_context *ctx, int64_t *count, struct error *err)
{
	(void)st, (void)ctx, (void)err;
	*count = 0;
	pthread_mutex_lock(&outbox.lock);
	for (size_t i = 0; i < outbox.count; i++)
		*count += outbox_waits(&outbox.items[i]);
	pthread_mutex_unlock(&outbox.lock);
	return true;
}

static bool outbox_settle(struct storage *st, const struct storage_context *ctx,
    const struct webhook *item, struct error *err)
{
	(void)st, (void)ctx;
	pthread_mutex_lock(&outbox.lock);
	bool refused = outbox.refused > 0;
	outbox.refused -= refused;
	outbox.settled += !refused;
	for (size_t i = 0; !refused && i < outbox.count; i++) {
		struct webhook *kept = &outbox.items[i];
		if (kept->row != item->row)
			continue;
		kept->attempts = item->attempts;
		kept->last_status = item->last_status;
		kept->due_at = item->due_at;
		kept->delivered_at = item->delivered_at;
	}
	pthread_mutex_unlock(&outbox.lock);
	return !refused || error_set(err, ERR_TRANSIENT_STORAGE, "the disk is full");
}

static const struct run_ops outbox_ops = {.webhooks_due = outbox_due,
    .webhooks_waiting = outbox_waiting,
    .webhook_settle = outbox_settle};

static void outbox_put(const char *url)
{
	static const char *const ids[] = {"msg_a", "msg_b", "msg_c"};
	pthread_mutex_lock(&outbox.lock);
	size_t n = outbox.count++;
	outbox.items[n] = (struct webhook){.row = (int64_t)n + 1,
	    .id = ids[n % UNIT_COUNT(ids)],
	    .url = xstrdup(url),
	    .body = "{\"type\":\"run.completed\"}",
	    .due_at = clock_now()};
	pthread_mutex_unlock(&outbox.lock);
	bell_ring(service.shared, BELL_OUTBOX);
}

static struct webhook outbox_item(size_t at)
{
	pthread_mutex_lock(&outbox.lock);
	struct webhook item = outbox.items[at];
	pthread_mutex_unlock(&outbox.lock);
	return item;
}

/* ---- waiting ---- */

static bool wait_until(bool (*holds)(int64_t n), int64_t n)
{
	int64_t deadline = clock_monotonic_ms() + PATIENCE_MS;
	while (!holds(n)) {
		if (clock_monotonic_ms() > deadline)
			return false;
		clock_sleep_ms(5);
	}
	return true;
}

static bool is_delivered(int64_t at)
{
	return outbox_item((size_t)at).delivered_at != 0;
}

static bool was_tried(int64_t times)
{
	return outbox_item(0).attempts >= times;
}

static bool all_are_over(int64_t unused)
{
	int64_t waiting;
	(void)unused;
	return outbox_waiting(NULL, NULL, &waiting, NULL) && waiting == 0;
}

static bool so_many_were_refused(int64_t left)
{
	pthread_mutex_lock(&outbox.lock);
	bool reached = outbox.refused <= left;
	pthread_mutex_unlock(&outbox.lock);
	return reached;
}

/* ---- receivers ---- */

static struct http_fixture *receiver, *other;

/* The last request that came. */
static struct {
	pthread_mutex_t lock;
	char head[4096], body[256];
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool accept_it(int fd, const struct peer_request *request, void *arg)
{
	(void)arg;
	pthread_mutex_lock(&seen.lock);
	snprintf(seen.head, sizeof(seen.head), "%s", request->head);
	snprintf(seen.body, sizeof(seen.body), "%s", request->body);
	pthread_mutex_unlock(&seen.lock);
	return peer_reply(fd, 204, "", "");
}

static bool fail(int fd, const struct peer_request *request, void *arg)
{
	(void)request, (void)arg;
	return peer_reply(fd, 500, "", "no");
}

/* Answers 500 until the sixth request. */
static bool recover_late(int fd, const struct peer_request *request, void *arg)
{
	(void)arg;
	return peer_reply(fd, request->number < 6 ? 500 : 200, "", "");
}

static bool redirect(int fd, const struct peer_request *request, void *arg)
{
	(void)arg;
	char location[128];
	if (strcmp(request->target, "/moved") == 0)
		return peer_reply(fd, 200, "", "");
	snprintf(location, sizeof(location), "Location: http://127.0.0.1:%s/moved\r\n",
	    strrchr(http_fixture_url(request->server, ""), ':') + 1);
	return peer_reply(fd, 307, location, "");
}

static bool close_it(int fd, const struct peer_request *request, void *arg)
{
	(void)fd, (void)request, (void)arg;
	return false;
}

static bool hang(int fd, const struct peer_request *request, void *arg)
{
	(void)request, (void)arg;
	peer_hang(fd);
	return false;
}

/* The status, and then never the end of the body. */
static bool trickle(int fd, const struct peer_request *request, void *arg)
{
	(void)request, (void)arg;
	peer_puts(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbegun");
	peer_hang(fd);
	return false;
}

/* ---- one test ---- */

static struct webhook_sender *sender;

typedef bool answer_fn(int fd, const struct peer_request *request, void *arg);

static struct http_fixture *receiver_start(answer_fn *answer)
{
	struct http_fixture *started = http_fixture_start(answer, NULL);
	char *prefix = url_site(http_fixture_url(started, "/"));
	string_list_add(&config.runs_webhooks, prefix, strlen(prefix));
	free(prefix);
	return started;
}

static int64_t answer_ms = WEBHOOK_ANSWER_MS;

static void begin_two(answer_fn *answer, answer_fn *of_other)
{
	struct error err = {0};
	if (!service.shared) {
		service.shared = shared_make(unit_dir(), &err);
		config.state_dir = (char *)unit_dir();
		config.env.webhook_secret = (char *)SECRET;
		storage.runs = &outbox_ops;
		service.storage = &storage;
		service.config = &config;
	}
	receiver = receiver_start(answer);
	other = of_other ? receiver_start(of_other) : NULL;
	sender = webhook_sender_start(&service, answer_ms, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(sender);
}

static void begin(answer_fn *answer)
{
	begin_two(answer, NULL);
}

static void end(void)
{
	webhook_sender_stop(sender, clock_monotonic_ms());
	http_fixture_stop(receiver);
	if (other)
		http_fixture_stop(other);
	string_list_release(&config.runs_webhooks);
	for (size_t i = 0; i < outbox.count; i++)
		free((char *)outbox.items[i].url);
	memset(outbox.items, 0, sizeof(outbox.items));
	outbox.count = 0;
	outbox.settled = 0;
	outbox.ahead = 0;
	outbox.refused = 0;
}

/* The value of a header of the request that was seen last, up to its end. */
static const char *seen_header(const char *name, char out[256])
{
	const char *at = strstr(seen.head, name);
	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	at += strlen(name) + 2;
	snprintf(out, 256, "%.*s", (int)strcspn(at, "\r"), at);
	return out;
}

static void what_is_due_is_sent_with_its_signature(void)
{
	char id[256], time[256], signature[256];
	struct buf expected = {0};
	begin(accept_it);
	outbox_put(http_fixture_url(receiver, "/a/../in?x=%79"));
	CU_ASSERT(wait_until(is_delivered, 0));
	struct webhook item = outbox_item(0);
	CU_ASSERT_EQUAL(item.attempts, 1);
	CU_ASSERT_EQUAL(item.last_status, 204);
	CU_ASSERT_PTR_EQUAL(strstr(seen.head, "POST /in?x=y HTTP/1.1\r\n"), seen.head);
	CU_ASSERT_PTR_NOT_NULL(strstr(seen.head, "\r\nContent-Type: application/json\r\n"));
	CU_ASSERT_STRING_EQUAL(seen.body, item.body);
	CU_ASSERT_STRING_EQUAL(seen_header("webhook-id", id), "msg_a");
	int64_t seconds = strtoll(seen_header("webhook-timestamp", time), NULL, 10);
	CU_ASSERT(
	    seconds >= item.delivered_at / SECOND - 60 && seconds <= item.delivered_at / SECOND);
	webhook_sign(&expected, SECRET, id, seconds, seen.body, strlen(seen.body));
	CU_ASSERT_STRING_EQUAL(seen_header("webhook-signature", signature), buf_str(&expected));
	buf_release(&expected);
	end();
}

/* Five pauses, each longer; then it is given up. */
static void what_fails_is_sent_again_later_and_later(void)
{
	static const int64_t pauses[] = {5, 30, 120, 600, 3600};
	begin(fail);
	int64_t before = clock_now();
	outbox_put(http_fixture_url(receiver, "/"));
	for (size_t i = 0; i < UNIT_COUNT(pauses); i++) {
		unit_row("attempt %zu", i + 1);
		CU_ASSERT(wait_until(was_tried, (int64_t)i + 1));
		struct webhook item = outbox_item(0);
		CU_ASSERT_EQUAL(item.last_status, 500);
		CU_ASSERT(item.due_at >= before + pauses[i] * SECOND);
		CU_ASSERT(item.due_at <= clock_now() + pauses[i] * SECOND);
		CU_ASSERT_EQUAL(http_fixture_requests(receiver), i + 1);
		before = clock_now();
		pthread_mutex_lock(&outbox.lock);
		outbox.ahead = pauses[i] * SECOND;
		pthread_mutex_unlock(&outbox.lock);
	}
	CU_ASSERT(wait_until(was_tried, 6));
	CU_ASSERT_EQUAL(outbox_item(0).due_at, 0);
	CU_ASSERT_EQUAL(outbox_item(0).delivered_at, 0);
	end();
}

static void the_last_attempt_can_be_the_one(void)
{
	outbox.ahead = 7200 * (int64_t)SECOND;
	begin(recover_late);
	outbox_put(http_fixture_url(receiver, "/"));
	CU_ASSERT(wait_until(is_delivered, 0));
	CU_ASSERT_EQUAL(outbox_item(0).attempts, 6);
	CU_ASSERT_EQUAL(outbox_item(0).last_status, 200);
	end();
}

static void a_redirect_is_no_delivery_and_not_followed(void)
{
	begin(redirect);
	outbox_put(http_fixture_url(receiver, "/in"));
	CU_ASSERT(wait_until(was_tried, 1));
	CU_ASSERT_EQUAL(outbox_item(0).last_status, 307);
	CU_ASSERT_EQUAL(outbox_item(0).delivered_at, 0);
	CU_ASSERT_EQUAL(http_fixture_requests(receiver), 1);
	end();
}

static void a_connection_that_closes_is_no_answer(void)
{
	begin(close_it);
	outbox_put(http_fixture_url(receiver, "/in"));
	CU_ASSERT(wait_until(was_tried, 1));
	CU_ASSERT_EQUAL(outbox_item(0).last_status, 0);
	CU_ASSERT(outbox_item(0).due_at > clock_now());
	end();
}

static void a_status_is_enough(void)
{
	begin(trickle);
	outbox_put(http_fixture_url(receiver, "/in"));
	CU_ASSERT(wait_until(is_delivered, 0));
	CU_ASSERT_EQUAL(outbox_item(0).last_status, 200);
	end();
}

static void one_that_does_not_answer_in_time_is_tried_again(void)
{
	int64_t start = clock_monotonic_ms(), took;
	answer_ms = 300;
	begin(hang);
	outbox_put(http_fixture_url(receiver, "/in"));
	CU_ASSERT(wait_until(was_tried, 1));
	took = clock_monotonic_ms() - start;
	CU_ASSERT(took >= 300 && took < WEBHOOK_ANSWER_MS);
	CU_ASSERT_EQUAL(outbox_item(0).last_status, 0);
	CU_ASSERT(outbox_item(0).due_at > clock_now());
	end();
	answer_ms = WEBHOOK_ANSWER_MS;
}

static bool other_has_all(int64_t count)
{
	return http_fixture_requests(other) >= (unsigned)count;
}

static bool receiver_has(int64_t count)
{
	return http_fixture_accepted(receiver) >= (unsigned)count;
}

static void a_receiver_that_hangs_holds_up_no_other(void)
{
	answer_ms = 10 * (int64_t)PATIENCE_MS;
	begin_two(hang, accept_it);
	for (int i = 0; i < 300; i++)
		outbox_put(http_fixture_url(receiver, "/in"));
	CU_ASSERT(wait_until(receiver_has, 4));
	for (int i = 0; i < 50; i++)
		outbox_put(http_fixture_url(other, "/in"));
	CU_ASSERT(wait_until(other_has_all, 50));
	for (size_t i = 300; i < 350; i++)
		CU_ASSERT(wait_until(is_delivered, (int64_t)i));
	CU_ASSERT_EQUAL(http_fixture_accepted(receiver), 4);
	CU_ASSERT_EQUAL(http_fixture_requests(other), 50);
	end();
	answer_ms = WEBHOOK_ANSWER_MS;
}

static void what_the_configuration_has_no_more_is_given_up(void)
{
	begin(accept_it);
	outbox_put("http://127.0.0.1:1/in");
	outbox_put("http://127.0.0.1:2/in");
	CU_ASSERT(wait_until(all_are_over, 0));
	CU_ASSERT_EQUAL(outbox_item(0).delivered_at + outbox_item(1).delivered_at, 0);
	CU_ASSERT_EQUAL(outbox_item(0).attempts + outbox_item(1).attempts, 0);
	CU_ASSERT_EQUAL(http_fixture_requests(receiver), 0);
	end();
	storage.engine = &one_of_several;
	begin(accept_it);
	outbox_put("http://127.0.0.1:1/in");
	CU_ASSERT(wait_until(was_tried, 1));
	CU_ASSERT(outbox_item(0).due_at > 0); /* another instance may have it */
	end();
	storage.engine = &alone;
}

/* Else it would be sent over and over while a disk is full. */
static void what_cannot_be_stored_is_not_sent_again_meanwhile(void)
{
	outbox.refused = 2;
	begin(accept_it);
	outbox_put(http_fixture_url(receiver, "/in"));
	CU_ASSERT(wait_until(so_many_were_refused, 1));
	bell_ring(service.shared, BELL_OUTBOX);
	CU_ASSERT(wait_until(is_delivered, 0));
	CU_ASSERT_EQUAL(http_fixture_requests(receiver), 1);
	end();
}

static void what_is_under_way_at_the_end_is_due_still(void)
{
	begin(hang);
	outbox_put(http_fixture_url(receiver, "/in"));
	CU_ASSERT(wait_until(receiver_has, 1));
	webhook_sender_stop(sender, clock_monotonic_ms() + 100);
	sender = NULL;
	CU_ASSERT_EQUAL(outbox.settled, 0);
	CU_ASSERT(outbox_item(0).due_at <= clock_now());
	end();
}

static void of_two_processes_one_sends(void)
{
	struct error err = {0};
	begin(accept_it);
	outbox_put(http_fixture_url(receiver, "/in"));
	CU_ASSERT(wait_until(is_delivered, 0));
	struct webhook_sender *second = webhook_sender_start(&service, answer_ms, &err);
	for (int i = 0; i < 20; i++)
		outbox_put(http_fixture_url(receiver, "/in"));
	CU_ASSERT(wait_until(all_are_over, 0));
	CU_ASSERT_EQUAL(http_fixture_requests(receiver), 21);
	webhook_sender_stop(sender, clock_monotonic_ms());
	sender = second;
	outbox_put(http_fixture_url(receiver, "/in"));
	CU_ASSERT(wait_until(is_delivered, 21));
	end();
}

static const struct unit_test tests[] = {
    {"what is due is sent with its signature", what_is_due_is_sent_with_its_signature},
    {"what fails is sent again later and later", what_fails_is_sent_again_later_and_later},
    {"the last attempt can be the one", the_last_attempt_can_be_the_one},
    {"a redirect is no delivery and not followed", a_redirect_is_no_delivery_and_not_followed},
    {"a connection that closes is no answer", a_connection_that_closes_is_no_answer},
    {"one that does not answer in time is tried again",
	one_that_does_not_answer_in_time_is_tried_again},
    {"a status is enough", a_status_is_enough},
    {"a receiver that hangs holds up no other", a_receiver_that_hangs_holds_up_no_other},
    {"what the configuration has no more is given up",
	what_the_configuration_has_no_more_is_given_up},
    {"what cannot be stored is not sent again meanwhile",
	what_cannot_be_stored_is_not_sent_again_meanwhile},
    {"what is under way at the end is due still", what_is_under_way_at_the_end_is_due_still},
    {"of two processes one sends, the other when that has ended", of_two_processes_one_sends},
};

int main(void)
{
	int status = unit_main("webhook_sender", tests, UNIT_COUNT(tests));
	shared_close(service.shared);
	return status;
}
