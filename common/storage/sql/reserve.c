/* SPDX-License-Identifier: ISC */
/* The reserve: a file of zeroes. */
#include "storage/sql/reserve.h"

#include "base/os/owned.h"

#include <fcntl.h>
#include <unistd.h>

/* A few transactions of the log, with what a checkpoint of them adds to the databases. */
#define RESERVE_SIZE (4 << 20)

void reserve_keep(const char *path)
{
	int fd = owned_create(path);

	if (fd < 0)
		return;
	if (posix_fallocate(fd, 0, RESERVE_SIZE) != 0)
		unlink(path);
	close(fd);
}

bool reserve_give_up(const char *path)
{
	return unlink(path) == 0;
}
