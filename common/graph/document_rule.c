/* SPDX-License-Identifier: ISC */
/* The rules of conditional edges. */
#include "base/buf.h"
#include "base/json.h"
#include "base/memory.h"
#include "graph/document.h"
#include "graph/message.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What a rule looks at; the key that says so is in rule_tests. */
enum rule_kind {
	RULE_NEVER, /* it had mistakes */
	RULE_TOOL_CALLS,
	RULE_USER_TEXT,
	RULE_LAST_TEXT,
	RULE_FIELD,
	RULE_ALL,
	RULE_ANY,
	RULE_NOT
};

enum rule_test {
	TEST_EQUALS,
	TEST_CONTAINS,
	TEST_STARTS_WITH,
	TEST_MATCHES,
	TEST_EXISTS,
	TEST_GT,
	TEST_GTE,
	TEST_LT,
	TEST_LTE
};

struct rule {
	enum rule_kind kind;
	enum rule_test test;  /* of texts and fields */
	const cJSON *operand; /* what the test compares with; lives in the document */
	const char *field;
	bool ignore_case;
	bool has_regex;
	regex_t regex;
	struct rule **parts; /* of all, any, not */
	size_t part_count;
};

struct word {
	const char *key;
	int meaning;
};

static const struct word kinds[] = {{"tool_calls", RULE_TOOL_CALLS}, {"user_text", RULE_USER_TEXT},
    {"last_text", RULE_LAST_TEXT}, {"field", RULE_FIELD}, {"all", RULE_ALL}, {"any", RULE_ANY},
    {"not", RULE_NOT}, {NULL, 0}};

static const struct word text_tests[] = {{"equals", TEST_EQUALS}, {"contains", TEST_CONTAINS},
    {"starts_with", TEST_STARTS_WITH}, {"matches", TEST_MATCHES}, {NULL, 0}};

static const struct word field_tests[] = {{"equals", TEST_EQUALS}, {"contains", TEST_CONTAINS},
    {"exists", TEST_EXISTS}, {"gt", TEST_GT}, {"gte", TEST_GTE}, {"lt", TEST_LT}, {"lte", TEST_LTE},
    {NULL, 0}};

/* ---- Reading */

/* The only word of the table that is a key of item; NULL after a report when there is none, or more
 * than one. */
static const struct word *only_word(
    struct document *d, const struct place *at, const cJSON *item, const struct word *table)
{
	const struct word *found = NULL;
	struct buf known = {0};
	size_t count = 0;
	for (const struct word *word = table; word->key; word++) {
		buf_printf(&known, "%s%s", known.len ? ", " : "", word->key);
		if (!json_get(item, word->key))
			continue;
		found = word;
		count++;
	}
	if (count != 1)
		document_problem(d, at, "expected exactly one of %s", buf_str(&known));
	buf_release(&known);
	return count == 1 ? found : NULL;
}

/* A pattern is a POSIX extended regular expression. */
static void document_rule_read_pattern(
    struct document *d, const struct place *at, struct rule *rule)
{
	char message[256];
	int flags = REG_EXTENDED | REG_NOSUB | (rule->ignore_case ? REG_ICASE : 0);
	int code = regcomp(&rule->regex, rule->operand->valuestring, flags);
	rule->has_regex = code == 0;
	if (code == 0)
		return;
	regerror(code, &rule->regex, message, sizeof(message));
	document_problem(d, at, "expected a POSIX extended regular expression: %s", message);
}

static void read_text_rule(
    struct document *d, const struct place *at, const cJSON *item, struct rule *rule)
{
	if (!cJSON_IsObject(item) || !document_check(d, at, item, &shape_text_rule))
		return;
	const struct word *test = only_word(d, at, item, text_tests);
	if (!test)
		return;
	rule->test = (enum rule_test)test->meaning;
	rule->operand = json_get(item, test->key);
	rule->ignore_case = cJSON_IsTrue(json_get(item, "ignore_case"));
	if (rule->test == TEST_MATCHES && cJSON_IsString(rule->operand))
		document_rule_read_pattern(d, PLACE_KEY(at, test->key), rule);
}

static void read_field_rule(
    struct document *d, const struct place *at, const cJSON *item, struct rule *rule)
{
	const struct word *test = only_word(d, at, item, field_tests);
	rule->field = json_str(item, "field");
	if (rule->field && !document_field_known(d, rule->field))
		document_problem(
		    d, PLACE_KEY(at, "field"), "there is no state field '%s'", rule->field);
	if (!test)
		return;
	rule->test = (enum rule_test)test->meaning;
	rule->operand = json_get(item, test->key);
}

static void add_rule_part(struct rule *rule, struct rule *part)
{
	rule->parts = xrealloc(rule->parts, (rule->part_count + 1) * sizeof(struct rule *));
	rule->parts[rule->part_count++] = part;
}

static void document_rule_read_parts(
    struct document *d, const struct place *at, const cJSON *items, struct rule *rule)
{
	const cJSON *item;
	size_t i = 0;
	if (cJSON_IsArray(items) && cJSON_GetArraySize(items) == 0)
		document_problem(d, at, "expected at least one rule");
	cJSON_ArrayForEach(item, items) {
		add_rule_part(rule, document_rule(d, PLACE_INDEX(at, i), item));
		i++;
	}
}

/* The tests of a field make no sense beside another kind of rule. */
static void check_strays(
    struct document *d, const struct place *at, const cJSON *item, const struct word *kind)
{
	for (const struct word *test = field_tests; test->key; test++) {
		if (kind->meaning != RULE_FIELD && json_get(item, test->key))
			document_problem(d, PLACE_KEY(at, test->key),
			    "expected only beside 'field', not beside '%s'", kind->key);
	}
}

static void document_rule_read_kind(struct document *d, const struct place *at, const cJSON *item,
    const struct word *kind, struct rule *rule)
{
	const cJSON *value = json_get(item, kind->key);
	const struct place *inner = PLACE_KEY(at, kind->key);
	switch ((enum rule_kind)kind->meaning) {
	case RULE_TOOL_CALLS:
		rule->operand = value;
		break;
	case RULE_USER_TEXT:
	case RULE_LAST_TEXT:
		read_text_rule(d, inner, value, rule);
		break;
	case RULE_FIELD:
		read_field_rule(d, at, item, rule);
		break;
	case RULE_ALL:
	case RULE_ANY:
		if (cJSON_IsArray(value))
			document_rule_read_parts(d, inner, value, rule);
		break;
	case RULE_NOT:
		if (cJSON_IsObject(value))
			add_rule_part(rule, document_rule(d, inner, value));
		break;
	case RULE_NEVER:
		break;
	}
}

struct rule *document_rule(struct document *d, const struct place *at, const cJSON *item)
{
	struct rule *rule = xcalloc(1, sizeof(*rule));
	if (!document_check(d, at, item, &shape_rule))
		return rule;
	const struct word *kind = only_word(d, at, item, kinds);
	if (!kind)
		return rule;
	check_strays(d, at, item, kind);
	rule->kind = (enum rule_kind)kind->meaning;
	document_rule_read_kind(d, at, item, kind, rule);
	return rule;
}

void rule_free(struct rule *rule)
{
	if (!rule)
		return;
	for (size_t i = 0; i < rule->part_count; i++)
		rule_free(rule->parts[i]);
	free(rule->parts);
	if (rule->has_regex)
		regfree(&rule->regex);
	free(rule);
}

/* ---- Deciding */

static bool text_passes(const struct rule *rule, const char *text)
{
	const char *operand = rule->operand->valuestring;
	size_t len = strlen(operand);
	switch (rule->test) {
	case TEST_EQUALS:
		return (rule->ignore_case ? strcasecmp(text, operand) : strcmp(text, operand)) == 0;
	case TEST_CONTAINS:
		return rule->ignore_case ? strcasestr(text, operand) : strstr(text, operand);
	case TEST_STARTS_WITH:
		return (rule->ignore_case ? strncasecmp(text, operand, len)
					  : strncmp(text, operand, len)) == 0;
	case TEST_MATCHES:
		return regexec(&rule->regex, text, 0, NULL, 0) == 0;
	case TEST_EXISTS:
	case TEST_GT:
	case TEST_GTE:
	case TEST_LT:
	case TEST_LTE:
		break;
	}
	return false;
}

static bool last_text_passes(const struct rule *rule, const ag_state *state)
{
	const cJSON *last = ag_last_message(state);
	if (!last)
		return text_passes(rule, "");
	char *text = ag_message_text(last);
	bool passes = text_passes(rule, text);
	free(text);
	return passes;
}

/* An array has it as an element, an object as a key, a string as a part. */
static bool value_contains(const cJSON *value, const cJSON *wanted)
{
	const cJSON *element;
	const char *text = cJSON_GetStringValue(wanted);
	if (cJSON_IsString(value))
		return text && strstr(value->valuestring, text);
	if (cJSON_IsObject(value))
		return text && json_get(value, text);
	cJSON_ArrayForEach(element, value) {
		if (json_equal(element, wanted))
			return true;
	}
	return false;
}

static bool number_passes(enum rule_test test, const cJSON *value, const cJSON *operand)
{
	double a, b;
	if (!json_number(value, &a) || !json_number(operand, &b))
		return false;
	switch (test) {
	case TEST_GT:
		return a > b;
	case TEST_GTE:
		return a >= b;
	case TEST_LT:
		return a < b;
	case TEST_LTE:
		return a <= b;
	case TEST_EQUALS:
	case TEST_CONTAINS:
	case TEST_STARTS_WITH:
	case TEST_MATCHES:
	case TEST_EXISTS:
		break;
	}
	return false;
}

static bool field_passes(const struct rule *rule, const ag_state *state)
{
	const cJSON *value = document_field(state, rule->field);
	bool exists = value && !cJSON_IsNull(value);
	switch (rule->test) {
	case TEST_EXISTS:
		return exists == (bool)cJSON_IsTrue(rule->operand);
	case TEST_EQUALS:
		return exists ? json_equal(value, rule->operand) : cJSON_IsNull(rule->operand);
	case TEST_CONTAINS:
		return exists && value_contains(value, rule->operand);
	case TEST_GT:
	case TEST_GTE:
	case TEST_LT:
	case TEST_LTE:
		return number_passes(rule->test, value, rule->operand);
	case TEST_STARTS_WITH:
	case TEST_MATCHES:
		break;
	}
	return false;
}

static bool asks_for_tools(const ag_state *state)
{
	const cJSON *last = ag_last_message(state);
	return last && message_has_calls(last);
}

/* Whether as many parts hold as all (or any) need. */
static bool parts_pass(const struct rule *rule, const ag_state *state, bool all)
{
	for (size_t i = 0; i < rule->part_count; i++) {
		if (rule_holds(rule->parts[i], state) != all)
			return !all;
	}
	return all;
}

bool rule_holds(const struct rule *rule, const ag_state *state)
{
	switch (rule->kind) {
	case RULE_NEVER:
		return false;
	case RULE_TOOL_CALLS:
		return asks_for_tools(state) == (bool)cJSON_IsTrue(rule->operand);
	case RULE_USER_TEXT:
		return text_passes(rule, ag_user_text(state));
	case RULE_LAST_TEXT:
		return last_text_passes(rule, state);
	case RULE_FIELD:
		return field_passes(rule, state);
	case RULE_ALL:
		return parts_pass(rule, state, true);
	case RULE_ANY:
		return parts_pass(rule, state, false);
	case RULE_NOT:
		return !rule_holds(rule->parts[0], state);
	}
	return false;
}
