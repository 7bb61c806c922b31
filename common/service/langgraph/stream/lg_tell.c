/* SPDX-License-Identifier: ISC */
/* Steps in, server-sent events out. */
#include "service/langgraph/stream/lg_tell.h"

#include "base/json/json.h"
#include "graph/message/message.h"
#include "service/langgraph/lg_input.h"
#include "service/langgraph/lg_message.h"

/* The places of events among those of their step, in the order in which they come. */
enum lg_place { LG_AT_METADATA, LG_AT_CHUNK, LG_AT_FIRST, LG_AT_SECOND, LG_AT_THIRD, LG_AT_TRACE };

/* ---- one event ---- */

/* Begins an event; false where the reader has it already. */
static bool lg_open_event(const struct lg_teller *teller, const struct lg_step *step,
    enum lg_place place, const char *name)
{
	int64_t id = step->number * LG_EVENTS_MOST + place;
	if (step->number && id <= teller->skip)
		return false;
	if (teller->out->len)
		buf_putc(teller->out, '\n');
	if (step->number) {
		buf_puts(teller->out, "id: ");
		buf_int(teller->out, id);
		buf_putc(teller->out, '\n');
	}
	buf_puts(teller->out, "event: ");
	buf_puts(teller->out, name);
	buf_puts(teller->out, "\ndata: ");
	return true;
}

/* Appends an event with data, a tree that is taken over. */
static void lg_event(const struct lg_teller *teller, const struct lg_step *step,
    enum lg_place place, const char *name, cJSON *data)
{
	if (lg_open_event(teller, step, place, name)) {
		json_write(teller->out, data);
		buf_putc(teller->out, '\n');
	}
	cJSON_Delete(data);
}

static void lg_metadata_event(const struct lg_teller *teller, const struct lg_step *step)
{
	cJSON *data = cJSON_CreateObject();
	json_add_str(data, "run_id", teller->run_id);
	if (teller->thread_id)
		json_add_str(data, "thread_id", teller->thread_id);
	json_add_int(data, "attempt", 1);
	lg_event(teller, step, LG_AT_METADATA, "metadata", data);
}

/* ---- values ---- */

static void lg_tell_values(const struct lg_teller *teller, const struct lg_step *step)
{
	struct buf *out = teller->out;
	if (!(teller->modes & LG_VALUES) || !step->messages ||
	    !lg_open_event(teller, step, LG_AT_SECOND, "values"))
		return;
	buf_puts(out, "{\"messages\":[");
	buf_puts(out, step->messages);
	buf_putc(out, ']');
	lg_put_members(out, step->fields);
	if (step->asked) {
		buf_puts(out, ",\"__interrupt__\":");
		json_write(out, step->asked);
	}
	buf_puts(out, "}\n");
}

/* ---- messages ---- */

static void lg_put_metadata(
    const struct lg_teller *teller, const struct lg_step *step, struct buf *out)
{
	lg_put_text(out, "{\"run_id\":", teller->run_id);
	if (teller->thread_id)
		lg_put_text(out, ",\"thread_id\":", teller->thread_id);
	lg_put_text(out, ",\"langgraph_node\":", step->node);
	lg_put_number(out, ",\"langgraph_step\":", step->step);
	if (step->branch)
		lg_put_text(out, ",\"branch\":", step->branch);
	buf_puts(out, ",\"tags\":[]}");
}

static cJSON *lg_metadata(const struct lg_teller *teller, const struct lg_step *step)
{
	struct buf text = {0};
	lg_put_metadata(teller, step, &text);
	cJSON *metadata = cJSON_CreateRaw(buf_str(&text));
	buf_release(&text);
	return metadata;
}

/* A line of the mode events.  That of a piece stands before the same in other modes: pages that ask
 * for both take the other until they have seen it. */
static void lg_trace(const struct lg_teller *teller, const struct lg_step *step, const char *kind,
    const char *name, cJSON *data)
{
	if (!(teller->modes & LG_EVENTS)) {
		cJSON_Delete(data);
		return;
	}
	cJSON *out = cJSON_CreateObject();
	json_add_str(out, "event", kind);
	json_add_str(out, "name", name);
	json_add_str(out, "run_id", teller->run_id);
	json_add(out, "data", data ? data : cJSON_CreateObject());
	json_add(out, "metadata", lg_metadata(teller, step));
	json_add(out, "tags", cJSON_CreateArray());
	json_add(out, "parent_ids", cJSON_CreateArray());
	lg_event(teller, step, step->kind == LG_PIECE ? LG_AT_CHUNK : LG_AT_TRACE, "events", out);
}

static void lg_trace_message(const struct lg_teller *teller, const struct lg_step *step,
    const char *kind, const char *member)
{
	if (!(teller->modes & LG_EVENTS))
		return;
	cJSON *data = cJSON_CreateObject();
	json_add(data, member, lg_message_view(step->message));
	lg_trace(teller, step, kind, step->node, data);
}

static void lg_tell_message(
    const struct lg_teller *teller, const struct lg_step *step, const char *partial)
{
	struct buf *out = teller->out;
	if (teller->modes & LG_TUPLES && lg_open_event(teller, step, LG_AT_SECOND, "messages")) {
		buf_putc(out, '[');
		lg_message_write(out, step->message);
		buf_putc(out, ',');
		lg_put_metadata(teller, step, out);
		buf_puts(out, "]\n");
	}
	if (teller->modes & LG_MESSAGES && lg_open_event(teller, step, LG_AT_THIRD, partial)) {
		buf_putc(out, '[');
		lg_message_write(out, step->message);
		buf_puts(out, "]\n");
	}
}

static void lg_tell_piece(const struct lg_teller *teller, const struct lg_step *step)
{
	lg_trace_message(teller, step, "on_chat_model_stream", "chunk");
	if (!step->told && teller->modes & LG_MESSAGES) {
		cJSON *of = cJSON_CreateObject();
		cJSON *inner = cJSON_AddObjectToObject(of, message_id(step->message));
		json_add(inner, "metadata", lg_metadata(teller, step));
		lg_event(teller, step, LG_AT_FIRST, "messages/metadata", of);
	}
	lg_tell_message(teller, step, "messages/partial");
}

/* The calls of a message whose text was told in pieces: a last piece, without text. */
static void lg_tell_calls(const struct lg_teller *teller, const struct lg_step *step)
{
	struct lg_step last = *step;
	const cJSON *block;
	cJSON *piece = cJSON_CreateObject(), *content = cJSON_CreateArray();
	cJSON_ArrayForEach(block, json_get(step->message, "content"))
		if (block_is_call(block))
			cJSON_AddItemReferenceToArray(content, (cJSON *)block);
	if (content->child) {
		static const char *const others[] = {"role", "message_id", "metadata", "usages"};
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
			json_refer(piece, others[i], json_get(step->message, others[i]));
		cJSON_AddTrueToObject(piece, "delta");
		json_refer(piece, "content", content);
		last.message = piece;
		lg_tell_message(teller, &last, "messages/partial");
	}
	cJSON_Delete(content);
	cJSON_Delete(piece);
}

/* ---- nodes and ends ---- */

static void lg_tell_update(
    const struct lg_teller *teller, const struct lg_step *step, const char *of, const cJSON *update)
{
	if (!(teller->modes & LG_UPDATES))
		return;
	cJSON *data = cJSON_CreateObject();
	json_add_or_null(data, of, cJSON_Duplicate(update, true));
	lg_event(teller, step, LG_AT_FIRST, "updates", data);
}

static void lg_tell_failure(const struct lg_teller *teller, const struct lg_step *step)
{
	cJSON *data = cJSON_CreateObject();
	json_add_str(data, "error", step->code);
	json_add_str(data, "message", step->reason);
	lg_event(teller, step, LG_AT_THIRD, "error", data);
}

void lg_tell(const struct lg_teller *teller, const struct lg_step *step)
{
	if (step->number == 1)
		lg_metadata_event(teller, step);
	switch (step->kind) {
	case LG_NODE_STARTS:
		lg_tell_values(teller, step);
		lg_trace(teller, step, "on_chain_start", step->node, NULL);
		return;
	case LG_PIECE:
		lg_tell_piece(teller, step);
		return;
	case LG_MESSAGE: /* clients append pieces, so what was told in pieces is not told again */
		if (!step->told) {
			lg_tell_message(teller, step, "messages/complete");
			return;
		}
		lg_tell_calls(teller, step);
		lg_trace_message(teller, step, "on_chat_model_end", "output");
		return;
	case LG_CUSTOM_EVENT:
		if (teller->modes & LG_CUSTOM)
			lg_event(
			    teller, step, LG_AT_FIRST, "custom", cJSON_Duplicate(step->data, true));
		lg_trace(teller, step, "on_custom_event", json_str(step->data, "name"),
		    cJSON_Duplicate(json_get(step->data, "data"), true));
		return;
	case LG_NODE_ENDS:
		lg_tell_update(teller, step, step->node, step->update);
		lg_tell_values(teller, step);
		lg_trace(teller, step, "on_chain_end", step->node, NULL);
		return;
	case LG_SUBGRAPH_ENDS:
		lg_tell_update(teller, step, step->node, step->update);
		lg_tell_values(teller, step);
		return;
	case LG_PAUSE:
		lg_tell_update(teller, step, "__interrupt__", step->asked);
		lg_tell_values(teller, step);
		return;
	case LG_FAILURE:
		lg_tell_failure(teller, step);
		return;
	case LG_END:
		lg_tell_values(teller, step);
		lg_event(teller, step, LG_AT_THIRD, "end", cJSON_CreateNull());
		return;
	}
}

void lg_tell_beginning(const struct lg_teller *teller)
{
	const struct lg_step first = {.number = 1};
	lg_metadata_event(teller, &first);
}

cJSON *lg_update(cJSON *said, const cJSON *fields, const cJSON *set)
{
	cJSON *update = cJSON_CreateObject();
	const cJSON *name;
	if (said && said->child)
		cJSON_AddItemToObject(update, "messages", said);
	else
		cJSON_Delete(said);
	cJSON_ArrayForEach(name, set) {
		const char *key = cJSON_GetStringValue(name);
		cJSON_AddItemToObject(update, key, cJSON_Duplicate(json_get(fields, key), true));
	}
	if (update->child)
		return update;
	cJSON_Delete(update);
	return cJSON_CreateNull();
}
