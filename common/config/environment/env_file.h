/* SPDX-License-Identifier: ISC */
/*
 * Files of environment variables as systemd reads them (EnvironmentFile= in systemd.exec(5)), so
 * that a command can have what the service has: NAME=value a line, where blanks around the value go
 * and those inside it stay, quotes keep text as it is, a backslash keeps the next character and
 * joins lines at their end, and lines that begin with # or ; are comments.  Nothing is a mistake:
 * what is no assignment is passed over.
 */
#ifndef AGENTGRAPH_CONFIG_ENVIRONMENT_ENV_FILE_H
#define AGENTGRAPH_CONFIG_ENVIRONMENT_ENV_FILE_H

#include "base/problems.h"

#include <cjson/cJSON.h>

/* An object of strings that the caller deletes; of a name given twice it has the later value. */
cJSON *env_file_parse(const char *text);

/* Sets the variables of the file in the process's environment, in the place of those there.  To be
 * called before there are threads. */
void env_file_load(const char *path, struct problems *problems);

#endif
