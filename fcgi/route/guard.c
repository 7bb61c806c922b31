/* SPDX-License-Identifier: ISC */
/* The routes that may stand without a permission, and the complaint about others. */
#include "fcgi/route/route.h"

#include "base/buf.h"
#include "base/texts.h"

bool guard_check(const struct route_table *table, struct problems *problems)
{
	static const char *const public_paths[] = {"/ping", "/.well-known/oauth-protected-resource",
	    "/.well-known/agent-card.json", "/.well-known/agent.json", "/lg/ok", "/lg/info",
	    "/v1/evals/runs", "/v1/evals/runs/{run_id}", NULL};
	struct buf open = {0};
	for (size_t i = 0; i < table->count; i++) {
		const struct route *row = &table->rows[i];
		if ((row->resource && row->action) || texts_has(public_paths, row->path) ||
		    (row->flags & ROUTE_INFRASTRUCTURE))
			continue;
		buf_printf(
		    &open, "%s%s %s", open.len ? ", " : "", method_name(row->method), row->path);
	}
	bool closed = open.len == 0;
	if (!closed)
		problems_add(problems,
		    "Refusing to start: the following routes are not protected by a permission "
		    "guard: %s",
		    open.data);
	buf_release(&open);
	return closed;
}
