/* SPDX-License-Identifier: ISC */
/* Splitting an import path at its last colon. */
#include "config/config.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

bool import_split(const char *import_path, char **module, char **attribute)
{
	const char *colon = strrchr(import_path, ':');
	if (!colon || colon == import_path || !colon[1])
		return false;
	*module = xstrndup(import_path, (size_t)(colon - import_path));
	*attribute = xstrdup(colon + 1);
	return true;
}
