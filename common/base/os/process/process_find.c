/* SPDX-License-Identifier: ISC */
/* Finding an executable by name: in PATH, from a directory, or one of this package; and this
 * package's data. */
#include "base/buf.h"
#include "base/memory.h"
#include "base/os/process/process.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *process_find_joined(const char *dir, size_t dir_len, const char *name)
{
	struct buf path = {0};
	buf_add(&path, dir, dir_len);
	buf_putc(&path, '/');
	buf_puts(&path, name);
	return buf_detach(&path);
}

static char *process_find_executable(char *path)
{
	struct stat st;
	bool there = stat(path, &st) == 0;
	int code = there ? EACCES : errno;
	if (there && S_ISREG(st.st_mode) && access(path, X_OK) == 0)
		return path;
	free(path);
	errno = code;
	return NULL;
}

char *process_find(const char *name, const char *dir)
{
	const char *dirs = getenv("PATH");
	int code = ENOENT;
	if (strchr(name, '/'))
		return process_find_executable(
		    *name == '/' ? xstrdup(name) : process_find_joined(dir, strlen(dir), name));
	if (!dirs)
		dirs = "/usr/local/bin:/usr/bin:/bin";
	for (;; dirs++) {
		size_t len = strcspn(dirs, ":");
		char *path =
		    len ? process_find_executable(process_find_joined(dirs, len, name)) : NULL;
		if (path)
			return path;
		if (len && errno == EACCES)
			code = EACCES;
		dirs += len;
		if (!*dirs)
			break;
	}
	errno = code;
	return NULL;
}

/* process_find_part tries each place with check, which gives the path back or frees it. */
static char *process_find_part(
    const char *name, const char *installed, const char *built, char *(*check)(char *path))
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *path = NULL;
	if (len > 0) {
		self[len] = '\0';
		*strrchr(self, '/') = '\0';
		path = check(xasprintf("%s/%s", self, name));
		if (!path)
			path = check(xasprintf("%s/%s/%s", self, installed, name));
	}
	return path ? path : check(xasprintf("%s/%s", built, name));
}

static char *process_find_readable(char *path)
{
	if (access(path, R_OK) == 0)
		return path;
	free(path);
	return NULL;
}

char *process_own(const char *name)
{
	return process_find_part(
	    name, "../libexec/agentgraph", AGENTGRAPH_LIBEXECDIR, process_find_executable);
}

char *process_part(const char *name)
{
	return process_find_part(
	    name, "../libexec/agentgraph", AGENTGRAPH_LIBEXECDIR, process_find_readable);
}

char *process_data(const char *name)
{
	return process_find_part(
	    name, "../../share/agentgraph", AGENTGRAPH_DATADIR, process_find_readable);
}
