/* SPDX-License-Identifier: ISC */
/* Reading and checking the lines of a thread's history. */
#include "service/history/lines.h"

#include "base/json/json.h"
#include "base/os/clock.h"
#include "graph/message/message.h"
#include "service/files/media.h"
#include "service/history/earlier.h"
#include "service/history/line_rows.h"
#include "service/thread/ident.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LINE_DEPTH 200 /* depth of a line: more than clients may send, less than may be stored */

static const struct choice kinds[] = {{"branch", HISTORY_BRANCH}, {"again", HISTORY_AGAIN},
    {"message", HISTORY_MESSAGE}, {"checkpoint", HISTORY_CHECKPOINT}, {"run", HISTORY_RUN},
    {"end", HISTORY_END}, {NULL, 0}};

/* ---- read: a line ---- */

#define AT_SIZE 96

/* The path of a line, "body.line 4", with or without a member. */
static const char *lines_at(const struct lines *l, const char *member, char at[AT_SIZE])
{
	snprintf(at, AT_SIZE, "body.line %" PRId64 "%s%s", l->number, *member ? "." : "", member);
	return at;
}

static bool lines_wrong(
    const struct lines *l, const char *member, const char *says, struct error *err)
{
	char at[AT_SIZE];
	lines_at(l, member, at);
	return error_wrong(err, at, "value_error", "%s", says);
}

/* Reads an object: a line (member ""), or one of its members. */
static bool lines_read(const struct lines *l, const char *member, const cJSON *object,
    const struct field_row *rows, struct line *line, struct error *err)
{
	char at[AT_SIZE];
	return fields_read_body(err, lines_at(l, member, at), object, rows, line);
}

/* The item as text in the arena; NULL stays NULL. */
static const char *lines_print(struct arena *a, const cJSON *item)
{
	if (!item)
		return NULL;
	return arena_print(a, item);
}

/* Reads the next line, an object in a new arena; NULL at the end, or with err set. */
static const cJSON *lines_next(struct lines *l, struct arena **arena, struct error *err)
{
	ssize_t len = getline(&l->text, &l->size, l->in);
	enum json_fault fault;
	arena_free(*arena);
	*arena = NULL;
	l->number++;
	if (len < 0 && ferror(l->in)) {
		error_set(err, ERR_INTERNAL, NULL);
		error_cause(err, "line %" PRId64 " cannot be read", l->number);
	}
	if (len < 0)
		return NULL;
	*arena = arena_new();
	size_t values = l->call ? l->call->values : SIZE_MAX; /* in each line */
	cJSON *object = arena_json(
	    *arena, json_parse_within(l->text, (size_t)len, LINE_DEPTH, &values, &fault));
	if (object && l->call && l->number > 1 && !block_is(object, "end"))
		seal_add(&l->seal, l->text, (size_t)len);
	if (!object)
		lines_wrong(l, "", json_fault_text(fault), err);
	else if (!cJSON_IsObject(object))
		lines_wrong(l, "", "must be a JSON object", err);
	return error_is_set(err) ? NULL : object;
}

static bool lines_check_pause(const struct lines *l, const struct line *line, struct error *err)
{
	if (!lines_read(l, "pause", line->pause, line_pause_rows, NULL, err))
		return false;
	if (line->status != RUN_INTERRUPTED)
		return true;
	return lines_read(l, "pause", line->pause, line_open_rows, NULL, err) &&
	    lines_read(l, "pause.interrupt", json_get(line->pause, "interrupt"),
		line_interrupt_rows, NULL, err);
}

static bool lines_check_waiting(const struct lines *l, const struct line *line, struct error *err)
{
	const cJSON *call;
	if (!lines_read(l, "waiting", line->waiting, line_waiting_rows, NULL, err))
		return false;
	cJSON_ArrayForEach(call, json_get(line->waiting, "calls")) {
		if (!cJSON_IsObject(call))
			return lines_wrong(l, "waiting.calls", "must be an array of objects", err);
		if (!lines_read(l, "waiting.calls", call, line_call_rows, NULL, err))
			return false;
	}
	return true;
}

/* Checks that a line does not stand above the thread's last place. */
static bool lines_check_view(const struct lines *l, const struct line *line, struct error *err)
{
	int64_t last = l->number == 1 ? line->last : l->thread.view.last;
	if (line->after > last)
		return lines_wrong(l, "after", "must not be above the thread's last place", err);
	return line->until <= last ||
	    lines_wrong(l, "until", "must not be above the thread's last place", err);
}

/* Lets a thread of lines that are not trusted wait for nothing, and have no next node; and checks
 * that the graph can work with its fields. */
static bool lines_distrust(
    const struct lines *l, const cJSON *fields, struct thread *t, struct error *err)
{
	const cJSON *item;
	t->pause_json = t->waiting_json = t->next = NULL;
	if (t->status == RUN_INTERRUPTED)
		t->status = RUN_COMPLETED;
	cJSON_ArrayForEach(item, fields) {
		const struct field *field = graph_field_get(l->graph, item->string);
		if (!field || graph_field_accepts(field, item))
			continue;
		char says[AT_SIZE];
		snprintf(says, sizeof(says), "has a member that must be of type %s: %.32s",
		    field->type, field->name);
		return lines_wrong(l, "fields", says, err);
	}
	return true;
}

/* Reads what lines_add_standing has put. */
static bool lines_take_standing(const struct lines *l, struct arena *a, const struct line *line,
    struct thread *t, struct error *err)
{
	if (!lines_check_view(l, line, err) || (line->pause && !lines_check_pause(l, line, err)) ||
	    (line->waiting && !lines_check_waiting(l, line, err)))
		return false;
	t->run_id = line->run_id;
	t->status = line->status;
	t->stop = line->stop;
	t->node = line->node;
	t->step = line->step;
	t->next = line->next;
	t->pause_json = lines_print(a, line->pause);
	t->waiting_json = lines_print(a, line->waiting);
	t->summary = line->summary;
	t->fields_json = lines_print(a, line->fields);
	t->view.after = line->after;
	t->view.until = line->until;
	return l->call || l->whole || lines_distrust(l, line->fields, t, err);
}

static bool lines_take_thread(struct lines *l, const cJSON *object, struct error *err)
{
	struct line line = {0};
	struct thread *t = &l->thread;
	const char *type = json_str(object, "type");
	if (!type || strcmp(type, "thread") != 0)
		return lines_wrong(l, "type", "must be thread", err);
	if (!lines_read(l, "", object, line_thread_rows, &line, err) ||
	    !lines_take_standing(l, l->first, &line, t, err))
		return false;
	t->thread_id = line.thread_id;
	t->thread_name = line.thread_name;
	t->user_id = line.user_id;
	t->metadata_json = lines_print(l->first, line.metadata);
	t->created_at = line.created_at;
	t->view.last = line.last;
	l->origin.number = line.checkpoint_id ? earlier_number(line.checkpoint_id) : 0;
	l->origin.changed = line.changed;
	return strlen(t->metadata_json) <= METADATA_MAX ||
	    lines_wrong(l, "metadata", "must be " METADATA_EXPECTED, err);
}

/* Reads a message into its output form; a body that has that form already stays as it is. */
static bool lines_take_message(
    struct lines *l, const struct line *line, struct history_part *part, struct error *err)
{
	char at[AT_SIZE];
	const cJSON *given = line->message;
	if (!lines_read(l, "message", given, line_body_rows, NULL, err))
		return false;
	cJSON *message = arena_json(l->arena,
	    message_normalise(given, lines_at(l, "message", at), MESSAGE_FROM_NODE, l->ids, err));
	if (!message)
		return false;
	const char *foreign = l->call ? files_foreign(l->call, message) : NULL;
	if (foreign)
		return lines_wrong(l, "message",
		    arena_printf(l->arena, "names a file that is not found: %s", foreign), err);
	if (error_is_set(err))
		return false;
	part->message_id = message_id(message);
	part->body_json = lines_print(l->arena, json_equal(given, message) ? given : message);
	return true;
}

static bool lines_take_place(struct lines *l, const cJSON *object, struct history_part *part,
    const struct field_row *rows, struct error *err)
{
	struct line line = {0};
	if (!lines_read(l, "", object, rows, &line, err))
		return false;
	part->place = line.place;
	part->other = line.other;
	if (line.place > l->thread.view.last)
		return lines_wrong(l, "place", "must not be above the thread's last place", err);
	if (line.other >= line.place)
		return lines_wrong(l, part->kind == HISTORY_BRANCH ? "follows" : "of",
		    "must be a place before this one", err);
	/* a branch does not occupy the place that it begins with, but comes right before what
	 * does */
	int64_t rank = 2 * line.place + (part->kind != HISTORY_BRANCH);
	if (rank <= l->latest)
		return lines_wrong(l, "place", "must be above those of the lines before", err);
	l->latest = rank;
	return part->kind != HISTORY_MESSAGE || lines_take_message(l, &line, part, err);
}

static bool lines_ascend(struct lines *l, const char *member, int64_t number, struct error *err)
{
	if (number <= l->latest)
		return lines_wrong(l, member, "must be above that of the line before", err);
	l->latest = number;
	return true;
}

static bool lines_take_checkpoint(
    struct lines *l, const cJSON *object, struct history_part *part, struct error *err)
{
	struct line line = {0};
	struct checkpoint *c = &l->checkpoint;
	if (!lines_read(l, "", object, line_checkpoint_rows, &line, err))
		return false;
	*c = (struct checkpoint){.number = earlier_number(line.checkpoint_id),
	    .parent = line.parent ? earlier_number(line.parent) : 0,
	    .source = line.source,
	    .message_count = line.message_count,
	    .thread = l->thread};
	part->checkpoint = c;
	if (c->parent >= c->number)
		return lines_wrong(
		    l, "parent_checkpoint_id", "must be before that of the line", err);
	return lines_ascend(l, "checkpoint_id", c->number, err) &&
	    lines_take_standing(l, l->arena, &line, &c->thread, err);
}

static bool lines_take_run(
    struct lines *l, const cJSON *object, struct history_part *part, struct error *err)
{
	struct line line = {0};
	if (!lines_read(l, "", object, line_run_rows, &line, err) ||
	    !lines_check_view(l, &line, err) ||
	    (line.error && !lines_read(l, "error", line.error, line_error_rows, NULL, err)))
		return false;
	if (line.status == RUN_IDLE)
		return lines_wrong(l, "status", "must be that of a run", err);
	l->run = (struct run_record){.number = line.number,
	    .run_id = line.run_id,
	    .status = line.status,
	    .created_at = line.created_at,
	    .finished_at = line.finished_at,
	    .node = line.node,
	    .step = line.step,
	    .usage = {line.prompt, line.completion, line.reasoning, line.total},
	    .error_json = lines_print(l->arena, line.error),
	    .after = line.after,
	    .until = line.until,
	    .brought = line.brought};
	/* a thread was changed no earlier than its latest run began, and this one is changed now */
	if (l->run.created_at > clock_now())
		l->run.created_at = clock_now();
	part->run = &l->run;
	return lines_ascend(l, "number", line.number, err);
}

static bool lines_take_end(struct lines *l, const cJSON *object, struct error *err)
{
	struct line line = {0};
	if (!lines_read(l, "", object, line_end_rows, &line, err))
		return false;
	if (line.lines != l->number - 1)
		return lines_wrong(l, "lines", "must be the number of lines before it", err);
	if (l->call) {
		char seal[SEAL_SIZE];
		l->sealed = seal_is(seal_end(&l->seal, seal), line.seal);
	}
	if (getc(l->in) == EOF)
		return true;
	l->number++;
	return lines_wrong(l, "", "must not be there, behind the end", err);
}

/* Reads a part, and checks that its kind may come here. */
static bool lines_take_part(
    struct lines *l, const cJSON *object, struct history_part *part, struct error *err)
{
	const char *type = json_str(object, "type");
	int kind;
	if (!type || !choice_find(kinds, type, &kind))
		return lines_wrong(
		    l, "type", "must be one of branch, again, message, checkpoint, run, end", err);
	part->kind = (enum history_part_kind)kind;
	if (part->kind == HISTORY_END)
		return lines_take_end(l, object, err);
	enum history_part_kind stage = part->kind < HISTORY_MESSAGE ? HISTORY_MESSAGE : part->kind;
	if (stage < l->stage)
		return lines_wrong(
		    l, "type", "must not come behind checkpoints, or behind runs", err);
	if (stage > l->stage)
		l->latest = 0;
	l->stage = stage;
	switch (part->kind) {
	case HISTORY_BRANCH:
		return lines_take_place(l, object, part, line_branch_rows, err);
	case HISTORY_AGAIN:
		return lines_take_place(l, object, part, line_again_rows, err);
	case HISTORY_MESSAGE:
		return lines_take_place(l, object, part, line_message_rows, err);
	case HISTORY_CHECKPOINT:
		return lines_take_checkpoint(l, object, part, err);
	case HISTORY_RUN:
		return lines_take_run(l, object, part, err);
	case HISTORY_END:
		break;
	}
	return false;
}

static bool lines_part(struct history_source *source, struct history_part *part, struct error *err)
{
	struct lines *l = (struct lines *)source;
	*part = (struct history_part){0};
	const cJSON *object = lines_next(l, &l->arena, err);
	if (!object && !error_is_set(err))
		lines_wrong(l, "", "is missing: the last one is that of the type end", err);
	if (object && lines_take_part(l, object, part, err))
		return true;
	/* some mistakes in messages do not name the line */
	char told[sizeof(err->detail)];
	if (err->kind == ERR_VALIDATION && strncmp(err->detail, "line ", 5) != 0) {
		memcpy(told, err->detail, sizeof(told));
		snprintf(
		    err->detail, sizeof(err->detail), "line %" PRId64 ": %.900s", l->number, told);
	}
	return false;
}

static bool lines_rewind(struct history_source *source, struct error *err)
{
	struct lines *l = (struct lines *)source;
	l->number = 1;
	l->stage = HISTORY_MESSAGE;
	l->latest = 0;
	if (fseek(l->in, l->start, SEEK_SET) == 0)
		return true;
	error_set(err, ERR_INTERNAL, NULL);
	return error_cause(err, "the lines cannot be read again");
}

/* Reads the first line, which stays in memory, and notes where the others begin. */
static bool lines_begin(struct lines *l, struct error *err)
{
	const cJSON *object = lines_next(l, &l->first, err);
	if (!object && !error_is_set(err))
		lines_wrong(l, "", "is missing", err);
	l->start = ftell(l->in);
	if (!object || !lines_take_thread(l, object, err))
		return false;
	seal_add_first(&l->seal, l->text, strlen(l->text));
	return true;
}

bool lines_open(struct lines *lines, struct call *call, FILE *in, bool trusted)
{
	struct error *err = &call->error;
	struct history_part part = {.kind = HISTORY_MESSAGE};
	*lines = (struct lines){.source = {lines_part, lines_rewind},
	    .in = in,
	    .call = call,
	    .ids = &call->service->ids,
	    .graph = call->service->graph,
	    .stage = HISTORY_MESSAGE};
	bool ok = seal_begin(&lines->seal, call->service->config->state_dir, err) &&
	    lines_begin(lines, err);
	while (ok && part.kind != HISTORY_END)
		ok = lines_part(&lines->source, &part, err);
	lines->call = NULL;
	lines->whole = trusted || lines->sealed;
	if (!ok || lines->whole)
		return ok;
	cJSON *tree = arena_json(lines->first, json_parse_own(lines->thread.fields_json));
	lines->number = 1;
	return lines_distrust(lines, tree, &lines->thread, err);
}

void lines_release(struct lines *lines)
{
	seal_release(&lines->seal);
	free(lines->text);
	arena_free(lines->first);
	arena_free(lines->arena);
}
