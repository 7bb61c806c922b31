/* SPDX-License-Identifier: ISC */
/* OpenAI's responses: what is asked, and what is made of what comes. */
#include "base/http/http.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "chat_fixture.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define QUICK "'api':'responses','retries':0,'model':'gpt-x'"

/* ---- What the service sends, as it documents it */

#define EVENT(type, rest) "event: " type "\ndata: {\"type\":\"" type "\"," rest "}\n\n"
#define ITEM(kind, index, item) \
	EVENT("response.output_item." kind, "\"output_index\":" index ",\"item\":{" item "}")
#define PIECE(type, index, text)                                                   \
	EVENT("response." type ".delta",                                           \
	    "\"item_id\":\"i\",\"output_index\":" index ",\"delta\":\"" text "\"," \
	    "\"sequence_number\":7,\"obfuscation\":\"aB3\"")
#define PART(index)                                       \
	EVENT("response.reasoning_summary_part.added",    \
	    "\"output_index\":0,\"summary_index\":" index \
	    ",\"part\":{\"type\":\"summary_text\",\"text\":\"\"}")
#define USAGE                                                                            \
	"\"usage\":{\"input_tokens\":75,\"input_tokens_details\":{\"cached_tokens\":64," \
	"\"cache_write_tokens\":2},\"output_tokens\":40,"                                \
	"\"output_tokens_details\":{\"reasoning_tokens\":32},\"total_tokens\":115}"
#define THOUGHT                                                                         \
	"\"id\":\"rs_1\",\"type\":\"reasoning\",\"status\":\"completed\","              \
	"\"encrypted_content\":\"gAAAsealed\",\"summary\":[{\"type\":\"summary_text\"," \
	"\"text\":\"First\"},{\"type\":\"summary_text\",\"text\":\"Then\"}]"
#define REMARK                                                                           \
	"\"id\":\"msg_1\",\"type\":\"message\",\"status\":\"completed\",\"role\":"       \
	"\"assistant\",\"phase\":\"commentary\",\"content\":[{\"type\":\"output_text\"," \
	"\"annotations\":[],\"logprobs\":[],\"text\":\"Let me h\xc3\xa9lp\"}]"
#define ADD                                                                                \
	"\"id\":\"fc_1\",\"type\":\"function_call\",\"status\":\"completed\",\"call_id\":" \
	"\"call_1\",\"name\":\"add\",\"arguments\":\"{\\\"a\\\":1}\""
#define NOW                                                                                \
	"\"id\":\"fc_2\",\"type\":\"function_call\",\"status\":\"completed\",\"call_id\":" \
	"\"call_2\",\"name\":\"now\",\"arguments\":\"\""

static const char first_half[] = EVENT("response.created",
    "\"response\":{\"id\":\"resp_1\",\"model\":\"gpt-x-1\","
    "\"status\":\"in_progress\",\"output\":[],\"error\":null},\"sequence_number\":0")
    EVENT("response.in_progress", "\"response\":{\"id\":\"resp_1\"}")
	ITEM("added", "0", "\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[]") PART("0") PIECE(
	    "reasoning_summary_text", "0", "Fir") PIECE("reasoning_summary_text", "0", "st")
	    PART("1") PIECE("reasoning_summary_text", "0", "Then") ITEM("done", "0", THOUGHT)
		ITEM("added", "1",
		    "\"id\":\"msg_1\",\"type\":\"message\",\"content\":[],\"role\":\"assistant\"")
		    EVENT("response.content_part.added",
			"\"output_index\":1,\"content_index\":0,"
			"\"part\":{\"type\":\"output_text\",\"text\":\"\"}")
			PIECE("output_text", "1", "Let me ")
			    PIECE("output_text", "1", "h\xc3\xa9lp")
				EVENT("response.output_text.done",
				    "\"output_index\":1,\"text\":\"Let me h\xc3\xa9lp\"")
				    ITEM("done", "1", REMARK);

static const char second_half[] = ITEM("added", "2",
    "\"id\":\"fc_1\",\"type\":\"function_call\",\"call_id\":\"call_1\","
    "\"name\":\"add\",\"arguments\":\"\"") PIECE("function_call_arguments", "2", "{\\\"a\\\":")
    PIECE("function_call_arguments", "2", "1}") EVENT("response.function_call_arguments.done",
	"\"output_index\":2,\"arguments\":\"{\\\"a\\\":1}\"") ITEM("done", "2", ADD) ITEM("added",
	"3",
	"\"id\":\"fc_2\",\"type\":\"function_call\",\"call_id\":\"call_2\","
	"\"name\":\"now\",\"arguments\":\"\"") ITEM("done", "3", NOW) EVENT("response.completed",
	"\"response\":{\"id\":\"resp_1\",\"model\":\"gpt-x-1\",\"status\":"
	"\"completed\",\"error\":null,\"incomplete_details\":null,\"output\":[{" THOUGHT
	"},{" REMARK "},{" ADD "},{" NOW "}]," USAGE "}");

#define WHOLE(status, rest, output)                                                             \
	"{\"id\":\"resp_1\",\"object\":\"response\",\"model\":\"gpt-x-1\",\"status\":\"" status \
	"\",\"error\":null," rest "," USAGE ",\"output\":[" output "]}"

static char *stream; /* the halves joined: no constant may be as long */

/* ---- Answers */

static void check_message(const cJSON *message)
{
	CU_ASSERT_STRING_EQUAL(at(message, "content/0/summary"), "First\n\nThen");
	CU_ASSERT_STRING_EQUAL(at(message, "content/0/details/0"),
	    "{\"provider\":\"openai\",\"model\":\"gpt-x\",\"returns\":\"reasoning\",\"value\":"
	    "{\"id\":\"rs_1\",\"type\":\"reasoning\",\"encrypted_content\":\"gAAAsealed\","
	    "\"summary\":[{\"type\":\"summary_text\",\"text\":\"First\"},"
	    "{\"type\":\"summary_text\",\"text\":\"Then\"}]}}");
	CU_ASSERT_STRING_EQUAL(at(message, "content/0/details/1"),
	    "{\"provider\":\"openai\",\"model\":\"gpt-x\",\"returns\":\"phase\",\"value\":"
	    "{\"text\":0,\"phase\":\"commentary\"}}");
	CU_ASSERT_STRING_EQUAL(at(message, "content/0/details/2"), "(none)");
	CU_ASSERT_STRING_EQUAL(at(message, "content/1/text"), "Let me h\xc3\xa9lp");
	CU_ASSERT_STRING_EQUAL(at(message, "content/2"),
	    "{\"type\":\"tool_call\",\"id\":\"call_1\",\"name\":\"add\",\"args\":{\"a\":1},"
	    "\"tool_type\":\"local\"}");
	CU_ASSERT_STRING_EQUAL(at(message, "content/3/id"), "call_2");
	CU_ASSERT_STRING_EQUAL(at(message, "content/3/args"), "{}");
	CU_ASSERT_STRING_EQUAL(at(message, "content/4"), "(none)");
	CU_ASSERT_STRING_EQUAL(at(message, "metadata"),
	    "{\"model\":\"gpt-x-1\",\"provider\":\"openai\",\"finish_reason\":\"tool_calls\"}");
	CU_ASSERT_STRING_EQUAL(at(message, "usages"),
	    "{\"completion_tokens\":40,\"prompt_tokens\":75,\"total_tokens\":115,"
	    "\"reasoning_tokens\":32,\"cache_creation_input_tokens\":2,"
	    "\"cache_read_input_tokens\":64,\"image_tokens\":0,\"audio_tokens\":0}");
}

static void check_answer(const struct step *step, const char *settings)
{
	struct chat_result r;
	struct heard h = {0};
	provider_script(step, 1);
	CU_ASSERT_EQUAL(ask(settings, &h, &r), CHAT_DONE);
	CU_ASSERT_STRING_EQUAL(buf_str(&h.reasoning), "First\n\nThen");
	CU_ASSERT_STRING_EQUAL(buf_str(&h.text), "Let me h\xc3\xa9lp");
	check_message(r.message);
	heard_release(&h);
	chat_result_release(&r);
}

static void a_stream_becomes_a_message(void)
{
	check_answer(&(struct step){STEP_STREAM, 200, NULL, stream}, "{" QUICK "}");
	CU_ASSERT_PTR_NOT_NULL(strstr(provider_head(), "POST /responses HTTP/1.1\r\n"));
	CU_ASSERT_PTR_NOT_NULL(
	    strstr(provider_head(), "\r\nAuthorization: Bearer sk-openai-secret\r\n"));
	check_answer(&(struct step){STEP_BYTES, 200, NULL, stream}, "{" QUICK "}");
}

static const char whole[] = WHOLE("completed", "\"incomplete_details\":null",
    "{" THOUGHT "},{" REMARK "},{\"type\":\"web_search_call\",\"id\":\"ws_1\"},{" ADD "},{" NOW
    "}");

static void an_answer_in_one_piece_is_the_same(void)
{
	check_answer(&(struct step){STEP_WHOLE, 200, NULL, whole}, "{" QUICK ",'stream':false}");
	CU_ASSERT_PTR_NULL(json_get(provider_body(), "stream"));
}

/* The whole answer in its last event, and items without their pieces. */
static void a_server_may_stream_less(void)
{
	static const char items[] = ITEM("done", "0", THOUGHT) ITEM("done", "1", REMARK)
	    ITEM("done", "2", ADD) ITEM("done", "3", NOW) EVENT("response.completed",
		"\"response\":{\"model\":\"gpt-x-1\",\"status\":\"completed\"," USAGE "}");
	char *last =
	    xasprintf("data: {\"type\":\"response.completed\",\"response\":%s}\n\n", whole);
	check_answer(&(struct step){STEP_STREAM, 200, NULL, items}, "{" QUICK "}");
	check_answer(&(struct step){STEP_STREAM, 200, NULL, last}, "{" QUICK "}");
	free(last);
}

#define SAID(text) \
	"{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"" text "\"}]}"

static const struct ended {
	const char *name, *body, *path, *text;
} ends[] = {
    {"a full answer",
	WHOLE("incomplete", "\"incomplete_details\":{\"reason\":\"max_output_tokens\"}",
	    SAID("half")),
	"metadata/finish_reason", "length"},
    {"one that is withheld",
	WHOLE("incomplete", "\"incomplete_details\":{\"reason\":\"content_filter\"}", SAID("half")),
	"metadata/finish_reason", "content_filter"},
    {"one that is incomplete", WHOLE("incomplete", "\"incomplete_details\":null", SAID("half")),
	"metadata/finish_reason", "length"},
    {"one that is complete", WHOLE("completed", "\"incomplete_details\":null", SAID("whole")),
	"metadata/finish_reason", "stop"},
    {"a refusal",
	WHOLE("completed", "\"text\":null",
	    "{\"type\":\"message\",\"content\":[{\"type\":\"refusal\",\"refusal\":\"I will not\"}]}"),
	"content/0/text", "I will not"},
    {"a refusal that ends",
	WHOLE("completed", "\"text\":null",
	    "{\"type\":\"message\",\"content\":[{\"type\":\"refusal\",\"refusal\":\"I will not\"}]}"),
	"metadata/finish_reason", "content_filter"},
    {"the text of an open model",
	WHOLE("completed", "\"text\":null",
	    "{\"type\":\"reasoning\",\"id\":\"r\",\"summary\":[],\"content\":[{\"type\":\"reasoning_text\","
	    "\"text\":\"hm\"}]}," SAID("so")),
	"content/0/summary", "hm"},
    {"reasoning without seal or text",
	WHOLE("completed", "\"text\":null",
	    "{\"type\":\"reasoning\",\"id\":\"r\",\"summary\":[]}," SAID("so")),
	"content/0/text", "so"},
    {"arguments that are cut off",
	WHOLE("incomplete", "\"incomplete_details\":{\"reason\":\"max_output_tokens\"}",
	    "{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"{\\\"a\"}"),
	"metadata/invalid_arguments", "{\"c\":\"{\\\"a\"}"},
};

static void answers_end_for_a_reason(void)
{
	for (size_t i = 0; i < UNIT_COUNT(ends); i++) {
		const struct step step = {STEP_WHOLE, 200, NULL, ends[i].body};
		struct chat_result r;
		unit_row("%s", ends[i].name);
		provider_script(&step, 1);
		CU_ASSERT_EQUAL(ask("{" QUICK ",'stream':false}", NULL, &r), CHAT_DONE);
		CU_ASSERT_STRING_EQUAL(at(r.message, ends[i].path), ends[i].text);
		chat_result_release(&r);
	}
}

static void arguments_that_come_at_once_are_taken(void)
{
	static const char events[] =
	    ITEM("added", "0", "\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\"")
		EVENT("response.function_call_arguments.done",
		    "\"output_index\":0,\"arguments\":\"{\\\"a\\\":1}\"")
		    EVENT("response.completed", "\"response\":{}");
	const struct step step = {STEP_STREAM, 200, NULL, events};
	struct chat_result r;
	provider_script(&step, 1);
	CU_ASSERT_EQUAL(ask("{" QUICK "}", NULL, &r), CHAT_DONE);
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/0/args/a"), "1");
	chat_result_release(&r);
}

static void a_structured_answer_is_parsed(void)
{
	const struct step step = {
	    STEP_WHOLE, 200, NULL, WHOLE("completed", "\"text\":null", SAID("{\\\"n\\\":3}"))};
	struct chat_result r;
	provider_script(&step, 1);
	CU_ASSERT_EQUAL(ask("{" QUICK ",'response_format':{'type':'json_schema','schema':"
			    "{'type':'object'},'strict':true}}",
			    NULL, &r),
	    CHAT_DONE);
	CU_ASSERT_STRING_EQUAL(at(r.message, "parsed_content/n"), "3");
	CU_ASSERT_STRING_EQUAL(at(provider_body(), "text"),
	    "{\"format\":{\"type\":\"json_schema\",\"name\":\"answer\",\"schema\":"
	    "{\"type\":\"object\"},\"strict\":true}}");
	chat_result_release(&r);
}

/* ---- Bad days */

static const struct bad_day {
	const char *name;
	struct step step;
	const char *says;
	unsigned requests; /* of two that may be made */
} bad_days[] = {
    {"an error that passes",
	{STEP_STREAM, 0, NULL,
	    EVENT("response.failed",
		"\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"oh dear\"}}")},
	"failed while it answered: oh dear", 2},
    {"an error that lasts",
	{STEP_STREAM, 0, NULL,
	    EVENT("response.failed",
		"\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"invalid_prompt\",\"message\":\"no\"}}")},
	"failed while it answered: no", 1},
    {"an event that is an error",
	{STEP_STREAM, 0, NULL,
	    EVENT("error",
		"\"code\":\"rate_limit_exceeded\",\"message\":\"slow down\",\"param\":null")},
	"failed while it answered: slow down", 2},
    {"an event that has an error",
	{STEP_STREAM, 0, NULL,
	    EVENT("error",
		"\"error\":{\"type\":\"x\",\"code\":\"insufficient_quota\",\"message\":\"pay\"}")},
	"failed while it answered: pay", 1},
    {"an error without a word", {STEP_STREAM, 0, NULL, EVENT("response.failed", "\"response\":{}")},
	"failed while it answered: no reason given", 2},
    {"a stream that ends early",
	{STEP_STREAM, 0, NULL, EVENT("response.created", "\"response\":{}")},
	"broke off its answer", 2},
    {"a whole answer that failed",
	{STEP_WHOLE, 200, NULL,
	    "{\"status\":\"failed\",\"error\":{\"code\":\"image_too_large\",\"message\":\"too large\"}}"},
	"failed while it answered: too large", 1},
    {"an answer of another interface", {STEP_WHOLE, 200, NULL, "{\"choices\":[]}"},
	"gave an answer without output", 2},
    {"another address", {STEP_WHOLE, 404, NULL, "{\"error\":{\"message\":\"Invalid URL\"}}"},
	"openai model gpt-x: answered 404: Invalid URL", 1},
};

static void what_goes_wrong_is_an_error_that_says_so(void)
{
	for (size_t i = 0; i < UNIT_COUNT(bad_days); i++) {
		const struct bad_day *b = &bad_days[i];
		struct chat_result r;
		unit_row("%s", b->name);
		provider_script(&b->step, 1);
		CU_ASSERT_EQUAL(
		    ask("{'api':'responses','model':'gpt-x','retries':1}", NULL, &r), CHAT_FAILED);
		CU_ASSERT_EQUAL(provider_requests(), b->requests);
		CU_ASSERT_PTR_NOT_NULL(strstr(r.error, b->says));
		chat_result_release(&r);
	}
}

static void a_stopped_call_gives_what_there_was(void)
{
	static const char events[] = PIECE("output_text", "0", "so far");
	const struct step step = {STEP_STALL, 0, NULL, events};
	struct heard h = {.stop_after = 1};
	struct chat_result r;
	provider_script(&step, 1);
	CU_ASSERT_EQUAL(ask("{" QUICK "}", &h, &r), CHAT_STOPPED);
	CU_ASSERT_STRING_EQUAL(at(r.message, "content/0/text"), "so far");
	heard_release(&h);
	chat_result_release(&r);
}

/* ---- Requests */

/* Asks with these messages and returns the body that the service got. */
static const cJSON *sent(const char *settings, const char *messages, struct chat_request rq)
{
	static const struct step step = {STEP_WHOLE, 400, NULL, "{}"};
	cJSON *list = json_from(messages);
	struct chat_result r;
	provider_script(&step, 1);
	rq.messages = list;
	ask_with(settings, &rq, NULL, &r);
	CU_ASSERT_EQUAL(provider_requests(), 1);
	chat_result_release(&r);
	cJSON_Delete(list);
	return provider_body();
}

#define TEXT(role, text) "{'role':'" role "','content':[{'type':'text','text':'" text "'}]}"
#define CALL(id, name) \
	"{'type':'tool_call','id':'" id "','name':'" name "','args':{'a':1},'tool_type':'local'}"
#define RESULT(id, output)                                                                    \
	"{'role':'tool','content':[{'type':'tool_result','call_id':'" id "','output':" output \
	",'is_error':false}]}"
#define KEPT(id, model)                                                                     \
	"{'type':'reasoning','summary':'hm','details':['{\\\"provider\\\":\\\"openai\\\","  \
	"\\\"model\\\":\\\"" model "\\\",\\\"returns\\\":\\\"reasoning\\\",\\\"value\\\":{" \
	"\\\"type\\\":\\\"reasoning\\\",\\\"id\\\":\\\"" id "\\\"}}','"                     \
	"{\\\"provider\\\":\\\"openai\\\",\\\"model\\\":\\\"gpt-x\\\",\\\"returns\\\":"     \
	"\\\"phase\\\",\\\"value\\\":{\\\"text\\\":1,\\\"phase\\\":\\\"final_answer\\\"}}']}"

static void a_conversation_becomes_items(void)
{
	const cJSON *body = sent("{" QUICK "}",
	    "[" TEXT("system", "Be brief") "," TEXT(
		"user", "hi") ",{'role':'assistant','content':["
			      "{'type':'text','text':'Wait'}," CALL("c1", "add") "," CALL(
				  "c2", "lost") "]}," RESULT("c1", "{'sum':3}") "]",
	    (struct chat_request){.system = "Be kind"});
	CU_ASSERT_STRING_EQUAL(at(body, "instructions"), "Be kind");
	CU_ASSERT_STRING_EQUAL(at(body, "input"),
	    "[{\"type\":\"message\",\"role\":\"system\",\"content\":\"Be brief\"},"
	    "{\"type\":\"message\",\"role\":\"user\",\"content\":\"hi\"},"
	    "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"Wait\"},"
	    "{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"add\",\"arguments\":"
	    "\"{\\\"a\\\":1}\"},"
	    "{\"type\":\"function_call\",\"call_id\":\"c2\",\"name\":\"lost\",\"arguments\":"
	    "\"{\\\"a\\\":1}\"},"
	    "{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"{\\\"sum\\\":3}\"},"
	    "{\"type\":\"function_call_output\",\"call_id\":\"c2\",\"output\":"
	    "\"There is no result: the call was not run.\"}]");
	CU_ASSERT_STRING_EQUAL(at(body, "store"), "false");
	CU_ASSERT_STRING_EQUAL(at(body, "stream"), "true");
	CU_ASSERT_STRING_EQUAL(at(body, "include"), "(none)");
	CU_ASSERT_STRING_EQUAL(at(body, "tools"), "(none)");
}

static void reasoning_goes_back_while_its_calls_are_worked_on(void)
{
	static const char messages[] = "[" TEXT(
	    "user", "one") ",{'role':'assistant','content':[" KEPT("rs_old",
	    "gpt-x") ",{'type':'text','text':'so'},{'type':'text','text':'done'}]}," TEXT("user",
	    "two") ",{'role':'assistant','content':[" KEPT("rs_1", "gpt-x") "," CALL("c1",
	    "add") "," KEPT("rs_2", "other") "," CALL("c2", "add") "," KEPT("rs_3",
	    "gpt-x") "]}," RESULT("c1", "3") "," RESULT("c2", "3") "]";
	const cJSON *body = sent("{" QUICK "}", messages, (struct chat_request){0});
	CU_ASSERT_STRING_EQUAL(at(body, "input/1/content"), "so");
	CU_ASSERT_STRING_EQUAL(at(body, "input/1/phase"), "(none)");
	CU_ASSERT_STRING_EQUAL(at(body, "input/2/phase"), "final_answer");
	CU_ASSERT_STRING_EQUAL(at(body, "input/4"), "{\"type\":\"reasoning\",\"id\":\"rs_1\"}");
	CU_ASSERT_STRING_EQUAL(at(body, "input/5/call_id"), "c1");
	CU_ASSERT_STRING_EQUAL(at(body, "input/6/call_id"), "c2");
	CU_ASSERT_STRING_EQUAL(at(body, "input/7/type"), "function_call_output");
}

static const cJSON *sent_tools(enum chat_choice choice)
{
	cJSON *schema = json_from("{'type':'object','properties':{'n':{'type':'integer'}}}");
	const struct chat_tool tools[] = {{"add", "Adds", schema}, {"now", NULL, NULL}};
	const cJSON *body =
	    sent("{" QUICK ",'parallel_tool_calls':false}", "[" TEXT("user", "hi") "]",
		(struct chat_request){
		    .tools = tools, .tool_count = 2, .choice = choice, .tool_name = "add"});
	cJSON_Delete(schema);
	return body;
}

static void tools_are_offered(void)
{
	const cJSON *body = sent_tools(CHAT_TOOLS_AUTO);
	CU_ASSERT_STRING_EQUAL(at(body, "tools"),
	    "[{\"type\":\"function\",\"name\":\"add\",\"description\":\"Adds\",\"parameters\":"
	    "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}},\"strict\":false},"
	    "{\"type\":\"function\",\"name\":\"now\",\"parameters\":"
	    "{\"type\":\"object\",\"properties\":{}},\"strict\":false}]");
	CU_ASSERT_STRING_EQUAL(at(body, "tool_choice"), "(none)");
	CU_ASSERT_STRING_EQUAL(at(body, "parallel_tool_calls"), "false");
	CU_ASSERT_STRING_EQUAL(at(sent_tools(CHAT_TOOLS_NONE), "tool_choice"), "none");
	CU_ASSERT_STRING_EQUAL(at(sent_tools(CHAT_TOOLS_REQUIRED), "tool_choice"), "required");
	CU_ASSERT_STRING_EQUAL(at(sent_tools(CHAT_TOOLS_NAMED), "tool_choice"),
	    "{\"type\":\"function\",\"name\":\"add\"}");
}

#define MEDIA(type, rest) "{'type':'" type "','media':{" rest "}}"
#define DATA(mime) "'kind':'data','data_base64':'YWJj','mime_type':'" mime "','filename':'a'"
#define WEB(mime) "'kind':'url','url':'https://x/y','mime_type':'" mime "'"

/* What is asked, and what stands where in the request. */
static const struct asked {
	const char *settings, *content; /* of the one message */
	const char *path, *text;
} asked[] = {
    {",'max_tokens':9", "{'type':'text','text':'hi'}", "max_output_tokens", "9"},
    {",'temperature':0.5", "{'type':'text','text':'hi'}", "temperature", "0.5"},
    {",'response_format':{'type':'json_object'}", "{'type':'text','text':'hi'}", "text",
	"{\"format\":{\"type\":\"json_object\"}}"},
    {",'reasoning_effort':'low'", "{'type':'text','text':'hi'}", "reasoning",
	"{\"effort\":\"low\",\"summary\":\"auto\"}"},
    {",'reasoning_effort':'low'", "{'type':'text','text':'hi'}", "include",
	"[\"reasoning.encrypted_content\"]"},
    {",'reasoning_effort':'none'", "{'type':'text','text':'hi'}", "reasoning",
	"{\"effort\":\"none\"}"},
    {",'reasoning_effort':'low','extra':{'reasoning':{'summary':null},'store':true}",
	"{'type':'text','text':'hi'}", "reasoning", "{\"effort\":\"low\"}"},
    {"", MEDIA("image", DATA("image/jpeg")), "input/0/content/0",
	"{\"type\":\"input_image\",\"image_url\":\"data:image/jpeg;base64,YWJj\"}"},
    {"", MEDIA("image", WEB("image/png")), "input/0/content/0/image_url", "https://x/y"},
    {"", MEDIA("document", DATA("application/pdf")), "input/0/content/0",
	"{\"type\":\"input_file\",\"file_data\":\"data:application/pdf;base64,YWJj\","
	"\"filename\":\"a\"}"},
    {"", MEDIA("document", WEB("")), "input/0/content/0",
	"{\"type\":\"input_file\",\"file_url\":\"https://x/y\"}"},
    {"", MEDIA("audio", DATA("audio/wav")), "input/0/content/0",
	"{\"type\":\"input_text\",\"text\":\"[audio a, audio/wav: this model cannot read it]\"}"},
    {"", "{'type':'text','text':'see'}," MEDIA("document", DATA("text/csv")), "input/0/content/0",
	"{\"type\":\"input_text\",\"text\":\"see\"}"},
};

static void settings_and_media_have_their_place(void)
{
	for (size_t i = 0; i < UNIT_COUNT(asked); i++) {
		unit_row("%s %s", asked[i].settings, asked[i].content);
		char *settings = xasprintf("{" QUICK "%s}", asked[i].settings);
		char *messages = xasprintf("[{'role':'user','content':[%s]}]", asked[i].content);
		const cJSON *body = sent(settings, messages, (struct chat_request){0});
		CU_ASSERT_STRING_EQUAL(at(body, asked[i].path), asked[i].text);
		free(messages);
		free(settings);
	}
}

/* Others refuse to be asked for what they have thought. */
static void models_that_reason_are_known_by_name(void)
{
	static const struct {
		const char *model;
		bool reasons;
	} models[] = {{"o3", true}, {"o4-mini", true}, {"gpt-5", true}, {"gpt-5.6-mini", true},
	    {"openai/gpt-5.1", true}, {"gpt-10", true}, {"gpt-5-chat-latest", false},
	    {"gpt-4o", false}, {"gpt-4.1", false}, {"omni", false}, {"gpt-oss-120b", false}};
	for (size_t i = 0; i < UNIT_COUNT(models); i++) {
		char *settings =
		    xasprintf("{'api':'responses','retries':0,'model':'%s'}", models[i].model);
		const cJSON *body =
		    sent(settings, "[" TEXT("user", "hi") "]", (struct chat_request){0});
		unit_row("%s", models[i].model);
		CU_ASSERT_STRING_EQUAL(at(body, "include/0"),
		    models[i].reasons ? "reasoning.encrypted_content" : "(none)");
		free(settings);
	}
}

/* ---- Settings */

#define NO_SUCH                                                                                          \
	": expected no such key beside \"api\": \"responses\", which has none; what another server has " \
	"goes into extra\n"

static void settings_that_do_not_fit_are_reported(void)
{
	settings_are_refused("{'model':'m','api':'completions'}",
	    "api: expected \"chat_completions\" or \"responses\"\n");
	settings_are_refused("{'model':'m','api':'responses','provider':'gemini'}",
	    "api: expected no such key for provider gemini\n");
	settings_are_refused(
	    "{'model':'m','api':'responses','stop':'x','seed':1,'fallbacks':[{'top_k':3}]}",
	    "seed" NO_SUCH "stop" NO_SUCH "fallbacks/0/top_k" NO_SUCH);
}

/* It has what is above it but the interface, which is the other service's. */
static void a_fallback_elsewhere_has_its_own_interface(void)
{
	static const struct step script[] = {
	    {STEP_WHOLE, 500, NULL, "{}"}, {STEP_WHOLE, 400, NULL, "{}"}};
	struct chat_result r;
	provider_script(script, 2);
	char *settings = xasprintf("{" QUICK ",'fallbacks':[{'base_url':'%s'}]}", provider_url());
	ask(settings, NULL, &r);
	CU_ASSERT_EQUAL(provider_requests(), 2);
	CU_ASSERT_PTR_NOT_NULL(strstr(provider_head(), "POST /chat/completions HTTP/1.1\r\n"));
	chat_result_release(&r);
	provider_script(script, 2);
	ask("{'model':'m','seed':1,'retries':0,'fallbacks':[{'api':'responses'}]}", NULL, &r);
	CU_ASSERT_EQUAL(provider_requests(), 2);
	CU_ASSERT_PTR_NOT_NULL(strstr(provider_head(), "POST /responses HTTP/1.1\r\n"));
	CU_ASSERT_STRING_EQUAL(at(provider_body(), "seed"), "(none)");
	chat_result_release(&r);
	free(settings);
}

/* As a client may send them. */
static void many_phases_cost_no_more_than_they_are_long(void)
{
	static const struct step script[] = {{STEP_WHOLE, 400, NULL, "{}"}};
	struct buf text = {0};
	buf_puts(&text,
	    "[{'role':'assistant','content':[{'type':'reasoning','summary':'','details':['0'");
	for (int i = 0; i < 20000; i++)
		buf_printf(&text,
		    ",'{\\\"provider\\\":\\\"openai\\\",\\\"model\\\":\\\"gpt-x\\\",\\\"returns\\\":\\\"phase\\\","
		    "\\\"value\\\":{\\\"text\\\":%d,\\\"phase\\\":\\\"p%d\\\"}}'",
		    i - 18000, i);
	buf_puts(&text, "]}");
	for (int i = 0; i < 40000; i++)
		buf_puts(&text, ",{'type':'text','text':'a'}");
	buf_puts(&text, "]}]");
	cJSON *messages = json_from(buf_str(&text));
	struct chat_request rq = {.messages = messages};
	struct chat_result r;
	provider_script(script, 1);
	clock_t start = clock();
	ask_with("{" QUICK "}", &rq, NULL, &r);
	CU_ASSERT((clock() - start) / CLOCKS_PER_SEC < 5);
	CU_ASSERT_STRING_EQUAL(at(provider_body(), "input/0/phase"), "p18000");
	CU_ASSERT_STRING_EQUAL(at(provider_body(), "input/1999/phase"), "p19999");
	CU_ASSERT_STRING_EQUAL(at(provider_body(), "input/2000/phase"), "(none)");
	chat_result_release(&r);
	cJSON_Delete(messages);
	buf_release(&text);
}

static const struct unit_test tests[] = {
    {"a stream becomes a message", a_stream_becomes_a_message},
    {"an answer in one piece is the same", an_answer_in_one_piece_is_the_same},
    {"a server may stream less", a_server_may_stream_less},
    {"answers end for a reason", answers_end_for_a_reason},
    {"arguments that come at once are taken", arguments_that_come_at_once_are_taken},
    {"a structured answer is parsed", a_structured_answer_is_parsed},
    {"what goes wrong is an error that says so", what_goes_wrong_is_an_error_that_says_so},
    {"a stopped call gives what there was", a_stopped_call_gives_what_there_was},
    {"a conversation becomes items", a_conversation_becomes_items},
    {"reasoning goes back while its calls are worked on",
	reasoning_goes_back_while_its_calls_are_worked_on},
    {"many phases cost no more than they are long", many_phases_cost_no_more_than_they_are_long},
    {"tools are offered", tools_are_offered},
    {"settings and media have their place", settings_and_media_have_their_place},
    {"models that reason are known by name", models_that_reason_are_known_by_name},
    {"settings that do not fit are reported", settings_that_do_not_fit_are_reported},
    {"a fallback elsewhere has its own interface", a_fallback_elsewhere_has_its_own_interface},
};

int main(void)
{
	memory_init();
	provider_start();
	stream = xasprintf("%s%s", first_half, second_half);
	int status = unit_main("chat_responses", tests, UNIT_COUNT(tests));
	http_close_kept();
	provider_stop();
	free(stream);
	return status;
}
