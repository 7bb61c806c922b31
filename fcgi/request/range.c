/* SPDX-License-Identifier: ISC */
/* Parsing ranges, entity tags and HTTP dates. */
#include "fcgi/request/range.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define BLANKS " \t"
#define DIGITS "0123456789"
#define DIGITS_MAX 18 /* always fit 63 bits */

/* Takes the number at *text; one that does not fit counts as the largest.  -1 when there is
 * none. */
static int64_t range_take_number(const char **text)
{
	size_t digits = strspn(*text, DIGITS);
	int64_t value = digits > DIGITS_MAX ? INT64_MAX : 0;
	if (digits == 0)
		return -1;
	for (size_t i = 0; i < digits && digits <= DIGITS_MAX; i++)
		value = value * 10 + ((*text)[i] - '0');
	*text += digits;
	return value;
}

static enum range_kind range_fit(int64_t first, int64_t last, int64_t size, struct range *range)
{
	if (first < 0) { /* the last bytes */
		if (last == 0)
			return RANGE_OUTSIDE;
		range->first = last < size ? size - last : 0;
		return RANGE_PART;
	}
	if (first >= size)
		return RANGE_OUTSIDE;
	range->first = first;
	if (last >= 0 && last < size)
		range->last = last;
	return RANGE_PART;
}

enum range_kind range_parse(const char *header, int64_t size, struct range *range)
{
	int64_t first = 0, last = 0;
	int count = 0;
	*range = (struct range){0, size - 1};
	if (strncasecmp(header, "bytes=", 6) != 0)
		return RANGE_WHOLE;
	header += 6 + strspn(header + 6, BLANKS ",");
	for (; *header; count++) {
		/* "first-last", "first-" or "-length"; a number that is not there is -1 */
		first = range_take_number(&header);
		if (*header++ != '-')
			return RANGE_WHOLE;
		last = range_take_number(&header);
		header += strspn(header, BLANKS);
		if (first < 0 ? last < 0 : last >= 0 && last < first)
			return RANGE_WHOLE;
		if (*header && *header != ',')
			return RANGE_WHOLE;
		header += strspn(header, BLANKS ",");
	}
	return count == 1 ? range_fit(first, last, size, range) : RANGE_WHOLE;
}

bool etag_listed(const char *header, const char *etag)
{
	size_t len = strlen(etag);
	header += strspn(header, BLANKS);
	if (strcmp(header, "*") == 0)
		return true;
	while (*header) {
		header += strspn(header, BLANKS ",");
		if (strncmp(header, "W/", 2) == 0)
			header += 2;
		const char *end = *header == '"' ? strchr(header + 1, '"') : NULL;
		if (!end)
			return false;
		if ((size_t)(end + 1 - header) == len && memcmp(header, etag, len) == 0)
			return true;
		header = end + 1;
	}
	return false;
}

static const char days[] = "SunMonTueWedThuFriSat";
static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

char *http_date(int64_t seconds, char out[HTTP_DATE_SIZE])
{
	time_t time = (time_t)seconds;
	struct tm tm;
	gmtime_r(&time, &tm);
	snprintf(out, HTTP_DATE_SIZE, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
	    days + 3 * tm.tm_wday, tm.tm_mday, months + 3 * tm.tm_mon, tm.tm_year + 1900,
	    tm.tm_hour, tm.tm_min, tm.tm_sec);
	return out;
}

int64_t http_date_parse(const char *text)
{
	char month[4], out[HTTP_DATE_SIZE];
	struct tm tm = {0};
	if (strlen(text) != HTTP_DATE_SIZE - 1 ||
	    sscanf(text + 5, "%2d %3s %4d %2d:%2d:%2d", &tm.tm_mday, month, &tm.tm_year,
		&tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6)
		return -1;
	const char *found = strstr(months, month);
	if (!found || (found - months) % 3 != 0)
		return -1;
	tm.tm_mon = (int)((found - months) / 3);
	tm.tm_year -= 1900;
	int64_t seconds = timegm(&tm);
	return strcmp(http_date(seconds, out), text) == 0 ? seconds : -1;
}
