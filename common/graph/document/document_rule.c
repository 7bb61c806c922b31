/* SPDX-License-Identifier: ISC */
/* The rules of conditional edges. */
#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "graph/document/document.h"
#include "graph/message/message.h"
#include "tool/pattern.h"

#include <regex.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What a rule looks at; the key that says so is in kinds. */
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
	struct pattern *pattern; /* of TEST_MATCHES; NULL: the regex has what that does not know */
	bool has_regex;
	regex_t regex;
	struct rule **parts; /* of all, any, not */
	size_t part_count;
};

static const struct choice kinds[] = {{"tool_calls", RULE_TOOL_CALLS},
    {"user_text", RULE_USER_TEXT}, {"last_text", RULE_LAST_TEXT}, {"field", RULE_FIELD},
    {"all", RULE_ALL}, {"any", RULE_ANY}, {"not", RULE_NOT}, {NULL, 0}};

static const struct choice text_tests[] = {{"equals", TEST_EQUALS}, {"contains", TEST_CONTAINS},
    {"starts_with", TEST_STARTS_WITH}, {"matches", TEST_MATCHES}, {NULL, 0}};

static const struct choice field_tests[] = {{"equals", TEST_EQUALS}, {"contains", TEST_CONTAINS},
    {"exists", TEST_EXISTS}, {"gt", TEST_GT}, {"gte", TEST_GTE}, {"lt", TEST_LT}, {"lte", TEST_LTE},
    {NULL, 0}};

/* ---- Reading */

/* The only word that is a key of item; NULL after a report when there is none, or more than one. */
static const struct choice *rule_only_word(
    struct document *d, const struct place *at, const cJSON *item, const struct choice *words)
{
	const struct choice *found = NULL;
	size_t count = 0;
	for (const struct choice *word = words; word->name; word++) {
		if (json_get(item, word->name)) {
			found = word;
			count++;
		}
	}
	if (count == 1)
		return found;
	struct buf known = {0};
	choices_say(words, &known);
	document_problem(d, at, "expected exactly one of %s", buf_str(&known));
	buf_release(&known);
	return NULL;
}

#define OPERAND(name, type) FIELD_AT(name, rule, operand, .kind = &field_json, .types = type)
DOCUMENT_SHAPE(text_rule, OPERAND("equals", TYPE_STRING), OPERAND("contains", TYPE_STRING),
    OPERAND("starts_with", TYPE_STRING), OPERAND("matches", TYPE_STRING),
    FIELD(rule, ignore_case, .kind = &field_bool));

static enum field_fault rule_take_text(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	const struct document_spot *spot = reader->where;
	const struct place *at = PLACE_KEY(spot->at, f->key);
	struct rule *rule = slot;
	document_read(spot->document, at, value, &shape_text_rule, rule);
	const struct choice *test = rule_only_word(spot->document, at, value, text_tests);
	if (!test || !rule->operand)
		return FIELD_TOLD;
	rule->test = (enum rule_test)test->value;
	if (rule->test != TEST_MATCHES)
		return FIELD_FITS;
	const char *why;
	char message[256];
	int flags = REG_EXTENDED | REG_NOSUB | (rule->ignore_case ? REG_ICASE : 0);
	int code = regcomp(&rule->regex, rule->operand->valuestring, flags);
	rule->has_regex = code == 0;
	if (code != 0) {
		regerror(code, &rule->regex, message, sizeof(message));
		document_problem(spot->document, PLACE_KEY(at, test->name),
		    "expected a POSIX extended regular expression: %s", message);
		return FIELD_TOLD;
	}
	/* regexec takes quadratic time, and texts come from clients */
	rule->pattern = pattern_compile_posix(rule->operand->valuestring, rule->ignore_case, &why);
	if (!rule->pattern)
		document_warning(spot->document, PLACE_KEY(at, test->name),
		    "this expression %s: long texts can take it very long", why);
	return FIELD_FITS;
}

static void rule_add_part(struct rule *rule, struct rule *part)
{
	rule->parts = xrealloc(rule->parts, (rule->part_count + 1) * sizeof(struct rule *));
	rule->parts[rule->part_count++] = part;
}

/* A rule, or an array of them. */
static enum field_fault rule_take_parts(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	const struct document_spot *spot = reader->where;
	const struct place *at = PLACE_KEY(spot->at, f->key);
	const cJSON *item;
	size_t i = 0;
	if (cJSON_IsObject(value)) {
		rule_add_part(slot, document_rule(spot->document, at, value));
		return FIELD_FITS;
	}
	if (!value->child)
		document_problem(spot->document, at, "expected at least one rule");
	cJSON_ArrayForEach(item, value) {
		rule_add_part(slot, document_rule(spot->document, PLACE_INDEX(at, i), item));
		i++;
	}
	return FIELD_FITS;
}

static const struct field_kind kind_text = {.types = TYPE_OBJECT, .take = rule_take_text};
static const struct field_kind kind_parts = {.take = rule_take_parts};

/* A key whose slot is the rule. */
#define WHOLE(name, ...)                                \
	{                                               \
		.key = (name), .offset = 0, __VA_ARGS__ \
	}

DOCUMENT_SHAPE(rule, OPERAND("tool_calls", TYPE_BOOLEAN), WHOLE("user_text", .kind = &kind_text),
    WHOLE("last_text", .kind = &kind_text), FIELD(rule, field, .kind = &field_text),
    OPERAND("equals", TYPE_ANY), OPERAND("exists", TYPE_BOOLEAN), OPERAND("contains", TYPE_ANY),
    OPERAND("gt", TYPE_NUMBER), OPERAND("gte", TYPE_NUMBER), OPERAND("lt", TYPE_NUMBER),
    OPERAND("lte", TYPE_NUMBER), WHOLE("all", .kind = &kind_parts, .types = TYPE_ARRAY),
    WHOLE("any", .kind = &kind_parts, .types = TYPE_ARRAY),
    WHOLE("not", .kind = &kind_parts, .types = TYPE_OBJECT));

struct rule *document_rule(struct document *d, const struct place *at, const cJSON *item)
{
	struct rule *rule = xcalloc(1, sizeof(*rule));
	if (!document_read(d, at, item, &shape_rule, rule))
		return rule;
	const struct choice *kind = rule_only_word(d, at, item, kinds), *test = NULL;
	if (!kind)
		return rule;
	rule->kind = (enum rule_kind)kind->value;
	if (rule->kind == RULE_FIELD) {
		if (rule->field && !document_field_known(d, rule->field))
			document_problem(
			    d, PLACE_KEY(at, "field"), "there is no state field '%s'", rule->field);
		test = rule_only_word(d, at, item, field_tests);
		rule->test = test ? (enum rule_test)test->value : rule->test;
		return rule;
	}
	for (test = field_tests; test->name; test++) {
		if (json_get(item, test->name))
			document_problem(d, PLACE_KEY(at, test->name),
			    "expected only beside 'field', not beside '%s'", kind->name);
	}
	return rule;
}

void rule_free(struct rule *rule)
{
	if (!rule)
		return;
	for (size_t i = 0; i < rule->part_count; i++)
		rule_free(rule->parts[i]);
	free(rule->parts);
	pattern_free(rule->pattern);
	if (rule->has_regex)
		regfree(&rule->regex);
	free(rule);
}

/* ---- Deciding */

static bool rule_text_passes(const struct rule *rule, const char *text)
{
	const char *operand = rule->operand->valuestring;
	size_t len = strlen(operand), budget = SIZE_MAX;
	switch (rule->test) {
	case TEST_EQUALS:
		return (rule->ignore_case ? strcasecmp(text, operand) : strcmp(text, operand)) == 0;
	case TEST_CONTAINS:
		return rule->ignore_case ? strcasestr(text, operand) : strstr(text, operand);
	case TEST_STARTS_WITH:
		return (rule->ignore_case ? strncasecmp(text, operand, len)
					  : strncmp(text, operand, len)) == 0;
	case TEST_MATCHES:
		return rule->pattern ? pattern_matches(rule->pattern, text, &budget)
				     : regexec(&rule->regex, text, 0, NULL, 0) == 0;
	case TEST_EXISTS:
	case TEST_GT:
	case TEST_GTE:
	case TEST_LT:
	case TEST_LTE:
		break;
	}
	return false;
}

/* An array has it as an element, an object as a key, a string as a part. */
static bool rule_value_contains(const cJSON *value, const cJSON *wanted)
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

static bool rule_field_passes(const struct rule *rule, const ag_state *state)
{
	const cJSON *value = document_field(state, rule->field);
	bool exists = value && !cJSON_IsNull(value);
	double a = 0, b = 0;
	bool numbers = json_number(value, &a) && json_number(rule->operand, &b);
	switch (rule->test) {
	case TEST_EXISTS:
		return exists == (bool)cJSON_IsTrue(rule->operand);
	case TEST_EQUALS:
		return exists ? json_equal(value, rule->operand) : cJSON_IsNull(rule->operand);
	case TEST_CONTAINS:
		return exists && rule_value_contains(value, rule->operand);
	case TEST_GT:
		return numbers && a > b;
	case TEST_GTE:
		return numbers && a >= b;
	case TEST_LT:
		return numbers && a < b;
	case TEST_LTE:
		return numbers && a <= b;
	case TEST_STARTS_WITH:
	case TEST_MATCHES:
		break;
	}
	return false;
}

/* Whether as many parts hold as all (or any) need. */
static bool rule_parts_pass(const struct rule *rule, const ag_state *state, bool all)
{
	for (size_t i = 0; i < rule->part_count; i++) {
		if (rule_holds(rule->parts[i], state) != all)
			return !all;
	}
	return all;
}

bool rule_holds(const struct rule *rule, const ag_state *state)
{
	const cJSON *last;
	char *text;
	bool passes;
	switch (rule->kind) {
	case RULE_NEVER:
		return false;
	case RULE_TOOL_CALLS:
		last = ag_last_message(state);
		return (last && message_has_calls(last)) == (bool)cJSON_IsTrue(rule->operand);
	case RULE_USER_TEXT:
		return rule_text_passes(rule, ag_user_text(state));
	case RULE_LAST_TEXT:
		text = ag_message_text(ag_last_message(state)); /* "" where there is none */
		passes = rule_text_passes(rule, text);
		free(text);
		return passes;
	case RULE_FIELD:
		return rule_field_passes(rule, state);
	case RULE_ALL:
		return rule_parts_pass(rule, state, true);
	case RULE_ANY:
		return rule_parts_pass(rule, state, false);
	case RULE_NOT:
		return !rule_holds(rule->parts[0], state);
	}
	return false;
}
