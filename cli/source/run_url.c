/* SPDX-License-Identifier: ISC */
/* Runs of a service that is asked over HTTP. */
#include "base/http/percent.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "cli/source/ask_url.h"
#include "cli/source/run_source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_S 300    /* the longest wait for a result that a service allows */
#define AGAIN_MS 1000 /* between two requests for the same */
#define TRIES 60      /* requests without a chunk before the run is given up */

struct run_url {
	struct run_source source;
	struct url_service service;
};

static void url_begin(const struct run_url *at, struct buf *out, const struct run_name *run)
{
	buf_printf(out, "%s/v1/threads/", at->service.url);
	percent_add(out, run->thread, "");
	buf_puts(out, "/runs/");
	percent_add(out, run->id, "");
}

static cJSON *url_list(
    struct run_source *source, const struct record_query *query, struct error *err)
{
	struct run_url *at = (struct run_url *)source;
	struct buf url = {0};
	char between = '?';
	int status;
	buf_printf(&url, "%s/v1/graph/runs", at->service.url);
	url_add_query(&url, "thread_id", query->thread_id, &between);
	url_add_query(&url, "status", query->status, &between);
	url_add_query(&url, "limit", query->limit, &between);
	cJSON *data = url_ask(&at->service, buf_str(&url), NULL, 0, &status, err);
	buf_release(&url);
	return data;
}

/* Asks the route at the run's own path and what stands behind it. */
static cJSON *url_of_run(struct run_source *source, const struct run_name *run, const char *behind,
    const char *body, int64_t wait, int *status, struct error *err)
{
	struct run_url *at = (struct run_url *)source;
	struct buf url = {0};
	url_begin(at, &url, run);
	buf_puts(&url, behind);
	cJSON *data = url_ask(&at->service, buf_str(&url), body, wait, status, err);
	buf_release(&url);
	return data;
}

static cJSON *url_read(struct run_source *source, const struct run_name *run, struct error *err)
{
	int status;
	return url_of_run(source, run, "", NULL, 0, &status, err);
}

static cJSON *url_stop(struct run_source *source, const struct run_name *run, struct error *err)
{
	int status;
	return url_of_run(source, run, "/stop", "{}", 0, &status, err);
}

static cJSON *url_submit(struct run_source *source, const cJSON *body, struct error *err)
{
	struct run_url *at = (struct run_url *)source;
	char *text = json_print(body), *url = xasprintf("%s/v1/graph/runs", at->service.url);
	int status;
	cJSON *data = url_ask(&at->service, url, text, 0, &status, err);
	free(text);
	free(url);
	return data;
}

static cJSON *url_result(struct run_source *source, const struct run_name *run, struct error *err)
{
	char *behind = xasprintf("/result?wait=%d", WAIT_S);
	int status = 202;
	cJSON *data = NULL;
	for (int64_t last = 0; status == 202;) {
		int64_t early = last + AGAIN_MS - clock_monotonic_ms();
		if (early > 0)
			clock_sleep_ms(early);
		last = clock_monotonic_ms();
		cJSON_Delete(data);
		data = url_of_run(source, run, behind, NULL, WAIT_S, &status, err);
	}
	free(behind);
	return data;
}

/* ---- following ---- */

struct url_stream {
	const struct run_follow *follow;
	struct url_lines lines;
	struct url_answer answer;
	int64_t seq; /* metadata.seq of the latest chunk */
	bool moved;  /* a chunk came with this request */
	bool over;   /* the terminator has come */
};

static void stream_on_line(void *arg, const char *line, size_t len)
{
	struct url_stream *s = arg;
	cJSON *chunk = json_parse(line, len, JSON_TRUSTED_DEPTH, NULL);
	if (chunk) {
		json_integer(json_get(json_opt(chunk, "metadata"), "seq"), &s->seq);
		s->follow->chunk(s->follow->arg, line, len);
		s->moved = true;
		s->over = json_str_is(json_opt(chunk, "data"), "status", "done");
	}
	cJSON_Delete(chunk);
}

/* Makes one request for the chunks behind the latest one.  False with err set when it is no use to
 * ask again. */
static bool stream_take_up(
    struct run_url *at, const struct run_name *run, struct url_stream *s, struct error *err)
{
	struct http_header headers[2];
	struct http_response response = {0};
	struct buf url = {0};
	url_begin(at, &url, run);
	buf_printf(
	    &url, "/stream?response_granularity=%s&after=%" PRId64, s->follow->granularity, s->seq);
	struct http_request request = url_request(&at->service, buf_str(&url), NULL, headers);
	s->moved = false;
	buf_reset(&s->lines.rest);
	enum http_end end = url_answer_take(&s->answer, &request, &response);
	bool comes_back = end == HTTP_DONE ? s->answer.status == 200 || s->answer.status >= 502
					   : end == HTTP_CLOSED || end == HTTP_NO_CONNECT;
	if (!comes_back)
		url_answer_refused(&at->service, &s->answer, &response, err);
	buf_release(&url);
	http_response_release(&response);
	return comes_back;
}

/* Follows the run to its end, and waits for a service that is restarted meanwhile. */
static bool url_follow(struct run_source *source, const struct run_name *run,
    const struct run_follow *follow, struct error *err)
{
	struct run_url *at = (struct run_url *)source;
	struct url_stream s = {.follow = follow, .seq = follow->after};
	s.lines = (struct url_lines){.take = stream_on_line, .arg = &s};
	s.answer = (struct url_answer){.take = url_lines, .arg = &s.lines};
	int tries = 0;
	while (!s.over && stream_take_up(at, run, &s, err) && !s.over) {
		tries = s.moved ? 0 : tries + 1;
		if (tries == TRIES) {
			error_set(
			    err, ERR_SERVICE_UNAVAILABLE, "%s does not go on", at->service.url);
			break;
		}
		clock_sleep_ms(AGAIN_MS);
	}
	buf_release(&s.lines.rest);
	buf_release(&s.answer.refusal);
	return s.over;
}

static void url_close(struct run_source *source)
{
	struct run_url *at = (struct run_url *)source;
	url_service_close(&at->service);
	free(at);
}

struct run_source *run_source_of_url(const char *url, const char *token)
{
	struct run_url *at = xcalloc(1, sizeof(*at));
	at->source = (struct run_source){.list = url_list,
	    .read = url_read,
	    .stop = url_stop,
	    .submit = url_submit,
	    .result = url_result,
	    .follow = url_follow,
	    .close = url_close};
	url_service_open(&at->service, url, token);
	return &at->source;
}
