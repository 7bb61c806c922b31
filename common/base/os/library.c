/* SPDX-License-Identifier: ISC */
/* From what dlsym gives to a pointer to a function. */
#include "base/os/library.h"

#include <dlfcn.h>
#include <string.h>

bool library_find(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);
	memcpy(function, &found, sizeof(found));
	return found;
}
