/* SPDX-License-Identifier: ISC */
/* Runs in the storage of a state directory, by the use cases that the routes have. */
#include "base/json/json.h"
#include "base/memory.h"
#include "cli/source/ask_state.h"
#include "cli/source/run_source.h"
#include "service/run/background/background.h"
#include "service/run/stream/replay.h"
#include "storage/queue.h"
#include "storage/storage.h"

#include <stdlib.h>

#define LOOK_MS 1000 /* a process that died has told nobody that its run is over */
#define LATE_LOOKS 10

struct run_state {
	struct run_source source;
	struct state_service service;
};

static struct state_service *state_of(struct run_source *source)
{
	return &((struct run_state *)source)->service;
}

static cJSON *run_state_list(
    struct run_source *source, const struct record_query *query, struct error *err)
{
	struct call *call = state_begin(state_of(source));
	return state_end(state_of(source), records_list(call, query), err);
}

static cJSON *run_state_read(
    struct run_source *source, const struct run_name *run, struct error *err)
{
	struct call *call = state_begin(state_of(source));
	return state_end(state_of(source), record_read(call, run->thread, run->id), err);
}

static cJSON *run_state_stop(
    struct run_source *source, const struct run_name *run, struct error *err)
{
	struct call *call = state_begin(state_of(source));
	return state_end(state_of(source), record_stop(call, run->thread, run->id, NULL), err);
}

static cJSON *run_state_result(
    struct run_source *source, const struct run_name *run, struct error *err)
{
	struct shared *shared = state_of(source)->service->shared;
	for (bool told = false;; told = true) {
		uint32_t seen = bell_word(shared, BELL_CHUNKS);
		struct call *call = state_begin(state_of(source));
		bool active;
		cJSON *data = state_end(state_of(source),
		    record_result(call, run->thread, run->id, NULL, &active), err);
		if (!data || !active)
			return data;
		cJSON_Delete(data);
		if (!told)
			state_say_unserved(state_of(source));
		chunks_wait(shared, seen, LOOK_MS);
	}
}

/* ---- following ---- */

struct run_state_reader {
	struct replay replay;
	struct replay_place place;
	struct buf out; /* a line, until it is whole */
	int late;       /* how often the run was seen to be over without its terminator */
	bool over;      /* the run is over */
};

static void run_state_hand_line_on(void *arg, char *line, size_t len)
{
	const struct run_follow *follow = *(const struct run_follow **)arg;
	follow->chunk(follow->arg, line, len);
}

/*
 * Hands on the chunks that are there now, at most up to the terminator, which sets *ends, and then
 * waits for a while if the run goes on.  The terminator follows the end of the record at once,
 * unless the process died in between: it is written here if it has not come for a while, or if the
 * run never began, as then nobody else would write it.
 */
static bool run_state_look(struct call *call, const struct run_name *run,
    const struct run_follow *follow, struct run_state_reader *r, bool *ends)
{
	struct shared *shared = call->service->shared;
	struct thread thread;
	struct run_record record;
	uint32_t seen = bell_word(shared, BELL_CHUNKS);
	bool known = call_thread(call, run->thread, &thread);
	if (!known && !error_is_set(&call->error))
		return error_set(&call->error, ERR_RESOURCE_NOT_FOUND, "Thread not found");
	if (error_is_set(&call->error) || !call_record(call, run->thread, run->id, &record))
		return error_set(&call->error, ERR_RESOURCE_NOT_FOUND, "Run not found");
	if (record.kept_until == RUN_NOT_KEPT)
		return error_set(&call->error, ERR_RESOURCE_NOT_FOUND,
		    "The chunks of run %s were not kept", run->id);
	r->replay.reader.storage = call->service->storage;
	r->replay.reader.run = record_key(&record);
	while (!*ends) {
		size_t held = r->out.len, scanned = 0;
		if (!replay_read(&r->replay, &r->place, &r->out, ends, &call->error))
			return false;
		if (r->out.len == held)
			break;
		buf_take_lines(&r->out, &scanned, run_state_hand_line_on, &follow);
	}
	r->over = !run_status_goes_on(record.status);
	if (*ends || (r->over && (!record.started_at || r->late++ >= LATE_LOOKS)))
		return *ends || replay_end(call, &record, &thread);
	chunks_wait(shared, seen, LOOK_MS);
	return true;
}

static bool run_state_follow(struct run_source *source, const struct run_name *run,
    const struct run_follow *follow, struct error *err)
{
	struct run_state_reader reader = {.place.after = follow->after};
	bool ends = false, ok = true, told = false;
	while (ok && !ends) {
		struct call *call = state_begin(state_of(source));
		ok = granularity_read(call, "granularity", follow->granularity,
			 &reader.replay.reader.granularity) &&
		    run_state_look(call, run, follow, &reader, &ends);
		state_end(state_of(source), NULL, err);
		if (ok && !ends && !reader.over && !told)
			state_say_unserved(state_of(source));
		told = true;
	}
	buf_release(&reader.out);
	return ends;
}

/* ---- submitting ---- */

static cJSON *run_state_submit(struct run_source *source, const cJSON *body, struct error *err)
{
	struct call *call = state_begin(state_of(source));
	const char *thread_id = json_str(json_opt(body, "config"), "thread_id");
	bool known = state_identify(state_of(source), thread_id);
	return state_end(state_of(source), known ? background_submit(call, body, NULL) : NULL, err);
}

/* ---- opening ---- */

static void run_state_close(struct run_source *source)
{
	state_service_close(state_of(source));
	free(source);
}

struct run_source *run_source_of_state(const struct config_source *where, const char *user_id)
{
	struct run_state *at = xcalloc(1, sizeof(*at));
	at->source = (struct run_source){.list = run_state_list,
	    .read = run_state_read,
	    .stop = run_state_stop,
	    .submit = run_state_submit,
	    .result = run_state_result,
	    .follow = run_state_follow,
	    .close = run_state_close};
	if (state_service_open(&at->service, where, user_id))
		return &at->source;
	free(at);
	return NULL;
}
