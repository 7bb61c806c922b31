/* SPDX-License-Identifier: ISC */
/* Checking a prefix, and the names and the regular expression that nginx gets for it. */
#include "cli/nginx/nginx_prefix.h"

#include "base/buf.h"
#include "cli/command.h"

#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* Characters that mean themselves to nginx, in a URL and in a file of settings. */
#define PLAIN LETTERS "-._~/"

#define LIKE "a path like /agent, of letters, digits, \"-\", \".\", \"_\" and \"~\""

static const char *nginx_prefix_escaped(struct arena *a, const char *path)
{
	struct buf out = {0};
	for (; *path; path++) {
		if (*path == '.')
			buf_putc(&out, '\\');
		buf_putc(&out, *path);
	}
	return arena_take(a, &out);
}

/* "/a-b" becomes "_a_2db", and no two prefixes become the same. */
static const char *nginx_prefix_id_of(struct arena *a, const char *path)
{
	struct buf out = {0};
	buf_putc(&out, '_');
	for (path++; *path; path++) {
		if (strchr(LETTERS, *path))
			buf_putc(&out, *path);
		else
			buf_printf(&out, "_%02x", (unsigned char)*path);
	}
	return arena_take(a, &out);
}

/* Whether path is empty, a slash, or a path without empty segments, "." and "..", which may end
 * with a slash. */
static bool nginx_prefix_is_valid(const char *path)
{
	if (!*path || strcmp(path, "/") == 0)
		return true;
	if (*path != '/' || strspn(path, PLAIN) != strlen(path))
		return false;
	while (*path) {
		size_t len = strcspn(++path, "/");
		if (len == 0 || (path[0] == '.' && (len == 1 || (len == 2 && path[1] == '.'))))
			return false;
		path += len;
		path += strcmp(path, "/") == 0;
	}
	return true;
}

bool nginx_prefix_option(const char *path)
{
	if (nginx_prefix_is_valid(path))
		return true;
	complain(EXIT_USAGE, "--prefix must be " LIKE ", not \"%s\"", path);
	return false;
}

bool nginx_prefix_read(
    struct nginx_prefix *prefix, struct arena *a, const char *path, struct problems *problems)
{
	size_t len = strlen(path);
	*prefix = (struct nginx_prefix){.path = "",
	    .regex = "",
	    .uri = "$request_uri",
	    .id = "",
	    .strip = "",
	    .slash = "",
	    .whole = ""};
	if (!nginx_prefix_is_valid(path)) {
		problems_add(problems, "prefix: expected " LIKE ", found \"%s\"", path);
		return false;
	}
	len -= len && path[len - 1] == '/';
	if (!len)
		return true;
	prefix->path = arena_strndup(a, path, len);
	prefix->regex = nginx_prefix_escaped(a, prefix->path);
	prefix->id = nginx_prefix_id_of(a, prefix->path);
	prefix->uri = arena_printf(a, "$agentgraph_uri%s", prefix->id);
	/* The service must see the URI as the client sent it, encoded bytes included, so the prefix
	 * is cut off that text.  A URI that has the prefix only after decoding is left alone, and
	 * refused.  nginx would encode $1 once more, but passes a named group on as it is. */
	prefix->strip = arena_printf(a,
	    "# The service knows nothing of the prefix.\n"
	    "set %s $request_uri;\n"
	    "if ($request_uri ~ \"^%s(?<agentgraph_rest>/.*)$\") { set %s $agentgraph_rest; }\n"
	    "location ^~ %s/ { rewrite ^ %s/v1/ last; }\n"
	    "location = %s { rewrite ^ %s/_agentgraph/error last; }\n",
	    prefix->uri, prefix->regex, prefix->uri, prefix->path, prefix->path, prefix->path,
	    prefix->path);
	prefix->slash = arena_printf(a,
	    "# No error: the prefix alone leads to what is below it, with the headers of all answers.\n"
	    "absolute_redirect off;\n"
	    "if ($status = 000) { return 301 %s/$is_args$args; }\n",
	    prefix->path);
	prefix->whole = "# ";
	return true;
}
