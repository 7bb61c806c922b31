/* SPDX-License-Identifier: ISC */
/* Taking the address apart into the URL to send to and the public key. */
#include "config/environment/dsn.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define LONGEST 512

/* Skips a name, an IPv4 address, or an IPv6 address in brackets, and a port if there is one; NULL
 * when there is none of these. */
static const char *dsn_skip_host(const char *at)
{
	size_t len = strspn(at, LETTERS DIGITS "-._");
	if (*at == '[') {
		len = 1 + strspn(at + 1, DIGITS "abcdefABCDEF:.");
		if (len == 1 || at[len] != ']')
			return NULL;
		len++;
	}
	at += len;
	if (!len || *at != ':')
		return len ? at : NULL;
	len = strspn(++at, DIGITS);
	long port = len && len <= 5 ? strtol(at, NULL, 10) : 0;
	return port >= 1 && port <= 65535 ? at + len : NULL;
}

bool dsn_parse(const char *text, struct dsn *dsn)
{
	size_t scheme = 0;
	if (strncmp(text, "http://", 7) == 0)
		scheme = 7;
	if (strncmp(text, "https://", 8) == 0)
		scheme = 8;
	if (!scheme || strlen(text) > LONGEST)
		return false;
	/* letters and digits up to the @, or up to a colon and a secret of the same kind */
	size_t key_len = strspn(text + scheme, LETTERS DIGITS);
	const char *at = text + scheme + key_len;
	if (*at == ':')
		at += 1 + strspn(at + 1, LETTERS DIGITS);
	if (!key_len || *at != '@')
		return false;
	/* behind the host folders, and the project behind the last slash */
	const char *host = at + 1, *path = dsn_skip_host(host);
	if (!path || *path != '/' || path[strspn(path, LETTERS DIGITS "-._~/")])
		return false;
	const char *project = strrchr(path, '/') + 1;
	if (!*project || project[strspn(project, DIGITS)])
		return false;
	dsn->key = xstrndup(text + scheme, key_len);
	dsn->url = xasprintf(
	    "%.*s%.*sapi/%s/envelope/", (int)scheme, text, (int)(project - host), host, project);
	return true;
}

void dsn_release(struct dsn *dsn)
{
	free(dsn->url);
	free(dsn->key);
	*dsn = (struct dsn){0};
}
