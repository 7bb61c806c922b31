/* SPDX-License-Identifier: ISC */
/* Checking offset and limit, and cutting the limit to its largest value. */
#include "service/thread/page.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_LIMIT 100
#define MOST 1000

/* Reads an integer from text, if that is not NULL; one beyond 64 bits becomes the largest. */
static void page_read_member(struct call *call, const char *name, const char *text, int64_t *value)
{
	if (!text)
		return;
	size_t sign = *text == '-' || *text == '+';
	size_t digits = strspn(text + sign, "0123456789");
	if (digits && !text[sign + digits])
		*value = strtoll(text, NULL, 10);
	else
		error_wrong(&call->error, arena_printf(call->arena, "query.%s", name), "type_error",
		    "must be an integer");
}

bool page_read(struct call *call, const struct list_query *query, struct page *page)
{
	*page = (struct page){.search = query->search, .limit = DEFAULT_LIMIT};
	page_read_member(call, "offset", query->offset, &page->offset);
	page_read_member(call, "limit", query->limit, &page->limit);
	if (page->limit <= 0)
		error_wrong(&call->error, "query.limit", "value_error", "must be > 0");
	if (page->offset < 0)
		error_wrong(&call->error, "query.offset", "value_error", "must be >= 0");
	if (page->limit > MOST)
		page->limit = MOST;
	return !error_is_set(&call->error);
}
