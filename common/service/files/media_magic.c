/* SPDX-License-Identifier: ISC */
/*
 * libmagic, which is loaded when the first file needs it: it has a database of some megabytes,
 * which processes that never look at a file do not pay for.
 */
#include "base/log/log.h"
#include "base/os/library.h"
#include "base/os/process/process.h"
#include "service/files/media_type.h"

#include <dlfcn.h>
#include <magic.h>
#include <pthread.h>
#include <stdlib.h>

static struct {
	pthread_mutex_t lock; /* guards the rest, and a magic_t serves one thread at a time */
	bool tried;
	magic_t cookie; /* NULL: libmagic cannot be used */
	const char *(*buffer)(magic_t cookie, const void *data, size_t len);
} library = {.lock = PTHREAD_MUTEX_INITIALIZER};

static magic_t media_magic_load(void)
{
	magic_t (*open)(int flags);
	int (*load_database)(magic_t cookie, const char *path);
	void *handle = dlopen("libmagic.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!handle || !library_find(handle, "magic_open", &open) ||
	    !library_find(handle, "magic_load", &load_database) ||
	    !library_find(handle, "magic_buffer", &library.buffer))
		return NULL;
	magic_t cookie = open(MAGIC_MIME_TYPE | MAGIC_NO_CHECK_COMPRESS);
	char *own = process_data("magic.mgc"); /* archives that bring the library have it */
	bool loaded = cookie && load_database(cookie, own) == 0;
	free(own);
	return loaded ? cookie : NULL;
}

const char *media_type_of_bytes(struct arena *arena, const void *data, size_t len)
{
	const char *type = NULL;
	pthread_mutex_lock(&library.lock);
	if (!library.tried) {
		library.cookie = media_magic_load();
		if (!library.cookie)
			log_warning("libmagic cannot be used: types of files are not told from "
				    "their content");
	}
	library.tried = true;
	if (library.cookie && len > 0)
		type = library.buffer(library.cookie, data, len);
	const char *copy =
	    arena_strdup(arena, type && media_type_valid(type) ? type : MEDIA_TYPE_UNKNOWN);
	pthread_mutex_unlock(&library.lock);
	return copy;
}
