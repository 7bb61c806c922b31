/* SPDX-License-Identifier: ISC */
/* What is sent to the providers. */
#include "base/http.h"
#include "base/json.h"
#include "base/memory.h"
#include "chat_fixture.h"
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

static void openai_gets_the_conversation(void)
{
	const cJSON *body = sent(OPENAI "}", conversation);
	CU_ASSERT_STRING_EQUAL(at(body, "messages"),
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
	    "\"There is no result: the call was not run.\"}]");
}

static void anthropic_gets_the_conversation(void)
{
	const cJSON *body = sent(ANTHROPIC "}", conversation);
	CU_ASSERT_STRING_EQUAL(at(body, "system"), "Be kind\n\nBe brief");
	CU_ASSERT_STRING_EQUAL(at(body, "max_tokens"), "8192");
	CU_ASSERT_STRING_EQUAL(at(body, "messages"),
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
	    "\"There is no result: the call was not run.\",\"is_error\":true}]}]");
}

static void gemini_gets_the_conversation(void)
{
	const cJSON *body = sent(GEMINI "}", conversation);
	CU_ASSERT_STRING_EQUAL(
	    at(body, "systemInstruction"), "{\"parts\":[{\"text\":\"Be kind\\n\\nBe brief\"}]}");
	CU_ASSERT_STRING_EQUAL(at(body, "model"), "(none)");
	CU_ASSERT_STRING_EQUAL(at(body, "contents"),
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
	    "\"There is no result: the call was not run.\"}}}]}]");
}

static void a_conversation_that_ends_with_the_assistant_is_continued(void)
{
	static const char messages[] =
	    "[{'role':'user','content':[{'type':'text','text':'hi'}]},"
	    "{'role':'assistant','content':[{'type':'text','text':'hello'}]}]";
	const cJSON *body = sent(ANTHROPIC "}", messages);
	CU_ASSERT_STRING_EQUAL(at(body, "messages/2/content/0/text"), "(Continue.)");
	body = sent(GEMINI "}", messages);
	CU_ASSERT_STRING_EQUAL(at(body, "contents/2/parts/0/text"), "(Continue.)");
	body = sent(ANTHROPIC "}", "[]");
	CU_ASSERT_STRING_EQUAL(at(body, "messages/0/role"), "user");
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

static void anthropic_gets_ids_that_it_takes(void)
{
	const cJSON *body = sent(ANTHROPIC "}",
	    "[" TEXT("user", "hi") ",{'role':'assistant','content':[" CALL(
		"functions.a:0", "a") "]}]");
	CU_ASSERT_STRING_EQUAL(at(body, "messages/1/content/0/id"), "functions_a_0");
	CU_ASSERT_STRING_EQUAL(at(body, "messages/2/content/0/tool_use_id"), "functions_a_0");
	body = sent(OPENAI "}",
	    "[" TEXT("user", "hi") ",{'role':'assistant','content':[" CALL(
		"functions.a:0", "a") "]}]");
	CU_ASSERT_STRING_EQUAL(at(body, "messages/2/tool_calls/0/id"), "functions.a:0");
}

/* A conversation with calls is refused where no tools are. */
static void anthropic_is_told_of_the_tools_that_were(void)
{
	const cJSON *body = sent(ANTHROPIC "}",
	    "[" TEXT("user", "hi") ",{'role':'assistant','content':[" CALL("c1", "a") "," CALL(
		"c2", "b") "," CALL("c3", "a") "]}," TEXT("user", "so?") "]");
	CU_ASSERT_STRING_EQUAL(at(body, "tools"),
	    "[{\"name\":\"a\",\"input_schema\":{\"type\":\"object\"}},"
	    "{\"name\":\"b\",\"input_schema\":{\"type\":\"object\"}}]");
	CU_ASSERT_STRING_EQUAL(at(body, "tool_choice"), "{\"type\":\"none\"}");
	body = sent(ANTHROPIC "}", "[" TEXT("user", "hi") "]");
	CU_ASSERT_STRING_EQUAL(at(body, "tools"), "(none)");
	CU_ASSERT_STRING_EQUAL(at(body, "tool_choice"), "(none)");
}

/* ---- Reasoning that goes back */

static const char thought[] =
    "[{'role':'user','content':[{'type':'text','text':'hi'}]},"
    "{'role':'assistant','content':[{'type':'reasoning','summary':'hm','details':['"
    "{\\\"provider\\\":\\\"anthropic\\\",\\\"signature\\\":\\\"sig\\\"}','"
    "{\\\"provider\\\":\\\"anthropic\\\",\\\"redacted\\\":\\\"xyz\\\"}','"
    "{\\\"provider\\\":\\\"gemini\\\",\\\"call\\\":\\\"c1\\\",\\\"signature\\\":\\\"gs\\\"}','"
    "{\\\"provider\\\":\\\"openai\\\",\\\"field\\\":\\\"reasoning_content\\\"}','nonsense']},"
    "{'type':'tool_call','id':'c1','name':'add','args':{},'tool_type':'local'}]},"
    "{'role':'tool','content':[{'type':'tool_result','call_id':'c1','output':3}]}]";

static void reasoning_goes_back_to_its_provider(void)
{
	const cJSON *body = sent(ANTHROPIC ",'reasoning_tokens':2000}", thought);
	CU_ASSERT_STRING_EQUAL(at(body, "messages/1/content/0"),
	    "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"sig\"}");
	CU_ASSERT_STRING_EQUAL(
	    at(body, "messages/1/content/1"), "{\"type\":\"redacted_thinking\",\"data\":\"xyz\"}");
	CU_ASSERT_STRING_EQUAL(
	    at(body, "thinking"), "{\"type\":\"enabled\",\"budget_tokens\":2000}");
	CU_ASSERT_STRING_EQUAL(at(body, "max_tokens"), "10192");
	body = sent(GEMINI "}", thought);
	CU_ASSERT_STRING_EQUAL(at(body, "contents/1/parts/0/thoughtSignature"), "gs");
	body = sent(OPENAI "}", thought);
	CU_ASSERT_STRING_EQUAL(at(body, "messages/2/reasoning_content"), "hm");
}

static const char kept[] =
    "[{'role':'user','content':[{'type':'text','text':'hi'}]},"
    "{'role':'assistant','content':[{'type':'reasoning','summary':'hm','details':['"
    "{\\\"provider\\\":\\\"openai\\\",\\\"model\\\":\\\"m\\\",\\\"returns\\\":"
    "\\\"reasoning_details\\\",\\\"value\\\":[1]}','"
    "{\\\"provider\\\":\\\"openai\\\",\\\"model\\\":\\\"m\\\",\\\"call\\\":\\\"c2\\\","
    "\\\"returns\\\":\\\"extra_content\\\",\\\"value\\\":{\\\"g\\\":2}}','"
    "{\\\"provider\\\":\\\"openai\\\",\\\"field\\\":\\\"reasoning_content\\\"}']}," CALL(
	"c1", "a") "," CALL("c2", "b") "]}]";

static void what_a_service_wants_back_goes_to_the_same_model(void)
{
	const cJSON *body = sent(OPENAI "}", kept);
	CU_ASSERT_STRING_EQUAL(at(body, "messages/2/reasoning_details"), "[1]");
	CU_ASSERT_STRING_EQUAL(at(body, "messages/2/reasoning_content"), "hm");
	CU_ASSERT_STRING_EQUAL(at(body, "messages/2/tool_calls/0/extra_content"), "(none)");
	CU_ASSERT_STRING_EQUAL(at(body, "messages/2/tool_calls/1/extra_content"), "{\"g\":2}");
	body = sent(OPENAI ",'model':'other'}", kept);
	CU_ASSERT_STRING_EQUAL(at(body, "messages/2/reasoning_details"), "(none)");
	CU_ASSERT_STRING_EQUAL(at(body, "messages/2/tool_calls/1/extra_content"), "(none)");
}

static const char thought_elsewhere[] =
    "[{'role':'user','content':[{'type':'text','text':'hi'}]},"
    "{'role':'assistant','content':[{'type':'reasoning','summary':'hm','details':[]},"
    "{'type':'tool_call','id':'c1','name':'add','args':{},'tool_type':'local'}]},"
    "{'role':'tool','content':[{'type':'tool_result','call_id':'c1','output':3}]}]";

static void calls_of_another_model_are_not_thought_about(void)
{
	const cJSON *body = sent(ANTHROPIC ",'reasoning_effort':'high'}", thought_elsewhere);
	CU_ASSERT_STRING_EQUAL(at(body, "thinking"), "(none)");
	CU_ASSERT_STRING_EQUAL(at(body, "output_config/effort"), "high");
	CU_ASSERT_STRING_EQUAL(at(body, "messages/1/content/0/type"), "tool_use");
	body = sent(GEMINI ",'model':'gemini-3-pro'}", thought_elsewhere);
	CU_ASSERT_STRING_EQUAL(
	    at(body, "contents/1/parts/0/thoughtSignature"), "skip_thought_signature_validator");
}

static void reasoning_is_asked_for(void)
{
	const cJSON *body = sent(OPENAI ",'reasoning_effort':'low'}", "[]");
	CU_ASSERT_STRING_EQUAL(at(body, "reasoning_effort"), "low");
	body = sent(ANTHROPIC ",'reasoning_effort':'minimal'}", "[]");
	CU_ASSERT_STRING_EQUAL(at(body, "thinking"), "{\"type\":\"adaptive\"}");
	CU_ASSERT_STRING_EQUAL(at(body, "output_config/effort"), "low");
	body = sent(GEMINI ",'reasoning_effort':'high'}", "[]");
	CU_ASSERT_STRING_EQUAL(at(body, "generationConfig/thinkingConfig"),
	    "{\"thinkingLevel\":\"high\",\"includeThoughts\":true}");
	body = sent(GEMINI ",'reasoning_effort':'none'}", "[]");
	CU_ASSERT_STRING_EQUAL(
	    at(body, "generationConfig/thinkingConfig"), "{\"thinkingBudget\":0}");
}

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

/* Models before Gemini 3 refuse a level. */
static void an_effort_is_a_budget_where_there_are_no_levels(void)
{
	const cJSON *body =
	    sent(GEMINI ",'model':'gemini-2.5-flash','reasoning_effort':'medium'}", "[]");
	CU_ASSERT_STRING_EQUAL(at(body, "generationConfig/thinkingConfig"),
	    "{\"thinkingBudget\":8192,\"includeThoughts\":true}");
	body = sent(GEMINI ",'model':'models/gemini-2.5-pro','reasoning_effort':'minimal'}", "[]");
	CU_ASSERT_STRING_EQUAL(at(body, "generationConfig/thinkingConfig/thinkingBudget"), "1024");
	body = sent(GEMINI ",'model':'gemini-3-pro','reasoning_effort':'medium'}", "[]");
	CU_ASSERT_STRING_EQUAL(at(body, "generationConfig/thinkingConfig/thinkingLevel"), "medium");
	body = sent(GEMINI ",'model':'models/gemini-3-pro'}", thought_elsewhere);
	CU_ASSERT_STRING_EQUAL(
	    at(body, "contents/1/parts/0/thoughtSignature"), "skip_thought_signature_validator");
}

/* ---- Media */

static bool give_file(const cJSON *media, struct chat_media *out, void *arg)
{
	(void)arg;
	const char *id = json_str(media, "file_id");
	if (strcmp(id, "gone") == 0)
		return false;
	bool text = strcmp(id, "text") == 0;
	out->data = text ? NULL : xstrdup("abc");
	out->len = text ? 0 : 3;
	out->text = text ? xstrdup("what it says") : NULL;
	out->mime_type = xstrdup(strcmp(id, "pdf") == 0 ? "application/pdf" : "image/png");
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

static const char *openai_part(const char *block)
{
	return at(sent_media(OPENAI "}", block), "messages/0/content/1");
}

static void openai_gets_media(void)
{
	CU_ASSERT_STRING_EQUAL(openai_part(MEDIA("image", DATA("image/jpeg"))),
	    "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/jpeg;base64,YWJj\"}}");
	CU_ASSERT_STRING_EQUAL(openai_part(MEDIA("image", WEB_URL)),
	    "{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://x/y.png\"}}");
	CU_ASSERT_STRING_EQUAL(openai_part(MEDIA("audio", DATA("audio/wav"))),
	    "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"YWJj\",\"format\":\"wav\"}}");
	CU_ASSERT_STRING_EQUAL(openai_part(MEDIA("document", FILE_ID("pdf"))),
	    "{\"type\":\"file\",\"file\":{\"filename\":\"a.bin\",\"file_data\":"
	    "\"data:application/pdf;base64,YWJj\"}}");
	CU_ASSERT_STRING_EQUAL(openai_part(MEDIA("document", FILE_ID("text"))),
	    "{\"type\":\"text\",\"text\":\"a.bin:\\nwhat it says\"}");
	CU_ASSERT_STRING_EQUAL(openai_part(MEDIA("video", DATA("video/mp4"))),
	    "{\"type\":\"text\",\"text\":\"[video unnamed, video/mp4: this model cannot read it]\"}");
}

static const char *anthropic_part(const char *block)
{
	return at(sent_media(ANTHROPIC "}", block), "messages/0/content/1");
}

static void anthropic_gets_media(void)
{
	CU_ASSERT_STRING_EQUAL(anthropic_part(MEDIA("image", FILE_ID("png"))),
	    "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\","
	    "\"data\":\"YWJj\"}}");
	CU_ASSERT_STRING_EQUAL(anthropic_part(MEDIA("image", WEB_URL)),
	    "{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"https://x/y.png\"}}");
	CU_ASSERT_STRING_EQUAL(anthropic_part(MEDIA("document", DATA("application/pdf"))),
	    "{\"type\":\"document\",\"source\":{\"type\":\"base64\",\"media_type\":"
	    "\"application/pdf\",\"data\":\"YWJj\"}}");
	CU_ASSERT_STRING_EQUAL(anthropic_part(MEDIA("audio", DATA("audio/wav"))),
	    "{\"type\":\"text\",\"text\":\"[audio unnamed, audio/wav: this model cannot read it]\"}");
}

static const char *gemini_part(const char *block)
{
	return at(sent_media(GEMINI "}", block), "contents/0/parts/1");
}

static void gemini_gets_media(void)
{
	CU_ASSERT_STRING_EQUAL(gemini_part(MEDIA("video", DATA("video/mp4"))),
	    "{\"inlineData\":{\"mimeType\":\"video/mp4\",\"data\":\"YWJj\"}}");
	CU_ASSERT_STRING_EQUAL(gemini_part(MEDIA("image", WEB_URL)),
	    "{\"fileData\":{\"mimeType\":\"image/png\",\"fileUri\":\"https://x/y.png\"}}");
	CU_ASSERT_STRING_EQUAL(gemini_part(MEDIA("document", FILE_ID("text"))),
	    "{\"text\":\"a.bin:\\nwhat it says\"}");
}

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

static void openai_gets_tools(void)
{
	const cJSON *body = sent_tools(OPENAI ",'parallel_tool_calls':false}", CHAT_TOOLS_AUTO);
	CU_ASSERT_STRING_EQUAL(at(body, "tools/0/type"), "function");
	CU_ASSERT_STRING_EQUAL(at(body, "tools/0/function/name"), "add");
	CU_ASSERT_STRING_EQUAL(at(body, "tools/0/function/parameters/$schema"), "x");
	CU_ASSERT_STRING_EQUAL(at(body, "tools/1"),
	    "{\"type\":\"function\",\"function\":{\"name\":\"now\",\"parameters\":"
	    "{\"type\":\"object\",\"properties\":{}}}}");
	CU_ASSERT_STRING_EQUAL(at(body, "tool_choice"), "(none)");
	CU_ASSERT_STRING_EQUAL(at(body, "parallel_tool_calls"), "false");
	body = sent_tools(OPENAI "}", CHAT_TOOLS_REQUIRED);
	CU_ASSERT_STRING_EQUAL(at(body, "tool_choice"), "required");
	body = sent_tools(OPENAI "}", CHAT_TOOLS_NAMED);
	CU_ASSERT_STRING_EQUAL(
	    at(body, "tool_choice"), "{\"type\":\"function\",\"function\":{\"name\":\"add\"}}");
}

static void anthropic_gets_tools(void)
{
	const cJSON *body =
	    sent_tools(ANTHROPIC ",'parallel_tool_calls':false}", CHAT_TOOLS_REQUIRED);
	CU_ASSERT_STRING_EQUAL(at(body, "tools/0/description"), "Adds");
	CU_ASSERT_STRING_EQUAL(at(body, "tools/0/input_schema/type"), "object");
	CU_ASSERT_STRING_EQUAL(
	    at(body, "tools/1"), "{\"name\":\"now\",\"input_schema\":{\"type\":\"object\"}}");
	CU_ASSERT_STRING_EQUAL(
	    at(body, "tool_choice"), "{\"type\":\"any\",\"disable_parallel_tool_use\":true}");
	body = sent_tools(ANTHROPIC "}", CHAT_TOOLS_NAMED);
	CU_ASSERT_STRING_EQUAL(at(body, "tool_choice"), "{\"type\":\"tool\",\"name\":\"add\"}");
}

static void gemini_gets_tools_without_what_it_refuses(void)
{
	const cJSON *body = sent_tools(GEMINI "}", CHAT_TOOLS_NAMED);
	CU_ASSERT_STRING_EQUAL(at(body, "tools/0/functionDeclarations/0/parameters"),
	    "{\"required\":[\"n\"],\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"},"
	    "\"p\":{\"type\":\"string\",\"nullable\":true}"
	    ",\"c\":{\"enum\":[\"x\"],\"type\":\"string\"},"
	    "\"u\":{\"nullable\":true,\"anyOf\":[{\"type\":\"string\"}]},"
	    "\"l\":{\"type\":\"array\",\"items\":{\"anyOf\":[{\"type\":\"integer\"},"
	    "{\"type\":\"string\"}]}}}}");
	CU_ASSERT_STRING_EQUAL(
	    at(body, "tools/0/functionDeclarations/1"), "{\"name\":\"now\",\"description\":\"\"}");
	CU_ASSERT_STRING_EQUAL(at(body, "toolConfig/functionCallingConfig"),
	    "{\"mode\":\"ANY\",\"allowedFunctionNames\":[\"add\"]}");
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

/* ---- Settings in requests */

#define SETTINGS                                                                 \
	",'temperature':0.5,'top_p':0.9,'max_tokens':100,'stop':'END','seed':7," \
	"'extra':{'user':'u','seed':null,'metadata':{'a':1}}}"

static void settings_have_each_providers_name(void)
{
	const cJSON *body = sent(OPENAI SETTINGS, "[]");
	CU_ASSERT_STRING_EQUAL(at(body, "temperature"), "0.5");
	CU_ASSERT_STRING_EQUAL(at(body, "max_tokens"), "100");
	CU_ASSERT_STRING_EQUAL(at(body, "stop"), "END");
	CU_ASSERT_STRING_EQUAL(at(body, "seed"), "(none)");
	CU_ASSERT_STRING_EQUAL(at(body, "user"), "u");
	body = sent(ANTHROPIC SETTINGS, "[]");
	CU_ASSERT_STRING_EQUAL(at(body, "max_tokens"), "100");
	CU_ASSERT_STRING_EQUAL(at(body, "stop_sequences"), "[\"END\"]");
	CU_ASSERT_STRING_EQUAL(at(body, "metadata"), "{\"a\":1}");
	body = sent(GEMINI SETTINGS, "[]");
	CU_ASSERT_STRING_EQUAL(at(body, "generationConfig"),
	    "{\"temperature\":0.5,\"topP\":0.9,\"maxOutputTokens\":100,\"seed\":7,"
	    "\"stopSequences\":[\"END\"]}");
}

#define FORMAT                                                                             \
	",'response_format':{'type':'json_schema','schema':{'type':'object','properties':" \
	"{'n':{'type':'integer'}},'additionalProperties':false},'strict':true}}"

static void structured_output_is_asked_for(void)
{
	const cJSON *body = sent(OPENAI FORMAT, "[]");
	CU_ASSERT_STRING_EQUAL(at(body, "response_format/json_schema/name"), "answer");
	CU_ASSERT_STRING_EQUAL(at(body, "response_format/json_schema/strict"), "true");
	CU_ASSERT_STRING_EQUAL(at(body, "response_format/json_schema/schema/type"), "object");
	body = sent(ANTHROPIC FORMAT, "[]");
	CU_ASSERT_STRING_EQUAL(at(body, "output_config/format/type"), "json_schema");
	CU_ASSERT_STRING_EQUAL(
	    at(body, "output_config/format/schema/properties/n/type"), "integer");
	body = sent(GEMINI FORMAT, "[]");
	CU_ASSERT_STRING_EQUAL(at(body, "generationConfig/responseMimeType"), "application/json");
	CU_ASSERT_STRING_EQUAL(at(body, "generationConfig/responseSchema"),
	    "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}");
	body = sent(ANTHROPIC ",'response_format':{'type':'json_object'}}", "[]");
	CU_ASSERT_STRING_EQUAL(
	    at(body, "system"), "Be kind\n\nAnswer with one JSON object and nothing else.");
}

static void headers_go_along(void)
{
	setenv("CHAT_TEST_TEAM", "blue", 1);
	sent_with(OPENAI
	    ",'headers':{'X-Team':'team-$CHAT_TEST_TEAM'},'api_key_env':'CHAT_TEST_TEAM'}",
	    "[]", (struct chat_request){.traceparent = "00-1-2-01"});
	CU_ASSERT_PTR_NOT_NULL(strstr(provider_head(), "\r\nX-Team: team-blue\r\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(provider_head(), "\r\ntraceparent: 00-1-2-01\r\n"));
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

static void note_problem(const char *path, const char *text, void *arg)
{
	buf_printf(arg, "%s: %s\n", path, text);
}

static void check_wrong(const char *settings, const char *expected)
{
	static const char *const also[] = {"system", NULL};
	struct buf problems = {0};
	cJSON *json = json_from(settings);
	struct chat_reporter reporter = {note_problem, &problems};
	struct chat_model *m = chat_model_new(json, also, &reporter);
	CU_ASSERT_PTR_NULL(m);
	CU_ASSERT_STRING_EQUAL(buf_str(&problems), expected);
	chat_model_free(m);
	buf_release(&problems);
	cJSON_Delete(json);
}

static void every_mistake_is_reported_with_its_path(void)
{
	check_wrong("[]", ": expected an object\n");
	check_wrong("{'system':1}", "model: expected the name of a model\n");
	check_wrong(
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
	check_wrong("{'model':'m','fallbacks':[1,{'top_p':2},{'fallbacks':[]}]}",
	    "fallbacks/0: expected an object\n"
	    "fallbacks/1/top_p: expected a number from 0 to 1\n"
	    "fallbacks/2/fallbacks: a fallback has no fallbacks\n");
}

static void a_missing_key_is_a_mistake(void)
{
	unsetenv("ANTHROPIC_API_KEY");
	check_wrong("{'model':'m','provider':'anthropic'}",
	    "api_key_env: expected the environment variable ANTHROPIC_API_KEY, for the key, to be "
	    "set\n");
	check_wrong("{'model':'m','base_url':'http://x','api_key_env':'NO_SUCH_X'}",
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

#define SHOWN                                                                                          \
	"[" TEXT("user", "look") ",{'role':'assistant','content':[" CALL("c1",                         \
	    "shot") "]},"                                                                              \
		    "{'role':'tool','content':[{'type':'tool_result','call_id':'c1','is_error':false," \
		    "'output':[{'type':'text','text':'here'},"                                         \
		    "{'type':'image','mime_type':'image/png','data_base64':'YWJj'},"                   \
		    "{'type':'image','mime_type':'image/tiff','data_base64':'eHl6'}]}]}]"

static void images_of_results_are_shown_to_every_provider(void)
{
	const cJSON *body = sent(OPENAI "}", SHOWN);
	CU_ASSERT_STRING_EQUAL(at(body, "messages/3/content"),
	    "[{\"type\":\"text\",\"text\":\"here\"},"
	    "{\"type\":\"image\",\"mime_type\":\"image/png\",\"image\":1},"
	    "{\"type\":\"image\",\"mime_type\":\"image/tiff\",\"data_base64\":\"eHl6\"}]");
	CU_ASSERT_STRING_EQUAL(at(body, "messages/4/role"), "user");
	CU_ASSERT_STRING_EQUAL(
	    at(body, "messages/4/content/1/image_url/url"), "data:image/png;base64,YWJj");
	body = sent(ANTHROPIC "}", SHOWN);
	CU_ASSERT_STRING_EQUAL(at(body, "messages/2/content/0/type"), "tool_result");
	CU_ASSERT_STRING_EQUAL(at(body, "messages/2/content/2/source"),
	    "{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"YWJj\"}");
	body = sent(GEMINI "}", SHOWN);
	CU_ASSERT_STRING_EQUAL(at(body, "contents/2/parts/0/functionResponse/name"), "shot");
	CU_ASSERT_STRING_EQUAL(at(body, "contents/2/parts/2/inlineData"),
	    "{\"mimeType\":\"image/png\",\"data\":\"YWJj\"}");
}

static void images_of_results_stay_text_where_it_is_asked_for(void)
{
	const cJSON *body = sent(OPENAI ",'tool_images':false}", SHOWN);
	CU_ASSERT_PTR_NOT_NULL(strstr(at(body, "messages/3/content"), "YWJj"));
	CU_ASSERT_STRING_EQUAL(at(body, "messages/4"), "(none)");
}

static const struct unit_test tests[] = {
    {"images of results are shown to every provider",
	images_of_results_are_shown_to_every_provider},
    {"images of results stay text where it is asked for",
	images_of_results_stay_text_where_it_is_asked_for},
    {"OpenAI gets the conversation", openai_gets_the_conversation},
    {"Anthropic gets the conversation", anthropic_gets_the_conversation},
    {"Gemini gets the conversation", gemini_gets_the_conversation},
    {"a conversation that ends with the assistant is continued",
	a_conversation_that_ends_with_the_assistant_is_continued},
    {"Anthropic gets no blanks", anthropic_gets_no_blanks},
    {"Anthropic gets ids that it takes", anthropic_gets_ids_that_it_takes},
    {"Anthropic is told of the tools that were", anthropic_is_told_of_the_tools_that_were},
    {"reasoning goes back to its provider", reasoning_goes_back_to_its_provider},
    {"what a service wants back goes to the same model",
	what_a_service_wants_back_goes_to_the_same_model},
    {"calls of another model are not thought about", calls_of_another_model_are_not_thought_about},
    {"reasoning is asked for", reasoning_is_asked_for},
    {"a call that is forced is not thought about", a_call_that_is_forced_is_not_thought_about},
    {"an effort is a budget where there are no levels",
	an_effort_is_a_budget_where_there_are_no_levels},
    {"OpenAI gets media", openai_gets_media},
    {"Anthropic gets media", anthropic_gets_media},
    {"Gemini gets media", gemini_gets_media},
    {"a file that is gone fails the call", a_file_that_is_gone_fails_the_call},
    {"OpenAI gets tools", openai_gets_tools},
    {"Anthropic gets tools", anthropic_gets_tools},
    {"Gemini gets tools without what it refuses", gemini_gets_tools_without_what_it_refuses},
    {"a schema that refers to itself is cut off", a_schema_that_refers_to_itself_is_cut_off},
    {"a schema does not grow without end", a_schema_does_not_grow_without_end},
    {"many calls cost no more than they are long", many_calls_cost_no_more_than_they_are_long},
    {"settings have each provider's name", settings_have_each_providers_name},
    {"structured output is asked for", structured_output_is_asked_for},
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
