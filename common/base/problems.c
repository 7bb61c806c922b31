/* SPDX-License-Identifier: ISC */
/* Adding problems and warnings to the list, printing and freeing it. */
#include "base/problems.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>

/* Takes text over.  Parts of it may have been cut within a character. */
static void problems_append(struct problems *p, char *text, bool warning)
{
	utf8_repair(text);
	p->items = xrealloc(p->items, (p->count + 1) * sizeof(*p->items));
	p->items[p->count++] = (struct problem){.text = text, .warning = warning};
	p->errors += !warning;
}

void problems_add(struct problems *p, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	problems_append(p, xvasprintf(fmt, args), false);
	va_end(args);
}

void problems_warn(struct problems *p, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	problems_append(p, xvasprintf(fmt, args), true);
	va_end(args);
}

void problems_release(struct problems *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->items[i].text);
	free(p->items);
	*p = (struct problems){0};
}

void problems_print_errors(const struct problems *p, const char *who)
{
	for (size_t i = 0; i < p->count; i++)
		if (!p->items[i].warning)
			fprintf(stderr, "%s: %s\n", who, p->items[i].text);
}
