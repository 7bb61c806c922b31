/* SPDX-License-Identifier: ISC */
/* Client addresses: the first line of the input says how far to trust, as a number of hops; then
 * come a proxy's network, the peer, and lines of X-Forwarded-For.  Whatever they hold, the answer
 * is short, and stays the same if it is read again. */
#include "access/address.h"
#include "replay.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define LINES 16

/* Splits text at its newlines into at most LINES lines. */
static size_t split(char *text, const char *lines[LINES])
{
	size_t count = 0;
	for (char *line = text; line && count < LINES; count++) {
		lines[count] = strsep(&text, "\n");
		line = text;
	}
	return count;
}

/* Whether the configuration would let this through: an address, alone or with a length after a
 * slash. */
static bool is_network(const char *text)
{
	char address[ADDRESS_SIZE], *end;
	unsigned char bytes[16];
	size_t len = strcspn(text, "/");
	if (len >= sizeof(address))
		return false;
	memcpy(address, text, len);
	address[len] = '\0';
	long max = inet_pton(AF_INET, address, bytes) == 1 ? 32
	    : inet_pton(AF_INET6, address, bytes) == 1     ? 128
							   : -1;
	if (!text[len])
		return max > 0;
	long bits = strtol(text + len + 1, &end, 10);
	return end > text + len + 1 && !*end && bits >= 0 && bits <= max;
}

static void check(const char *const *lines, size_t count)
{
	char *network = (char *)lines[1];
	const struct rate_limit_config config = {
	    .trusted_proxy_headers = *lines[0] != '0',
	    .trusted_proxy_hops = atoi(lines[0]) > 0 ? atoi(lines[0]) : 1,
	    .trusted_proxies = {&network, is_network(network)},
	};
	struct address_trust trust;
	char address[ADDRESS_SIZE], again[ADDRESS_SIZE];
	address_trust_init(&trust, &config);
	address_client(&trust, lines[2], lines + 3, count - 3, address);
	require(*address && strlen(address) < sizeof(address));
	address_client(&trust, address, NULL, 0, again);
	require(!strcmp(address, again) || strlen(lines[2]) >= sizeof(address));
	address_trust_release(&trust);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *lines[LINES];
	char *text = strndup((const char *)data, size);
	size_t count = split(text, lines);
	if (count >= 3)
		check(lines, count);
	free(text);
	return 0;
}
