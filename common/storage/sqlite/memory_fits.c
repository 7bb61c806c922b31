/* SPDX-License-Identifier: ISC */
/* memory_fits(metadata, filters), on JSON texts: conditions on memories in SQL. */
#include "base/json/json.h"
#include "storage/memory_filter.h"
#include "storage/sqlite/sqlite_db.h"

static cJSON *memory_fits_parse(sqlite3_value *value)
{
	const char *text = (const char *)sqlite3_value_text(value);
	return text ? json_parse(text, (size_t)sqlite3_value_bytes(value), JSON_TRUSTED_DEPTH, NULL)
		    : NULL;
}

static void memory_fits_delete(void *tree)
{
	cJSON_Delete(tree);
}

/* The filters are the same in every row, so they are parsed once for a statement. */
static void memory_fits(sqlite3_context *context, int count, sqlite3_value **values)
{
	cJSON *filters = sqlite3_get_auxdata(context, 1), *made = NULL;
	(void)count;
	if (!filters)
		filters = made = memory_fits_parse(values[1]);
	cJSON *metadata = memory_fits_parse(values[0]);
	sqlite3_result_int(context, metadata && filters && memory_filter_fits(metadata, filters));
	cJSON_Delete(metadata);
	if (made)
		sqlite3_set_auxdata(context, 1, made, memory_fits_delete);
}

void sqlite_memory_fits_add(sqlite3 *handle)
{
	sqlite3_create_function(handle, "memory_fits", 2,
	    SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL, memory_fits, NULL, NULL);
}
