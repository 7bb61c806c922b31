/* SPDX-License-Identifier: ISC */
/* Calls to providers that answer, and to those that have a bad day. */
#include "base/http/http.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "chat_fixture.h"
#include "model/names.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SCRIPT(...)                                        \
	static const struct step script[] = {__VA_ARGS__}; \
	provider_script(script, UNIT_COUNT(script))

#define QUICK "'retries':0,'model':'m'"

/* ---- What the providers send, as they document it */

static const char openai_stream[] =
    "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"gpt-x-1\",\"choices\":"
    "[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"H\xc3\xa9\"}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"llo \\ud83d\\ude00\"}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":5,"
    "\"total_tokens\":17,\"prompt_tokens_details\":{\"cached_tokens\":8,\"audio_tokens\":1},"
    "\"completion_tokens_details\":{\"reasoning_tokens\":3,\"audio_tokens\":2}}}\n\n"
    "data: [DONE]\n\n";

static const char openai_calls[] =
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":"
    "\"function\",\"function\":{\"name\":\"add\",\"arguments\":\"\"}}]}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":"
    "\"{\\\"a\\\":\"}}]}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"c2\",\"function\":"
    "{\"name\":\"now\",\"arguments\":\"\"}},{\"index\":0,\"function\":{\"arguments\":\"1}\"}}]}}]}"
    "\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n"
    "data: [DONE]\n\n";

static const char anthropic_stream[] =
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":"
    "\"assistant\",\"model\":\"claude-x-1\",\"content\":[],\"usage\":{\"input_tokens\":10,"
    "\"cache_creation_input_tokens\":4,\"cache_read_input_tokens\":6,\"output_tokens\":1}}}\n\n"
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"
    "\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n"
    "event: ping\ndata: {\"type\": \"ping\"}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
    "{\"type\":\"thinking_delta\",\"thinking\":\"Let me \"}}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
    "{\"type\":\"thinking_delta\",\"thinking\":\"see\"}}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
    "{\"type\":\"signature_delta\",\"signature\":\"EqQB\"}}\n\n"
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,"
    "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":"
    "{\"type\":\"text_delta\",\"text\":\"Okay\"}}\n\n"
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,"
    "\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"add\",\"input\":{}}}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":"
    "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\": \"}}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":"
    "{\"type\":\"input_json_delta\",\"partial_json\":\"1}\"}}\n\n"
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
    "\"tool_use\"},\"usage\":{\"output_tokens\":15}}\n\n"
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

static const char gemini_stream[] =
    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hm\",\"thought\":true}],\"role\":"
    "\"model\"},\"index\":0}],\"modelVersion\":\"gemini-x-1\"}\r\n\r\n"
    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Sure\"}],\"role\":\"model\"}}]}"
    "\r\n\r\ndata: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"add\","
    "\"args\":{\"a\":1}},\"thoughtSignature\":\"c2ln\"},{\"functionCall\":{\"name\":\"now\"}}],"
    "\"role\":\"model\"},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":20,"
    "\"candidatesTokenCount\":7,\"thoughtsTokenCount\":5,\"totalTokenCount\":32,"
    "\"cachedContentTokenCount\":4,\"promptTokensDetails\":[{\"modality\":\"IMAGE\","
    "\"tokenCount\":9}]}}\r\n\r\n";

/* ---- Answers */

/* pieces: how many; 0 for any number. */
static void check_openai(enum step_kind kind, int pieces)
{
	const struct step script[] = {{kind, 200, NULL, openai_stream}};
	struct chat_result r;
	struct heard h = {0};
	provider_script(script, 1);
	CU_ASSERT_EQUAL(ask("{" QUICK "}", &h, &r), CHAT_DONE);
	CU_ASSERT_PTR_NULL(r.error);
	CU_ASSERT_STRING_EQUAL(buf_str(&h.text), "H\xc3\xa9llo \xf0\x9f\x98\x80");
	CU_ASSERT(pieces ? h.pieces == pieces : h.pieces > 0);
	CU_ASSERT(r.first_piece_ms >= 0);
	CU_ASSERT_STRING_EQUAL(at(r.message, "role"), "assistant");
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/0/text"), "H\xc3\xa9llo \xf0\x9f\x98\x80");
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/1"), "(none)");
	CU_ASSERT_STRING_EQUAL(at(r.message, "metadata"),
	    "{\"model\":\"gpt-x-1\",\"provider\":\"openai\",\"finish_reason\":\"stop\"}");
	CU_ASSERT_STRING_EQUAL(at(r.message, "usages"),
	    "{\"completion_tokens\":5,\"prompt_tokens\":12,\"total_tokens\":17,"
	    "\"reasoning_tokens\":3,\"cache_creation_input_tokens\":0,"
	    "\"cache_read_input_tokens\":8,\"image_tokens\":0,\"audio_tokens\":3}");
	heard_release(&h);
	chat_result_release(&r);
}

static void openai_text_is_streamed(void)
{
	check_openai(STEP_STREAM, 1);
	check_openai(STEP_BYTES, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(provider_head(), "POST /chat/completions HTTP/1.1\r\n"));
	CU_ASSERT_PTR_NOT_NULL(
	    strstr(provider_head(), "\r\nAuthorization: Bearer sk-openai-secret\r\n"));
}

#define DELTA(text) "data: {\"choices\":[{\"delta\":{" text "}}]}\n\n"
#define END "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"

static int pieces_of(enum step_kind kind, const char *events)
{
	const struct step script[] = {{kind, 200, NULL, events}};
	struct chat_result r;
	struct heard h = {0};
	provider_script(script, 1);
	CU_ASSERT_EQUAL(ask("{" QUICK "}", &h, &r), CHAT_DONE);
	CU_ASSERT_STRING_EQUAL(buf_str(&h.reasoning), "well, ");
	CU_ASSERT_STRING_EQUAL(buf_str(&h.text), "one two");
	int pieces = h.pieces;
	heard_release(&h);
	chat_result_release(&r);
	return pieces;
}

static void what_comes_together_is_one_piece(void)
{
	static const char events[] = DELTA("\"reasoning\":\"well\"") DELTA("\"reasoning\":\", \"")
	    DELTA("\"content\":\"one\"") DELTA("\"content\":\" two\"") END;
	CU_ASSERT_EQUAL(pieces_of(STEP_STREAM, events), 2);
	CU_ASSERT_EQUAL(pieces_of(STEP_HEARD, events), 4);
}

static void a_connection_serves_call_after_call(void)
{
	check_openai(STEP_STREAM, 1);
	unsigned before = provider_connections();
	for (int i = 0; i < 5; i++)
		check_openai(STEP_STREAM, 1);
	CU_ASSERT_EQUAL(provider_connections(), before);
}

static void openai_calls_are_put_together(void)
{
	SCRIPT({STEP_BYTES, 200, NULL, openai_calls});
	struct chat_result r;
	CU_ASSERT_EQUAL(ask("{" QUICK "}", NULL, &r), CHAT_DONE);
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/0"),
	    "{\"type\":\"tool_call\",\"id\":\"c1\",\"name\":\"add\",\"args\":{\"a\":1},"
	    "\"tool_type\":\"local\"}");
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/1/id"), "c2");
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/1/args"), "{}");
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/2"), "(none)");
	CU_ASSERT_STRING_EQUAL(at(r.message, "metadata/finish_reason"), "tool_calls");
	CU_ASSERT_STRING_EQUAL(at(r.message, "metadata/invalid_arguments"), "(none)");
	chat_result_release(&r);
}

/* The calls of an answer as [[id, name, args], …]; ids that were made up are "-". */
static const char *calls_of(const struct chat_result *r)
{
	static char *text;
	cJSON *list = cJSON_CreateArray();
	const cJSON *block;
	cJSON_ArrayForEach(block, json_get(r->message, "content")) {
		const char *id = json_str(block, "id");
		if (!id)
			continue;
		cJSON *call = cJSON_CreateArray();
		cJSON_AddItemToArray(list, call);
		bool own = strncmp(id, "call_", 5) != 0;
		cJSON_AddItemToArray(call, cJSON_CreateString(own ? id : "-"));
		cJSON_AddItemToArray(call, cJSON_CreateString(json_str(block, "name")));
		cJSON_AddItemToArray(call, cJSON_Duplicate(json_get(block, "args"), true));
	}
	free(text);
	text = json_print(list);
	cJSON_Delete(list);
	return text;
}

#define PIECE(call) "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{" call "}]}}]}\n\n"
#define FUNCTION(name, args) "\"function\":{\"name\":\"" name "\",\"arguments\":\"" args "\"}"
#define MORE(args) "\"function\":{\"arguments\":\"" args "\"}"
#define CALLS_END \
	"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"

/* The only detail of the answer's reasoning. */
static void check_kept(const char *settings, const char *expected)
{
	struct chat_result r;
	const char *detail = NULL;
	const cJSON *block;
	CU_ASSERT_EQUAL(ask(settings, NULL, &r), CHAT_DONE);
	cJSON_ArrayForEach(block, json_get(r.message, "content")) {
		const cJSON *details = json_get(block, "details");
		if (cJSON_GetArraySize(details) == 1)
			detail = details->child->valuestring;
	}
	CU_ASSERT_STRING_EQUAL(detail ? detail : "(none)", expected);
	chat_result_release(&r);
}

#define EXTRA "\"extra_content\":{\"google\":{\"thought_signature\":\"s\"}}"

static void what_a_service_wants_back_is_kept(void)
{
	SCRIPT({STEP_STREAM, 200, NULL,
		   PIECE("\"index\":0,\"id\":\"a\"," EXTRA "," FUNCTION("x", "{}")) CALLS_END},
	    {STEP_STREAM, 200, NULL,
		DELTA(
		    "\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"a\",\"index\":0}]")
		    DELTA(
			"\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"b\",\"index\":0}]")
			DELTA(
			    "\"reasoning_details\":[{\"type\":\"reasoning.text\",\"signature\":\"s\","
			    "\"index\":0},{\"type\":\"reasoning.encrypted\",\"data\":\"x\",\"index\":1},"
			    "{\"type\":\"reasoning.encrypted\",\"data\":\"y\",\"index\":1}]") END});
	check_kept("{" QUICK "}",
	    "{\"provider\":\"openai\",\"model\":\"m\",\"call\":\"a\",\"returns\":\"extra_content\","
	    "\"value\":{\"google\":{\"thought_signature\":\"s\"}}}");
	check_kept("{" QUICK "}",
	    "{\"provider\":\"openai\",\"model\":\"m\",\"returns\":\"reasoning_details\",\"value\":["
	    "{\"type\":\"reasoning.text\",\"text\":\"ab\",\"index\":0,\"signature\":\"s\"},"
	    "{\"type\":\"reasoning.encrypted\",\"data\":\"x\",\"index\":1},"
	    "{\"type\":\"reasoning.encrypted\",\"data\":\"y\",\"index\":1}]}");
}

#define OPEN(text) \
	"data: {\"choices\":[{\"delta\":{\"content\":\"" text "\"},\"finish_reason\":\"\"}]}\n\n"

#define CALLS(...) STEP_STREAM, 200, NULL, __VA_ARGS__ CALLS_END
#define MESSAGE(text) STEP_WHOLE, 200, NULL, "{\"choices\":[{\"message\":{" text "}}]}"
#define STRUCTURED ",'response_format':{'type':'json_object'}}"
#define INVALID "metadata/invalid_arguments"
#define FINISH "metadata/finish_reason"

/* One answer, and what stands where in the message that it becomes. */
static const struct answer {
	const char *name;
	const char *settings;
	struct step step;
	const char *calls; /* as calls_of() gives them */
	const char *message[3][2];
} answers[] = {
    {"calls without an index are told apart", "{" QUICK "}",
	{STEP_STREAM, 200, NULL,
	    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"a\"," FUNCTION(
		"x", "{}") "},{\"id\":\"b\"," FUNCTION("y",
		"{") "}]}}]}\n\n"
		     "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{" MORE(
			 "}") "}]},"
			      "\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"},
	"[[\"a\",\"x\",{}],[\"b\",\"y\",{}]]", {{INVALID, "(none)"}}},
    {"calls that share an index, each whole, with an id", "{" QUICK "}",
	{CALLS(PIECE("\"index\":0,\"id\":\"a\"," FUNCTION("x", "{\\\"n\\\":1}"))
		PIECE("\"index\":0,\"id\":\"b\"," FUNCTION("x", "{\\\"n\\\":2}")))},
	"[[\"a\",\"x\",{\"n\":1}],[\"b\",\"x\",{\"n\":2}]]", {{INVALID, "(none)"}}},
    {"in pieces, the second of them too", "{" QUICK "}",
	{CALLS(PIECE("\"index\":0,\"id\":\"a\"," FUNCTION("x", ""))
		PIECE("\"index\":0,\"id\":\"b\"," FUNCTION("y", "{\\\"n\\\":"))
		    PIECE("\"index\":0," MORE("2}")))},
	"[[\"a\",\"x\",{}],[\"b\",\"y\",{\"n\":2}]]", {{INVALID, "(none)"}}},
    {"a call without an index behind the last index", "{" QUICK "}",
	{CALLS(PIECE("\"index\":9223372036854775807,\"id\":\"a\"," FUNCTION("x", "{}"))
		PIECE("\"id\":\"b\"," FUNCTION("y", "{}")))},
	"[[\"a\",\"x\",{}],[\"b\",\"y\",{}]]", {{INVALID, "(none)"}}},
    {"each whole, without an id", "{" QUICK "}",
	{CALLS(PIECE("\"index\":0,\"id\":\"\"," FUNCTION("x", "{}"))
		PIECE("\"index\":0,\"id\":\"\"," FUNCTION("y", "{}")))},
	"[[\"-\",\"x\",{}],[\"-\",\"y\",{}]]", {{INVALID, "(none)"}}},
    {"one call, with another id in every piece", "{" QUICK "}",
	{CALLS(PIECE("\"index\":0,\"id\":\"a\"," FUNCTION("x", ""))
		PIECE("\"index\":0,\"id\":\"b\"," MORE("{\\\"n\\\":"))
		    PIECE("\"index\":0,\"id\":\"c\"," MORE("3}")))},
	"[[\"c\",\"x\",{\"n\":3}]]", {{INVALID, "(none)"}}},
    {"one call, with its id and name in every piece", "{" QUICK "}",
	{CALLS(PIECE("\"index\":0,\"id\":\"a\"," FUNCTION("x", "{"))
		PIECE("\"index\":0,\"id\":\"a\"," FUNCTION("x", "}"))
		    PIECE("\"index\":0,\"id\":\"a\"," FUNCTION("x", "")))},
	"[[\"a\",\"x\",{}]]", {{INVALID, "(none)"}}},
    {"calls with empty ids", "{" QUICK "}",
	{MESSAGE("\"tool_calls\":[{\"id\":\"\"," FUNCTION("x", "{}") "},{\"id\":\"\"," FUNCTION(
	    "y", "{}") "}]")},
	"[[\"-\",\"x\",{}],[\"-\",\"y\",{}]]", {{INVALID, "(none)"}}},
    {"calls without ids", "{" QUICK "}",
	{MESSAGE("\"tool_calls\":[{" FUNCTION("x", "") "},{" FUNCTION("y", "") "}]")},
	"[[\"-\",\"x\",{}],[\"-\",\"y\",{}]]", {{INVALID, "(none)"}}},
    {"calls that share an id", "{" QUICK "}",
	{CALLS(PIECE("\"index\":0,\"id\":\"a\"," FUNCTION("x", "{}"))
		PIECE("\"index\":1,\"id\":\"a\"," FUNCTION("y", "{}")))},
	"[[\"a\",\"x\",{}],[\"-\",\"y\",{}]]", {{INVALID, "(none)"}}},
    {"calls that share an id, without an index", "{" QUICK "}",
	{MESSAGE("\"tool_calls\":[{\"id\":\"a\"," FUNCTION("x", "{}") "},{\"id\":\"a\"," FUNCTION(
	    "x", "{}") "}]")},
	"[[\"a\",\"x\",{}],[\"-\",\"x\",{}]]", {{INVALID, "(none)"}}},
    {"arguments of a server like Anthropic's that are a text", "{" QUICK ",'provider':'anthropic'}",
	{STEP_WHOLE, 200, NULL,
	    "{\"content\":[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"x\",\"input\":\"{\\\"n\\\":1}\"}]}"},
	"[[\"a\",\"x\",{\"n\":1}]]", {{INVALID, "(none)"}}},
    {"a call that Anthropic makes itself is none", "{" QUICK ",'provider':'anthropic'}",
	{STEP_STREAM, 200, NULL,
	    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
	    "\"server_tool_use\",\"id\":\"a\",\"name\":\"web_search\",\"input\":{}}}\n\n"
	    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
	    "\"input_json_delta\",\"partial_json\":\"{}\"}}\n\n"
	    "data: {\"type\":\"message_stop\"}\n\n"},
	"[]", {{"content/0/type", "text"}}},
    {"the cost within the choice", "{" QUICK "}",
	{STEP_STREAM, 200, NULL,
	    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\",\"usage\":"
	    "{\"total_tokens\":7}}]}\n\n"},
	"[]", {{"usages/total_tokens", "7"}}},
    /* Of a call that was cut off before its arguments nobody knows that it has none. */
    {"a call that is cut off is marked", "{" QUICK "}",
	{STEP_STREAM, 200, NULL,
	    PIECE("\"index\":0,\"id\":\"a\"," FUNCTION("x", ""))
		PIECE("\"index\":1,\"id\":\"b\"," FUNCTION("y",
		    "")) "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n"},
	"[[\"a\",\"x\",{}],[\"b\",\"y\",{}]]", {{INVALID, "{\"b\":\"\"}"}}},
    {"a call of Anthropic that is cut off is marked", "{" QUICK ",'provider':'anthropic'}",
	{STEP_WHOLE, 200, NULL,
	    "{\"content\":[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"x\",\"input\":{}}],"
	    "\"stop_reason\":\"max_tokens\"}"},
	"[[\"a\",\"x\",{}]]", {{INVALID, "{\"a\":\"\"}"}}},
    {"arguments that are no JSON are marked", "{" QUICK "}",
	{MESSAGE(
	    "\"tool_calls\":[{\"id\":\"c1\"," FUNCTION("add", "{a:1") "},{\"id\":\"c2\"," FUNCTION(
		"add", "[1]") "},{\"id\":\"c3\",\"function\":{\"name\":\"add\"}}]")},
	"[[\"c1\",\"add\",{}],[\"c2\",\"add\",{}],[\"c3\",\"add\",{}]]",
	{{INVALID, "{\"c1\":\"{a:1\",\"c2\":\"[1]\"}"}}},
    {"the end may have a blank behind it", "{" QUICK "}",
	{STEP_STREAM, 200, NULL, DELTA("\"content\":\"a\"") END "data: [DONE] \n\n"}, "[]",
	{{"content/0/text", "a"}, {FINISH, "stop"}}},
    {"what follows the end is not read", "{" QUICK "}",
	{STEP_STREAM, 200, NULL,
	    DELTA("\"content\":\"a\"") END "data: [DONE]\n\n" DELTA(
		"\"content\":\"b\"") "data: {\"error\":\"x\"}\n\ndata: bye\n\n"},
	"[]", {{"content/0/text", "a"}, {FINISH, "stop"}}},
    {"an empty finish_reason is none", "{" QUICK "}",
	{STEP_STREAM, 200, NULL, OPEN("a") OPEN("b") END}, "[]",
	{{"content/0/text", "ab"}, {FINISH, "stop"}}},
    {"invalid bytes become question marks", "{" QUICK "}",
	{STEP_STREAM, 0, NULL,
	    "data: {\"choices\":[{\"delta\":{\"content\":\"a\xff\\u0000b\\ud800c\"},"
	    "\"finish_reason\":\"stop\"}]}\n\n"},
	"[]",
	{{"content/0/text",
	    "a?\xef\xbf\xbd"
	    "b\xef\xbf\xbd"
	    "c"}}},
    {"structured output is parsed", "{" QUICK STRUCTURED,
	{MESSAGE("\"content\":\"{\\\"n\\\": 1}\"")}, "[]", {{"parsed_content", "{\"n\":1}"}}},
    {"a refusal is what it says, and why it ended", "{" QUICK STRUCTURED,
	{STEP_STREAM, 200, NULL, DELTA("\"refusal\":\"I \"") DELTA("\"refusal\":\"will not\"") END},
	"[]", {{"content/0/text", "I will not"}, {FINISH, "content_filter"}}},
    {"so is what stands between fences", "{" QUICK STRUCTURED,
	{MESSAGE("\"content\":\"```json\\n{\\\"n\\\": 2}\\n```\"")}, "[]",
	{{"parsed_content", "{\"n\":2}"}}},
    {"half an object is none", "{" QUICK STRUCTURED, {MESSAGE("\"content\":\"{\\\"n\\\"\"")}, "[]",
	{{"parsed_content", "null"}}},
};

static void answers_become_messages(void)
{
	for (size_t i = 0; i < UNIT_COUNT(answers); i++) {
		const struct answer *a = &answers[i];
		struct chat_result r;
		unit_row("%s", a->name);
		provider_script(&a->step, 1);
		CU_ASSERT_EQUAL(ask(a->settings, NULL, &r), CHAT_DONE);
		CU_ASSERT_STRING_EQUAL(calls_of(&r), a->calls);
		for (size_t j = 0; j < UNIT_COUNT(a->message) && a->message[j][0]; j++)
			CU_ASSERT_STRING_EQUAL(at(r.message, a->message[j][0]), a->message[j][1]);
		chat_result_release(&r);
	}
}

static void an_answer_in_one_piece_is_the_same(void)
{
	SCRIPT({STEP_WHOLE, 200, NULL,
	    "{\"model\":\"gpt-x-1\",\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":"
	    "\"Hello\",\"reasoning_content\":\"Well\",\"tool_calls\":[{\"id\":\"c1\",\"type\":"
	    "\"function\",\"function\":{\"name\":\"add\",\"arguments\":\"{\\\"a\\\":2}\"}}]},"
	    "\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":1,"
	    "\"completion_tokens\":2,\"total_tokens\":3,\"prompt_tokens_details\":"
	    "{\"cached_tokens\":9223372036854775807}}}"});
	struct chat_result r;
	struct heard h = {0};
	CU_ASSERT_EQUAL(ask("{" QUICK ",'stream':false}", &h, &r), CHAT_DONE);
	CU_ASSERT_PTR_NULL(json_get(provider_body(), "stream"));
	CU_ASSERT_STRING_EQUAL(buf_str(&h.text), "Hello");
	CU_ASSERT_STRING_EQUAL(buf_str(&h.reasoning), "Well");
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/0/summary"), "Well");
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/1/text"), "Hello");
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/2/args/a"), "2");
	CU_ASSERT_STRING_EQUAL(at(r.message, "usages/total_tokens"), "3");
	CU_ASSERT_STRING_EQUAL(at(r.message, "usages/cache_read_input_tokens"), "0");
	heard_release(&h);
	chat_result_release(&r);
	/* the same from a server that was asked to stream */
	CU_ASSERT_EQUAL(ask("{" QUICK "}", NULL, &r), CHAT_DONE);
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/1/text"), "Hello");
	chat_result_release(&r);
}

/* What each provider is sent for tools whose names it refuses, and its calls of the first and the
 * last of these. */
static const struct named {
	const char *settings;
	struct step answer;
	const char *names[3]; /* paths of the tools' names in the body */
	const char *choice;   /* path of the one that it is to call */
	const char *past[3];  /* of past calls, and of a result that has a name */
} named[] = {
    {"{" QUICK "}",
	{STEP_BYTES, 200, NULL,
	    PIECE("\"index\":0,\"id\":\"x\"," FUNCTION("a_b_2", "{}"))
		PIECE("\"index\":1,\"id\":\"y\"," FUNCTION("_3_d", "{}")) CALLS_END},
	{"tools/0/function/name", "tools/1/function/name", "tools/2/function/name"},
	"tool_choice/function/name",
	{"messages/0/tool_calls/0/function/name", "messages/0/tool_calls/1/function/name"}},
    {"{" QUICK ",'api':'responses'}",
	{STEP_BYTES, 200, NULL,
	    "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":"
	    "\"function_call\",\"call_id\":\"x\",\"name\":\"a_b_2\",\"arguments\":\"\"}}\n\n"
	    "data: {\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":{\"type\":"
	    "\"function_call\",\"call_id\":\"y\",\"name\":\"_3_d\",\"arguments\":\"\"}}\n\n"
	    "data: {\"type\":\"response.completed\",\"response\":{}}\n\n"},
	{"tools/0/name", "tools/1/name", "tools/2/name"}, "tool_choice/name",
	{"input/0/name", "input/1/name"}},
    {"{" QUICK ",'provider':'anthropic'}",
	{STEP_BYTES, 200, NULL,
	    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
	    "\"tool_use\",\"id\":\"x\",\"name\":\"a_b_2\",\"input\":{}}}\n\n"
	    "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":"
	    "\"tool_use\",\"id\":\"y\",\"name\":\"_3_d\",\"input\":{}}}\n\n"
	    "data: {\"type\":\"message_stop\"}\n\n"},
	{"tools/0/name", "tools/1/name", "tools/2/name"}, "tool_choice/name",
	{"messages/1/content/0/name", "messages/1/content/1/name"}},
    {"{" QUICK ",'provider':'gemini'}",
	{STEP_BYTES, 200, NULL,
	    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"a_b_2\","
	    "\"id\":\"x\"}},{\"functionCall\":{\"name\":\"_3_d\",\"id\":\"y\"}}]},"
	    "\"finishReason\":\"STOP\"}]}\n\n"},
	{"tools/0/functionDeclarations/0/name", "tools/0/functionDeclarations/1/name",
	    "tools/0/functionDeclarations/2/name"},
	"toolConfig/functionCallingConfig/allowedFunctionNames/0",
	{"contents/1/parts/0/functionCall/name", "contents/1/parts/1/functionCall/name",
	    "contents/2/parts/0/functionResponse/name"}},
};

static void many_tools_are_alike_but_for_what_is_mended(void)
{
	cJSON *tools = cJSON_CreateArray();
	char name[] = "a.............";
	for (int i = 0; i < 2000; i++) {
		for (int place = 1, rest = i; place < 12; place++, rest /= 2)
			name[place] = ".:"[rest % 2];
		cJSON *tool = json_append(tools, cJSON_CreateObject());
		json_add_str(tool, "name", name);
	}
	clock_t start = clock();
	cJSON *names = chat_names_new(tools);
	CU_ASSERT(clock() - start < CLOCKS_PER_SEC);
	CU_ASSERT_EQUAL(cJSON_GetArraySize(names), 2000);
	CU_ASSERT_STRING_EQUAL(chat_name_own(names, "a______________2000"), name);
	cJSON_Delete(names);
	cJSON_Delete(tools);
}

static void tools_go_by_names_that_are_taken(void)
{
	static const struct chat_tool tools[] = {{.name = "a.b"}, {.name = "a_b"}, {.name = "3 d"}};
	cJSON *messages = json_from(
	    "[{'role':'assistant','content':[{'type':'tool_call','id':'c1','name':'a.b','args':{},"
	    "'tool_type':'local'},{'type':'tool_call','id':'c2','name':'gone/now','args':{'n':1},"
	    "'tool_type':'local'}]}]");
	for (size_t i = 0; i < UNIT_COUNT(named); i++) {
		const struct named *n = &named[i];
		struct chat_result r;
		struct chat_request rq = {.messages = messages,
		    .tools = tools,
		    .tool_count = UNIT_COUNT(tools),
		    .choice = CHAT_TOOLS_NAMED,
		    .tool_name = "a.b"};
		unit_row("%s", n->settings);
		provider_script(&n->answer, 1);
		CU_ASSERT_EQUAL(ask_with(n->settings, &rq, NULL, &r), CHAT_DONE);
		const cJSON *body = provider_body();
		CU_ASSERT_STRING_EQUAL(at(body, n->names[0]), "a_b_2");
		CU_ASSERT_STRING_EQUAL(at(body, n->names[1]), "a_b");
		CU_ASSERT_STRING_EQUAL(at(body, n->names[2]), "_3_d");
		CU_ASSERT_STRING_EQUAL(at(body, n->choice), "a_b_2");
		CU_ASSERT_STRING_EQUAL(at(body, n->past[0]), "a_b_2");
		CU_ASSERT_STRING_EQUAL(at(body, n->past[1]), "gone_now");
		if (n->past[2])
			CU_ASSERT_STRING_EQUAL(at(body, n->past[2]), "a_b_2");
		CU_ASSERT_STRING_EQUAL(calls_of(&r), "[[\"x\",\"a.b\",{}],[\"y\",\"3 d\",{}]]");
		chat_result_release(&r);
	}
	cJSON_Delete(messages);
}

static void anthropic_blocks_are_put_together(void)
{
	SCRIPT({STEP_BYTES, 200, NULL, anthropic_stream});
	struct chat_result r;
	struct heard h = {0};
	CU_ASSERT_EQUAL(ask("{" QUICK ",'provider':'anthropic'}", &h, &r), CHAT_DONE);
	CU_ASSERT_STRING_EQUAL(buf_str(&h.reasoning), "Let me see");
	CU_ASSERT_STRING_EQUAL(buf_str(&h.text), "Okay");
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/0/summary"), "Let me see");
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/0/details/0"),
	    "{\"provider\":\"anthropic\",\"signature\":\"EqQB\"}");
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/1/text"), "Okay");
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/2/id"), "toolu_1");
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/2/args"), "{\"a\":1}");
	CU_ASSERT_STRING_EQUAL(at(r.message, "metadata/finish_reason"), "tool_calls");
	CU_ASSERT_STRING_EQUAL(at(r.message, "metadata/model"), "claude-x-1");
	CU_ASSERT_STRING_EQUAL(at(r.message, "usages"),
	    "{\"completion_tokens\":15,\"prompt_tokens\":20,\"total_tokens\":35,"
	    "\"reasoning_tokens\":0,\"cache_creation_input_tokens\":4,"
	    "\"cache_read_input_tokens\":6,\"image_tokens\":0,\"audio_tokens\":0}");
	CU_ASSERT_PTR_NOT_NULL(strstr(provider_head(), "POST /v1/messages HTTP/1.1\r\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(provider_head(), "\r\nx-api-key: sk-anthropic-secret\r\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(provider_head(), "\r\nanthropic-version: 2023-06-01\r\n"));
	heard_release(&h);
	chat_result_release(&r);
}

static void gemini_parts_are_put_together(void)
{
	SCRIPT({STEP_BYTES, 200, NULL, gemini_stream});
	struct chat_result r;
	struct heard h = {0};
	CU_ASSERT_EQUAL(ask("{" QUICK ",'provider':'gemini'}", &h, &r), CHAT_DONE);
	CU_ASSERT_STRING_EQUAL(buf_str(&h.reasoning), "Hm");
	CU_ASSERT_STRING_EQUAL(buf_str(&h.text), "Sure");
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/0/summary"), "Hm");
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/1/text"), "Sure");
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/2/args"), "{\"a\":1}");
	CU_ASSERT_EQUAL(strncmp(at(r.message, "content/2/id"), "call_", 5), 0);
	CU_ASSERT_STRING_NOT_EQUAL(at(r.message, "content/2/id"), at(r.message, "content/3/id"));
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/3/name"), "now");
	cJSON *detail = json_from(at(r.message, "content/0/details/0"));
	CU_ASSERT_STRING_EQUAL(at(detail, "signature"), "c2ln");
	CU_ASSERT_STRING_EQUAL(at(detail, "call"), at(r.message, "content/2/id"));
	cJSON_Delete(detail);
	CU_ASSERT_STRING_EQUAL(at(r.message, "metadata/finish_reason"), "tool_calls");
	CU_ASSERT_STRING_EQUAL(at(r.message, "usages"),
	    "{\"completion_tokens\":12,\"prompt_tokens\":20,\"total_tokens\":32,"
	    "\"reasoning_tokens\":5,\"cache_creation_input_tokens\":0,"
	    "\"cache_read_input_tokens\":4,\"image_tokens\":9,\"audio_tokens\":0}");
	CU_ASSERT_PTR_NOT_NULL(strstr(
	    provider_head(), "POST /v1beta/models/m:streamGenerateContent?alt=sse HTTP/1.1\r\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(provider_head(), "\r\nx-goog-api-key: gemini-secret\r\n"));
	heard_release(&h);
	chat_result_release(&r);
}

/* ---- Bad days */

#define A_PIECE "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"

/* One answer, given as often as it is asked for, and how the call ends. */
static const struct bad_day {
	const char *name;
	struct step step;
	const char *settings;
	enum chat_end end;
	const char *says; /* a part of the error */
	unsigned requests;
} bad_days[] = {
    {"no answer at all", {STEP_NEVER, 0, NULL, ""}, "{" QUICK ",'timeouts':{'first_byte':0.1}}",
	CHAT_TIMED_OUT, "openai model m: no answer in time", 1},
    {"no answer in all the time", {STEP_NEVER, 0, NULL, ""}, "{" QUICK ",'timeouts':{'total':0.1}}",
	CHAT_TIMED_OUT, "no answer in time", 1},
    /* what has begun is not tried again */
    {"a stream that stalls", {STEP_STALL, 0, NULL, A_PIECE},
	"{'model':'m','retries':3,'timeouts':{'idle':0.1}}", CHAT_TIMED_OUT,
	"the answer stopped half-way", 1},
    {"a stream that breaks off", {STEP_CUT, 0, NULL, A_PIECE "data: {\"cho"},
	"{'model':'m','retries':3,'fallbacks':[{'model':'n'}]}", CHAT_FAILED,
	"the connection ended too early", 1},
    {"a stream that ends early", {STEP_STREAM, 0, NULL, A_PIECE}, "{" QUICK "}", CHAT_FAILED,
	"broke off its answer", 1},
    {"a stream that ends within an event", {STEP_STREAM, 0, NULL, A_PIECE "data: {\"cho"},
	"{" QUICK "}", CHAT_FAILED, "broke off its answer", 1},
    {"a stream with nothing before its end",
	{STEP_STREAM, 200, NULL, "data: {\"choices\":[]}\n\ndata: [DONE]\n\n"},
	"{'model':'m','retries':1}", CHAT_FAILED, "gave an answer without a message", 2},
    {"a stream whose finish_reason is empty", {STEP_STREAM, 200, NULL, OPEN("a") OPEN("b")},
	"{" QUICK "}", CHAT_FAILED, "broke off its answer", 1},
    {"a flood of no lines", {STEP_FLOOD, 0, NULL, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
	"{" QUICK "}", CHAT_FAILED, "too large an event", 1},
    {"a flood of JSON",
	{STEP_FLOOD, 0, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", "[1,2]"},
	"{" QUICK "}", CHAT_FAILED, "too large an answer", 1},
    {"a flood of events",
	{STEP_FLOOD, 0, NULL,
	    "data: {\"choices\":[{\"delta\":{\"content\":\"all work and no play makes\"}}]}\n\n"},
	"{" QUICK "}", CHAT_FAILED, "wrote too long an answer", 1},
    {"a page", {STEP_WHOLE, 200, "Content-Type: text/html\r\n", "<html>secret</html>"},
	"{" QUICK "}", CHAT_FAILED, "gave an answer that is not JSON", 1},
    {"a page of an error", {STEP_WHOLE, 502, "Content-Type: text/html\r\n", "<html>secret</html>"},
	"{" QUICK "}", CHAT_FAILED, "answered 502: no JSON, but text/html", 1},
    {"an event that is no JSON", {STEP_STREAM, 200, NULL, "data: <html>\n\n"}, "{" QUICK "}",
	CHAT_FAILED, "sent an event that is not JSON", 1},
    {"an empty object", {STEP_WHOLE, 200, NULL, "{}"}, "{" QUICK "}", CHAT_FAILED,
	"gave an answer without a message", 1},
    {"an error with 200", {STEP_WHOLE, 200, NULL, "{\"detail\":\"no such model\"}"}, "{" QUICK "}",
	CHAT_FAILED, "gave an answer without a message: no such model", 1},
    {"a list", {STEP_WHOLE, 200, NULL, "[]"}, "{" QUICK "}", CHAT_FAILED,
	"gave an answer without a message", 1},
    {"nothing", {STEP_WHOLE, 200, NULL, ""}, "{" QUICK "}", CHAT_FAILED,
	"gave an answer that is not JSON", 1},
    {"a key that is refused",
	{STEP_WHOLE, 401, NULL,
	    "{\"error\":{\"message\":\"Incorrect API key: sk-openai-secret.\\nSee the docs\","
	    "\"type\":\"invalid_request_error\"}}"},
	"{'model':'m','retries':3}", CHAT_FAILED, "openai model m: answered 401: Incorrect API key",
	1},
    {"an error that is a text", {STEP_WHOLE, 404, NULL, "{\"error\":\"model not found\"}"},
	"{" QUICK "}", CHAT_FAILED, "answered 404: model not found", 1},
    {"FastAPI's mistakes",
	{STEP_WHOLE, 422, NULL,
	    "{\"detail\":[{\"type\":\"missing\",\"loc\":[\"body\",\"messages\",0],\"msg\":"
	    "\"Field required\",\"input\":\"hush\"},{\"msg\":\"more\"}]}"},
	"{" QUICK "}", CHAT_FAILED, "answered 422: body.messages.0: Field required", 1},
    {"an error of Cloudflare",
	{STEP_WHOLE, 400, NULL,
	    "{\"success\":false,\"errors\":[{\"code\":7003,\"message\":\"No route\"}],\"messages\":[]}"},
	"{" QUICK "}", CHAT_FAILED, "answered 400: No route", 1},
    {"an error of MiniMax",
	{STEP_WHOLE, 200, NULL,
	    "{\"choices\":null,\"base_resp\":{\"status_code\":1004,\"status_msg\":\"login fail\"}}"},
	"{" QUICK "}", CHAT_FAILED, "gave an answer without a message: login fail", 1},
    {"an error of a provider behind OpenRouter",
	{STEP_WHOLE, 429, NULL,
	    "{\"error\":{\"message\":\"Provider returned error\",\"code\":429,\"metadata\":"
	    "{\"raw\":\"m is rate-limited upstream\",\"provider_name\":\"P\"}}}"},
	"{" QUICK "}", CHAT_FAILED,
	"answered 429: Provider returned error: m is rate-limited upstream", 1},
    {"FastAPI's error with a code",
	{STEP_WHOLE, 400, NULL, "{\"detail\":{\"code\":7,\"message\":\"no room\"}}"}, "{" QUICK "}",
	CHAT_FAILED, "answered 400: no room", 1},
    {"a wait that is too long",
	{STEP_WHOLE, 429, "Retry-After: 3600\r\n", "{\"error\":{\"message\":\"slow down\"}}"},
	"{'model':'m','retries':5}", CHAT_FAILED, "answered 429: slow down", 1},
    {"failing twice", {STEP_WHOLE, 500, NULL, ""}, "{'model':'m','retries':1}", CHAT_FAILED,
	"answered 500", 2},
    {"failing where nobody should ask again", {STEP_WHOLE, 500, "x-should-retry: false\r\n", "{}"},
	"{'model':'m','retries':3}", CHAT_FAILED, "answered 500", 1},
    {"failing where somebody should", {STEP_WHOLE, 409, "x-should-retry: true\r\n", "{}"},
	"{'model':'m','retries':1}", CHAT_FAILED, "answered 409", 2},
    {"an error in a stream where nobody should",
	{STEP_WHOLE, 200, "Content-Type: text/event-stream\r\nx-should-retry: false\r\n",
	    "data: {\"error\":{\"message\":\"out of memory\"}}\n\n"},
	"{'model':'m','retries':3}", CHAT_FAILED, "failed while it answered: out of memory", 1},
    {"two models that fail", {STEP_WHOLE, 503, NULL, "{}"},
	"{" QUICK ",'fallbacks':[{'model':'other'}]}", CHAT_FAILED,
	"openai model m: answered 503; openai model other: answered 503", 2},
    {"a closed port", {STEP_WHOLE, 500, NULL, ""}, "{" QUICK ",'base_url':'http://127.0.0.1:1'}",
	CHAT_FAILED, "openai model m: the server cannot be reached", 0},
    {"an error in a stream of OpenAI",
	{STEP_STREAM, 0, NULL, "data: {\"error\":{\"message\":\"out of memory\"}}\n\n"},
	"{" QUICK "}", CHAT_FAILED, "failed while it answered: out of memory", 1},
    {"an error that is an event", /* and the end behind it makes no answer of it */
	{STEP_STREAM, 0, NULL,
	    A_PIECE
	    "data: {\"object\":\"error\",\"message\":\"out of memory\"}\n\ndata: [DONE]\n\n"},
	"{" QUICK "}", CHAT_FAILED, "failed while it answered: out of memory", 1},
    {"an end that is an error",
	{STEP_STREAM, 0, NULL,
	    A_PIECE "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}\n\n"},
	"{" QUICK "}", CHAT_FAILED, "failed while it answered: no reason given", 1},
    {"an error in a stream of Anthropic",
	{STEP_STREAM, 0, NULL,
	    "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
	    "\"message\":\"Overloaded\"}}\n\n"},
	"{" QUICK ",'provider':'anthropic'}", CHAT_FAILED,
	"anthropic model m: failed while it answered: Overloaded", 1},
    {"a prompt that Gemini refuses",
	{STEP_STREAM, 0, NULL, "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n"},
	"{" QUICK ",'provider':'gemini'}", CHAT_FAILED, "refused the prompt (SAFETY)", 1},
    {"an error beside half an answer",
	{STEP_WHOLE, 200, NULL,
	    "{\"choices\":[{\"message\":{\"content\":\"half of\"},\"finish_reason\":\"error\","
	    "\"error\":{\"code\":502,\"message\":\"upstream is gone\"}}]}"},
	"{" QUICK "}", CHAT_FAILED, "failed while it answered: upstream is gone", 1},
};

/* Without ids, each could begin another call. */
static void many_pieces_with_a_name_cost_no_more_than_they_are_long(void)
{
	struct buf body = {0};
	struct chat_result r;
	buf_puts(&body, PIECE("\"index\":0," FUNCTION("x", "{\\\"a\\\":\\\"")));
	for (int i = 0; i < 40000; i++)
		buf_puts(&body, PIECE("\"index\":0," FUNCTION("x", "01234567890123456789")));
	buf_puts(&body,
	    PIECE("\"index\":0," FUNCTION("x", "\\\"} ")) PIECE("\"index\":0," FUNCTION("y", "{}"))
		CALLS_END);
	const struct step script[] = {{STEP_STREAM, 200, NULL, buf_str(&body)}};
	provider_script(script, 1);
	clock_t start = clock();
	CU_ASSERT_EQUAL(ask("{" QUICK "}", NULL, &r), CHAT_DONE);
	CU_ASSERT((clock() - start) / CLOCKS_PER_SEC < 5);
	CU_ASSERT_EQUAL(strlen(at(r.message, "content/0/args/a")), 800000);
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/1/name"), "y");
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/2"), "(none)");
	chat_result_release(&r);
	buf_release(&body);
}

/* Much of it is not even looked at. */
static void of_a_long_error_the_beginning_is_told(void)
{
	struct buf body = {0};
	struct chat_result r;
	buf_puts(&body, "{\"error\":{\"message\":\"It is sk-openai-secret ");
	for (int i = 0; i < 20000; i++)
		buf_puts(&body, "Bearer ");
	buf_puts(&body, "\"}}");
	const struct step script[] = {{STEP_WHOLE, 400, NULL, buf_str(&body)}};
	provider_script(script, 1);
	clock_t start = clock();
	ask("{" QUICK "}", NULL, &r);
	CU_ASSERT((clock() - start) / CLOCKS_PER_SEC < 5);
	CU_ASSERT_STRING_EQUAL(
	    r.error, "openai model m: answered 400: It is **************** ***BEARER_TOKEN***…");
	chat_result_release(&r);
	buf_release(&body);
}

/* In time, and without a word of the key. */
static void what_goes_wrong_is_an_error_that_says_so(void)
{
	for (size_t i = 0; i < UNIT_COUNT(bad_days); i++) {
		const struct bad_day *b = &bad_days[i];
		struct chat_result r;
		struct heard h = {0};
		int64_t before = clock_monotonic_ms();
		unit_row("%s: %s", b->name, b->says);
		provider_script(&b->step, 1);
		CU_ASSERT_EQUAL(ask(b->settings, &h, &r), b->end);
		CU_ASSERT(b->step.kind == STEP_FLOOD || clock_monotonic_ms() - before < 30000);
		CU_ASSERT(provider_comes_to(b->requests));
		CU_ASSERT_PTR_NULL(r.message);
		CU_ASSERT_PTR_NOT_NULL_FATAL(r.error);
		CU_ASSERT_PTR_NOT_NULL(strstr(r.error, b->says));
		CU_ASSERT_PTR_NULL(strstr(r.error, "secret"));
		CU_ASSERT_PTR_NULL(strstr(r.error, "127.0.0.1"));
		CU_ASSERT_PTR_NULL(strchr(r.error, '\n'));
		heard_release(&h);
		chat_result_release(&r);
	}
}

static void what_breaks_off_before_its_first_piece_is_tried_again(void)
{
	SCRIPT({STEP_CUT, 0, NULL, "data: {\"choi"}, {STEP_CUT, 0, NULL, ""},
	    {STEP_STREAM, 0, NULL, openai_stream});
	struct chat_result r;
	struct heard h = {0};
	CU_ASSERT_EQUAL(ask("{'model':'m','retries':2}", &h, &r), CHAT_DONE);
	CU_ASSERT_EQUAL(r.tries, 3);
	CU_ASSERT_STRING_EQUAL(buf_str(&h.text), "H\xc3\xa9llo \xf0\x9f\x98\x80");
	CU_ASSERT_EQUAL(h.pieces, 1);
	heard_release(&h);
	chat_result_release(&r);
}

static void a_busy_provider_is_asked_again_when_it_says(void)
{
	SCRIPT({STEP_WHOLE, 429, "Retry-After: 1\r\n", "{\"error\":{\"message\":\"slow down\"}}"},
	    {STEP_STREAM, 0, NULL, openai_stream});
	struct chat_result r;
	int64_t before = clock_monotonic_ms();
	CU_ASSERT_EQUAL(ask("{'model':'m','retries':1}", NULL, &r), CHAT_DONE);
	CU_ASSERT(clock_monotonic_ms() - before >= 1000);
	CU_ASSERT_EQUAL(r.tries, 2);
	chat_result_release(&r);
}

static void a_failing_provider_is_asked_again_after_a_while(void)
{
	SCRIPT({STEP_WHOLE, 500, NULL, ""}, {STEP_WHOLE, 429, NULL, "{}"},
	    {STEP_STREAM, 0, NULL, openai_stream});
	struct chat_result r;
	int64_t before = clock_monotonic_ms();
	CU_ASSERT_EQUAL(ask("{'model':'m'}", NULL, &r), CHAT_DONE);
	CU_ASSERT(clock_monotonic_ms() - before >= 250 + 500);
	CU_ASSERT_EQUAL(r.tries, 3);
	chat_result_release(&r);
}

static void what_keeps_the_connection_behind_the_end_is_not_waited_for(void)
{
	SCRIPT({STEP_PINGS, 200, NULL, DELTA("\"content\":\"a\"") END});
	struct chat_result r;
	int64_t before = clock_monotonic_ms();
	CU_ASSERT_EQUAL(ask("{" QUICK ",'timeouts':{'total':20}}", NULL, &r), CHAT_DONE);
	CU_ASSERT(clock_monotonic_ms() - before < 10000);
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/0/text"), "a");
	chat_result_release(&r);
}

static void the_next_model_is_asked_when_one_fails(void)
{
	SCRIPT({STEP_WHOLE, 503, NULL, "{}"}, {STEP_STREAM, 0, NULL, openai_stream});
	struct chat_result r;
	CU_ASSERT_EQUAL(
	    ask("{" QUICK ",'fallbacks':[{'model':'other'},{'model':'third'}]}", NULL, &r),
	    CHAT_DONE);
	CU_ASSERT_EQUAL(provider_requests(), 2);
	CU_ASSERT_STRING_EQUAL(at(provider_body(), "model"), "other");
	chat_result_release(&r);
}

static void check_stop(bool refuse)
{
	struct heard h = {.stop_after = 1, .refuse = refuse};
	struct chat_result r;
	CU_ASSERT_EQUAL(ask("{'model':'m'}", &h, &r), CHAT_STOPPED);
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/0/text"), "so far");
	CU_ASSERT_EQUAL(provider_requests(), 1);
	heard_release(&h);
	chat_result_release(&r);
}

static void a_stopped_call_gives_what_there_was(void)
{
	SCRIPT({STEP_STALL, 0, NULL,
	    "data: {\"choices\":[{\"delta\":{\"content\":\"so far\",\"tool_calls\":[{\"index\":0,"
	    "\"id\":\"c\",\"function\":{\"name\":\"x\",\"arguments\":\"{}\"}}]}}]}\n\n"});
	check_stop(false);
	provider_script(script, 1);
	check_stop(true);
}

/* 9 MB each, where an answer may have 8 MiB. */
static void a_long_name_is_a_part_of_the_answer(void)
{
	static const char *const answers_with[][2] = {
	    {"", "{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"%s\"}]}}]}"},
	    {"", "{\"choices\":[{\"message\":{\"tool_calls\":[{" FUNCTION("%s", "") "}]}}]}"},
	    {"", "{\"choices\":[{\"message\":{},\"finish_reason\":\"%s\"}]}"},
	    {"", "{\"choices\":[{\"message\":{}}],\"model\":\"%s\"}"},
	    {",'api':'responses'", "{\"output\":[{\"type\":\"function_call\",\"name\":\"%s\"}]}"},
	    {",'provider':'anthropic'", "{\"content\":[{\"type\":\"tool_use\",\"id\":\"%s\"}]}"},
	    {",'provider':'gemini'",
		"{\"candidates\":[{\"finishReason\":\"STOP\",\"content\":{"
		"\"parts\":[{\"functionCall\":{\"id\":\"%s\"}}]}}]}"},
	};
	const size_t len = 9000000;
	char *name = xcalloc(1, len + 1);
	memset(name, 'n', len);
	for (size_t i = 0; i < UNIT_COUNT(answers_with); i++) {
		char *before = xstrndup(answers_with[i][1],
		    (size_t)(strstr(answers_with[i][1], "%s") - answers_with[i][1]));
		char *body =
		    xasprintf("%s%s%s", before, name, strstr(answers_with[i][1], "%s") + 2);
		char *settings = xasprintf("{" QUICK "%s}", answers_with[i][0]);
		const struct step script[] = {{STEP_WHOLE, 200, NULL, body}};
		struct chat_result r;
		unit_row("%s", answers_with[i][1]);
		provider_script(script, 1);
		CU_ASSERT_EQUAL(ask(settings, NULL, &r), CHAT_FAILED);
		CU_ASSERT_PTR_NOT_NULL(r.error && strstr(r.error, "wrote too long an answer"));
		chat_result_release(&r);
		free(settings);
		free(body);
		free(before);
	}
	free(name);
}

/* All tries would take a minute.  Who has too little time for the first answer gets more. */
static void the_callers_deadline_counts(void)
{
	SCRIPT({STEP_WHOLE, 500, NULL, "{}"});
	cJSON *messages = cJSON_CreateArray();
	enum chat_end end = CHAT_TIMED_OUT;
	for (int64_t ms = 200; ms < 20000 && end == CHAT_TIMED_OUT; ms *= 4) {
		struct chat_result r;
		int64_t before = clock_monotonic_ms();
		struct chat_request rq = {.messages = messages, .deadline_ms = before + ms};
		provider_script(script, 1);
		end = ask_with("{'model':'m','retries':10,'fallbacks':[{}]}", &rq, NULL, &r);
		CU_ASSERT(clock_monotonic_ms() - before < ms + 30000);
		chat_result_release(&r);
	}
	CU_ASSERT_EQUAL(end, CHAT_FAILED);
	cJSON_Delete(messages);
}

static const struct unit_test tests[] = {
    {"OpenAI text is streamed", openai_text_is_streamed},
    {"what comes together is one piece, what comes later another",
	what_comes_together_is_one_piece},
    {"a connection serves call after call", a_connection_serves_call_after_call},
    {"OpenAI calls are put together", openai_calls_are_put_together},
    {"what a service wants back is kept", what_a_service_wants_back_is_kept},
    {"answers become messages", answers_become_messages},
    {"an answer in one piece is the same", an_answer_in_one_piece_is_the_same},
    {"many tools are alike but for what is mended", many_tools_are_alike_but_for_what_is_mended},
    {"tools go by names that are taken", tools_go_by_names_that_are_taken},
    {"Anthropic blocks are put together", anthropic_blocks_are_put_together},
    {"Gemini parts are put together", gemini_parts_are_put_together},
    {"many pieces with a name cost no more than they are long",
	many_pieces_with_a_name_cost_no_more_than_they_are_long},
    {"a long name is a part of the answer", a_long_name_is_a_part_of_the_answer},
    {"of a long error the beginning is told", of_a_long_error_the_beginning_is_told},
    {"what goes wrong is an error that says so", what_goes_wrong_is_an_error_that_says_so},
    {"what breaks off before its first piece is tried again",
	what_breaks_off_before_its_first_piece_is_tried_again},
    {"a busy provider is asked again when it says", a_busy_provider_is_asked_again_when_it_says},
    {"a failing provider is asked again after a while",
	a_failing_provider_is_asked_again_after_a_while},
    {"what keeps the connection behind the end is not waited for",
	what_keeps_the_connection_behind_the_end_is_not_waited_for},
    {"the next model is asked when one fails", the_next_model_is_asked_when_one_fails},
    {"a stopped call gives what there was", a_stopped_call_gives_what_there_was},
    {"the caller's deadline counts", the_callers_deadline_counts},
};

int main(void)
{
	memory_init();
	provider_start();
	int status = unit_main("chat_call", tests, UNIT_COUNT(tests));
	http_close_kept();
	provider_stop();
	return status;
}
