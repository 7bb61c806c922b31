/* SPDX-License-Identifier: ISC */
/* Headers about parts and versions of files: the input is a line each for Range, If-None-Match and
 * If-Modified-Since.  A part lies inside the file, and a date prints as it was read. */
#include "fcgi/request/range.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

static void check_range(const char *header, int64_t size)
{
	struct range range;
	enum range_kind kind = range_parse(header, size, &range);
	if (kind == RANGE_WHOLE)
		require(range.first == 0 && range.last == size - 1);
	if (kind == RANGE_PART)
		require(range.first >= 0 && range.first <= range.last && range.last < size);
}

static void check_date(const char *text)
{
	char out[HTTP_DATE_SIZE];
	int64_t seconds = http_date_parse(text);
	if (seconds != -1)
		require(strcmp(http_date(seconds, out), text) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int64_t sizes[] = {1, 10, 4096, INT64_MAX};
	char *text = strndup((const char *)data, size), *rest = text;
	char *range = strsep(&rest, "\n"), *tags = strsep(&rest, "\n"), *date = rest;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		check_range(range, sizes[i]);
	if (tags && etag_listed(tags, "\"1\""))
		require(strchr(tags, '*') || strstr(tags, "\"1\""));
	if (date)
		check_date(date);
	free(text);
	return 0;
}
