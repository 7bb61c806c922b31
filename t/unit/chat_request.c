/* SPDX-License-Identifier: ISC */
/* What is sent to the providers. */
#include "base/http/http.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "chat_fixture.h"
#include "model/provider.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OPENAI "{'model':'m','retries':0,'stream':false"
#define ANTHROPIC OPENAI ",'provider':'anthropic'"
#define GEMINI OPENAI ",'provider':'gemini'"

static const char conversation[] =
    "[{'role':'assistant','content':[{'type':'text','text':'Welcome'}]},"
    "{'role':'system','content':[{'type':'text','text':'Be brief'}]},"
    "{'role':'user','content':[{'type':'text','text':'one'},{'type':'text','text':'two'}]},"
    "{'role':'user','content':[{'type':'text','text':'three'}]},"
    "{'role':'assistant','content':[{'type':'text','text':''},"
    "{'type':'tool_call','id':'c1','name':'add','args':{'a':1},'tool_type':'local'},"
    "{'type':'remote_tool_call','id':'c2','name':'ask','args':{},'tool_type':'remote'},"
    "{'type':'tool_call','id':'c3','name':'lost','args':{},'tool_type':'local'}]},"
    "{'role':'tool','content':[{'type':'tool_result','call_id':'c2','output':'no','is_error':true}]},"
    "{'role':'tool','content':[{'type':'tool_result','call_id':'c1','output':{'sum':3},"
    "'is_error':false},{'type':'tool_result','call_id':'c9','output':1,'is_error':false}]}]";

/* Asks with these messages and returns the body that the provider got. */
static const cJSON *sent_with(const char *settings, const char *messages, struct chat_request rq)
{
	static const struct step script[] = {{STEP_WHOLE, 400, NULL, "{}"}};
	cJSON *list = json_from(messages);
	struct chat_result r;
	provider_script(script, 1);
	rq.messages = list;
	ask_with(settings, &rq, NULL, &r);
	CU_ASSERT_EQUAL(provider_requests(), 1);
	chat_result_release(&r);
	cJSON_Delete(list);
	return provider_body();
}

static const cJSON *sent(const char *settings, const char *messages)
{
	return sent_with(settings, messages, (struct chat_request){.system = "Be kind"});
}

#define TEXT(role, text) "{'role':'" role "','content':[{'type':'text','text':'" text "'}]}"
#define CALL(id, name) \
	"{'type':'tool_call','id':'" id "','name':'" name "','args':{},'tool_type':'local'}"

/* Blocks without a word, and errors without one, are refused. */
static void anthropic_gets_no_blanks(void)
{
	const cJSON *body = sent_with(ANTHROPIC "}",
	    "[" TEXT("user", "hi") "," TEXT("user",
		" ") ",{'role':'assistant','content':["
		     "{'type':'text','text':'\\n\\n'}," CALL("c1", "a") "," CALL("c2",
			 "b") "]},"
			      "{'role':'tool','content':["
			      "{'type':'tool_result','call_id':'c1','output':' ','is_error':true},"
			      "{'type':'tool_result','call_id':'c2','output':'','is_error':false}]}," TEXT(
				  "assistant", "\\n") "]",
	    (struct chat_request){.system = " \n"});
	CU_ASSERT_STRING_EQUAL(at(body, "system"), "(none)");
	CU_ASSERT_STRING_EQUAL(at(body, "messages"),
	    "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]},"
	    "{\"role\":\"assistant\",\"content\":["
	    "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"a\",\"input\":{}},"
	    "{\"type\":\"tool_use\",\"id\":\"c2\",\"name\":\"b\",\"input\":{}}]},"
	    "{\"role\":\"user\",\"content\":["
	    "{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":"
	    "\"(It failed without a word.)\",\"is_error\":true},"
	    "{\"type\":\"tool_result\",\"tool_use_id\":\"c2\"}]}]");
}

/* Some servers count their calls anew with every answer. */
static void an_id_that_is_used_again_has_the_result_behind_it(void)
{
#define ANSWERED(output)                                                                            \
	"{'role':'assistant','content':[" CALL("c1",                                                \
	    "a") "]},"                                                                              \
		 "{'role':'tool','content':[{'type':'tool_result','call_id':'c1','output':'" output \
		 "','is_error':false}]}"
	const cJSON *body = sent_with(ANTHROPIC "}",
	    "[" TEXT("user", "hi") "," ANSWERED("one") "," TEXT("user", "again") "," ANSWERED(
		"two") "," TEXT("user", "and") ",{'role':'assistant','content':[" CALL("c1",
		"a") "]}]",
	    (struct chat_request){0});
	CU_ASSERT_STRING_EQUAL(at(body, "messages/2/content/0/content"), "one");
	CU_ASSERT_STRING_EQUAL(at(body, "messages/4/content/0/content"), "two");
	CU_ASSERT_STRING_EQUAL(
	    at(body, "messages/6/content/0/content"), "There is no result: the call was not run.");
}

/* ---- Reasoning that goes back */

static const char thought[] =
    "[{'role':'user','content':[{'type':'text','text':'hi'}]},"
    "{'role':'assistant','content':[{'type':'reasoning','summary':'hm','details':['"
    "{\\\"provider\\\":\\\"anthropic\\\",\\\"signature\\\":\\\"sig\\\"}','"
    "{\\\"provider\\\":\\\"anthropic\\\",\\\"redacted\\\":\\\"xyz\\\"}','"
    "{\\\"provider\\\":\\\"gemini\\\",\\\"call\\\":\\\"c1\\\",\\\"signature\\\":\\\"gs\\\"}','"
    "{\\\"provider\\\":\\\"openai\\\",\\\"field\\\":\\\"user\\\"}','"
    "{\\\"provider\\\":\\\"openai\\\",\\\"field\\\":\\\"reasoning_content\\\"}','nonsense','"
    "{\\\"provider\\\":\\\"anthropic\\\",\\\"signature\\\":\\\"twice\\\"}']},"
    "{'type':'tool_call','id':'c1','name':'add','args':{},'tool_type':'local'}]},"
    "{'role':'tool','content':[{'type':'tool_result','call_id':'c1','output':3}]}]";

static const char kept[] =
    "[{'role':'user','content':[{'type':'text','text':'hi'}]},"
    "{'role':'assistant','content':[{'type':'reasoning','summary':'hm','details':['"
    "{\\\"provider\\\":\\\"openai\\\",\\\"model\\\":\\\"m\\\",\\\"returns\\\":"
    "\\\"reasoning_details\\\",\\\"value\\\":[1]}','"
    "{\\\"provider\\\":\\\"openai\\\",\\\"model\\\":\\\"m\\\",\\\"call\\\":\\\"c2\\\","
    "\\\"returns\\\":\\\"extra_content\\\",\\\"value\\\":{\\\"g\\\":2}}','"
    "{\\\"provider\\\":\\\"openai\\\",\\\"field\\\":\\\"reasoning_content\\\"}']}," CALL(
	"c1", "a") "," CALL("c2", "b") "]}]";

static const char thought_elsewhere[] =
    "[{'role':'user','content':[{'type':'text','text':'hi'}]},"
    "{'role':'assistant','content':[{'type':'reasoning','summary':'hm','details':[]},"
    "{'type':'tool_call','id':'c1','name':'add','args':{},'tool_type':'local'}]},"
    "{'role':'tool','content':[{'type':'tool_result','call_id':'c1','output':3}]}]";

/* Thinking goes with a free choice of tools only. */
static void a_call_that_is_forced_is_not_thought_about(void)
{
	static const struct chat_tool tool = {"add", NULL, NULL};
	struct chat_request rq = {.tools = &tool, .tool_count = 1, .choice = CHAT_TOOLS_REQUIRED};
	const cJSON *body =
	    sent_with(ANTHROPIC ",'reasoning_tokens':2000}", "[" TEXT("user", "hi") "]", rq);
	CU_ASSERT_STRING_EQUAL(at(body, "tool_choice"), "{\"type\":\"any\"}");
	CU_ASSERT_STRING_EQUAL(at(body, "thinking"), "(none)");
	rq.choice = CHAT_TOOLS_AUTO;
	body = sent_with(ANTHROPIC ",'reasoning_tokens':2000}", "[" TEXT("user", "hi") "]", rq);
	CU_ASSERT_STRING_EQUAL(at(body, "thinking/type"), "enabled");
}

/* ---- Media */

static unsigned files_read; /* their bytes */

/* "large…" has 30 MiB, "huge" one byte more than a request takes. */
static bool give_file(const cJSON *media, struct chat_media *out, void *arg)
{
	(void)arg;
	const char *id = json_str(media, "file_id");
	if (strcmp(id, "gone") == 0)
		return false;
	if (out->max > 0) {
		bool large = strncmp(id, "large", 5) == 0, huge = strcmp(id, "huge") == 0;
		out->len = huge ? (64 << 20) + 1 : large ? 30 << 20 : 3;
		out->data = out->len > out->max ? NULL : xcalloc(1, out->len + 1);
		files_read += out->data != NULL;
		if (out->data)
			memcpy(out->data, "abc", 3);
		return true;
	}
	out->text = strcmp(id, "text") == 0 ? xstrdup("what it says") : NULL;
	const char *type = json_str(media, "mime_type");
	out->mime_type = xstrdup(type    ? type
		: strcmp(id, "pdf") == 0 ? "application/pdf"
					 : "image/png");
	out->filename = xstrdup(json_str(media, "filename"));
	if (!out->filename)
		out->filename = xstrdup("a.bin");
	return true;
}

static const cJSON *sent_media(const char *settings, const char *block)
{
	char *messages =
	    xasprintf("[{'role':'user','content':[{'type':'text','text':'see'},%s]}]", block);
	const cJSON *body =
	    sent_with(settings, messages, (struct chat_request){.media = give_file});
	free(messages);
	return body;
}

#define MEDIA(type, rest) "{'type':'" type "','media':{" rest "}}"
#define DATA(mime) "'kind':'data','data_base64':'YWJj','mime_type':'" mime "'"
#define FILE_ID(id) "'kind':'file_id','file_id':'" id "'"
#define WEB_URL "'kind':'url','url':'https://x/y.png','mime_type':'image/png'"

static void a_file_that_is_gone_fails_the_call(void)
{
	cJSON *messages =
	    json_from("[{'role':'user','content':[" MEDIA("image", FILE_ID("gone")) "]}]");
	struct chat_request rq = {.messages = messages, .media = give_file};
	struct chat_result r;
	CU_ASSERT_EQUAL(ask_with(OPENAI "}", &rq, NULL, &r), CHAT_FAILED);
	CU_ASSERT_STRING_EQUAL(r.error, "the file gone cannot be found");
	CU_ASSERT_EQUAL(r.tries, 0);
	chat_result_release(&r);
	cJSON_Delete(messages);
}

#define IMAGE(id) MEDIA("image", FILE_ID(id) ",'filename':'" id "','mime_type':'image/png'")
#define VIDEO(id) MEDIA("video", FILE_ID(id) ",'filename':'" id "','mime_type':'video/mp4'")
#define LEFT_OUT(id) \
	"[image " id ", image/png: left out, because all media together are too large]|"

/* To name a file is short, and what that brings is not.  The body is not sent: it is large. */
static void all_media_together_have_a_limit(void)
{
	static const struct {
		const char *blocks, *gets;
		unsigned read;
	} rows[] = {
	    {IMAGE("a") "," IMAGE("b") "," IMAGE("a"), "4|4|4|", 2},
	    {IMAGE("large") "," IMAGE("a") "," IMAGE("large") "," IMAGE("large"),
		LEFT_OUT("large") "4|41943040|41943040|", 2},
	    {IMAGE("a") "," IMAGE("huge") "," IMAGE("a"), "4|" LEFT_OUT("huge") "4|", 1},
	    {VIDEO("large") "," MEDIA(
		 "audio", FILE_ID("large1") ",'mime_type':'audio/wav'") "," IMAGE("a"),
		"[video large, video/mp4: this model cannot read it]|"
		"[audio a.bin, audio/wav: this model cannot read it]|4|",
		1},
	};
	struct chat_model *model = model_from(ANTHROPIC "}");
	for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
		char *problem,
		    *list = xasprintf("[{'role':'user','content':[%s]}]", rows[i].blocks);
		cJSON *messages = json_from(list), *part;
		struct chat_request rq = {.messages = messages, .media = give_file};
		struct buf said = {0};
		files_read = 0;
		char *text = chat_request_body(&model->targets[0], &rq, &problem);
		cJSON *body = json_parse(text, strlen(text), 100, NULL);
		cJSON_ArrayForEach(part, json_get(json_get(body, "messages")->child, "content")) {
			const char *data = json_str(json_get(part, "source"), "data");
			if (data)
				buf_printf(&said, "%zu|", strlen(data));
			else
				buf_printf(&said, "%s|", json_str(part, "text"));
		}
		unit_row("%s", rows[i].blocks);
		CU_ASSERT_STRING_EQUAL(buf_str(&said), rows[i].gets);
		CU_ASSERT_EQUAL(files_read, rows[i].read);
		buf_release(&said);
		cJSON_Delete(body);
		free(text);
		cJSON_Delete(messages);
		free(list);
	}
	chat_model_free(model);
}

/* ---- Tools */

static const cJSON *sent_tools(const char *settings, enum chat_choice choice)
{
	cJSON *schema = json_from(
	    "{'$schema':'x','type':'object','additionalProperties':false,'required':['n','gone'],"
	    "'$defs':{'P':{'type':['string','null'],'format':'email'}},"
	    "'properties':{'n':{'type':'integer','enum':[1,2],'exclusiveMinimum':0},"
	    "'p':{'$ref':'#/$defs/P'},'c':{'const':'x'},"
	    "'u':{'oneOf':[{'type':'string'},{'type':'null'}]},"
	    "'l':{'type':'array','items':{'type':['integer','string']}}}}");
	struct chat_tool tools[] = {{"add", "Adds", schema}, {"now", NULL, NULL}};
	const cJSON *body = sent_with(settings, "[]",
	    (struct chat_request){
		.tools = tools, .tool_count = 2, .choice = choice, .tool_name = "add"});
	cJSON_Delete(schema);
	return body;
}

#define SETTINGS                                                                 \
	",'temperature':0.5,'top_p':0.9,'max_tokens':100,'stop':'END','seed':7," \
	"'extra':{'user':'u','seed':null,'metadata':{'a':1}}}"

#define FORMAT                                                                             \
	",'response_format':{'type':'json_schema','schema':{'type':'object','properties':" \
	"{'n':{'type':'integer'}},'additionalProperties':false},'strict':true}}"

#define SHOWN                                                                                          \
	"[" TEXT("user", "look") ",{'role':'assistant','content':[" CALL("c1",                         \
	    "shot") "]},"                                                                              \
		    "{'role':'tool','content':[{'type':'tool_result','call_id':'c1','is_error':false," \
		    "'output':[{'type':'text','text':'here'},"                                         \
		    "{'type':'image','mime_type':'image/png','data_base64':'YWJj'},"                   \
		    "{'type':'image','mime_type':'image/tiff','data_base64':'eHl6'}]}]}]"

/* What is asked, and what stands where in the body that the provider gets. */
static const struct asked {
	const char *name;
	const char *settings;
	const char *messages;
	const char *media; /* a block in the only message, in place of messages */
	bool tools;        /* of sent_tools, in place of messages */
	enum chat_choice choice;
	const char *body[10][2]; /* path and text, as at() gives it */
} asked[] = {
#define SAYS(n, s, m, ...)                                                       \
	{                                                                        \
		.name = n, .settings = s, .messages = m, .body = { __VA_ARGS__ } \
	}
#define SHOWS(n, s, m, ...)                                                   \
	{                                                                     \
		.name = n, .settings = s, .media = m, .body = { __VA_ARGS__ } \
	}
#define OFFERS(n, s, c, ...)                                                                  \
	{                                                                                     \
		.name = n, .settings = s, .tools = true, .choice = c, .body = { __VA_ARGS__ } \
	}

    SAYS("OpenAI gets the conversation", OPENAI "}", conversation,
	{"messages",
	    "[{\"role\":\"system\",\"content\":\"Be kind\"},"
	    "{\"role\":\"assistant\",\"content\":\"Welcome\"},"
	    "{\"role\":\"system\",\"content\":\"Be brief\"},"
	    "{\"role\":\"user\",\"content\":\"one\\ntwo\"},{\"role\":\"user\",\"content\":\"three\"},"
	    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":["
	    "{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"add\",\"arguments\":"
	    "\"{\\\"a\\\":1}\"}},"
	    "{\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"ask\",\"arguments\":"
	    "\"{}\"}},"
	    "{\"id\":\"c3\",\"type\":\"function\",\"function\":{\"name\":\"lost\",\"arguments\":"
	    "\"{}\"}}]},"
	    "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"{\\\"sum\\\":3}\"},"
	    "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"no\"},"
	    "{\"role\":\"tool\",\"tool_call_id\":\"c3\",\"content\":"
	    "\"There is no result: the call was not run.\"}]"}),
    SAYS("Anthropic gets the conversation", ANTHROPIC "}", conversation,
	{"system", "Be kind\n\nBe brief"}, {"max_tokens", "8192"},
	{"messages",
	    "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
	    "\"(The conversation begins.)\"}]},"
	    "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Welcome\"}]},"
	    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"one\"},"
	    "{\"type\":\"text\",\"text\":\"two\"},{\"type\":\"text\",\"text\":\"three\"}]},"
	    "{\"role\":\"assistant\",\"content\":["
	    "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"add\",\"input\":{\"a\":1}},"
	    "{\"type\":\"tool_use\",\"id\":\"c2\",\"name\":\"ask\",\"input\":{}},"
	    "{\"type\":\"tool_use\",\"id\":\"c3\",\"name\":\"lost\",\"input\":{}}]},"
	    "{\"role\":\"user\",\"content\":["
	    "{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":\"{\\\"sum\\\":3}\"},"
	    "{\"type\":\"tool_result\",\"tool_use_id\":\"c2\",\"content\":\"no\",\"is_error\":true},"
	    "{\"type\":\"tool_result\",\"tool_use_id\":\"c3\",\"content\":"
	    "\"There is no result: the call was not run.\",\"is_error\":true}]}]"}),
    SAYS("Gemini gets the conversation", GEMINI "}", conversation,
	{"systemInstruction", "{\"parts\":[{\"text\":\"Be kind\\n\\nBe brief\"}]}"},
	{"model", "(none)"},
	{"contents",
	    "[{\"role\":\"user\",\"parts\":[{\"text\":\"(The conversation begins.)\"}]},"
	    "{\"role\":\"model\",\"parts\":[{\"text\":\"Welcome\"}]},"
	    "{\"role\":\"user\",\"parts\":[{\"text\":\"one\"},{\"text\":\"two\"},{\"text\":\"three\"}]},"
	    "{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"add\",\"args\":{\"a\":1}}},"
	    "{\"functionCall\":{\"name\":\"ask\",\"args\":{}}},"
	    "{\"functionCall\":{\"name\":\"lost\",\"args\":{}}}]},"
	    "{\"role\":\"user\",\"parts\":["
	    "{\"functionResponse\":{\"name\":\"add\",\"response\":{\"sum\":3}}},"
	    "{\"functionResponse\":{\"name\":\"ask\",\"response\":{\"error\":\"no\"}}},"
	    "{\"functionResponse\":{\"name\":\"lost\",\"response\":{\"error\":"
	    "\"There is no result: the call was not run.\"}}}]}]"}),
    SAYS("a conversation that ends with the assistant is continued", ANTHROPIC "}",
	"[{'role':'user','content':[{'type':'text','text':'hi'}]},"
	"{'role':'assistant','content':[{'type':'text','text':'hello'}]}]",
	{"messages/2/content/0/text", "(Continue.)"}),
    SAYS("a conversation that ends with the assistant is continued", GEMINI "}",
	"[{'role':'user','content':[{'type':'text','text':'hi'}]},"
	"{'role':'assistant','content':[{'type':'text','text':'hello'}]}]",
	{"contents/2/parts/0/text", "(Continue.)"}),
    SAYS("a conversation that ends with the assistant is continued", ANTHROPIC "}", "[]",
	{"messages/0/role", "user"}),
    SAYS("Anthropic gets ids that it takes", ANTHROPIC "}",
	"[" TEXT("user", "hi") ",{'role':'assistant','content':[" CALL("functions.a:0", "a") "]}]",
	{"messages/1/content/0/id", "functions_a_0"},
	{"messages/2/content/0/tool_use_id", "functions_a_0"}),
    SAYS("Anthropic gets ids that it takes", OPENAI "}",
	"[" TEXT("user", "hi") ",{'role':'assistant','content':[" CALL("functions.a:0", "a") "]}]",
	{"messages/2/tool_calls/0/id", "functions.a:0"}),
    /* A conversation with calls is refused where no tools are. */
    SAYS("Anthropic is told of the tools that were", ANTHROPIC "}",
	"[" TEXT("user", "hi") ",{'role':'assistant','content':[" CALL("c1", "a") "," CALL(
	    "c2", "b") "," CALL("c3", "a") "]}," TEXT("user", "so?") "]",
	{"tools",
	    "[{\"name\":\"a\",\"input_schema\":{\"type\":\"object\"}},"
	    "{\"name\":\"b\",\"input_schema\":{\"type\":\"object\"}}]"},
	{"tool_choice", "{\"type\":\"none\"}"}),
    SAYS("Anthropic is told of the tools that were", ANTHROPIC "}", "[" TEXT("user", "hi") "]",
	{"tools", "(none)"}, {"tool_choice", "(none)"}),
    SAYS("reasoning goes back to its provider", ANTHROPIC ",'reasoning_tokens':2000}", thought,
	{"messages/1/content/0",
	    "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"sig\"}"},
	{"messages/1/content/1", "{\"type\":\"redacted_thinking\",\"data\":\"xyz\"}"},
	{"messages/1/content/2/type", "tool_use"},
	{"thinking", "{\"type\":\"enabled\",\"budget_tokens\":2000}"}, {"max_tokens", "10192"}),
    SAYS("reasoning goes back to its provider", GEMINI "}", thought,
	{"contents/1/parts/0/thoughtSignature", "gs"}),
    SAYS("reasoning goes back to its provider", OPENAI "}", thought,
	{"messages/2/reasoning_content", "hm"}, {"messages/2/user", "(none)"}),
    SAYS("what a service wants back goes to the same model", OPENAI "}", kept,
	{"messages/2/reasoning_details", "[1]"}, {"messages/2/reasoning_content", "hm"},
	{"messages/2/tool_calls/0/extra_content", "(none)"},
	{"messages/2/tool_calls/1/extra_content", "{\"g\":2}"}),
    SAYS("what a service wants back goes to the same model", OPENAI ",'model':'other'}", kept,
	{"messages/2/reasoning_details", "(none)"},
	{"messages/2/tool_calls/1/extra_content", "(none)"}),
    SAYS("calls of another model are not thought about", ANTHROPIC ",'reasoning_effort':'high'}",
	thought_elsewhere, {"thinking", "(none)"}, {"output_config/effort", "high"},
	{"messages/1/content/0/type", "tool_use"}),
    SAYS("calls of another model are not thought about", GEMINI ",'model':'gemini-3-pro'}",
	thought_elsewhere,
	{"contents/1/parts/0/thoughtSignature", "skip_thought_signature_validator"}),
    SAYS("reasoning is asked for", OPENAI ",'reasoning_effort':'low'}", "[]",
	{"reasoning_effort", "low"}),
    SAYS("reasoning is asked for", ANTHROPIC ",'reasoning_effort':'minimal'}", "[]",
	{"thinking", "{\"type\":\"adaptive\"}"}, {"output_config/effort", "low"}),
    SAYS("reasoning is asked for", GEMINI ",'reasoning_effort':'high'}", "[]",
	{"generationConfig/thinkingConfig",
	    "{\"thinkingLevel\":\"high\",\"includeThoughts\":true}"}),
    SAYS("reasoning is asked for", GEMINI ",'reasoning_effort':'none'}", "[]",
	{"generationConfig/thinkingConfig", "{\"thinkingBudget\":0}"}),
    /* Models before Gemini 3 refuse a level. */
    SAYS("an effort is a budget where there are no levels",
	GEMINI ",'model':'gemini-2.5-flash','reasoning_effort':'medium'}", "[]",
	{"generationConfig/thinkingConfig", "{\"thinkingBudget\":8192,\"includeThoughts\":true}"}),
    SAYS("an effort is a budget where there are no levels",
	GEMINI ",'model':'models/gemini-2.5-pro','reasoning_effort':'minimal'}", "[]",
	{"generationConfig/thinkingConfig/thinkingBudget", "1024"}),
    SAYS("an effort is a budget where there are no levels",
	GEMINI ",'model':'gemini-3-pro','reasoning_effort':'medium'}", "[]",
	{"generationConfig/thinkingConfig/thinkingLevel", "medium"}),
    SAYS("an effort is a budget where there are no levels",
	GEMINI ",'model':'models/gemini-3-pro'}", thought_elsewhere,
	{"contents/1/parts/0/thoughtSignature", "skip_thought_signature_validator"}),
    SHOWS("OpenAI gets media", OPENAI "}", MEDIA("image", DATA("image/jpeg")),
	{"messages/0/content/1",
	    "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/jpeg;base64,YWJj\"}}"}),
    SHOWS("OpenAI gets media", OPENAI "}", MEDIA("image", WEB_URL),
	{"messages/0/content/1",
	    "{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://x/y.png\"}}"}),
    SHOWS("OpenAI gets media", OPENAI "}", MEDIA("audio", DATA("audio/wav")),
	{"messages/0/content/1",
	    "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"YWJj\",\"format\":\"wav\"}}"}),
    SHOWS("OpenAI gets media", OPENAI "}", MEDIA("document", FILE_ID("pdf")),
	{"messages/0/content/1",
	    "{\"type\":\"file\",\"file\":{\"filename\":\"a.bin\",\"file_data\":"
	    "\"data:application/pdf;base64,YWJj\"}}"}),
    SHOWS("OpenAI gets media", OPENAI "}", MEDIA("document", FILE_ID("text")),
	{"messages/0/content/1", "{\"type\":\"text\",\"text\":\"a.bin:\\nwhat it says\"}"}),
    SHOWS("OpenAI gets media", OPENAI "}", MEDIA("video", DATA("video/mp4")),
	{"messages/0/content/1",
	    "{\"type\":\"text\",\"text\":\"[video unnamed, video/mp4: this model cannot read it]\"}"}),
    SHOWS("Anthropic gets media", ANTHROPIC "}", MEDIA("image", FILE_ID("png")),
	{"messages/0/content/1",
	    "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\","
	    "\"data\":\"YWJj\"}}"}),
    SHOWS("Anthropic gets media", ANTHROPIC "}", MEDIA("image", WEB_URL),
	{"messages/0/content/1",
	    "{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"https://x/y.png\"}}"}),
    SHOWS("Anthropic gets media", ANTHROPIC "}", MEDIA("document", DATA("application/pdf")),
	{"messages/0/content/1",
	    "{\"type\":\"document\",\"source\":{\"type\":\"base64\",\"media_type\":"
	    "\"application/pdf\",\"data\":\"YWJj\"}}"}),
    SHOWS("Anthropic gets media", ANTHROPIC "}", MEDIA("audio", DATA("audio/wav")),
	{"messages/0/content/1",
	    "{\"type\":\"text\",\"text\":\"[audio unnamed, audio/wav: this model cannot read it]\"}"}),
    SHOWS("Gemini gets media", GEMINI "}", MEDIA("video", DATA("video/mp4")),
	{"contents/0/parts/1", "{\"inlineData\":{\"mimeType\":\"video/mp4\",\"data\":\"YWJj\"}}"}),
    SHOWS("Gemini gets media", GEMINI "}", MEDIA("image", WEB_URL),
	{"contents/0/parts/1",
	    "{\"fileData\":{\"mimeType\":\"image/png\",\"fileUri\":\"https://x/y.png\"}}"}),
    SHOWS("Gemini gets media", GEMINI "}", MEDIA("document", FILE_ID("text")),
	{"contents/0/parts/1", "{\"text\":\"a.bin:\\nwhat it says\"}"}),
    OFFERS("OpenAI gets tools", OPENAI ",'parallel_tool_calls':false}", CHAT_TOOLS_AUTO,
	{"tools/0/type", "function"}, {"tools/0/function/name", "add"},
	{"tools/0/function/parameters/$schema", "x"},
	{"tools/1",
	    "{\"type\":\"function\",\"function\":{\"name\":\"now\",\"parameters\":"
	    "{\"type\":\"object\",\"properties\":{}}}}"},
	{"tool_choice", "(none)"}, {"parallel_tool_calls", "false"}),
    OFFERS("OpenAI gets tools", OPENAI "}", CHAT_TOOLS_REQUIRED, {"tool_choice", "required"}),
    OFFERS("OpenAI gets tools", OPENAI "}", CHAT_TOOLS_NAMED,
	{"tool_choice", "{\"type\":\"function\",\"function\":{\"name\":\"add\"}}"}),
    OFFERS("Anthropic gets tools", ANTHROPIC ",'parallel_tool_calls':false}", CHAT_TOOLS_REQUIRED,
	{"tools/0/description", "Adds"}, {"tools/0/input_schema/type", "object"},
	{"tools/1", "{\"name\":\"now\",\"input_schema\":{\"type\":\"object\"}}"},
	{"tool_choice", "{\"type\":\"any\",\"disable_parallel_tool_use\":true}"}),
    OFFERS("Anthropic gets tools", ANTHROPIC "}", CHAT_TOOLS_NAMED,
	{"tool_choice", "{\"type\":\"tool\",\"name\":\"add\"}"}),
    OFFERS("Gemini gets tools without what it refuses", GEMINI "}", CHAT_TOOLS_NAMED,
	{"tools/0/functionDeclarations/0/parameters",
	    "{\"required\":[\"n\"],\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"},"
	    "\"p\":{\"type\":\"string\",\"nullable\":true}"
	    ",\"c\":{\"enum\":[\"x\"],\"type\":\"string\"},"
	    "\"u\":{\"nullable\":true,\"anyOf\":[{\"type\":\"string\"}]},"
	    "\"l\":{\"type\":\"array\",\"items\":{\"anyOf\":[{\"type\":\"integer\"},"
	    "{\"type\":\"string\"}]}}}}"},
	{"tools/0/functionDeclarations/1", "{\"name\":\"now\",\"description\":\"\"}"},
	{"toolConfig/functionCallingConfig",
	    "{\"mode\":\"ANY\",\"allowedFunctionNames\":[\"add\"]}"}),
    SAYS("settings have each provider's name", OPENAI SETTINGS, "[]", {"temperature", "0.5"},
	{"max_tokens", "100"}, {"stop", "END"}, {"seed", "(none)"}, {"user", "u"}),
    SAYS("settings have each provider's name", ANTHROPIC SETTINGS, "[]", {"max_tokens", "100"},
	{"stop_sequences", "[\"END\"]"}, {"metadata", "{\"a\":1}"}),
    SAYS("settings have each provider's name", GEMINI SETTINGS, "[]",
	{"generationConfig",
	    "{\"temperature\":0.5,\"topP\":0.9,\"maxOutputTokens\":100,\"seed\":7,"
	    "\"stopSequences\":[\"END\"]}"}),
    SAYS("structured output is asked for", OPENAI FORMAT, "[]",
	{"response_format/json_schema/name", "answer"},
	{"response_format/json_schema/strict", "true"},
	{"response_format/json_schema/schema/type", "object"}),
    SAYS("structured output is asked for", ANTHROPIC FORMAT, "[]",
	{"output_config/format/type", "json_schema"},
	{"output_config/format/schema/properties/n/type", "integer"}),
    SAYS("structured output is asked for", GEMINI FORMAT, "[]",
	{"generationConfig/responseMimeType", "application/json"},
	{"generationConfig/responseSchema",
	    "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}"}),
    SAYS("structured output is asked for", ANTHROPIC ",'response_format':{'type':'json_object'}}",
	"[]", {"system", "Be kind\n\nAnswer with one JSON object and nothing else."}),
    SAYS("images of results are shown to every provider", OPENAI "}", SHOWN,
	{"messages/3/content",
	    "[{\"type\":\"text\",\"text\":\"here\"},"
	    "{\"type\":\"image\",\"mime_type\":\"image/png\",\"image\":1},"
	    "{\"type\":\"image\",\"mime_type\":\"image/tiff\",\"data_base64\":\"eHl6\"}]"},
	{"messages/4/role", "user"},
	{"messages/4/content/1/image_url/url", "data:image/png;base64,YWJj"}),
    SAYS("images of results are shown to every provider", ANTHROPIC "}", SHOWN,
	{"messages/2/content/0/type", "tool_result"},
	{"messages/2/content/2/source",
	    "{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"YWJj\"}"}),
    SAYS("images of results are shown to every provider", GEMINI "}", SHOWN,
	{"contents/2/parts/0/functionResponse/name", "shot"},
	{"contents/2/parts/2/inlineData", "{\"mimeType\":\"image/png\",\"data\":\"YWJj\"}"}),
};

static void each_provider_gets_what_it_knows(void)
{
	for (size_t i = 0; i < UNIT_COUNT(asked); i++) {
		const struct asked *a = &asked[i];
		unit_row("%s %s %s", a->name, a->settings, a->media ? a->media : "");
		const cJSON *body = a->media ? sent_media(a->settings, a->media)
		    : a->tools               ? sent_tools(a->settings, a->choice)
					     : sent(a->settings, a->messages);
		for (size_t j = 0; a->body[j][0]; j++)
			CU_ASSERT_STRING_EQUAL(at(body, a->body[j][0]), a->body[j][1]);
	}
}

static void whoever_wants_text_asks_for_no_form(void)
{
	static const char *const settings[] = {
	    OPENAI FORMAT, OPENAI ",'api':'responses'" FORMAT, ANTHROPIC FORMAT, GEMINI FORMAT};
	for (size_t i = 0; i < UNIT_COUNT(settings); i++) {
		char *body = cJSON_Print(
		    sent_with(settings[i], conversation, (struct chat_request){.plain = true}));
		CU_ASSERT_PTR_NULL(strstr(body, "integer"));
		cJSON_free(body);
	}
}

/* Each level refers to itself twice: unfolded it would be huge. */
static void a_schema_that_refers_to_itself_is_cut_off(void)
{
	cJSON *schema = json_from(
	    "{'type':'object','properties':{'t':{'$ref':'#/$defs/T'}},'$defs':{'T':{'type':'object',"
	    "'properties':{'a':{'$ref':'#/$defs/T'},'b':{'$ref':'#/$defs/T'}}}}}");
	struct chat_tool tool = {"t", "", schema};
	const cJSON *body =
	    sent_with(GEMINI "}", "[]", (struct chat_request){.tools = &tool, .tool_count = 1});
	CU_ASSERT_STRING_EQUAL(
	    at(body, "tools/0/functionDeclarations/0/parameters/properties/t/type"), "object");
	cJSON_Delete(schema);
}

/* A hundred times a hundred references to the same large value. */
static void a_schema_does_not_grow_without_end(void)
{
	static const char *const larges[] = {"'description':'%s'", "'type':'%s'", "'enum':['%s']",
	    "'const':'%s'", "'required':['%s']", "'properties':{'%s':{}}"};
	char large[10001];
	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	for (size_t k = 0; k < UNIT_COUNT(larges); k++) {
		struct buf text = {0};
		buf_puts(&text, "{'$defs':{'b':{");
		buf_printf(&text, larges[k], large);
		buf_puts(&text, "},'a':{'properties':{'0':{}");
		for (int i = 1; i < 100; i++)
			buf_printf(&text, ",'%d':{'$ref':'/b'}", i);
		buf_puts(&text, "}}},'properties':{'0':{}");
		for (int i = 1; i < 100; i++)
			buf_printf(&text, ",'%d':{'$ref':'/a'}", i);
		buf_puts(&text, "}}");
		cJSON *schema = json_from(buf_str(&text));
		struct chat_tool tool = {"t", "", schema};
		const cJSON *body = sent_with(
		    GEMINI "}", "[]", (struct chat_request){.tools = &tool, .tool_count = 1});
		char *sent_text = json_print(body);
		CU_ASSERT(strlen(sent_text) < 1000000);
		cJSON_free(sent_text);
		cJSON_Delete(schema);
		buf_release(&text);
	}
}

#define MANY 40000

/* As many results, the last first: looking for each among all would take minutes.  Of processor
 * time, whatever else the machine does. */
static void many_calls_cost_no_more_than_they_are_long(void)
{
	static const char *const providers[] = {OPENAI "}", GEMINI "}", ANTHROPIC "}"};
	const cJSON *body = NULL;
	struct buf text = {0};
	buf_puts(&text, "[{'role':'assistant','content':[{'type':'text','text':'x'}");
	for (int i = 0; i < MANY; i++)
		buf_printf(&text, ",{'type':'tool_call','id':'c%d','name':'n%d','args':{}}", i, i);
	buf_puts(&text, "]},{'role':'tool','content':[{'type':'text','text':'x'}");
	for (int i = MANY; i-- > 0;)
		buf_printf(&text, ",{'type':'tool_result','call_id':'c%d','output':%d}", i, i);
	buf_puts(&text, "]}]");
	for (size_t i = 0; i < UNIT_COUNT(providers); i++) {
		clock_t start = clock();
		body = sent(providers[i], buf_str(&text));
		CU_ASSERT((clock() - start) / CLOCKS_PER_SEC < 15);
	}
	CU_ASSERT_STRING_EQUAL(at(body, "messages/2/content/0/content"), "0");
	CU_ASSERT_STRING_EQUAL(at(body, "messages/2/content/7/content"), "7");
	buf_release(&text);
}

static void a_result_is_that_of_one_call(void)
{
	const cJSON *body = sent(OPENAI "}",
	    "[{'role':'assistant','content':[" CALL("c1",
		"a") "]},"
		     "{'role':'assistant','content':[" CALL("c1", "a") "," CALL("c1", "a") "," CALL(
			 "c1",
			 "a") "]},{'role':'tool','content':[{'type':'tool_result','call_id':'c1','output':1},"
			      "{'type':'tool_result','call_id':'c1','output':2}]}]");
	static const char none[] = "There is no result: the call was not run.";
	CU_ASSERT_STRING_EQUAL(at(body, "messages/2/content"), none);
	CU_ASSERT_STRING_EQUAL(at(body, "messages/4/content"), "1");
	CU_ASSERT_STRING_EQUAL(at(body, "messages/5/content"), "2");
	CU_ASSERT_STRING_EQUAL(at(body, "messages/6/content"), none);
}

/* As one block of reasoning may have them that a client sends. */
static void many_details_cost_no_more_than_they_are_long(void)
{
	static const char *const providers[][2] = {{OPENAI "}", "openai"},
	    {OPENAI ",'api':'responses'}", "openai"}, {GEMINI "}", "gemini"},
	    {ANTHROPIC "}", "anthropic"}};
	for (size_t i = 0; i < UNIT_COUNT(providers); i++) {
		struct buf text = {0};
		buf_puts(&text,
		    "[{'role':'assistant','content':[{'type':'reasoning','summary':'hm','details':['0'");
		for (int k = 0; k < MANY; k++)
			buf_printf(&text, ",'{\\\"provider\\\":\\\"%s\\\"}'", providers[i][1]);
		buf_printf(&text, "]},%s]}]", CALL("c1", "a"));
		clock_t start = clock();
		sent(providers[i][0], buf_str(&text));
		CU_ASSERT((clock() - start) / CLOCKS_PER_SEC < 5);
		buf_release(&text);
	}
}

static void many_images_of_a_result_cost_no_more_than_they_are_long(void)
{
	struct buf text = {0};
	buf_printf(&text, "[{'role':'assistant','content':[%s]},", CALL("c1", "a"));
	buf_puts(
	    &text, "{'role':'tool','content':[{'type':'tool_result','call_id':'c1','output':['x'");
	for (int i = 0; i < MANY; i++)
		buf_puts(&text, ",{'type':'image','mime_type':'image/png','data_base64':''}");
	buf_puts(&text, "]}]}]");
	clock_t start = clock();
	const cJSON *body = sent(OPENAI "}", buf_str(&text));
	CU_ASSERT((clock() - start) / CLOCKS_PER_SEC < 5);
	const char *result = at(body, "messages/2/content");
	CU_ASSERT_STRING_EQUAL(result + strlen(result) - 16, ",\"image\":40000}]");
	buf_release(&text);
}

/* ---- Settings in requests */

static void headers_go_along(void)
{
	setenv("CHAT_TEST_TEAM", "blue", 1);
	sent_with(OPENAI
	    ",'headers':{'X-Team':'team-$CHAT_TEST_TEAM'},'api_key_env':'CHAT_TEST_TEAM'}",
	    "[]", (struct chat_request){.trace = {"00-1-2-01", "a=1"}});
	CU_ASSERT_PTR_NOT_NULL(strstr(provider_head(), "\r\nX-Team: team-blue\r\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(provider_head(), "\r\ntraceparent: 00-1-2-01\r\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(provider_head(), "\r\ntracestate: a=1\r\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(provider_head(), "\r\nAuthorization: Bearer blue\r\n"));
}

/* As Azure has it. */
static void a_query_stays_behind_the_path(void)
{
	char *settings =
	    xasprintf(OPENAI ",'base_url':'%s/deployments/d?api-version=1'}", provider_url());
	sent(settings, "[]");
	CU_ASSERT_PTR_NOT_NULL(strstr(
	    provider_head(), "POST /deployments/d/chat/completions?api-version=1 HTTP/1.1\r\n"));
	free(settings);
}

static void a_local_server_needs_no_key(void)
{
	unsetenv("OPENAI_API_KEY");
	sent(OPENAI "}", "[]");
	CU_ASSERT_PTR_NULL(strstr(provider_head(), "Authorization"));
	setenv("OPENAI_API_KEY", "sk-openai-secret", 1);
}

/* ---- Settings that are wrong */

static void every_mistake_is_reported_with_its_path(void)
{
	settings_are_refused("[]", ": expected an object\n");
	settings_are_refused("{}", "model: expected the name of a model\n");
	settings_are_refused(
	    "{'model':'m','temperature':'hot','top_p':2,'max_tokens':1.5,'stop':[1],'colour':1,"
	    "'base_url':'ftp://x','timeouts':{'idle':0,'never':1},'headers':{'a':1,'b':'$NO_SUCH_X'},"
	    "'response_format':{'type':'json_schema'},'reasoning_effort':'some','retries':11}",
	    "colour: unknown key\n"
	    "base_url: expected an http or https URL\n"
	    "temperature: expected a number from 0 to 2\n"
	    "top_p: expected a number from 0 to 1\n"
	    "max_tokens: expected an integer from 1 to 10000000\n"
	    "stop: expected a string or an array of strings\n"
	    "reasoning_effort: expected \"none\", \"minimal\", \"low\", \"medium\" or \"high\"\n"
	    "response_format/schema: expected an object, a JSON Schema\n"
	    "headers/a: expected a string\n"
	    "headers/b: expected the environment variables that it names to be set\n"
	    "timeouts/never: unknown key\n"
	    "timeouts/idle: expected seconds, more than 0, at most 86400\n"
	    "retries: expected an integer from 0 to 10\n");
}

static void fallbacks_are_checked_too(void)
{
	settings_are_refused("{'model':'m','fallbacks':[1,{'top_p':2},{'fallbacks':[]}]}",
	    "fallbacks/0: expected an object\n"
	    "fallbacks/1/top_p: expected a number from 0 to 1\n"
	    "fallbacks/2/fallbacks: a fallback has no fallbacks\n");
}

static void a_missing_key_is_a_mistake(void)
{
	unsetenv("ANTHROPIC_API_KEY");
	settings_are_refused("{'model':'m','provider':'anthropic'}",
	    "api_key_env: expected the environment variable ANTHROPIC_API_KEY, for the key, to be "
	    "set\n");
	settings_are_refused("{'model':'m','base_url':'http://x','api_key_env':'NO_SUCH_X'}",
	    "api_key_env: expected the environment variable NO_SUCH_X, for the key, to be set\n");
	setenv("ANTHROPIC_API_KEY", "sk-anthropic-secret", 1);
}

/* What is meant for one service must not reach another. */
static void a_fallback_elsewhere_gets_no_headers_and_no_key(void)
{
	static const struct step script[] = {
	    {STEP_WHOLE, 500, NULL, "{}"}, {STEP_WHOLE, 400, NULL, "{}"}};
	struct chat_result r;
	setenv("CHAT_TEST_TEAM", "blue", 1);
	provider_script(script, 2);
	char *settings = xasprintf(
	    "{'model':'m','retries':0,'api_key_env':'CHAT_TEST_TEAM','headers':{'X-Team':'red'},"
	    "'extra':{'user':'u'},'max_tokens':5,'fallbacks':[{'base_url':'%s'}]}",
	    provider_url());
	ask(settings, NULL, &r);
	CU_ASSERT_EQUAL(provider_requests(), 2);
	CU_ASSERT_PTR_NULL(strstr(provider_head(), "X-Team"));
	CU_ASSERT_PTR_NULL(strstr(provider_head(), "blue"));
	CU_ASSERT_STRING_EQUAL(at(provider_body(), "user"), "(none)");
	CU_ASSERT_STRING_EQUAL(at(provider_body(), "max_tokens"), "5");
	chat_result_release(&r);
	free(settings);
}

static void images_of_results_stay_text_where_it_is_asked_for(void)
{
	const cJSON *body = sent(OPENAI ",'tool_images':false}", SHOWN);
	CU_ASSERT_PTR_NOT_NULL(strstr(at(body, "messages/3/content"), "YWJj"));
	CU_ASSERT_STRING_EQUAL(at(body, "messages/4"), "(none)");
}

static const struct unit_test tests[] = {
    {"each provider gets what it knows", each_provider_gets_what_it_knows},
    {"an id that is used again has the result behind it",
	an_id_that_is_used_again_has_the_result_behind_it},
    {"images of results stay text where it is asked for",
	images_of_results_stay_text_where_it_is_asked_for},
    {"Anthropic gets no blanks", anthropic_gets_no_blanks},
    {"a call that is forced is not thought about", a_call_that_is_forced_is_not_thought_about},
    {"a file that is gone fails the call", a_file_that_is_gone_fails_the_call},
    {"all media together have a limit", all_media_together_have_a_limit},
    {"whoever wants text asks for no form", whoever_wants_text_asks_for_no_form},
    {"a schema that refers to itself is cut off", a_schema_that_refers_to_itself_is_cut_off},
    {"a schema does not grow without end", a_schema_does_not_grow_without_end},
    {"many calls cost no more than they are long", many_calls_cost_no_more_than_they_are_long},
    {"a result is that of one call", a_result_is_that_of_one_call},
    {"many details cost no more than they are long", many_details_cost_no_more_than_they_are_long},
    {"many images of a result cost no more than they are long",
	many_images_of_a_result_cost_no_more_than_they_are_long},
    {"headers go along", headers_go_along},
    {"a query stays behind the path", a_query_stays_behind_the_path},
    {"a local server needs no key", a_local_server_needs_no_key},
    {"every mistake is reported with its path", every_mistake_is_reported_with_its_path},
    {"fallbacks are checked too", fallbacks_are_checked_too},
    {"a missing key is a mistake", a_missing_key_is_a_mistake},
    {"a fallback elsewhere gets no headers and no key",
	a_fallback_elsewhere_gets_no_headers_and_no_key},
};

int main(void)
{
	memory_init();
	provider_start();
	int status = unit_main("chat_request", tests, UNIT_COUNT(tests));
	http_close_kept();
	provider_stop();
	return status;
}
