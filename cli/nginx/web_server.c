/* SPDX-License-Identifier: ISC */
/* The web server: its snippet, the include of it, and whether its user gets to the socket. */
#include "cli/nginx/host.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/memory.h"
#include "cli/fcgi_ask.h"
#include "cli/nginx/nginx_conf.h"
#include "cli/nginx/nginx_file.h"
#include "cli/sockets.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MAX_GROUPS 256
#define ACL "system.posix_acl_access"

/* ---- the snippet ---- */

/* The next line of *text that is neither empty nor a comment, without the blanks around it; NULL at
 * the end. */
static const char *web_server_next_line(const char **text, size_t *len)
{
	while (**text) {
		const char *line = *text + strspn(*text, " \t\r");
		*len = strcspn(line, "\n");
		*text = line + *len + (line[*len] == '\n');
		while (*len && strchr(" \t\r", line[*len - 1]))
			(*len)--;
		if (*len && *line != '#')
			return line;
	}
	return NULL;
}

/* The first line of wanted that found lacks, in their order; NULL when it has all.  Further lines
 * in found were added by hand. */
static const char *web_server_first_missing(const char *wanted, const char *found, size_t *len)
{
	const char *line, *other;
	size_t other_len;
	while ((line = web_server_next_line(&wanted, len))) {
		while ((other = web_server_next_line(&found, &other_len)))
			if (*len == other_len && memcmp(line, other, other_len) == 0)
				break;
		if (!other)
			return line;
	}
	return NULL;
}

static void web_server_examine_snippet(
    const struct web_place *place, const struct config *config, struct problems *problems)
{
	const struct nginx_place where = {.socket = place->socket,
	    .prefix = place->prefix ? place->prefix : config->env.root_path};
	char *wanted = nginx_conf(config, &where, problems);
	struct buf found = {0};
	const char *line;
	size_t len;
	if (wanted && !nginx_file_text(place->snippet, &found))
		problems_add(problems,
		    "the snippet %s cannot be read (%s): make it with agentgraph nginx-conf",
		    place->snippet, strerror(errno));
	else if (wanted && (line = web_server_first_missing(wanted, buf_str(&found), &len)))
		problems_add(problems,
		    "the snippet %s is not of these settings, which give \"%.*s\": make it again with "
		    "agentgraph nginx-conf, and reload nginx",
		    place->snippet, (int)len, line);
	buf_release(&found);
	free(wanted);
}

/* ---- the way to the socket ---- */

struct identity {
	const char *name;
	uid_t uid;
	gid_t groups[MAX_GROUPS];
	int group_count;
};

/* Whether the mode gives the user all of bits (of 7), as owner, group or other.  A file with an
 * access list may give more, and counts as if it did. */
static bool web_server_may(
    const struct identity *who, const char *path, const struct stat *st, unsigned bits)
{
	unsigned shift = who->uid == st->st_uid ? 6 : 0;
	for (int i = 0; !shift && i < who->group_count; i++)
		if (who->groups[i] == st->st_gid)
			shift = 3;
	return who->uid == 0 || (st->st_mode >> shift & bits) == bits ||
	    getxattr(path, ACL, NULL, 0) > 0;
}

static bool web_server_identify(struct identity *who, const struct web_place *place,
    const struct nginx_file *file, struct problems *problems)
{
	const char *name = place->user ? place->user : file->user;
	const struct passwd *user = name ? getpwnam(name) : NULL;
	const struct group *group = file->group && !place->user ? getgrnam(file->group) : NULL;
	if (!name)
		return false;
	if (!user) {
		problems_warn(problems, "the web server's user %s is unknown here", name);
		return false;
	}
	*who = (struct identity){.name = name, .uid = user->pw_uid, .group_count = MAX_GROUPS};
	if (getgrouplist(
		name, group ? group->gr_gid : user->pw_gid, who->groups, &who->group_count) < 0)
		who->group_count = MAX_GROUPS;
	return true;
}

/* The first directory on the way to path that the user cannot pass, malloc'd; NULL when there is
 * none. */
static char *web_server_closed_directory(const struct identity *who, const char *path)
{
	char *copy = xstrdup(path);
	struct stat st;
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (stat(copy, &st) == 0 && !web_server_may(who, copy, &st, 1))
			return copy;
		*slash = '/';
	}
	free(copy);
	return NULL;
}

static void web_server_advise_group(
    const struct identity *who, const char *what, gid_t gid, struct problems *problems)
{
	const struct group *group = gid ? getgrgid(gid) : NULL;
	if (group)
		problems_add(problems,
		    "the web server's user %s cannot %s: add it to the group (usermod -aG %s %s) and "
		    "restart the web server, or give it away by --socket-group or an access list "
		    "(setfacl)",
		    who->name, what, group->gr_name, who->name);
	else
		problems_add(problems,
		    "the web server's user %s cannot %s: put the socket where it can, or give it "
		    "access by --socket-group, --socket-mode or an access list (setfacl)",
		    who->name, what);
}

static void web_server_examine_way(
    const struct identity *who, const char *socket, struct problems *problems)
{
	char *closed = web_server_closed_directory(who, socket);
	struct arena *a = arena_new();
	struct stat st;
	if (closed && stat(closed, &st) == 0)
		web_server_advise_group(who,
		    arena_printf(a, "pass the directory %s (mode %03o)", closed, st.st_mode & 0777),
		    st.st_mode & 010 ? st.st_gid : 0, problems);
	else if (stat(socket, &st) == 0 && !web_server_may(who, socket, &st, 6))
		web_server_advise_group(who,
		    arena_printf(a, "connect to %s (mode %03o)", socket, st.st_mode & 0777),
		    (st.st_mode & 060) == 060 ? st.st_gid : 0, problems);
	free(closed);
	arena_free(a);
}

/* Asks the service at the socket, if there is one.  A service that was killed leaves its socket to
 * the next one, so nobody there is only a warning. */
static void web_server_examine_socket(const char *socket, struct problems *problems)
{
	struct buf answer = {0};
	struct stat st;
	int fd;
	if (stat(socket, &st) != 0 || !S_ISSOCK(st.st_mode))
		return;
	fd = unix_connect(socket);
	if (fd < 0 && errno == ECONNREFUSED)
		problems_warn(problems,
		    "nobody answers at the service's socket %s: start the service", socket);
	else if ((fd < 0 && errno == EAGAIN) ||
	    (fd >= 0 && !fcgi_ask(socket, "/ping", NULL, &answer)))
		problems_warn(problems,
		    "the service at %s takes connections and does not answer /ping: see its log, "
		    "and restart it",
		    socket);
	if (fd >= 0)
		close(fd);
	buf_release(&answer);
}

/* ---- the running configuration ---- */

void web_examine(
    const struct web_place *place, const struct config *config, struct problems *problems)
{
	char *socket = fastcgi_socket_path(config->state_dir, place->socket);
	struct nginx_file file = {0};
	struct identity who;
	web_server_examine_socket(socket, problems);
	if (place->snippet)
		web_server_examine_snippet(place, config, problems);
	if (place->nginx_text)
		nginx_file_parse(&file, place->nginx_text, problems);
	if (place->nginx_text ||
	    (place->nginx_conf && nginx_file_read(&file, place->nginx_conf, problems))) {
		if (!nginx_file_passes(&file, socket))
			problems_add(problems,
			    "no server of %s passes requests to %s: put an include of the snippet into "
			    "a server block, and reload nginx",
			    place->nginx_text ? "standard input" : place->nginx_conf, socket);
		int64_t sockets = config->websocket.max_connections;
		int64_t workers = file.workers > 1 ? file.workers : 1;
		if (file.connections && sockets * 2 > file.connections * workers)
			problems_warn(problems,
			    "nginx has worker_connections %ld in %lld processes, and each of "
			    "websocket.max_connections (%lld) takes two: raise the one or lower the other",
			    file.connections, (long long)workers, (long long)sockets);
	}
	if (web_server_identify(&who, place, &file, problems))
		web_server_examine_way(&who, socket, problems);
	nginx_file_release(&file);
	free(socket);
}
