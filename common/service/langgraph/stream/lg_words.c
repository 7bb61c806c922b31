/* SPDX-License-Identifier: ISC */
/* Reading a kept chunk as a step, with what is kept beside it (chunk_aside.h). */
#include "service/langgraph/stream/lg_words.h"

#include "base/json/json.h"
#include "service/langgraph/lg_input.h"
#include "service/langgraph/lg_message.h"
#include "service/langgraph/lg_values.h"
#include "service/langgraph/stream/lg_tell.h"
#include "service/run/stream/chunk_form.h"
#include "storage/runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A line as trees, in an arena. */
struct lg_line {
	const struct kept_reader *reader;
	struct arena *arena;
	const cJSON *chunk; /* without its state */
	cJSON *state;       /* with an empty context, or NULL */
	int64_t until;      /* where the list of the thread ended, 0: not known */
	const cJSON *aside; /* or NULL */
};

/* ---- the line ---- */

static cJSON *lg_parse(struct arena *arena, const char *text, size_t len)
{
	return arena_json(arena, json_parse(text, len, JSON_TRUSTED_DEPTH, NULL));
}

static void lg_line_read(struct lg_line *l, const struct kept_line *line)
{
	const char *state;
	size_t len;
	l->chunk = arena_json(l->arena, kept_line_json(line, &state, &len));
	if (state) {
		/* where the context's messages were, a span stands in it */
		struct buf text = {0};
		const char *span = memchr(state, KEPT_SPAN, len);
		const char *end =
		    span ? memchr(span + 1, KEPT_SPAN, len - (size_t)(span + 1 - state)) : NULL;
		if (end) {
			sscanf(span + 1, "%*d,%" SCNd64, &l->until);
			buf_add(&text, state, (size_t)(span - state));
			buf_add(&text, end + 1, len - (size_t)(end + 1 - state));
		} else {
			buf_add(&text, state, len);
		}
		l->state = lg_parse(l->arena, text.data, text.len);
		buf_release(&text);
	}
	if (line->shown < line->len)
		l->aside =
		    lg_parse(l->arena, line->text + line->shown + 1, line->len - line->shown - 1);
}

/* ---- values ---- */

/* The values of a state, or of what is aside: the list as it was, and behind it what the run was
 * given, as far as the thread still has it. */
static void lg_line_values(struct lg_line *l, struct lg_step *step, const cJSON *fields)
{
	const struct kept_reader *reader = l->reader;
	struct storage *storage = reader->storage;
	struct thread_view view;
	struct error err = {0};
	struct buf messages = {0};
	const cJSON *id;
	if (!fields || reader->granularity == GRANULARITY_LOW || !(reader->modes & LG_VALUES))
		return;
	json_integer(json_get(l->aside, "until"), &l->until);
	if (l->until)
		buf_printf(&messages, "%c0,%" PRId64 "%c", KEPT_SPAN, l->until, KEPT_SPAN);
	bool ok = storage->threads->view(storage, NULL, reader->run.thread, &view, &err);
	cJSON_ArrayForEach(id, json_get(l->aside, "brought")) {
		const char *body = NULL;
		ok = ok &&
		    thread_message_get(storage, NULL, l->arena, reader->run.thread, &view,
			cJSON_GetStringValue(id), &body, &err);
		if (!ok || !body)
			continue;
		if (messages.len)
			buf_putc(&messages, ',');
		lg_message_put(&messages, body);
	}
	error_release(&err);
	step->messages = messages.len ? arena_take(l->arena, &messages) : "";
	step->fields = fields;
}

/* The fields of the graph in a state. */
static const cJSON *lg_line_fields(struct lg_line *l)
{
	static const char *const others[] = {"context", "context_summary", "execution_meta"};
	for (size_t i = 0; l->state && i < sizeof(others) / sizeof(*others); i++)
		cJSON_DeleteItemFromObjectCaseSensitive(l->state, others[i]);
	return l->state;
}

/* ---- updates ---- */

/* The messages of a node, from the chunks since it began. */
struct lg_said {
	const struct kept_reader *reader;
	int64_t from, to; /* the chunks' numbers lie between these */
	const char *branch;
	cJSON *messages;
};

static bool lg_said_batch(void *arg, const struct chunk_batch *batch)
{
	struct lg_said *said = arg;
	const char *text = batch->lines, *end = text + batch->len;
	struct kept_line line;
	for (; text < end; text += line.len + 1) {
		if (!kept_line_read(&line, text, (size_t)(end - text)) || line.seq <= said->from ||
		    line.seq >= said->to || !kept_line_is(&line, "message"))
			continue;
		struct lg_line l = {.reader = said->reader, .arena = arena_new()};
		lg_line_read(&l, &line);
		const cJSON *message = json_get(l.chunk, "message");
		const char *branch = json_str(json_get(l.chunk, "metadata"), "branch");
		if (!cJSON_IsTrue(json_get(message, "delta")) &&
		    strcmp(branch ? branch : "", said->branch) == 0)
			json_append(said->messages, lg_message_view(message));
		arena_free(l.arena);
	}
	return batch->seq + batch->count < said->to;
}

static void lg_line_update(struct lg_line *l, const struct kept_line *line, struct lg_step *step)
{
	const struct kept_reader *reader = l->reader;
	struct storage *storage = reader->storage;
	struct lg_said said = {.reader = reader,
	    .to = line->seq,
	    .branch = step->branch ? step->branch : "",
	    .messages = cJSON_CreateArray()};
	struct error err = {0};
	int64_t back = json_int(l->aside, "back", 0);
	said.from = line->seq - back;
	if (reader->run.number && back)
		storage->runs->chunks_read(
		    storage, NULL, reader->run, said.from, lg_said_batch, &said, &err);
	error_release(&err); /* the next read of the run fails as well, and that is reported */
	step->update = arena_json(
	    l->arena, lg_update(said.messages, lg_line_fields(l), json_get(l->aside, "set")));
}

/* ---- steps ---- */

static bool lg_line_status(const struct lg_line *l, const char *status)
{
	const char *has = json_str(json_get(l->chunk, "data"), "status");
	return has && strcmp(has, status) == 0;
}

/* Fills in the step that a chunk stands for; false where it stands for none. */
static bool lg_line_step(struct lg_line *l, const struct kept_line *line, struct lg_step *step)
{
	const cJSON *metadata = json_get(l->chunk, "metadata"), *data = json_get(l->chunk, "data");
	/* of a subgraph, only the state behind it is a chunk */
	bool subgraph = kept_line_is(line, "state") && json_get(l->aside, "set");
	*step = (struct lg_step){.number = line->seq,
	    .node = json_str(metadata, "node"),
	    .branch = json_str(metadata, "branch"),
	    .step = (int)json_int(metadata, "step", 0),
	    .told = line->told};
	if (kept_line_is(line, "message")) {
		step->message = json_get(l->chunk, "message");
		step->kind = cJSON_IsTrue(json_get(step->message, "delta")) ? LG_PIECE : LG_MESSAGE;
	} else if (kept_line_is(line, "custom")) {
		step->kind = LG_CUSTOM_EVENT;
		step->data = data;
	} else if (kept_line_is(line, "error")) {
		step->kind = LG_FAILURE;
		step->code = json_str(data, "error_code");
		step->reason = json_str(data, "reason");
	} else if (lg_line_status(l, "invoking_node")) {
		step->kind = LG_NODE_STARTS;
		lg_line_values(l, step, json_get(l->aside, "fields"));
	} else if (subgraph || lg_line_status(l, "node_invoked")) {
		step->kind = subgraph ? LG_SUBGRAPH_ENDS : LG_NODE_ENDS;
		if (l->reader->modes & LG_UPDATES)
			lg_line_update(l, line, step);
		if (!step->branch)
			lg_line_values(l, step, lg_line_fields(l));
	} else if (lg_line_status(l, "interrupted")) {
		/* a pause before or behind a node asks nothing */
		const char *reason = json_str(data, "reason");
		bool asks = reason && strcmp(reason, CHUNK_ASKED_REASON) == 0;
		step->kind = LG_PAUSE;
		step->asked =
		    arena_json(l->arena, asks ? lg_interrupts_of(data) : cJSON_CreateArray());
		lg_line_values(l, step, lg_line_fields(l));
	} else if (line->ends && !line->told) {
		step->kind = LG_END;
		lg_line_values(l, step, json_get(l->aside, "fields"));
	} else {
		return false;
	}
	return true;
}

/* Whether a line may tell something, so that it is worth parsing: most chunks are pieces, and most
 * modes want none. */
static bool lg_line_may_tell(unsigned modes, const struct kept_line *line)
{
	if (line->seq == 1)
		return true;
	if (kept_line_is(line, "message"))
		return modes & (LG_TUPLES | LG_MESSAGES | LG_EVENTS);
	return !kept_line_is(line, "state") || line->shown < line->len;
}

static void lg_words_tell(
    const struct kept_reader *reader, const struct kept_line *line, int64_t skip, struct buf *out)
{
	const struct lg_teller teller = {.modes = reader->modes,
	    .thread_id = reader->thread_id,
	    .run_id = reader->run_id,
	    .skip = skip,
	    .out = out};
	struct lg_step step;
	if (!lg_line_may_tell(reader->modes, line))
		return;
	struct lg_line l = {.reader = reader, .arena = arena_new()};
	lg_line_read(&l, line);
	if (lg_line_step(&l, line, &step))
		lg_tell(&teller, &step);
	else if (step.number == 1)
		lg_tell_beginning(&teller);
	arena_free(l.arena);
}

const struct kept_words lg_words = {.tell = lg_words_tell, .put = lg_message_put};

/* ---- modes ---- */

/* The chunk that has them is the first but for messages of a subgraph that had ended. */
#define MODES_BEFORE 16

struct lg_found {
	bool any;      /* there are chunks */
	int64_t modes; /* -1: not found */
};

static bool lg_words_find(void *arg, const struct chunk_batch *batch)
{
	struct kept_line line;
	const char *text = batch->lines, *end = text + batch->len;
	struct lg_found *found = arg;
	found->any = true;
	for (; found->modes < 0 && text < end; text += line.len + 1) {
		if (!kept_line_read(&line, text, (size_t)(end - text)) || line.shown == line.len)
			continue;
		cJSON *aside = json_parse(
		    text + line.shown + 1, line.len - line.shown - 1, JSON_TRUSTED_DEPTH, NULL);
		if (!json_integer(json_get(aside, "modes"), &found->modes))
			found->modes = 0;
		cJSON_Delete(aside);
	}
	return found->modes < 0 && batch->seq < MODES_BEFORE;
}

bool lg_words_modes(struct storage *storage, const struct storage_context *ctx, struct run_key run,
    unsigned *modes, struct error *err)
{
	struct lg_found found = {.modes = -1};
	if (!storage->runs->chunks_read(storage, ctx, run, 0, lg_words_find, &found, err))
		return false;
	*modes = found.modes > 0 ? (unsigned)found.modes : LG_VALUES | LG_TUPLES;
	if (!found.any)
		*modes |= LG_LATER;
	return true;
}
