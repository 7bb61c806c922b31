/* SPDX-License-Identifier: ISC */
/* Mode and group of the FastCGI socket: their options, and giving them to the file. */
#include "command.h"
#include "sockets.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_mode(struct socket_access *access, const char *text)
{
	char *end;
	unsigned long mode = strtoul(text, &end, 8);

	if (*text < '0' || *text > '7' || *end || mode > 0777 || (mode & 0600) != 0600) {
		complain(EXIT_USAGE,
		    "--socket-mode must be an octal mode that begins with 6 or 7, like 0660, not \"%s\"",
		    text);
		return false;
	}
	access->mode = (unsigned)mode;
	access->has_mode = true;
	return true;
}

static bool read_group(struct socket_access *access, const char *text)
{
	const struct group *group = getgrnam(text);
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (group)
		access->group = group->gr_gid;
	else if (*text >= '0' && *text <= '9' && !*end && number < (gid_t)-1)
		access->group = (gid_t)number;
	else
		complain(EXIT_USAGE, "--socket-group: there is no group \"%s\"", text);
	return access->group != (gid_t)-1;
}

bool socket_access_read(struct socket_access *access, const char *mode, const char *group)
{
	*access = (struct socket_access){.group = (gid_t)-1};
	return (!mode || read_mode(access, mode)) && (!group || read_group(access, group));
}

bool unix_give(const char *path, const struct socket_access *access)
{
	if (access->group != (gid_t)-1 && chown(path, (uid_t)-1, access->group) != 0) {
		complain(1,
		    "cannot give %s to the group %lu: %s; without privileges it must be a group that "
		    "you are in",
		    path, (unsigned long)access->group, strerror(errno));
		return false;
	}
	if (access->has_mode && chmod(path, access->mode) != 0) {
		complain(1, "cannot change the mode of %s: %s", path, strerror(errno));
		return false;
	}
	return true;
}
