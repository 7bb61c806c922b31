/* SPDX-License-Identifier: ISC */
/* Reading batches, printing their lines, and making ends from records. */
#include "service/run/stream/replay.h"

#include "base/json/json.h"
#include "graph/message/message.h"
#include "graph/state.h"
#include "service/run/records.h"
#include "service/run/stream/chunk_form.h"
#include "service/run/turn.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool replay_same(const struct replay_place *a, const struct replay_place *b)
{
	return a->after == b->after && a->in.at == b->in.at && a->in.after == b->in.after &&
	    a->in.skip == b->in.skip;
}

/* ---- reading ---- */

/* Batches that were read, so that the database is not held while they are shown. */
struct replay_rows {
	struct buf lines;
	int64_t until; /* seq of the last chunk that they stand for */
};

static bool replay_take(void *arg, const struct chunk_batch *batch)
{
	struct replay_rows *rows = arg;
	buf_add(&rows->lines, batch->lines, batch->len);
	rows->until = batch->seq + batch->count - 1;
	return rows->lines.len < KEPT_PART;
}

/* Prints the line, or its next part; *place stays before it until it was shown whole. */
static bool replay_print(const struct replay *replay, const struct kept_line *line,
    struct replay_place *place, struct buf *out, struct error *err)
{
	bool more, events = replay->events && !replay->reader.words;
	if (place->len == 0 && events)
		buf_printf(out, "id: %" PRId64 "\nevent: %.*s\ndata: ", line->seq,
		    (int)line->event_len, line->event);
	size_t before = place->len ? 0 : out->len;
	if (!kept_line_print(line, &replay->reader, &place->in, out, &more, err))
		return false;
	place->len = more ? line->len : 0;
	if (more)
		return true;
	*place = (struct replay_place){.after = line->seq};
	if (out->len > before)
		buf_puts(out, events ? "\n\n" : "\n");
	return true;
}

static bool replay_print_rows(const struct replay *replay, const struct replay_rows *rows,
    struct replay_place *place, struct buf *out, bool *ends, struct error *err)
{
	const char *text = buf_str(&rows->lines), *end = text + rows->lines.len;
	size_t most = out->len + KEPT_PART;
	struct kept_line line;
	for (; text < end && out->len < most; text += line.len + 1) {
		if (!kept_line_read(&line, text, (size_t)(end - text)) || line.seq <= place->after)
			continue;
		if (place->len && (line.seq != place->after + 1 || line.len != place->len))
			return error_set(err, ERR_STORAGE, "a chunk changed while it was sent");
		if (line.least > replay->reader.granularity)
			*place = (struct replay_place){.after = line.seq};
		else if (!replay_print(replay, &line, place, out, err))
			return false;
		*ends = line.ends;
		if (place->len)
			return true;
	}
	if (text >= end && place->after < rows->until)
		*place = (struct replay_place){.after = rows->until};
	return true;
}

bool replay_read(const struct replay *replay, struct replay_place *place, struct buf *out,
    bool *ends, struct error *err)
{
	const struct kept_reader *reader = &replay->reader;
	struct replay_rows rows = {0};
	*ends = false;
	bool ok = reader->storage->runs->chunks_read(
	    reader->storage, NULL, reader->run, place->after, replay_take, &rows, err);
	if (ok && rows.until)
		ok = replay_print_rows(replay, &rows, place, out, ends, err);
	if (ok && !rows.until && place->len)
		ok = error_set(err, ERR_STORAGE, "a chunk went while it was sent");
	buf_release(&rows.lines);
	return ok;
}

/* ---- ends ---- */

bool replay_find_tail(struct call *call, const struct run_record *record, struct replay_tail *tail)
{
	struct storage *storage = call->service->storage;
	struct replay_rows rows = {0};
	struct kept_line line;
	*tail = (struct replay_tail){0};
	bool ok = storage->runs->chunks_last(
		      storage, &call->ctx, record_key(record), &tail->seq, &call->error) &&
	    (!tail->seq ||
		storage->runs->chunks_read(storage, &call->ctx, record_key(record), tail->seq - 1,
		    replay_take, &rows, &call->error));
	const char *text = buf_str(&rows.lines), *behind = text + rows.lines.len;
	if (rows.until) /* more may have come since the last one was asked for */
		tail->seq = rows.until;
	for (; text < behind; text += line.len + 1) {
		if (!kept_line_read(&line, text, (size_t)(behind - text)))
			continue;
		tail->done = line.ends;
		tail->outcome = kept_line_is(&line, "error") ||
		    kept_line_has_status(&line, "interrupted") ||
		    kept_line_has_status(&line, "stopped");
	}
	buf_release(&rows.lines);
	return ok;
}

/* The data of an update that tells an end, a new tree.  Records do not have the run's recursion
 * limit. */
static cJSON *replay_data(const char *status, const struct run_record *record)
{
	cJSON *data = chunk_node_data(status, record->node, (int)record->step, 0);
	cJSON_AddNullToObject(data, "max_steps");
	return data;
}

/* The data of the chunk that says how the run ended, a new tree; NULL where only the terminator
 * says it. */
static cJSON *replay_outcome(struct call *call, const struct run_record *record,
    const struct thread *thread, struct chunk *chunk)
{
	struct error err = {0};
	struct error_view view;
	cJSON *data = NULL;
	bool latest = record_is_latest(record, thread);
	chunk->event = "updates";
	chunk->node = record->step ? record->node : NULL;
	chunk->step = (int)record->step;
	switch (record->status) {
	case RUN_INTERRUPTED:
		data = replay_data("interrupted", record);
		json_add_str(data, "reason", latest ? chunk_pause_reason(thread) : NULL);
		json_add(data, "interrupt", latest ? thread_interrupt(thread) : cJSON_CreateNull());
		if (latest)
			thread_add_interrupts(thread, data);
		if (record_met_pause(record))
			json_add_str(data, "note", MESSAGES_NOT_KEPT);
		break;
	case RUN_STOPPED:
		chunk->least = GRANULARITY_PARTIAL;
		data = replay_data("stopped", record);
		cJSON_AddStringToObject(data, "reason", CHUNK_STOPPED_REASON);
		break;
	case RUN_ERROR:
		chunk->event = "error";
		data = chunk_node_data("error", chunk->node, chunk->step, 0);
		record_failure(record, &err);
		call_view_of(call, &err, &view);
		cJSON_AddStringToObject(data, "reason", view.detail);
		cJSON_AddStringToObject(data, "error_code", view.code);
		error_release(&err);
		break;
	case RUN_COMPLETED:
	case RUN_IDLE:
	case RUN_QUEUED:
	case RUN_RUNNING:
		break;
	}
	return data;
}

/* Chunks to be added behind those that a dead process has left. */
struct replay_more {
	struct chunk_batch batch;
	struct buf lines;
	struct chunk_form form;
	const struct told *told; /* what the dead process's chunks have told */
	const char *node;        /* node that the messages are from; NULL: not known */
	int64_t step;
};

/* Begins these chunks; false with call->error set, and nothing to end. */
static bool replay_more_begin(
    struct replay_more *more, struct call *call, const struct run_record *record)
{
	*more = (struct replay_more){.told = told_read(call, record)};
	if (!more->told)
		return false;
	more->batch = (struct chunk_batch){
	    .thread_row = record->thread_row, .number = record->number, .seq = more->told->seq + 1};
	more->node = told_node(more->told, &more->step);
	if (more->step != record->step)
		more->node = NULL; /* other nodes have ended since */
	chunk_form_init(&more->form, record->thread_id, record->run_id, record->new_thread, true);
	return true;
}

static void replay_add(struct replay_more *more, const struct chunk *chunk)
{
	struct chunk_batch *batch = &more->batch;
	chunk_form_print(&more->form, chunk, NULL);
	kept_line_add(
	    &more->lines, more->form.line.data, more->form.line.len, batch->seq + batch->count++);
}

/* Adds what the pieces of a message have not told of its text as one more piece, for readers that
 * use pieces. */
static void replay_add_piece(struct replay_more *more, struct chunk of_message, const char *id,
    const char *body_json, const char *so_far)
{
	size_t len = strlen(so_far);
	struct buf text = {0};
	cJSON *message = json_parse_own(body_json);
	if (message)
		message_text(message, &text);
	if (text.len > len && memcmp(buf_str(&text), so_far, len) == 0) {
		cJSON *piece = message_delta(id, buf_str(&text) + len);
		char *json = json_print(piece);
		of_message.message = json;
		replay_add(more, &of_message);
		cJSON_free(json);
		cJSON_Delete(piece);
	}
	buf_release(&text);
	cJSON_Delete(message);
}

static bool replay_add_message(void *arg, const char *id, const char *body_json)
{
	struct replay_more *more = arg;
	const char *so_far = told_in_pieces(more->told, id);
	const struct chunk chunk = {.event = "message",
	    .message = body_json,
	    .node = more->node,
	    .step = (int)more->step,
	    .told = so_far};
	if (told_whole(more->told, id))
		return true;
	if (so_far)
		replay_add_piece(more, chunk, id, body_json, so_far);
	replay_add(more, &chunk);
	return true;
}

/* Adds the messages that the run has stored and no chunk has told. */
static bool replay_add_messages(
    struct replay_more *more, struct call *call, const struct run_record *record)
{
	struct storage *storage = call->service->storage;
	return storage->runs->messages(
	    storage, &call->ctx, record, RUN_MADE, replay_add_message, more, &call->error);
}

/* Ends these chunks, and stores them if ok. */
static bool replay_more_end(struct replay_more *more, struct call *call, bool ok)
{
	struct storage *storage = call->service->storage;
	more->batch.lines = more->lines.data;
	more->batch.len = more->lines.len;
	if (ok && more->batch.count)
		ok = storage->runs->chunks_append(
		    storage, &call->ctx, &more->batch, 1, &call->error);
	chunk_form_release(&more->form);
	buf_release(&more->lines);
	return ok;
}

const struct told *replay_go_on(struct call *call, const struct run_record *record, int64_t *seq)
{
	struct replay_more more;
	if (!replay_more_begin(&more, call, record))
		return NULL;
	bool ok = replay_more_end(&more, call, replay_add_messages(&more, call, record));
	*seq = more.told->seq + (ok ? more.batch.count : 0);
	if (call->error.kind == ERR_THREAD_BUSY) /* the run's first write will find that, too */
		error_release(&call->error);
	return error_is_set(&call->error) ? NULL : more.told;
}

bool replay_end(struct call *call, const struct run_record *record, const struct thread *thread)
{
	bool named = record->new_thread && *thread->thread_name;
	struct chunk outcome = {0};
	const struct chunk done = {.event = "updates",
	    .data = CHUNK_DONE,
	    .thread_name = named ? thread->thread_name : NULL,
	    .told = record->status == RUN_ERROR};
	struct replay_tail tail;
	struct replay_more more;
	if (!replay_find_tail(call, record, &tail) || tail.done)
		return !error_is_set(&call->error);
	if (!replay_more_begin(&more, call, record))
		return false;
	more.batch.seq = tail.seq + 1;
	more.batch.mends = true;
	bool ok = tail.outcome || replay_add_messages(&more, call, record);
	cJSON *data = tail.outcome ? NULL : replay_outcome(call, record, thread, &outcome);
	if (data) {
		char *text = json_print(data);
		outcome.data = text;
		replay_add(&more, &outcome);
		free(text);
		cJSON_Delete(data);
	}
	replay_add(&more, &done);
	return replay_more_end(&more, call, ok);
}
