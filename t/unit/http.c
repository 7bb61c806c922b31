/* SPDX-License-Identifier: ISC */
/* The HTTP client, against a server of its own. */
#include "base/http/http.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "http_fixture.h"
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MANY 64
#define SLACK_MS 30000 /* what a loaded machine may add to a time-out */

static struct http_fixture *server;
static atomic_int inside;   /* requests that /together holds back */
static atomic_int nothings; /* requests that got no answer */

static bool answer_slow_bytes(int fd)
{
	peer_puts(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
	for (int i = 0; i < 10; i++) {
		clock_sleep_ms(30);
		if (!peer_puts(fd, "x"))
			return false;
	}
	return true;
}

static bool answer_huge(int fd)
{
	char block[65536];
	memset(block, 'h', sizeof(block));
	peer_puts(fd, "HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n");
	for (int i = 0; i < 1600; i++)
		if (!peer_send(fd, block, sizeof(block)))
			return false;
	return true;
}

static bool answer_echo(int fd, const struct peer_request *rq)
{
	char *head = xasprintf("X-Method: %s\r\nX-Target: %s\r\n", rq->method, rq->target);
	bool sent = peer_reply(fd, 200, head, rq->body);
	free(head);
	return sent;
}

static bool answer_head(int fd, const struct peer_request *rq)
{
	return peer_reply(fd, 200, "", rq->head);
}

/* Waits until as many requests are there at once. */
static bool answer_together(int fd)
{
	atomic_fetch_add(&inside, 1);
	while (atomic_load(&inside) < MANY)
		clock_sleep_ms(2);
	return peer_reply(fd, 200, "", "together");
}

static bool answer(int fd, const struct peer_request *rq, void *arg)
{
	(void)arg;
	const char *t = rq->target;
	if (strcmp(t, "/slow") == 0)
		return answer_slow_bytes(fd);
	if (strcmp(t, "/huge") == 0)
		return answer_huge(fd);
	if (strcmp(t, "/head") == 0)
		return answer_head(fd, rq);
	if (strcmp(t, "/together") == 0)
		return answer_together(fd);
	if (strcmp(t, "/never") == 0)
		peer_hang(fd);
	if (strcmp(t, "/silent") == 0 &&
	    peer_puts(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhal"))
		peer_hang(fd);
	if (strcmp(t, "/cut") == 0)
		peer_puts(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhal");
	if (strcmp(t, "/nonsense") == 0)
		peer_puts(fd, "no such protocol\r\n\r\n");
	if (strcmp(t, "/interim") == 0)
		return peer_puts(fd,
		    "HTTP/1.1 103 Early Hints\r\nX-Hint: a\r\n\r\n"
		    "HTTP/1.1 201 Made\r\nContent-Length: 2\r\nX-Two: 1\r\n"
		    "x-two:  second \r\n\r\nok");
	if (strcmp(t, "/interim-hangs") == 0 && peer_puts(fd, "HTTP/1.1 102 Processing\r\n\r\n"))
		peer_hang(fd);
	if (strcmp(t, "/interim-alone") == 0)
		peer_puts(fd, "HTTP/1.1 102 Processing\r\n\r\n");
	if (strcmp(t, "/nothing") == 0)
		atomic_fetch_add(&nothings, 1);
	if (strcmp(t, "/last") == 0) /* the connection ends after an answer that keeps it */
		return peer_reply(fd, 200, "", "last") && false;
	if (strcmp(t, "/status/429") == 0)
		return peer_reply(fd, 429, "Retry-After: 7\r\n", "slowly");
	if (strcmp(t, "/redirect") == 0)
		return peer_reply(fd, 302, "Location: /echo\r\nSet-Cookie: a=b\r\n", "");
	if (strncmp(t, "/echo", 5) == 0)
		return answer_echo(fd, rq);
	return false;
}

/* One call, whose answer the caller releases. */
static struct http_response call(struct http_request request, const char *path)
{
	struct http_response response = {0};
	request.url = http_fixture_url(server, path);
	CU_ASSERT_EQUAL(http_call(&request, &response), response.end);
	if (response.end == HTTP_DONE)
		CU_ASSERT_STRING_EQUAL(response.reason, "")
	else
		CU_ASSERT_NOT_EQUAL(response.reason[0], '\0');
	return response;
}

static enum http_end end_of(struct http_request request, const char *path)
{
	struct http_response response = call(request, path);
	enum http_end end = response.end;
	http_response_release(&response);
	return end;
}

/* ---- answers ---- */

static void a_whole_answer_is_done(void)
{
	struct http_response r = call((struct http_request){0}, "/echo?a=b");
	CU_ASSERT_EQUAL(r.end, HTTP_DONE);
	CU_ASSERT_EQUAL(r.status, 200);
	char *method = http_response_header(&r, "x-METHOD");
	CU_ASSERT_STRING_EQUAL(method, "GET");
	CU_ASSERT_STRING_EQUAL(buf_str(&r.body), "");
	free(method);
	http_response_release(&r);
}

static void a_status_is_no_failure(void)
{
	struct http_response r = call((struct http_request){0}, "/status/429");
	CU_ASSERT_EQUAL(r.end, HTTP_DONE);
	CU_ASSERT_EQUAL(r.status, 429);
	CU_ASSERT_STRING_EQUAL(buf_str(&r.body), "slowly");
	CU_ASSERT_EQUAL(http_retry_after_ms(&r), 7000);
	http_response_release(&r);
}

static void a_body_makes_it_a_post(void)
{
	struct http_response r =
	    call((struct http_request){.body = "hello", .body_len = 5}, "/echo");
	char *method = http_response_header(&r, "X-Method");
	CU_ASSERT_STRING_EQUAL(method, "POST");
	CU_ASSERT_STRING_EQUAL(buf_str(&r.body), "hello");
	free(method);
	http_response_release(&r);
}

static void check_method(const char *method, const void *body)
{
	struct http_request rq = {
	    .method = method, .body = body, .body_len = body ? strlen(body) : 0};
	struct http_response r = call(rq, "/echo");
	char *seen = http_response_header(&r, "X-Method");
	CU_ASSERT_PTR_NOT_NULL_FATAL(seen);
	CU_ASSERT_STRING_EQUAL(seen, method);
	CU_ASSERT_STRING_EQUAL(buf_str(&r.body), body ? body : "");
	free(seen);
	http_response_release(&r);
}

static void methods_are_sent_as_they_are(void)
{
	check_method("GET", NULL);
	check_method("HEAD", NULL);
	check_method("DELETE", NULL);
	check_method("DELETE", "with body");
	check_method("POST", NULL);
	check_method("PUT", "x");
	check_method("PUT", NULL);
	check_method("PATCH", "y");
}

static void nothing_is_sent_that_was_not_asked_for(void)
{
	struct http_header headers[] = {
	    {"Authorization", "Bearer k"}, {"X-Empty", ""}, {"Content-Type", "text/x"}};
	struct http_request rq = {
	    .body = "b", .body_len = 1, .headers = headers, .header_count = 3};
	struct http_response r = call(rq, "/head");
	const char *head = buf_str(&r.body);
	CU_ASSERT_PTR_NOT_NULL(strstr(head, "\r\nAuthorization: Bearer k\r\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(head, "\r\nX-Empty:\r\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(head, "\r\nContent-Type: text/x\r\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(head, "\r\nUser-Agent: agentgraph/"));
	CU_ASSERT_PTR_NULL(strcasestr(head, "expect"));
	http_response_release(&r);
	r = call((struct http_request){.body = "b", .body_len = 1}, "/head");
	CU_ASSERT_PTR_NULL(strcasestr(buf_str(&r.body), "content-type"));
	http_response_release(&r);
}

static void a_redirect_is_an_answer_and_cookies_are_forgotten(void)
{
	struct http_response r = call((struct http_request){0}, "/redirect");
	CU_ASSERT_EQUAL(r.status, 302);
	http_response_release(&r);
	r = call((struct http_request){0}, "/head");
	CU_ASSERT_PTR_NULL(strcasestr(buf_str(&r.body), "cookie"));
	http_response_release(&r);
}

static void an_interim_answer_is_left_out(void)
{
	struct http_response r = call((struct http_request){0}, "/interim");
	CU_ASSERT_EQUAL(r.end, HTTP_DONE);
	CU_ASSERT_EQUAL(r.status, 201);
	CU_ASSERT_PTR_NULL(http_response_header(&r, "X-Hint"));
	char *last = http_response_header(&r, "X-TWO");
	CU_ASSERT_STRING_EQUAL(last, "second");
	CU_ASSERT_STRING_EQUAL(buf_str(&r.body), "ok");
	free(last);
	http_response_release(&r);
	r = call((struct http_request){0}, "/interim-alone");
	CU_ASSERT_EQUAL(r.end, HTTP_CLOSED);
	CU_ASSERT_EQUAL(r.status, 0);
	http_response_release(&r);
}

/* ---- failures ---- */

static void a_closed_port_is_no_connection(void)
{
	struct http_fixture *gone = http_fixture_start(answer, NULL);
	const char *url = http_fixture_url(gone, "/echo");
	http_fixture_stop(gone);
	struct http_response r = {0};
	CU_ASSERT_EQUAL(http_call(&(struct http_request){.url = url}, &r), HTTP_NO_CONNECT);
	CU_ASSERT_EQUAL(r.status, 0);
	http_response_release(&r);
}

static void another_protocol_than_tls_is_no_connection(void)
{
	char *url = xasprintf("https%s", http_fixture_url(server, "/echo") + 4);
	struct http_response r = {0};
	CU_ASSERT_EQUAL(http_call(&(struct http_request){.url = url}, &r), HTTP_NO_CONNECT);
	http_response_release(&r);
	free(url);
}

static void an_answer_that_breaks_off_is_closed(void)
{
	CU_ASSERT_EQUAL(end_of((struct http_request){0}, "/cut"), HTTP_CLOSED);
	CU_ASSERT_EQUAL(end_of((struct http_request){0}, "/nothing"), HTTP_CLOSED);
	CU_ASSERT_EQUAL(end_of((struct http_request){0}, "/nonsense"), HTTP_CLOSED);
}

static void check_bad(struct http_request rq)
{
	struct http_response r = {0};
	rq.url = rq.url ? rq.url : http_fixture_url(server, "/echo");
	CU_ASSERT_EQUAL(http_call(&rq, &r), HTTP_BAD_REQUEST);
	http_response_release(&r);
}

static void a_bad_request_is_not_made(void)
{
	unsigned before = http_fixture_requests(server);
	check_bad((struct http_request){.url = "file:///etc/hostname"});
	check_bad((struct http_request){.url = "ftp://127.0.0.1/"});
	check_bad((struct http_request){.url = "http://"});
	check_bad((struct http_request){.url = "http://127.0.0.1/a\r\nX: y"});
	check_bad((struct http_request){.method = "GET /"});
	check_bad((struct http_request){
	    .headers = &(struct http_header){"A", "b\r\nC: d"}, .header_count = 1});
	check_bad(
	    (struct http_request){.headers = &(struct http_header){"A:", "b"}, .header_count = 1});
	CU_ASSERT_EQUAL(http_fixture_requests(server), before);
}

static void a_large_answer_is_cut_off(void)
{
	struct http_response r = call((struct http_request){.max_body = 1 << 20}, "/huge");
	CU_ASSERT_EQUAL(r.end, HTTP_TOO_LARGE);
	CU_ASSERT(r.body.len <= 1 << 20);
	http_response_release(&r);
	CU_ASSERT_EQUAL(end_of((struct http_request){0}, "/huge"), HTTP_TOO_LARGE);
}

/* ---- times ---- */

/* How long a call took that timed out. */
static int64_t time_out(struct http_request rq, const char *path)
{
	int64_t before = clock_monotonic_ms();
	CU_ASSERT_EQUAL(end_of(rq, path), HTTP_TIMED_OUT);
	return clock_monotonic_ms() - before;
}

static void check_late(struct http_request rq, const char *path, int64_t least)
{
	int64_t took = time_out(rq, path);
	CU_ASSERT(took >= least);
	CU_ASSERT(took < least + SLACK_MS);
}

static void a_server_that_never_answers_times_out(void)
{
	check_late((struct http_request){.first_byte_ms = 120}, "/never", 120);
	check_late((struct http_request){.first_byte_ms = 120, .idle_ms = 3 * SLACK_MS},
	    "/interim-hangs", 120);
	int64_t deadline = clock_monotonic_ms() + 120;
	CU_ASSERT(time_out((struct http_request){.deadline_ms = deadline}, "/never") < SLACK_MS);
	CU_ASSERT(clock_monotonic_ms() >= deadline);
}

static void an_answer_that_stops_times_out(void)
{
	check_late((struct http_request){.idle_ms = 120}, "/silent", 120);
	/* more and more time, as the first byte may take its own on a busy machine */
	int64_t took, ms = 50;
	while ((took = time_out((struct http_request){.first_byte_ms = ms, .idle_ms = 3 * ms},
		    "/silent")) < 3 * ms &&
	    ms < 10000)
		ms *= 4;
	CU_ASSERT(took >= 3 * ms && took < 3 * ms + SLACK_MS);
}

static void a_deadline_that_has_passed_ends_the_call_at_once(void)
{
	check_late((struct http_request){.deadline_ms = clock_monotonic_ms() - 1}, "/slow", 0);
}

/* The queue of a listening socket takes few connections; the others get no answer at all. */
static void a_connection_that_does_not_come_times_out(void)
{
	int full = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_storage address = {.ss_family = AF_INET};
	socklen_t len = sizeof(address);
	CU_ASSERT_EQUAL_FATAL(listen(full, 0), 0);
	getsockname(full, (struct sockaddr *)&address, &len);
	int waiting[8];
	for (size_t i = 0; i < UNIT_COUNT(waiting); i++) {
		waiting[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		connect(waiting[i], (struct sockaddr *)&address, len);
	}
	unsigned char *port = (unsigned char *)&address + 2;
	char *url = xasprintf("http://127.0.0.1:%d/", port[0] << 8 | port[1]);
	struct http_response r = {0};
	int64_t before = clock_monotonic_ms();
	http_call(&(struct http_request){.url = url, .connect_ms = 150}, &r);
	CU_ASSERT_EQUAL(r.end, HTTP_TIMED_OUT);
	CU_ASSERT(clock_monotonic_ms() - before < 150 + SLACK_MS);
	http_response_release(&r);
	free(url);
	for (size_t i = 0; i < UNIT_COUNT(waiting); i++)
		close(waiting[i]);
	close(full);
}

static void slow_bytes_are_not_silence(void)
{
	struct http_request rq = {.connect_ms = 5000, .first_byte_ms = 5000, .idle_ms = 5000};
	struct http_response r = call(rq, "/slow");
	CU_ASSERT_EQUAL(r.end, HTTP_DONE);
	CU_ASSERT_STRING_EQUAL(buf_str(&r.body), "xxxxxxxxxx");
	http_response_release(&r);
}

static bool take_slowly(const char *data, size_t len, void *arg)
{
	(void)data, (void)len;
	clock_sleep_ms(*(int64_t *)arg);
	return true;
}

/* A server that is late itself, on a busy machine, has more time the next time. */
static void the_time_that_the_caller_takes_is_not_silence(void)
{
	enum http_end end = HTTP_TIMED_OUT;
	for (int64_t ms = 150; ms < 10000 && end == HTTP_TIMED_OUT; ms *= 3) {
		int64_t takes = ms + 50;
		end = end_of(
		    (struct http_request){.idle_ms = ms, .on_data = take_slowly, .arg = &takes},
		    "/slow");
	}
	CU_ASSERT_EQUAL(end, HTTP_DONE);
}

static bool stop_after_some(void *arg)
{
	return ++*(int *)arg >= 3;
}

static void stop_ends_a_call_that_waits(void)
{
	int asked = 0;
	int64_t before = clock_monotonic_ms();
	struct http_request rq = {.stop = stop_after_some, .arg = &asked};
	CU_ASSERT_EQUAL(end_of(rq, "/never"), HTTP_STOPPED);
	CU_ASSERT_EQUAL(asked, 3);
	CU_ASSERT(clock_monotonic_ms() - before < 1000 + SLACK_MS);
}

/* ---- callbacks ---- */

struct seen {
	struct buf data;
	int heads, status;
	bool take_head, take_data;
};

static bool see_head(int status, void *arg)
{
	struct seen *s = arg;
	s->heads++;
	s->status = status;
	CU_ASSERT_EQUAL(s->data.len, 0);
	return s->take_head;
}

static bool see_data(const char *data, size_t len, void *arg)
{
	struct seen *s = arg;
	CU_ASSERT_EQUAL(s->heads, 1);
	buf_add(&s->data, data, len);
	return s->take_data;
}

static struct http_request seeing(struct seen *s)
{
	return (struct http_request){.on_head = see_head, .on_data = see_data, .arg = s};
}

static void data_is_handed_on_and_not_kept(void)
{
	struct seen s = {.take_head = true, .take_data = true};
	struct http_response r = call(seeing(&s), "/slow");
	CU_ASSERT_EQUAL(s.status, 200);
	CU_ASSERT_STRING_EQUAL(buf_str(&s.data), "xxxxxxxxxx");
	CU_ASSERT_EQUAL(r.body.len, 0);
	http_response_release(&r);
	buf_release(&s.data);
}

static void the_head_is_told_once_also_without_a_body(void)
{
	struct seen s = {.take_head = true, .take_data = true};
	CU_ASSERT_EQUAL(end_of(seeing(&s), "/echo"), HTTP_DONE);
	CU_ASSERT_EQUAL(s.heads, 1);
	s = (struct seen){.take_head = true, .take_data = true};
	CU_ASSERT_EQUAL(end_of(seeing(&s), "/interim"), HTTP_DONE);
	CU_ASSERT_EQUAL(s.status, 201);
	buf_release(&s.data);
}

static void what_the_caller_does_not_want_ends_the_call(void)
{
	struct seen s = {.take_head = false};
	CU_ASSERT_EQUAL(end_of(seeing(&s), "/slow"), HTTP_REFUSED);
	CU_ASSERT_EQUAL(s.data.len, 0);
	s = (struct seen){.take_head = true, .take_data = false};
	CU_ASSERT_EQUAL(end_of(seeing(&s), "/slow"), HTTP_REFUSED);
	CU_ASSERT_EQUAL(s.data.len, 1);
	buf_release(&s.data);
	s = (struct seen){.take_head = false};
	CU_ASSERT_EQUAL(end_of(seeing(&s), "/echo"), HTTP_REFUSED);
}

struct upload {
	size_t given, piece, fail_at;
};

static size_t give(char *into, size_t size, void *arg)
{
	struct upload *u = arg;
	size_t len = size < u->piece ? size : u->piece;
	if (u->given >= u->fail_at)
		return SIZE_MAX;
	for (size_t i = 0; i < len; i++)
		into[i] = (char)('a' + (u->given + i) % 26);
	u->given += len;
	return len;
}

static void a_body_can_be_read_in_pieces(void)
{
	struct upload u = {.piece = 777, .fail_at = SIZE_MAX};
	struct http_request rq = {.method = "PUT", .read = give, .body_len = 300000, .arg = &u};
	struct http_response r = call(rq, "/echo");
	CU_ASSERT_EQUAL(r.end, HTTP_DONE);
	CU_ASSERT_EQUAL_FATAL(r.body.len, 300000);
	CU_ASSERT_EQUAL(r.body.data[299999], 'a' + 299999 % 26);
	CU_ASSERT_EQUAL(u.given, 300000);
	http_response_release(&r);
}

static void a_body_that_cannot_be_read_ends_the_call(void)
{
	struct upload u = {.piece = 777, .fail_at = 5000};
	struct http_request rq = {.method = "PUT", .read = give, .body_len = 300000, .arg = &u};
	CU_ASSERT_EQUAL(end_of(rq, "/echo"), HTTP_REFUSED);
}

/* ---- connections ---- */

static void a_connection_is_used_again(void)
{
	http_close_kept();
	unsigned before = http_fixture_accepted(server);
	for (int i = 0; i < 20; i++)
		CU_ASSERT_EQUAL(end_of((struct http_request){0}, "/echo"), HTTP_DONE);
	CU_ASSERT_EQUAL(http_fixture_accepted(server), before + 1);
	http_close_kept();
	CU_ASSERT_EQUAL(end_of((struct http_request){0}, "/echo"), HTTP_DONE);
	CU_ASSERT_EQUAL(http_fixture_accepted(server), before + 2);
}

static void each_server_keeps_its_connection(void)
{
	http_close_kept();
	struct http_fixture *other = http_fixture_start(answer, NULL), *own = server;
	unsigned before = http_fixture_accepted(own);
	for (int i = 0; i < 10; i++) {
		CU_ASSERT_EQUAL(end_of((struct http_request){0}, "/echo"), HTTP_DONE);
		server = other;
		CU_ASSERT_EQUAL(end_of((struct http_request){0}, "/echo"), HTTP_DONE);
		server = own;
	}
	CU_ASSERT_EQUAL(http_fixture_accepted(own), before + 1);
	CU_ASSERT_EQUAL(http_fixture_accepted(other), 1);
	http_fixture_stop(other);
}

static void a_connection_that_died_meanwhile_is_replaced(void)
{
	for (int i = 0; i < 20; i++) {
		CU_ASSERT_EQUAL(end_of((struct http_request){0}, "/last"), HTTP_DONE);
		struct http_request rq = {.body = "again", .body_len = 5};
		CU_ASSERT_EQUAL(end_of(rq, "/echo"), HTTP_DONE);
	}
}

static void what_acts_is_sent_once(void)
{
	for (int acts = 0; acts < 2; acts++) {
		http_close_kept();
		CU_ASSERT_EQUAL(end_of((struct http_request){0}, "/echo"), HTTP_DONE);
		struct http_request rq = {.body = "x", .body_len = 1, .acts = acts};
		atomic_store(&nothings, 0);
		CU_ASSERT_EQUAL(end_of(rq, "/nothing"), HTTP_CLOSED);
		CU_ASSERT_EQUAL(atomic_load(&nothings), acts ? 1 : 2);
	}
}

static void *call_together(void *arg)
{
	struct http_response r = {0};
	http_call(&(struct http_request){.url = arg, .first_byte_ms = 30000}, &r);
	bool good = r.end == HTTP_DONE && strcmp(buf_str(&r.body), "together") == 0;
	http_response_release(&r);
	return good ? arg : NULL;
}

static void many_threads_call_at_once(void)
{
	char *url = xstrdup(http_fixture_url(server, "/together"));
	pthread_t threads[MANY];
	for (int round = 0; round < 2; round++) {
		unsigned before = http_fixture_accepted(server);
		atomic_store(&inside, 0);
		for (int i = 0; i < MANY; i++)
			pthread_create(&threads[i], NULL, call_together, url);
		for (int i = 0; i < MANY; i++) {
			void *good = NULL;
			pthread_join(threads[i], &good);
			CU_ASSERT_PTR_NOT_NULL(good);
		}
		if (round == 1)
			CU_ASSERT_EQUAL(http_fixture_accepted(server), before);
	}
	free(url);
}

/* A child that used its parent's connection would send into it, and close it at its end. */
static void a_forked_child_makes_its_own_connection(void)
{
	CU_ASSERT_EQUAL(end_of((struct http_request){0}, "/echo"), HTTP_DONE);
	unsigned before = http_fixture_accepted(server);
	pid_t pid = fork();
	if (pid == 0) {
		struct http_request rq = {.url = http_fixture_url(server, "/echo")};
		struct http_response r = {0};
		enum http_end end = http_call(&rq, &r);
		http_close_kept();
		_exit(end == HTTP_DONE ? 0 : 1);
	}
	int status = -1;
	waitpid(pid, &status, 0);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_EQUAL(http_fixture_accepted(server), before + 1);
	CU_ASSERT_EQUAL(end_of((struct http_request){0}, "/echo"), HTTP_DONE);
	CU_ASSERT_EQUAL(http_fixture_accepted(server), before + 1);
}

/* ---- headers ---- */

static int64_t retry_after(const char *value)
{
	struct http_response r = {0};
	buf_printf(&r.head, "HTTP/1.1 503 Later\r\n%s%s\r\n\r\n", value ? "retry-after: " : "X: y",
	    value ? value : "");
	int64_t ms = http_retry_after_ms(&r);
	http_response_release(&r);
	return ms;
}

static void retry_after_is_seconds_or_a_date(void)
{
	char date[64];
	time_t at = time(NULL) + 100;
	strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", gmtime(&at));
	CU_ASSERT_EQUAL(retry_after("0"), 0);
	CU_ASSERT_EQUAL(retry_after("120"), 120000);
	CU_ASSERT_EQUAL(retry_after("99999999999999999999999"), 1000000000000);
	CU_ASSERT(retry_after(date) > 90000 && retry_after(date) <= 100000);
	CU_ASSERT_EQUAL(retry_after("Wed, 21 Oct 2015 07:28:00 GMT"), 0);
	CU_ASSERT_EQUAL(retry_after("Fri, 31 Dec 2099999998"), 1000000000000);
	CU_ASSERT_EQUAL(retry_after("-5"), -1);
	CU_ASSERT_EQUAL(retry_after("soon"), -1);
	CU_ASSERT_EQUAL(retry_after(""), -1);
	CU_ASSERT_EQUAL(retry_after(NULL), -1);
}

static const struct unit_test tests[] = {
    {"a whole answer is done", a_whole_answer_is_done},
    {"a status is no failure", a_status_is_no_failure},
    {"a body makes it a POST", a_body_makes_it_a_post},
    {"methods are sent as they are", methods_are_sent_as_they_are},
    {"nothing is sent that was not asked for", nothing_is_sent_that_was_not_asked_for},
    {"a redirect is an answer and cookies are forgotten",
	a_redirect_is_an_answer_and_cookies_are_forgotten},
    {"an interim answer is left out", an_interim_answer_is_left_out},
    {"a closed port is no connection", a_closed_port_is_no_connection},
    {"another protocol than TLS is no connection", another_protocol_than_tls_is_no_connection},
    {"an answer that breaks off is closed", an_answer_that_breaks_off_is_closed},
    {"a bad request is not made", a_bad_request_is_not_made},
    {"a large answer is cut off", a_large_answer_is_cut_off},
    {"a server that never answers times out", a_server_that_never_answers_times_out},
    {"an answer that stops times out", an_answer_that_stops_times_out},
    {"a deadline that has passed ends the call at once",
	a_deadline_that_has_passed_ends_the_call_at_once},
    {"a connection that does not come times out", a_connection_that_does_not_come_times_out},
    {"slow bytes are not silence", slow_bytes_are_not_silence},
    {"the time that the caller takes is not silence",
	the_time_that_the_caller_takes_is_not_silence},
    {"stop ends a call that waits", stop_ends_a_call_that_waits},
    {"data is handed on and not kept", data_is_handed_on_and_not_kept},
    {"the head is told once, also without a body", the_head_is_told_once_also_without_a_body},
    {"what the caller does not want ends the call", what_the_caller_does_not_want_ends_the_call},
    {"a body can be read in pieces", a_body_can_be_read_in_pieces},
    {"a body that cannot be read ends the call", a_body_that_cannot_be_read_ends_the_call},
    {"a connection is used again", a_connection_is_used_again},
    {"each server keeps its connection", each_server_keeps_its_connection},
    {"a connection that died meanwhile is replaced", a_connection_that_died_meanwhile_is_replaced},
    {"what acts is sent once", what_acts_is_sent_once},
    {"many threads call at once", many_threads_call_at_once},
    {"a forked child makes its own connection", a_forked_child_makes_its_own_connection},
    {"Retry-After is seconds or a date", retry_after_is_seconds_or_a_date},
};

int main(void)
{
	unsetenv("http_proxy");
	unsetenv("https_proxy");
	unsetenv("all_proxy");
	server = http_fixture_start(answer, NULL);
	int status = unit_main("http", tests, UNIT_COUNT(tests));
	http_close_kept();
	http_fixture_stop(server);
	return status;
}
