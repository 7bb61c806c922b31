/* SPDX-License-Identifier: ISC */
/* Commands in documents: found and checked at start-up, so that a run cannot meet a missing file.
 */
#include "base/json.h"
#include "base/memory.h"
#include "config/expand.h"
#include "config/text_file.h"
#include "graph/document.h"
#include "tool/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_BYTES (1 << 30) /* of output */

/* A command is an array of strings, or one string: an executable without arguments, no shell. */
static bool read_argv(
    struct document *d, const struct place *at, const cJSON *item, struct command *command)
{
	size_t count = cJSON_IsArray(item) ? (size_t)cJSON_GetArraySize(item) : 1;
	const cJSON *word = cJSON_IsArray(item) ? item->child : item;
	bool ok = true;
	command->argv = xcalloc(count + 1, sizeof(char *));
	for (size_t i = 0; i < count; i++, word = word->next) {
		if (!document_is(d, word == item ? at : PLACE_INDEX(at, i), word, TYPE_STRING))
			ok = false;
		command->argv[i] = xstrdup(ok ? word->valuestring : "");
	}
	if (count > 0 && (!ok || *command->argv[0]))
		return ok;
	document_problem(d, at, "expected the name of an executable first");
	return false;
}

static void read_executable(
    struct document *d, const struct place *at, const cJSON *item, struct command *command)
{
	if (!cJSON_IsString(item) && !cJSON_IsArray(item))
		return; /* reported */
	if (!read_argv(d, at, item, command))
		return;
	const char *name = command->argv[0];
	command->path = process_find(name, d->dir);
	if (command->path)
		return;
	document_problem(d, at, "expected an executable%s, '%s' is none: %s",
	    strchr(name, '/') ? " file" : " in PATH", name, strerror(errno));
}

/* Where a child runs: the folder of the document, or one relative to it. */
static void read_cwd(
    struct document *d, const struct place *at, const char *cwd, struct command *command)
{
	struct stat st;
	command->cwd = cwd ? path_absolute(d->dir, cwd) : xstrdup(d->dir);
	if (stat(command->cwd, &st) != 0 || !S_ISDIR(st.st_mode))
		document_problem(
		    d, PLACE_KEY(at, "cwd"), "expected a directory, '%s' is none", cwd ? cwd : ".");
}

static void add_variable(
    struct document *d, const struct place *at, const cJSON *variable, struct command *command)
{
	char *unset;
	char *value = expand_variables(variable->valuestring, &unset);
	if (value)
		command_setenv(command, variable->string, value);
	else
		document_problem(d, at, "expected the environment variable %s to be set", unset);
	free(value ? value : unset);
}

static void read_env(
    struct document *d, const struct place *at, const cJSON *env, struct command *command)
{
	const cJSON *variable;
	cJSON_ArrayForEach(variable, env) {
		const struct place *place = PLACE_KEY(at, variable->string);
		if (!*variable->string || strchr(variable->string, '='))
			document_problem(d, place, "expected the name of a variable");
		if (document_is(d, place, variable, TYPE_STRING))
			add_variable(d, place, variable, command);
	}
}

/* A number of bytes; what is not given keeps its default. */
static void read_bytes(
    struct document *d, const struct place *at, const cJSON *item, const char *key, size_t *bytes)
{
	const struct range range = {1, MOST_BYTES, 1};
	if (json_get(item, key))
		*bytes = (size_t)document_number(d, at, item, key, &range);
}

void document_command(struct document *d, const struct place *at, const cJSON *item,
    double most_seconds, struct command *command)
{
	const struct range seconds = {0.001, most_seconds, most_seconds};
	read_executable(d, PLACE_KEY(at, "command"), json_get(item, "command"), command);
	read_cwd(d, at, json_str(item, "cwd"), command);
	command_pass_environment(command);
	read_env(d, PLACE_KEY(at, "env"), document_object(item, "env"), command);
	command->timeout_ms = (int64_t)(document_number(d, at, item, "timeout", &seconds) * 1000);
	read_bytes(d, at, item, "max_output", &command->max_output);
	read_bytes(d, at, item, "max_line", &command->max_line);
}
