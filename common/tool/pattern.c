/* SPDX-License-Identifier: ISC */
/* A parser that turns a pattern into steps and classes of characters. */
#include "tool/pattern.h"

#include "base/memory.h"
#include "tool/pattern_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES 1000
#define MOST_GROUPS 50
#define LAST_CHARACTER 0x10FFFF
#define MOST_PARTS 10000 /* each part is one step or few */
#define MOST_SPANS 512   /* spans of one class */

/* A pattern while it is read. */
struct reader {
	const char *p;
	struct pattern *pattern;
	size_t parts;
	int groups; /* open ones */
	bool fold;  /* ASCII letters stand for both cases */
	enum pattern_fault fault;
	const char *why;
};

static bool pattern_refuse(struct reader *r, enum pattern_fault fault, const char *why)
{
	if (r->fault == PATTERN_OK) {
		r->fault = fault;
		r->why = why;
	}
	return false;
}

/* ---- Characters */

uint32_t utf8_take(const char **p)
{
	const unsigned char *s = (const unsigned char *)*p;
	if (!*s)
		return 0;
	int more = *s < 0x80 ? 0 : *s < 0xE0 ? 1 : *s < 0xF0 ? 2 : 3;
	uint32_t c = more ? *s & (0x3Fu >> more) : *s;
	*p += 1 + more;
	for (int i = 1; i <= more; i++)
		c = c << 6 | (s[i] & 0x3Fu);
	return c;
}

bool is_word(uint32_t c)
{
	return c < 0x80 && (isalnum((int)c) || c == '_');
}

static bool pattern_take_hex(struct reader *r, size_t digits, uint32_t *c)
{
	char text[9] = "", *end;
	if (strnlen(r->p, digits) < digits)
		return pattern_refuse(r, PATTERN_INVALID, "has an unfinished escape");
	memcpy(text, r->p, digits);
	*c = (uint32_t)strtoul(text, &end, 16);
	if (*end || !isxdigit((unsigned char)*text))
		return pattern_refuse(r, PATTERN_INVALID, "has an escape without its digits");
	r->p += digits;
	return true;
}

/* Takes what stands behind "\u": digits in braces, or four of them, twice where they are
 * surrogates. */
static bool pattern_take_unicode(struct reader *r, uint32_t *c)
{
	uint32_t low;
	if (*r->p == '{') {
		size_t digits = strcspn(++r->p, "}");
		if (digits > 6 || !pattern_take_hex(r, digits, c) || *r->p != '}')
			return pattern_refuse(r, PATTERN_INVALID, "has an unfinished escape");
		r->p++;
		return *c <= LAST_CHARACTER ||
		    pattern_refuse(r, PATTERN_INVALID, "names a character beyond Unicode");
	}
	if (!pattern_take_hex(r, 4, c))
		return false;
	if (*c < 0xD800 || *c > 0xDBFF || r->p[0] != '\\' || r->p[1] != 'u')
		return true;
	r->p += 2;
	if (!pattern_take_hex(r, 4, &low))
		return false;
	*c = 0x10000 + ((*c - 0xD800) << 10) + (low & 0x3FF);
	return true;
}

/* Takes the character that an escape stands for; p is behind the backslash. */
static bool pattern_take_escape(struct reader *r, uint32_t *c)
{
	static const char names[] = "tnvfr", values[] = "\t\n\v\f\r";
	const char *name = *r->p ? strchr(names, *r->p) : NULL;
	if (!*r->p)
		return pattern_refuse(r, PATTERN_INVALID, "ends in a backslash");
	if (name) {
		r->p++;
		*c = (unsigned char)values[name - names];
		return true;
	}
	if (*r->p == 'x' || *r->p == 'u') {
		bool unicode = *r->p++ == 'u';
		return unicode ? pattern_take_unicode(r, c) : pattern_take_hex(r, 2, c);
	}
	if (*r->p == 'c' && isalpha((unsigned char)r->p[1])) {
		*c = r->p[1] & 0x1F;
		r->p += 2;
		return true;
	}
	if (isdigit((unsigned char)*r->p) || *r->p == 'k')
		return pattern_refuse(r, PATTERN_UNKNOWN, "has a back-reference");
	if (*r->p == 'p' || *r->p == 'P')
		return pattern_refuse(r, PATTERN_UNKNOWN, "has a Unicode property");
	if (isalnum((unsigned char)*r->p))
		return pattern_refuse(r, PATTERN_UNKNOWN, "has an escape that is not known");
	*c = utf8_take(&r->p);
	return true;
}

/* ---- Steps */

/* Adds a step at place at, before those that are there. */
static struct step *step_insert(struct reader *r, size_t at, enum step_kind kind)
{
	struct pattern *p = r->pattern;
	p->steps = xgrow(p->steps, p->count, sizeof(*p->steps));
	memmove(&p->steps[at + 1], &p->steps[at], (p->count - at) * sizeof(*p->steps));
	p->count++;
	p->steps[at] = (struct step){.kind = kind};
	return &p->steps[at];
}

static struct step *step_add(struct reader *r, enum step_kind kind)
{
	return step_insert(r, r->pattern->count, kind);
}

/* ---- Classes */

struct draft {
	struct span spans[MOST_SPANS];
	size_t count;
	bool negated;
};

static const struct span digits[] = {{'0', '9'}};
static const struct span words[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
static const struct span spaces[] = {{'\t', '\r'}, {' ', ' '}, {0xA0, 0xA0}, {0x1680, 0x1680},
    {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000},
    {0xFEFF, 0xFEFF}};
static const struct span line_ends[] = {{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool draft_add_span(struct reader *r, struct draft *draft, uint32_t first, uint32_t last)
{
	if (first > last)
		return pattern_refuse(r, PATTERN_INVALID, "has a range that runs backwards");
	if (draft->count == MOST_SPANS)
		return pattern_refuse(r, PATTERN_UNKNOWN, "has a class of too many parts");
	draft->spans[draft->count++] = (struct span){first, last};
	return true;
}

/* Adds the letters from that one on that a span has, in the other case. */
static bool draft_add_folded(struct reader *r, struct draft *draft, struct span span, uint32_t from)
{
	uint32_t to = from + 25, other = from ^ 0x20;
	uint32_t first = span.first > from ? span.first : from;
	uint32_t last = span.last < to ? span.last : to;
	return first > last || draft_add_span(r, draft, first - from + other, last - from + other);
}

static bool draft_add(struct reader *r, struct draft *draft, uint32_t first, uint32_t last)
{
	struct span span = {first, last};
	return draft_add_span(r, draft, first, last) &&
	    (!r->fold ||
		(draft_add_folded(r, draft, span, 'A') && draft_add_folded(r, draft, span, 'a')));
}

/* Adds the characters of a sorted set, or all the others. */
static void draft_add_set(
    struct reader *r, struct draft *draft, const struct span *set, size_t count, bool others)
{
	uint32_t next = 0;
	for (size_t i = 0; i < count; i++) {
		if (others)
			draft_add(r, draft, next, set[i].first - 1);
		else
			draft_add(r, draft, set[i].first, set[i].last);
		next = set[i].last + 1;
	}
	if (others)
		draft_add(r, draft, next, LAST_CHARACTER);
}

/* Whether letter is one of dDwWsS, whose characters then join the class. */
static bool draft_add_named(struct reader *r, struct draft *draft, char letter)
{
	bool others = isupper((unsigned char)letter);
	switch (letter | 0x20) {
	case 'd':
		draft_add_set(r, draft, digits, COUNT(digits), others);
		return true;
	case 'w':
		draft_add_set(r, draft, words, COUNT(words), others);
		return true;
	case 's':
		draft_add_set(r, draft, spaces, COUNT(spaces), others);
		return true;
	default:
		return false;
	}
}

static int span_order(const void *a, const void *b)
{
	uint32_t x = ((const struct span *)a)->first, y = ((const struct span *)b)->first;
	return (x > y) - (x < y);
}

/* Adds a class with a step for it: the draft's spans, or the gaps between them,
 * one more at most. */
static void class_finish(struct reader *r, struct draft *draft)
{
	struct pattern *p = r->pattern;
	uint32_t next = 0;
	size_t kept = 0;
	/* sorted, and joined where they meet */
	qsort(draft->spans, draft->count, sizeof(*draft->spans), span_order);
	for (size_t i = 0; i < draft->count; i++) {
		struct span *last = kept ? &draft->spans[kept - 1] : NULL, span = draft->spans[i];
		if (!last || span.first > last->last + 1)
			draft->spans[kept++] = span;
		else if (span.last > last->last)
			last->last = span.last;
	}
	draft->count = kept;
	p->classes = xgrow(p->classes, p->class_count, sizeof(*p->classes));
	step_add(r, STEP_CLASS)->class = p->class_count;
	struct class *class = &p->classes[p->class_count++];
	*class = (struct class){.spans = xcalloc(draft->count + 1, sizeof(*class->spans))};
	for (size_t i = 0; i < draft->count; i++) {
		struct span span = draft->spans[i];
		if (!draft->negated)
			class->spans[class->count++] = span;
		else if (span.first > next)
			class->spans[class->count++] = (struct span){next, span.first - 1};
		next = span.last + 1;
	}
	if (draft->negated && next <= LAST_CHARACTER)
		class->spans[class->count++] = (struct span){next, LAST_CHARACTER};
}

/* Takes one character of a class, plain or escaped. */
static bool pattern_take_member(struct reader *r, uint32_t *c)
{
	if (!*r->p)
		return pattern_refuse(r, PATTERN_INVALID, "has a class without its end");
	if (*r->p != '\\') {
		*c = utf8_take(&r->p);
		return true;
	}
	r->p++;
	if (*r->p == 'b') {
		r->p++;
		*c = '\b';
		return true;
	}
	return pattern_take_escape(r, c);
}

static void pattern_take_class(struct reader *r)
{
	struct draft draft = {.negated = *r->p == '^'};
	r->p += draft.negated;
	while (*r->p != ']') {
		uint32_t first, last;
		if (*r->p == '\\' && r->p[1] && draft_add_named(r, &draft, r->p[1])) {
			r->p += 2;
			if (r->fault != PATTERN_OK)
				return;
			continue;
		}
		if (!pattern_take_member(r, &first))
			return;
		last = first;
		bool named =
		    r->p[0] == '-' && r->p[1] == '\\' && r->p[2] && strchr("dDwWsS", r->p[2]);
		if (r->p[0] == '-' && r->p[1] && r->p[1] != ']' && !named) {
			r->p++;
			if (!pattern_take_member(r, &last))
				return;
		}
		if (!draft_add(r, &draft, first, last))
			return;
	}
	r->p++;
	class_finish(r, &draft);
}

static void pattern_add_character(struct reader *r, uint32_t c)
{
	struct draft draft = {0};
	draft_add(r, &draft, c, c);
	class_finish(r, &draft);
}

/* ---- Parts and how often they come */

static void pattern_take_alternatives(struct reader *r);

static void pattern_take_outer_escape(struct reader *r)
{
	struct draft draft = {0};
	uint32_t c;
	if (*r->p == 'b' || *r->p == 'B') {
		step_add(r, *r->p++ == 'b' ? STEP_BORDER : STEP_NO_BORDER);
	} else if (*r->p && draft_add_named(r, &draft, *r->p)) {
		r->p++;
		class_finish(r, &draft);
	} else if (pattern_take_escape(r, &c)) {
		pattern_add_character(r, c);
	}
}

/* Skips what may stand behind "(?"; a fault for what is not understood. */
static bool pattern_skip_group_kind(struct reader *r)
{
	if (r->p[1] == ':') {
		r->p += 2;
		return true;
	}
	if (r->p[1] == '=' || r->p[1] == '!' ||
	    (r->p[1] == '<' && (r->p[2] == '=' || r->p[2] == '!')))
		return pattern_refuse(r, PATTERN_UNKNOWN, "looks ahead or behind");
	if (r->p[1] != '<')
		return pattern_refuse(r, PATTERN_UNKNOWN, "has a group of an unknown kind");
	r->p += strcspn(r->p, ">");
	if (!*r->p)
		return pattern_refuse(
		    r, PATTERN_INVALID, "has a group without the end of its name");
	r->p++;
	return true;
}

static void pattern_take_group(struct reader *r)
{
	if (++r->groups > MOST_GROUPS) {
		pattern_refuse(r, PATTERN_UNKNOWN, "has too many groups in each other");
		return;
	}
	if (*r->p == '?' && !pattern_skip_group_kind(r))
		return;
	pattern_take_alternatives(r);
	r->groups--;
	if (r->fault != PATTERN_OK)
		return;
	if (*r->p == ')')
		r->p++;
	else
		pattern_refuse(r, PATTERN_INVALID, "has a group without its end");
}

static void pattern_take_part(struct reader *r)
{
	if (++r->parts > MOST_PARTS) {
		pattern_refuse(r, PATTERN_UNKNOWN, "repeats too often");
		return;
	}
	const char *start = r->p++;
	switch (*start) {
	case '\\':
		pattern_take_outer_escape(r);
		break;
	case '[':
		pattern_take_class(r);
		break;
	case '(':
		pattern_take_group(r);
		break;
	case '.': {
		struct draft others = {.negated = true};
		draft_add_set(r, &others, line_ends, COUNT(line_ends), false);
		class_finish(r, &others);
		break;
	}
	case '^':
		step_add(r, STEP_BEGIN);
		break;
	case '$':
		step_add(r, STEP_END);
		break;
	case '*':
	case '+':
	case '?':
		pattern_refuse(r, PATTERN_INVALID, "repeats nothing");
		break;
	default:
		r->p = start;
		pattern_add_character(r, utf8_take(&r->p));
	}
}

/* Bytes of "{n}", "{n,}" or "{n,m}" at p; 0 when it is no count. */
static size_t pattern_count_length(const char *p)
{
	size_t len = *p == '{' ? strspn(p + 1, "0123456789") : 0;
	if (len == 0)
		return 0;
	len++;
	if (p[len] == ',')
		len += 1 + strspn(p + len + 1, "0123456789");
	return p[len] == '}' ? len + 1 : 0;
}

#define NO_LIMIT UINT32_MAX

static uint32_t pattern_count_number(const char *p)
{
	unsigned long number = strtoul(p, NULL, 10);
	return number > MOST_PARTS ? MOST_PARTS + 1 : (uint32_t)number;
}

/* Reads a quantifier; false when there is none. */
static bool pattern_take_quantifier(struct reader *r, uint32_t *least, uint32_t *most)
{
	size_t len = pattern_count_length(r->p);
	if (len > 0) {
		const char *comma = memchr(r->p, ',', len);
		*least = *most = pattern_count_number(r->p + 1);
		if (comma)
			*most = comma[1] == '}' ? NO_LIMIT : pattern_count_number(comma + 1);
		if (*most < *least)
			pattern_refuse(r, PATTERN_INVALID, "has a count that runs backwards");
	} else if (*r->p && strchr("*+?", *r->p)) {
		len = 1;
		*least = *r->p == '+';
		*most = *r->p == '?' ? 1 : NO_LIMIT;
	}
	r->p += len;
	if (len > 0 && *r->p == '?')
		r->p++; /* a lazy quantifier finds the same */
	return len > 0;
}

static void pattern_again(struct reader *r, const char *part)
{
	r->p = part;
	pattern_take_part(r);
}

/* Adds the part at most that many times, or any number of times; each time it may be left out. */
static void pattern_add_optional(struct reader *r, const char *part, uint32_t times)
{
	struct pattern *p = r->pattern;
	size_t first = p->count;
	uint32_t i = 0;
	do {
		size_t at = p->count;
		step_add(r, STEP_SPLIT)->to = 1;
		pattern_again(r, part);
		size_t end = p->count;
		if (times == NO_LIMIT)
			step_add(r, STEP_JUMP)->to = (int32_t)at - (int32_t)end;
		p->steps[at].or_to = -1; /* set below: behind all of them */
	} while (times != NO_LIMIT && ++i < times && r->fault == PATTERN_OK);
	for (size_t at = first; at < p->count; at++) {
		if (p->steps[at].kind == STEP_SPLIT && p->steps[at].or_to == -1)
			p->steps[at].or_to = (int32_t)(p->count - at);
	}
}

/* Takes a part with its quantifier.  Steps that are taken back leave classes behind that nothing
 * names. */
static void pattern_take_quantified(struct reader *r)
{
	const char *part = r->p;
	size_t start = r->pattern->count;
	uint32_t least, most;
	pattern_take_part(r);
	if (r->fault != PATTERN_OK || !pattern_take_quantifier(r, &least, &most))
		return;
	const char *end = r->p;
	r->pattern->count = start;
	for (uint32_t i = 0; i < least && r->fault == PATTERN_OK; i++)
		pattern_again(r, part);
	if (most > least && r->fault == PATTERN_OK)
		pattern_add_optional(r, part, most == NO_LIMIT ? most : most - least);
	if (r->fault == PATTERN_OK)
		r->p = end;
}

static void pattern_take_alternatives(struct reader *r)
{
	struct pattern *p = r->pattern;
	size_t start = p->count;
	while (r->fault == PATTERN_OK && *r->p && *r->p != '|' && *r->p != ')')
		pattern_take_quantified(r);
	if (r->fault != PATTERN_OK || *r->p != '|')
		return;
	r->p++;
	struct step *split = step_insert(r, start, STEP_SPLIT);
	split->to = 1;
	split->or_to = (int32_t)(p->count - start) + 1;
	size_t jump = p->count;
	step_add(r, STEP_JUMP);
	pattern_take_alternatives(r);
	p->steps[jump].to = (int32_t)(p->count - jump);
}

struct pattern *pattern_read(
    const char *text, bool fold, enum pattern_fault *fault, const char **why)
{
	struct reader r = {.p = text, .fold = fold, .pattern = xcalloc(1, sizeof(*r.pattern))};
	if (strlen(text) > MOST_BYTES)
		pattern_refuse(&r, PATTERN_UNKNOWN, "is too long");
	pattern_take_alternatives(&r);
	if (*r.p == ')')
		pattern_refuse(&r, PATTERN_INVALID, "closes a group that is not open");
	step_add(&r, STEP_DONE);
	*fault = r.fault;
	*why = r.why;
	if (r.fault == PATTERN_OK)
		return r.pattern;
	pattern_free(r.pattern);
	return NULL;
}

struct pattern *pattern_compile(const char *text, enum pattern_fault *fault, const char **why)
{
	return pattern_read(text, false, fault, why);
}

void pattern_free(struct pattern *pattern)
{
	if (!pattern)
		return;
	for (size_t i = 0; i < pattern->class_count; i++)
		free(pattern->classes[i].spans);
	free(pattern->classes);
	free(pattern->steps);
	free(pattern);
}
