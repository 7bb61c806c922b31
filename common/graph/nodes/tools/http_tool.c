/* SPDX-License-Identifier: ISC */
/* From arguments to a request, and from the answer to a tool's result. */
#include "graph/nodes/nodes.h"

#include "base/buf.h"
#include "base/http/percent.h"
#include "base/http/url.h"
#include "base/json/json.h"
#include "base/log/redact.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "base/os/process/process.h"
#include "graph/message/template.h"
#include "graph/run.h"

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
	return whole ? whole : template_member(args, path);
}

static void http_tool_add_url_value(const char *name, struct buf *out, void *args)
{
	struct buf text = {0};
	template_add_value(&text, http_tool_member(args, name));
	percent_add(out, buf_str(&text), "");
	buf_release(&text);
}

static cJSON *http_tool_item(const char *name, const void *args)
{
	return cJSON_Duplicate(http_tool_member(args, name), true);
}

static void http_tool_make_url(const struct http_tool *tool, const cJSON *args, struct buf *url)
{
	template_render(tool->url, http_tool_add_url_value, (void *)args, url);
	char *fragment = url->data ? strchr(url->data, '#') : NULL;
	if (fragment) { /* is not sent */
		*fragment = '\0';
		url->len = (size_t)(fragment - url->data);
	}
	const cJSON *item;
	char mark = strchr(buf_str(url), '?') ? '&' : '?';
	cJSON_ArrayForEach(item, tool->query) {
		struct buf text = {0};
		cJSON *value = template_json(item, http_tool_item, args);
		if (value) {
			template_add_value(&text, value);
			buf_putc(url, mark);
			percent_add(url, item->string, "");
			buf_putc(url, '=');
			percent_add(url, buf_str(&text), "");
			mark = '&';
		}
		buf_release(&text);
		cJSON_Delete(value);
	}
}

/* ---- The call */

static enum http_end http_tool_request(const struct http_tool *tool, ag_run *run, const char *url,
    const char *body, struct http_response *response)
{
	struct http_header headers[MOST_HEADERS];
	const struct trace_headers trace = run_trace(run);
	int64_t left = ag_time_left_ms(run);
	size_t count = 0;
	const char *method = tool->method ? tool->method : body ? "POST" : "GET";
	for (; count < tool->header_count && count < MOST_HEADERS - 3; count++)
		headers[count] = tool->headers[count];
	if (body)
		headers[count++] = (struct http_header){"Content-Type", "application/json"};
	count += trace_headers_put(&trace, headers + count);
	const struct http_request call = {.method = method,
	    .url = url,
	    .headers = headers,
	    .header_count = count,
	    .body = body,
	    .body_len = body ? strlen(body) : 0,
	    .connect_ms = CONNECT_MS,
	    .deadline_ms =
		clock_monotonic_ms() + (tool->timeout_ms < left ? tool->timeout_ms : left),
	    .max_body = tool->max_output,
	    .acts = strcmp(method, "POST") == 0 || strcmp(method, "PATCH") == 0,
	    .stop = run_stop_requested,
	    .arg = run};
	return http_call(&call, response);
}

static ag_result http_tool_read_answer(
    const struct http_tool *tool, ag_run *run, const struct http_response *response, cJSON **output)
{
	const char *body = buf_str(&response->body);
	size_t len = response->body.len;
	if (response->status >= 300) {
		char *shown = xstrdup(body);
		/* who refuses a key may repeat it */
		for (size_t i = 0; i < tool->header_count; i++)
			redact_known(shown, tool->headers[i].value);
		if (strlen(shown) > BODY_SHOWN)
			shown[BODY_SHOWN] = '\0';
		process_clean(shown);
		ag_result refused = ag_fail(
		    run, "the server answered %d%s%s", response->status, *shown ? ": " : "", shown);
		free(shown);
		return refused;
	}
	*output = json_parse(body, len, JSON_REQUEST_DEPTH, NULL);
	if (!*output && utf8_valid(body, len) && strlen(body) == len)
		*output = cJSON_CreateString(body);
	return *output ? AG_OK : ag_fail(run, "the server answered with something that is no text");
}

ag_result http_tool(ag_run *run, const cJSON *args, cJSON **output, void *data)
{
	const struct http_tool *tool = data;
	struct http_response response = {0};
	struct buf url = {0};
	ag_result result;
	char *body = NULL;
	if (cJSON_IsString(tool->body) && strcmp(tool->body->valuestring, "arguments") == 0) {
		body = json_print(args);
	} else if (tool->body) {
		cJSON *filled = template_json(tool->body, http_tool_item, args);
		body = filled ? json_print(filled) : NULL;
		cJSON_Delete(filled);
	}
	http_tool_make_url(tool, args, &url);
	if (url_climbs(buf_str(&url))) { /* an argument would lead out of its place */
		result = ag_fail(run, "arguments: expected no '.' or '..' in a URL");
	} else if (http_tool_request(tool, run, buf_str(&url), body, &response) == HTTP_DONE) {
		result = http_tool_read_answer(tool, run, &response, output);
	} else {
		ag_log(run, "the request of a tool failed: %s", response.reason);
		result = ag_fail(run, "the request failed: %s", http_failure(&response));
	}
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
