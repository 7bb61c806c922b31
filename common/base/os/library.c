/* SPDX-License-Identifier: ISC */
/* Turning what dlsym gives into a pointer to a function. */
#include "base/os/library.h"

#include <dlfcn.h>
#include <string.h>

bool library_find(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);
	memcpy(function, &found, sizeof(found));
	return found;
}
