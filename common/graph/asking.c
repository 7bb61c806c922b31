/* SPDX-License-Identifier: ISC */
/* Finding the message whose calls are open, and which of them have a result. */
#include "graph/asking.h"

#include "base/json.h"
#include "graph/message.h"
#include "graph/run_internal.h"
#include "graph/state.h"

#include <string.h>

/* The latest message that a node of this run made and that asks for tools. */
static const cJSON *made_here(const ag_run *run)
{
	const cJSON *message, *found = NULL;
	size_t i = 0;
	cJSON_ArrayForEach(message, run->messages.array) {
		if (i++ >= run->messages.brought && message_has_calls(message))
			found = message;
	}
	return found;
}

static const cJSON *in_context(ag_run *run, const char *id)
{
	const cJSON *message;
	cJSON_ArrayForEach(message, ag_context(&run->state)) {
		if (strcmp(message_id(message), id) == 0)
			return message;
	}
	return NULL;
}

/* What the run was given comes after a message that a pause left open. */
void asking_find(ag_run *run, struct asking *asking)
{
	asking->message = made_here(run);
	asking->later = asking->message ? asking->message->next : run->messages.array->child;
	if (!asking->message && run->asked)
		asking->message = in_context(run, run->asked);
}

bool asking_is_answered(const struct asking *asking, const char *call_id)
{
	const cJSON *message, *block;
	for (message = asking->later; message; message = message->next) {
		cJSON_ArrayForEach(block, json_get(message, "content")) {
			const char *id = json_str(block, "call_id");
			if (id && strcmp(id, call_id) == 0)
				return true;
		}
	}
	return false;
}

const char *asking_open(ag_run *run)
{
	struct asking asking;
	const cJSON *block;
	asking_find(run, &asking);
	cJSON_ArrayForEach(block, json_get(asking.message, "content")) {
		if (block_is_call(block) && !asking_is_answered(&asking, json_str(block, "id")))
			return message_id(asking.message);
	}
	return NULL;
}

void asking_recall(ag_run *run)
{
	const char *text = run->thread.pause_json;
	if (!text)
		return;
	cJSON *pause = json_parse(text, strlen(text), JSON_TRUSTED_DEPTH, NULL);
	const char *asked = pause_asked(pause);
	run->asked = asked ? arena_strdup(run->setup.arena, asked) : NULL;
	cJSON_Delete(pause);
}
