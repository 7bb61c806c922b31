/* SPDX-License-Identifier: ISC */
/*
 * Objects of JSON, read by tables: the keys of the configuration and of graph documents, the
 * settings of models, the members of request bodies.
 *
 * A table has one row for each member: its name, what it must be, which member of a struct it
 * fills, and how that is said of another value.  Who reads says who is told of the mistakes, and in
 * which words: a file's reader says "<file>: <path>: expected <expected>", a body's "<member> must
 * be <expected>".  A kind of value that only one room has is a constant of that room.
 */
#ifndef AGENTGRAPH_BASE_FIELDS_H
#define AGENTGRAPH_BASE_FIELDS_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json/json_type.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No count needs more, and seconds of this size still fit when they become microseconds. */
#define FIELD_INTEGER_MAX 1000000000000

enum field_fault {
	FIELD_FITS,
	FIELD_MISSING, /* a member that must be there */
	FIELD_TYPE,    /* of another type of JSON */
	FIELD_FORM,    /* of the type, but another kind of value: a fraction for a whole number */
	FIELD_VALUE,   /* out of range, or none of the words */
	FIELD_UNKNOWN, /* a member that no row names; the row is the table's first */
	FIELD_TOLD     /* its kind has reported it already */
};

/* A word and the enum value it stands for; a list of them ends with a NULL name. */
struct choice {
	const char *name;
	int value;
};

/* Looks the word up; false when it is none of the choices. */
bool choice_find(const struct choice *choices, const char *name, int *value);

/* Appends their names: "red, green". */
void choices_say(const struct choice *choices, struct buf *out);

struct field_kind;

/* A row; a table of them ends with a NULL key. */
struct field_row {
	const char *key;
	const struct field_kind *kind; /* NULL: any value of these types, which goes nowhere */
	unsigned types;
	bool required;
	size_t offset;        /* of the member it fills, or FIELD_NOWHERE */
	const char *expected; /* what it must be, where the kind does not say it */
	const char *wrong;    /* in bodies: what is said of none and of a wrong value */
	double min, max;      /* of numbers; a max of 0 is none; min of elements, of field_json */
	const struct choice *choices;
	bool (*valid)(const char *text); /* what a string must be besides, may be NULL */
	const struct field_row *rows;    /* of an object with a table of its own */
};

#define FIELD_NOWHERE SIZE_MAX

/* A row for the member of a struct whose name is the key, or another one; one for a key that is
 * checked and fills nothing, and one for a key that is only known. */
#define FIELD(type, member, ...) FIELD_AT(#member, type, member, __VA_ARGS__)
#define FIELD_AT(name, type, member, ...)                                           \
	{                                                                           \
		.key = (name), .offset = offsetof(struct type, member), __VA_ARGS__ \
	}
#define FIELD_ONLY(name, ...)                                       \
	{                                                           \
		.key = (name), .offset = FIELD_NOWHERE, __VA_ARGS__ \
	}
#define FIELD_KNOWN(name)                              \
	{                                              \
		.key = (name), .offset = FIELD_NOWHERE \
	}
#define FIELD_OBJECT .kind = &field_json, .types = TYPE_OBJECT
#define FIELD_ARRAY .kind = &field_json, .types = TYPE_ARRAY
#define FIELDS_END          \
	{                   \
		.key = NULL \
	}

/* An object while it is read. */
struct field_reader {
	/* Told of each mistake, if it is not NULL: path is the member's, with its parents' and dots
	 * (or joint, if it is not 0) where it lies in an object of the table, and its index in
	 * brackets in an array. */
	void (*report)(const struct field_reader *reader, const char *path,
	    const struct field_row *f, enum field_fault fault, const cJSON *found);
	void *where; /* the report's own */
	char joint;
	bool strict; /* what no row names is a mistake */

	const struct field_reader *up; /* of an object of the table: the one above, and its key */
	const char *key;
};

/* How values of a kind get into their member. */
struct field_kind {
	unsigned types;
	bool takes_null; /* else null is as if absent */
	const char *expected;

	/* The value is of one of the types.  slot is NULL where it is only checked. */
	enum field_fault (*take)(const struct field_reader *reader, const struct field_row *f,
	    const cJSON *value, void *slot);
	void (*release)(void *slot); /* NULL: it owns nothing */
};

extern const struct field_kind field_string, /* char *, malloc'd; not empty */
    field_text,    /* const char * into the tree; one of choices, if any */
    field_filled,  /* the same, but an empty one is as if absent */
    field_json,    /* const cJSON *, of the row's types */
    field_bool,    /* bool */
    field_integer, /* int64_t, from min to max or FIELD_INTEGER_MAX */
    field_number,  /* double, from min to max */
    field_size,    /* size_t, the same without its fraction */
    field_seconds, /* int64_t: milliseconds, at least one */
    field_choice,  /* an enum; one of choices */
    field_object;  /* a struct, or the same one where offset is 0; by its rows */

/* Fills target, or only checks where that is NULL; what is absent or wrong stays as it was.  False
 * when there was a mistake. */
bool fields_read(const struct field_reader *reader, const cJSON *object,
    const struct field_row *rows, void *target);

/* One member of it. */
bool field_read(
    const struct field_reader *reader, const cJSON *value, const struct field_row *f, void *target);

/* For kinds: reports a mistake, under another key than the row's too ("paths[2]"); FIELD_TOLD. */
enum field_fault field_refuse(const struct field_reader *reader, const struct field_row *f,
    const char *key, enum field_fault fault, const cJSON *found);

/* For kinds: a reader for what lies in the object key of what reader reads. */
struct field_reader field_inside(const struct field_reader *reader, const char *key);

/* For kinds: frees a char *, and makes it NULL. */
void field_release_string(void *slot);

/* The row of that key, or NULL. */
const struct field_row *fields_find(const struct field_row *rows, const char *key);

/* Frees what the table's members own. */
void fields_release(const struct field_row *rows, void *target);

/* What the row says that it expects, or its kind, or its range, or its types; malloc'd. */
char *field_expected(const struct field_row *f);

/*
 * The same for a body of a request: each mistake is a detail of err, whose place is at ("body", or
 * "body.config") and the member's name.
 */
bool fields_read_body(struct error *err, const char *at, const cJSON *object,
    const struct field_row *rows, void *target);

/* What such a body is told of a fault, behind the member's name, malloc'd; *type is as for
 * error_field.  For protocols that have a sentence of their own. */
char *field_body_says(const struct field_row *f, enum field_fault fault, const char **type);

#endif
