/* SPDX-License-Identifier: ISC */
/*
 * Messages: the input is a JSON array of them.  Whatever each is, from a client or from a node, the
 * result is a mistake with a text, or its output form, whose own output form is the same.
 */
#include "graph/message/message.h"
#include "base/json/json.h"
#include "base/utf8.h"
#include "graph/nodes/model_node.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

static const struct id_source ids;

static void check_mistake(const struct error *err)
{
	char *details = json_print(err->details);
	require(error_status_of(err) == 422 && err->detail[0]);
	require(utf8_valid(err->detail, strlen(err->detail)));
	require(utf8_valid(details, strlen(details)));
	free(details);
}

/* Checks that a node which hands on a stored message can read it again. */
static void check_form(const cJSON *message)
{
	struct error err = {0};
	struct buf text = {0};
	cJSON *again =
	    message_normalise(message, "body.messages[0]", MESSAGE_FROM_NODE, &ids, &err);
	require(again && cJSON_IsArray(json_get(again, "content")));
	require(cJSON_GetArraySize(message) == 11 && cJSON_GetArraySize(again) == 11);
	require(json_equal(json_get(message, "content"), json_get(again, "content")));
	require(!strcmp(message_id(message), message_id(again)));
	require(message_has_calls(message) == message_has_calls(again));
	message_text(message, &text);
	require(utf8_valid(buf_str(&text), text.len));
	require(window_tokens(message) > 0);
	buf_release(&text);
	cJSON_Delete(again);
	error_release(&err);
}

static cJSON *read_message(const cJSON *input, enum message_origin origin)
{
	struct error err = {0};
	cJSON *message = message_normalise(input, "body.messages[0]", origin, &ids, &err);
	require((message != NULL) != error_is_set(&err));
	if (message)
		check_form(message);
	else
		check_mistake(&err);
	error_release(&err);
	return message;
}

static void check_window(const cJSON *context)
{
	size_t count = (size_t)cJSON_GetArraySize(context);
	for (size_t max = 1; max < 6; max++) {
		const struct window window = {max, 10 * max, 0.5};
		size_t cut = window_cut(&window, context);
		require(cut < count || count == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cJSON *input = json_parse((const char *)data, size, JSON_REQUEST_DEPTH, NULL);
	cJSON *context = cJSON_CreateArray();
	const cJSON *item;
	cJSON_ArrayForEach(item, input) {
		cJSON *message = read_message(item, MESSAGE_FROM_CLIENT);
		if (message)
			cJSON_AddItemToArray(context, message);
		cJSON_Delete(read_message(item, MESSAGE_FROM_NODE));
	}
	check_window(context);
	cJSON_Delete(context);
	cJSON_Delete(input);
	return 0;
}
