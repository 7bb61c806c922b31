/* SPDX-License-Identifier: ISC */
/*
 * Reading JSON objects by tables: the keys of the configuration and of graph documents, the
 * settings of models, the members of request bodies.
 *
 * A table has one row for each member: its name, what it must be, which member of a struct it
 * fills, and how that is said when the value is wrong.  The reader decides who is told of mistakes,
 * and in which words: for a file "<file>: <path>: expected <expected>", for a body "<member> must
 * be <expected>".  A kind of value that only one module needs is a constant of that module.
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
	FIELD_MISSING, /* a required member is absent */
	FIELD_TYPE,    /* the value is of another JSON type */
	FIELD_FORM,    /* the type is right, but not the kind: a fraction for a whole number */
	FIELD_VALUE,   /* the value is out of range, or none of the choices */
	FIELD_UNKNOWN, /* a member that no row names; the row is the table's first */
	FIELD_TOLD     /* the kind has reported the mistake already */
};

/* A word and the enum value it stands for; a list of them ends with a NULL name. */
struct choice {
	const char *name;
	int value;
};

/* Looks the word up; false when it is none of the choices. */
bool choice_find(const struct choice *choices, const char *name, int *value);

/* Appends the names of the choices: "red, green". */
void choices_say(const struct choice *choices, struct buf *out);

struct field_kind;

/* A row; a table of them ends with a NULL key. */
struct field_row {
	const char *key;
	/* NULL: any value of these types will do, and fills nothing */
	const struct field_kind *kind;
	unsigned types;
	bool required;
	size_t offset;        /* offset of the member that it fills, or FIELD_NOWHERE */
	const char *expected; /* what the value must be, where the kind does not say it */
	const char *wrong;    /* in bodies: what is said of a missing or wrong value */
	/* for numbers; a max of 0 is none.  min: also the least elements for field_json */
	double min, max;
	const struct choice *choices;
	bool (*valid)(const char *text); /* a further condition for a string; may be NULL */
	const struct field_row *rows;    /* the table of an object that has its own */
};

#define FIELD_NOWHERE SIZE_MAX

/* Rows: for the member of a struct with the same name as the key, or with another name; for a key
 * that is checked and fills nothing; and for a key that is only known. */
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

/* The reader of an object. */
struct field_reader {
	/* Called with each mistake; may be NULL.  path is the member's: the keys of the objects
	 * that it is in, joined by dots (or by joint, if that is not 0), with an index in brackets
	 * for an array. */
	void (*report)(const struct field_reader *reader, const char *path,
	    const struct field_row *f, enum field_fault fault, const cJSON *found);
	void *where; /* for report */
	char joint;
	bool strict; /* a member that no row names is a mistake */

	/* for an object in an object: the reader of the outer one, and its key there */
	const struct field_reader *up;
	const char *key;
};

/* A kind of value, and how it gets into its member. */
struct field_kind {
	unsigned types;
	bool takes_null; /* if not, null counts as absent */
	const char *expected;

	/* Checks a value, which is of one of the types, and stores it in slot, unless that is
	 * NULL. */
	enum field_fault (*take)(const struct field_reader *reader, const struct field_row *f,
	    const cJSON *value, void *slot);
	void (*release)(void *slot); /* NULL: it owns nothing */
};

extern const struct field_kind field_string, /* char *, malloc'd; not empty */
    field_text,    /* const char * into the tree; one of choices, if any */
    field_filled,  /* the same, but an empty one counts as absent */
    field_json,    /* const cJSON *, of the row's types */
    field_bool,    /* bool */
    field_integer, /* int64_t, from min to max or FIELD_INTEGER_MAX */
    field_number,  /* double, from min to max */
    field_size,    /* size_t, the same as field_number, without the fraction */
    field_seconds, /* int64_t: milliseconds, at least one */
    field_choice,  /* an enum; one of choices */
    field_object;  /* an object with its rows, for a struct in the struct, or with offset 0 for the
		      struct itself */

/* Reads an object into target, or only checks it where that is NULL.  Members that are absent or
 * wrong keep what they had.  False when there was a mistake. */
bool fields_read(const struct field_reader *reader, const cJSON *object,
    const struct field_row *rows, void *target);

/* Reads one member of an object. */
bool field_read(
    const struct field_reader *reader, const cJSON *value, const struct field_row *f, void *target);

/* For kinds: reports a mistake, under a key such as "paths[2]"; returns FIELD_TOLD. */
enum field_fault field_refuse(const struct field_reader *reader, const struct field_row *f,
    const char *key, enum field_fault fault, const cJSON *found);

/* For kinds: a reader for the object that is the member key of what reader reads. */
struct field_reader field_inside(const struct field_reader *reader, const char *key);

/* For kinds: frees a char *, and makes it NULL. */
void field_release_string(void *slot);

/* The row of that key, or NULL. */
const struct field_row *fields_find(const struct field_row *rows, const char *key);

/* Frees what the table's members own. */
void fields_release(const struct field_row *rows, void *target);

/* What a row expects, malloc'd: as the row says, or its kind, its range, or its types. */
char *field_expected(const struct field_row *f);

/*
 * fields_read for the body of a request: each mistake becomes a detail of err, with the path at
 * ("body", or "body.config") and the member's name.
 */
bool fields_read_body(struct error *err, const char *at, const cJSON *object,
    const struct field_row *rows, void *target);

/* The same for what must be there and an object, such as an entry of an array. */
bool fields_read_entry(struct error *err, const char *at, const cJSON *entry,
    const struct field_row *rows, void *target);

/* What is said of a fault in a body, behind the member's name, malloc'd; *type is as for
 * error_field.  For protocols that make their own sentence of it. */
char *field_body_says(const struct field_row *f, enum field_fault fault, const char **type);

#endif
