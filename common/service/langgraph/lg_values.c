/* SPDX-License-Identifier: ISC */
/* Printing values: messages in parts, then the fields, then what is asked. */
#include "service/langgraph/lg_values.h"

#include "base/json/json.h"
#include "graph/state.h"
#include "service/langgraph/lg_message.h"

#include <string.h>

#define PART_SIZE (256 << 10)

/* ---- messages ---- */

struct lg_feeding {
	struct buf *part;
	const char *last;
	bool begun; /* a message was put */
	bool ended; /* the message with the id last was put */
	bool full;
};

static bool lg_feed_message(void *arg, const char *id, const char *body_json)
{
	struct lg_feeding *f = arg;
	if (f->begun)
		buf_putc(f->part, ',');
	lg_message_put(f->part, body_json);
	f->begun = true;
	f->ended = f->last && strcmp(id, f->last) == 0;
	f->full = f->part->len >= PART_SIZE;
	return !f->full && !f->ended;
}

bool lg_messages_put(
    struct lg_out *out, int64_t thread_row, const struct thread_view *view, const char *last)
{
	struct call *call = out->call;
	struct storage *storage = call->service->storage;
	struct page page = {.limit = INT64_MAX};
	struct lg_feeding f = {.part = out->part, .last = last};
	do {
		f.full = false;
		if (!storage->threads->message_part(storage, &call->ctx, thread_row, view, &page,
			lg_feed_message, &f, &call->error))
			return false;
		if (f.full) {
			if (!out->send(out->arg, out->part))
				return false;
			buf_release(out->part);
		}
	} while (f.full && !f.ended);
	return true;
}

/* ---- interrupts ---- */

static cJSON *lg_interrupt(const cJSON *interrupt)
{
	const cJSON *schema = json_opt(interrupt, "response_schema");
	cJSON *out = cJSON_CreateObject();
	json_add_str(out, "id", json_str(interrupt, "id"));
	json_add_or_null(out, "value", cJSON_Duplicate(json_get(interrupt, "value"), true));
	json_add_str(out, "when", "during");
	cJSON_AddTrueToObject(out, "resumable");
	cJSON *ns = json_add(out, "ns", cJSON_CreateArray());
	json_append(ns, cJSON_CreateString(json_str(interrupt, "node")));
	if (schema)
		json_add(out, "response_schema", cJSON_Duplicate(schema, true));
	return out;
}

cJSON *lg_interrupts_of(const cJSON *holder)
{
	cJSON *out = cJSON_CreateArray();
	const cJSON *all = json_get(holder, "interrupts"), *item;
	const cJSON *single = json_opt(holder, "interrupt");
	cJSON_ArrayForEach(item, all)
		cJSON_AddItemToArray(out, lg_interrupt(item));
	if (!all && single)
		cJSON_AddItemToArray(out, lg_interrupt(single));
	return out;
}

cJSON *lg_interrupts(const struct thread *thread)
{
	cJSON *holder = cJSON_CreateObject();
	cJSON *single = thread_interrupt(thread);
	if (single && thread_pause_kind(thread) == PAUSE_BY_NODE) {
		json_add(holder, "interrupt", single);
		thread_add_interrupts(thread, holder);
	} else {
		cJSON_Delete(single);
	}
	cJSON *out = lg_interrupts_of(holder);
	cJSON_Delete(holder);
	return out;
}

cJSON *lg_failure(struct call *call, const struct error_view *view)
{
	cJSON *failure = arena_json(call->arena, cJSON_CreateObject());
	cJSON *error = cJSON_AddObjectToObject(failure, "__error__");
	json_add_str(error, "error", view->code);
	json_add_str(error, "message", view->detail);
	return failure;
}

/* ---- replies ---- */

static bool lg_put_values(struct lg_out *out, const struct lg_item *item)
{
	const struct thread *thread = &item->thread;
	buf_puts(out->part, "{\"messages\":[");
	if (thread->row && !lg_messages_put(out, thread->row, &thread->view, item->last))
		return false;
	buf_putc(out->part, ']');
	cJSON *fields = state_fields(
	    out->call->service->graph, thread->fields_json ? thread->fields_json : "{}");
	lg_put_members(out->part, fields);
	cJSON_Delete(fields);
	lg_put_members(out->part, item->more);
	buf_putc(out->part, '}');
	return true;
}

static bool lg_put_item(struct lg_out *out, const struct lg_item *item)
{
	if (!item->head)
		return lg_put_values(out, item);
	json_write(out->part, item->head);
	if (!item->whole)
		return true;
	out->part->data[--out->part->len] = '\0'; /* the brace that ends it */
	buf_puts(out->part, item->head->child ? ",\"values\":" : "\"values\":");
	if (!lg_put_values(out, item))
		return false;
	buf_putc(out->part, '}');
	return true;
}

bool lg_reply_put(struct call *call, const void *reply, struct buf *part, feed_fn send, void *arg)
{
	const struct lg_reply *r = reply;
	struct lg_out out = {.call = call, .part = part, .send = send, .arg = arg};
	struct arena *kept = call->arena;
	bool ok = true, begun = false;
	if (!r->make)
		return lg_put_item(&out, r->item);
	buf_putc(part, '[');
	for (size_t i = 0; ok && i < r->places; i++) {
		struct lg_item items[LG_PLACE_ITEMS];
		call->arena = arena_new();
		int count = r->make(call, r->list, i, items);
		ok = count >= 0;
		for (int n = 0; ok && n < count; n++) {
			if (begun)
				buf_putc(part, ',');
			begun = true;
			ok = lg_put_item(&out, &items[n]);
		}
		if (ok && part->len >= PART_SIZE) {
			ok = send(arg, part);
			buf_release(part);
		}
		arena_free(call->arena);
	}
	call->arena = kept;
	if (ok)
		buf_putc(part, ']');
	return ok;
}
