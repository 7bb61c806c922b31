/* SPDX-License-Identifier: ISC */
/* Ids of checkpoints, checkpoints as clients see them, finding one, and making a thread go on from
 * it. */
#include "service/history/earlier.h"

#include "base/json/json.h"
#include "base/os/clock.h"
#include "graph/state.h"
#include "service/thread/change.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ID_DIGITS 16 /* so many that ids sort like their numbers */

const struct choice earlier_sources[] = {
    {"run", CHECKPOINT_RUN},
    {"step", CHECKPOINT_STEP},
    {"update", CHECKPOINT_UPDATE},
    {"rewind", CHECKPOINT_REWIND},
    {"copy", CHECKPOINT_COPY},
    {NULL, CHECKPOINT_NONE},
};

const char *earlier_source_name(enum checkpoint_source source)
{
	const struct choice *choice = earlier_sources;
	while (choice->name && choice->value != (int)source)
		choice++;
	return choice->name ? choice->name : "";
}

enum checkpoint_source earlier_of_update(const struct call *call)
{
	return call->service->config->history_level == HISTORY_OFF ? CHECKPOINT_NONE
								   : CHECKPOINT_UPDATE;
}

/* ---- what a checkpoint says ---- */

const char *earlier_id(struct arena *a, int64_t number)
{
	return arena_printf(a, "%0*" PRIx64, ID_DIGITS, (uint64_t)number);
}

void earlier_add_id(cJSON *out, const char *name, int64_t number)
{
	char id[ID_DIGITS + 1];
	snprintf(id, sizeof(id), "%0*" PRIx64, ID_DIGITS, (uint64_t)number);
	json_add_str(out, name, number ? id : NULL);
}

cJSON *earlier_record(const struct checkpoint *checkpoint)
{
	const struct thread *t = &checkpoint->thread;
	enum checkpoint_source source = checkpoint->source;
	bool of_run = source == CHECKPOINT_RUN || source == CHECKPOINT_STEP;
	/* RUN_RUNNING in any but a step was left by a process that died */
	bool lost = t->status == RUN_RUNNING && source != CHECKPOINT_STEP;
	char time[ISO_TIME_SIZE];
	cJSON *out = cJSON_CreateObject();
	earlier_add_id(out, "checkpoint_id", checkpoint->number);
	earlier_add_id(out, "parent_checkpoint_id", checkpoint->parent);
	cJSON_AddStringToObject(out, "thread_id", t->thread_id);
	json_add_str(out, "run_id", of_run ? t->run_id : NULL);
	cJSON_AddStringToObject(out, "source", earlier_source_name(source));
	cJSON_AddStringToObject(out, "status", run_status_name(lost ? RUN_ERROR : t->status));
	json_add_int(out, "step", t->step);
	cJSON_AddStringToObject(out, "node", t->node);
	json_add_str(out, "next", lost ? NULL : t->next);
	json_add_int(out, "message_count", checkpoint->message_count);
	cJSON_AddStringToObject(out, "created_at", clock_iso(checkpoint->number, time));
	return out;
}

/* ---- finding one ---- */

int64_t earlier_number(const char *id)
{
	int64_t number = 0;
	if (strlen(id) != ID_DIGITS || strspn(id, "0123456789abcdef") != ID_DIGITS || *id > '7')
		return 0;
	sscanf(id, "%" SCNx64, (uint64_t *)&number);
	return number;
}

bool earlier_not_found(struct call *call)
{
	return error_set(&call->error, ERR_RESOURCE_NOT_FOUND, "Checkpoint not found");
}

bool earlier_find(struct call *call, const struct thread *thread, const char *checkpoint_id,
    struct checkpoint *checkpoint)
{
	struct storage *storage = call->service->storage;
	int64_t number = earlier_number(checkpoint_id);
	if (number &&
	    storage->history->get(
		storage, &call->ctx, call->arena, thread, number, checkpoint, &call->error))
		return true;
	return !error_is_set(&call->error) && earlier_not_found(call);
}

struct earlier_seen {
	int64_t number;
	enum checkpoint_source source;
};

static bool earlier_note(void *arg, const struct checkpoint *checkpoint)
{
	*(struct earlier_seen *)arg = (struct earlier_seen){checkpoint->number, checkpoint->source};
	return false;
}

bool earlier_after_run(struct call *call, const struct thread *thread, const char *run_id,
    struct checkpoint *checkpoint)
{
	struct storage *storage = call->service->storage;
	const struct checkpoint_filter filter = {.run_id = run_id, .limit = 1};
	struct earlier_seen latest = {0};
	return storage->history->list(
		   storage, &call->ctx, thread, &filter, earlier_note, &latest, &call->error) &&
	    latest.source == CHECKPOINT_RUN &&
	    storage->history->get(
		storage, &call->ctx, call->arena, thread, latest.number, checkpoint, &call->error);
}

/* ---- going on from one ---- */

struct earlier_look {
	struct call *call;
	const struct thread *thread;
};

static bool earlier_lacks(void *arg, const char *message_id)
{
	struct earlier_look *look = arg;
	struct call *call = look->call;
	struct storage *storage = call->service->storage;
	const struct thread *t = look->thread;
	struct message_known message = {.message_id = message_id};
	return storage->threads->messages_known(
		   storage, &call->ctx, t->row, &t->view, &message, 1, &call->error) &&
	    !message.known;
}

bool earlier_ready(struct call *call, struct thread *thread, bool in_run)
{
	struct earlier_look look = {call, thread};
	if (thread->status == RUN_RUNNING && in_run) {
		thread->status = RUN_STOPPED;
		thread->stop = STOP_DONE;
	} else if (thread->status == RUN_RUNNING) {
		thread->status = RUN_ERROR;
		thread->next = NULL;
	}
	thread_close_gone(thread, earlier_lacks, &look);
	return !error_is_set(&call->error);
}

bool earlier_take(struct call *call, const struct thread *thread, const char *checkpoint_id,
    struct checkpoint *checkpoint)
{
	return earlier_find(call, thread, checkpoint_id, checkpoint) &&
	    earlier_ready(call, &checkpoint->thread, checkpoint->source == CHECKPOINT_STEP);
}

bool earlier_goes_on(struct call *call, const struct checkpoint *checkpoint)
{
	const struct thread *t = &checkpoint->thread;
	if ((t->status == RUN_INTERRUPTED && t->pause_json) || t->next)
		return true;
	return error_set(&call->error, ERR_INVALID_INPUT, "Nothing follows this checkpoint");
}
