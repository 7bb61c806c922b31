/* SPDX-License-Identifier: ISC */
/* From arguments to a request, and from the answer to a tool's result. */
#include "graph/http_tool.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/process.h"
#include "graph/run.h"
#include "graph/template.h"

#include <stdlib.h>
#include <string.h>

#define CONNECT_MS 10000
#define BODY_SHOWN 2000 /* bytes of a refusal that a model is shown */
#define MOST_HEADERS 40

/* ---- The URL */

bool http_tool_url_fits(const char *url)
{
	size_t scheme = strncmp(url, "https://", 8) == 0 ? 8
	    : strncmp(url, "http://", 7) == 0            ? 7
							 : 0;
	size_t host = strcspn(url + scheme, "/?#{");
	return scheme && host > 0 && url[scheme + host] != '{' && !memchr(url + scheme, '@', host);
}

/* The member of args that a path of names leads to, or NULL. */
static const cJSON *http_tool_member(const cJSON *args, const char *path)
{
	const cJSON *whole = json_opt(args, path);
	if (whole)
		return whole;
	char *copy = xstrdup(path), *rest = copy, *key;
	while (args && (key = strsep(&rest, ".")))
		args = json_opt(args, key);
	free(copy);
	return args;
}

static void http_tool_add_text(struct buf *out, const cJSON *value)
{
	if (cJSON_IsString(value)) {
		buf_puts(out, value->valuestring);
	} else if (value && !cJSON_IsNull(value)) {
		char *json = json_print(value);
		buf_puts(out, json);
		free(json);
	}
}

static void add_encoded(struct buf *out, const char *text)
{
	static const char plain[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
	for (; *text; text++) {
		if (strchr(plain, *text))
			buf_putc(out, *text);
		else
			buf_printf(out, "%%%02X", (unsigned char)*text);
	}
}

struct url_values {
	const cJSON *args;
	bool climbs; /* a value is a path that leads upwards */
};

static void add_url_value(const char *name, struct buf *out, void *arg)
{
	struct url_values *values = arg;
	struct buf text = {0};
	http_tool_add_text(&text, http_tool_member(values->args, name));
	if (strcmp(buf_str(&text), ".") == 0 || strcmp(buf_str(&text), "..") == 0)
		values->climbs = true;
	add_encoded(out, buf_str(&text));
	buf_release(&text);
}

static void add_text_value(const char *name, struct buf *out, void *arg)
{
	http_tool_add_text(out, http_tool_member(arg, name));
}

/* ---- JSON with names */

/* The value of a text: of one that is a name and nothing else the member itself, NULL when there is
 * none. */
static cJSON *text_value(const char *text, const cJSON *args)
{
	char *error = NULL;
	struct template *t = template_parse(text, &error);
	struct buf out = {0};
	cJSON *value = NULL;
	if (!t) { /* it was checked at start-up */
		free(error);
		return cJSON_CreateString(text);
	}
	const char *name = template_only_name(t);
	if (name) {
		value = cJSON_Duplicate(http_tool_member(args, name), true);
	} else {
		template_render(t, add_text_value, (void *)args, &out);
		value = cJSON_CreateString(buf_str(&out));
	}
	buf_release(&out);
	template_free(t);
	return value;
}

static cJSON *filled(const cJSON *json, const cJSON *args)
{
	const cJSON *child;
	if (cJSON_IsString(json))
		return text_value(json->valuestring, args);
	if (!cJSON_IsArray(json) && !cJSON_IsObject(json))
		return cJSON_Duplicate(json, true);
	cJSON *copy = cJSON_IsArray(json) ? cJSON_CreateArray() : cJSON_CreateObject();
	cJSON_ArrayForEach(child, json) {
		cJSON *value = filled(child, args);
		if (value && child->string)
			cJSON_AddItemToObject(copy, child->string, value);
		else if (value)
			cJSON_AddItemToArray(copy, value);
	}
	return copy;
}

static void http_tool_add_query(struct buf *url, const cJSON *query, const cJSON *args)
{
	const cJSON *item;
	char mark = strchr(buf_str(url), '?') ? '&' : '?';
	cJSON_ArrayForEach(item, query) {
		struct buf text = {0};
		cJSON *value = filled(item, args);
		if (value) {
			http_tool_add_text(&text, value);
			buf_putc(url, mark);
			add_encoded(url, item->string);
			buf_putc(url, '=');
			add_encoded(url, buf_str(&text));
			mark = '&';
		}
		buf_release(&text);
		cJSON_Delete(value);
	}
}

/* False when an argument would lead out of its place. */
static bool make_url(const struct http_tool *tool, const cJSON *args, struct buf *url)
{
	struct url_values values = {args, false};
	template_render(tool->url, add_url_value, &values, url);
	char *fragment = url->data ? strchr(url->data, '#') : NULL;
	if (fragment) { /* is not sent */
		*fragment = '\0';
		url->len = (size_t)(fragment - url->data);
	}
	http_tool_add_query(url, tool->query, args);
	return !values.climbs;
}

static char *http_tool_make_body(const struct http_tool *tool, const cJSON *args)
{
	if (!tool->body)
		return NULL;
	if (cJSON_IsString(tool->body) && strcmp(tool->body->valuestring, "arguments") == 0)
		return json_print(args);
	cJSON *body = filled(tool->body, args);
	char *text = body ? json_print(body) : NULL;
	cJSON_Delete(body);
	return text;
}

/* ---- The call */

static bool http_tool_stop_requested(void *arg)
{
	return ag_stop_requested(arg);
}

static size_t make_headers(
    const struct http_tool *tool, const ag_run *run, const char *body, struct http_header *headers)
{
	const char *traceparent = run_traceparent(run);
	size_t count = 0;
	for (; count < tool->header_count && count < MOST_HEADERS - 2; count++)
		headers[count] = tool->headers[count];
	if (body)
		headers[count++] = (struct http_header){"Content-Type", "application/json"};
	if (traceparent)
		headers[count++] = (struct http_header){"traceparent", traceparent};
	return count;
}

static enum http_end request(const struct http_tool *tool, ag_run *run, const char *url,
    const char *body, struct http_response *response)
{
	struct http_header headers[MOST_HEADERS];
	int64_t left = ag_time_left_ms(run);
	int64_t ms = tool->timeout_ms < left ? tool->timeout_ms : left;
	const struct http_request call = {.method = tool->method,
	    .url = url,
	    .headers = headers,
	    .header_count = make_headers(tool, run, body, headers),
	    .body = body,
	    .body_len = body ? strlen(body) : 0,
	    .connect_ms = CONNECT_MS,
	    .deadline_ms = clock_monotonic_ms() + ms,
	    .max_body = tool->max_output,
	    .stop = http_tool_stop_requested,
	    .arg = run};
	return http_call(&call, response);
}

static ag_result http_tool_refused(ag_run *run, const struct http_response *response)
{
	char *body = xstrndup(buf_str(&response->body), BODY_SHOWN);
	process_clean(body);
	ag_result result =
	    ag_fail(run, "the server answered %d%s%s", response->status, *body ? ": " : "", body);
	free(body);
	return result;
}

static ag_result http_tool_failed(ag_run *run, const struct http_response *response)
{
	ag_log(run, "the request of a tool failed: %s", response->reason);
	return ag_fail(run, "the request failed: %s", http_failure(response));
}

static ag_result http_tool_read_answer(
    ag_run *run, const struct http_response *response, cJSON **output)
{
	const struct buf *body = &response->body;
	if (response->status >= 300)
		return http_tool_refused(run, response);
	*output = json_parse(buf_str(body), body->len, JSON_REQUEST_DEPTH, NULL);
	if (!*output && utf8_valid(buf_str(body), body->len) && strlen(buf_str(body)) == body->len)
		*output = cJSON_CreateString(buf_str(body));
	return *output ? AG_OK : ag_fail(run, "the server answered with something that is no text");
}

ag_result http_tool(ag_run *run, const cJSON *args, cJSON **output, void *data)
{
	const struct http_tool *tool = data;
	struct http_response response = {0};
	struct buf url = {0};
	ag_result result;
	char *body = http_tool_make_body(tool, args);
	if (!make_url(tool, args, &url))
		result = ag_fail(run, "arguments: expected no '.' or '..' in a URL");
	else if (request(tool, run, buf_str(&url), body, &response) == HTTP_DONE)
		result = http_tool_read_answer(run, &response, output);
	else
		result = http_tool_failed(run, &response);
	http_response_release(&response);
	buf_release(&url);
	free(body);
	return result;
}

void http_tool_free(void *data)
{
	struct http_tool *tool = data;
	for (size_t i = 0; i < tool->header_count; i++) {
		free((char *)tool->headers[i].name);
		free((char *)tool->headers[i].value);
	}
	free(tool->headers);
	template_free(tool->url);
	free(tool);
}
