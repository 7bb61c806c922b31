/* SPDX-License-Identifier: ISC */
/* Requests to a service, and what its answers say. */
#include "cli/source/ask_url.h"

#include "base/http/percent.h"
#include "base/http/url.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_MS 10000
#define ANSWER_MS 60000
#define SEND_MS 600000 /* a large body takes its time */
#define REFUSAL_MOST (1 << 20)
#define MAX_LINE ((size_t)64 << 20) /* a chunk may have the whole state of its thread */

bool url_service_check(const char *url, struct error *err)
{
	size_t scheme = strncmp(url, "http://", 7) == 0 ? 7
	    : strncmp(url, "https://", 8) == 0          ? 8
							: 0;
	if (scheme && strcspn(url + scheme, "/?#"))
		return true;
	return error_set(
	    err, ERR_INVALID_INPUT, "the URL must begin with http:// or https:// and a host");
}

void url_service_open(struct url_service *at, const char *url, const char *token)
{
	at->url = url_base(url);
	at->authorization = token && *token ? xasprintf("Bearer %s", token) : NULL;
}

void url_service_close(struct url_service *at)
{
	free(at->url);
	free(at->authorization);
}

struct http_request url_request(
    const struct url_service *at, const char *url, const char *body, struct http_header headers[2])
{
	size_t count = 0;
	if (at->authorization)
		headers[count++] = (struct http_header){"Authorization", at->authorization};
	if (body)
		headers[count++] = (struct http_header){"Content-Type", "application/json"};
	return (struct http_request){.url = url,
	    .headers = headers,
	    .header_count = count,
	    .body = body,
	    .body_len = body ? strlen(body) : 0,
	    .connect_ms = CONNECT_MS};
}

/* The URL without the user and password that it may have, malloc'd.  What is no host belongs to a
 * password with a bare '/'; so nothing of it is shown. */
static char *url_shown(const struct url_service *at)
{
	const char *host = strstr(at->url, "://") + 3;
	const char *user = memrchr(host, '@', strcspn(host, "/?#"));
	char *shown = xasprintf("%.*s%s", (int)(host - at->url), at->url, user ? user + 1 : host);
	char *site = url_site(shown);
	if (site && !strchr(shown, '@')) {
		free(site);
		return shown;
	}
	free(shown);
	return site ? site : xstrdup("the URL");
}

/* Sets err to the error in an answer, or to the reason why there was no answer. */
static void url_refused(const struct url_service *at, const struct http_response *response,
    const cJSON *answer, struct error *err)
{
	const char *detail = json_str(answer, "detail");
	char *shown = url_shown(at);
	if (response->end != HTTP_DONE)
		error_set(err, ERR_SERVICE_UNAVAILABLE, "%s: %s", shown, response->reason);
	else if (detail)
		error_set(err, error_kind_of(json_str(answer, "error_code")), "%s", detail);
	else
		error_set(err, ERR_SERVICE_UNAVAILABLE, "%s answered with status %d", shown,
		    response->status);
	free(shown);
}

/* Makes the request and takes the data out of the answer, as url_ask does. */
static cJSON *url_call(
    struct url_service *at, const struct http_request *request, int *status, struct error *err)
{
	struct http_response response = {0};
	http_call(request, &response);
	cJSON *answer =
	    json_parse(buf_str(&response.body), response.body.len, JSON_TRUSTED_DEPTH, NULL);
	cJSON *data = NULL;
	*status = response.status;
	if (response.end == HTTP_DONE && response.status >= 200 && response.status < 300)
		data = cJSON_DetachItemFromObjectCaseSensitive(answer, "data");
	if (!data)
		url_refused(at, &response, answer, err);
	cJSON_Delete(answer);
	http_response_release(&response);
	return data;
}

cJSON *url_ask(struct url_service *at, const char *url, const char *body, int64_t wait, int *status,
    struct error *err)
{
	struct http_header headers[2];
	struct http_request request = url_request(at, url, body, headers);
	request.deadline_ms = clock_monotonic_ms() + ANSWER_MS + wait * 1000;
	return url_call(at, &request, status, err);
}

cJSON *url_send(struct url_service *at, const char *url, const char *type, const struct buf *body,
    struct error *err)
{
	int status;
	struct http_header headers[2];
	struct http_request request = url_request(at, url, buf_str(body), headers);
	headers[request.header_count - 1].value = type;
	request.body_len = body->len;
	request.first_byte_ms = SEND_MS;
	return url_call(at, &request, &status, err);
}

bool url_lines(void *arg, const char *data, size_t len)
{
	struct url_lines *lines = arg;
	const char *end;
	while ((end = memchr(data, '\n', len))) {
		buf_add(&lines->rest, data, (size_t)(end - data));
		lines->take(lines->arg, buf_str(&lines->rest), lines->rest.len);
		buf_reset(&lines->rest);
		len -= (size_t)(end - data) + 1;
		data = end + 1;
	}
	buf_add(&lines->rest, data, len);
	return lines->rest.len <= MAX_LINE;
}

/* ---- answers as they come ---- */

static bool url_answer_head(int status, void *arg)
{
	((struct url_answer *)arg)->status = status;
	return true;
}

static bool url_answer_data(const char *data, size_t len, void *arg)
{
	struct url_answer *answer = arg;
	if (answer->status == 200)
		return answer->take(answer->arg, data, len);
	buf_add(&answer->refusal, data, len);
	return answer->refusal.len <= REFUSAL_MOST;
}

enum http_end url_answer_take(
    struct url_answer *answer, struct http_request *request, struct http_response *response)
{
	answer->status = 0;
	buf_reset(&answer->refusal);
	request->on_head = url_answer_head;
	request->on_data = url_answer_data;
	request->arg = answer;
	return http_call(request, response);
}

void url_answer_refused(const struct url_service *at, const struct url_answer *answer,
    const struct http_response *response, struct error *err)
{
	const struct buf *refusal = &answer->refusal;
	cJSON *body = json_parse(buf_str(refusal), refusal->len, JSON_TRUSTED_DEPTH, NULL);
	url_refused(at, response, body, err);
	cJSON_Delete(body);
}

/* An answer on its way into a file. */
struct url_saving {
	FILE *out;
	int failed; /* errno of a write that failed, else 0 */
};

static bool url_save_data(void *arg, const char *data, size_t len)
{
	struct url_saving *saving = arg;
	if (fwrite(data, 1, len, saving->out) != len)
		saving->failed = errno;
	return !saving->failed;
}

bool url_save(struct url_service *at, const char *url, FILE *out, struct error *err)
{
	struct url_saving saving = {.out = out};
	struct url_answer answer = {.take = url_save_data, .arg = &saving};
	struct http_header headers[2];
	struct http_response response = {0};
	struct http_request request = url_request(at, url, NULL, headers);
	request.first_byte_ms = request.idle_ms = ANSWER_MS;
	bool done =
	    url_answer_take(&answer, &request, &response) == HTTP_DONE && answer.status == 200;
	if (done && fflush(out) != 0)
		saving.failed = errno;
	if (saving.failed)
		error_set(err, ERR_INTERNAL, "cannot write: %s", strerror(saving.failed));
	else if (!done)
		url_answer_refused(at, &answer, &response, err);
	buf_release(&answer.refusal);
	http_response_release(&response);
	return done && !saving.failed;
}

void url_add_query(struct buf *out, const char *name, const char *value, char *between)
{
	if (!value)
		return;
	buf_printf(out, "%c%s=", *between, name);
	percent_add(out, value, "");
	*between = '&';
}
