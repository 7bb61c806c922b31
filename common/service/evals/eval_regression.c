/* SPDX-License-Identifier: ISC */
/* Pairing the cases of two runs, and what became better or worse. */
#include "service/evals/eval_regression.h"

#include "base/json/json.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLAT 0.005 /* a change of less shows no direction */
#define NOISE 1e-9 /* what adding the same scores in another order leaves, which is no drift */

/* ---- Pairs ---- */

/* The cases of a run by id; of equal ids the last. */
struct index {
	const struct eval_case **items;
	size_t count;
};

static int eval_regression_compare_cases(const void *a, const void *b)
{
	const struct eval_case *x = *(const struct eval_case *const *)a;
	const struct eval_case *y = *(const struct eval_case *const *)b;
	int order = strcmp(x->id, y->id);
	return order ? order : (x > y) - (x < y);
}

static struct index eval_regression_index_of(const struct eval_cases *cases)
{
	struct index index = {xcalloc(cases->count + 1, sizeof(*index.items)), 0};
	for (size_t i = 0; i < cases->count; i++)
		index.items[i] = &cases->items[i];
	qsort(index.items, cases->count, sizeof(*index.items), eval_regression_compare_cases);
	for (size_t i = 0; i < cases->count; i++)
		if (i + 1 == cases->count ||
		    strcmp(index.items[i]->id, index.items[i + 1]->id) != 0)
			index.items[index.count++] = index.items[i];
	return index;
}

static int eval_regression_compare_id(const void *id, const void *item)
{
	return strcmp(id, (*(const struct eval_case *const *)item)->id);
}

static const struct eval_case *eval_regression_find(const struct index *index, const char *id)
{
	const struct eval_case **found = bsearch(
	    id, index->items, index->count, sizeof(*index->items), eval_regression_compare_id);
	return found ? *found : NULL;
}

/* ---- Rows ---- */

static cJSON *eval_regression_row_of(const struct eval_case *now, const struct eval_case *before)
{
	static const char *const flips[2][2] = {
	    {"fail (same)", "fail \xE2\x86\x92 pass"}, {"pass \xE2\x86\x92 fail", "pass (same)"}};
	double change = now->score - before->score;
	char *scores = xasprintf("%.2f \xE2\x86\x92 %.2f  ", before->score, now->score), *delta;
	const char *dir = fabs(change) < FLAT ? "flat" : change > 0 ? "up" : "down";
	cJSON *row = cJSON_CreateObject();
	if (fabs(change) < FLAT)
		delta = xasprintf("%s" EVAL_NOTHING, scores);
	else
		delta = xasprintf(
		    "%s%s%.2f", scores, change > 0 ? "\xE2\x96\xB2" : "\xE2\x96\xBC", fabs(change));
	json_add_str(row, "name", now->name);
	json_add_str(row, "delta", delta);
	json_add_str(row, "dir", dir);
	json_add_str(row, "flip", flips[before->passed][now->passed]);
	cJSON_AddBoolToObject(row, "stay", now->passed == before->passed);
	free(delta);
	free(scores);
	return row;
}

/* ---- Note and summary ---- */

static double eval_regression_drift(double now, double before)
{
	return fabs(now - before) < NOISE ? 0 : now - before;
}

static void eval_regression_add_run(cJSON *note, const char *key, const struct eval_run *run)
{
	char *text = xasprintf("run #%zu (%.1f%%)", run->report->run, 100 * run->pass_rate);
	json_add_str(note, key, text);
	free(text);
}

/* Takes over the value. */
static void eval_regression_add_line(
    cJSON *summary, const char *label, char *value, const char *tone)
{
	cJSON *line = cJSON_CreateObject();
	json_add_str(line, "label", label);
	json_add_str(line, "value", value);
	json_add_str(line, "tone", tone);
	cJSON_AddItemToArray(summary, line);
	free(value);
}

cJSON *eval_regression(const struct eval_run *current, const struct eval_run *previous)
{
	struct index now = eval_regression_index_of(&current->cases),
		     before = eval_regression_index_of(&previous->cases);
	size_t failing = 0, passing = 0;
	cJSON *rows = cJSON_CreateArray();
	for (size_t i = 0; i < current->cases.count; i++) {
		const struct eval_case *c = &current->cases.items[i];
		const struct eval_case *old = eval_regression_find(&before, c->id);
		if (!old || eval_regression_find(&now, c->id) != c)
			continue;
		cJSON_AddItemToArray(rows, eval_regression_row_of(c, old));
		failing += old->passed && !c->passed;
		passing += !old->passed && c->passed;
	}
	free(now.items);
	free(before.items);
	cJSON *view = cJSON_CreateObject();
	cJSON *note = cJSON_AddObjectToObject(view, "note");
	eval_regression_add_run(note, "current", current);
	eval_regression_add_run(note, "prev", previous);
	json_add_str(note, "suite", "same suite");
	cJSON *summary = cJSON_AddArrayToObject(view, "summary");
	double rate = 100 * eval_regression_drift(current->pass_rate, previous->pass_rate);
	double score = eval_regression_drift(
	    eval_cases_score(&current->cases), eval_cases_score(&previous->cases));
	eval_regression_add_line(
	    summary, "pass-rate drift", xasprintf("%+.1fpp", rate), rate < 0 ? "bad" : "ok");
	eval_regression_add_line(
	    summary, "newly failing", xasprintf("%zu", failing), failing ? "bad" : "ok");
	eval_regression_add_line(summary, "newly passing", xasprintf("%zu", passing), "ok");
	eval_regression_add_line(
	    summary, "avg score drift", xasprintf("%+.2f", score), score < 0 ? "warn" : "ok");
	cJSON_AddItemToObject(view, "rows", rows);
	return view;
}
