/* SPDX-License-Identifier: ISC */
/* Names of tools that every provider takes. */
#include "model/names.h"

#include "base/json/json.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define SUFFIX_SIZE 12 /* "_4294967295" */

/* Makes a name that every provider takes out of a tool's own.  Returns whether it is the same. */
static bool names_mend(const char *own, char out[CHAT_NAME_SIZE])
{
	size_t len = 0;
	if (!isalpha((unsigned char)*own) && *own != '_')
		out[len++] = '_';
	for (const char *p = own; *p && len < CHAT_NAME_SIZE - 1; p++)
		out[len++] = isalnum((unsigned char)*p) || *p == '-' ? *p : '_';
	out[len] = '\0';
	return strcmp(out, own) == 0;
}

cJSON *chat_names_new(const cJSON *tools)
{
	cJSON *names = cJSON_CreateObject();
	const cJSON *tool;
	char sent[CHAT_NAME_SIZE];
	unsigned number =
	    2; /* goes on from tool to tool: many may be alike but for what is mended */
	cJSON_ArrayForEach(tool, tools)
		if (names_mend(json_str(tool, "name"), sent))
			cJSON_AddStringToObject(names, sent, sent);
	cJSON_ArrayForEach(tool, tools) {
		if (names_mend(json_str(tool, "name"), sent))
			continue;
		/* a number stands behind a name that is in use */
		size_t len = strnlen(sent, CHAT_NAME_SIZE - SUFFIX_SIZE);
		for (; json_get(names, sent); number++)
			snprintf(sent + len, SUFFIX_SIZE, "_%u", number);
		cJSON_AddStringToObject(names, sent, json_str(tool, "name"));
	}
	return names;
}

const char *chat_name_sent(const cJSON *names, const char *own, char room[CHAT_NAME_SIZE])
{
	const cJSON *name;
	if (names_mend(own, room))
		return own;
	cJSON_ArrayForEach(name, names)
		if (strcmp(name->valuestring, own) == 0)
			return name->string;
	return room;
}

const char *chat_name_own(const cJSON *names, const char *sent)
{
	const char *own = sent ? json_str(names, sent) : NULL;
	return own ? own : sent;
}
