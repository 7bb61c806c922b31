/* SPDX-License-Identifier: ISC */
/* What a realtime provider sends: the first line names it, and may ask for text or manual activity;
 * each other line is a message, or input if it begins with *, > or <. */
#include "base/json/json.h"
#include "graph/live/live.h"
#include "model/realtime/realtime_dialect.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

static void drop(ag_live_session *session, const struct live_event *event)
{
	(void)session;
	require(event->kind != LIVE_TOOL_CALL || cJSON_IsObject(event->args));
	cJSON_Delete(event->args);
}

static void drop_sent(struct realtime *r, const char *text)
{
	(void)r;
	cJSON *event = json_parse(text, strlen(text), JSON_TRUSTED_DEPTH, NULL);
	require(cJSON_IsObject(event));
	cJSON_Delete(event);
}

static void do_line(struct realtime *r, const char *line, size_t len)
{
	const struct ag_live_provider *p = &realtime_provider;
	char *copy = malloc(len + 1);
	memcpy(copy, line, len);
	copy[len] = '\0';
	if (*copy == '*')
		p->audio(r, "\1\2\3\4\5\6\7\10", 8);
	else if (*copy == '>' || *copy == '<')
		p->activity(r, *copy == '>');
	else if (!r->over)
		realtime_take(r, copy, len);
	if (r->calls) {
		char *id = strdup(r->calls->id);
		p->tool_result(r, id, "t", NULL, *copy == ' ');
		free(id);
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static ag_live_session session = {drop};
	const char *at = (const char *)data, *end = at + size;
	const char *stop = size ? memchr(at, '\n', size) : NULL;
	cJSON *object = cJSON_CreateObject(), *vad = cJSON_CreateObject();
	json_add_str(object, "model", "m");
	stop = stop ? stop : end;
	cJSON_AddBoolToObject(vad, "enabled", !memchr(at ? at : "", 'm', (size_t)(stop - at)));
	const struct ag_live_setup setup = {
	    .model = "m", .vad = vad, .text = at && memchr(at, 't', (size_t)(stop - at))};
	struct realtime_settings *settings =
	    realtime_settings_new(size && *at == 'g' ? "gemini" : "openai", object, NULL);
	struct realtime *r = realtime_new(&session, &setup, settings);
	r->send = drop_sent;
	while (stop < end) {
		at = stop + 1;
		stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop ? stop : end;
		do_line(r, at, (size_t)(stop - at));
	}
	if (!r->over)
		realtime_provider.finish(r);
	realtime_free(r);
	realtime_settings_free(settings);
	cJSON_Delete(object);
	cJSON_Delete(vad);
	return 0;
}
