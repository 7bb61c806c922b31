/* SPDX-License-Identifier: ISC */
/*
 * Dotenv files: one KEY=VALUE a line, UTF-8.
 *
 *     # a comment
 *     export NAME=plain text   # blanks around it and this comment are dropped
 *     SINGLE='as it $stands \n'
 *     DOUBLE="with \n \t \" \\"
 *
 * Quoted values may span lines.  Of a name given twice the later value counts.
 */
#ifndef AGENTGRAPH_CONFIG_ENVIRONMENT_DOTENV_H
#define AGENTGRAPH_CONFIG_ENVIRONMENT_DOTENV_H

#include "base/problems.h"

#include <cjson/cJSON.h>
#include <stddef.h>

struct dotenv_fault {
	size_t line;          /* from 1 */
	const char *expected; /* ends the sentence "expected …" */
};

/* Parses a text into an object of strings, which the caller deletes; NULL with *fault set when the
 * text has a mistake. */
cJSON *dotenv_parse(const char *text, size_t len, struct dotenv_fault *fault);

/*
 * Puts the variables of the file path into the environment, except those that it has from
 * elsewhere; variables that an earlier call put there change with the file.  source is the key that
 * named the file, for messages ("agentgraph.json: env").  To be called by one thread only, and for
 * the first time before there are others.
 */
void dotenv_load(const char *path, const char *source, struct problems *problems);

/*
 * ---- env_file.c: files of environment variables as systemd reads them (EnvironmentFile= in
 * systemd.exec(5)), so that a command can have what the service has: NAME=value a line, where
 * blanks around the value go and those inside it stay, quotes keep text as it is, a backslash keeps
 * the next character and joins lines at their end, and lines that begin with # or ; are comments.
 * Nothing is a mistake: what is no assignment is passed over.
 */

/* Parses a text into an object of strings, which the caller deletes; the later value counts if a
 * name is given twice. */
cJSON *env_file_parse(const char *text);

/* Sets the variables of the file in the process's environment, whether or not they exist there.  To
 * be called before there are threads. */
void env_file_load(const char *path, struct problems *problems);

#endif
