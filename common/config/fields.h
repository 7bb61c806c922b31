/* SPDX-License-Identifier: ISC */
/*
 * The objects of the configuration file, read by tables.
 *
 * A table has one row for each key: what it must be and which member of a struct it fills.  Keys
 * that no row names are ignored.  The table that filled a struct also frees it.
 */
#ifndef AGENTGRAPH_CONFIG_FIELDS_H
#define AGENTGRAPH_CONFIG_FIELDS_H

#include "base/problems.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECTION_PATH_SIZE 64

/* No count needs more, and seconds of this size still fit when they become microseconds. */
#define FIELD_INTEGER_MAX 1000000000000

/* One object of the file and where it stands. */
struct section {
	struct problems *problems;
	const char *file;             /* as given, for messages */
	char path[SECTION_PATH_SIZE]; /* "" for the whole file, else e.g. "observability.logfire" */
	const cJSON *object;
};

enum field_kind {
	FIELD_STRING,     /* char *; not empty */
	FIELD_URL,        /* char *; a string without the slashes at its end */
	FIELD_IMPORT,     /* char *; "module:attribute" */
	FIELD_BOOL,       /* bool */
	FIELD_LOOSE_BOOL, /* bool; words like "yes" are understood too */
	FIELD_INTEGER,    /* int64_t, from min to max */
	FIELD_CAP,        /* int64_t, from 0 on; null means 0 */
	FIELD_NUMBER,     /* double, from min on */
	FIELD_CHOICE,     /* an enum; one of choices */
	FIELD_STRINGS     /* struct string_list of strings that are not empty */
};

/* A word and the enum value it stands for; a list of them ends with a NULL name. */
struct choice {
	const char *name;
	int value;
};

/* Looks the word up; false when it is none of the choices. */
bool choice_find(const struct choice *choices, const char *name, int *value);

struct field {
	const char *key;
	enum field_kind kind;
	size_t offset;        /* of the member it fills */
	const char *expected; /* ends the sentence "expected …"; of FIELD_STRINGS, for one entry */
	int64_t min, max;     /* a max of 0 is FIELD_INTEGER_MAX */
	const struct choice *choices;
	bool (*entry_valid)(const char *entry); /* FIELD_STRINGS, may be NULL */
	bool required;
};

/* A row for the member, whose key has the same name, or a key of another name. */
#define FIELD(type, member, ...) FIELD_AT(#member, type, member, __VA_ARGS__)
#define FIELD_AT(name, type, member, ...)                                           \
	{                                                                           \
		.key = (name), .offset = offsetof(struct type, member), __VA_ARGS__ \
	}

struct field_table {
	const struct field *rows;
	size_t count;
};

#define FIELD_TABLE(rows)                                \
	{                                                \
		(rows), sizeof(rows) / sizeof((rows)[0]) \
	}

/* What several keys expect. */
#define EXPECTED_IMPORT "an import path \"module:attribute\""
#define EXPECTED_BOOL "true or false"
#define EXPECTED_STRING "a string that is not empty"

/*
 * Opens the member key of parent.  False when there is nothing to read: it is absent, null, or not
 * an object, which is reported.
 */
bool section_open(struct section *section, const struct section *parent, const char *key);

/* Reports "<file>: <path>.<key>: expected <expected>, found <found>". */
void section_refuse(
    const struct section *s, const char *key, const cJSON *found, const char *expected);

/* Reports "<file>: <path>.<key>: <text>", as a mistake or as a warning. */
void section_problem(const struct section *s, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void section_warning(const struct section *s, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Fills target; what is absent, null or wrong stays as it was. */
void fields_read(const struct section *s, const struct field_table *table, void *target);

/* Frees what the table's members own. */
void fields_release(const struct field_table *table, void *target);

/* The first thing that keeps value from being an array of strings; NULL when it is one. */
const cJSON *not_strings(const cJSON *value);

/* Replaces a malloc'd string by a copy of text. */
void string_replace(char **slot, const char *text);

#endif
