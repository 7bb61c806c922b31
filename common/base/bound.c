/* SPDX-License-Identifier: ISC */
/* Names compared by device, inode and time of birth. */
#include "base/bound.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct bound bound_at(const char *path)
{
	struct statx st;
	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &st) != 0)
		return (struct bound){0};
	return (struct bound){.device_major = st.stx_dev_major,
	    .device_minor = st.stx_dev_minor,
	    .inode = st.stx_ino,
	    .born = st.stx_mask & STATX_BTIME
		? st.stx_btime.tv_sec * 1000000000 + st.stx_btime.tv_nsec
		: 0};
}

bool bound_is_other(struct bound bound, const char *path)
{
	struct bound found = bound_at(path);
	return found.device_major != bound.device_major ||
	    found.device_minor != bound.device_minor || found.inode != bound.inode ||
	    found.born != bound.born;
}

void bound_remove(struct bound bound, const char *path)
{
	if (bound.inode && !bound_is_other(bound, path))
		unlink(path);
}
