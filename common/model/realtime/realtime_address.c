/* SPDX-License-Identifier: ISC */
/* URLs of realtime providers. */
#include "base/memory.h"
#include "model/realtime/realtime_socket.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What follows the scheme, or NULL. */
static const char *realtime_address_scheme(const char *url, bool *tls)
{
	static const struct {
		const char *text;
		bool tls;
	} schemes[] = {{"wss://", true}, {"https://", true}, {"ws://", false}, {"http://", false}};
	for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++) {
		size_t len = strlen(schemes[i].text);
		*tls = schemes[i].tls;
		if (strncasecmp(url, schemes[i].text, len) == 0)
			return url + len;
	}
	return NULL;
}

/* Digits up to end; 0 when it is no port. */
static int realtime_address_port(const char *text, const char *end)
{
	long port = 0;
	for (; text < end && *text >= '0' && *text <= '9' && port <= 65535; text++)
		port = port * 10 + (*text - '0');
	return text == end && port <= 65535 ? (int)port : 0;
}

bool realtime_address_read(struct realtime_address *address, const char *url)
{
	bool tls;
	const char *host = realtime_address_scheme(url, &tls);
	if (!host)
		return false;
	for (const char *p = url; *p; p++)
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f)
			return false;
	const char *end = host + strcspn(host, "/?#"),
		   *bracket = memchr(host, ']', (size_t)(end - host));
	const char *colon = bracket ? bracket + 1 : memchr(host, ':', (size_t)(end - host));
	if (memchr(host, '@', (size_t)(end - host)) || (*host == '[') != (bracket != NULL))
		return false;
	const char *stop = colon ? colon : end;
	int port = colon && colon < end ? *colon == ':' ? realtime_address_port(colon + 1, end) : 0
	    : tls                       ? 443
					: 80;
	if (bracket)
		host++, stop = bracket;
	if (stop == host || port == 0)
		return false;
	*address = (struct realtime_address){.tls = tls,
	    .host = xstrndup(host, (size_t)(stop - host)),
	    .path = xasprintf("%s%s", *end == '/' ? "" : "/", end),
	    .port = port};
	address->path[strcspn(address->path, "#")] = '\0';
	return true;
}

void realtime_address_release(struct realtime_address *address)
{
	free(address->host);
	secret_free(address->path); /* keys stand in queries */
	*address = (struct realtime_address){0};
}
