/* SPDX-License-Identifier: ISC */
/* Model nodes of documents: what may be said of them, and their work with a provider that answers
 * by a script. */
#include "base/http/http.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/metrics/metrics.h"
#include "chat_fixture.h"
#include "document_fixture.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Texts are written with ' for ". */
static const char *quoted(const char *text)
{
	static char slots[64][8192];
	static int next;
	char *out = slots[next++ % 64];
	snprintf(out, sizeof(slots[0]), "%s", text);
	for (char *p = out; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	return out;
}

#define STATE                                                                \
	"'state':{'fields':{'text':{'type':'string'},'data':{'type':'any'}," \
	"'all':{'type':'array','reducer':'append'},'count':{'type':'integer'}}},"
#define TOOLS                                                                           \
	"'tools':{'kind':'tools','tools':[{'kind':'exec','name':'upper',"               \
	"'description':'d','command':['tr','a-z','A-Z'],'parameters':{'type':'object'," \
	"'properties':{'text':{'type':'string'}},'required':['text']}}]}"

/* A model node with these members and its tools. */
#define AGENT(members)                                                                       \
	"{'g':{" STATE "'nodes':{'agent':{'kind':'model','model':'m','retries':0" members    \
	"}," TOOLS "},'edges':[{'from':'START','to':'agent'},{'from':'agent','if':[{'when':" \
	"{'tool_calls':true},'to':'tools'}],'else':'END'},{'from':'tools','to':'agent'}]}}"

/* One that has none. */
#define ALONE(members)                                                                      \
	"{'g':{" STATE "'nodes':{'n':{'kind':'model','model':'m','retries':0" members "}}," \
	"'edges':[{'from':'START','to':'n'},{'from':'n','to':'END'}]}}"

/* ---- What the provider says */

#define WHOLE(body)                                 \
	{                                           \
		STEP_WHOLE, 200, NULL, quoted(body) \
	}
#define SAYS(text)                                                                      \
	WHOLE("{'choices':[{'message':{'content':'" text "'},'finish_reason':'stop'}]," \
	      "'usage':{'prompt_tokens':3,'completion_tokens':2,'total_tokens':5}}")
#define CALLS(id, name, args)                                                               \
	WHOLE("{'choices':[{'message':{'content':null,'tool_calls':[{'id':'" id "','type':" \
	      "'function','function':{'name':'" name "','arguments':" args "}}]},"          \
	      "'finish_reason':'tool_calls'}]}")
#define FAILS                               \
	{                                   \
		STEP_WHOLE, 500, NULL, "{}" \
	}
#define SCRIPT(...)                                 \
	const struct step script[] = {__VA_ARGS__}; \
	provider_script(script, UNIT_COUNT(script))

static void begin(struct talk *talk, const char *document)
{
	talk_open(talk, quoted(document));
}

/* A text of the latest request. */
static const char *asked(const char *path)
{
	return at(provider_body(), path);
}

/* ---- Mistakes */

struct mistake {
	const char *document;
	const char *problem; /* what the report is, or begins with */
};

static void mistakes_are_told_with_their_place(void)
{
	static const struct mistake mistakes[] = {
	    {"{'g':{'nodes':{'n':{'kind':'model'}},'edges':[{'from':'START','to':'n'},"
	     "{'from':'n','to':'END'}]}}",
		"/g/nodes/n: expected the key 'model'"},
	    {ALONE(",'temprature':1"),
		"/g/nodes/n/temprature: unknown key; expected one of kind, "},
	    {ALONE(",'temperature':'1'"),
		"/g/nodes/n/temperature: expected a number, found string"},
	    {ALONE(",'temperature':3"), "/g/nodes/n/temperature: expected a number from 0 to 2"},
	    {ALONE(",'provider':'acme'"), "/g/nodes/n/provider: expected \"openai\", "},
	    {ALONE(",'base_url':'ftp://x'"), "/g/nodes/n/base_url: expected an http or https URL"},
	    {ALONE(",'api_key_env':'NO_SUCH_KEY'"),
		"/g/nodes/n/api_key_env: expected the environment variable NO_SUCH_KEY"},
	    {ALONE(",'fallbacks':[{'model':'a'},{'seed':1.5}]"),
		"/g/nodes/n/fallbacks/1/seed: expected an integer"},
	    {ALONE(",'fallbacks':[{'response_format':{'type':'json_schema','schema':{'type':5}}}]"),
		"/g/nodes/n/fallbacks/0/response_format: schema/type: expected"},
	    {ALONE(",'response_format':{'type':'json_schema','schema':{'type':'objekt'}}"),
		"/g/nodes/n/response_format: schema/type: expected"},
	    {ALONE(",'response_format':{'type':'xml'}"),
		"/g/nodes/n/response_format: expected an object"},
	    {ALONE(",'system_prompt':5"),
		"/g/nodes/n/system_prompt: expected a string or an array or an object, found number"},
	    {ALONE(",'system_prompt':['a',5]"),
		"/g/nodes/n/system_prompt/1: expected a string, found number"},
	    {ALONE(",'system_prompt':'{{nmae}}'"),
		"/g/nodes/n/system_prompt: unknown name {{nmae}}; expected user_text, "},
	    {ALONE(",'system_prompt':{'file':'none.txt'}"),
		"/g/nodes/n/system_prompt/file: cannot read "},
	    {ALONE(",'system_prompt':{'file':5}"),
		"/g/nodes/n/system_prompt/file: expected a string, found number"},
	    {ALONE(",'tools':'n'"), "/g/nodes/n/tools: there is no tools node 'n'"},
	    {ALONE(",'tool_choice':'required'"),
		"/g/nodes/n/tool_choice: expected the key 'tools' as well"},
	    {ALONE(",'context':{}"), "/g/nodes/n/context: expected max_messages or max_tokens"},
	    {ALONE(",'context':{'max_messages':1}"),
		"/g/nodes/n/context/max_messages: expected a number from 2 to "},
	    {ALONE(",'context':{'max_tokens':1000,'keep':0}"),
		"/g/nodes/n/context/keep: expected a number from 0.05 to 1"},
	    {ALONE(",'context':{'max_tokens':1000,'summarise':true}"),
		"/g/nodes/n/context/summarise: unknown key; expected one of max_messages, "},
	    {ALONE(",'recall':{'limit':0}"),
		"/g/nodes/n/recall/limit: expected a number from 1 to 100"},
	    {ALONE(",'recall':{'strategy':'best'}"),
		"/g/nodes/n/recall/strategy: expected one of similarity, temporal, relevance, "
		"hybrid, graph_traversal, found 'best'"},
	    {ALONE(",'recall':{'filters':{'a':'{{x}}'}}"),
		"/g/nodes/n/recall/filters/a: unknown name {{x}}"},
	    {ALONE(",'output':'none'"), "/g/nodes/n/output: there is no state field 'none'"},
	    {ALONE(",'output':'count'"),
		"/g/nodes/n/output: the answer does not fit the state field 'count', of type integer"},
	    {ALONE(",'output':'text','response_format':{'type':'json_object'}"),
		"/g/nodes/n/output: the answer does not fit the state field 'text', of type string"},
	    {ALONE(",'silent':true"), "/g/nodes/n/silent: expected the key 'output' as well"},
	    {AGENT(",'tools':'tools','output':'text','silent':true"),
		"/g/nodes/agent/silent: expected no key 'tools' beside it"},
	};
	for (size_t i = 0; i < UNIT_COUNT(mistakes); i++) {
		const char *problems = problems_of(quoted(mistakes[i].document));
		bool same =
		    strncmp(problems, mistakes[i].problem, strlen(mistakes[i].problem)) == 0;
		if (!same || strchr(problems, '\n'))
			printf("# %s\n# gives %s\n", mistakes[i].document, problems);
		CU_ASSERT_TRUE(same);
		CU_ASSERT_PTR_NULL(strchr(problems, '\n'));
	}
}

static void a_node_with_everything_has_no_mistakes(void)
{
	write_file("prompt.txt", "You help {{config.user.user_id}} with {{data.topic}}.");
	CU_ASSERT_STRING_EQUAL(
	    problems_of(quoted(AGENT(
		",'system_prompt':{'file':'prompt.txt'},'tools':'tools','tool_choice':'upper',"
		"'context':{'max_messages':20,'max_tokens':2000,'keep':0.3,'summary':true,"
		"'summary_prompt':'Sum up.'},'recall':{'limit':3,'score_threshold':0.2,"
		"'strategy':'similarity','memory_type':'semantic','category':'c',"
		"'filters':{'p':'{{config.p}}'},'max_tokens':500},'output':'all',"
		"'fallbacks':[{'model':'n','temperature':0}],'seed':7,'stop':['x']"))),
	    "");
}

/* ---- Talking */

static void an_answer_is_streamed_and_added(void)
{
	static const char stream[] =
	    "data: {\"choices\":[{\"delta\":{\"content\":\"Hi \"}}]}\n\n"
	    "data: {\"choices\":[{\"delta\":{\"content\":\"there\"}}]}\n\n"
	    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
	    "data: [DONE]\n\n";
	SCRIPT({STEP_STREAM, 0, NULL, stream});
	struct talk talk;
	begin(&talk,
	    ALONE(",'system_prompt':['You help {{config.user.user_id}}.','Be brief.'],"
		  "'temperature':0.5"));
	talk.config = "{\"user\":{\"user_id\":\"ann\"}}";
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "hello"), "assistant: Hi there|");
	CU_ASSERT_STRING_EQUAL(buf_str(&talk.pieces), "Hi there|");
	CU_ASSERT_STRING_EQUAL(asked("messages/0/content"), "You help ann.\nBe brief.");
	CU_ASSERT_STRING_EQUAL(asked("messages/1/content"), "hello");
	CU_ASSERT_STRING_EQUAL(asked("temperature"), "0.5");
	talk_say(&talk, "again");
	CU_ASSERT_STRING_EQUAL(asked("messages/2/content"), "Hi there");
	talk_close(&talk);
}

static void a_tool_is_called_and_its_result_told(void)
{
	SCRIPT(CALLS("c1", "upper", "'{\\'text\\':\\'abc\\'}'"), SAYS("done"));
	struct talk talk;
	begin(&talk, AGENT(",'tools':'tools'"));
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "go"), "assistant: |tool: |assistant: done|");
	CU_ASSERT_STRING_EQUAL(asked("messages/2/tool_call_id"), "c1");
	CU_ASSERT_STRING_EQUAL(asked("messages/2/content"), "{\"TEXT\":\"ABC\"}");
	CU_ASSERT_STRING_EQUAL(asked("tools/0/function/name"), "upper");
	talk_close(&talk);
}

static void arguments_that_are_no_json_do_not_run(void)
{
	SCRIPT(CALLS("c1", "upper", "'{\\'text\\':'"), SAYS("sorry"));
	struct talk talk;
	begin(&talk, AGENT(",'tools':'tools'"));
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "go"), "assistant: |tool: |assistant: sorry|");
	CU_ASSERT_STRING_EQUAL(
	    asked("messages/2/content"), "arguments: expected a valid JSON object");
	talk_close(&talk);
}

#define CALLS_BADLY                                                                               \
	WHOLE("{'choices':[{'message':{'content':null,'tool_calls':[{'id':'c1','type':"           \
	      "'function','function':{'name':'upper','arguments':'{'},'extra_content':{'a':'s'}}" \
	      "]},'finish_reason':'tool_calls'}]}")

/* Everything that goes by the id goes by the new one. */
static void an_id_that_comes_again_is_made_new(void)
{
	SCRIPT(CALLS("c1", "upper", "'{\\'text\\':\\'a\\'}'"), CALLS_BADLY, SAYS("sorry"));
	struct talk talk;
	begin(&talk, AGENT(",'tools':'tools'"));
	CU_ASSERT_STRING_EQUAL(
	    talk_say(&talk, "go"), "assistant: |tool: |assistant: |tool: |assistant: sorry|");
	CU_ASSERT_STRING_EQUAL(asked("messages/2/tool_call_id"), "c1");
	char *id = xstrdup(asked("messages/3/tool_calls/0/id"));
	CU_ASSERT_EQUAL(strncmp(id, "call_", 5), 0);
	CU_ASSERT_STRING_EQUAL(asked("messages/3/tool_calls/0/extra_content/a"), "s");
	CU_ASSERT_STRING_EQUAL(asked("messages/4/tool_call_id"), id);
	CU_ASSERT_STRING_EQUAL(
	    asked("messages/4/content"), "arguments: expected a valid JSON object");
	free(id);
	talk_close(&talk);
}

static void calls_of_no_tool_are_answered(void)
{
	SCRIPT(CALLS("c1", "lower", "'{}'"), CALLS("c2", "", "'{}'"), SAYS("sorry"));
	struct talk talk;
	begin(&talk, AGENT(",'tools':'tools'"));
	CU_ASSERT_STRING_EQUAL(
	    talk_say(&talk, "go"), "assistant: |tool: |assistant: |tool: |assistant: sorry|");
	CU_ASSERT_STRING_EQUAL(asked("messages/2/content"), "unknown tool: lower");
	CU_ASSERT_STRING_EQUAL(asked("messages/4/content"), "unknown tool: unnamed");
	talk_close(&talk);
}

static void a_tool_is_forced_until_one_has_answered(void)
{
	SCRIPT(CALLS("c1", "upper", "'{\\'text\\':\\'a\\'}'"), SAYS("done"));
	struct talk talk;
	begin(&talk, AGENT(",'tools':'tools','tool_choice':'required'"));
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "go"), "assistant: |tool: |assistant: done|");
	CU_ASSERT_STRING_EQUAL(asked("tool_choice"), "(none)");
	provider_script(script, 1);
	talk.node_timeout = 20;
	talk_renew(&talk);
	talk_say(&talk, "go"); /* calls for ever, until the recursion limit */
	CU_ASSERT_PTR_NOT_NULL(strstr(talk.error.detail, "recursion limit"));
	talk_close(&talk);
}

static void a_provider_that_fails_fails_the_run(void)
{
	SCRIPT({STEP_WHOLE, 401, NULL, "{\"error\":{\"message\":\"bad key sk-unit-secret\"}}"});
	struct talk talk;
	begin(&talk, ALONE(""));
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "hello"),
	    "error: Graph execution failed: openai model m: answered 401: bad key "
	    "**************|");
	CU_ASSERT_EQUAL(talk.error.kind, ERR_NODE);
	CU_ASSERT_STRING_EQUAL(talk_list(&talk), "hello|");
	talk_close(&talk);
}

static void a_provider_that_hangs_is_a_time_out(void)
{
	SCRIPT({STEP_NEVER, 0, NULL, NULL});
	struct talk talk;
	begin(&talk, ALONE(""));
	talk.node_timeout = 0.3;
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "hello"),
	    "error: Graph execution failed: node n timed out after 0.3 s|");
	CU_ASSERT_EQUAL(talk.error.kind, ERR_NODE_TIMEOUT);
	talk_close(&talk);
}

/* ---- Structured answers */

#define CITY                                                                               \
	",'response_format':{'type':'json_schema','schema':{'type':'object','properties':" \
	"{'city':{'type':'string'},'people':{'type':'integer'}},'required':['city']}}"

static void a_structured_answer_is_checked_and_kept(void)
{
	SCRIPT(SAYS("{\\'city\\':\\'Ulm\\',\\'people\\':128928}"));
	struct talk talk;
	begin(&talk, ALONE(CITY ",'output':'data'"));
	CU_ASSERT_STRING_EQUAL(
	    talk_say(&talk, "where"), "assistant: {\"city\":\"Ulm\",\"people\":128928}|");
	CU_ASSERT_STRING_EQUAL(talk_field(&talk, "data"), "{\"city\":\"Ulm\",\"people\":128928}");
	CU_ASSERT_STRING_EQUAL(buf_str(&talk.pieces), "");
	CU_ASSERT_EQUAL(provider_requests(), 1);
	talk_close(&talk);
}

static void a_wrong_form_is_given_back_once(void)
{
	SCRIPT(SAYS("{\\'people\\':\\'many\\'}"), SAYS("{\\'city\\':\\'Ulm\\'}"));
	struct talk talk;
	begin(&talk, ALONE(CITY ",'output':'data'"));
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "where"), "assistant: {\"city\":\"Ulm\"}|");
	CU_ASSERT_STRING_EQUAL(talk_field(&talk, "data"), "{\"city\":\"Ulm\"}");
	CU_ASSERT_EQUAL(provider_requests(), 2);
	CU_ASSERT_STRING_EQUAL(asked("messages/1/content"), "{\"people\":\"many\"}");
	CU_ASSERT_PTR_NOT_NULL(strstr(asked("messages/2/content"), "answer"));
	CU_ASSERT_STRING_EQUAL(talk_list(&talk), "where|{\"city\":\"Ulm\"}|");
	talk_close(&talk);
}

static void a_second_wrong_form_fails(void)
{
	SCRIPT(SAYS("Ulm"), SAYS("{\\'city\\':5}"));
	struct talk talk;
	begin(&talk, ALONE(CITY ",'output':'data'"));
	const char *said = talk_say(&talk, "where");
	CU_ASSERT_PTR_NOT_NULL(strstr(said,
	    "error: Graph execution failed: the model gave no answer of the form that it was asked "
	    "for: answer.city: expected"));
	CU_ASSERT_EQUAL(provider_requests(), 2);
	CU_ASSERT_EQUAL(talk.usage.total, 10);
	CU_ASSERT_STRING_EQUAL(talk_field(&talk, "data"), "null");
	talk_close(&talk);
}

static void of_a_form_that_was_cut_off_this_is_told(void)
{
	static const char cut[] = "{\"choices\":[{\"message\":{\"content\":\"{\"},"
				  "\"finish_reason\":\"length\"}]}";
	SCRIPT({STEP_WHOLE, 200, NULL, cut});
	struct talk talk;
	begin(&talk, ALONE(CITY));
	CU_ASSERT_PTR_NOT_NULL(
	    strstr(talk_say(&talk, "where"), "JSON and nothing else; it ended with length"));
	talk_close(&talk);
}

static void a_refusal_in_place_of_the_form_is_told(void)
{
	SCRIPT(WHOLE("{'choices':[{'message':{'refusal':'I will not'},'finish_reason':'stop'}]}"));
	struct talk talk;
	begin(&talk, ALONE(CITY));
	CU_ASSERT_PTR_NOT_NULL(strstr(talk_say(&talk, "where"),
	    "the model refused to answer, or its answer was withheld: I will not"));
	CU_ASSERT_EQUAL(provider_requests(), 1);
	talk_close(&talk);
}

static void json_of_any_kind_must_be_an_object(void)
{
	SCRIPT(SAYS("[1]"), SAYS("{}"));
	struct talk talk;
	begin(&talk, ALONE(",'response_format':{'type':'json_object'},'output':'data'"));
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "x"), "assistant: {}|");
	CU_ASSERT_EQUAL(provider_requests(), 2);
	talk_close(&talk);
}

static void a_call_is_no_wrong_form(void)
{
	SCRIPT(CALLS("c1", "upper", "'{\\'text\\':\\'a\\'}'"), SAYS("{\\'city\\':\\'A\\'}"));
	struct talk talk;
	begin(&talk, AGENT(CITY ",'tools':'tools'"));
	CU_ASSERT_STRING_EQUAL(
	    talk_say(&talk, "x"), "assistant: |tool: |assistant: {\"city\":\"A\"}|");
	talk_close(&talk);
}

/* ---- Output */

static void a_silent_answer_goes_to_its_field(void)
{
	SCRIPT(SAYS("blue"), SAYS("green"));
	struct talk talk;
	begin(&talk, ALONE(",'output':'all','silent':true"));
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "colour"), "");
	CU_ASSERT_EQUAL(talk.usage.total, 5);
	CU_ASSERT_STRING_EQUAL(buf_str(&talk.pieces), "");
	talk_say(&talk, "another");
	CU_ASSERT_STRING_EQUAL(talk_field(&talk, "all"), "[\"blue\",\"green\"]");
	CU_ASSERT_STRING_EQUAL(talk_list(&talk), "colour|another|");
	talk_close(&talk);
}

static void members_of_a_field_stand_in_prompts_and_rules(void)
{
	SCRIPT(SAYS("{\\'city\\':\\'Ulm\\'}"), SAYS("yes"));
	struct talk talk;
	begin(&talk,
	    "{'g':{" STATE "'nodes':{'a':{'kind':'model','model':'m'" CITY
	    ",'output':'data','silent':true},'b':{'kind':'model','model':'m',"
	    "'system_prompt':'About {{data.city}}{{fields.data.none}}.'}},"
	    "'edges':[{'from':'START','to':'a'},{'from':'a','if':[{'when':{'field':'data.city',"
	    "'equals':'Ulm'},'to':'b'}],'else':'END'},{'from':'b','to':'END'}]}}");
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "x"), "assistant: yes|");
	CU_ASSERT_STRING_EQUAL(asked("messages/0/content"), "About Ulm.");
	talk_close(&talk);
}

/* ---- The window */

#define WINDOW(more) ",'context':{'max_messages':4,'keep':0.5" more "}"

static void what_leaves_the_context_is_summed_up(void)
{
	SCRIPT(SAYS("a1"), SAYS("a2"), SAYS("They said 1 and 2."), SAYS("a3"));
	struct talk talk;
	begin(&talk, ALONE(WINDOW("")));
	talk_say(&talk, "u1");
	talk_say(&talk, "u2");
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "u3"), "assistant: a3|");
	CU_ASSERT_EQUAL(talk.usage.total, 5);
	CU_ASSERT_STRING_EQUAL(talk_context(&talk), "u3|a3|");
	CU_ASSERT_STRING_EQUAL(talk_list(&talk), "u1|a1|u2|a2|u3|a3|");
	CU_ASSERT_STRING_EQUAL(talk.thread.summary, "They said 1 and 2.");
	CU_ASSERT_STRING_EQUAL(
	    asked("messages/0/content"), "What was said before, in short:\nThey said 1 and 2.");
	CU_ASSERT_STRING_EQUAL(asked("messages/1/content"), "u3");
	CU_ASSERT_STRING_EQUAL(buf_str(&talk.pieces), "a3|");
	talk_close(&talk);
}

static bool no_route(size_t row, struct metric_route *route)
{
	(void)row, (void)route;
	return false;
}

/* The summary is no message of the conversation, but the provider's bill has it. */
static void a_summary_is_counted(void)
{
	SCRIPT(SAYS("a"));
	struct error err = {0};
	struct buf numbers = {0};
	struct talk talk;
	mkdir(unit_path("metrics"), 0700);
	struct shared *shared = shared_open(unit_path("metrics"), &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(shared);
	begin(&talk, ALONE(WINDOW("")));
	talk_say(&talk, "u1");
	talk_say(&talk, "u2");
	metrics_attach(shared);
	talk_say(&talk, "u3");
	metrics_write(&numbers, no_route);
	CU_ASSERT_PTR_NOT_NULL(strstr(numbers.data, ",kind=\"input\"} 3\n"));
	metrics_attach(NULL);
	shared_close(shared);
	buf_release(&numbers);
	talk_close(&talk);
}

static void notes_are_made_from_the_notes_before(void)
{
	SCRIPT(SAYS("notes"));
	struct talk talk;
	begin(&talk, ALONE(WINDOW(",'summary_prompt':'Sum up.'")));
	for (int i = 0; i < 4; i++)
		talk_say(&talk, "more");
	provider_script(script, 1);
	talk_say(&talk, "more");
	/* the last request is for the answer, whose prompt has the notes */
	CU_ASSERT_PTR_NOT_NULL(strstr(asked("messages/0/content"), "notes"));
	CU_ASSERT_STRING_EQUAL(talk.thread.summary, "notes");
	talk_close(&talk);
}

/* They are for the model, which writes them as it likes. */
static void notes_have_no_form(void)
{
	SCRIPT(SAYS("{\\'city\\':\\'A\\'}"), SAYS("{\\'city\\':\\'B\\'}"), SAYS("A, then B"),
	    SAYS("{\\'city\\':\\'C\\'}"));
	struct talk talk;
	begin(&talk, ALONE(CITY WINDOW("")));
	talk_say(&talk, "u1");
	talk_say(&talk, "u2");
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "u3"), "assistant: {\"city\":\"C\"}|");
	CU_ASSERT_STRING_EQUAL(talk.thread.summary, "A, then B");
	talk_close(&talk);
}

static void without_a_summary_nothing_leaves(void)
{
	SCRIPT(SAYS("a1"), SAYS("a2"), FAILS, SAYS("a3"));
	struct talk talk;
	begin(&talk, ALONE(WINDOW("")));
	talk_say(&talk, "u1");
	talk_say(&talk, "u2");
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "u3"), "assistant: a3|");
	CU_ASSERT_STRING_EQUAL(talk_context(&talk), "u1|a1|u2|a2|u3|a3|");
	CU_ASSERT_PTR_NULL(talk.thread.summary);
	CU_ASSERT_STRING_EQUAL(asked("messages/0/content"), "u3");
	talk_close(&talk);
}

static void a_summary_may_be_left_out(void)
{
	SCRIPT(SAYS("a1"), SAYS("a2"), SAYS("a3"));
	struct talk talk;
	begin(&talk, ALONE(WINDOW(",'summary':false")));
	talk_say(&talk, "u1");
	talk_say(&talk, "u2");
	talk_say(&talk, "u3");
	CU_ASSERT_STRING_EQUAL(talk_context(&talk), "u3|a3|");
	CU_ASSERT_PTR_NULL(talk.thread.summary);
	CU_ASSERT_EQUAL(provider_requests(), 3);
	talk_close(&talk);
}

static void a_node_that_fails_trims_nothing(void)
{
	SCRIPT(SAYS("a1"), SAYS("a2"), SAYS("notes"), FAILS);
	struct talk talk;
	begin(&talk, ALONE(WINDOW("")));
	talk_say(&talk, "u1");
	talk_say(&talk, "u2");
	CU_ASSERT_PTR_NOT_NULL(strstr(talk_say(&talk, "u3"), "answered 500"));
	CU_ASSERT_STRING_EQUAL(talk_context(&talk), "u1|a1|u2|a2|u3|");
	CU_ASSERT_PTR_NULL(talk.thread.summary);
	talk_close(&talk);
}

/* Every result in the request stands behind its call. */
static bool results_have_their_calls(const cJSON *messages)
{
	const cJSON *message, *calls = NULL;
	cJSON_ArrayForEach(message, messages) {
		if (json_get(message, "tool_calls"))
			calls = json_get(message, "tool_calls");
		const char *id = json_str(message, "tool_call_id");
		if (id && (!calls || strcmp(at(calls, "0/id"), id) != 0))
			return false;
	}
	return true;
}

static void a_long_turn_keeps_its_question_and_its_calls(void)
{
	struct step script[19];
	for (int i = 0; i < 18; i++)
		script[i] = (struct step)CALLS("c", "upper", "'{\\'text\\':\\'a\\'}'");
	const struct step last = SAYS("done");
	const struct step notes = WHOLE("{'choices':[{'message':{'content':'notes','tool_calls':["
					"{'id':'c','type':'function','function':{'name':'upper',"
					"'arguments':'{\\'text\\':\\'a\\'}'}}]}}]}");
	for (int i = 0; i < 18; i++)
		script[i] = notes;
	script[18] = last;
	provider_script(script, 19);
	struct talk talk;
	begin(&talk, AGENT(",'tools':'tools'" WINDOW("")));
	talk_say(&talk, "the question");
	const cJSON *messages = json_get(provider_body(), "messages");
	CU_ASSERT_TRUE(results_have_their_calls(messages));
	CU_ASSERT_STRING_EQUAL(asked("messages/1/content"), "the question");
	CU_ASSERT_TRUE(cJSON_GetArraySize(messages) <= 6);
	talk_close(&talk);
}

static void thousands_of_messages_are_cut(void)
{
	SCRIPT(SAYS("ok"));
	struct talk talk;
	begin(&talk, ALONE(",'context':{'max_messages':10,'summary':false}"));
	talk_say(&talk, "first");
	const char *result = quoted("{'role':'tool','content':[{'type':'tool_result',"
				    "'call_id':'gone','output':1}]}");
	const char *message = quoted("{'role':'user','content':[{'type':'text','text':'x'}]}");
	for (int i = 0; i < 1500; i++) {
		talk_add(&talk, result);
		talk_add(&talk, message);
	}
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "last"), "assistant: ok|");
	CU_ASSERT_TRUE(strlen(talk_context(&talk)) < 30);
	CU_ASSERT_TRUE(strlen(talk_list(&talk)) > 4000);
	talk_close(&talk);
}

static void a_long_past_is_summed_up_in_parts(void)
{
	SCRIPT(SAYS("notes"));
	struct talk talk;
	char *text = xmalloc(3100);
	begin(&talk, ALONE(",'context':{'max_tokens':2000}"));
	talk_say(&talk, "first");
	memset(text, 'x', 3000);
	text[3000] = '\0';
	for (int i = 0; i < 16; i++) {
		char *message = xasprintf("{\"role\":\"%s\",\"content\":[{\"type\":\"text\","
					  "\"text\":\"%s\"}]}",
		    i % 2 ? "assistant" : "user", text);
		talk_add(&talk, message);
		free(message);
	}
	provider_script(script, 1);
	talk_say(&talk, "last");
	CU_ASSERT_TRUE(provider_requests() > 4);
	CU_ASSERT_TRUE(provider_requests() < 10);
	CU_ASSERT_STRING_EQUAL(talk.thread.summary, "notes");
	CU_ASSERT_TRUE(strlen(talk_context(&talk)) < 8000);
	free(text);
	talk_close(&talk);
}

/* ---- Memories */

/* A store that keeps what it was asked. */
static struct buf store_log;
static bool store_fails;

static cJSON *store_ask(void *arg, struct arena *arena, const char *action, const char *memory_id,
    const cJSON *body, struct error *err)
{
	const char *answer = "{'memory_id':'m9','memory':{}}";
	char *json = body ? json_print(body) : NULL;
	(void)arg;
	buf_printf(&store_log, "%s %s %s|", action, memory_id ? memory_id : "-", json ? json : "-");
	free(json);
	if (store_fails) {
		error_set(err, ERR_STORE_UNAVAILABLE, "Store is unavailable");
		return NULL;
	}
	if (strcmp(action, "search") == 0)
		answer = "{'results':[{'memory_id':'m1','content':'likes tea','score':0.9},"
			 "{'memory_id':'m2','content':{'role':'user','content':[{'type':'text',"
			 "'text':'lives in Ulm'}]},'score':0.5}]}";
	if (strcmp(action, "list") == 0)
		answer = "{'memories':[{'memory_id':'m1','content':'likes tea'}]}";
	const char *text = quoted(answer);
	return arena_json(arena, json_parse(text, strlen(text), JSON_TRUSTED_DEPTH, NULL));
}

static void open_store(struct talk *talk, const char *document)
{
	begin(talk, document);
	talk->store.ask = store_ask;
	buf_reset(&store_log);
	store_fails = false;
}

static void memories_that_fit_are_in_the_prompt(void)
{
	SCRIPT(SAYS("ok"));
	struct talk talk;
	open_store(&talk,
	    ALONE(",'system_prompt':'Be kind.','recall':{'limit':2,"
		  "'filters':{'who':'{{config.user.user_id}}'}}"));
	talk.config = "{\"user\":{\"user_id\":\"ann\"}}";
	talk_say(&talk, "drink?");
	CU_ASSERT_STRING_EQUAL(buf_str(&store_log),
	    "search - {\"limit\":2,\"retrieval_strategy\":\"hybrid\",\"filters\":{\"who\":\"ann\"},"
	    "\"query\":\"drink?\"}|");
	CU_ASSERT_STRING_EQUAL(asked("messages/0/content"),
	    "Be kind.\n\nWhat is known of the user from earlier conversations:\n- likes tea\n"
	    "- lives in Ulm");
	talk_close(&talk);
}

static void a_store_that_fails_is_no_end_of_the_talk(void)
{
	SCRIPT(SAYS("ok"));
	struct talk talk;
	open_store(&talk, ALONE(",'recall':{}"));
	store_fails = true;
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "drink?"), "assistant: ok|");
	CU_ASSERT_STRING_EQUAL(asked("messages/0/content"), "drink?");
	talk_close(&talk);
}

#define MEMORY(members)                                                                      \
	"{'g':{'nodes':{'agent':{'kind':'model','model':'m','tools':'tools'},'tools':"       \
	"{'kind':'tools','tools':[{'kind':'memory'" members "}]}},'edges':[{'from':'START'," \
	"'to':'agent'},{'from':'agent','if':[{'when':{'tool_calls':true},'to':'tools'}],"    \
	"'else':'END'},{'from':'tools','to':'agent'}]}}"

static const char *memory_result(const char *document, const char *args)
{
	static struct buf out;
	char *call = xasprintf("{'choices':[{'message':{'tool_calls':[{'id':'c','type':'function',"
			       "'function':{'name':'memory','arguments':%s}}]}}]}",
	    args);
	SCRIPT({STEP_WHOLE, 200, NULL, quoted(call)}, SAYS("ok"));
	struct talk talk;
	open_store(&talk, document);
	talk_say(&talk, "go");
	buf_reset(&out);
	buf_puts(&out, asked("messages/2/content"));
	talk_close(&talk);
	free(call);
	return buf_str(&out);
}

static void a_model_reads_and_writes_memories(void)
{
	CU_ASSERT_STRING_EQUAL(memory_result(MEMORY(""), "{'action':'search','query':'tea'}"),
	    "{\"memories\":[{\"content\":\"likes tea\",\"memory_id\":\"m1\",\"score\":0.9},"
	    "{\"content\":\"lives in Ulm\",\"memory_id\":\"m2\",\"score\":0.5}]}");
	CU_ASSERT_STRING_EQUAL(buf_str(&store_log), "search - {\"query\":\"tea\",\"limit\":10}|");
	CU_ASSERT_STRING_EQUAL(
	    memory_result(MEMORY(""), "{'action':'remember','content':'has a cat'}"),
	    "{\"memory_id\":\"m9\"}");
	CU_ASSERT_STRING_EQUAL(buf_str(&store_log), "put - {\"content\":\"has a cat\"}|");
	memory_result(MEMORY(""), "{'action':'update','memory_id':'m1','content':'likes milk'}");
	CU_ASSERT_STRING_EQUAL(buf_str(&store_log), "update m1 {\"content\":\"likes milk\"}|");
	CU_ASSERT_STRING_EQUAL(memory_result(MEMORY(""), "{'action':'forget','memory_id':'m1'}"),
	    "{\"memory_id\":\"m1\"}");
	CU_ASSERT_STRING_EQUAL(buf_str(&store_log), "delete m1 -|");
	CU_ASSERT_STRING_EQUAL(memory_result(MEMORY(",'limit':3"), "{'action':'list'}"),
	    "{\"memories\":[{\"content\":\"likes tea\",\"memory_id\":\"m1\"}]}");
	CU_ASSERT_STRING_EQUAL(buf_str(&store_log), "list - {\"limit\":3}|");
}

static void a_model_does_what_it_may_only(void)
{
	CU_ASSERT_STRING_EQUAL(
	    memory_result(MEMORY(",'actions':['search']"), "{'action':'forget','memory_id':'m1'}"),
	    "arguments.action: expected one of \"search\"");
	CU_ASSERT_STRING_EQUAL(buf_str(&store_log), "");
	CU_ASSERT_STRING_EQUAL(memory_result(MEMORY(""), "{'action':'remember','content':' '}"),
	    "arguments.content: expected a text, for remember");
	CU_ASSERT_STRING_EQUAL(buf_str(&store_log), "");
	CU_ASSERT_STRING_EQUAL(problems_of(quoted(MEMORY(",'actions':['erase']"))),
	    "/g/nodes/tools/tools/0/actions/0: expected one of search, list, remember, update, "
	    "forget, found 'erase'");
	CU_ASSERT_STRING_EQUAL(problems_of(quoted(MEMORY(",'actions':[]"))),
	    "/g/nodes/tools/tools/0/actions: expected at least one action");
}

/* ---- Plug-ins */

static const ag_chat_model *plugin_model;

static ag_result plugin_node(ag_run *run, const ag_state *state, void *data)
{
	const struct ag_question question = {
	    .system = "Translate.", .messages = data ? data : ag_context(state), .show = true};
	cJSON *answer;
	ag_result result = ag_chat(run, plugin_model, &question, &answer);
	return result == AG_OK ? ag_message(run, answer) : result;
}

static const char *plugin_says(cJSON *messages)
{
	static struct buf out;
	struct talk talk;
	ag_graph *graph = graph_new("plugin.so:g");
	plugin_model = ag_graph_chat_model(graph, "{\"model\":\"m\",\"retries\":0}");
	ag_graph_node(graph, "n", plugin_node, messages);
	ag_graph_edge(graph, AG_START, "n");
	ag_graph_edge(graph, "n", AG_END);
	talk_begin(&talk, graph);
	buf_reset(&out);
	buf_puts(&out, talk_say(&talk, "hello"));
	talk_close(&talk);
	cJSON_Delete(messages);
	return buf_str(&out);
}

static void a_plug_in_asks_a_model(void)
{
	SCRIPT(SAYS("hallo"));
	CU_ASSERT_STRING_EQUAL(plugin_says(NULL), "assistant: hallo|");
	CU_ASSERT_STRING_EQUAL(asked("messages/0/content"), "Translate.");
	CU_ASSERT_STRING_EQUAL(asked("messages/1/content"), "hello");
	CU_ASSERT_STRING_EQUAL(
	    plugin_says(json_from("[{'role':'user','content':'plain'}]")), "assistant: hallo|");
	CU_ASSERT_STRING_EQUAL(asked("messages/1/content"), "plain");
	CU_ASSERT_PTR_NOT_NULL(strstr(plugin_says(json_from("[{'role':'nobody','content':'x'}]")),
	    "error: Graph execution failed: "));
}

static const char *plugin_problems(const char *settings, bool node)
{
	static struct buf out;
	ag_graph *graph = graph_new("plugin.so:g");
	if (node)
		ag_graph_model(graph, "n", settings);
	else
		CU_ASSERT_PTR_NULL(ag_graph_chat_model(graph, settings));
	buf_reset(&out);
	for (size_t i = 0; i < graph->problems.count; i++)
		buf_printf(&out, "%s|", graph->problems.items[i].text);
	graph_free(graph);
	return buf_str(&out);
}

static void settings_of_plug_ins_are_checked(void)
{
	CU_ASSERT_STRING_EQUAL(plugin_problems("{\"model\":\"m\",\"temprature\":1}", false),
	    "plugin.so:g: /chat model/temprature: unknown key|");
	CU_ASSERT_STRING_EQUAL(plugin_problems("{\"model\":\"m\",\"tools\":\"t\"}", false),
	    "plugin.so:g: /chat model/tools: unknown key|");
	CU_ASSERT_STRING_EQUAL(plugin_problems("{}", false),
	    "plugin.so:g: /chat model/model: expected the name of a model|");
	CU_ASSERT_STRING_EQUAL(plugin_problems("[]", false),
	    "plugin.so:g: chat model: expected the settings as a JSON object|");
	CU_ASSERT_STRING_EQUAL(
	    plugin_problems("{", true), "plugin.so:g: n: expected the settings as a JSON object|");
	CU_ASSERT_STRING_EQUAL(plugin_problems("{\"model\":\"m\",\"tools\":\"t\"}", true),
	    "plugin.so:g: /n/tools: there is no tools node 't'|");
}

static const struct unit_test tests[] = {
    {"mistakes are told with their place", mistakes_are_told_with_their_place},
    {"a node with everything has no mistakes", a_node_with_everything_has_no_mistakes},
    {"an answer is streamed and added", an_answer_is_streamed_and_added},
    {"a tool is called and its result told", a_tool_is_called_and_its_result_told},
    {"arguments that are no JSON do not run", arguments_that_are_no_json_do_not_run},
    {"an id that comes again is made new", an_id_that_comes_again_is_made_new},
    {"calls of no tool are answered", calls_of_no_tool_are_answered},
    {"a tool is forced until one has answered", a_tool_is_forced_until_one_has_answered},
    {"a provider that fails fails the run", a_provider_that_fails_fails_the_run},
    {"a provider that hangs is a time-out", a_provider_that_hangs_is_a_time_out},
    {"a structured answer is checked and kept", a_structured_answer_is_checked_and_kept},
    {"a wrong form is given back once", a_wrong_form_is_given_back_once},
    {"a second wrong form fails", a_second_wrong_form_fails},
    {"of a form that was cut off this is told", of_a_form_that_was_cut_off_this_is_told},
    {"a refusal in place of the form is told", a_refusal_in_place_of_the_form_is_told},
    {"JSON of any kind must be an object", json_of_any_kind_must_be_an_object},
    {"a call is no wrong form", a_call_is_no_wrong_form},
    {"a silent answer goes to its field", a_silent_answer_goes_to_its_field},
    {"members of a field stand in prompts and rules",
	members_of_a_field_stand_in_prompts_and_rules},
    {"what leaves the context is summed up", what_leaves_the_context_is_summed_up},
    {"a summary is counted", a_summary_is_counted},
    {"notes are made from the notes before", notes_are_made_from_the_notes_before},
    {"notes have no form", notes_have_no_form},
    {"without a summary nothing leaves", without_a_summary_nothing_leaves},
    {"a summary may be left out", a_summary_may_be_left_out},
    {"a node that fails trims nothing", a_node_that_fails_trims_nothing},
    {"a long turn keeps its question and its calls", a_long_turn_keeps_its_question_and_its_calls},
    {"thousands of messages are cut", thousands_of_messages_are_cut},
    {"a long past is summed up in parts", a_long_past_is_summed_up_in_parts},
    {"memories that fit are in the prompt", memories_that_fit_are_in_the_prompt},
    {"a store that fails is no end of the talk", a_store_that_fails_is_no_end_of_the_talk},
    {"a model reads and writes memories", a_model_reads_and_writes_memories},
    {"a model does what it may only", a_model_does_what_it_may_only},
    {"a plug-in asks a model", a_plug_in_asks_a_model},
    {"settings of plug-ins are checked", settings_of_plug_ins_are_checked},
};

int main(void)
{
	memory_init();
	provider_start();
	setenv("OPENAI_BASE_URL", provider_url(), 1);
	setenv("OPENAI_API_KEY", "sk-unit-secret", 1);
	int status = unit_main("model_node", tests, UNIT_COUNT(tests));
	http_close_kept();
	http_close_kept();
	provider_stop();
	buf_release(&store_log);
	return status;
}
