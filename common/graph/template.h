/* SPDX-License-Identifier: ISC */
/*
 * Texts with names in them: "Hello {{config.user.user_id}}, you said {{user_text}}".
 *
 * A name stands between {{ and }}; blanks around it do not count.  {{{{ gives {{, and everything
 * else is as it is.  What names there are and what they stand for is the caller's business.
 */
#ifndef AGENTGRAPH_GRAPH_TEMPLATE_H
#define AGENTGRAPH_GRAPH_TEMPLATE_H

#include "base/buf.h"

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

#endif
