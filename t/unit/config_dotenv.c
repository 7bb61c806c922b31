/* SPDX-License-Identifier: ISC */
/* Files of variables: what a line says. */
#include "base/json/json.h"
#include "config/environment/dotenv.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

/* True when the text gives NAME this value. */
static bool gives(const char *text, const char *value)
{
	struct dotenv_fault fault;
	cJSON *variables = dotenv_parse(text, strlen(text), &fault);
	const char *found = json_str(variables, "NAME");
	bool same = found && strcmp(found, value) == 0;
	cJSON_Delete(variables);
	return same;
}

/* The line of the mistake in the text; 0 when it has none. */
static size_t mistake(const char *text, size_t len)
{
	struct dotenv_fault fault;
	cJSON *variables = dotenv_parse(text, len, &fault);
	bool ok = variables != NULL;
	cJSON_Delete(variables);
	return ok ? 0 : fault.line;
}

static size_t mistake_in(const char *text)
{
	return mistake(text, strlen(text));
}

static void plain_values(void)
{
	CU_ASSERT(gives("NAME=value", "value"));
	CU_ASSERT(gives("  NAME =  two words  \n", "two words"));
	CU_ASSERT(gives("NAME=", ""));
	CU_ASSERT(gives("NAME=a=b\n", "a=b"));
	CU_ASSERT(gives("NAME=it's \"so\"", "it's \"so\""));
	CU_ASSERT(gives("NAME=\\n", "\\n"));
}

static void export_prefix(void)
{
	CU_ASSERT(gives("export NAME=value", "value"));
	CU_ASSERT(gives("export\tNAME=value", "value"));
	CU_ASSERT(gives("export=1\nexport =2\nNAME=x", "x"));
	CU_ASSERT_EQUAL(mistake_in("export"), 1);
	CU_ASSERT_EQUAL(mistake_in("export NAME"), 1);
}

static void comments(void)
{
	CU_ASSERT(gives("# NAME=no\n\n  # more\nNAME=value # trailing", "value"));
	CU_ASSERT(gives("NAME=a#b", "a#b"));
	CU_ASSERT(gives("NAME=#fff", "#fff"));
	CU_ASSERT(gives("NAME= # nothing", ""));
	CU_ASSERT(gives("NAME='a' # comment", "a"));
	CU_ASSERT(gives("NAME=\"a # b\" #", "a # b"));
}

static void single_quotes(void)
{
	CU_ASSERT(gives("NAME='a $b \\n \"c\"'", "a $b \\n \"c\""));
	CU_ASSERT(gives("NAME=''", ""));
	CU_ASSERT(gives("NAME='one\ntwo'", "one\ntwo"));
}

static void double_quotes(void)
{
	CU_ASSERT(gives("NAME=\"a\\nb\\tc\\\"d\\\\e\"", "a\nb\tc\"d\\e"));
	CU_ASSERT(gives("NAME=\"\\x \\\\n\"", "\\x \\n"));
	CU_ASSERT(gives("NAME=\"-----BEGIN\nabc\n\"", "-----BEGIN\nabc\n"));
}

static void carriage_returns(void)
{
	CU_ASSERT(gives("OTHER=1\r\nNAME=value\r\nLAST='x'\r\n", "value"));
	CU_ASSERT(gives("NAME=\"a\r\nb\"\r\n", "a\nb"));
}

static void later_value_counts(void)
{
	CU_ASSERT(gives("NAME=1\nNAME=2\n", "2"));
}

static void mistakes_have_lines(void)
{
	CU_ASSERT_EQUAL(mistake_in("A=1\nB\nC=2"), 2);
	CU_ASSERT_EQUAL(mistake_in("1A=1"), 1);
	CU_ASSERT_EQUAL(mistake_in("A B=1"), 1);
	CU_ASSERT_EQUAL(mistake_in("=1"), 1);
	CU_ASSERT_EQUAL(mistake_in("\n\nA=\"open\nB=1\n"), 3);
	CU_ASSERT_EQUAL(mistake_in("A='open"), 1);
	CU_ASSERT_EQUAL(mistake_in("A=\"ends in a backslash\\"), 1);
	CU_ASSERT_EQUAL(mistake_in("A=\"one\ntwo\" three"), 2);
}

static void only_utf8(void)
{
	CU_ASSERT_EQUAL(mistake_in("A=1\nB=\xff\n"), 2);
	CU_ASSERT_EQUAL(mistake("A=1\nB=\0\n", 9), 2);
	CU_ASSERT(gives("NAME=grün", "grün"));
}

static void empty_file(void)
{
	CU_ASSERT_EQUAL(mistake_in(""), 0);
	CU_ASSERT_EQUAL(mistake_in("\n\r\n  "), 0);
}

static void systemd_files_are_read_as_by_systemd(void)
{
	static const struct {
		const char *text, *name, *value;
	} cases[] = {
	    {"A=one two  three \n", "A", "one two  three"},
	    {"A=  x # no comment\n", "A", "x # no comment"},
	    {"# A=1\n; A=2\nA=3", "A", "3"},
	    {"A=1\nA=2\n", "A", "2"},
	    {" A = 1\n", "A", "1"},
	    {"A=\"two  words \"  \n", "A", "two  words "},
	    {"A='it $stands \\n'\nB=1", "A", "it $stands \\n"},
	    {"A=\"a\" 'b'\n", "A", "ab"},
	    {"A=\"a \\\" \\\\ \\x\"", "A", "a \" \\ \\x"},
	    {"A=say \"it\"\n", "A", "say \"it\""},
	    {"A=one \\\ntwo\n", "A", "one two"},
	    {"A=\"one\ntwo\"\n", "A", "one\ntwo"},
	    {"A=back\\slash\n", "A", "backslash"},
	    {"A=\n", "A", ""},
	    {"A=open'\nB=1", "B", "1"},
	    {"no assignment\nA=1", "A", "1"},
	    {"A=$(id) `id` $HOME;ls", "A", "$(id) `id` $HOME;ls"},
	    {"A=1\r\n", "A", "1"},
	    {"# comment \\\nA=1\nB=2", "A", NULL},
	    {"A=\"never closed", "A", "never closed"},
	    {"A=\\", "A", "\\"},
	};
	for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
		cJSON *variables = env_file_parse(cases[i].text);
		const char *value = json_str(variables, cases[i].name);
		CU_ASSERT(cases[i].value ? value && strcmp(value, cases[i].value) == 0 : !value);
		cJSON_Delete(variables);
	}
}

static const struct unit_test tests[] = {
    {"a plain value is the rest of the line without blanks around it", plain_values},
    {"export may stand before a name", export_prefix},
    {"a comment needs a blank before it", comments},
    {"single quotes take everything as it is", single_quotes},
    {"double quotes know four escapes and span lines", double_quotes},
    {"lines may end with a carriage return", carriage_returns},
    {"of a name given twice the later value counts", later_value_counts},
    {"a mistake is told with its line", mistakes_have_lines},
    {"text that is not UTF-8 or holds a NUL is refused", only_utf8},
    {"a file without variables is fine", empty_file},
    {"files of systemd are read as systemd reads them", systemd_files_are_read_as_by_systemd},
};

int main(void)
{
	return unit_main("config_dotenv", tests, UNIT_COUNT(tests));
}
