/* SPDX-License-Identifier: ISC */
/* Who may see a trace, runs whose process has died, and the view of one: spans, events and totals,
 * read back from its records in their order. */
#include "service/trace/trace.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "service/thread/ident.h"
#include "storage/runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLD_MS 1500 /* by then other instances have told of their runs (traces.c) */
#define LOOK_MS 10   /* between looks whether they have */

static double trace_view_ms(int64_t us)
{
	return us > 0 ? (double)us / 1000.0 : 0.0;
}

static int64_t trace_view_at(const cJSON *record)
{
	return json_int(record, "at", 0);
}

static int64_t trace_view_nth(const cJSON *array, int i)
{
	int64_t value = 0;
	json_integer(cJSON_GetArrayItem(array, i), &value);
	return value;
}

/* ---- spans ---- */

/* The span of a node, and the time of its first and latest record. */
struct node_span {
	const char *name;
	cJSON *span;
	int64_t first;
};

struct span_list {
	cJSON *spans;
	int count;
	struct node_span *nodes;
	int node_count;
};

/* What all spans have; the keys of a model's are filled in by its own. */
static cJSON *span_list_add(
    struct span_list *list, const char *kind, const char *name, const char *parent, int64_t start)
{
	char id[16] = "root";
	cJSON *span = cJSON_CreateObject();
	if (parent)
		snprintf(id, sizeof(id), "s%d", ++list->count);
	cJSON_AddStringToObject(span, "id", id);
	cJSON_AddStringToObject(span, "name", name);
	cJSON_AddStringToObject(span, "kind", kind);
	json_add_str(span, "parent", parent);
	cJSON_AddItemToObject(span, "start_ms", json_new_double(trace_view_ms(start)));
	cJSON_AddItemToObject(span, "duration_ms", json_new_double(0));
	cJSON_AddNullToObject(span, "model");
	cJSON_AddNullToObject(span, "input_tokens");
	cJSON_AddNullToObject(span, "output_tokens");
	cJSON_AddItemToArray(list->spans, span);
	return span;
}

static void observe_set_duration(cJSON *span, int64_t us)
{
	json_set(span, "duration_ms", json_new_double(trace_view_ms(us)));
}

/* The id of the span that a record hangs off, which it opens or extends. */
static const char *span_list_node_of(struct span_list *list, const cJSON *record)
{
	const char *name = json_str(record, "node");
	if (!name)
		return "root";
	struct node_span *node = NULL;
	for (int i = 0; i < list->node_count && !node; i++)
		if (strcmp(list->nodes[i].name, name) == 0)
			node = &list->nodes[i];
	if (!node) {
		node = &list->nodes[list->node_count++];
		char *title = xasprintf("node: %s", name);
		*node = (struct node_span){name,
		    span_list_add(list, "node", title, "root", trace_view_at(record)),
		    trace_view_at(record)};
		free(title);
	}
	observe_set_duration(node->span, trace_view_at(record) - node->first);
	return json_str(node->span, "id");
}

static cJSON *observe_spans_of(const cJSON *records, int64_t total)
{
	const cJSON *record, *call;
	struct span_list list = {.spans = cJSON_CreateArray()};
	size_t nodes = (size_t)cJSON_GetArraySize(records) + 1;
	list.nodes = cJSON_malloc(nodes * sizeof(*list.nodes));
	observe_set_duration(span_list_add(&list, "root", "graph", NULL, 0), total);
	cJSON_ArrayForEach(record, records) {
		const char *parent = span_list_node_of(&list, record);
		const char *model = json_str(record, "model");
		const cJSON *usage = json_get(record, "usage");
		int64_t at = trace_view_at(record);
		if (usage) {
			cJSON *span = span_list_add(&list, "llm", "llm.generate", parent, at);
			if (model)
				json_set(span, "model", cJSON_CreateString(model));
			json_set(span, "input_tokens", json_new_int(trace_view_nth(usage, 0)));
			json_set(span, "output_tokens", json_new_int(trace_view_nth(usage, 1)));
		}
		cJSON_ArrayForEach(call, json_get(record, "calls")) {
			char *title = xasprintf("tool: %s", call->valuestring);
			span_list_add(&list, "tool", title, parent, at);
			free(title);
		}
	}
	cJSON_free(list.nodes);
	return list.spans;
}

/* ---- events ---- */

static void trace_view_put_words(struct buf *out, const cJSON *words)
{
	const cJSON *word;
	cJSON_ArrayForEach(word, words) {
		buf_puts(out, word == words->child ? " " : ", ");
		buf_puts(out, word->valuestring);
	}
}

/* The first line of the table that applies. */
static void observe_put_summary(struct buf *out, const cJSON *record)
{
	const cJSON *calls = json_get(record, "calls"), *results = json_get(record, "results");
	const cJSON *usage = json_get(record, "usage"), *blocks = json_get(record, "blocks");
	const char *role = json_str(record, "role"), *status = json_str(record, "status");
	if (calls || results) {
		buf_puts(out, calls ? "tool_call" : "tool_result");
		trace_view_put_words(out, calls ? calls : results);
	} else if (usage) {
		buf_printf(out, "llm.generate · %" PRId64 " tokens", trace_view_nth(usage, 2));
	} else if (cJSON_IsTrue(json_get(record, "delta"))) {
		buf_puts(out, "delta");
	} else if (role && blocks) {
		buf_printf(out, "%s:", role);
		trace_view_put_words(out, blocks);
	} else {
		buf_puts(out, status ? status : json_str(record, "type"));
	}
}

static cJSON *observe_event_of(const cJSON *record, int number)
{
	char id[16];
	struct buf summary = {0};
	const char *node = json_str(record, "node");
	cJSON *event = cJSON_CreateObject();
	snprintf(id, sizeof(id), "e%d", number);
	observe_put_summary(&summary, record);
	cJSON_AddStringToObject(event, "id", id);
	cJSON_AddStringToObject(event, "type", json_str(record, "type"));
	cJSON_AddStringToObject(event, "node", node ? node : "");
	cJSON_AddItemToObject(
	    event, "offset_ms", json_new_double(trace_view_ms(trace_view_at(record))));
	cJSON_AddStringToObject(event, "summary", buf_str(&summary));
	buf_release(&summary);
	return event;
}

/* ---- the run ---- */

static void trace_view_add_time(cJSON *object, const char *key, int64_t us)
{
	cJSON_AddItemToObject(
	    object, key, us ? json_new_double((double)us / 1e6) : cJSON_CreateNull());
}

cJSON *trace_view(const struct trace_run *run, const cJSON *records)
{
	static const char *const statuses[] = {[TRACE_RUNNING] = "running",
	    [TRACE_DONE] = "done",
	    [TRACE_ERROR] = "error",
	    [TRACE_STOPPED] = "stopped"};
	int64_t end = run->last_at > run->finished_at ? run->last_at : run->finished_at;
	int64_t total = end - run->started_at;
	const cJSON *record;
	int number = 0;
	cJSON *view = cJSON_CreateObject();
	cJSON_AddStringToObject(view, "run_id", run->run_id);
	cJSON_AddStringToObject(view, "thread_id", run->thread_id);
	cJSON_AddStringToObject(
	    view, "status", run->status <= TRACE_STOPPED ? statuses[run->status] : "error");
	trace_view_add_time(view, "started_at", run->started_at);
	trace_view_add_time(
	    view, "finished_at", run->status == TRACE_RUNNING ? 0 : run->finished_at);
	cJSON_AddItemToObject(view, "duration_ms", json_new_double(trace_view_ms(total)));
	cJSON_AddItemToObject(view, "spans", observe_spans_of(records, total));
	cJSON *events = cJSON_AddArrayToObject(view, "events");
	cJSON_ArrayForEach(record, records) /* newest first */
		cJSON_InsertItemInArray(events, 0, observe_event_of(record, number++));
	cJSON *usage = cJSON_AddObjectToObject(view, "usage");
	json_add_int(usage, "prompt_tokens", run->totals.prompt);
	json_add_int(usage, "completion_tokens", run->totals.completion);
	json_add_int(usage, "reasoning_tokens", run->totals.reasoning);
	json_add_int(usage, "total_tokens", run->totals.total);
	json_add_int(view, "llm_calls", run->totals.llm_calls);
	json_add_int(view, "tool_calls", run->totals.tool_calls);
	json_add_int(view, "iterations", run->totals.iterations);
	return view;
}

/* ---- what is asked ---- */

/* What is waited for, because other instances may not have told it yet. */
struct awaited {
	const struct trace_view *view;
	int64_t since; /* they have told of what began earlier */
	int left;      /* how many more records are looked at */
	bool some;
};

static bool observe_note_awaited(void *arg, const struct run_record *record)
{
	struct awaited *awaited = arg;
	const struct trace_view *view = awaited->view;
	const struct trace_run *run = &view->run;
	bool there = false;
	for (size_t i = 0; !there && i < view->run_count; i++)
		there = strcmp(view->run_ids[i], record->run_id) == 0;
	/* what was found is of an earlier run with this id */
	if (view->found && run->finished_at && run->finished_at < record->started_at &&
	    strcmp(run->run_id, record->run_id) == 0)
		there = false;
	awaited->some = !there && record->started_at >= awaited->since;
	return --awaited->left > 0 && !awaited->some;
}

static bool observe_awaits(struct call *call, const struct trace_view *view, bool *some)
{
	struct storage *storage = call->service->storage;
	const struct record_filter filter = {.thread_id = view->run.thread_id, .statuses = ~0U};
	struct awaited awaited = {
	    .view = view, .since = clock_now() - TOLD_MS * 1000, .left = TRACES_RUNS};
	bool ok = storage->runs->list(
	    storage, &call->ctx, &filter, observe_note_awaited, &awaited, &call->error);
	*some = awaited.some;
	return ok;
}

static bool observe_holds(struct call *call, const struct trace_view *view, bool *holds)
{
	struct storage *storage = call->service->storage;
	const struct trace_run *run = &view->run;
	bool last = view->run_count && strcmp(view->run_ids[view->run_count - 1], run->run_id) == 0;
	*holds = false;
	return !last ||
	    storage->threads->lease_held(
		storage, &call->ctx, run->thread_id, holds, &call->error) ||
	    !error_is_set(&call->error);
}

/* Whether the run's record is at its end, which the trace is told of just after that. */
static bool observe_is_over(struct call *call, const struct trace_run *run)
{
	struct run_record record;
	return call_record(call, run->thread_id, run->run_id, &record) &&
	    !run_status_goes_on(record.status);
}

/*
 * Reads a trace, and finds runs whose process has died: a run tells its end before it gives up its
 * thread, so one that still goes on after its thread was seen to be free is dead.  The end of one
 * that is over by its record is waited for, and where several instances share the storage, what
 * takes a moment to be seen.  freed: no run has the thread.
 */
static bool observe_read_view(struct call *call, const char *thread_id, const char *run_id,
    bool freed, struct trace_view *view)
{
	struct traces *traces = call->service->traces;
	struct trace_run *run = &view->run;
	bool shared = call->service->storage->engine->can.instances;
	int64_t began = clock_monotonic_ms();
	for (;;) {
		bool told = clock_monotonic_ms() - began >= TOLD_MS, late = told || !shared;
		bool holds = true, awaits = false, over = false;
		if (!traces_read(
			traces, &call->ctx, call->arena, thread_id, run_id, view, &call->error))
			return false;
		bool open = view->found && run->status == TRACE_RUNNING;
		if (open && freed && late)
			break;
		if (open && !freed && !observe_holds(call, view, &holds))
			return false;
		if (open && !freed && holds && !told)
			over = observe_is_over(call, run);
		if (error_is_set(&call->error) || (!late && !observe_awaits(call, view, &awaits)))
			return false;
		if (holds && !(open && freed) && !over && !awaits)
			return true;
		if (!holds) {
			freed = true;
			run_id = run->run_id;
		}
		if (!late || over)
			clock_sleep_ms(LOOK_MS);
	}
	/* stored, so that no later run on the thread makes this one look alive */
	const struct trace_piece none = {.first = 1};
	uint64_t place = 0;
	run->status = TRACE_ERROR;
	run->finished_at = run->last_at;
	traces_put(traces, run, &none, &place);
	return true;
}

cJSON *observe_thread(struct call *call, const char *thread_id, const char *run_id)
{
	struct trace_view view = {0};
	struct thread thread;
	if (!thread_id_check(call, "path.thread_id", thread_id))
		return NULL;
	/* A thread of somebody else's is refused.  One that is not stored is nobody's yet: it has
	 * no traces, though its first run may have begun. */
	bool is_stored = call_thread(call, thread_id, &thread);
	if (is_stored ? !call_owns(call, &thread) : error_is_set(&call->error))
		return NULL;
	if (is_stored && call->service->traces &&
	    !observe_read_view(call, thread_id, run_id, false, &view))
		return NULL;
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	cJSON_AddStringToObject(data, "thread_id", thread_id);
	json_add_int(data, "run_count", (int64_t)view.run_count);
	cJSON *ids = cJSON_AddArrayToObject(data, "run_ids");
	for (size_t i = 0; i < view.run_count; i++)
		cJSON_AddItemToArray(ids, cJSON_CreateString(view.run_ids[i]));
	if (!view.found) {
		cJSON_AddNullToObject(data, "run");
		return data;
	}
	cJSON *records = json_parse_own(view.records);
	cJSON_AddItemToObject(data, "run", trace_view(&view.run, records));
	cJSON_Delete(records);
	return data;
}

bool observe_forget(struct call *call, const char *thread_id)
{
	struct traces *traces = call->service->traces;
	struct trace_view view = {0};
	/* what another instance has not told yet would be there again afterwards */
	if (traces && call->service->storage->engine->can.instances &&
	    !observe_read_view(call, thread_id, NULL, true, &view))
		return false;
	return !traces || traces_forget(traces, &call->ctx, thread_id, &call->error);
}
