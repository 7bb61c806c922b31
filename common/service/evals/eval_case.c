/* SPDX-License-Identifier: ISC */
/* Reading the cases of a report, and the view of one with its texts and scores. */
#include "service/evals/eval_regression.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "service/evals/eval_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- What is compared ---- */

/* The score of a case is the mean of its criteria. */
const struct eval_case *eval_cases_add(
    struct eval_cases *cases, const cJSON *result, struct arena *arena)
{
	cases->items = xgrow(cases->items, cases->count, sizeof(*cases->items));
	struct eval_case *c = &cases->items[cases->count++];
	c->id = arena_strdup(arena, eval_text(result, "eval_id"));
	c->name = arena_strdup(arena, eval_text(result, "name"));
	if (!*c->name)
		c->name = c->id;
	c->passed = cJSON_IsTrue(json_get(result, "passed"));
	double sum = 0;
	size_t count = 0;
	for (const cJSON *k = eval_first(result, "criterion_results"); k; k = k->next, count++)
		sum += eval_number(k, "score");
	if (count)
		c->score = isfinite(sum) ? sum / (double)count : 0;
	else
		c->score = c->passed ? 1 : 0;
	return c;
}

void eval_cases_release(struct eval_cases *cases)
{
	free(cases->items);
	*cases = (struct eval_cases){0};
}

double eval_cases_score(const struct eval_cases *cases)
{
	double sum = 0;
	for (size_t i = 0; i < cases->count; i++)
		sum += cases->items[i].score;
	return cases->count && isfinite(sum) ? sum / (double)cases->count : 0;
}

/* ---- What is shown ---- */

static void eval_case_add_number(cJSON *object, const char *key, double value)
{
	cJSON_AddItemToObject(object, key, json_new_double(value));
}

/* Appends the texts of the blocks, joined by a blank; false when there is no text block. */
static bool eval_case_add_blocks(struct buf *out, const cJSON *message)
{
	bool found = false;
	for (const cJSON *b = eval_first(message, "content"); b; b = b->next) {
		if (strcmp(eval_text(b, "type"), "text") != 0)
			continue;
		if (found)
			buf_putc(out, ' ');
		buf_puts(out, eval_text(b, "text"));
		found = true;
	}
	return found;
}

/* The first user message that has a text. */
static void eval_case_add_input(cJSON *view, const cJSON *result)
{
	struct buf text = {0};
	bool found = false;
	for (const cJSON *m = eval_first(result, "messages"); m && !found; m = m->next) {
		if (strcmp(eval_text(m, "role"), "user") != 0)
			continue;
		buf_puts(&text, eval_text(m, "content"));
		found = text.len || eval_case_add_blocks(&text, m);
	}
	json_add_str(view, "input", found ? buf_str(&text) : EVAL_NOTHING);
	buf_release(&text);
}

static void eval_case_add_row(cJSON *rubric, const char *key, double value, bool passed)
{
	cJSON *row = cJSON_CreateObject();
	json_add_str(row, "key", key);
	eval_case_add_number(row, "value", value);
	json_add_str(row, "tone", passed ? "accent" : "danger");
	cJSON_AddItemToArray(rubric, row);
}

static void eval_case_add_rubric(cJSON *view, const struct eval_case *c, const cJSON *result)
{
	const cJSON *criterion = eval_first(result, "criterion_results");
	if (!criterion) {
		cJSON_AddNullToObject(view, "rubric");
		return;
	}
	cJSON *rubric = cJSON_AddArrayToObject(view, "rubric");
	for (; criterion; criterion = criterion->next)
		eval_case_add_row(rubric, eval_text(criterion, "criterion"),
		    eval_number(criterion, "score"), cJSON_IsTrue(json_get(criterion, "passed")));
	eval_case_add_row(rubric, "weighted score", eval_round(c->score, 2), c->passed);
}

/* White space at both ends, taken off in place. */
static char *eval_case_trim(char *text)
{
	static const char blanks[] = " \t\v\f";
	text += strspn(text, blanks);
	size_t len = strlen(text);
	while (len && strchr(blanks, text[len - 1]))
		len--;
	text[len] = '\0';
	return text;
}

/* The lines of a simulated conversation, null when it has none. */
static cJSON *eval_case_conversation(const char *response)
{
	static const char user[] = "USER:", agent[] = "AGENT:";
	cJSON *lines = cJSON_CreateArray();
	char *copy = xstrdup(response), *rest = copy, *line;
	while ((line = strsep(&rest, "\r\n"))) {
		const char *role = "agent";
		line = eval_case_trim(line);
		if (!*line)
			continue;
		if (!strncmp(line, user, strlen(user))) {
			role = "sim";
			line = eval_case_trim(line + strlen(user));
		} else if (!strncmp(line, agent, strlen(agent))) {
			line = eval_case_trim(line + strlen(agent));
		}
		cJSON *item = cJSON_CreateObject();
		json_add_str(item, "role", role);
		json_add_str(item, "text", line);
		cJSON_AddItemToArray(lines, item);
	}
	free(copy);
	if (lines->child)
		return lines;
	cJSON_Delete(lines);
	return cJSON_CreateNull();
}

cJSON *eval_case_view(const struct eval_case *c, const cJSON *result)
{
	char text[EVAL_TEXT_SIZE];
	cJSON *view = cJSON_CreateObject();
	const char *response = eval_text(result, "actual_response");
	bool simulated = json_get(json_get(result, "metadata"), "turns") != NULL;
	json_add_str(view, "id", c->id);
	json_add_str(view, "name", c->name);
	json_add_str(view, "type", simulated ? "sim" : "eval");
	eval_case_add_number(view, "score", eval_round(c->score, 2));
	json_add_str(view, "status", eval_status(c->passed));
	json_add_str(view, "lat", eval_seconds(eval_number(result, "duration_seconds"), text));
	int64_t tokens = json_int(json_get(result, "token_usage"), "total_tokens", 0);
	json_add_str(view, "cost", eval_tokens(tokens, text));
	eval_case_add_input(view, result);
	json_add_str(view, "expected", EVAL_NOTHING);
	json_add_str(view, "actual", *response ? response : EVAL_NOTHING);
	eval_case_add_rubric(view, c, result);
	cJSON_AddItemToObject(view, "conversation",
	    simulated ? eval_case_conversation(response) : cJSON_CreateNull());
	return view;
}
