/* SPDX-License-Identifier: ISC */
/* A table of CGI variables, and one pass over the environment that fills a head. */
#include "fcgi/request/request.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

struct variable {
	const char *name;
	size_t len;
	size_t member;
};

#define VARIABLE(name, member)                                        \
	{                                                             \
		name, sizeof(name) - 1, offsetof(struct head, member) \
	}

static const struct variable variables[] = {
    VARIABLE("REQUEST_METHOD", method),
    VARIABLE("REQUEST_URI", uri),
    VARIABLE("REMOTE_ADDR", address),
    VARIABLE("CONTENT_LENGTH", content_length),
    VARIABLE("CONTENT_TYPE", content_type),
    VARIABLE("HTTP_HOST", host),
    VARIABLE("HTTP_ORIGIN", origin),
    VARIABLE("HTTP_ACCESS_CONTROL_REQUEST_METHOD", cors_method),
    VARIABLE("HTTP_ACCESS_CONTROL_REQUEST_HEADERS", cors_headers),
    VARIABLE("HTTPS", https),
    VARIABLE("REQUEST_SCHEME", scheme),
    VARIABLE("HTTP_X_FORWARDED_PROTO", forwarded_proto),
    VARIABLE("HTTP_TRACEPARENT", trace.parent),
    VARIABLE("HTTP_TRACESTATE", trace.state),
    VARIABLE("AGENTGRAPH_PREFIX", prefix),
    VARIABLE("AGENTGRAPH_INTERNAL", internal),
};

#define VARIABLE_COUNT (sizeof(variables) / sizeof(variables[0]))

static const char **head_member(struct head *head, const struct variable *v)
{
	return (const char **)((char *)head + v->member);
}

void head_read(struct head *head, char *const *params)
{
	for (size_t i = 0; i < VARIABLE_COUNT; i++)
		*head_member(head, &variables[i]) = "";
	for (; *params; params++) {
		const char *equals = strchr(*params, '=');
		size_t len = equals ? (size_t)(equals - *params) : 0;
		for (size_t i = 0; equals && i < VARIABLE_COUNT; i++)
			if (variables[i].len == len && !memcmp(variables[i].name, *params, len))
				*head_member(head, &variables[i]) = equals + 1;
	}
}

const char *param_find(char *const *params, const char *name)
{
	size_t len = strlen(name);
	for (; *params; params++)
		if (!strncmp(*params, name, len) && (*params)[len] == '=')
			return *params + len + 1;
	return "";
}

bool head_is_https(const struct head *head)
{
	return !strcasecmp(head->https, "on") || !strcasecmp(head->scheme, "https") ||
	    !strcasecmp(head->forwarded_proto, "https");
}

const char *head_base(const struct head *head, struct arena *a)
{
	return arena_printf(
	    a, "%s://%s%s", head_is_https(head) ? "https" : "http", head->host, head->prefix);
}

/* Whether the parameters of an entry, which end at a comma, give it a weight of 0. */
static bool head_accept_weighs_none(const char *p)
{
	while (*p && *p != ',') {
		p += strspn(p, "; \t");
		if (strncasecmp(p, "q=", 2) == 0) {
			p += 2 + strspn(p + 2, "0.");
			return strchr("; \t,", *p);
		}
		p += strcspn(p, ";,");
	}
	return false;
}

int accept_first(const char *accept, const char *const *types, int count)
{
	while (*accept) {
		accept += strspn(accept, " \t,");
		size_t size = strcspn(accept, "; \t,");
		bool none = head_accept_weighs_none(accept + size);
		for (int i = 0; i < count && !none; i++)
			if (size == strlen(types[i]) && strncasecmp(accept, types[i], size) == 0)
				return i;
		accept += strcspn(accept, ",");
	}
	return -1;
}
