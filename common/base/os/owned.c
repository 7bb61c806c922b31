/* SPDX-License-Identifier: ISC */
/* Files and directories that root makes for the owner of the directory that they are in. */
#include "base/os/owned.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void owned_give(const char *path, int fd)
{
	char *dir = xstrdup(path), *slash = strrchr(dir, '/');
	struct stat st;
	if (slash)
		slash[slash == dir] = '\0';
	if (geteuid() == 0 && stat(slash ? dir : ".", &st) == 0 &&
	    fchown(fd, st.st_uid, st.st_gid) != 0)
		errno = 0;
	free(dir);
}

int owned_create(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		owned_give(path, fd);
	return fd;
}

int owned_open(const char *path)
{
	struct stat st;
	int fd = owned_create(path);
	if (fd >= 0 || errno != EEXIST)
		return fd;
	fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

bool owned_directory(const char *path)
{
	bool made = mkdir(path, 0700) == 0;
	int fd = made || errno == EEXIST
	    ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
	    : -1;
	if (fd < 0)
		return false;
	if (made)
		owned_give(path, fd);
	close(fd);
	return true;
}
