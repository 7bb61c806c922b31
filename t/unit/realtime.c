/* SPDX-License-Identifier: ISC */
/* What the dialects of realtime providers make of events, in the form that the providers' public
 * documentation shows. */
#include "base/json/json.h"
#include "graph/live/live.h"
#include "model/realtime/realtime_dialect.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static struct buf told, sent;

static void note(ag_live_session *session, const struct live_event *event)
{
	static const char *const names[] = {[LIVE_READY] = "ready",
	    [LIVE_AUDIO] = "audio",
	    [LIVE_INPUT_TRANSCRIPT] = "heard",
	    [LIVE_OUTPUT_TRANSCRIPT] = "said",
	    [LIVE_TOOL_CALL] = "call",
	    [LIVE_TURN_COMPLETE] = "complete",
	    [LIVE_INTERRUPTED] = "interrupted",
	    [LIVE_SESSION_UPDATE] = "handle",
	    [LIVE_GO_AWAY] = "go_away",
	    [LIVE_AGENT_CHANGED] = "agent",
	    [LIVE_ERROR] = "error",
	    [LIVE_LOST] = "lost",
	    [LIVE_ENDED] = "ended"};
	(void)session;
	buf_puts(&told, names[event->kind]);
	if (event->id)
		buf_printf(&told, " [%s]", event->id);
	if (event->text)
		buf_printf(&told, " %s", event->text);
	if (event->args) {
		char *args = json_print(event->args);
		buf_printf(&told, " %s", args);
		cJSON_free(args);
		cJSON_Delete(event->args);
	}
	if (event->bytes)
		buf_printf(&told, " %zu", event->bytes);
	if (event->kind == LIVE_GO_AWAY)
		buf_printf(&told, " %g", event->seconds);
	buf_puts(&told, event->flag ? "!|" : "|");
}

static void note_sent(struct realtime *r, const char *text)
{
	(void)r;
	buf_printf(&sent, "%s|", text);
}

static ag_live_session session = {note};
static struct realtime_settings *settings;

static struct realtime *connect_with(const char *provider, const struct ag_live_setup *setup)
{
	cJSON *object = cJSON_CreateObject();
	json_add_str(object, "model", "m");
	setenv("MY_KEY", "s3cret", 1);
	json_add_str(object, "api_key_env", "MY_KEY");
	settings = realtime_settings_new(provider, object, NULL);
	cJSON_Delete(object);
	struct realtime *r = realtime_new(&session, setup, settings);
	r->send = note_sent;
	r->now = 1000;
	return r;
}

static struct realtime *connected(const char *provider)
{
	static const struct ag_live_setup setup = {.model = "m"};
	return connect_with(provider, &setup);
}

static void disconnect(struct realtime *r)
{
	realtime_free(r);
	realtime_settings_free(settings);
	buf_release(&told);
	buf_release(&sent);
}

static void say(struct realtime *r, const char *event)
{
	char *copy = strdup(event);
	realtime_take(r, copy, strlen(copy));
	free(copy);
}

static void is(struct buf *b, const char *expected)
{
	if (strcmp(buf_str(b), expected) != 0)
		printf("# got %s\n# not %s\n", buf_str(b), expected);
	CU_ASSERT_STRING_EQUAL(buf_str(b), expected);
	buf_reset(b);
}

#define CREATED "{\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\"}}"
#define DONE "{\"type\":\"response.done\",\"response\":{\"status\":\"completed\"}}"
#define AUDIO "{\"type\":\"response.output_audio.delta\",\"item_id\":\"i1\",\"delta\":\"AAAAAAAA\"}"

static void openai_response(void)
{
	struct realtime *r = connected("openai");
	say(r, "{\"type\":\"session.created\",\"session\":{}}");
	say(r, "{\"type\":\"session.updated\",\"session\":{}}");
	say(r, "{\"type\":\"rate_limits.updated\",\"rate_limits\":[]}");
	say(r, CREATED);
	say(r, "{\"type\":\"response.output_audio_transcript.delta\",\"delta\":\"Hi\"}");
	say(r, AUDIO);
	say(r, "{\"type\":\"response.output_audio_transcript.done\",\"transcript\":\"Hi\"}");
	say(r, DONE);
	is(&told, "ready|heard!|said Hi|audio 6|said Hi!|complete|");
	disconnect(r);
}

static void openai_beta(void)
{
	struct realtime *r = connected("openai");
	say(r, "{\"type\":\"response.audio.delta\",\"delta\":\"AAAA\"}");
	say(r, "{\"type\":\"response.audio.delta\",\"delta\":\"AAAA\"}"); /* cut within a sample */
	say(r, "{\"type\":\"response.audio_transcript.delta\",\"delta\":\"a\"}");
	say(r, "{\"type\":\"response.audio_transcript.done\",\"transcript\":\"ab\"}");
	say(r, "{\"type\":\"response.text.delta\",\"delta\":\"c\"}");
	say(r, "{\"type\":\"response.text.done\",\"text\":\"cd\"}");
	is(&told, "audio 2|audio 4|said a|said ab!|said c|said cd!|");
	disconnect(r);
}

static void openai_hears(void)
{
#define HEARD "{\"type\":\"conversation.item.input_audio_transcription."
	struct realtime *r = connected("openai");
	say(r, "{\"type\":\"session.updated\"}");
	say(r, HEARD "delta\",\"item_id\":\"i\",\"delta\":\"Hel\"}");
	say(r, HEARD "completed\",\"item_id\":\"i\",\"transcript\":\"Hello\"}");
	say(r, HEARD "failed\",\"error\":{\"code\":\"audio_unintelligible\",\"message\":\"no\"}}");
	is(&told, "ready|heard!|heard Hel|heard Hello!|heard!|error [audio_unintelligible] no|");
	disconnect(r);
}

static void openai_barge_in(void)
{
	struct realtime *r = connected("openai");
	say(r, CREATED);
	for (int i = 0; i < 3000; i++) /* of an eighth of a millisecond each, so none is counted */
		say(r, AUDIO);
	r->item_ms = 3000;
	r->ahead = r->now + 2000;
	buf_reset(&told);
	say(r, "{\"type\":\"input_audio_buffer.speech_started\"}");
	say(r, AUDIO);
	say(r, "{\"type\":\"response.done\",\"response\":{\"status\":\"cancelled\"}}");
	is(&told, "interrupted|");
	is(&sent,
	    "{\"type\":\"conversation.item.truncate\",\"item_id\":\"i1\",\"content_index\":0,"
	    "\"audio_end_ms\":1000}|");
	say(r, "{\"type\":\"input_audio_buffer.speech_started\"}");
	is(&told, "");
	disconnect(r);
}

#define REQUEST(number)                                                      \
	"{\"type\":\"response.create\",\"event_id\":\"respond-" number "\"," \
	"\"response\":{\"metadata\":{\"agentgraph\":\"respond-" number "\"}}}|"
#define CREATED_HERE(number)                                          \
	"{\"type\":\"response.created\",\"response\":{\"metadata\":{" \
	"\"agentgraph\":\"respond-" number "\"}}}"
#define BUSY(request)                                                                           \
	"{\"type\":\"error\",\"error\":{\"code\":\"conversation_already_has_active_response\"," \
	"\"event_id\":" request "}}"
#define SILENCE "{\"type\":\"input_audio_buffer.speech_stopped\"}"

static void openai_one_response(void)
{
	struct realtime *r = connected("openai");
	say(r, CREATED);
	realtime_provider.text(r, "x");
	CU_ASSERT_PTR_NULL(strstr(buf_str(&sent), "response.create"));
	say(r, DONE);
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_str(&sent), REQUEST("1")));
	buf_reset(&sent);
	say(r, BUSY("null"));
	say(r, CREATED);
	say(r, DONE);
	is(&sent, REQUEST("2"));
	disconnect(r);
}

/* How long rest must last before a conversation to which nothing is added is over. */
static int64_t rest(struct realtime *r)
{
	return r->dialect->rest(r);
}

static void openai_other_response(void)
{
	struct realtime *r = connected("openai");
	realtime_provider.audio(r, "\0\0", 2);
	realtime_provider.text(r, "x");
	say(r, SILENCE);
	CU_ASSERT_EQUAL(rest(r), -1);
	say(r, CREATED);
	say(r, DONE);
	CU_ASSERT_EQUAL(rest(r), -1);
	say(r, CREATED_HERE("1"));
	say(r, DONE);
	CU_ASSERT_EQUAL(rest(r), 0);
	disconnect(r);
}

static void openai_busy(void)
{
	struct realtime *r = connected("openai");
	realtime_provider.text(r, "x");
	say(r, SILENCE);
	say(r, CREATED);
	buf_reset(&sent);
	say(r, BUSY("\"other\""));
	say(r, DONE);
	is(&sent, "");
	say(r, SILENCE);
	say(r, CREATED);
	say(r, BUSY("\"respond-1\""));
	say(r, DONE);
	is(&sent, REQUEST("2"));
	disconnect(r);
}

static void openai_speech_after(void)
{
	struct realtime *r = connected("openai");
	realtime_provider.text(r, "x");
	realtime_provider.audio(r, "\0\0", 2);
	say(r, CREATED_HERE("1"));
	say(r, DONE);
	CU_ASSERT_TRUE(rest(r) > 0);
	say(r, SILENCE);
	say(r, CREATED);
	CU_ASSERT_EQUAL(rest(r), -1);
	say(r, DONE);
	CU_ASSERT_EQUAL(rest(r), 0);
	disconnect(r);
}

/* What stands behind the event id of an error is not always told. */
static void openai_error_of_another(void)
{
	struct realtime *r = connected("openai");
	say(r, "{\"type\":\"session.updated\",\"session\":{}}");
	realtime_provider.text(r, "x");
	realtime_provider.text(r, "y");
	buf_reset(&sent);
	say(r, "{\"type\":\"error\",\"error\":{\"code\":\"odd\",\"event_id\":\"other\"}}");
	is(&sent, "");
	say(r, "{\"type\":\"error\",\"error\":{\"code\":\"odd\"}}");
	is(&sent, REQUEST("2"));
	say(r, CREATED_HERE("1"));
	say(r, BUSY("\"respond-2\""));
	say(r, DONE);
	is(&sent, REQUEST("3"));
	say(r, CREATED_HERE("3"));
	say(r, DONE);
	CU_ASSERT_TRUE(rest(r) >= 0);
	disconnect(r);
}

/* Where neither ids nor marks come back. */
static void openai_error_of_unknown(void)
{
	struct realtime *r = connected("openai");
	say(r, "{\"type\":\"session.updated\",\"session\":{}}");
	realtime_provider.text(r, "x");
	say(r, "{\"type\":\"error\",\"error\":{\"code\":\"odd\"}}");
	CU_ASSERT_EQUAL(rest(r), 5000);
	realtime_provider.text(r, "y");
	say(r, CREATED);
	say(r, DONE);
	CU_ASSERT_EQUAL(rest(r), 0);
	buf_reset(&sent);
	realtime_provider.text(r, "z");
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_str(&sent), REQUEST("3")));
	disconnect(r);
}

static void openai_again(void)
{
	struct realtime *r = connected("openai");
	int64_t now = r->now;
	realtime_provider.text(r, "x");
	buf_reset(&sent);
	say(r, BUSY("\"respond-1\""));
	CU_ASSERT_EQUAL(rest(r), -1);
	CU_ASSERT_EQUAL(r->again, now + 500);
	r->dialect->again(r);
	is(&sent, REQUEST("2"));
	CU_ASSERT_EQUAL(r->again, 0);
	disconnect(r);
}

static void openai_manual(void)
{
	cJSON *vad = json_parse("{\"enabled\":false}", 17, 5, NULL);
	const struct ag_live_setup setup = {.model = "m", .vad = vad};
	struct realtime *r = connect_with("openai", &setup);
	realtime_provider.text(r, "x");
	realtime_provider.activity(r, true);
	realtime_provider.audio(r, "\0\0", 2);
	say(r, CREATED_HERE("1"));
	buf_reset(&sent);
	realtime_provider.activity(r, false);
	is(&sent, "{\"type\":\"input_audio_buffer.commit\"}|");
	say(r, DONE);
	is(&sent, REQUEST("2"));
	say(r, CREATED_HERE("2"));
	say(r, DONE);
	CU_ASSERT_EQUAL(rest(r), 0);
	disconnect(r);
	cJSON_Delete(vad);
}

static void openai_writes(void)
{
	struct realtime *r = connected("openai");
	say(r,
	    "{\"type\":\"session.updated\",\"session\":{\"audio\":{\"input\":{\"transcription\":{"
	    "\"model\":\"whisper-1\"}}}}}");
	realtime_provider.audio(r, "\0\0", 2);
	say(r, SILENCE);
	say(r, "{\"type\":\"input_audio_buffer.committed\",\"item_id\":\"i\"}");
	say(r, CREATED);
	say(r, DONE);
	CU_ASSERT_TRUE(rest(r) > 0);
	say(r, HEARD "completed\",\"item_id\":\"i\",\"transcript\":\"Hello\"}");
	CU_ASSERT_EQUAL(rest(r), 0);
	disconnect(r);
}

static void openai_tools(void)
{
	struct realtime *r = connected("openai");
	cJSON *five = cJSON_CreateNumber(5);
	say(r, CREATED);
	say(r,
	    "{\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"name\":"
	    "\"add\",\"call_id\":\"c1\",\"arguments\":\"{\\\"a\\\":2}\"}}");
	say(r,
	    "{\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"name\":"
	    "\"add\",\"call_id\":\"c2\",\"arguments\":\"{oops\"}}");
	realtime_provider.tool_result(r, "c1", "add", five, false);
	realtime_provider.tool_result(r, "c0", "add", five, false);
	say(r, DONE);
	is(&told, "call [c1] add {\"a\":2}|call [c2] add {}|");
	realtime_provider.tool_result(r, "c2", "add", five, true);
#define OUTPUT(id, text)                                                                      \
	"{\"type\":\"conversation.item.create\",\"item\":{\"type\":\"function_call_output\"," \
	"\"call_id\":\"" id "\",\"output\":\"" text "\"}}|"
	is(&sent, OUTPUT("c1", "5") OUTPUT("c2", "Error: 5") REQUEST("1"));
	cJSON_Delete(five);
	disconnect(r);
}

static void openai_errors(void)
{
	struct realtime *r = connected("openai");
	say(r, "{\"type\":\"session.updated\"}");
	say(r, "{\"type\":\"error\",\"error\":{\"code\":\"odd\",\"message\":\"not s3cret\"}}");
	say(r, "{\"type\":\"error\",\"error\":{\"code\":\"response_cancel_not_active\"}}");
	say(r, "{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\"}}");
	is(&told,
	    "ready|heard!|error [odd] not (key)|error [authentication_error] the provider reports an "
	    "error!|");
	disconnect(r);
	/* one that passes may let the next connection begin */
	r = connected("openai");
	say(r,
	    "{\"type\":\"error\",\"error\":{\"type\":\"server_error\",\"message\":\"try again\"}}");
	is(&told, "lost openai: try again|");
	disconnect(r);
}

static void nonsense(void)
{
	static const char *const texts[] = {"", "[]", "{", "5", "\"x\""};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct realtime *r = connected("gemini");
		say(r, texts[i]);
		is(&told, "lost gemini: it sent what is no JSON object|");
		disconnect(r);
	}
	struct realtime *r = connected("openai");
	say(r, "{\"type\":5}");
	say(r, "{\"type\":\"response.done\"}");
	say(r, "{\"type\":\"response.output_audio.delta\",\"delta\":\"?\"}");
	is(&told, "complete|lost openai: it sent audio that is no base64|");
	disconnect(r);
}

static void gemini_turn(void)
{
	struct realtime *r = connected("gemini");
	say(r, "{\"setupComplete\":{}}");
	say(r, "{\"serverContent\":{\"inputTranscription\":{\"text\":\"Hello\"}}}");
	say(r,
	    "{\"serverContent\":{\"modelTurn\":{\"parts\":[{\"text\":\"hm\",\"thought\":true},"
	    "{\"inlineData\":{\"mimeType\":\"audio/pcm;rate=24000\",\"data\":\"AAAA\"}},"
	    "{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"AAAA\"}}]}},"
	    "\"usageMetadata\":{\"totalTokenCount\":5}}");
	say(r, "{\"serverContent\":{\"outputTranscription\":{\"text\":\"Hi\"}}}");
	say(r, "{\"serverContent\":{\"generationComplete\":true}}");
	say(r, "{\"serverContent\":{\"turnComplete\":true}}");
	is(&told, "ready|heard Hello|audio 2|said Hi|heard!|complete|");
	say(r, "{\"serverContent\":{\"interrupted\":true}}");
	say(r, "{\"serverContent\":{\"turnComplete\":true}}");
	is(&told, "heard!|interrupted|");
	disconnect(r);
}

static void gemini_tools(void)
{
	struct realtime *r = connected("gemini");
	cJSON *five = cJSON_CreateNumber(5);
	say(r,
	    "{\"toolCall\":{\"functionCalls\":[{\"id\":\"c1\",\"name\":\"add\",\"args\":{\"a\":2}},"
	    "{\"id\":\"c2\",\"name\":\"now\"}]}}");
	say(r, "{\"serverContent\":{\"turnComplete\":true}}");
	say(r, "{\"toolCallCancellation\":{\"ids\":[\"c2\",\"c9\"]}}");
	is(&told, "call [c1] add {\"a\":2}|call [c2] now {}|");
	realtime_provider.tool_result(r, "c2", "now", five, false);
	realtime_provider.tool_result(r, "c1", "add", five, true);
	is(&sent,
	    "{\"toolResponse\":{\"functionResponses\":[{\"id\":\"c1\",\"name\":\"add\","
	    "\"response\":{\"error\":5}}]}}|");
	say(r, "{\"serverContent\":{\"turnComplete\":true}}");
	is(&told, "heard!|complete|");
	cJSON_Delete(five);
	disconnect(r);
}

/* Providers refuse the tools' own names. */
static void tools_go_by_names_that_are_taken(void)
{
	cJSON *tools = cJSON_Parse("[{\"name\":\"a.b\"},{\"name\":\"a_b\"},{\"name\":\"2\"}]");
	const struct ag_live_setup setup = {.model = "m", .tools = tools};
	cJSON *five = cJSON_CreateNumber(5);
	struct realtime *r = connect_with("gemini", &setup);
	CU_ASSERT_PTR_NOT_NULL(strstr(r->opening, "{\"name\":\"a_b_2\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(r->opening, "{\"name\":\"a_b\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(r->opening, "{\"name\":\"_2\""));
	say(r, "{\"toolCall\":{\"functionCalls\":[{\"id\":\"c1\",\"name\":\"a_b_2\"}]}}");
	is(&told, "call [c1] a.b {}|");
	realtime_provider.tool_result(r, "c1", "a.b", five, false);
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_str(&sent), "\"name\":\"a_b_2\""));
	disconnect(r);
	r = connect_with("openai", &setup);
	CU_ASSERT_PTR_NOT_NULL(strstr(r->opening, "\"name\":\"a_b_2\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(r->opening, "\"name\":\"_2\""));
	disconnect(r);
	cJSON_Delete(five);
	cJSON_Delete(tools);
}

#define END_OF_TURN "{\"serverContent\":{\"turnComplete\":true}}"
#define SPEAKS "{\"serverContent\":{\"modelTurn\":{\"parts\":[{\"text\":\"x\"}]}}}"
#define CUT "{\"serverContent\":{\"interrupted\":true}}"

/* Some models end the turn that calls, whenever they do. */
static void gemini_calling_turn(void)
{
	struct realtime *r = connected("gemini");
	cJSON *five = cJSON_CreateNumber(5);
	realtime_provider.text(r, "x");
	say(r, SPEAKS);
	say(r, "{\"toolCall\":{\"functionCalls\":[{\"id\":\"c1\",\"name\":\"add\"}]}}");
	realtime_provider.tool_result(r, "c1", "add", five, false);
	buf_reset(&told);
	say(r, "{\"serverContent\":{\"outputTranscription\":{\"finished\":true}}}");
	say(r, END_OF_TURN);
	is(&told, "said!|");
	CU_ASSERT_EQUAL(rest(r), -1);
	say(r, SPEAKS);
	say(r, END_OF_TURN);
	is(&told, "heard!|complete|");
	CU_ASSERT_TRUE(rest(r) >= 0);
	say(r, "{\"toolCall\":{\"functionCalls\":[{\"id\":\"c2\",\"name\":\"add\"}]}}");
	realtime_provider.tool_result(r, "c2", "add", five, false);
	say(r, SPEAKS);
	buf_reset(&told);
	say(r, END_OF_TURN);
	is(&told, "heard!|complete|");
	cJSON_Delete(five);
	disconnect(r);
}

static void gemini_noise(void)
{
	struct realtime *r = connected("gemini");
	realtime_provider.text(r, "x");
	say(r, SPEAKS);
	CU_ASSERT_EQUAL(rest(r), -1);
	say(r, CUT);
	say(r, END_OF_TURN);
	CU_ASSERT_EQUAL(rest(r), 10000);
	say(r, SPEAKS);
	say(r, END_OF_TURN);
	CU_ASSERT_EQUAL(rest(r), 2500);
	say(r, "{\"serverContent\":{\"inputTranscription\":{\"text\":\"Hello\"}}}");
	CU_ASSERT_EQUAL(rest(r), 10000);
	disconnect(r);
}

static void gemini_two_texts(void)
{
	struct realtime *r = connected("gemini");
	realtime_provider.text(r, "x");
	say(r, SPEAKS);
	realtime_provider.text(r, "y");
	say(r, END_OF_TURN);
	CU_ASSERT_EQUAL(rest(r), 10000);
	disconnect(r);
}

static void gemini_manual(void)
{
	cJSON *vad = json_parse("{\"enabled\":false}", 17, 5, NULL);
	const struct ag_live_setup setup = {.model = "m", .vad = vad};
	struct realtime *r = connect_with("gemini", &setup);
	realtime_provider.activity(r, true);
	realtime_provider.audio(r, "\0\0", 2);
	say(r, SPEAKS);
	say(r, CUT);
	say(r, END_OF_TURN);
	realtime_provider.activity(r, false);
	CU_ASSERT_EQUAL(rest(r), -1);
	disconnect(r);
	cJSON_Delete(vad);
}

#define INPUT(text) "{\"realtimeInput\":{" text "}}|"

/* One of them takes no turns of a client. */
static void gemini_words(void)
{
	cJSON *vad = json_parse("{\"enabled\":false}", 17, 5, NULL);
	struct ag_live_setup setup = {.model = "gemini-3.1-flash-live-preview"};
	struct realtime *r = connect_with("gemini", &setup);
	realtime_provider.text(r, "x");
	is(&sent, INPUT("\"text\":\"x\""));
	CU_ASSERT_EQUAL(rest(r), -1);
	disconnect(r);
	setup.vad = vad;
	r = connect_with("gemini", &setup);
	realtime_provider.text(r, "x");
	realtime_provider.activity(r, true);
	realtime_provider.text(r, "y");
	is(&sent,
	    INPUT("\"activityStart\":{}") INPUT("\"text\":\"x\"") INPUT("\"activityEnd\":{}")
		INPUT("\"activityStart\":{}") INPUT("\"text\":\"y\""));
	disconnect(r);
	cJSON_Delete(vad);
}

static void gemini_last_words(void)
{
	struct realtime *r = connected("gemini");
	realtime_provider.audio(r, "\0\0", 2);
	say(r, SPEAKS);
	buf_reset(&sent);
	realtime_provider.finish(r);
	is(&sent, "{\"realtimeInput\":{\"audioStreamEnd\":true}}|");
	disconnect(r);
}

static void gemini_connection(void)
{
	struct realtime *r = connected("gemini");
	say(r, "{\"sessionResumptionUpdate\":{\"newHandle\":\"h1\",\"resumable\":true}}");
	say(r, "{\"sessionResumptionUpdate\":{\"newHandle\":\"\",\"resumable\":false}}");
	say(r, "{\"goAway\":{\"timeLeft\":\"9.5s\"}}");
	say(r, "{\"goAway\":{}}");
	is(&told, "handle h1|go_away 9.5|go_away -1|");
	disconnect(r);
}

static void openings(void)
{
	cJSON *vad = json_parse("{\"enabled\":false}", 17, 5, NULL);
	const struct ag_live_setup setup = {
	    .model = "m", .text = true, .vad = vad, .resumption_handle = "h"};
	struct realtime *r = connect_with("gemini", &setup);
	CU_ASSERT_STRING_EQUAL(r->opening,
	    "{\"setup\":{\"model\":\"models/m\",\"generationConfig\":{\"responseModalities\":[\"TEXT\"]},"
	    "\"realtimeInputConfig\":{\"automaticActivityDetection\":{\"disabled\":true}},"
	    "\"sessionResumption\":{\"handle\":\"h\"},\"inputAudioTranscription\":{}}}");
	disconnect(r);
	r = connect_with("openai", &setup);
	CU_ASSERT_PTR_NOT_NULL(strstr(r->opening, "\"output_modalities\":[\"text\"]"));
	CU_ASSERT_PTR_NOT_NULL(strstr(r->opening, "\"turn_detection\":null"));
	disconnect(r);
	cJSON_Delete(vad);
}

static void addresses(void)
{
	static const char *const wrong[] = {"", "host", "ftp://h/", "ws://", "ws://:80/",
	    "ws://h:0/", "ws://h:99999", "ws://h:x/", "ws://u@h/", "ws://[::1", "ws://[]:5/",
	    "ws://h /"};
	struct realtime_address a;
	CU_ASSERT_TRUE_FATAL(realtime_address_read(&a, "wss://api.example:8443/v1/x?y=z#f"));
	CU_ASSERT_TRUE(a.tls && a.port == 8443);
	CU_ASSERT_STRING_EQUAL(a.host, "api.example");
	CU_ASSERT_STRING_EQUAL(a.path, "/v1/x?y=z");
	realtime_address_release(&a);
	CU_ASSERT_TRUE_FATAL(realtime_address_read(&a, "http://[::1]:81?q"));
	CU_ASSERT_TRUE(!a.tls && a.port == 81);
	CU_ASSERT_STRING_EQUAL(a.host, "::1");
	CU_ASSERT_STRING_EQUAL(a.path, "/?q");
	realtime_address_release(&a);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		CU_ASSERT_FALSE(realtime_address_read(&a, wrong[i]));
}

static const struct unit_test tests[] = {
    {"a response of OpenAI is told with its words and audio", openai_response},
    {"the names of the beta are understood", openai_beta},
    {"what OpenAI hears is told", openai_hears},
    {"speech cuts a response, and the item to what was heard", openai_barge_in},
    {"a response is asked for when no other goes on", openai_one_response},
    {"one that speech began is not the one that was asked for", openai_other_response},
    {"one that another one was in the way of is asked for again", openai_busy},
    {"an answer to a text is none to speech", openai_speech_after},
    {"an error of something else takes no answer away", openai_error_of_another},
    {"nor does one of which nothing is known", openai_error_of_unknown},
    {"a response that was in the way and is not seen does not keep one from being asked for",
	openai_again},
    {"speech into which a response begins is answered", openai_manual},
    {"what was heard is waited for", openai_writes},
    {"a response follows when all calls have results", openai_tools},
    {"errors are told, without the key, and some are the end", openai_errors},
    {"a provider that talks nonsense is lost", nonsense},
    {"a turn of Gemini is told with its words and audio", gemini_turn},
    {"calls of Gemini have results, unless they were taken back", gemini_tools},
    {"tools go by names that are taken", tools_go_by_names_that_are_taken},
    {"the end of the turn that called is not that of the answer", gemini_calling_turn},
    {"noise that cut an answer is not waited for as one that is owed", gemini_noise},
    {"of two texts the second is answered too", gemini_two_texts},
    {"speech into which an answer goes on is answered", gemini_manual},
    {"a text is a turn, or words where none are taken", gemini_words},
    {"the end of the audio is told when the model speaks", gemini_last_words},
    {"handles are kept while they can be used, and a departure is told", gemini_connection},
    {"a session is opened as it was set up", openings},
    {"an address is read from a URL", addresses},
};

int main(void)
{
	return unit_main("realtime", tests, UNIT_COUNT(tests));
}
