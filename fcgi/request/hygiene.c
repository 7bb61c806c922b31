/* SPDX-License-Identifier: ISC */
/* Header lines prepared for each place and kind of answer, and comparing hosts and origins. */
#include "fcgi/request/hygiene.h"

#include "base/memory.h"
#include "config/answer_headers.h"
#include "config/environment/environment.h"
#include "config/string_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct hygiene {
	const struct environment *env;
	struct buf lines[HYGIENE_PLACES][SECURITY_KINDS];
	bool any_origin, any_host;
};

/* A value from outside may not start a line of its own. */
static bool hygiene_header_safe(const char *value)
{
	for (; *value; value++)
		if ((unsigned char)*value < ' ' || *value == 0x7f)
			return false;
	return true;
}

static void hygiene_add_header(struct buf *out, const char *name, const char *value)
{
	if (value && *value && hygiene_header_safe(value))
		buf_printf(out, "%s: %s\r\n", name, value);
}

static void hygiene_add_security(
    struct buf *out, const struct environment *env, enum security security)
{
	static const char denied[] = "microphone=()";
	struct answer_header headers[SECURITY_HEADERS];
	answer_security_headers(env, headers);
	const char *policy = headers[HEADER_PERMISSIONS].value;
	const char *at = security == SECURITY_CONSOLE && policy ? strstr(policy, denied) : NULL;
	char *listening = NULL;
	if (security == SECURITY_FILE || security == SECURITY_SANDBOX)
		headers[HEADER_SNIFFING].value = "nosniff";
	if (security == SECURITY_SANDBOX)
		headers[HEADER_POLICY].value = "default-src 'none'; sandbox";
	if (at) { /* what is denied to everybody the page itself may have */
		listening = xasprintf(
		    "%.*smicrophone=(self)%s", (int)(at - policy), policy, at + strlen(denied));
		headers[HEADER_PERMISSIONS].value = listening;
	}
	for (size_t i = 0; i < SECURITY_HEADERS; i++)
		hygiene_add_header(out, headers[i].name, headers[i].value);
	free(listening);
}

struct hygiene *hygiene_new(const struct environment *env)
{
	struct hygiene *hygiene = xcalloc(1, sizeof(*hygiene));
	hygiene->env = env;
	hygiene->any_origin = string_list_has(&env->origins, "*");
	hygiene->any_host = string_list_has(&env->allowed_hosts, "*");
	for (int place = 0; place < HYGIENE_PLACES; place++) {
		struct buf hsts = {0};
		if (place != HYGIENE_PLAIN)
			environment_hsts(env, place == HYGIENE_HTTPS_BELOW, &hsts);
		for (int i = 0; i < SECURITY_KINDS; i++) {
			struct buf *lines = &hygiene->lines[place][i];
			hygiene_add_security(lines, env, (enum security)i);
			if (hsts.len)
				buf_printf(
				    lines, "Strict-Transport-Security: %s\r\n", buf_str(&hsts));
		}
		buf_release(&hsts);
	}
	return hygiene;
}

void hygiene_free(struct hygiene *hygiene)
{
	if (!hygiene)
		return;
	for (int place = 0; place < HYGIENE_PLACES; place++)
		for (int i = 0; i < SECURITY_KINDS; i++)
			buf_release(&hygiene->lines[place][i]);
	free(hygiene);
}

const struct buf *hygiene_headers(
    const struct hygiene *hygiene, enum security security, enum hygiene_place place)
{
	return &hygiene->lines[place][security];
}

bool hygiene_allows_origin(const struct hygiene *hygiene, const char *origin)
{
	if (!*origin || !hygiene_header_safe(origin))
		return false;
	return hygiene->any_origin || string_list_has(&hygiene->env->origins, origin);
}

void hygiene_add_cors(
    const struct hygiene *hygiene, const char *origin, const char *more, struct buf *out)
{
	struct answer_header headers[CORS_HEADERS];
	char exposed[512];
	answer_cors_headers(hygiene->env, origin, headers);
	if (more) {
		snprintf(exposed, sizeof(exposed), "%s, %s", headers[HEADER_EXPOSED].value, more);
		headers[HEADER_EXPOSED].value = exposed;
	}
	for (size_t i = 0; i < CORS_HEADERS; i++)
		hygiene_add_header(out, headers[i].name, headers[i].value);
}

void hygiene_add_preflight(const char *headers, struct buf *out)
{
	buf_puts(out,
	    "Access-Control-Allow-Methods: DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT\r\n"
	    "Access-Control-Max-Age: 600\r\n");
	hygiene_add_header(out, "Access-Control-Allow-Headers", headers);
}

/* "*.example.com" stands for every subdomain, not for example.com itself. */
static bool hygiene_host_fits(const char *pattern, const char *host, size_t len)
{
	size_t want = strlen(pattern);
	if (strncmp(pattern, "*.", 2) != 0)
		return want == len && !strncasecmp(pattern, host, len);
	want--;
	return len > want && !strncasecmp(pattern + 1, host + len - want, want);
}

bool hygiene_allows_host(const struct hygiene *hygiene, const char *host)
{
	if (hygiene->any_host)
		return true;
	/* the length of the name in "name:port" or "[v6]:port" */
	const char *bracket = *host == '[' ? strchr(host, ']') : NULL;
	size_t len = bracket ? (size_t)(bracket - host) + 1 : strcspn(host, ":");
	const struct string_list *allowed = &hygiene->env->allowed_hosts;
	for (size_t i = 0; i < allowed->count; i++)
		if (hygiene_host_fits(allowed->items[i], host, len))
			return true;
	return false;
}
