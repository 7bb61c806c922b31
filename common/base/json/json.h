/* SPDX-License-Identifier: ISC */
/*
 * JSON as this service needs it, over cJSON.
 *
 * cJSON alone loses large integers, accepts invalid UTF-8 and cuts strings at U+0000.  json_parse
 * guards it with one scan before parsing, so every tree that went through here holds only valid
 * UTF-8 without U+0000, objects whose keys occur once (of duplicates the last one stays), and
 * numbers that print as they came: those that a double would change are cJSON_Raw items with their
 * own text.  Read numbers only through json_number and json_integer.
 */
#ifndef AGENTGRAPH_BASE_JSON_JSON_H
#define AGENTGRAPH_BASE_JSON_JSON_H

#include "base/buf.h"
#include "base/utf8.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_REQUEST_DEPTH 100 /* doc/protocol.md#request-bodies */
#define JSON_TRUSTED_DEPTH 400 /* what we wrote ourselves may wrap client values */

enum json_fault {
	JSON_OK,
	JSON_INVALID,  /* not JSON or not UTF-8 */
	JSON_TOO_DEEP, /* more than max_depth levels */
	JSON_NUL,      /* U+0000 in a string */
	JSON_HALF,     /* half of a surrogate pair in a string: a character that was cut */
	JSON_MANY,     /* more values than json_parse_within may make */
	JSON_RANGE     /* a number no double can hold, e.g. 1e400 */
};

/* The fixed end of "Request body …": a sentence part for a fault, e.g. "must be valid JSON". */
const char *json_fault_text(enum json_fault fault);

/*
 * Parses len bytes (leading and trailing white space allowed, nothing else after the value).
 * Returns a tree that the caller deletes, or NULL with *fault set (fault may be NULL).  A scalar at
 * the top is a value too.
 */
cJSON *json_parse(const char *text, size_t len, unsigned max_depth, enum json_fault *fault);

/*
 * The same for a text of a client: a tree takes some 80 bytes a value, of which two bytes of text
 * can be one.  *values is how many may come, and is lowered by those that the text has.
 */
cJSON *json_parse_within(
    const char *text, size_t len, unsigned max_depth, size_t *values, enum json_fault *fault);

/* What a client may send in all, for each value that may be in it. */
#define JSON_BYTES_A_VALUE 8

/* The same for a text that the service has written itself; NULL for NULL. */
cJSON *json_parse_own(const char *text);

/* The same for the output of a program that may cut its texts anywhere: bytes that are no UTF-8,
 * U+0000 and halves of surrogate pairs, which json_parse refuses, become U+FFFD. */
cJSON *json_parse_mended(const char *text, size_t len, unsigned max_depth);

/*
 * Turns a tree that somebody else has built with cJSON (taken over and returned) into one that
 * json_parse could have made: bytes that are no UTF-8 become U+FFFD, of equal keys the last one
 * stays, infinities and NaN become null, raw items become the values that they spell (null where
 * that is no JSON), and references become copies.  NULL stays NULL.  Does not check the depth.
 */
cJSON *json_adopt(cJSON *built);

/*
 * For files that people write: the path of the first key that occurs twice in one object, malloc'd,
 * its parts joined by separator; NULL when there is none.  json_parse must accept the text.
 */
char *json_repeated_key(const char *text, size_t len, char separator);

/* The item as compact text, appended to out, or malloc'd and never NULL.  NULL, and what is no
 * value, is null. */
void json_write(struct buf *out, const cJSON *item);
char *json_print(const cJSON *item);

/* Member by exact name, or NULL; JSON null counts as a member. */
cJSON *json_get(const cJSON *object, const char *key);

/* Member by exact name, but NULL when absent or null ("null for an optional field: as if absent",
 * doc/protocol.md#request-bodies). */
cJSON *json_opt(const cJSON *object, const char *key);

/* String member's value, or NULL when absent or of another type. */
const char *json_str(const cJSON *object, const char *key);

/* Whether the member is that text. */
bool json_str_is(const cJSON *object, const char *key, const char *text);

/* Whether an array has that text among its strings; false where it is none. */
bool json_has_str(const cJSON *array, const char *text);

/* True for numbers, also those kept as text. */
bool json_is_number(const cJSON *item);

/* Value as a double; false when item is no number. */
bool json_number(const cJSON *item, double *value);

/* Value when item is a number without a fraction (25 and 25.0) that fits; else false. */
bool json_integer(const cJSON *item, int64_t *value);

/* The value of a count that somebody else gives, from 0 to 10^12, so that millions of them can be
 * added; else false. */
bool json_count(const cJSON *item, int64_t *value);

/* The member's value if json_integer accepts it, else otherwise. */
int64_t json_int(const cJSON *object, const char *key, int64_t otherwise);

/* New number items.  json_new_int is exact over 64 bits; json_new_double turns NaN and infinities
 * into null. */
cJSON *json_new_int(int64_t value);
cJSON *json_new_double(double value);

/* A new object that has this type as its first member. */
cJSON *json_typed(const char *type);

/*
 * Adds to an object and returns the new item (json_add: item, which is taken over).  The key is not
 * copied: it is a literal, or lives as long as the tree.
 */
cJSON *json_add(cJSON *object, const char *key, cJSON *item);
cJSON *json_add_or_null(cJSON *object, const char *key, cJSON *item); /* NULL adds null */
cJSON *json_add_int(cJSON *object, const char *key, int64_t value);
cJSON *json_add_str(cJSON *object, const char *key, const char *value); /* NULL adds null */

/* Adds a reference to a value, which must outlive the object, so that a large one is not copied;
 * NULL adds nothing.  The key is copied. */
void json_refer(cJSON *object, const char *key, const cJSON *value);
void json_refer_or_null(cJSON *object, const char *key, const cJSON *value); /* NULL adds null */

/* Adds to an array and returns the item, which is taken over. */
cJSON *json_append(cJSON *array, cJSON *item);

/* The last item of an array, NULL where it has none or is NULL. */
cJSON *json_last(const cJSON *array);

/* Adds text that is known to be JSON (it came from json_print) without parsing it. */
cJSON *json_add_raw(cJSON *object, const char *key, const char *text);

/* A new item of such a text, which is not copied and must outlive the item. */
cJSON *json_raw_reference(const char *text);

/* Gives item the value of another item, which is freed.  item stays the same node in its place and
 * under its key. */
void json_assign(cJSON *item, cJSON *value);

/* Sets member key to item (taken over), replacing an older one in place. */
void json_set(cJSON *object, const char *key, cJSON *item);

/* Whether arrays and objects are nested more than this many levels deep; for trees that were built
 * without a parser's limit, and could not be printed or read again. */
bool json_deeper_than(const cJSON *item, unsigned levels);

/* Deep comparison: numbers by value, objects without regard to order. */
bool json_equal(const cJSON *a, const cJSON *b);

/* doc/protocol-threads.md#state: copies patch into target key by key, deeply; null members leave
 * the target's value. */
void json_merge(cJSON *target, const cJSON *patch);

/* The same by RFC 7396: members that are null are removed, even those that target had before. */
void json_merge_patch(cJSON *target, const cJSON *patch);

/* The kind of an item for messages: "string", "number", "boolean", "object", "array", "null". */
const char *json_type_name(const cJSON *item);

#endif
