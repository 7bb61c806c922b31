/* SPDX-License-Identifier: ISC */
/*
 * Walking over JSON text without a tree of it: for large documents of which little is wanted.
 *
 * The text must have passed json_scan (or come from json_print); nothing is checked again.  What is
 * found is a span of the text, which json_parse turns into a tree.
 */
#ifndef AGENTGRAPH_BASE_JSON_JSON_SKIM_H
#define AGENTGRAPH_BASE_JSON_JSON_SKIM_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* A value's text, without the white space around it; a start of NULL stands for no value. */
struct json_span {
	const char *start;
	size_t len;
};

/* The value of a whole text. */
struct json_span json_skim_text(const char *text, size_t len);

/* By its first byte; false for no value. */
bool json_skim_is_object(struct json_span value);
bool json_skim_is_array(struct json_span value);

/* The value of a member, the last one of that name; none when value is no object or has none.  key
 * is plain ASCII; names that are written with escapes are found too. */
struct json_span json_skim_member(struct json_span value, const char *key);

/*
 * The elements of an array, one after the other: *at starts as all-zero.  False at the end, and for
 * what is no array.
 */
bool json_skim_next(struct json_span array, struct json_span *at);

/* The value as a tree that the caller deletes; NULL for none. */
cJSON *json_skim_parse(struct json_span value);

#endif
