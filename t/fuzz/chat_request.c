/* SPDX-License-Identifier: ISC */
/*
 * Requests to providers: the input is a JSON array of messages, as a client may have left them in a
 * thread.  Whatever they are, each provider gets a JSON object, or there is a sentence that says
 * why not.
 */
#include "base/json/json.h"
#include "base/json/json_scan.h"
#include "base/utf8.h"
#include "graph/message/message.h"
#include "model/provider.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

static const struct id_source ids;

static struct chat_model *model_of(const char *provider, const char *api)
{
	cJSON *settings = cJSON_CreateObject();
	json_add_str(settings, "provider", provider);
	json_add_str(settings, "model", "m");
	if (api)
		json_add_str(settings, "api", api);
	struct chat_model *model = chat_model_new(settings, &(struct chat_reporter){0});
	require(model != NULL);
	cJSON_Delete(settings);
	return model;
}

/* Finds media by file_id: some are missing, some are text, some have no useful type. */
static bool media(const cJSON *object, struct chat_media *out, void *arg)
{
	const char *file_id = json_str(object, "file_id");
	(void)arg;
	if (!file_id || *file_id == 'x')
		return false;
	*out = (struct chat_media){.data = strdup("bytes"), .len = 5, .mime_type = strdup(file_id)};
	if (*file_id == 't')
		out->text = strdup(file_id);
	return true;
}

static void check(const struct chat_model *model, const cJSON *messages)
{
	const struct chat_request request = {.system = "s", .messages = messages, .media = media};
	char *problem = NULL;
	char *body = chat_request_body(&model->targets[0], &request, &problem);
	require((body != NULL) == (problem == NULL));
	if (body) {
		cJSON *tree = json_parse(body, strlen(body), JSON_DEPTH_LIMIT, NULL);
		require(cJSON_IsObject(tree));
		cJSON_Delete(tree);
	} else {
		require(*problem && utf8_valid(problem, strlen(problem)));
	}
	free(problem);
	free(body);
}

static void check_all(const cJSON *messages)
{
	static const char *const names[][2] = {
	    {"openai", NULL}, {"anthropic", NULL}, {"gemini", NULL}, {"openai", "responses"}};
	static struct chat_model *models[4];
	for (size_t i = 0; i < 4; i++) {
		if (!models[i])
			models[i] = model_of(names[i][0], names[i][1]);
		check(models[i], messages);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cJSON *input = json_parse((const char *)data, size, JSON_REQUEST_DEPTH, NULL);
	cJSON *messages = cJSON_CreateArray();
	const cJSON *item;
	setenv("OPENAI_API_KEY", "k", 1);
	setenv("ANTHROPIC_API_KEY", "k", 1);
	setenv("GEMINI_API_KEY", "k", 1);
	cJSON_ArrayForEach(item, input) {
		struct error err = {0};
		cJSON *message = message_normalise(item, "m", MESSAGE_FROM_NODE, &ids, &err);
		if (message)
			cJSON_AddItemToArray(messages, message);
		error_release(&err);
	}
	check_all(messages);
	cJSON_Delete(messages);
	cJSON_Delete(input);
	return 0;
}
