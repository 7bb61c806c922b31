/* SPDX-License-Identifier: ISC */
/*
 * Gemini Live.  Every turn of the model ends with turnComplete, one that was cut too.  One that
 * calls tools ends, with some models, before the results are there or after: then the answer, with
 * its own end, is still to come.
 */
#include "base/base64.h"
#include "base/http/percent.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/texts.h"
#include "model/gemini_schema.h"
#include "model/realtime/realtime_dialect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
#define AUDIO_TYPE "audio/pcm;rate=16000"
#define REST_MS 2500    /* to await an answer to what came while another one ended */
#define ANSWER_MS 10000 /* to await an answer to what was heard, or to what may need none */

/* ---- The session */

static char *gemini_live_url(const struct realtime *r, const char *model)
{
	struct buf out = {0};
	(void)model;
	buf_printf(&out, "%s" PATH, r->settings->base_url);
	if (r->settings->key) {
		buf_puts(&out, "?key=");
		percent_add(&out, r->settings->key, "");
	}
	return buf_detach(&out);
}

static void gemini_live_add_sensitivity(
    cJSON *detection, const char *name, const cJSON *vad, const char *key)
{
	double value = realtime_sensitivity(vad, key);
	const char *prefix = *key == 's' ? "START" : "END";
	char word[40];
	if (value < 0)
		return;
	snprintf(word, sizeof(word), "%s_SENSITIVITY_%s", prefix, value >= 0.5 ? "HIGH" : "LOW");
	json_add_str(detection, name, word);
}

static void gemini_live_add_ms(
    cJSON *detection, const char *name, const cJSON *vad, const char *key)
{
	int64_t ms;
	if (json_integer(json_opt(vad, key), &ms))
		json_add_int(detection, name, ms);
}

static void gemini_live_add_tools(cJSON *setup_event, const cJSON *tools)
{
	const cJSON *tool;
	if (cJSON_GetArraySize(tools) == 0)
		return;
	cJSON *list = cJSON_AddArrayToObject(setup_event, "tools");
	cJSON *item = json_append(list, cJSON_CreateObject());
	cJSON *functions = cJSON_AddArrayToObject(item, "functionDeclarations");
	cJSON_ArrayForEach(tool, tools) {
		cJSON *function = json_append(functions, cJSON_CreateObject());
		json_add_str(function, "name", json_str(tool, "name"));
		if (json_str(tool, "description"))
			json_add_str(function, "description", json_str(tool, "description"));
		gemini_add_parameters(function, json_opt(tool, "parameters"));
	}
}

static void gemini_live_add_text_part(cJSON *content, const char *text)
{
	cJSON *part = cJSON_CreateObject();
	json_add_str(part, "text", text);
	cJSON_AddItemToArray(cJSON_AddArrayToObject(content, "parts"), part);
}

static cJSON *gemini_live_opening(const struct ag_live_setup *setup)
{
	cJSON *event = cJSON_CreateObject(), *inner = cJSON_AddObjectToObject(event, "setup");
	const char *model = setup->model ? setup->model : "";
	char *name = xasprintf("%s%s", strchr(model, '/') ? "" : "models/", model);
	json_add_str(inner, "model", name);
	free(name);
	cJSON *config = cJSON_AddObjectToObject(inner, "generationConfig");
	cJSON_AddItemToArray(cJSON_AddArrayToObject(config, "responseModalities"),
	    cJSON_CreateString(setup->text ? "TEXT" : "AUDIO"));
	if (setup->voice && !setup->text) {
		cJSON *speech = cJSON_AddObjectToObject(config, "speechConfig");
		cJSON *voice = cJSON_AddObjectToObject(speech, "voiceConfig");
		json_add_str(cJSON_AddObjectToObject(voice, "prebuiltVoiceConfig"), "voiceName",
		    setup->voice);
	}
	if (setup->system_prompt)
		gemini_live_add_text_part(
		    cJSON_AddObjectToObject(inner, "systemInstruction"), setup->system_prompt);
	gemini_live_add_tools(inner, setup->tools);
	cJSON *input = cJSON_AddObjectToObject(inner, "realtimeInputConfig");
	cJSON *detection = cJSON_AddObjectToObject(input, "automaticActivityDetection");
	cJSON_AddBoolToObject(
	    detection, "disabled", cJSON_IsFalse(json_opt(setup->vad, "enabled")));
	gemini_live_add_sensitivity(
	    detection, "startOfSpeechSensitivity", setup->vad, "start_sensitivity");
	gemini_live_add_sensitivity(
	    detection, "endOfSpeechSensitivity", setup->vad, "end_sensitivity");
	gemini_live_add_ms(detection, "prefixPaddingMs", setup->vad, "prefix_padding_ms");
	gemini_live_add_ms(detection, "silenceDurationMs", setup->vad, "silence_duration_ms");
	cJSON *resumption = cJSON_AddObjectToObject(inner, "sessionResumption");
	if (setup->resumption_handle)
		json_add_str(resumption, "handle", setup->resumption_handle);
	cJSON_AddObjectToObject(inner, "inputAudioTranscription");
	if (!setup->text)
		cJSON_AddObjectToObject(inner, "outputAudioTranscription");
	return event;
}

/* ---- What is said */

/* Hertz of "audio/pcm;rate=24000"; 0 when it is no such audio. */
static unsigned gemini_live_rate_of(const char *type)
{
	const char *rate = type ? strstr(type, "rate=") : NULL;
	if (!type || strncmp(type, "audio/pcm", 9) != 0)
		return 0;
	unsigned long hz = rate ? strtoul(rate + 5, NULL, 10) : REALTIME_OUT_HZ;
	return hz >= 8000 && hz <= 192000 ? (unsigned)hz : 0;
}

static void gemini_live_take_turn(struct realtime *r, const cJSON *turn)
{
	const cJSON *part;
	if (!turn)
		return;
	r->responding = true;
	r->cut = r->called = r->expected = false;
	cJSON_ArrayForEach(part, json_opt(turn, "parts")) {
		const cJSON *blob = json_opt(part, "inlineData");
		const char *words = json_str(part, "text"), *data = json_str(blob, "data");
		unsigned hz = gemini_live_rate_of(json_str(blob, "mimeType"));
		if (r->over)
			return;
		if (words && r->text_only && !cJSON_IsTrue(json_opt(part, "thought")))
			ag_live_output_transcript(r->session, words, false);
		if (data && hz && !r->text_only)
			realtime_play(r, data, hz);
	}
}

typedef void transcript_fn(ag_live_session *session, const char *text, bool finished);

static void gemini_live_take_transcript(
    struct realtime *r, const cJSON *transcription, transcript_fn *tell)
{
	const char *words = json_str(transcription, "text");
	if (words)
		tell(r->session, words, false);
	if (cJSON_IsTrue(json_opt(transcription, "finished")))
		tell(r->session, NULL, true);
}

/* The end of what was heard is not always told. */
static void gemini_live_end_heard(struct realtime *r)
{
	ag_live_input_transcript(r->session, NULL, true);
}

static void gemini_live_take_content(struct realtime *r, const cJSON *content)
{
	const cJSON *heard = json_opt(content, "inputTranscription");
	const char *words = json_str(heard, "text");
	r->expected |= words && *words && !r->responding;
	gemini_live_take_transcript(r, heard, ag_live_input_transcript);
	gemini_live_take_turn(r, json_opt(content, "modelTurn"));
	if (r->over)
		return;
	gemini_live_take_transcript(
	    r, json_opt(content, "outputTranscription"), ag_live_output_transcript);
	if (cJSON_IsTrue(json_opt(content, "interrupted"))) {
		r->cut = true;
		r->responding = r->called = false;
		r->ahead = 0;
		gemini_live_end_heard(r);
		ag_live_interrupted(r->session);
	}
	if (!cJSON_IsTrue(json_opt(content, "turnComplete")))
		return;
	/* whether the turn called tools and nothing was said since: then what comes of the calls is
	 * still to be answered */
	bool in_calls = (r->called && r->resulted) || r->calls, cut = r->cut;
	r->responding = r->cut = false;
	if (cut) { /* told already; what cut it may be answered, or was noise */
		r->expected = true;
		r->owed = 0;
		return;
	}
	r->called = false;
	if (in_calls)
		return;
	r->expected = r->owed > 1;
	r->owed = 0;
	gemini_live_end_heard(r);
	ag_live_turn_complete(r->session);
}

/* ---- Tools */

static void gemini_live_tool_result(
    struct realtime *r, const char *id, const char *name, const cJSON *result, bool is_error)
{
	cJSON *event = cJSON_CreateObject();
	cJSON *inner = cJSON_AddObjectToObject(event, "toolResponse");
	cJSON *function =
	    json_append(cJSON_AddArrayToObject(inner, "functionResponses"), cJSON_CreateObject());
	json_add_str(function, "id", id);
	json_add_str(function, "name", name);
	cJSON_AddItemToObject(cJSON_AddObjectToObject(function, "response"),
	    is_error ? "error" : "result", cJSON_Duplicate(result, true));
	realtime_send(r, event);
	r->resulted = true;
	if (!r->owed)
		r->owed = 1;
}

/* ---- The connection */

/* Seconds of "9.5s"; -1 when it says nothing. */
static double gemini_live_seconds_of(const cJSON *duration)
{
	const char *text = cJSON_GetStringValue(duration);
	char *end = NULL;
	double seconds = text ? strtod(text, &end) : -1;
	return text && end != text && isfinite(seconds) && seconds >= 0 ? seconds : -1;
}

static void gemini_live_take(struct realtime *r, const cJSON *event)
{
	const cJSON *go_away = json_opt(event, "goAway"), *call, *id;
	const cJSON *resumption = json_opt(event, "sessionResumptionUpdate");
	const cJSON *cancelled = json_opt(event, "toolCallCancellation");
	const char *handle = json_str(resumption, "newHandle");
	if (json_opt(event, "setupComplete"))
		realtime_ready(r);
	if (json_opt(event, "error")) {
		const cJSON *error = json_opt(event, "error");
		static const char *const final[] = {
		    "UNAUTHENTICATED", "PERMISSION_DENIED", "FAILED_PRECONDITION", NULL};
		const char *status = json_str(error, "status");
		r->responding = false;
		r->owed = 0;
		realtime_error(r, status, texts_has(final, status), json_str(error, "message"));
	}
	if (handle && *handle && cJSON_IsTrue(json_opt(resumption, "resumable")))
		ag_live_session_update(r->session, handle);
	gemini_live_take_content(r, json_opt(event, "serverContent"));
	if (r->over)
		return;
	cJSON_ArrayForEach(call, json_opt(json_opt(event, "toolCall"), "functionCalls")) {
		const cJSON *args = json_opt(call, "args");
		if (!json_str(call, "id"))
			continue;
		r->called = true;
		r->resulted = r->expected = false;
		realtime_call_add(r, json_str(call, "id"), json_str(call, "name"),
		    args ? cJSON_Duplicate(args, true) : NULL);
	}
	cJSON_ArrayForEach(id, json_opt(cancelled, "ids")) {
		if (cJSON_IsString(id))
			realtime_call_end(r, id->valuestring);
	}
	if (go_away)
		ag_live_go_away(r->session, gemini_live_seconds_of(json_opt(go_away, "timeLeft")));
}

/* ---- Input */

static cJSON *gemini_live_input(cJSON **event)
{
	*event = cJSON_CreateObject();
	return cJSON_AddObjectToObject(*event, "realtimeInput");
}

static void gemini_live_audio(struct realtime *r, const void *pcm, size_t bytes)
{
	cJSON *event, *input = gemini_live_input(&event);
	cJSON *blob = cJSON_AddObjectToObject(input, "audio");
	char *data = base64_encode(pcm, bytes);
	json_add_str(blob, "data", data);
	json_add_str(blob, "mimeType", AUDIO_TYPE);
	free(data);
	realtime_send(r, event);
}

static void gemini_live_send_activity(struct realtime *r, bool starts)
{
	cJSON *event, *input = gemini_live_input(&event);
	cJSON_AddObjectToObject(input, starts ? "activityStart" : "activityEnd");
	realtime_send(r, event);
}

static void gemini_live_text(struct realtime *r, const char *said)
{
	r->owed++;
	/* these models end a session that is sent a turn (1007): words are sent as if they were
	 * spoken, and where the bounds of speech are told, they need some */
	if (r->model && strstr(r->model, "gemini-3.1")) {
		bool bounds = r->manual && !r->speaking;
		if (bounds)
			gemini_live_send_activity(r, true);
		cJSON *spoken, *input = gemini_live_input(&spoken);
		json_add_str(input, "text", said);
		realtime_send(r, spoken);
		if (bounds)
			gemini_live_send_activity(r, false);
		return;
	}
	cJSON *event = cJSON_CreateObject();
	cJSON *content = cJSON_AddObjectToObject(event, "clientContent");
	cJSON *turn = json_append(cJSON_AddArrayToObject(content, "turns"), cJSON_CreateObject());
	json_add_str(turn, "role", "user");
	gemini_live_add_text_part(turn, said);
	cJSON_AddBoolToObject(content, "turnComplete", true);
	realtime_send(r, event);
}

static void gemini_live_activity(struct realtime *r, bool starts)
{
	gemini_live_send_activity(r, starts);
	if (!starts && r->fed)
		r->owed++;
}

static void gemini_live_finish(struct realtime *r)
{
	if (r->manual || !r->fed)
		return;
	cJSON *event, *input = gemini_live_input(&event);
	cJSON_AddBoolToObject(input, "audioStreamEnd", true);
	realtime_send(r, event);
}

static int64_t gemini_live_rest(const struct realtime *r)
{
	if (r->owed || r->responding || r->calls)
		return -1;
	return r->expected ? ANSWER_MS : r->used ? REST_MS : 0;
}

const struct realtime_dialect realtime_gemini = {
    .name = "gemini",
    .home = "https://generativelanguage.googleapis.com",
    .url_env = "GEMINI_BASE_URL",
    .key_envs = {"GEMINI_API_KEY", "GOOGLE_API_KEY"},
    .in_hz = REALTIME_IN_HZ,
    .url = gemini_live_url,
    .opening = gemini_live_opening,
    .session = "setup",
    .take = gemini_live_take,
    .audio = gemini_live_audio,
    .text = gemini_live_text,
    .activity = gemini_live_activity,
    .tool_result = gemini_live_tool_result,
    .finish = gemini_live_finish,
    .rest = gemini_live_rest,
};
