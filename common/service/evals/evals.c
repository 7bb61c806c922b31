/* SPDX-License-Identifier: ISC */
/* The list of reports and the view of one: tiles, results, thresholds. */
#include "service/evals/evals.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "service/evals/eval_file.h"
#include "service/evals/eval_regression.h"
#include "service/evals/eval_values.h"

#include <fcntl.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOT " \xC2\xB7 " /* joins the parts of a title */
#define DEFAULT_THRESHOLD 80

static const char *evals_label_of(const struct eval_report *report)
{
	return *report->set_name ? report->set_name : report->set_id;
}

static size_t evals_id_length(const struct eval_report *report)
{
	return strlen(report->file) - strlen(EVAL_SUFFIX);
}

/* Overflow is no number; 0 is better than null. */
static void evals_add_rate(cJSON *view, double pass_rate)
{
	double percent = eval_round(100 * pass_rate, 1);
	cJSON_AddItemToObject(view, "rate", json_new_double(isfinite(percent) ? percent : 0));
	json_add_str(view, "status", eval_status(pass_rate >= 1));
}

/* ---- The list ---- */

cJSON *evals_list(struct call *call)
{
	struct arena *a = call->arena;
	struct eval_reports reports;
	char ago[EVAL_TEXT_SIZE];
	eval_reports_load(&reports, call->service->evals, a);
	cJSON *data = arena_json(a, cJSON_CreateObject());
	cJSON *runs = cJSON_AddArrayToObject(data, "runs");
	/* the latest time first, but reports of the same time in file order */
	for (size_t end = reports.count; end > 0;) {
		size_t from = end - 1;
		while (
		    from > 0 && reports.items[from - 1].timestamp == reports.items[from].timestamp)
			from--;
		for (size_t i = from; i < end; i++) {
			const struct eval_report *report = &reports.items[i];
			double age = report->timestamp == 0
			    ? 0
			    : clock_seconds(clock_now()) - report->timestamp;
			cJSON *row = json_append(runs, cJSON_CreateObject());
			json_add_str(
			    row, "id", arena_strndup(a, report->file, evals_id_length(report)));
			json_add_str(row, "name", evals_label_of(report));
			json_add_str(row, "run", arena_printf(a, "#%zu", report->run));
			evals_add_rate(row, report->pass_rate);
			json_add_int(row, "cases", report->cases);
			json_add_str(row, "ago", eval_ago(age, ago));
		}
		end = from;
	}
	return data;
}

/* ---- One run ---- */

struct numbers {
	double *items;
	size_t count;
};

static int numbers_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The thresholds that the criteria of a case give. */
static void numbers_take_thresholds(struct numbers *thresholds, const cJSON *result)
{
	for (const cJSON *c = eval_first(result, "criterion_results"); c; c = c->next) {
		if (!json_is_number(json_get(c, "threshold")))
			continue;
		thresholds->items = xgrow(thresholds->items, thresholds->count, sizeof(double));
		thresholds->items[thresholds->count++] = eval_number(c, "threshold");
	}
}

/* Each value counts once, however many criteria have it. */
static double numbers_mean(struct numbers *thresholds)
{
	double sum = 0;
	size_t different = 0;
	if (!thresholds->count)
		return DEFAULT_THRESHOLD;
	qsort(thresholds->items, thresholds->count, sizeof(double), numbers_compare);
	for (size_t i = 0; i < thresholds->count; i++) {
		if (i && thresholds->items[i] == thresholds->items[i - 1])
			continue;
		sum += thresholds->items[i];
		different++;
	}
	double mean = rint(100 * sum / (double)different); /* halves to even */
	return fabs(mean) < 1 / DBL_EPSILON ? mean : 0;
}

/* Everything that one file says, while it is taken in. */
struct view {
	struct arena *arena;
	struct eval_run run;
	struct numbers thresholds;
	cJSON *cases; /* NULL when only compared */
};

static void evals_take_file(struct view *view, struct json_span root, const cJSON *summary)
{
	struct json_span results = json_skim_member(root, "results"), at = {0};
	while (json_skim_next(results, &at)) {
		cJSON *result = json_skim_parse(at);
		const struct eval_case *c = eval_cases_add(&view->run.cases, result, view->arena);
		if (view->cases) {
			cJSON_AddItemToArray(view->cases, eval_case_view(c, result));
			numbers_take_thresholds(&view->thresholds, result);
		}
		cJSON_Delete(result);
	}
	view->run.pass_rate = eval_number(summary, "pass_rate");
}

static void evals_add_tile(cJSON *stats, const char *label, const char *value, const char *tone)
{
	cJSON *tile = cJSON_CreateObject();
	json_add_str(tile, "label", label);
	json_add_str(tile, "value", value);
	if (tone)
		json_add_str(tile, "tone", tone);
	cJSON_AddItemToArray(stats, tile);
}

static void evals_add_count(
    struct arena *arena, cJSON *stats, const char *label, int64_t count, const char *tone)
{
	evals_add_tile(stats, label, arena_printf(arena, "%" PRId64, count), tone);
}

static cJSON *evals_stats_of(const struct view *view, const cJSON *summary)
{
	char text[EVAL_TEXT_SIZE];
	struct arena *a = view->arena;
	const cJSON *usage = json_get(summary, "total_token_usage");
	cJSON *stats = cJSON_CreateArray();
	int64_t failed;
	if (__builtin_add_overflow(
		json_int(summary, "failed_cases", 0), json_int(summary, "error_cases", 0), &failed))
		failed = INT64_MAX;
	evals_add_count(a, stats, "cases", json_int(summary, "total_cases", 0), NULL);
	evals_add_count(a, stats, "passed", json_int(summary, "passed_cases", 0), "ok");
	evals_add_count(a, stats, "failed", failed, "bad");
	evals_add_tile(
	    stats, "avg score", arena_printf(a, "%.2f", eval_cases_score(&view->run.cases)), NULL);
	double latency = eval_number(summary, "avg_duration_seconds");
	evals_add_tile(stats, "avg latency", eval_seconds(latency, text), NULL);
	int64_t tokens = json_int(usage, "total_tokens", 0);
	evals_add_tile(stats, "total tokens", eval_tokens(tokens, text), NULL);
	return stats;
}

/* Parts that are empty are left out. */
static const char *evals_subtitle(
    const struct view *view, struct json_span root, const cJSON *summary)
{
	char moment[EVAL_TEXT_SIZE], duration[EVAL_TEXT_SIZE];
	const struct eval_report *report = view->run.report;
	cJSON *used =
	    arena_json(view->arena, json_skim_parse(json_skim_member(root, "config_used")));
	const char *const parts[] = {report->set_id, eval_text(used, "model"),
	    eval_moment(report->timestamp, moment),
	    eval_seconds(eval_number(summary, "total_duration_seconds"), duration)};
	struct buf out = {0};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (*parts[i])
			buf_printf(&out, "%s%s", out.len ? DOT : "", parts[i]);
	return arena_take(view->arena, &out);
}

/* Reads one file; false when it has gone meanwhile. */
static bool evals_open_report(struct eval_file *file, const struct eval_report *report)
{
	struct stat st;
	int dir = open(EVAL_DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool ok = dir >= 0 && eval_file_read(file, dir, report->file, &st);
	if (dir >= 0)
		close(dir);
	return ok;
}

static cJSON *evals_compare(const struct view *view)
{
	struct view before = {.arena = view->arena, .run.report = view->run.report->previous};
	struct eval_file file;
	if (!before.run.report || !evals_open_report(&file, before.run.report))
		return cJSON_CreateNull();
	cJSON *summary = json_skim_parse(json_skim_member(file.root, "summary"));
	evals_take_file(&before, file.root, summary);
	cJSON_Delete(summary);
	eval_file_release(&file);
	cJSON *regression = eval_regression(&view->run, &before.run);
	eval_cases_release(&before.run.cases);
	return regression;
}

cJSON *evals_read(struct call *call, const char *run_id)
{
	struct eval_reports reports;
	struct eval_file file;
	eval_reports_load(&reports, call->service->evals, call->arena);
	struct arena *a = call->arena;
	struct view view = {.arena = a};
	for (size_t i = 0; i < reports.count && !view.run.report; i++) {
		size_t len = evals_id_length(&reports.items[i]);
		if (strlen(run_id) == len && !memcmp(reports.items[i].file, run_id, len))
			view.run.report = &reports.items[i];
	}
	if (!view.run.report || !evals_open_report(&file, view.run.report)) {
		error_set(&call->error, ERR_RESOURCE_NOT_FOUND, "Eval run '%s' not found", run_id);
		return NULL;
	}
	const struct eval_report *report = view.run.report;
	cJSON *data = arena_json(a, cJSON_CreateObject());
	cJSON *summary = arena_json(a, json_skim_parse(json_skim_member(file.root, "summary")));
	view.cases = cJSON_CreateArray();
	evals_take_file(&view, file.root, summary);
	json_add_str(data, "title",
	    arena_printf(a, "%s" DOT "run #%zu", evals_label_of(report), report->run));
	json_add_str(data, "sub", evals_subtitle(&view, file.root, summary));
	evals_add_rate(data, view.run.pass_rate);
	json_add_int(data, "threshold", (int64_t)numbers_mean(&view.thresholds));
	cJSON_AddItemToObject(data, "stats", evals_stats_of(&view, summary));
	cJSON_AddItemToObject(data, "cases", view.cases);
	cJSON_AddItemToObject(data, "regression", evals_compare(&view));
	eval_cases_release(&view.run.cases);
	free(view.thresholds.items);
	eval_file_release(&file);
	return data;
}
