/* SPDX-License-Identifier: ISC */
/*
 * The scan that guards cJSON: one pass over the text, before it is parsed, which decides whether it
 * is JSON at all and notes the numbers that a double would not give back as they were written.
 */
#ifndef AGENTGRAPH_BASE_JSON_JSON_SCAN_H
#define AGENTGRAPH_BASE_JSON_JSON_SCAN_H

#include "base/json/json.h"

/* cJSON parses no deeper (CJSON_NESTING_LIMIT). */
#define JSON_DEPTH_LIMIT 1000

/* cJSON reads a number of at most this many characters. */
#define JSON_CJSON_NUMBER 63

/* A number that has to be kept as text. */
struct json_noted {
	size_t ordinal; /* which of all the numbers of the text, from 0 */
	size_t offset, len;
};

struct json_scan {
	const char *text, *end;
	const char *p; /* next byte; after a fault, near its cause */
	enum json_fault fault;
	unsigned depth, max_depth;
	size_t numbers; /* seen so far */
	size_t values, max_values;
	struct json_noted *noted;
	size_t noted_count;
	bool oversized; /* some number is too long for cJSON */
	char open[JSON_DEPTH_LIMIT];
};

/* Scans the whole text; JSON_OK promises that cJSON accepts it (oversized numbers aside).  The
 * caller releases the scan in either case. */
enum json_fault json_scan(
    struct json_scan *s, const char *text, size_t len, unsigned max_depth, size_t max_values);
void json_scan_release(struct json_scan *s);

/* For people who write JSON by hand: the line, from 1, near the cause of a fault in the text, and
 * in *more (malloc'd, "" when there is none) ": column 7: expected …". */
size_t json_scan_explain(const char *text, size_t len, char **more);

#endif
