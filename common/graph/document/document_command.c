/* SPDX-License-Identifier: ISC */
/* Commands in documents: found and checked at start-up,
 * so that a run cannot meet a missing file. */
#include "base/memory.h"
#include "config/environment/expand.h"
#include "config/text_file.h"
#include "graph/document/document.h"
#include "tool/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* An array of strings, or one string: an executable without arguments, no shell. */
static enum field_fault command_take_argv(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	const struct document_spot *spot = reader->where;
	const struct place *at = PLACE_KEY(spot->at, f->key);
	size_t count = cJSON_IsArray(value) ? (size_t)cJSON_GetArraySize(value) : 1;
	const cJSON *word = cJSON_IsArray(value) ? value->child : value;
	struct command *command = slot;
	bool ok = true;
	command->argv = xcalloc(count + 1, sizeof(char *));
	for (size_t i = 0; i < count; i++, word = word->next) {
		const struct place *place = word == value ? at : PLACE_INDEX(at, i);
		ok = document_is(spot->document, place, word, TYPE_STRING) && ok;
		command->argv[i] = xstrdup(ok ? word->valuestring : "");
	}
	const char *name = command->argv[0];
	if (!ok)
		return FIELD_TOLD;
	command->path = name && *name ? process_find(name, spot->document->dir) : NULL;
	if (command->path)
		return FIELD_FITS;
	if (name && *name)
		document_problem(spot->document, at, "expected an executable%s, '%s' is none: %s",
		    strchr(name, '/') ? " file" : " in PATH", name, strerror(errno));
	else
		document_problem(spot->document, at, "expected the name of an executable first");
	return FIELD_TOLD;
}

/* Relative to the folder of the document. */
static enum field_fault command_take_cwd(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	const struct document_spot *spot = reader->where;
	struct command *command = slot;
	struct stat st;
	free(command->cwd);
	command->cwd = path_absolute(spot->document->dir, value->valuestring);
	if (stat(command->cwd, &st) == 0 && S_ISDIR(st.st_mode))
		return FIELD_FITS;
	document_problem(spot->document, PLACE_KEY(spot->at, f->key),
	    "expected a directory, '%s' is none", value->valuestring);
	return FIELD_TOLD;
}

static enum field_fault command_take_env(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	const struct document_spot *spot = reader->where;
	struct document *d = spot->document;
	const cJSON *variable;
	cJSON_ArrayForEach(variable, value) {
		const struct place *at = PLACE_KEY(PLACE_KEY(spot->at, f->key), variable->string);
		char *unset;
		if (!*variable->string || strchr(variable->string, '='))
			document_problem(d, at, "expected the name of a variable");
		if (!document_is(d, at, variable, TYPE_STRING))
			continue;
		char *text = expand_variables(variable->valuestring, &unset);
		if (text)
			command_setenv(slot, variable->string, text);
		else
			document_problem(
			    d, at, "expected the environment variable %s to be set", unset);
		free(text ? text : unset);
	}
	return FIELD_FITS;
}

const struct field_kind field_argv = {.types = TYPE_STRING | TYPE_ARRAY, .take = command_take_argv};
const struct field_kind field_cwd = {.types = TYPE_STRING, .take = command_take_cwd};
const struct field_kind field_env = {.types = TYPE_OBJECT, .take = command_take_env};

void document_command(const struct document *d, struct command *command)
{
	command->cwd = xstrdup(d->dir);
	command_pass_environment(command);
}
