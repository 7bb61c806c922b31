/* SPDX-License-Identifier: ISC */
/* Threads of a service that is asked over HTTP. */
#include "base/http/percent.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "cli/source/ask_url.h"
#include "cli/source/thread_source.h"

#include <stdlib.h>

#define READ_SIZE (64 << 10)

struct thread_url {
	struct thread_source source;
	struct url_service service;
};

/* Begins the URL of a route below a thread's own. */
static struct buf thread_url_begin(struct thread_source *source, const char *thread_id)
{
	struct buf url = {0};
	buf_printf(&url, "%s/v1/threads/", ((struct thread_url *)source)->service.url);
	percent_add(&url, thread_id, "");
	return url;
}

/* Releases url. */
static cJSON *thread_url_ask(
    struct thread_source *source, struct buf *url, const char *body, struct error *err)
{
	int status;
	cJSON *data =
	    url_ask(&((struct thread_url *)source)->service, buf_str(url), body, 0, &status, err);
	buf_release(url);
	return data;
}

static cJSON *thread_url_list(
    struct thread_source *source, const struct thread_query *query, struct error *err)
{
	struct buf url = {0};
	char between = '?';
	buf_printf(&url, "%s/v1/threads", ((struct thread_url *)source)->service.url);
	url_add_query(&url, "search", query->page.search, &between);
	url_add_query(&url, "limit", query->page.limit, &between);
	url_add_query(&url, "status", query->status, &between);
	for (size_t i = 0; i < query->label_count; i++) {
		struct buf name = {0};
		buf_puts(&name, "metadata.");
		percent_add(&name, query->labels[i].key, "");
		url_add_query(&url, buf_str(&name), query->labels[i].value, &between);
		buf_release(&name);
	}
	return thread_url_ask(source, &url, NULL, err);
}

static cJSON *thread_url_read(
    struct thread_source *source, const char *thread_id, struct error *err)
{
	struct buf url = thread_url_begin(source, thread_id);
	return thread_url_ask(source, &url, NULL, err);
}

static cJSON *thread_url_history(struct thread_source *source, const char *thread_id,
    const struct history_query *query, struct error *err)
{
	struct buf url = thread_url_begin(source, thread_id);
	char between = '?';
	buf_puts(&url, "/history");
	url_add_query(&url, "limit", query->limit, &between);
	url_add_query(&url, "before", query->before, &between);
	url_add_query(&url, "run_id", query->run_id, &between);
	return thread_url_ask(source, &url, NULL, err);
}

static cJSON *thread_url_checkpoint(struct thread_source *source, const char *thread_id,
    const char *checkpoint_id, struct error *err)
{
	struct buf url = thread_url_begin(source, thread_id);
	buf_puts(&url, "/history/");
	percent_add(&url, checkpoint_id, "");
	return thread_url_ask(source, &url, NULL, err);
}

static cJSON *thread_url_copy(
    struct thread_source *source, const char *thread_id, const cJSON *body, struct error *err)
{
	struct buf url = thread_url_begin(source, thread_id);
	char *text = json_print(body);
	buf_puts(&url, "/copy");
	cJSON *data = thread_url_ask(source, &url, text, err);
	free(text);
	return data;
}

static bool thread_url_take_out(
    struct thread_source *source, const char *thread_id, FILE *out, struct error *err)
{
	struct buf url = thread_url_begin(source, thread_id);
	buf_puts(&url, "/export");
	bool ok = url_save(&((struct thread_url *)source)->service, buf_str(&url), out, err);
	buf_release(&url);
	return ok;
}

static cJSON *thread_url_bring_in(
    struct thread_source *source, FILE *lines, const char *wanted, struct error *err)
{
	struct url_service *at = &((struct thread_url *)source)->service;
	char *first = NULL;
	size_t size = 0, got;
	ssize_t len = getline(&first, &size, lines);
	struct buf url = {0}, body = {0};
	buf_printf(&url, "%s/v1/threads/import", at->url);
	buf_add(&body, first, len > 0 ? (size_t)len : 0);
	/* the first line says which id the thread gets */
	cJSON *object =
	    wanted ? json_parse(buf_str(&body), body.len, JSON_TRUSTED_DEPTH, NULL) : NULL;
	if (cJSON_IsObject(object)) {
		json_set(object, "thread_id", cJSON_CreateString(wanted));
		buf_reset(&body);
		json_write(&body, object);
		buf_putc(&body, '\n');
	}
	cJSON_Delete(object);
	while ((got = fread(buf_reserve(&body, READ_SIZE), 1, READ_SIZE, lines)) > 0)
		body.len += got;
	body.data[body.len] = '\0';
	cJSON *data = url_send(at, buf_str(&url), "application/x-ndjson", &body, err);
	free(first);
	buf_release(&url);
	buf_release(&body);
	return data;
}

static void thread_url_close(struct thread_source *source)
{
	url_service_close(&((struct thread_url *)source)->service);
	free(source);
}

struct thread_source *thread_source_of_url(const char *url, const char *token)
{
	struct thread_url *at = xcalloc(1, sizeof(*at));
	at->source = (struct thread_source){.list = thread_url_list,
	    .read = thread_url_read,
	    .history = thread_url_history,
	    .checkpoint = thread_url_checkpoint,
	    .copy = thread_url_copy,
	    .take_out = thread_url_take_out,
	    .bring_in = thread_url_bring_in,
	    .close = thread_url_close};
	url_service_open(&at->service, url, token);
	return &at->source;
}
