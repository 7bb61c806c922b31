/* SPDX-License-Identifier: ISC */
/* /lg: LangGraph's protocol (doc/protocol-langgraph.md). */
#include "service/langgraph/langgraph.h"

#include "base/json/json.h"
#include "fcgi/follow.h"
#include "fcgi/handlers/handlers.h"
#include "fcgi/request/query.h"
#include "fcgi/request/request.h"
#include "service/langgraph/lg_run.h"
#include "service/langgraph/lg_store.h"
#include "service/run/records.h"

#include <string.h>

#define LG_WAIT 1800 /* seconds; the web server waits no longer than an hour */
#define LG_MODES_MOST 16

/* ---- the server and its assistant ---- */

void get_lg_ok(struct request *rq)
{
	reply_bare(rq, lg_ok(&rq->call));
}

void get_lg_info(struct request *rq)
{
	reply_bare(rq, lg_info(&rq->call));
}

void post_lg_assistants(struct request *rq)
{
	reply_bare(rq, lg_assistants(&rq->call, rq->body));
}

void post_lg_assistants_count(struct request *rq)
{
	reply_bare(rq, lg_assistants_count(&rq->call, rq->body));
}

void get_lg_assistant(struct request *rq)
{
	reply_bare(rq, lg_assistant(&rq->call, rq->match.ids[0]));
}

void get_lg_assistant_graph(struct request *rq)
{
	reply_bare(rq, lg_assistant_graph(&rq->call, rq->match.ids[0]));
}

void get_lg_assistant_schemas(struct request *rq)
{
	reply_bare(rq, lg_assistant_schemas(&rq->call, rq->match.ids[0]));
}

cJSON *lg_error_body(struct request *rq, const struct error_view *view)
{
	return lg_error(&rq->call, view);
}

/* ---- threads ---- */

static void lg_reply_empty(struct request *rq, bool ok)
{
	if (ok)
		reply_empty(rq, 204);
	else
		reply_error(rq);
}

static void lg_reply(struct request *rq, bool ok, const struct lg_reply *reply)
{
	if (ok)
		reply_parts(rq, lg_reply_put, reply);
	else
		reply_error(rq);
}

void post_lg_threads(struct request *rq)
{
	struct lg_reply reply;
	lg_reply(rq, lg_thread_create(&rq->call, rq->body, &reply), &reply);
}

void get_lg_thread(struct request *rq)
{
	struct lg_reply reply;
	lg_reply(rq, lg_thread_read(&rq->call, rq->match.ids[0], &reply), &reply);
}

void patch_lg_thread(struct request *rq)
{
	struct lg_reply reply;
	lg_reply(rq, lg_thread_update(&rq->call, rq->match.ids[0], rq->body, &reply), &reply);
}

void delete_lg_thread(struct request *rq)
{
	lg_reply_empty(rq, lg_thread_remove(&rq->call, rq->match.ids[0]));
}

void post_lg_prune(struct request *rq)
{
	reply_bare(rq, lg_threads_prune(&rq->call, rq->body));
}

void post_lg_copy(struct request *rq)
{
	struct lg_reply reply;
	lg_reply(rq, lg_thread_copy(&rq->call, rq->match.ids[0], &reply), &reply);
}

void post_lg_threads_search(struct request *rq)
{
	struct lg_reply reply;
	lg_reply(rq, lg_threads_search(&rq->call, rq->body, &reply), &reply);
}

void post_lg_threads_count(struct request *rq)
{
	reply_bare(rq, lg_threads_count(&rq->call, rq->body));
}

/* ---- states ---- */

void get_lg_state(struct request *rq)
{
	struct lg_reply reply;
	lg_reply(rq, lg_state_read(&rq->call, rq->match.ids[0], NULL, &reply), &reply);
}

void get_lg_state_at(struct request *rq)
{
	struct lg_reply reply;
	lg_reply(rq, lg_state_read(&rq->call, rq->match.ids[0], rq->match.ids[1], &reply), &reply);
}

void post_lg_state_at(struct request *rq)
{
	struct lg_reply reply;
	lg_reply(rq, lg_state_named(&rq->call, rq->match.ids[0], rq->body, &reply), &reply);
}

void post_lg_state(struct request *rq)
{
	reply_bare(rq, lg_state_update(&rq->call, rq->match.ids[0], rq->body));
}

void post_lg_history(struct request *rq)
{
	struct lg_reply reply;
	lg_reply(rq, lg_history(&rq->call, rq->match.ids[0], rq->body, &reply), &reply);
}

/* The same by query: limit is a number there, before the id of a checkpoint. */
void get_lg_history(struct request *rq)
{
	struct query_field fields[] = {{.name = "limit"}, {.name = "before"}};
	struct lg_reply reply;
	bool ok = query_read(rq->call.arena, rq->path.query, fields, 2, &rq->call.error);
	const struct lg_history_query query = {.limit = fields[0].value, .before = fields[1].value};
	lg_reply(
	    rq, ok && lg_history_by_query(&rq->call, rq->match.ids[0], &query, &reply), &reply);
}

/* ---- runs ---- */

/* Pages of other origins look there for the run's id, and for its stream, which may be NULL. */
static void lg_say_location(struct request *rq, const char *location, const char *stream)
{
	if (location)
		response_header(rq, "Content-Location", location);
	if (stream)
		response_header(rq, "Location", stream);
	rq->response->exposed = "Content-Location, Location";
}

static void lg_wait(struct request *rq, const char *thread_id)
{
	struct lg_reply reply;
	struct lg_run run;
	if (!lg_run_open(&rq->call, thread_id, rq->body, &run)) {
		reply_error(rq);
		return;
	}
	lg_say_location(rq, run.location, NULL);
	bool ok = lg_run_wait(&run, &reply);
	lg_run_close(&run);
	if (ok && run.failure)
		reply_bare(rq, run.failure);
	else
		lg_reply(rq, ok, &reply);
}

static void lg_stream(struct request *rq, const char *thread_id)
{
	struct reply_stream stream;
	struct lg_run run;
	reply_stream_init(&stream, rq);
	if (!lg_run_open(&rq->call, thread_id, rq->body, &run)) {
		reply_error(rq);
		return;
	}
	/* a run about no thread has none that can be taken up again */
	const char *stream_of =
	    thread_id ? arena_printf(rq->call.arena, "%s/stream", run.location) : NULL;
	lg_say_location(rq, run.location, stream_of);
	if (!lg_run_stream(&run, &stream.sink))
		reply_error(rq);
	lg_run_close(&run);
}

void post_lg_run_wait(struct request *rq)
{
	lg_wait(rq, rq->match.ids[0]);
}

void post_lg_run_stream(struct request *rq)
{
	lg_stream(rq, rq->match.ids[0]);
}

void post_lg_wait(struct request *rq)
{
	lg_wait(rq, NULL);
}

void post_lg_stream(struct request *rq)
{
	lg_stream(rq, NULL);
}

void post_lg_runs(struct request *rq)
{
	cJSON *run = lg_run_create(&rq->call, rq->match.ids[0], rq->body);
	const char *id = run ? json_str(run, "run_id") : NULL;
	if (id)
		lg_say_location(rq, lg_run_location(&rq->call, rq->match.ids[0], id), NULL);
	reply_bare(rq, run);
}

void get_lg_runs(struct request *rq)
{
	struct query_field fields[] = {{.name = "limit"}, {.name = "offset"}, {.name = "status"}};
	query_read(rq->call.arena, rq->path.query, fields, 3, &rq->call.error);
	struct record_query query = {.limit = fields[0].value ? fields[0].value : "10",
	    .offset = fields[1].value,
	    .status = fields[2].value};
	reply_bare(rq, lg_runs_list(&rq->call, rq->match.ids[0], &query));
}

void get_lg_run(struct request *rq)
{
	reply_bare(rq, lg_run_read(&rq->call, rq->match.ids[0], rq->match.ids[1]));
}

void delete_lg_run(struct request *rq)
{
	lg_reply_empty(rq, lg_run_remove(&rq->call, rq->match.ids[0], rq->match.ids[1]));
}

void post_lg_cancel(struct request *rq)
{
	struct query_field action = {.name = "action"};
	lg_reply_empty(rq,
	    query_read(rq->call.arena, rq->path.query, &action, 1, &rq->call.error) &&
		lg_runs_cancel(&rq->call, rq->body, action.value));
}

static bool lg_is_yes(const char *value)
{
	return value && (strcmp(value, "1") == 0 || strcmp(value, "true") == 0);
}

void post_lg_run_cancel(struct request *rq)
{
	struct query_field fields[] = {{.name = "action"}, {.name = "wait"}};
	if (!query_read(rq->call.arena, rq->path.query, fields, 2, &rq->call.error) ||
	    !lg_run_cancel(&rq->call, rq->match.ids[0], rq->match.ids[1], fields[0].value))
		reply_error(rq);
	else if (lg_is_yes(fields[1].value))
		follow_wait(rq, &(struct follow_wish){.seconds = LG_WAIT, .silent = true});
	else
		reply_empty(rq, 204);
}

/* ---- runs that are followed ---- */

/* Whether the run ends with its client's connection, as cancel_on_disconnect says.  It is stopped
 * then, which takes the right to. */
static bool lg_read_cancels(struct request *rq, bool *cancels)
{
	struct query_field field = {.name = "cancel_on_disconnect"};
	const struct permission stops = {"graph", "stop", rq->match.ids[0]};
	if (!query_read(rq->call.arena, rq->path.query, &field, 1, &rq->call.error))
		return false;
	*cancels = lg_is_yes(field.value);
	return !*cancels || call_permit(&rq->call, &stops);
}

void get_lg_run_stream(struct request *rq)
{
	struct call *call = &rq->call;
	const char *thread_id = rq->match.ids[0], *run_id = rq->match.ids[1];
	const char *last = param_find(rq->client->params, "HTTP_LAST_EVENT_ID");
	const char *modes[LG_MODES_MOST];
	struct lg_follow_query query = {
	    .last_event_id = *last ? last : NULL, .modes = modes, .mode_count = LG_MODES_MOST};
	struct lg_follow follow;
	bool cancels;
	if (!lg_read_cancels(rq, &cancels) ||
	    !query_values(call->arena, rq->path.query, "stream_mode", modes, &query.mode_count,
		&call->error) ||
	    !lg_run_follow(call, thread_id, run_id, &query, &follow)) {
		reply_error(rq);
		return;
	}
	const char *location = lg_run_location(call, thread_id, run_id);
	lg_say_location(rq, location, arena_printf(call->arena, "%s/stream", location));
	if (rq->method == METHOD_HEAD) {
		reply_stream_head(rq);
		return;
	}
	struct run_ticket ticket = follow_ticket(rq, RUN_TICKET_STREAM, &follow.record);
	ticket.after = follow.after;
	ticket.skip = follow.skip;
	ticket.modes = follow.modes;
	ticket.langgraph = ticket.events = true;
	ticket.granularity = GRANULARITY_FULL;
	ticket.cancels = cancels;
	follow_stream(rq, &ticket);
}

void get_lg_run_join(struct request *rq)
{
	struct lg_reply reply;
	cJSON *failure = NULL;
	bool active = false, cancels;
	bool ok = lg_read_cancels(rq, &cancels) &&
	    lg_run_join(&rq->call, rq->match.ids[0], rq->match.ids[1], &active, &failure, &reply);
	if (active && !rq->waited && rq->method == METHOD_GET) {
		follow_wait(rq, &(struct follow_wish){.seconds = LG_WAIT, .cancels = cancels});
	} else if (active) { /* by which such a client asks again */
		error_set(&rq->call.error, ERR_SERVICE_UNAVAILABLE, "The run goes on");
		reply_error(rq);
	} else if (failure) {
		reply_bare(rq, failure);
	} else {
		lg_reply(rq, ok, &reply);
	}
}

/* ---- the store ---- */

void put_lg_item(struct request *rq)
{
	lg_reply_empty(rq, lg_item_put(&rq->call, rq->body));
}

void delete_lg_item(struct request *rq)
{
	lg_reply_empty(rq, lg_item_remove(&rq->call, rq->body));
}

void get_lg_item(struct request *rq)
{
	struct query_field fields[] = {{.name = "namespace"}, {.name = "key"}};
	query_read(rq->call.arena, rq->path.query, fields, 2, &rq->call.error);
	reply_bare(rq, lg_item_read(&rq->call, fields[0].value, fields[1].value));
}

void post_lg_items(struct request *rq)
{
	reply_bare(rq, lg_items_search(&rq->call, rq->body));
}

void post_lg_namespaces(struct request *rq)
{
	reply_bare(rq, lg_namespaces(&rq->call, rq->body));
}
