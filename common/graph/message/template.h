/* SPDX-License-Identifier: ISC */
/*
 * Texts with names in them: "Hello {{config.user.user_id}}, you said {{user_text}}".
 *
 * A name stands between {{ and }}; blanks around it do not count.  {{{{ gives {{, and everything
 * else is as it is.  What names there are and what they stand for is the caller's business.  JSON
 * may have such texts anywhere (template_json).
 */
#ifndef AGENTGRAPH_GRAPH_MESSAGE_TEMPLATE_H
#define AGENTGRAPH_GRAPH_MESSAGE_TEMPLATE_H

#include "base/buf.h"

#include <cjson/cJSON.h>

#include <stddef.h>

struct template;

/* The parts of text, which is copied.  NULL with *error, a malloc'd sentence part, when braces do
 * not fit together. */
struct template *template_parse(const char *text, char **error);
void template_free(struct template *t);

/* The names that occur, in order; a name that occurs twice is counted twice. */
size_t template_name_count(const struct template *t);
const char *template_name(const struct template *t, size_t i);

/* The name when the text is one name and nothing else, or NULL. */
const char *template_only_name(const struct template *t);

/* Appends the value of a name. */
typedef void template_value_fn(const char *name, struct buf *out, void *arg);

/* Appends the text with all names replaced. */
void template_render(
    const struct template *t, template_value_fn *value, void *arg, struct buf *out);

/* The value of a name as a new item; NULL: there is none. */
typedef cJSON *template_item_fn(const char *name, const void *arg);

/* The text with all names replaced by their values, malloc'd. */
char *template_text(const struct template *t, template_item_fn *item, const void *arg);

/* A copy of json in whose texts all names are replaced.  A text that is one name and nothing else
 * becomes its value, of any type; where there is none, it is left out. */
cJSON *template_json(const cJSON *json, template_item_fn *item, const void *arg);

/* Appends a value as texts show it: a string as it is, nothing for NULL and null, else JSON. */
void template_add_value(struct buf *out, const cJSON *value);

/* The member at "a.b.c" in item, or NULL. */
const cJSON *template_member(const cJSON *item, const char *path);

#endif
