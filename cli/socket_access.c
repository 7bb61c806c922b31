/* SPDX-License-Identifier: ISC */
/* Mode and group of the FastCGI socket: their options, and giving them to the file. */
#include "cli/command.h"
#include "cli/sockets.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool socket_access_read(struct socket_access *access, const char *mode, const char *group)
{
	*access = (struct socket_access){.group = (gid_t)-1};
	if (mode) {
		char *end;
		unsigned long bits = strtoul(mode, &end, 8);
		if (*mode < '0' || *mode > '7' || *end || bits > 0777 || (bits & 0600) != 0600)
			return complain(0,
			    "--socket-mode must be an octal mode that begins with 6 or 7, like 0660, not \"%s\"",
			    mode);
		access->mode = (unsigned)bits;
		access->has_mode = true;
	}
	if (!group)
		return true;

	const struct group *named = getgrnam(group);
	char *end;
	unsigned long number = strtoul(group, &end, 10);
	if (named)
		access->group = named->gr_gid;
	else if (*group >= '0' && *group <= '9' && !*end && number < (gid_t)-1)
		access->group = (gid_t)number;
	else
		complain(EXIT_USAGE, "--socket-group: there is no group \"%s\"", group);
	return access->group != (gid_t)-1;
}

int unix_open(const char *path, unsigned mode, const struct socket_access *access)
{
	int fd = unix_listen(path, mode);
	if (fd < 0)
		return fd;
	if (access->group != (gid_t)-1 && chown(path, (uid_t)-1, access->group) != 0)
		complain(1,
		    "cannot give %s to the group %lu: %s; without privileges it must be a group that "
		    "you are in",
		    path, (unsigned long)access->group, strerror(errno));
	else if (access->has_mode && chmod(path, access->mode) != 0)
		complain(1, "cannot change the mode of %s: %s", path, strerror(errno));
	else
		return fd;
	close(fd);
	unlink(path);
	return -1;
}
