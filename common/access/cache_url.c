/* SPDX-License-Identifier: ISC */
/* Parsing URLs of Redis servers: user, password, host, port and database. */
#include "access/cache.h"

#include "base/http/percent.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEFAULT_PORT 6379
#define FORM                                                                            \
	"expected redis://[[user]:password@]host[:port][/database] or unix:///path/to/" \
	"socket"
#define NO_TLS                                                                                \
	"rediss:// is not supported, because connections to the cache have no TLS; expected " \
	"redis:// to a server, or a TLS tunnel, in a network that is trusted"

/* A percent-decoded copy of len bytes; an escape that is none stands for itself. */
static char *cache_url_decode(const char *text, size_t len)
{
	char *copy = xstrndup(text, len), *out = copy;
	for (const char *in = copy; *in; in++) {
		int byte = *in == '%' ? percent_byte(in + 1) : -1;
		if (byte > 0) {
			*out++ = (char)byte;
			in += 2;
		} else {
			*out++ = *in;
		}
	}
	*out = '\0';
	return copy;
}

/* A number that is all of the len bytes, at most max; -1 when it is none. */
static int cache_url_number(const char *text, size_t len, int max)
{
	int value = 0;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		value = value * 10 + (text[i] - '0');
		if (value > max)
			return -1;
	}
	return len ? value : -1;
}

/* Takes host, host:port or [address]:port. */
static bool cache_url_take_host(struct cache_url *url, const char *text, size_t len)
{
	const char *close = *text == '[' ? memchr(text, ']', len) : NULL;
	const char *host = close ? text + 1 : text;
	const char *rest = close ? close + 1 : memchr(text, ':', len);
	size_t host_len = (size_t)((close ? close : rest ? rest : text + len) - host);
	const char *end = text + len;
	url->host = host_len ? cache_url_decode(host, host_len) : xstrdup("localhost");
	if (!rest || rest == end)
		return true;
	url->port = *rest == ':' ? cache_url_number(rest + 1, (size_t)(end - rest - 1), 65535) : -1;
	return url->port > 0;
}

/* Takes what stands behind redis://. */
static bool cache_url_take_server(struct cache_url *url, const char *text)
{
	size_t authority = strcspn(text, "/?#");
	const char *slash = text + authority;
	size_t user = authority;
	while (user && text[user - 1] != '@')
		user--;
	if (user) {
		size_t len = user - 1;
		const char *colon = memchr(text, ':', len);
		size_t name = colon ? (size_t)(colon - text) : len;
		if (name)
			url->user = cache_url_decode(text, name);
		if (colon)
			url->password = cache_url_decode(colon + 1, len - name - 1);
	}
	url->port = DEFAULT_PORT;
	if (!cache_url_take_host(url, text + user, authority - user))
		return false;
	if (slash[0] == '/' && slash[1])
		url->database = cache_url_number(slash + 1, strlen(slash + 1), 1000000);
	else if (slash[0] && slash[0] != '/')
		return false;
	return url->database >= 0;
}

const char *cache_url_parse(struct cache_url *url, const char *text)
{
	static const char tcp[] = "redis://", tls[] = "rediss://", local[] = "unix://";
	*url = (struct cache_url){0};
	if (strncasecmp(text, tls, strlen(tls)) == 0)
		return NO_TLS;
	if (strncasecmp(text, tcp, strlen(tcp)) == 0 &&
	    cache_url_take_server(url, text + strlen(tcp)))
		return NULL;
	if (strncasecmp(text, local, strlen(local)) == 0 && text[strlen(local)] == '/') {
		url->path = xstrdup(text + strlen(local));
		return NULL;
	}
	cache_url_release(url);
	return FORM;
}

void cache_url_release(struct cache_url *url)
{
	free(url->host);
	free(url->path);
	free(url->user);
	free(url->password);
	*url = (struct cache_url){0};
}
