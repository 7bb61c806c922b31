/* SPDX-License-Identifier: ISC */
/* Finding the message whose calls are open, and which of them have a result. */
#include "graph/nodes/tools/asking.h"

#include "base/json/json.h"
#include "graph/message/message.h"
#include "graph/run_internal.h"

#include <string.h>

/* The latest message that a node of this run made and that asks for tools, else the one that a
 * pause, or the step that the run goes on from, left open: what the run was given comes after that.
 */
void asking_find(ag_run *run, struct asking *asking)
{
	const cJSON *message;
	size_t i = 0;
	*asking = (struct asking){.later = run->messages.array->child};
	cJSON_ArrayForEach(message, run->messages.array) {
		if (i++ < run->messages.brought || !message_has_calls(message))
			continue;
		asking->message = message;
		asking->later = message->next;
	}
	if (asking->message || !run->asked)
		return;
	cJSON_ArrayForEach(message, ag_context(&run->state)) {
		if (asking->message || strcmp(message_id(message), run->asked) != 0)
			continue;
		asking->message = message;
		asking->later = message->next;
	}
}

bool asking_is_answered(const struct asking *asking, const char *call_id)
{
	const cJSON *message, *block;
	for (message = asking->later; message; message = message->next) {
		cJSON_ArrayForEach(block, json_get(message, "content")) {
			if (json_str_is(block, "call_id", call_id))
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
