/* SPDX-License-Identifier: ISC */
/* Where the configuration comes from, and what wins. */
#include "config_fixture.h"

#include "base/json/json.h"
#include "config/text_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEMO "{\"agent\": \"builtin:demo\"}"

static bool same(const char *a, const char *b)
{
	return a && strcmp(a, b) == 0;
}

static struct load load_from(const char *file, const char *state_dir)
{
	struct load l = {0};
	struct config_source source = {.file = file, .state_dir = state_dir};
	l.config = config_load(&source, &l.problems);
	return l;
}

/* The current directory is the fixture's, whose real path this is. */
static const char *here(const char *name)
{
	static char path[PATH_MAX * 2];
	char *cwd = realpath(".", NULL);
	snprintf(path, sizeof(path), "%s%s%s", cwd, *name ? "/" : "", name);
	free(cwd);
	return path;
}

static void no_file_serves_the_demo(void)
{
	struct load l = fixture_load_default();
	CU_ASSERT_PTR_NOT_NULL_FATAL(l.config);
	CU_ASSERT_PTR_NULL(l.config->path);
	CU_ASSERT_STRING_EQUAL(l.config->agent, "builtin:demo");
	CU_ASSERT_STRING_EQUAL(l.config->dir, here(""));
	CU_ASSERT_EQUAL(l.config->websocket.max_connections, 1000);
	CU_ASSERT(fixture_has_warning(&l, "authentication is off"));
	fixture_end(&l);
}

static void a_named_file_must_exist(void)
{
	struct load l = load_from("missing.json", NULL);
	CU_ASSERT_PTR_NULL(l.config);
	CU_ASSERT_EQUAL(l.problems.errors, 1);
	CU_ASSERT(fixture_has_error(&l, "missing.json: cannot read the configuration"));
	fixture_end(&l);
	setenv("GRAPH_PATH", "gone.json", 1);
	l = fixture_load_default();
	CU_ASSERT(fixture_has_error(&l, "gone.json"));
	fixture_end(&l);
	l = load_from(".", NULL);
	CU_ASSERT(fixture_has_error(&l, "Is a directory"));
	fixture_end(&l);
}

static void option_before_variable(void)
{
	mkdir("sub", 0700);
	fixture_write("sub/a.json", "{\"agent\": \"m:a\"}");
	fixture_write("b.json", "{\"agent\": \"m:b\"}");
	setenv("GRAPH_PATH", "b.json", 1);
	struct load l = load_from("sub/a.json", NULL);
	CU_ASSERT(l.config && same(l.config->agent, "m:a") && same(l.config->path, "sub/a.json"));
	CU_ASSERT(l.config && same(l.config->dir, here("sub")));
	fixture_end(&l);
	setenv("GRAPH_PATH", "b.json", 1);
	l = fixture_load_default();
	CU_ASSERT(l.config && same(l.config->agent, "m:b"));
	fixture_end(&l);
}

static void state_directory(void)
{
	struct load l = fixture_load(DEMO);
	CU_ASSERT(l.config && same(l.config->state_dir, here(".agentgraph")));
	fixture_end(&l);
	setenv("AGENTGRAPH_STATE_DIR", "./state/x//", 1);
	l = fixture_load(DEMO);
	CU_ASSERT(l.config && same(l.config->state_dir, here("state/x")));
	fixture_end(&l);
	setenv("AGENTGRAPH_STATE_DIR", "elsewhere", 1);
	l = load_from(NULL, "/var/lib/agentgraph/");
	CU_ASSERT(l.config && same(l.config->state_dir, "/var/lib/agentgraph"));
	fixture_end(&l);
	l = load_from(NULL, "");
	CU_ASSERT(fixture_has_error(&l, "--state"));
	fixture_end(&l);
}

static void check_text(const char *text, const char *part)
{
	struct load l = fixture_load(text);
	CU_ASSERT_PTR_NULL(l.config);
	CU_ASSERT_EQUAL(l.problems.errors, 1);
	CU_ASSERT(fixture_has_error(&l, part));
	fixture_end(&l);
}

static void not_json(void)
{
	check_text("{\n\"agent\": \"a:b\",\n}", "agentgraph.json: line 3: the file must be valid");
	check_text("{\n\"agent\": \"a:b\",\n}", "JSON: column 1: expected a key in double quotes");
	check_text(
	    "{\"agent\": }", "line 1: the file must be valid JSON: column 11: expected a value");
	check_text(
	    "{\"agent\" \"a:b\"}", "column 10: expected a comma or } (behind a key, a colon)");
	check_text("{\"a\": [1 2]}", "column 10: expected a comma or ]");
	check_text("{\"a\": \"x\n\"}", "column 9: expected the closing quote of a text");
	check_text("{\"a\": \"x\xfc\"}", "column 9: expected UTF-8");
	check_text("{\"a\": \"\\ud800\"}",
	    "the file must not contain half of a surrogate pair: column 14");
	check_text("{\"a\": \"\\x\"}", "expected one of \"\\/bfnrtu behind a backslash");
	check_text("{\"a\": 1} x", "column 10: expected nothing behind the value");
	check_text("{\"a\": tru}", "column 7: expected a value");
	check_text("{", "column 2: expected a key in double quotes, or }");
	check_text(
	    "", "agentgraph.json: line 1: the file must be valid JSON: column 1: expected a value");
	check_text("{\"agent\": \"a:b\"} x", "agentgraph.json: line 1");
	check_text("{\n\"agent\":\n\"\xff\"}", "agentgraph.json: line 3");
	check_text("{\"agent\": \"a:b\", \"n\": 01}", "agentgraph.json");
	check_text("{\"agent\": \"a:b\\u0000\"}", "U+0000");
	check_text("[1]", "agentgraph.json: expected an object, found array");
	check_text("{\"agent\": \"builtin:demo\", \"agent\": \"builtin:demo\"}",
	    "agentgraph.json: agent: expected the key once, found it twice");
}

static void byte_order_mark(void)
{
	struct load l = fixture_load("\xEF\xBB\xBF" DEMO);
	CU_ASSERT_PTR_NOT_NULL(l.config);
	fixture_end(&l);
}

static void dotenv_fills_gaps(void)
{
	mkdir("sub", 0700);
	fixture_write("sub/.env", "APP_NAME=file\nAPP_VERSION='9'\nCACHE_URL=redis://d\n");
	fixture_write("sub/c.json", "{\"agent\": \"m:a\", \"env\": \".env\"}");
	setenv("APP_NAME", "outside", 1);
	struct load l = load_from("sub/c.json", NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(l.config);
	CU_ASSERT_STRING_EQUAL(l.config->env.app_name, "outside");
	CU_ASSERT_STRING_EQUAL(l.config->env.app_version, "9");
	CU_ASSERT_STRING_EQUAL(l.config->cache, "redis://d");
	CU_ASSERT_STRING_EQUAL(getenv("APP_VERSION"), "9");
	fixture_end(&l);
}

static void dotenv_mistakes(void)
{
	CHECK_REFUSED(", \"env\": \"none.env\"", "agentgraph.json: env: cannot read");
	CHECK_REFUSED(", \"env\": 5", "agentgraph.json: env: expected the name of a dotenv file");
	fixture_write("bad.env", "A=1\nhunter2\n");
	struct load l = fixture_load_with(", \"env\": \"bad.env\"");
	CU_ASSERT_EQUAL(l.problems.errors, 1);
	CU_ASSERT(fixture_has_error(&l, "bad.env: line 2: expected KEY=VALUE"));
	for (size_t i = 0; i < l.problems.count; i++)
		CU_ASSERT_PTR_NULL(strstr(l.problems.items[i].text, "hunter2"));
	fixture_end(&l);
}

static void long_values_are_cut(void)
{
	struct load l = fixture_load("{\"agent\": "
				     "\"ääääääääääääääääääääääääääääääääääääääääääääääääääääää\"}");
	CU_ASSERT(fixture_has_error(&l, "…"));
	CU_ASSERT(strlen(l.problems.items[0].text) < 160);
	fixture_end(&l);
}

/* The files that are read by a load as text_files_take wants them, in the file accepted.json. */
static void load_and_note(void)
{
	cJSON *files = cJSON_CreateObject();
	text_files_note(files);
	struct load l = fixture_load_with(", \"env\": \"some.env\"");
	text_files_note(NULL);
	CU_ASSERT_PTR_NOT_NULL(l.config);
	CU_ASSERT_EQUAL(cJSON_GetArraySize(files), 2);
	char *text = json_print(files);
	fixture_write("accepted.json", text);
	cJSON_free(text);
	cJSON_Delete(files);
	fixture_end(&l);
}

static struct load load_accepted(const char *file)
{
	struct load l = {0};
	const struct config_source source = {.accepted = file};
	l.config = config_load(&source, &l.problems);
	return l;
}

static void files_that_were_noted_are_read_in_the_place_of_others(void)
{
	fixture_write("some.env", "MAX_REQUEST_SIZE=777\n");
	load_and_note();
	fixture_write("some.env", "nonsense");
	fixture_write("agentgraph.json", "{");
	struct load l = load_accepted("accepted.json");
	CU_ASSERT_PTR_NOT_NULL_FATAL(l.config);
	CU_ASSERT_EQUAL(l.config->env.max_request_size, 777);
	fixture_end(&l);
	fixture_write("accepted.json", "{}");
	l = load_accepted("accepted.json");
	CU_ASSERT_PTR_NOT_NULL_FATAL(l.config);
	CU_ASSERT_PTR_NULL(l.config->path);
	fixture_end(&l);
	l = load_accepted("none.json");
	CU_ASSERT(fixture_has_warning(&l, "none.json: cannot be read"));
	CU_ASSERT(fixture_has_error(&l, "agentgraph.json: line 1"));
	fixture_end(&l);
}

static const struct unit_test tests[] = {
    {"without a file the demo is served", no_file_serves_the_demo},
    {"a file that somebody names must be readable", a_named_file_must_exist},
    {"the option wins over GRAPH_PATH", option_before_variable},
    {"the state directory is absolute and has no slash at its end", state_directory},
    {"text that is no JSON object is refused with its line", not_json},
    {"a byte order mark is skipped", byte_order_mark},
    {"the dotenv file fills what the environment does not have", dotenv_fills_gaps},
    {"a mistake in the dotenv file is told without its text", dotenv_mistakes},
    {"files that were noted are read in the place of others",
	files_that_were_noted_are_read_in_the_place_of_others},
    {"a message cuts long values between characters", long_values_are_cut},
};

int main(void)
{
	fixture_init();
	return unit_main("config_load", tests, UNIT_COUNT(tests));
}
