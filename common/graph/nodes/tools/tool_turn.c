/* SPDX-License-Identifier: ISC */
/* What the calls of a message say, kept until it is their turn. */
#include "graph/nodes/tools/tool_calls.h"

#include "base/os/clock.h"

#include <string.h>

void tool_call_say_kept(struct tool_call *call)
{
	ag_run *run = call->calls->run;
	cJSON *entry;
	cJSON_ArrayForEach(entry, call->kept) {
		cJSON *said = cJSON_DetachItemViaPointer(entry, entry->child);
		if (strcmp(said->string, "message") == 0) {
			run_add_message(run, said);
			continue;
		}
		if (strcmp(said->string, "piece") == 0) {
			run_show_piece(run, said, NULL);
		} else if (strcmp(said->string, "custom") == 0) {
			run_show_custom(run, said);
		} else {
			cJSON *value = cJSON_DetachItemViaPointer(said, said->child);
			cJSON_AddItemToObject(run->frame.updates, value->string, value);
		}
		cJSON_Delete(said);
	}
	cJSON_Delete(call->kept);
	call->kept = NULL;
}

static bool tool_call_has_turn(const struct tool_call *call)
{
	return call == &call->calls->items[call->calls->turn];
}

static void tool_call_keep(struct tool_call *call, const char *kind, cJSON *said)
{
	cJSON *entry = cJSON_CreateObject();
	cJSON_AddItemToObject(entry, kind, said);
	if (!call->kept)
		call->kept = cJSON_CreateArray();
	cJSON_AddItemToArray(call->kept, entry);
}

void tool_call_piece(struct tool_call *call, const cJSON *piece)
{
	pthread_mutex_lock(&call->calls->lock);
	if (tool_call_has_turn(call))
		run_show_piece(call->calls->run, piece, NULL);
	else
		tool_call_keep(call, "piece", cJSON_Duplicate(piece, true));
	pthread_mutex_unlock(&call->calls->lock);
}

void tool_call_custom(struct tool_call *call, const cJSON *event)
{
	pthread_mutex_lock(&call->calls->lock);
	if (tool_call_has_turn(call))
		run_show_custom(call->calls->run, event);
	else
		tool_call_keep(call, "custom", cJSON_Duplicate(event, true));
	pthread_mutex_unlock(&call->calls->lock);
}

void tool_call_streams(struct tool_call *call)
{
	pthread_mutex_lock(&call->calls->lock);
	call->calls->run->frame.streamed = true;
	pthread_mutex_unlock(&call->calls->lock);
}

void tool_call_message(struct tool_call *call, cJSON *message)
{
	pthread_mutex_lock(&call->calls->lock);
	if (tool_call_has_turn(call))
		run_add_message(call->calls->run, message);
	else
		tool_call_keep(call, "message", message);
	pthread_mutex_unlock(&call->calls->lock);
}

void tool_call_update(struct tool_call *call, const char *field, cJSON *value)
{
	pthread_mutex_lock(&call->calls->lock);
	if (tool_call_has_turn(call)) {
		cJSON_AddItemToObject(call->calls->run->frame.updates, field, value);
	} else {
		cJSON *update = cJSON_CreateObject();
		cJSON_AddItemToObject(update, field, value);
		tool_call_keep(call, "update", update);
	}
	pthread_mutex_unlock(&call->calls->lock);
}

ag_run *tool_call_turn(struct tool_call *call)
{
	struct tool_calls *calls = call->calls;
	int64_t start = clock_monotonic_ms();
	pthread_mutex_lock(&calls->lock);
	while (!tool_call_has_turn(call) && !calls->paused)
		pthread_cond_wait(&calls->turned, &calls->lock);
	bool turn = tool_call_has_turn(call);
	pthread_mutex_unlock(&calls->lock);
	/* the time that others took does not count */
	int64_t *deadline = &call->view.frame.deadline, most = calls->run->frame.deadline;
	*deadline += clock_monotonic_ms() - start;
	if (*deadline > most)
		*deadline = most;
	return turn ? calls->run : NULL;
}
