/* SPDX-License-Identifier: ISC */
/* Environment variables in configuration values (agentgraph.json(5)). */
#ifndef AGENTGRAPH_CONFIG_ENVIRONMENT_EXPAND_H
#define AGENTGRAPH_CONFIG_ENVIRONMENT_EXPAND_H

#include <stddef.h>

/* The length of the variable's name that text starts with; 0 when it starts with something else. */
size_t variable_name_length(const char *text);

/*
 * A copy of text, malloc'd, with every $NAME and ${NAME} replaced by that variable's value.  A
 * dollar sign before anything else, also before another one, stands for itself.  If a variable is
 * not set the result is NULL, and *unset its malloc'd name.
 */
char *expand_variables(const char *text, char **unset);

#endif
