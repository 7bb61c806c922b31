/* SPDX-License-Identifier: ISC */
/* Names compared by device and inode. */
#include "base/bound.h"

#include <sys/stat.h>
#include <unistd.h>

struct bound bound_at(const char *path)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return (struct bound){0};
	return (struct bound){st.st_dev, st.st_ino};
}

bool bound_is_other(struct bound bound, const char *path)
{
	struct bound found = bound_at(path);

	return found.device != bound.device || found.inode != bound.inode;
}

void bound_remove(struct bound bound, const char *path)
{
	if (bound.inode && !bound_is_other(bound, path))
		unlink(path);
}
