/* SPDX-License-Identifier: ISC */
/* The reserve: a file of zeroes. */
#include "storage/sql/reserve.h"

#include "base/os/owned.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Enough for a few transactions in the log, and for moving them into the databases. */
#define RESERVE_SIZE (4 << 20)
#define SPARE (1 << 20) /* so much is left to others beside it */

/* Whether the file system of fd has so many bytes. */
static bool reserve_has_room(int fd, uint64_t bytes)
{
	struct statvfs fs;
	return fstatvfs(fd, &fs) != 0 || (uint64_t)fs.f_bavail * fs.f_frsize >= bytes;
}

void reserve_keep(const char *path)
{
	int fd = owned_open(path); /* one that was only begun is completed */
	struct stat st;
	if (fd < 0)
		return;
	/* else it would take, for a moment, what it was given up for */
	if (fstat(fd, &st) == 0 && st.st_size < RESERVE_SIZE &&
	    (!reserve_has_room(fd, RESERVE_SIZE + SPARE) ||
		posix_fallocate(fd, 0, RESERVE_SIZE) != 0))
		unlink(path);
	close(fd);
}

bool reserve_give_up(const char *path)
{
	return unlink(path) == 0;
}
