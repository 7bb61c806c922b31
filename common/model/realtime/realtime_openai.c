/* SPDX-License-Identifier: ISC */
/*
 * OpenAI Realtime.  The events are those of the general availability; what the beta called
 * otherwise is understood too.
 *
 * One response goes on at a time.  While one does, or a tool call has no result yet, another one
 * waits.  The provider begins some of its own accord, when speech ends, maybe while one that was
 * asked for is on its way; so those that are asked for have a mark, which comes back with them.
 *
 * What was heard is written down beside the responses, and told whenever that is done.
 */
#include "base/base64.h"
#include "base/http/percent.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/texts.h"
#include "model/provider.h"
#include "model/realtime/realtime_dialect.h"

#include <stdlib.h>
#include <string.h>

#define TRANSCRIBER "gpt-4o-mini-transcribe"
#define SILENCE_SPARE_MS 500
#define SILENCE_MOST_MS 5000
#define REST_MS 1500   /* to await what may still be heard in the audio */
#define ANSWER_MS 5000 /* to await the answer to what was heard */

#define MARK "agentgraph"  /* a member of a response's metadata: the request that asked for it */
#define REQUEST "respond-" /* what ids of requests begin with, before their number */
#define AGAIN_MS 500       /* before asking again, when nothing is seen of what was in the way */

/* ---- The session */

static char *openai_live_url(const struct realtime *r, const char *model)
{
	struct buf out = {0};
	buf_printf(&out, "%s/realtime?model=", r->settings->base_url);
	percent_add(&out, model ? model : "", "");
	return buf_detach(&out);
}

static void openai_live_copy(cJSON *to, const char *name, const cJSON *from, const char *key)
{
	const cJSON *value = json_opt(from, key);
	if (value)
		cJSON_AddItemToObject(to, name, cJSON_Duplicate(value, true));
}

static void openai_live_add_format(cJSON *direction)
{
	cJSON *format = cJSON_AddObjectToObject(direction, "format");
	json_add_str(format, "type", "audio/pcm");
	json_add_int(format, "rate", REALTIME_OUT_HZ);
}

static cJSON *openai_live_opening(const struct ag_live_setup *setup)
{
	cJSON *event = json_typed("session.update");
	cJSON *session = cJSON_AddObjectToObject(event, "session");
	json_add_str(session, "type", "realtime");
	if (setup->system_prompt)
		json_add_str(session, "instructions", setup->system_prompt);
	cJSON_AddItemToArray(cJSON_AddArrayToObject(session, "output_modalities"),
	    cJSON_CreateString(setup->text ? "text" : "audio"));
	cJSON *audio = cJSON_AddObjectToObject(session, "audio");
	cJSON *input = cJSON_AddObjectToObject(audio, "input");
	openai_live_add_format(input);
	json_add_str(cJSON_AddObjectToObject(input, "transcription"), "model", TRANSCRIBER);
	if (cJSON_IsFalse(json_opt(setup->vad, "enabled"))) {
		cJSON_AddNullToObject(input, "turn_detection");
	} else {
		/* a high sensitivity is a low threshold; there is none for the end of speech */
		double sensitivity = realtime_sensitivity(setup->vad, "start_sensitivity");
		cJSON *detection = cJSON_AddObjectToObject(input, "turn_detection");
		json_add_str(detection, "type", "server_vad");
		if (sensitivity >= 0)
			cJSON_AddItemToObject(
			    detection, "threshold", json_new_double(1 - sensitivity));
		openai_live_copy(detection, "prefix_padding_ms", setup->vad, "prefix_padding_ms");
		openai_live_copy(
		    detection, "silence_duration_ms", setup->vad, "silence_duration_ms");
	}
	cJSON *output = cJSON_AddObjectToObject(audio, "output");
	openai_live_add_format(output);
	if (setup->voice)
		json_add_str(output, "voice", setup->voice);
	if (cJSON_GetArraySize(setup->tools) == 0)
		return event;
	const cJSON *tool;
	cJSON *list = cJSON_AddArrayToObject(session, "tools");
	cJSON_ArrayForEach(tool, setup->tools) {
		cJSON *function = json_append(list, json_typed("function"));
		openai_live_copy(function, "name", tool, "name");
		openai_live_copy(function, "description", tool, "description");
		openai_live_copy(function, "parameters", tool, "parameters");
	}
	json_add_str(session, "tool_choice", "auto");
	return event;
}

/* ---- Responses */

/* The number in the id of a request; 0: it is none. */
static unsigned openai_live_request_number(const char *id)
{
	size_t len = strlen(REQUEST);
	return id && strncmp(id, REQUEST, len) == 0 ? (unsigned)strtoul(id + len, NULL, 10) : 0;
}

/* Asks for the response that is wanted, once nothing is in its way. */
static void openai_live_respond(struct realtime *r)
{
	if (!r->wanted || r->responding || r->requested || r->calls || r->over)
		return;
	r->wanted = false;
	r->again = 0;
	r->requested = ++r->requests;
	cJSON *event = json_typed("response.create");
	char *id = xasprintf(REQUEST "%u", r->requested);
	json_add_str(event, "event_id", id);
	cJSON *response = cJSON_AddObjectToObject(event, "response");
	json_add_str(cJSON_AddObjectToObject(response, "metadata"), MARK, id);
	free(id);
	realtime_send(r, event);
}

/* The user speaks: what is being said stops. */
static void openai_live_interrupt(struct realtime *r)
{
	bool audible = r->responding || r->ahead > r->now;
	int64_t heard = r->item_ms - (r->ahead - r->now);
	if (!audible || r->keeps_talking || r->cut)
		return;
	if (r->manual && r->responding)
		realtime_send(r, json_typed("response.cancel"));
	if (r->item && r->ahead > r->now) { /* tells the model how much of its answer was heard */
		cJSON *event = json_typed("conversation.item.truncate");
		json_add_str(event, "item_id", r->item);
		json_add_int(event, "content_index", 0);
		json_add_int(event, "audio_end_ms", heard > 0 ? heard : 0);
		realtime_send(r, event);
	}
	r->cut = r->responding;
	r->ahead = 0;
	free(r->item);
	r->item = NULL;
	ag_live_interrupted(r->session);
}

static void openai_live_take_created(struct realtime *r, const cJSON *event)
{
	const cJSON *metadata = json_opt(json_opt(event, "response"), "metadata");
	unsigned request = openai_live_request_number(json_str(metadata, MARK));
	r->marks |= request > 0;
	/* where marks never come back, it is the one asked for, unless another was expected */
	if (!r->marks && !r->expected)
		request = r->requested;
	r->responding = true;
	r->called = r->cut = r->unsure = false;
	if (request == r->requested)
		r->requested = 0;
	if (request)
		return;
	r->expected = false;
	if (!r->manual)
		r->fed = false;
}

static void openai_live_tell_failure(struct realtime *r, const cJSON *error, const char *otherwise)
{
	const char *message = json_str(error, "message");
	realtime_error(r, json_str(error, "code"), false, message ? message : otherwise);
}

static void openai_live_take_done(struct realtime *r, const cJSON *event)
{
	const cJSON *response = json_opt(event, "response");
	bool cut = r->cut;
	r->responding = r->cut = false;
	if (json_str_is(response, "status", "failed"))
		openai_live_tell_failure(r, json_opt(json_opt(response, "status_details"), "error"),
		    "the response failed");
	if (json_str_is(response, "status", "cancelled") && !cut) {
		r->ahead = 0;
		ag_live_interrupted(r->session);
	} else if (!cut && !r->called) {
		ag_live_turn_complete(r->session);
	}
	openai_live_respond(r);
}

/* ---- What is said */

static void openai_live_take_audio(struct realtime *r, const cJSON *event)
{
	const char *delta = json_str(event, "delta"), *item = json_str(event, "item_id");
	if (r->cut || !delta || r->text_only)
		return;
	if (item && (!r->item || strcmp(r->item, item) != 0)) {
		free(r->item);
		r->item = xstrdup(item);
		r->item_ms = 0;
	}
	r->item_ms += realtime_play(r, delta, REALTIME_OUT_HZ);
}

static void openai_live_take_words(struct realtime *r, const cJSON *event)
{
	const char *delta = json_str(event, "delta");
	if (!r->cut && delta)
		ag_live_output_transcript(r->session, delta, false);
}

static void openai_live_take_all_words(struct realtime *r, const cJSON *event)
{
	const char *text = json_str(event, "transcript");
	if (!r->cut)
		ag_live_output_transcript(r->session, text ? text : json_str(event, "text"), true);
}

static void openai_live_take_heard(struct realtime *r, const cJSON *event)
{
	const char *delta = json_str(event, "delta");
	if (delta)
		ag_live_input_transcript(r->session, delta, false);
}

static void openai_live_take_committed(struct realtime *r, const cJSON *event)
{
	(void)event;
	r->unwritten += r->writes;
}

static void openai_live_take_written(struct realtime *r)
{
	if (r->unwritten)
		r->unwritten--;
}

static void openai_live_take_all_heard(struct realtime *r, const cJSON *event)
{
	openai_live_take_written(r);
	ag_live_input_transcript(r->session, json_str(event, "transcript"), true);
}

static void openai_live_take_unheard(struct realtime *r, const cJSON *event)
{
	openai_live_take_written(r);
	ag_live_input_transcript(r->session, NULL, true);
	openai_live_tell_failure(r, json_opt(event, "error"), "the speech is not transcribed");
}

static void openai_live_take_speech(struct realtime *r, const cJSON *event)
{
	(void)event;
	if (r->manual)
		return;
	r->speaking = true;
	openai_live_interrupt(r);
}

static void openai_live_take_silence(struct realtime *r, const cJSON *event)
{
	(void)event;
	if (r->manual)
		return;
	r->speaking = false;
	r->expected = true;
}

/* ---- Tools */

static void openai_live_take_item(struct realtime *r, const cJSON *event)
{
	const cJSON *item = json_opt(event, "item");
	const char *id = json_str(item, "call_id"), *arguments = json_str(item, "arguments");
	if (!json_str_is(item, "type", "function_call") || !id || r->cut)
		return;
	if (json_str(item, "status") && !json_str_is(item, "status", "completed"))
		return;
	r->called = true;
	char *text = xstrdup(arguments ? arguments : "");
	cJSON *args = chat_parse(text, strlen(text));
	free(text);
	realtime_call_add(r, id, json_str(item, "name"), args);
}

static void openai_live_tool_result(
    struct realtime *r, const char *id, const char *name, const cJSON *result, bool is_error)
{
	cJSON *event = json_typed("conversation.item.create");
	cJSON *item = cJSON_AddObjectToObject(event, "item");
	char *text = cJSON_IsString(result) ? xstrdup(result->valuestring) : json_print(result);
	char *output = xasprintf("%s%s", is_error ? "Error: " : "", text);
	(void)name;
	free(text);
	json_add_str(item, "type", "function_call_output");
	json_add_str(item, "call_id", id);
	json_add_str(item, "output", output);
	free(output);
	realtime_send(r, event);
	r->wanted = true;
	openai_live_respond(r);
}

/* ---- Errors */

/* A request has failed.  The id of the event that was wrong is not always told: then the request
 * may go on all the same, and its response is known by its number. */
static void openai_live_fail_request(struct realtime *r, const cJSON *error, bool busy)
{
	const char *id = json_str(error, "event_id");
	if (!r->requested || (id && openai_live_request_number(id) != r->requested))
		return;
	r->requested = 0;
	if (busy) {
		r->wanted = true;
		r->again = r->now + AGAIN_MS;
	} else {
		r->unsure = !id;
		openai_live_respond(r);
	}
}

static void openai_live_take_error(struct realtime *r, const cJSON *event)
{
	/* two of them are the harmless end of a race: the response ended, or began, meanwhile */
	static const char *const races[] = {
	    "response_cancel_not_active", "conversation_already_has_active_response", NULL};
	static const char *const final[] = {"invalid_api_key", "authentication_error",
	    "insufficient_quota", "billing_hard_limit_reached", "account_deactivated",
	    "model_not_found", "beta_api_shape_disabled", NULL};
	const cJSON *error = json_opt(event, "error");
	const char *code = json_str(error, "code"), *type = json_str(error, "type");
	code = code ? code : type;
	openai_live_fail_request(r, error, code && strcmp(code, races[1]) == 0);
	if (texts_has(races, code))
		return;
	realtime_error(
	    r, code, texts_has(final, code) || texts_has(final, type), json_str(error, "message"));
}

/* ---- Events */

static void openai_live_take_session(struct realtime *r, const cJSON *event)
{
	const cJSON *session = json_opt(event, "session");
	const cJSON *input = json_opt(json_opt(session, "audio"), "input");
	const cJSON *detection = json_opt(input ? input : session, "turn_detection");
	r->keeps_talking = cJSON_IsFalse(json_opt(detection, "interrupt_response"));
	r->writes = cJSON_IsObject(json_opt(input, "transcription"));
	realtime_ready(r);
	ag_live_input_transcript(r->session, NULL, true); /* this provider ends them */
}

static const struct {
	const char *type;
	void (*take)(struct realtime *r, const cJSON *event);
} events[] = {
    {"session.updated", openai_live_take_session},
    {"response.created", openai_live_take_created},
    {"response.done", openai_live_take_done},
    {"response.output_audio.delta", openai_live_take_audio},
    {"response.audio.delta", openai_live_take_audio},
    {"response.output_audio_transcript.delta", openai_live_take_words},
    {"response.audio_transcript.delta", openai_live_take_words},
    {"response.output_audio_transcript.done", openai_live_take_all_words},
    {"response.audio_transcript.done", openai_live_take_all_words},
    {"response.output_text.delta", openai_live_take_words},
    {"response.text.delta", openai_live_take_words},
    {"response.output_text.done", openai_live_take_all_words},
    {"response.text.done", openai_live_take_all_words},
    {"response.output_item.done", openai_live_take_item},
    {"conversation.item.input_audio_transcription.delta", openai_live_take_heard},
    {"conversation.item.input_audio_transcription.completed", openai_live_take_all_heard},
    {"conversation.item.input_audio_transcription.failed", openai_live_take_unheard},
    {"input_audio_buffer.committed", openai_live_take_committed},
    {"input_audio_buffer.speech_started", openai_live_take_speech},
    {"input_audio_buffer.speech_stopped", openai_live_take_silence},
    {"error", openai_live_take_error},
};

static void openai_live_take(struct realtime *r, const cJSON *event)
{
	const char *type = json_str(event, "type");
	for (size_t i = 0; type && i < sizeof(events) / sizeof(*events); i++) {
		if (strcmp(events[i].type, type) == 0)
			events[i].take(r, event);
	}
}

/* ---- Input */

static void openai_live_audio(struct realtime *r, const void *pcm, size_t bytes)
{
	cJSON *event = json_typed("input_audio_buffer.append");
	char *text = base64_encode(pcm, bytes);
	json_add_str(event, "audio", text);
	free(text);
	realtime_send(r, event);
}

static void openai_live_text(struct realtime *r, const char *said)
{
	cJSON *event = json_typed("conversation.item.create");
	cJSON *item = cJSON_AddObjectToObject(event, "item");
	json_add_str(item, "type", "message");
	json_add_str(item, "role", "user");
	cJSON *part =
	    json_append(cJSON_AddArrayToObject(item, "content"), json_typed("input_text"));
	json_add_str(part, "text", said);
	realtime_send(r, event);
	r->wanted = true;
	openai_live_respond(r);
}

static void openai_live_activity(struct realtime *r, bool starts)
{
	if (starts) {
		openai_live_interrupt(r);
	} else if (r->fed) {
		realtime_send(r, json_typed("input_audio_buffer.commit"));
		r->fed = false;
		r->wanted = true;
		openai_live_respond(r);
	}
}

/* Ends the utterance, which else ends with silence: there will be none any more. */
static void openai_live_finish(struct realtime *r)
{
	int ms = r->silence_ms + SILENCE_SPARE_MS;
	if (r->manual || !r->fed)
		return;
	ms = ms < SILENCE_MOST_MS ? ms : SILENCE_MOST_MS;
	size_t bytes = (size_t)ms * REALTIME_OUT_HZ / 1000 * sizeof(int16_t);
	char *silence = xcalloc(bytes, 1);
	openai_live_audio(r, silence, bytes);
	free(silence);
}

static int64_t openai_live_rest(const struct realtime *r)
{
	if (r->responding || r->requested || r->wanted || r->calls || (r->speaking && !r->manual))
		return -1;
	return r->expected || r->unsure || r->unwritten ? ANSWER_MS : r->fed ? REST_MS : 0;
}

const struct realtime_dialect realtime_openai = {
    .name = "openai",
    .home = "https://api.openai.com/v1",
    .url_env = "OPENAI_BASE_URL",
    .key_envs = {"OPENAI_API_KEY"},
    .in_hz = REALTIME_OUT_HZ,
    .url = openai_live_url,
    .header = "authorization:",
    .prefix = "Bearer ",
    .opening = openai_live_opening,
    .session = "session",
    .take = openai_live_take,
    .audio = openai_live_audio,
    .text = openai_live_text,
    .activity = openai_live_activity,
    .tool_result = openai_live_tool_result,
    .finish = openai_live_finish,
    .again = openai_live_respond,
    .rest = openai_live_rest,
};
