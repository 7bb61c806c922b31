/* SPDX-License-Identifier: ISC */
/* Tables of the members of lines, and of the objects among them. */
#include "service/history/line_rows.h"

#include "base/id.h"
#include "graph/state.h"
#include "service/history/earlier.h"

/* Half of what every reader of JSON can represent, so that a thread can go on with greater numbers
 * and still be read; enough for microseconds until 2112. */
#define NUMBER_MAX 4503599627370496.0

/* Statuses of a thread that no run has, and those of a checkpoint. */
static const struct choice statuses[] = {{"idle", RUN_IDLE}, {"interrupted", RUN_INTERRUPTED},
    {"completed", RUN_COMPLETED}, {"error", RUN_ERROR}, {"stopped", RUN_STOPPED}, {NULL, 0}};
static const struct choice statuses_then[] = {{"idle", RUN_IDLE}, {"running", RUN_RUNNING},
    {"interrupted", RUN_INTERRUPTED}, {"completed", RUN_COMPLETED}, {"error", RUN_ERROR},
    {"stopped", RUN_STOPPED}, {NULL, 0}};

const struct choice line_stops[] = {
    {"none", STOP_NONE}, {"stop_requested", STOP_REQUESTED}, {"stopped", STOP_DONE}, {NULL, 0}};

static const struct choice pauses[] = {{"interrupt", PAUSE_BY_NODE},
    {"interrupt_before", PAUSE_BEFORE_NODE}, {"interrupt_after", PAUSE_AFTER_NODE}, {NULL, 0}};

static bool lines_id_valid(const char *text)
{
	int64_t number = earlier_number(text);
	return number && number <= (int64_t)NUMBER_MAX;
}

static bool lines_name_valid(const char *text)
{
	return !*text || id_valid(text);
}

#define COUNT(name, member, least)                                                             \
	FIELD_AT(name, line, member, .kind = &field_integer, .required = true, .min = (least), \
	    .max = NUMBER_MAX)
#define CHECKPOINT_ID(name, member, ...)                                                     \
	FIELD_AT(name, line, member, .kind = &field_text, .valid = lines_id_valid,           \
	    .expected = "the id of a checkpoint", .wrong = "must be the id of a checkpoint", \
	    __VA_ARGS__)
#define STANDING                                                                               \
	FIELD(line, run_id, .kind = &field_text, .valid = id_valid, .expected = "a run's id"), \
	    FIELD(line, stop, .kind = &field_choice, .choices = line_stops, .required = true), \
	    FIELD(line, node, .kind = &field_text, .required = true), COUNT("step", step, 0),  \
	    FIELD(line, next, .kind = &field_text), FIELD(line, pause, FIELD_OBJECT),          \
	    FIELD(line, waiting, FIELD_OBJECT), FIELD(line, summary, .kind = &field_text),     \
	    FIELD(line, fields, FIELD_OBJECT, .required = true), COUNT("after", after, 0),     \
	    COUNT("until", until, 0)

const struct field_row line_thread_rows[] = {
    FIELD_ONLY("format", .kind = &field_integer, .required = true, .min = LINE_FORMAT,
	.max = LINE_FORMAT, .expected = "1"),
    FIELD(line, thread_id, .kind = &field_text),
    FIELD(line, thread_name, .kind = &field_text, .required = true, .valid = lines_name_valid,
	.expected = "a text of at most 255 characters without control characters"),
    FIELD(line, user_id, .kind = &field_text),
    FIELD(line, metadata, FIELD_OBJECT, .required = true),
    COUNT("created_at", created_at, 0),
    FIELD(line, status, .kind = &field_choice, .choices = statuses, .required = true),
    STANDING,
    COUNT("last", last, 0),
    CHECKPOINT_ID("checkpoint_id", checkpoint_id, .required = false),
    FIELD(line, changed, .kind = &field_bool, .required = true),
    FIELDS_END,
};

const struct field_row line_branch_rows[] = {
    COUNT("place", place, 1),
    COUNT("follows", other, 0),
    FIELDS_END,
};

const struct field_row line_again_rows[] = {
    COUNT("place", place, 1),
    COUNT("of", other, 1),
    FIELDS_END,
};

const struct field_row line_message_rows[] = {
    COUNT("place", place, 1),
    FIELD(line, message, FIELD_OBJECT, .required = true),
    FIELDS_END,
};

const struct field_row line_body_rows[] = {
    FIELD_ONLY("message_id", .kind = &field_text, .required = true),
    FIELDS_END,
};

const struct field_row line_checkpoint_rows[] = {
    CHECKPOINT_ID("checkpoint_id", checkpoint_id, .required = true),
    CHECKPOINT_ID("parent_checkpoint_id", parent, .required = false),
    FIELD(line, source, .kind = &field_choice, .choices = earlier_sources, .required = true),
    COUNT("message_count", message_count, 0),
    FIELD(line, status, .kind = &field_choice, .choices = statuses_then, .required = true),
    STANDING,
    FIELDS_END,
};

const struct field_row line_run_rows[] = {
    COUNT("number", number, 1),
    FIELD(line, run_id, .kind = &field_text, .required = true, .valid = id_valid,
	.expected = "a run's id", .wrong = "must be a run's id"),
    FIELD(line, status, .kind = &field_choice, .choices = statuses, .required = true),
    COUNT("created_at", created_at, 0),
    COUNT("finished_at", finished_at, 0),
    FIELD(line, node, .kind = &field_text, .required = true),
    COUNT("step", step, 0),
    COUNT("prompt_tokens", prompt, 0),
    COUNT("completion_tokens", completion, 0),
    COUNT("reasoning_tokens", reasoning, 0),
    COUNT("total_tokens", total, 0),
    FIELD(line, error, FIELD_OBJECT),
    COUNT("after", after, 0),
    COUNT("until", until, 0),
    COUNT("brought", brought, 0),
    FIELDS_END,
};

const struct field_row line_end_rows[] = {
    COUNT("lines", lines, 1),
    FIELD(line, seal, .kind = &field_text),
    FIELDS_END,
};

/* A pause as it is stored, and what an open one must have. */
const struct field_row line_pause_rows[] = {
    FIELD_ONLY("interrupt", FIELD_OBJECT),
    FIELD_ONLY("kind", .kind = &field_text, .choices = pauses),
    FIELD_ONLY("answers", FIELD_ARRAY),
    FIELD_ONLY("asked", .kind = &field_text),
    FIELDS_END,
};

const struct field_row line_open_rows[] = {
    FIELD_ONLY("interrupt", FIELD_OBJECT, .required = true),
    FIELD_ONLY("kind", .kind = &field_text, .required = true),
    FIELD_ONLY("answers", FIELD_ARRAY, .required = true),
    FIELDS_END,
};

const struct field_row line_interrupt_rows[] = {
    FIELD_ONLY("id", .kind = &field_text, .required = true),
    FIELD_ONLY("node", .kind = &field_text, .required = true),
    FIELD_ONLY("reason", .kind = &field_text, .required = true),
    FIELDS_END,
};

const struct field_row line_waiting_rows[] = {
    FIELD_ONLY("message_id", .kind = &field_text, .required = true),
    FIELD_ONLY("calls", FIELD_ARRAY, .required = true),
    FIELDS_END,
};

const struct field_row line_call_rows[] = {
    FIELD_ONLY("id", .kind = &field_text, .required = true),
    FIELD_ONLY("name", .kind = &field_text, .required = true),
    FIELDS_END,
};

const struct field_row line_error_rows[] = {
    FIELD_ONLY("code", .kind = &field_text, .required = true),
    FIELD_ONLY("message", .kind = &field_text, .required = true),
    FIELD_ONLY("status", .kind = &field_integer, .min = 400, .max = 599),
    FIELD_ONLY("details", FIELD_ARRAY),
    FIELDS_END,
};
