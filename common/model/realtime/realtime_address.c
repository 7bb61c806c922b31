/* SPDX-License-Identifier: ISC */
/* URLs of realtime providers. */
#include "base/memory.h"
#include "model/realtime/realtime_socket.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool realtime_address_read(struct realtime_address *address, const char *url)
{
	static const struct {
		const char *text;
		bool tls;
	} schemes[] = {{"wss://", true}, {"https://", true}, {"ws://", false}, {"http://", false}};
	const char *host = NULL;
	bool tls = false;
	for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes) && !host; i++) {
		size_t len = strlen(schemes[i].text);
		tls = schemes[i].tls;
		if (strncasecmp(url, schemes[i].text, len) == 0)
			host = url + len;
	}
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
	int port = tls ? 443 : 80;
	if (stop < end) {
		const char *p = colon + 1;
		for (port = 0; p < end && *p >= '0' && *p <= '9' && port <= 65535; p++)
			port = port * 10 + (*p - '0');
		if (*colon != ':' || p < end || port > 65535)
			return false;
	}
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
