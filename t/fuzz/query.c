/* SPDX-License-Identifier: ISC */
/* Query strings: whatever the bytes, each value is text, absent, or a mistake that is named. */
#include "fcgi/request/query.h"
#include "base/json/json.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	struct error err = {0};
	struct query_field fields[] = {{"search", true, NULL}, {"limit", false, NULL}};
	char *text = strndup((const char *)data, size);
	bool ok = query_read(arena, text, fields, 2, &err);
	require(ok != error_is_set(&err));
	for (size_t i = 0; ok && i < 2; i++)
		require(!fields[i].value ||
		    (*fields[i].value && utf8_valid(fields[i].value, strlen(fields[i].value))));
	error_release(&err);
	struct query_member members[3];
	size_t count = 3;
	ok = query_members(arena, text, "metadata", members, &count, &err);
	require(ok != error_is_set(&err));
	require(count <= 3);
	for (size_t i = 0; ok && i < count; i++) {
		require(utf8_valid(members[i].name, strlen(members[i].name)));
		require(
		    *members[i].value && utf8_valid(members[i].value, strlen(members[i].value)));
	}
	free(text);
	error_release(&err);
	arena_free(arena);
	return 0;
}
