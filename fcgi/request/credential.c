/* SPDX-License-Identifier: ISC */
/* The token behind Bearer. */
#include "fcgi/request/credential.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define BLANKS " \t"

/* A token holds no control characters; tabs are taken for blanks here. */
static bool credential_has_control(const char *value)
{
	for (const char *c = value; *c; c++)
		if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7f)
			return true;
	return false;
}

/* The value without the blanks around it; NULL when nothing is left. */
static const char *credential_trimmed(const char *value, struct arena *arena)
{
	value += strspn(value, BLANKS);
	size_t len = strlen(value);
	while (len && strchr(BLANKS, value[len - 1]))
		len--;
	return len ? arena_strndup(arena, value, len) : NULL;
}

const char *credential_bearer(const char *authorization, struct arena *arena)
{
	static const char scheme[] = "Bearer";
	const char *value = authorization + strspn(authorization, BLANKS);
	if (strncasecmp(value, scheme, strlen(scheme)) != 0 || credential_has_control(value))
		return NULL;
	value += strlen(scheme);
	if (!*value || !strchr(BLANKS, *value))
		return NULL;
	return credential_trimmed(value, arena);
}

const char *credential_key(const char *value, struct arena *arena)
{
	return credential_has_control(value) ? NULL : credential_trimmed(value, arena);
}
