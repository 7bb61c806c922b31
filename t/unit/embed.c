/* SPDX-License-Identifier: ISC */
/* Vectors of texts, asked of a service. */
#include "model/embed/embed.h"
#include "base/buf.h"
#include "base/http/http.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "chat_fixture.h"
#include "http_fixture.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- A service that makes [length of the text, number of the text] of each text, last first */

static unsigned largest; /* texts in one request */

static bool answer(int fd, const struct peer_request *rq, void *arg)
{
	(void)arg;
	cJSON *body = json_parse(rq->body, rq->body_len, JSON_REQUEST_DEPTH, NULL);
	const cJSON *input = json_get(body, "input"), *text;
	struct buf out = {0}, row = {0}, rows = {0};
	unsigned i = 0;
	cJSON_ArrayForEach(text, input) {
		buf_printf(&row,
		    "{\"object\":\"embedding\",\"index\":%u,\"embedding\":[%zu, %u.5]}", i,
		    strlen(text->valuestring), i);
		if (rows.len)
			buf_putc(&row, ',');
		buf_puts(&row, buf_str(&rows));
		buf_reset(&rows);
		buf_add(&rows, row.data, row.len);
		buf_reset(&row);
		i++;
	}
	largest = i > largest ? i : largest;
	buf_printf(&out, "{\"data\":[%s],\"model\":\"e\"}", buf_str(&rows));
	bool more = peer_reply(fd, 200, "", buf_str(&out));
	buf_release(&out);
	buf_release(&row);
	buf_release(&rows);
	cJSON_Delete(body);
	return more;
}

static struct embedder *embedder_at(const char *base_url, size_t dimensions)
{
	char *problem;
	struct embedder *e = embedder_new(
	    &(struct embed_target){
		.base_url = base_url, .model = "e", .dimensions = dimensions, .retries = 1},
	    &problem);
	CU_ASSERT_PTR_NULL(problem);
	if (!e)
		abort();
	return e;
}

static void texts_become_vectors_in_their_order(void)
{
	struct http_fixture *server = http_fixture_start(answer, NULL);
	struct embedder *e = embedder_at(http_fixture_url(server, "/v1/"), 2);
	const char *texts[] = {"a", "four", "\"x\"\n"};
	float vectors[6] = {0};
	struct error err = {0};
	CU_ASSERT_EQUAL(embedder_dimensions(e), 2);
	CU_ASSERT(embed_texts(e, texts, 3, vectors, NULL, NULL, &err));
	CU_ASSERT_EQUAL(vectors[0], 1);
	CU_ASSERT_EQUAL(vectors[2], 4);
	CU_ASSERT_EQUAL(vectors[3], 1.5);
	CU_ASSERT_EQUAL(vectors[4], 4);
	CU_ASSERT(embed_texts(e, texts, 0, vectors, NULL, NULL, &err));
	CU_ASSERT_FALSE(error_is_set(&err));
	embedder_free(e);
	http_close_kept();
	http_fixture_stop(server);
}

static void many_texts_go_in_batches(void)
{
	struct http_fixture *server = http_fixture_start(answer, NULL);
	struct embedder *e = embedder_at(http_fixture_url(server, "/v1"), 2);
	const char *texts[300];
	static float vectors[600];
	static char large[100001];
	struct error err = {0};
	for (size_t i = 0; i < 300; i++)
		texts[i] = i == 299 ? "last" : "x";
	CU_ASSERT(embed_texts(e, texts, 300, vectors, NULL, NULL, &err));
	CU_ASSERT_EQUAL(largest, 128);
	CU_ASSERT_EQUAL(http_fixture_requests(server), 3);
	CU_ASSERT_EQUAL(vectors[598], 4);
	memset(large, 'l', 100000);
	for (size_t i = 0; i < 5; i++)
		texts[i] = large;
	largest = 0;
	CU_ASSERT(embed_texts(e, texts, 5, vectors, NULL, NULL, &err));
	CU_ASSERT_EQUAL(largest, 2);
	embedder_free(e);
	http_close_kept();
	http_fixture_stop(server);
}

/* ---- Failures */

static void check_cause(const struct step *steps, size_t count, unsigned requests, const char *says)
{
	struct embedder *e = embedder_at(provider_url(), 2);
	const char *text = "hello";
	float vector[2];
	struct error err = {0};
	provider_script(steps, count);
	http_close_kept(); /* libcurl asks again by itself when a kept connection is dead */
	CU_ASSERT_FALSE(embed_texts(e, &text, 1, vector, NULL, NULL, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_STORE_UNAVAILABLE);
	CU_ASSERT_STRING_EQUAL(err.detail, "Store is unavailable");
	CU_ASSERT_PTR_NOT_NULL(strstr(err.cause, says));
	CU_ASSERT_PTR_NULL(strstr(err.cause, "secret"));
	CU_ASSERT_EQUAL(provider_requests(), requests);
	error_release(&err);
	embedder_free(e);
}

static void failures_are_told_apart(void)
{
	static const struct step refused[] = {
	    {STEP_WHOLE, 401, NULL, "{\"error\":{\"message\":\"bad key sk-openai-secret\"}}"}};
	static const struct step failing[] = {{STEP_WHOLE, 500, NULL, "oops"}};
	static const struct step html[] = {{STEP_WHOLE, 200, NULL, "<html>"}};
	static const struct step few[] = {
	    {STEP_WHOLE, 200, NULL, "{\"data\":[{\"embedding\":[1]}]}"}};
	static const struct step coded[] = {
	    {STEP_WHOLE, 200, NULL, "{\"data\":[{\"embedding\":\"AACAPw==\"}]}"}};
	static const struct step cut[] = {{STEP_CUT, 0, NULL, ""}};
	check_cause(refused, 1, 1, "embedding model e: it answered 401: bad key");
	check_cause(failing, 1, 2, "it answered 500");
	check_cause(html, 1, 1, "the answer is not JSON");
	check_cause(few, 1, 1, "a vector has too few numbers");
	check_cause(coded, 1, 1, "a vector is a text, where numbers were asked for");
	check_cause(cut, 1, 2, "embedding model e: ");
	/* of which the beginning is kept alone */
	char *blanks = xcalloc(1, 100001), *long_error;
	memset(blanks, ' ', 100000);
	long_error = xasprintf("%s{\"error\":{\"message\":\"secret\"}}", blanks);
	const struct step late[] = {{STEP_WHOLE, 500, NULL, long_error}};
	check_cause(late, 1, 2, "it answered 500");
	free(long_error);
	free(blanks);
}

static void the_deadline_counts(void)
{
	static const struct step never[] = {{STEP_NEVER, 0, NULL, ""}};
	struct embedder *e = embedder_at(provider_url(), 2);
	const char *text = "hello";
	float vector[2];
	struct error err = {0};
	provider_script(never, 1);
	int64_t before = clock_monotonic_ms();
	const struct embed_wait wait = {.deadline_ms = before + 200};
	CU_ASSERT_FALSE(embed_texts(e, &text, 1, vector, &wait, NULL, &err));
	CU_ASSERT(clock_monotonic_ms() - before < 30000);
	error_release(&err);
	embedder_free(e);
}

static void check_target(const struct embed_target *target, const char *expected)
{
	char *problem;
	struct embedder *e = embedder_new(target, &problem);
	CU_ASSERT_PTR_NULL(e);
	CU_ASSERT_PTR_NOT_NULL_FATAL(problem);
	CU_ASSERT_STRING_EQUAL(problem, expected);
	free(problem);
}

static void a_bad_target_is_refused(void)
{
	check_target(&(struct embed_target){.model = "e", .base_url = "x", .dimensions = 1},
	    "base_url must be an http or https URL");
	check_target(
	    &(struct embed_target){.model = "e"}, "dimensions must be a number from 1 to 65536");
	check_target(&(struct embed_target){.dimensions = 1}, "model must be the name of a model");
	check_target(
	    &(struct embed_target){.model = "e", .dimensions = 1, .api_key_env = "NO_SUCH_X"},
	    "the environment variable NO_SUCH_X, for the key, must be set");
}

/* ---- The numbers */

static const char *scan(const char *text, size_t count, float *vectors)
{
	return embed_scan(text, strlen(text), count, 2, vectors);
}

static void numbers_are_read_as_they_are(void)
{
	float v[4];
	CU_ASSERT_PTR_NULL(scan("{\"data\" : [ {\"embedding\" :\n[ -0.25 , 1e-3 ] } ]}", 1, v));
	CU_ASSERT_EQUAL(v[0], -0.25f);
	CU_ASSERT_EQUAL(v[1], 0.001f);
	CU_ASSERT_PTR_NULL(
	    scan("{\"object\":\"embedding\",\"data\":[{\"index\":1,\"embedding\":[1,2]},"
		 "{\"embedding\":[3,4],\"index\":0,\"note\":\"\\\"embedding\\\":[\"}]}",
		2, v));
	CU_ASSERT_EQUAL(v[0], 3);
	CU_ASSERT_EQUAL(v[2], 1);
}

static void what_is_no_vector_is_refused(void)
{
	static const char *const wrong[] = {"{\"data\":[{\"embedding\":[1]}]}",
	    "{\"data\":[{\"embedding\":[1,2,3]}]}", "{\"data\":[{\"embedding\":[]}]}",
	    "{\"data\":[{\"embedding\":[NaN,1]}]}", "{\"data\":[{\"embedding\":[1e99,1]}]}",
	    "{\"data\":[{\"embedding\":[inf,1]}]}", "{\"data\":[{\"embedding\":[0x1,1]}]}",
	    "{\"data\":[{\"embedding\":[null,1]}]}", "{\"data\":[{\"embedding\":[\"1\",1]}]}",
	    "{\"data\":[{\"embedding\":[1,2]", "{\"data\":[{\"embedding\":[1,", "{\"data\":[]}",
	    "{\"data\":[{\"embedding\":\"AAAA\"}]}", "{\"data\":[{\"embedding\":0}]}",
	    "{\"data\":[{\"index\":1,\"embedding\":[1,2]}]}", "[]", "",
	    "{\"data\":[{\"embedding\":[1,2]},{\"embedding\":[1,2]}]}",
	    "{\"data\":[{\"index\":0,\"embedding\":[1,2]},{\"index\":0,\"embedding\":0}]}"};
	float v[2];
	for (size_t i = 0; i < UNIT_COUNT(wrong); i++)
		if (!scan(wrong[i], 1, v))
			CU_FAIL("something that is no vector was taken");
}

static const struct unit_test tests[] = {
    {"texts become vectors in their order", texts_become_vectors_in_their_order},
    {"many texts go in batches", many_texts_go_in_batches},
    {"failures are told apart", failures_are_told_apart},
    {"the deadline counts", the_deadline_counts},
    {"a bad target is refused", a_bad_target_is_refused},
    {"numbers are read as they are", numbers_are_read_as_they_are},
    {"what is no vector is refused", what_is_no_vector_is_refused},
};

int main(void)
{
	memory_init();
	provider_start();
	int status = unit_main("embed", tests, UNIT_COUNT(tests));
	http_close_kept();
	provider_stop();
	return status;
}
