/* SPDX-License-Identifier: ISC */
/* Nodes that are executables. */
#include "base/memory.h"
#include "base/os/clock.h"
#include "document_fixture.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A graph whose one node runs ./node.sh, with more members of the node. */
#define DOCUMENT(more)                                                                       \
	"{\"g\": {\"state\": {\"fields\": {\"notes\": {\"type\": \"array\", \"reducer\": "   \
	"\"append\"}, \"n\": {\"type\": \"integer\", \"default\": 7}}}, \"nodes\": {\"n\": " \
	"{\"kind\": \"exec\", \"command\": [\"./node.sh\", \"arg\"]" more "}}, \"edges\": "  \
	"[{\"from\": \"START\", \"to\": \"n\"}, {\"from\": \"n\", \"to\": \"END\"}]}}"

static void script(const char *text)
{
	char whole[4096];
	snprintf(whole, sizeof(whole), "#!/bin/sh\n%s", text);
	write_file("node.sh", whole);
}

/* What is said when the node is that script. */
static const char *script_says(const char *text)
{
	script(text);
	return said_by(DOCUMENT(""), "hi");
}

static void pieces_are_streamed_and_become_a_message(void)
{
	struct talk talk;
	script("echo '{\"delta\": \"one\"}'; echo; echo ' {\"delta\": \" two\"} '");
	talk_open(&talk, DOCUMENT(""));
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "hi"), "assistant: one two|");
	CU_ASSERT_STRING_EQUAL(buf_str(&talk.pieces), "one| two|");
	talk_close(&talk);
}

static void a_message_closes_the_pieces(void)
{
	CU_ASSERT_STRING_EQUAL(
	    script_says("echo '{\"delta\": \"one\"}'; echo '{\"message\": \"one\"}'; "
			"echo '{\"delta\": \"two\"}'"),
	    "assistant: one|assistant: two|");
}

static void what_a_message_adds_to_its_pieces_is_one_more(void)
{
	struct talk talk;
	script("echo '{\"delta\": \"one\"}'; echo '{\"message\": \"one two\"}'; "
	       "echo '{\"message\": \"three\"}'; echo '{\"reasoning\": \"\"}'; "
	       "echo '{\"message\": \"four\"}'; echo '{\"delta\": \"five\"}'; "
	       "echo '{\"message\": \"six\"}'; echo '{\"delta\": \"sev\"}'; "
	       "echo '{\"message\": {\"content\": [{\"type\": \"text\", \"text\": \"seven\"}, "
	       "{\"type\": \"text\", \"text\": \" eight\"}]}}'");
	talk_open(&talk, DOCUMENT(""));
	talk_say(&talk, "hi");
	CU_ASSERT_STRING_EQUAL(buf_str(&talk.pieces), "one| two|four|five|sev|en eight|");
	talk_close(&talk);
}

static void messages_are_texts_or_objects(void)
{
	CU_ASSERT_STRING_EQUAL(
	    script_says(
		"echo '{\"message\": \"plain\"}'; echo '{\"message\": {\"content\": \"a\"}}'; "
		"echo '{\"message\": {\"role\": \"system\", \"content\": [{\"type\": \"text\", "
		"\"text\": \"b\"}]}}'"),
	    "assistant: plain|assistant: a|system: b|");
}

static void nothing_said_is_nothing_said(void)
{
	CU_ASSERT_STRING_EQUAL(script_says("exit 0"), "");
}

static void fields_are_updated(void)
{
	struct talk talk;
	script("echo '{\"update\": {\"notes\": \"a\", \"n\": 8}}'; echo '{\"update\": {\"notes\": "
	       "[\"b\"]}}'");
	talk_open(&talk, DOCUMENT(""));
	talk_say(&talk, "hi");
	CU_ASSERT_STRING_EQUAL(talk_field(&talk, "notes"), "[\"a\",\"b\"]");
	CU_ASSERT_STRING_EQUAL(talk_field(&talk, "n"), "8");
	talk_close(&talk);
}

static void an_update_of_an_unknown_field_is_an_error(void)
{
	CU_ASSERT_PTR_NOT_NULL(strstr(script_says("echo '{\"update\": {\"x\": 1}}'"), "error: "));
}

/* The document text with each char of it in the shell's quotes is hard to read: the script saves
 * what it was given. */
static cJSON *saved_input(const char *more)
{
	char document[2048], text[65536];
	struct talk talk;
	script("cat >input.json");
	snprintf(document, sizeof(document), DOCUMENT("%s"), more);
	talk_open(&talk, document);
	talk.config = "{\"user\": {\"user_id\": \"alice\"}}";
	talk_say(&talk, "first");
	talk_say(&talk, "s\xc3\xa4y \"hi\"");
	FILE *file = fopen(unit_path("input.json"), "re");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	size_t len = fread(text, 1, sizeof(text) - 1, file);
	text[len] = '\0';
	fclose(file);
	talk_close(&talk);
	CU_ASSERT_EQUAL(text[len - 1], '\n');
	CU_ASSERT_PTR_EQUAL(strchr(text, '\n'), text + len - 1);
	return cJSON_Parse(text);
}

static const cJSON *member(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	CU_ASSERT_PTR_NOT_NULL_FATAL(item);
	return item;
}

static const char *string_in(const cJSON *object, const char *key)
{
	return cJSON_GetStringValue(member(object, key));
}

static void the_program_is_given_the_state(void)
{
	cJSON *input = saved_input("");
	const cJSON *context = member(input, "context");
	CU_ASSERT_EQUAL(cJSON_GetArraySize(context), 2);
	CU_ASSERT_STRING_EQUAL(string_in(context->child, "role"), "user");
	CU_ASSERT_TRUE(cJSON_IsNull(member(input, "context_summary")));
	CU_ASSERT_STRING_EQUAL(string_in(input, "user_text"), "s\xc3\xa4y \"hi\"");
	CU_ASSERT_EQUAL(member(input, "n")->valueint, 7);
	CU_ASSERT_TRUE(cJSON_IsArray(member(input, "notes")));
	CU_ASSERT_STRING_EQUAL(
	    string_in(member(member(input, "config"), "user"), "user_id"), "alice");
	CU_ASSERT_STRING_EQUAL(string_in(input, "run_id"), "r1");
	CU_ASSERT_EQUAL(strlen(string_in(input, "thread_id")), 36);
	CU_ASSERT_STRING_EQUAL(string_in(input, "node"), "n");
	CU_ASSERT_EQUAL(member(input, "step")->valueint, 1);
	CU_ASSERT_EQUAL(cJSON_GetArraySize(member(input, "answers")), 0);
	cJSON_Delete(input);
}

static void the_context_may_be_the_last_message_alone(void)
{
	cJSON *input = saved_input(", \"input\": \"last\"");
	const cJSON *context = member(input, "context");
	CU_ASSERT_EQUAL(cJSON_GetArraySize(context), 1);
	const cJSON *block = member(context->child, "content")->child;
	CU_ASSERT_STRING_EQUAL(string_in(block, "text"), "s\xc3\xa4y \"hi\"");
	cJSON_Delete(input);
}

static void the_environment_is_small(void)
{
	struct talk talk;
	setenv("SECRET_KEY", "s3cret", 1);
	setenv("LC_TIME", "C", 1);
	script("printf '{\"delta\": \"%s %s %s %s %s %s %s\"}\\n' \"$1\" \"${SECRET_KEY-unset}\" "
	       "\"$GIVEN\" \"$LC_TIME\" \"$AGENTGRAPH_NODE\" \"$AGENTGRAPH_RUN_ID\" "
	       "\"${#AGENTGRAPH_THREAD_ID}\"");
	talk_open(&talk, DOCUMENT(", \"env\": {\"GIVEN\": \"<${SECRET_KEY}>\"}"));
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "hi"), "assistant: arg unset <s3cret> C n r1 36|");
	talk_close(&talk);
	unsetenv("SECRET_KEY");
}

static void the_document_wins_over_the_environment(void)
{
	setenv("LC_TIME", "C", 1);
	script("printf '{\"delta\": \"%s\"}\\n' \"$LC_TIME\"");
	CU_ASSERT_STRING_EQUAL(
	    said_by(DOCUMENT(", \"env\": {\"LC_TIME\": \"x\"}"), "hi"), "assistant: x|");
}

/* ---- Interrupts */

#define ASKS_TWICE                                                                 \
	"answers=$(sed -n 's/.*\"answers\":\\(.*\\)}$/\\1/p')\n"                   \
	"echo '{\"interrupt\": {\"reason\": \"first\", \"value\": {\"q\": 1}}}'\n" \
	"echo '{\"interrupt\": {}}'\n"                                             \
	"printf '{\"delta\": \"%s\"}\\n' \"$(echo \"$answers\" | tr -d '\"')\"\n"

static void interrupts_are_answered_in_their_order(void)
{
	struct talk talk;
	script(ASKS_TWICE);
	talk_open(&talk, DOCUMENT(""));
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "hi"), "pause: first {\"q\":1}|");
	CU_ASSERT_STRING_EQUAL(talk_answer(&talk, "\"a\""), "pause: input_required null|");
	CU_ASSERT_STRING_EQUAL(talk_answer(&talk, "5"), "assistant: [a,5]|");
	talk_close(&talk);
}

static void an_interrupt_ends_a_program_that_stays(void)
{
	int64_t before = clock_monotonic_ms();
	CU_ASSERT_STRING_EQUAL(script_says("echo '{\"interrupt\": {\"value\": 1}}'; exec sleep 19"),
	    "pause: input_required 1|");
	CU_ASSERT_TRUE(clock_monotonic_ms() - before < 10000);
}

/* ---- Failing */

struct failure {
	const char *script;
	const char *error;
};

static void every_failure_says_what_was_wrong(void)
{
	static const struct failure failures[] = {
	    {"exit 3", "./node.sh exited with status 3|"},
	    {"echo '{\"delta\": \"x\"}'; echo first >&2; echo no luck >&2; exit 1",
		"./node.sh exited with status 1: no luck|"},
	    {"kill -SEGV $$", "./node.sh died of signal 11 (Segmentation fault)|"},
	    {"echo '{\"error\": \"not today\"}'; exit 0", "not today|"},
	    {"echo; echo hello world",
		"line 2 of its output: expected a JSON object: hello world|"},
	    {"echo '[1]'", "line 1 of its output: expected a JSON object: [1]|"},
	    {"printf '{\"delta\": \"\\377\"}'",
		"line 1 of its output: expected a JSON object: "
		"{\"delta\": \"?\"}|"},
	    {"echo '{}'", "line 1 of its output: expected exactly one member: {}|"},
	    {"echo '{\"delta\": \"a\", \"log\": \"b\"}'",
		"line 1 of its output: expected exactly one member: {\"delta\": \"a\", \"log\": "
		"\"b\"}|"},
	    {"echo '{\"dleta\": \"a\"}'",
		"line 1 of its output: expected one of delta, reasoning, message, update, "
		"interrupt, error, log, event: {\"dleta\": \"a\"}|"},
	    {"echo '{\"delta\": 5}'", "line 1 of its output: expected \"delta\" to be a string|"},
	    {"echo '{\"message\": null}'",
		"line 1 of its output: expected \"message\" to be a string or an object|"},
	    {"echo '{\"update\": []}'",
		"line 1 of its output: expected \"update\" to be an object|"},
	    {"echo '{\"interrupt\": \"why\"}'",
		"line 1 of its output: expected \"interrupt\" to be an object|"},
	    {"echo '{\"interrupt\": {\"question\": 1}}'",
		"line 1 of its output: expected \"interrupt\" to be an object with reason and "
		"value only|"},
	    {"head -c 2000000 /dev/zero | tr '\\0' x", "./node.sh wrote a line that is too long|"},
	    {"yes ''", "./node.sh wrote too much output|"},
	};
	for (size_t i = 0; i < UNIT_COUNT(failures); i++) {
		const char *said = script_says(failures[i].script);
		const char *error = strstr(said, "error: Graph execution failed: ");
		bool same = error &&
		    strcmp(error + strlen("error: Graph execution failed: "), failures[i].error) ==
			0;
		if (!same)
			printf("# %s\n# gives %s\n", failures[i].script, said);
		CU_ASSERT_TRUE(same);
	}
}

static void a_long_bad_line_is_cut_at_a_character(void)
{
	const char *said = script_says("i=0; while [ $i -lt 60 ]; do printf '\\303\\244x'; "
				       "i=$((i+1)); done");
	const char *line = strstr(said, "object: ");
	CU_ASSERT_PTR_NOT_NULL_FATAL(line);
	CU_ASSERT_EQUAL(strlen(line), strlen("object: ") + 80 + 1);
	CU_ASSERT_PTR_NULL(strchr(line, '?'));
}

static void a_failed_node_leaves_no_update(void)
{
	struct talk talk;
	script("echo '{\"update\": {\"n\": 99}}'; exit 1");
	talk_open(&talk, DOCUMENT(""));
	talk_say(&talk, "hi");
	CU_ASSERT_STRING_EQUAL(talk_field(&talk, "n"), "7");
	talk_close(&talk);
}

static void the_time_of_the_document_is_kept(void)
{
	int64_t before = clock_monotonic_ms();
	script("exec sleep 19");
	CU_ASSERT_STRING_EQUAL(said_by(DOCUMENT(", \"timeout\": 0.2"), "hi"),
	    "error: Graph execution failed: node n timed out after 0.2 s|");
	CU_ASSERT_TRUE(clock_monotonic_ms() - before < 10000);
}

static void the_time_of_the_node_is_kept(void)
{
	struct talk talk;
	script("exec sleep 19");
	talk_open(&talk, DOCUMENT(""));
	talk.node_timeout = 0.2;
	CU_ASSERT_STRING_EQUAL(
	    talk_say(&talk, "hi"), "error: Graph execution failed: node n timed out after 0.2 s|");
	CU_ASSERT_EQUAL(talk.error.kind, ERR_NODE_TIMEOUT);
	talk_close(&talk);
}

static void the_limits_of_the_document_are_kept(void)
{
	script("echo '{\"delta\": \"0123456789\"}'");
	CU_ASSERT_STRING_EQUAL(
	    said_by(DOCUMENT(", \"max_line\": 23"), "hi"), "assistant: 0123456789|");
	CU_ASSERT_STRING_EQUAL(said_by(DOCUMENT(", \"max_line\": 22"), "hi"),
	    "error: Graph execution failed: ./node.sh wrote a line that is too long|");
	CU_ASSERT_STRING_EQUAL(said_by(DOCUMENT(", \"max_output\": 22"), "hi"),
	    "error: Graph execution failed: ./node.sh wrote too much output|");
}

static void a_stop_lets_the_program_end(void)
{
	struct talk talk;
	script("echo '{\"delta\": \"so far\"}'; sleep 0.2; echo '{\"delta\": \", so good\"}'");
	talk_open(&talk, DOCUMENT(""));
	talk.stop_at_piece = true;
	CU_ASSERT_STRING_EQUAL(talk_say(&talk, "hi"), "assistant: so far, so good|");
	talk_close(&talk);
}

static const struct unit_test tests[] = {
    {"pieces are streamed and become a message", pieces_are_streamed_and_become_a_message},
    {"a message closes the pieces", a_message_closes_the_pieces},
    {"what a message adds to its pieces is one more",
	what_a_message_adds_to_its_pieces_is_one_more},
    {"messages are texts or objects", messages_are_texts_or_objects},
    {"a program that says nothing is fine", nothing_said_is_nothing_said},
    {"fields are updated", fields_are_updated},
    {"an update of an unknown field is an error", an_update_of_an_unknown_field_is_an_error},
    {"the program is given the state as one line", the_program_is_given_the_state},
    {"the context may be the last message alone", the_context_may_be_the_last_message_alone},
    {"the environment has no secrets, but what the document gives", the_environment_is_small},
    {"the document wins over the environment", the_document_wins_over_the_environment},
    {"interrupts are answered in their order", interrupts_are_answered_in_their_order},
    {"an interrupt ends a program that stays", an_interrupt_ends_a_program_that_stays},
    {"every failure says what was wrong", every_failure_says_what_was_wrong},
    {"a long bad line is cut at a character", a_long_bad_line_is_cut_at_a_character},
    {"a failed node leaves no update", a_failed_node_leaves_no_update},
    {"the time that the document gives is kept", the_time_of_the_document_is_kept},
    {"the time that the run gives is kept", the_time_of_the_node_is_kept},
    {"the limits that the document gives are kept", the_limits_of_the_document_are_kept},
    {"a stop lets the program end", a_stop_lets_the_program_end},
};

int main(void)
{
	memory_init();
	return unit_main("exec_node", tests, UNIT_COUNT(tests));
}
