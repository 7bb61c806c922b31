/* SPDX-License-Identifier: ISC */
/* The state as one line of input, and each line of output taken for what it says. */
#include "graph/nodes/nodes.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/json/json_type.h"
#include "base/utf8.h"
#include "graph/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXCERPT 80 /* bytes of a line that an error shows */

/* One run of the program. */
struct session {
	ag_run *run;
	bool open;       /* pieces came that no message has closed yet */
	struct buf said; /* the text in them */
	size_t line;     /* number of the line that is read, from 1 */
	ag_result outcome;
};

/* ---- What the program is given */

static char *exec_node_input_text(const struct exec_node *node, ag_run *run, const ag_state *state)
{
	cJSON *input = cJSON_CreateObject();
	const cJSON *field;
	/* what is the state's own is only referred to, so that a long history is not copied */
	if (node->input == EXEC_INPUT_FULL) {
		json_refer_or_null(input, "context", ag_context(state));
	} else {
		const cJSON *last = ag_last_message(state);
		cJSON *context = cJSON_AddArrayToObject(input, "context");
		if (last)
			cJSON_AddItemReferenceToArray(context, (cJSON *)last);
	}
	json_add_str(input, "context_summary", ag_summary(state));
	cJSON_ArrayForEach(field, ag_fields(state))
		json_refer(input, field->string, field);
	json_add_str(input, "user_text", ag_user_text(state));
	json_refer_or_null(input, "config", ag_config(run));
	json_add_str(input, "thread_id", ag_thread_id(run));
	json_add_str(input, "run_id", ag_run_id(run));
	json_add_str(input, "node", ag_node_name(run));
	json_add_int(input, "step", ag_step(run));
	json_refer(input, "answers", ag_answers(run));
	if (!ag_answers(run))
		cJSON_AddArrayToObject(input, "answers");
	char *json = json_print(input);
	cJSON_Delete(input);
	struct buf text = {0};
	buf_puts(&text, json);
	buf_putc(&text, '\n');
	free(json);
	return buf_detach(&text);
}

/* ---- What it says */

/* The pieces are one message; the program need not repeat them to close it. */
static ag_result exec_node_close_message(struct session *s)
{
	if (s->said.len == 0)
		return AG_OK;
	cJSON *message = cJSON_CreateObject();
	json_add_str(message, "role", "assistant");
	json_add_str(message, "content", buf_str(&s->said));
	buf_reset(&s->said);
	return ag_message(s->run, message);
}

/* Shows what the text of a message adds to the pieces before it: who follows the pieces looks at
 * no text of the message that closes them. */
static void exec_node_show_rest(struct session *s, const cJSON *message)
{
	const cJSON *content = json_get(message, "content"), *block;
	struct buf text = {0};
	if (s->open && json_str_is(message, "role", "assistant")) {
		if (cJSON_IsString(content))
			buf_puts(&text, content->valuestring);
		cJSON_ArrayForEach(block, content) { /* nobody has looked at these yet */
			if (json_str_is(block, "type", "text") && json_str(block, "text"))
				buf_puts(&text, json_str(block, "text"));
		}
		if (strncmp(buf_str(&text), buf_str(&s->said), s->said.len) == 0)
			ag_delta(s->run, buf_str(&text) + s->said.len);
	}
	buf_release(&text);
	buf_reset(&s->said);
	s->open = false;
}

static ag_result exec_node_refuse(struct session *s, const char *key, const char *expected)
{
	return ag_fail(
	    s->run, "line %zu of its output: expected \"%s\" to be %s", s->line, key, expected);
}

static ag_result exec_node_take_delta(struct session *s, cJSON *value)
{
	s->open = true;
	buf_puts(&s->said, value->valuestring);
	return ag_delta(s->run, value->valuestring);
}

static ag_result exec_node_take_reasoning(struct session *s, cJSON *value)
{
	s->open = true;
	return ag_reasoning_delta(s->run, value->valuestring);
}

static ag_result exec_node_take_message(struct session *s, cJSON *value)
{
	cJSON *message =
	    cJSON_IsObject(value) ? cJSON_Duplicate(value, true) : cJSON_CreateObject();
	if (cJSON_IsString(value))
		json_add_str(message, "content", value->valuestring);
	if (!json_opt(message, "role"))
		json_set(message, "role", cJSON_CreateString("assistant"));
	exec_node_show_rest(s, message);
	return ag_message(s->run, message);
}

static ag_result exec_node_take_update(struct session *s, cJSON *value)
{
	const cJSON *field;
	cJSON_ArrayForEach(field, value) {
		ag_result result = ag_update(s->run, field->string, cJSON_Duplicate(field, true));
		if (result != AG_OK)
			return result;
	}
	return AG_OK;
}

/* Calls with an answer return at once: the program has it in "answers" already. */
static ag_result exec_node_take_interrupt(struct session *s, cJSON *value)
{
	const cJSON *item, *answer, *reason = json_opt(value, "reason");
	cJSON_ArrayForEach(item, value) {
		if (strcmp(item->string, "reason") != 0 && strcmp(item->string, "value") != 0)
			return exec_node_refuse(
			    s, "interrupt", "an object with reason and value only");
	}
	if (reason && !cJSON_IsString(reason))
		return exec_node_refuse(s, "reason", "a string");
	return ag_interrupt(s->run, reason ? reason->valuestring : NULL,
	    cJSON_Duplicate(json_get(value, "value"), true), &answer);
}

static ag_result exec_node_take_error(struct session *s, cJSON *value)
{
	return ag_fail(s->run, "%s", value->valuestring);
}

static ag_result exec_node_take_log(struct session *s, cJSON *value)
{
	ag_log(s->run, "%s", value->valuestring);
	return AG_OK;
}

static ag_result exec_node_take_event(struct session *s, cJSON *value)
{
	const cJSON *item;
	const char *name = json_str(value, "name");
	cJSON_ArrayForEach(item, value) {
		if (strcmp(item->string, "name") != 0 && strcmp(item->string, "data") != 0)
			return exec_node_refuse(s, "event", "an object with name and data only");
	}
	if (!name)
		return exec_node_refuse(s, "event", "an object with the text name");
	return ag_emit(s->run, name, cJSON_Duplicate(json_get(value, "data"), true));
}

static const struct {
	const char *key;
	unsigned types;
	ag_result (*take)(struct session *s, cJSON *value);
} kinds[] = {{"delta", TYPE_STRING, exec_node_take_delta},
    {"reasoning", TYPE_STRING, exec_node_take_reasoning},
    {"message", TYPE_STRING | TYPE_OBJECT, exec_node_take_message},
    {"update", TYPE_OBJECT, exec_node_take_update},
    {"interrupt", TYPE_OBJECT, exec_node_take_interrupt},
    {"error", TYPE_STRING, exec_node_take_error}, {"log", TYPE_STRING, exec_node_take_log},
    {"event", TYPE_OBJECT, exec_node_take_event}};

static ag_result exec_node_take_object(struct session *s, const cJSON *object, const char *excerpt)
{
	cJSON *member = object->child;
	if (!member || member->next)
		return ag_fail(s->run, "line %zu of its output: expected exactly one member: %s",
		    s->line, excerpt);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].key, member->string) != 0)
			continue;
		if (json_is_of(member, kinds[i].types))
			return kinds[i].take(s, member);
		struct buf expected = {0};
		json_types_say(kinds[i].types, &expected);
		ag_result result = exec_node_refuse(s, member->string, buf_str(&expected));
		buf_release(&expected);
		return result;
	}
	return ag_fail(s->run,
	    "line %zu of its output: expected one of delta, reasoning, message, update, "
	    "interrupt, error, log, event: %s",
	    s->line, excerpt);
}

static bool exec_node_on_line(const char *line, size_t len, void *arg)
{
	struct session *s = arg;
	char excerpt[EXCERPT + 1];
	s->line++;
	if (strspn(line, " \t\r") == len)
		return true;
	snprintf(excerpt, sizeof(excerpt), "%s", line);
	if (len > EXCERPT)
		excerpt[utf8_cut(line, EXCERPT)] = '\0';
	process_clean(excerpt);
	cJSON *object = json_parse(line, len, JSON_REQUEST_DEPTH, NULL);
	s->outcome = cJSON_IsObject(object)
	    ? exec_node_take_object(s, object, excerpt)
	    : ag_fail(
		  s->run, "line %zu of its output: expected a JSON object: %s", s->line, excerpt);
	cJSON_Delete(object);
	return s->outcome == AG_OK;
}

/* ---- How it ends */

static ag_result exec_node_finish(
    struct session *s, const char *name, const struct process_result *result)
{
	char what[256], complaint[512];
	switch (result->end) {
	case PROCESS_EXITED:
		if (result->code == 0)
			return exec_node_close_message(s);
		break;
	case PROCESS_REFUSED:
		return s->outcome;
	case PROCESS_TIMED_OUT: /* the node's time is up, too; the engine says so */
		return AG_ERROR;
	case PROCESS_SIGNALLED:
	case PROCESS_LINE_TOO_LONG:
	case PROCESS_TOO_MUCH_OUTPUT:
	case PROCESS_NOT_STARTED:
		break;
	}
	process_describe(result, what, sizeof(what));
	process_complaint(result, complaint, sizeof(complaint));
	if (result->tail[0] && result->end != PROCESS_NOT_STARTED)
		ag_log(s->run, "%s %s; it wrote: %s", name, what, result->tail);
	if (result->end != PROCESS_EXITED || strcmp(what, complaint) == 0)
		return ag_fail(s->run, "%s %s", name, complaint);
	return ag_fail(s->run, "%s %s: %s", name, what, complaint);
}

ag_result exec_node_run(ag_run *run, const ag_state *state, void *data)
{
	const struct exec_node *node = data;
	struct session s = {.run = run};
	struct process_result result;
	run_limit_node(run, (double)node->command.timeout_ms / 1000);
	char *input = exec_node_input_text(node, run, state);
	struct command_call call = {.run = run,
	    .input = input,
	    .input_len = strlen(input),
	    .on_line = exec_node_on_line,
	    .arg = &s};
	ag_result outcome = AG_ERROR;
	if (run_has_read(run)) {
		command_run(&node->command, &call, &result);
		outcome = exec_node_finish(&s, node->command.argv[0], &result);
	}
	free(input);
	buf_release(&s.said);
	return outcome;
}
