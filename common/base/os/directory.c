/* SPDX-License-Identifier: ISC */
/* Making a directory and those above it, for the owner alone. */
#include "base/os/directory.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool directory_make(const char *path)
{
	char *copy = xstrdup(path);
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(copy, 0700); /* a failure shows at the last directory */
		*slash = '/';
	}
	free(copy);
	return mkdir(path, 0700) == 0;
}
