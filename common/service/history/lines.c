/* SPDX-License-Identifier: ISC */
/* Printing the lines of a thread's history. */
#include "service/history/lines.h"

#include "base/json/json.h"
#include "base/utf8.h"
#include "graph/state.h"
#include "service/history/earlier.h"
#include "service/history/line_rows.h"

#include <inttypes.h>
#include <stdlib.h>

static void lines_put(struct buf *out, cJSON *line)
{
	json_write(out, line);
	buf_putc(out, '\n');
	cJSON_Delete(line);
}

static void lines_add_json(cJSON *line, const char *name, const char *json)
{
	if (json)
		json_add_raw(line, name, json);
	else
		json_add(line, name, cJSON_CreateNull());
}

/* Adds what a thread is at some time, apart from its messages. */
static void lines_add_standing(cJSON *line, const struct thread *t)
{
	const struct choice *stop = line_stops;
	while (stop->value != (int)t->stop)
		stop++;
	json_add_str(line, "run_id", t->run_id);
	json_add_str(line, "status", run_status_name(t->status));
	json_add_str(line, "stop", stop->name);
	json_add_str(line, "node", t->node);
	json_add_int(line, "step", t->step);
	json_add_str(line, "next", t->next);
	lines_add_json(line, "pause", t->pause_json);
	lines_add_json(line, "waiting", t->waiting_json);
	json_add_str(line, "summary", t->summary);
	lines_add_json(line, "fields", t->fields_json);
	json_add_int(line, "after", t->view.after);
	json_add_int(line, "until", t->view.until);
}

void lines_put_thread(
    struct buf *out, const struct thread *thread, const struct history_origin *origin)
{
	cJSON *line = json_typed("thread");
	char *owner = utf8_mend(thread->user_id);
	json_add_int(line, "format", LINE_FORMAT);
	json_add_str(line, "thread_id", thread->thread_id);
	json_add_str(line, "thread_name", thread->thread_name);
	json_add_str(line, "user_id", owner);
	free(owner);
	lines_add_json(line, "metadata", thread->metadata_json);
	json_add_int(line, "created_at", thread->created_at);
	lines_add_standing(line, thread);
	json_add_int(line, "last", thread->view.last);
	earlier_add_id(line, "checkpoint_id", origin->number);
	json_add(line, "changed", cJSON_CreateBool(origin->changed));
	lines_put(out, line);
}

static cJSON *lines_of_checkpoint(const struct checkpoint *c)
{
	cJSON *line = json_typed("checkpoint");
	earlier_add_id(line, "checkpoint_id", c->number);
	earlier_add_id(line, "parent_checkpoint_id", c->parent);
	json_add_str(line, "source", earlier_source_name(c->source));
	json_add_int(line, "message_count", c->message_count);
	lines_add_standing(line, &c->thread);
	return line;
}

static cJSON *lines_of_run(const struct run_record *r)
{
	cJSON *line = json_typed("run");
	json_add_int(line, "number", r->number);
	json_add_str(line, "run_id", r->run_id);
	json_add_str(line, "status", run_status_name(r->status));
	json_add_int(line, "created_at", r->created_at);
	json_add_int(line, "finished_at", r->finished_at);
	json_add_str(line, "node", r->node);
	json_add_int(line, "step", r->step);
	json_add_int(line, "prompt_tokens", r->usage.prompt);
	json_add_int(line, "completion_tokens", r->usage.completion);
	json_add_int(line, "reasoning_tokens", r->usage.reasoning);
	json_add_int(line, "total_tokens", r->usage.total);
	lines_add_json(line, "error", r->error_json);
	json_add_int(line, "after", r->after);
	json_add_int(line, "until", r->until);
	json_add_int(line, "brought", r->brought);
	return line;
}

/* Printed by hand, because messages are JSON text already, and there may be a million. */
void lines_put_part(struct buf *out, const struct history_part *part)
{
	switch (part->kind) {
	case HISTORY_BRANCH:
		buf_printf(out,
		    "{\"type\":\"branch\",\"place\":%" PRId64 ",\"follows\":%" PRId64 "}\n",
		    part->place, part->other);
		break;
	case HISTORY_AGAIN:
		buf_printf(out, "{\"type\":\"again\",\"place\":%" PRId64 ",\"of\":%" PRId64 "}\n",
		    part->place, part->other);
		break;
	case HISTORY_MESSAGE:
		buf_printf(
		    out, "{\"type\":\"message\",\"place\":%" PRId64 ",\"message\":", part->place);
		buf_puts(out, part->body_json);
		buf_puts(out, "}\n");
		break;
	case HISTORY_CHECKPOINT:
		lines_put(out, lines_of_checkpoint(part->checkpoint));
		break;
	case HISTORY_RUN:
		lines_put(out, lines_of_run(part->run));
		break;
	case HISTORY_END:
		break;
	}
}

void lines_put_end(struct buf *out, int64_t lines, const char *seal)
{
	buf_printf(out, "{\"type\":\"end\",\"lines\":%" PRId64 ",\"seal\":\"%s\"}\n", lines, seal);
}
