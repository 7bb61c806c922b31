/* SPDX-License-Identifier: ISC */
/* What stands in the places of the templates' markers, quoted as nginx wants it. */
#include "cli/nginx/nginx_conf.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json/json.h"
#include "cli/nginx/nginx_prefix.h"
#include "cli/sockets.h"
#include "cli/texts.h"
#include "config/answer_headers.h"
#include "config/environment/environment.h"
#include "config/string_list.h"
#include "config/text_file.h"
#include "storage/blob/blob.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <libgen.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <unistd.h>

#define CONNECTIONS 8192
#define DESCRIPTORS 20000 /* two for each connection, and some more */
#define MEGABYTE 1048576.0
/* What an upload's body may have beside the file (doc/protocol-files.md#upload). */
#define MULTIPART_ROOM 65536
#define LONGEST 4000 /* of what stands between quotes; nginx takes a little more */

/* nginx takes everything between quotes but variables, control characters and what is very long. */
static bool nginx_conf_can_quote(const char *text)
{
	if (strlen(text) > LONGEST)
		return false;
	for (; *text; text++)
		if (*text == '$' || (unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

/* text as it stands between double quotes. */
static const char *nginx_conf_quoted(struct arena *a, const char *text)
{
	struct buf out = {0};
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buf_putc(&out, '\\');
		buf_putc(&out, *text);
	}
	return arena_take(a, &out);
}

static const char *nginx_conf_quoted_path(
    struct arena *a, const char *what, const char *path, struct problems *problems)
{
	if (!nginx_conf_can_quote(path))
		problems_add(problems,
		    "the path of the %s, \"%s\", holds a $ or a control character, or is too long, "
		    "which nginx cannot be told",
		    what, path);
	return nginx_conf_quoted(a, path);
}

/* The lines for the headers of doc/protocol.md#headers. */
static const char *nginx_conf_security_headers(
    struct arena *a, const struct environment *env, const char *prefix, struct problems *problems)
{
	struct answer_header headers[SECURITY_HEADERS];
	struct buf out = {0}, hsts = {0};
	answer_security_headers(env, headers);
	for (size_t i = 0; i < SECURITY_HEADERS; i++) {
		const char *name = headers[i].name, *value = headers[i].value;
		if (!value || !*value)
			continue;
		if (nginx_conf_can_quote(value))
			buf_printf(&out, "add_header %s \"%s\" always;\n", name,
			    nginx_conf_quoted(a, value));
		else
			problems_warn(problems,
			    "%s: nginx cannot be told a value with a $ or a control character, or of more "
			    "than %d bytes, so answers that nginx gives by itself lack the header",
			    name, LONGEST);
	}
	environment_hsts(env, *prefix, &hsts);
	if (hsts.len)
		buf_printf(&out,
		    "set $agentgraph_secure $scheme/$http_x_forwarded_proto;\n"
		    "set $agentgraph_hsts \"\";\n"
		    "if ($agentgraph_secure ~* \"^https/|/https$\") {\n"
		    "    set $agentgraph_hsts \"%s\";\n"
		    "}\n"
		    "add_header Strict-Transport-Security $agentgraph_hsts always;\n",
		    buf_str(&hsts));
	buf_release(&hsts);
	return arena_take(a, &out);
}

/* Variables for the headers of CORS, in the order of the list. */
static const char *const cors_variables[CORS_HEADERS] = {"origin", "vary", "credentials", "expose"};

static void nginx_conf_add_cors_variables(struct buf *out, const struct answer_header *headers)
{
	for (size_t i = 0; i < CORS_HEADERS; i++)
		buf_printf(out, "add_header %s $agentgraph_%s always;\n", headers[i].name,
		    cors_variables[i]);
}

/* doc/protocol.md#cors: browsers show an error only to pages that may see it. */
static const char *nginx_conf_cors_headers(struct arena *a, const struct environment *env)
{
	struct answer_header headers[CORS_HEADERS];
	struct buf origins = {0}, out = {0};
	answer_cors_headers(env, "$http_origin", headers);
	bool any = string_list_has(&env->origins, "*");
	size_t count = any ? 1 : env->origins.count;

	for (size_t i = 0; count && i < CORS_HEADERS; i++)
		buf_printf(&out, "set $agentgraph_%s \"\";\n", cors_variables[i]);
	/* regular expressions, unquoted, for the allowed origins and nothing else */
	for (size_t i = 0; i < count; i++) {
		buf_puts(&origins, any ? "." : origins.len ? "|^" : "^");
		for (const char *c = any ? "" : env->origins.items[i]; *c; c++) {
			if (strchr("\\^$.|?*+()[]{}\"", *c))
				buf_putc(&origins, '\\');
			buf_putc(&origins, *c);
		}
		buf_puts(&origins, any ? "" : "$");
		if (i + 1 < count && origins.len < LONGEST / 4) /* it is longer when quoted */
			continue;
		buf_printf(&out, "if ($http_origin ~ \"%s\") {\n",
		    nginx_conf_quoted(a, buf_str(&origins)));
		for (size_t k = 0; k < CORS_HEADERS; k++)
			if (headers[k].value)
				buf_printf(&out, "    set $agentgraph_%s \"%s\";\n",
				    cors_variables[k], headers[k].value);
		buf_puts(&out, "}\n");
		origins.len = 0;
	}
	if (count)
		nginx_conf_add_cors_variables(&out, headers);
	buf_release(&origins);
	return arena_take(a, &out);
}

/* nginx's variable for a header of the service's answer. */
static const char *nginx_conf_upstream(struct arena *a, const char *name)
{
	char *variable = arena_printf(a, "$upstream_http_%s", name);
	for (char *c = variable; *c; c++)
		*c = *c == '-' ? '_' : (char)tolower((unsigned char)*c);
	return variable;
}

/* For a file, which nginx sends after the service has answered: the headers of that answer. */
static const char *nginx_conf_passed_headers(struct arena *a, const struct environment *env)
{
	struct answer_header headers[SECURITY_HEADERS + 1 + CORS_HEADERS];
	struct buf out = {0};
	answer_security_headers(env, headers);
	headers[SECURITY_HEADERS] = (struct answer_header){"Strict-Transport-Security", NULL};
	answer_cors_headers(env, "", headers + SECURITY_HEADERS + 1);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		buf_printf(&out, "add_header %s %s;\n", headers[i].name,
		    nginx_conf_upstream(a, headers[i].name));
	return arena_take(a, &out);
}

/* For answers of the relay and the follower, which are upstreams themselves: the worker's headers
 * of CORS, kept in variables before their answer takes its place. */
static const char *nginx_conf_passed_cors(struct arena *a, const struct environment *env)
{
	struct answer_header headers[CORS_HEADERS];
	struct buf out = {0};
	answer_cors_headers(env, "", headers);
	for (size_t i = 0; i < CORS_HEADERS; i++)
		buf_printf(&out, "set $agentgraph_%s %s;\n", cors_variables[i],
		    nginx_conf_upstream(a, headers[i].name));
	nginx_conf_add_cors_variables(&out, headers);
	return arena_take(a, &out);
}

/* Locations of the pages and of what lies below them (doc/protocol.md#the-openapi-document). */
static const char *nginx_conf_pages(
    struct arena *a, const struct environment *env, const char *prefix, struct problems *problems)
{
	const char *pages[] = {env->docs_path, env->redocs_path, env->console_path};
	struct buf out = {0};
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		const char *path = nginx_conf_quoted_path(a, "pages", pages[i], problems);
		if (!*path)
			continue;
		buf_printf(
		    &out, "location = \"%s%s\" { rewrite ^ %s/v1/ last; }\n", prefix, path, prefix);
		buf_printf(&out, "location ^~ \"%s%s/\" { rewrite ^ %s/v1/ last; }\n", prefix, path,
		    prefix);
	}
	return arena_take(a, &out);
}

/* Locations for LangGraph's protocol: streams are passed on like /v1/graph/stream, everything else
 * like other routes.  nginx checks the size of a body here first, and again where the rewrite
 * leads; one that is too large for it goes on to the service, which refuses it in its own form. */
static const char *nginx_conf_langgraph(
    struct arena *a, const struct nginx_prefix *prefix, const char *large)
{
	return arena_printf(a,
	    "location ^~ %s/lg/ {\n"
	    "    client_max_body_size 0;\n"
	    "    %s\n"
	    "    location ~ /runs/stream$ {\n"
	    "        %s\n"
	    "        rewrite ^ %s/v1/graph/stream last;\n"
	    "    }\n"
	    "    rewrite ^ %s/v1/ last;\n"
	    "}",
	    prefix->path, large, large, prefix->path, prefix->path);
}

/* The number as JSON writes it. */
static const char *nginx_conf_number(struct arena *a, double value)
{
	cJSON *item = arena_json(a, json_new_double(value));
	char *text = json_print(item);
	const char *copy = arena_strdup(a, text);
	free(text);
	return copy;
}

static const char *nginx_conf_access_log(
    struct arena *a, const struct environment *env, struct problems *problems)
{
	if (!env->access_log)
		return "off";
	char *path = path_absolute(NULL, env->access_log);
	arena_defer(a, free, path);
	char *parent = dirname(arena_printf(a, "%s", path));
	bool there = access(path, F_OK) == 0;
	if (access(there ? path : parent, there ? W_OK : W_OK | X_OK) != 0)
		problems_add(problems, "AGENTGRAPH_ACCESS_LOG: %s cannot be written: %s", path,
		    strerror(errno));
	return arena_printf(a, "\"%s\" %s", nginx_conf_quoted_path(a, "access log", path, problems),
	    env->log_format == LOG_JSON ? "agentgraph_json" : "agentgraph_plain");
}

/* Everything around the snippet. */
static char *nginx_conf_full(struct arena *a, const struct config *config,
    const struct nginx_place *place, const char *snippet, const char *max_size,
    struct problems *problems)
{
	const char *run = arena_printf(a, "%s/run", config->state_dir);
	struct rlimit limit;
	bool few = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max <= DESCRIPTORS;
	long files = few ? (long)limit.rlim_max : DESCRIPTORS;
	/* nginx as root would give its workers another user, who may not open the socket */
	const struct passwd *user = geteuid() == 0 ? getpwuid(0) : NULL;
	const struct group *group = user ? getgrgid(getegid()) : NULL;
	struct buf out = {0};
	const struct marker values[] = {
	    {"USER",
		group ? arena_printf(a, "user \"%s\" \"%s\";", user->pw_name, group->gr_name) : ""},
	    {"RUN", nginx_conf_quoted_path(a, "state directory", run, problems)},
	    {"LISTEN", place->listen},
	    {"DRAIN", arena_printf(a, "%ld", place->drain)},
	    {"NOFILE", arena_printf(a, "%ld", files)},
	    {"CONNECTIONS",
		arena_printf(a, "%ld", files / 2 < CONNECTIONS ? files / 2 : CONNECTIONS)},
	    {"MAX_REQUEST_SIZE", max_size},
	    {"SNIPPET", snippet},
	    {"ACCESS_LOG", nginx_conf_access_log(a, &config->env, problems)},
	    {NULL, NULL},
	};
	markers_fill(&out, text_nginx_conf_in, values);
	return buf_detach(&out);
}

/* The path of a socket beside the FastCGI socket; in a URL, nginx takes it to end at a colon. */
static const char *nginx_conf_socket(struct arena *a, const struct config *config,
    const char *chosen, const char *name, const char *what, struct problems *problems)
{
	struct sockaddr_un address;
	char *path = side_socket_path(config->state_dir, chosen, name);
	arena_defer(a, free, path);
	if (strchr(path, ':'))
		problems_add(problems,
		    "the path of the socket \"%s\" holds a colon, which nginx cannot be told",
		    path);
	if (strlen(path) >= sizeof(address.sun_path))
		problems_add(problems,
		    "the path of the %s, \"%s\", is too long for a socket: choose a shorter one "
		    "with --socket",
		    what, path);
	return nginx_conf_quoted_path(a, what, path, problems);
}

/* The lines of every location that passes requests on. */
static const char *nginx_conf_passing_lines(
    struct arena *a, const char *socket, const struct nginx_prefix *prefix)
{
	const struct marker values[] = {
	    {"SOCKET", socket}, {"URI", prefix->uri}, {"PREFIX", prefix->path}, {NULL, NULL}};
	struct buf out = {0};
	markers_fill(&out, text_fastcgi_conf_in, values);
	return arena_take(a, &out);
}

static char *nginx_conf_snippet(struct arena *a, const struct config *config,
    const struct nginx_place *place, const struct nginx_prefix *prefix, const char *max_size,
    struct problems *problems)
{
	const struct environment *env = &config->env;
	char *path = fastcgi_socket_path(config->state_dir, place->socket);
	const char *socket = nginx_conf_quoted_path(a, "FastCGI socket", path, problems);
	double mb = (double)env->max_request_size / MEGABYTE;
	struct error too_large = {0};
	const char *file_mb = nginx_conf_number(a, env->media_max_size_mb);
	double file_size = floor(env->media_max_size_mb * MEGABYTE);
	/* into each location that takes bodies; nginx gives them no such thing from the location
	 * around */
	const char *large = arena_printf(a,
	    "set $agentgraph_body \"$server_protocol $http_transfer_encoding:$http_content_length\";\n"
	    "if ($agentgraph_body !~ \"^HTTP/1\\.[01] :$|^\\S+ :[0-9]{1,4}$\") {\n"
	    "    rewrite ^ %s/v1/_large last;\n"
	    "}",
	    prefix->path);
	char *memory = blobs_memory_path(config->state_dir);
	struct buf out = {0};
	error_too_large(&too_large, env->max_request_size);
	const struct marker values[] = {
	    {"SOCKET", socket},
	    {"RELAY",
		nginx_conf_socket(a, config, place->socket, "relay", "relay's socket", problems)},
	    {"FOLLOW",
		nginx_conf_socket(a, config, place->socket, "follow", "socket for runs", problems)},
	    {"FASTCGI", nginx_conf_passing_lines(a, socket, prefix)},
	    {"PREFIX", prefix->path},
	    {"PREFIX_REGEX", prefix->regex},
	    {"STRIP", prefix->strip},
	    {"SLASH", prefix->slash},
	    {"URI", prefix->uri},
	    {"ID", prefix->id},
	    {"WHOLE", prefix->whole},
	    {"LANGGRAPH", config->langgraph_enabled ? nginx_conf_langgraph(a, prefix, large) : ""},
	    {"PAGES", nginx_conf_pages(a, env, prefix->path, problems)},
	    {"FILES_LOCAL",
		nginx_conf_quoted_path(a, "uploaded files", env->media_storage_path, problems)},
	    {"FILES_MEMORY", nginx_conf_quoted_path(a, "files in memory", memory, problems)},
	    {"READ_TIMEOUT", arena_printf(a, "%lld", (long long)env->read_timeout)},
	    {"SEND_TIMEOUT", arena_printf(a, "%lld", (long long)env->send_timeout)},
	    {"LARGE", large},
	    {"MAX_REQUEST_SIZE", max_size},
	    {"MAX_REQUEST_MB", nginx_conf_number(a, mb)},
	    {"REQUEST_TOO_LARGE", too_large.detail},
	    {"MAX_UPLOAD_SIZE", arena_printf(a, "%.0f", file_size + MULTIPART_ROOM)},
	    {"MAX_FILE_SIZE", arena_printf(a, "%.0f", file_size)},
	    {"MAX_FILE_MB", file_mb},
	    {"FILE_TOO_LARGE", /* messages have at least one decimal */
		arena_printf(a, "File exceeds maximum %s%sMB", file_mb,
		    strpbrk(file_mb, ".eE") ? "" : ".0")},
	    {"SECURITY_HEADERS", nginx_conf_security_headers(a, env, prefix->path, problems)},
	    {"CORS_HEADERS", nginx_conf_cors_headers(a, env)},
	    {"PASSED_HEADERS", nginx_conf_passed_headers(a, env)},
	    {"PASSED_CORS", nginx_conf_passed_cors(a, env)},
	    {NULL, NULL},
	};

	markers_fill(&out, text_snippet_conf_in, values);
	error_release(&too_large);
	free(memory);
	free(path);
	return buf_detach(&out);
}

char *nginx_conf(
    const struct config *config, const struct nginx_place *place, struct problems *problems)
{
	struct arena *a = arena_new();
	size_t errors = problems->errors;
	const char *max_size = arena_printf(a, "%lld", (long long)config->env.max_request_size);
	struct nginx_prefix prefix;
	char *text = NULL;
	if (nginx_prefix_read(&prefix, a, place->prefix ? place->prefix : "", problems))
		text = nginx_conf_snippet(a, config, place, &prefix, max_size, problems);
	if (text && place->listen) {
		char *full = nginx_conf_full(a, config, place, text, max_size, problems);
		free(text);
		text = full;
	}
	arena_free(a);
	if (problems->errors == errors)
		return text;
	free(text);
	return NULL;
}
