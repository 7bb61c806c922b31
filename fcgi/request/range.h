/* SPDX-License-Identifier: ISC */
/* What a request wants of a file: conditions and ranges (RFC 9110, 13 and 14;
 * doc/protocol-files.md#download). */
#ifndef AGENTGRAPH_FCGI_REQUEST_RANGE_H
#define AGENTGRAPH_FCGI_REQUEST_RANGE_H

#include <stdbool.h>
#include <stdint.h>

enum range_kind {
	RANGE_WHOLE, /* all of it: no range, several, or something that is no range at all */
	RANGE_PART,
	RANGE_OUTSIDE /* none of its bytes */
};

struct range {
	int64_t first, last; /* RANGE_PART, and for RANGE_WHOLE the whole; both inclusive */
};

/* The value of a Range header, "" for none, over a file of size bytes, which is above 0. */
enum range_kind range_parse(const char *header, int64_t size, struct range *range);

/* Whether a list of entity tags, or "*", has this one, weakly compared (If-None-Match). */
bool etag_listed(const char *header, const char *etag);

#define HTTP_DATE_SIZE 30

/* "Sun, 06 Nov 1994 08:49:37 GMT"; returns out. */
char *http_date(int64_t seconds, char out[HTTP_DATE_SIZE]);

/* Unix seconds of such a date; -1 when the text is none. */
int64_t http_date_parse(const char *text);

#endif
