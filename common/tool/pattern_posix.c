/* SPDX-License-Identifier: ISC */
/* POSIX extended regular expressions, written anew in the language of pattern.c. */
#include "base/buf.h"
#include "tool/pattern_internal.h"

#include <ctype.h>
#include <string.h>

#define MOST_OPEN 50

/* An expression while it is written anew.  regcomp has taken it, so it is whole. */
struct posix {
	const char *p;
	struct buf out;
	size_t atom;            /* where in out the part begins that a quantifier would repeat */
	bool quantified;        /* it has one already */
	size_t open[MOST_OPEN]; /* where the groups begin that are not closed */
	size_t depth;
	const char *why; /* what is not understood, or NULL */
};

static const struct {
	const char *name, *members;
} names[] = {{"alpha", "a-zA-Z"}, {"digit", "0-9"}, {"alnum", "a-zA-Z0-9"}, {"upper", "A-Z"},
    {"lower", "a-z"}, {"space", "\\t-\\r "}, {"blank", "\\t "}, {"xdigit", "0-9A-Fa-f"},
    {"punct", "!-\\/:-@\\[-`{-~"}, {"print", " -~"}, {"graph", "!-~"},
    {"cntrl", "\\x01-\\x1f\\x7f"}};

/* Takes one character, which then stands for itself.  In brackets a backslash does, too. */
static void posix_take_character(struct posix *x)
{
	const char *start = x->p;
	if (ispunct((unsigned char)*start))
		buf_putc(&x->out, '\\');
	utf8_take(&x->p);
	buf_add(&x->out, start, (size_t)(x->p - start));
}

/* Takes "[:name:]". */
static void posix_take_name(struct posix *x)
{
	const char *name = x->p + 2;
	size_t len = strcspn(name, ":");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i].name) == len && memcmp(names[i].name, name, len) == 0)
			buf_puts(&x->out, names[i].members);
	x->p = name + len + 2;
}

/* Takes an end of a range, or a character of its own. */
static void posix_take_member(struct posix *x)
{
	if (x->p[0] == '[' && (x->p[1] == '=' || x->p[1] == '.'))
		x->why = "names a collating element";
	posix_take_character(x);
}

/* Takes what stands behind "[". */
static void posix_take_brackets(struct posix *x)
{
	buf_putc(&x->out, '[');
	if (*x->p == '^')
		buf_putc(&x->out, *x->p++);
	for (bool first = true; *x->p && (first || *x->p != ']') && !x->why; first = false) {
		if (x->p[0] == '[' && x->p[1] == ':') {
			posix_take_name(x);
			continue;
		}
		posix_take_member(x);
		if (x->p[0] == '-' && x->p[1] != ']' && !x->why) {
			buf_putc(&x->out, *x->p++);
			posix_take_member(x);
		}
	}
	x->p += *x->p == ']';
	buf_putc(&x->out, ']');
}

/* Takes what stands behind a backslash. */
static void posix_take_escape(struct posix *x)
{
	if (isdigit((unsigned char)*x->p))
		x->why = "has a back-reference";
	else if (strchr("<>`'", *x->p))
		x->why = "has an anchor that POSIX does not know";
	else if (strchr("wWsSbB", *x->p))
		buf_printf(&x->out, "\\%c", *x->p++);
	else
		posix_take_character(x);
}

static void posix_take_quantifier(struct posix *x)
{
	size_t len = *x->p == '{' ? strcspn(x->p, "}") + 1 : 1;
	if (*x->p == '{' && strspn(x->p + 1, "0123456789,") != len - 2)
		x->why = "has a count with an escape"; /* which regcomp takes */
	if (x->quantified) { /* this one repeats the whole, which becomes a group of its own */
		struct buf atom = {0};
		buf_puts(&atom, buf_str(&x->out) + x->atom);
		x->out.len = x->atom;
		buf_printf(&x->out, "(?:%s)", buf_str(&atom));
		buf_release(&atom);
	}
	x->quantified = true;
	if (x->p[0] == '{' && x->p[1] == ',') {
		buf_puts(&x->out, "{0");
		x->p++, len--;
	}
	buf_add(&x->out, x->p, len);
	x->p += len;
}

static void posix_take_group(struct posix *x)
{
	if (x->depth == MOST_OPEN) {
		x->why = "has too many groups in each other";
		return;
	}
	x->open[x->depth++] = x->out.len;
	buf_putc(&x->out, *x->p++);
}

static void posix_take_part(struct posix *x)
{
	size_t start = x->out.len;
	if (*x->p && strchr("*+?{", *x->p)) {
		posix_take_quantifier(x);
		return;
	}
	x->quantified = false;
	if (*x->p == '(') {
		posix_take_group(x);
	} else if (*x->p == ')' && x->depth) {
		start = x->open[--x->depth];
		buf_putc(&x->out, *x->p++);
	} else if (*x->p == '[') {
		x->p++;
		posix_take_brackets(x);
	} else if (*x->p == '\\') {
		x->p++;
		posix_take_escape(x);
	} else if (*x->p == '.') {
		buf_puts(&x->out, "[^]");
		x->p++;
	} else if (strchr("|^$", *x->p)) {
		buf_putc(&x->out, *x->p++);
	} else {
		posix_take_character(x);
	}
	x->atom = start;
}

struct pattern *pattern_compile_posix(const char *text, bool ignore_case, const char **why)
{
	struct posix x = {.p = text};
	enum pattern_fault fault;
	struct pattern *pattern = NULL;
	while (*x.p && !x.why)
		posix_take_part(&x);
	*why = x.why;
	if (!x.why)
		pattern = pattern_read(buf_str(&x.out), ignore_case, &fault, why);
	buf_release(&x.out);
	return pattern;
}
