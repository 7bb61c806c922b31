/* SPDX-License-Identifier: ISC */
/*
 * The keys of the configuration file (agentgraph.json(5)), with a function for each part of it.
 * Each function fills its members of config, whose environment has been read by then, and reports
 * every mistake.
 */
#ifndef AGENTGRAPH_CONFIG_KEYS_H
#define AGENTGRAPH_CONFIG_KEYS_H

#include "base/fields.h"
#include "base/problems.h"
#include "config/config.h"

/* ---- section.c: objects of the configuration file, which are read by tables (base/fields.h), and
 * messages about them. */

#define SECTION_PATH_SIZE 64

/* One object of the file and where it stands. */
struct section {
	struct problems *problems;
	const char *file;             /* as given, for messages */
	char path[SECTION_PATH_SIZE]; /* "" for the whole file, else e.g. "observability.logfire" */
	const cJSON *object;
};

/* Kinds of values that only this file has. */
extern const struct field_kind field_url, /* char *; a string without the slashes at its end */
    field_import,                         /* char *; "module:attribute" */
    field_loose_bool,                     /* bool; words like "yes" are understood too */
    field_cap,                            /* int64_t, from 0 on; null means 0 */
    field_copy,                           /* cJSON *, a tree of its own */
    field_strings; /* struct string_list; valid and expected of the row are about each entry */

/*
 * Opens the object under key in parent.  False when there is nothing to read: it is absent or null,
 * or no object, which is reported.
 */
bool section_open(struct section *section, const struct section *parent, const char *key);

/* The same of item, which is number index of the list key.  False when it is no object, which is
 * reported. */
bool section_entry(struct section *entry, const struct section *parent, const char *key,
    size_t index, const cJSON *item);

/* Fills target.  Members that are absent, null or wrong stay as they were; wrong ones are
 * reported. */
void section_read(const struct section *s, const struct field_row *rows, void *target);

/* Reports "<file>: <path>.<key>: expected <expected>, found <found>". */
void section_refuse(
    const struct section *s, const char *key, const cJSON *found, const char *expected);

/* Reports "<file>: <path>.<key>: <text>", as a mistake or as a warning. */
void section_problem(const struct section *s, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void section_warning(const struct section *s, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * A string of the file with its variables expanded (agentgraph.json(5)), malloc'd.  NULL when value
 * is NULL; or when it is no string, empty, or has an unset variable, which is reported under key.
 */
char *section_expand(
    const struct section *s, const char *key, const cJSON *value, const char *expected);

/* Warns of each key that no row names, in the object and in the objects in it that have rows: such
 * a key is ignored (agentgraph.json(5)), and more often a slip than intended.  Keys that begin with
 * $ are for people and editors. */
void section_warn_unknown(const struct section *s, const struct field_row *rows);

/* The first thing that keeps value from being an array of strings; NULL when it is one. */
const cJSON *not_strings(const cJSON *value);

/* ---- keys.c, and a file for each object with rules of its own */

/* Reads all keys but `database` and `env`, which decides about the environment and comes first. */
void keys_read(const struct section *root, struct config *config);

/* Reads `database`. */
void database_read(const struct section *root, struct config *config);
void keys_release(struct config *config);

/* The rows of the objects that have a function of their own. */
extern const struct field_row authorization_rows[], embeddings_rows[], observability_rows[],
    rate_limit_rows[];

/* `authorization` (doc/protocol-access.md#ownership). */
void authorization_read(const struct section *root, struct config *config);

/* `embeddings`: where the vectors of memories come from. */
void embeddings_read(const struct section *root, struct config *config);

/* `observability` (agentgraph.json(5)). */
void observability_read(const struct section *root, struct config *config);
void observability_release(struct observability_config *observability);

/* `rate_limit` (doc/protocol-access.md#rate-limits); reads config->cache. */
void rate_limit_read(const struct section *root, struct config *config);

/* Checks `a2a.skills` (doc/protocol-a2a.md#the-card), which has been read by then. */
void a2a_skills_check(const struct section *root, struct config *config);

/* `remote_tools` (agentgraph.json(5), doc/protocol-runs.md#client-side-tools). */
void remote_tools_read(const struct section *root, struct config *config);
void remote_tools_release(struct config *config);

#endif
