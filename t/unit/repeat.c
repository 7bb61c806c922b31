/* SPDX-License-Identifier: ISC */
/* Events that repeat one that was read: what is taken for a repetition, and what must not be. */
#include "model/repeat.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "unit.h"

#include <string.h>

#define OPENAI(text) \
	"{\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{" text "}}],\"usage\":null}"
#define CONTENT(text) OPENAI("\"content\":\"" text "\"")

/* An answer, and what is known of its events. */
struct reading {
	struct chat_target target;
	struct chat_request request;
	struct chat_answer answer;
	struct chat_repeat repeat;
};

static void begin(struct reading *r, const struct chat_provider *provider)
{
	*r = (struct reading){.target = {.provider = provider, .model = "m"}};
	chat_answer_init(&r->answer, &r->target, &r->request);
}

static void end(struct reading *r)
{
	chat_repeat_release(&r->repeat);
	chat_answer_release(&r->answer);
}

/* Reads an event as JSON. */
static void read_named(struct reading *r, const char *name, const char *data)
{
	const struct sse_event event = {.name = name, .data = data, .len = strlen(data)};
	size_t bytes = r->answer.bytes;
	cJSON *json = json_parse(data, event.len, JSON_TRUSTED_DEPTH, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(json);
	r->target.provider->take_event(&r->answer, name, json);
	chat_repeat_learn(&r->repeat, &r->answer, bytes, &event);
	cJSON_Delete(json);
}

static void read(struct reading *r, const char *data)
{
	read_named(r, "message", data);
}

static bool take_named(struct reading *r, const char *name, const char *data)
{
	const struct sse_event event = {.name = name, .data = data, .len = strlen(data)};
	return chat_repeat_take(&r->repeat, &r->answer, &event);
}

static bool take(struct reading *r, const char *data)
{
	return take_named(r, "message", data);
}

static const char *text_of(const struct reading *r, size_t part)
{
	return r->answer.count > part ? buf_str(&r->answer.parts[part].text) : "(none)";
}

static void the_text_of_a_repetition_is_added(void)
{
	struct reading r;
	begin(&r, &chat_openai);
	CU_ASSERT_FALSE(take(&r, CONTENT("nothing is known yet")));
	read(&r, CONTENT("one"));
	CU_ASSERT_TRUE(take(&r, CONTENT(" two")));
	CU_ASSERT_TRUE(take(&r, CONTENT(" dr\xc3\xa9i \xf0\x9f\x98\x80")));
	CU_ASSERT_STRING_EQUAL(text_of(&r, 0), "one two dr\xc3\xa9i \xf0\x9f\x98\x80");
	CU_ASSERT_EQUAL(r.answer.count, 1);
	end(&r);
}

static void what_needs_a_parser_is_left_to_it(void)
{
	static const char *const others[] = {CONTENT("\\n"), CONTENT("a\\\"b"),
	    CONTENT("\",\"refusal\":\"no"), CONTENT("\xff"), CONTENT("a\tb"), CONTENT(""),
	    OPENAI("\"content\":null"), OPENAI("\"refusal\":\"no\""),
	    OPENAI("\"content\":\"a\",\"tool_calls\":[]"), OPENAI("\"content\":1"), "", "{",
	    "{\"error\":{\"message\":\"overloaded\"}}", CONTENT("a") " ", " " CONTENT("a")};
	struct reading r;
	begin(&r, &chat_openai);
	read(&r, CONTENT("a"));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		CU_ASSERT_FALSE(take(&r, others[i]));
	CU_ASSERT_FALSE(take_named(&r, "error", CONTENT("a")));
	CU_ASSERT_STRING_EQUAL(text_of(&r, 0), "a");
	end(&r);
}

static void what_did_more_than_add_its_text_is_not_repeated(void)
{
	static const char *const others[] = {OPENAI("\"content\":\"a\",\"reasoning\":\"b\""),
	    OPENAI("\"content\":\"a\",\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":"
		   "{\"name\":\"f\",\"arguments\":\"{\"}}]"),
	    OPENAI("\"content\":\"\\n\""), OPENAI("\"content\":[{\"text\":\"a\"}]"),
	    OPENAI("\"content\":\"\",\"refusal\":\"a\""),
	    "{\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}",
	    "{\"choices\":[],\"content\":\"a\"}"};
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct reading r;
		begin(&r, &chat_openai);
		read(&r, others[i]);
		CU_ASSERT_FALSE(take(&r, others[i]));
		end(&r);
	}
}

static void a_repetition_goes_to_the_part_of_the_first(void)
{
	struct reading r;
	begin(&r, &chat_anthropic);
	read_named(&r, "content_block_delta",
	    "{\"type\":\"content_block_delta\",\"index\":1,\"delta\":"
	    "{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}");
	read_named(&r, "content_block_delta",
	    "{\"type\":\"content_block_delta\",\"index\":2,\"delta\":"
	    "{\"type\":\"text_delta\",\"text\":\"a\"}}");
	CU_ASSERT_TRUE(take_named(&r, "content_block_delta",
	    "{\"type\":\"content_block_delta\",\"index\":2,\"delta\":"
	    "{\"type\":\"text_delta\",\"text\":\"b\"}}"));
	CU_ASSERT_FALSE(take_named(&r, "content_block_delta",
	    "{\"type\":\"content_block_delta\",\"index\":3,\"delta\":"
	    "{\"type\":\"text_delta\",\"text\":\"c\"}}"));
	CU_ASSERT_STRING_EQUAL(text_of(&r, 0), "hm");
	CU_ASSERT_STRING_EQUAL(text_of(&r, 1), "ab");
	end(&r);
}

/* Only the end of the first and the beginning of the second match, and they overlap. */
static void an_event_shorter_than_the_frame_is_none(void)
{
	struct reading r;
	begin(&r, &chat_openai);
	read(&r, "{\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"x\":\"\"}");
	CU_ASSERT_TRUE(take(&r, "{\"choices\":[{\"delta\":{\"content\":\"b\"}}],\"x\":\"\"}"));
	CU_ASSERT_FALSE(take(&r, "{\"choices\":[{\"delta\":{\"content\":\"\"}}],\"x\":\"\"}"));
	CU_ASSERT_FALSE(take(&r, "{\"choices\":[{\"delta\":{\"content\":\"\"}"));
	end(&r);
}

static void providers_whose_events_differ_repeat_nothing(void)
{
	static const char event[] =
	    "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}],\"role\":\"model\"}}]}";
	struct reading r;
	begin(&r, &chat_gemini);
	read(&r, event);
	CU_ASSERT_STRING_EQUAL(text_of(&r, 0), "a");
	CU_ASSERT_FALSE(take(&r, event));
	end(&r);
}

static const struct unit_test tests[] = {
    {"the text of a repetition is added", the_text_of_a_repetition_is_added},
    {"what needs a parser is left to it", what_needs_a_parser_is_left_to_it},
    {"what did more than add its text is not repeated",
	what_did_more_than_add_its_text_is_not_repeated},
    {"a repetition goes to the part of the first", a_repetition_goes_to_the_part_of_the_first},
    {"an event shorter than the frame is none", an_event_shorter_than_the_frame_is_none},
    {"providers whose events differ repeat nothing", providers_whose_events_differ_repeat_nothing},
};

int main(void)
{
	memory_init();
	return unit_main("repeat", tests, UNIT_COUNT(tests));
}
