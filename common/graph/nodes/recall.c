/* SPDX-License-Identifier: ISC */
/* Searching with the user's own words, and the memories found as a list of text. */
#include "graph/nodes/recall.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "graph/document/document.h"
#include "graph/run_internal.h"

#include <stdlib.h>
#include <string.h>

char *memory_text(const cJSON *memory)
{
	const cJSON *content = json_get(memory, "content");
	const char *text = json_str(memory, "content");
	if (text)
		return xstrdup(text);
	const char *plain = json_str(content, "content");
	return plain ? xstrdup(plain) : ag_message_text(content);
}

char *recall(ag_run *run, const ag_state *state, const cJSON *search)
{
	const char *said = ag_user_text(state);
	const cJSON *found, *memory;
	struct buf list = {0};
	if (!said[strspn(said, " \t\r\n")])
		return NULL;
	const struct values values = {run, state, NULL};
	cJSON *body = values_json(search, &values);
	json_add_str(body, "query", said);
	if (ag_store_search(run, body, &found) != AG_OK) {
		ag_log(run, "memories cannot be recalled: %s", run->frame.failure);
		return NULL;
	}
	cJSON_ArrayForEach(memory, json_get(found, "results")) {
		char *text = memory_text(memory);
		buf_puts(&list, list.len ? "\n- " : "- ");
		for (const char *p = text; *p; p++) {
			buf_putc(&list, *p);
			if (*p == '\n') /* several lines stay one item */
				buf_puts(&list, "  ");
		}
		free(text);
	}
	return list.len ? buf_detach(&list) : NULL;
}
