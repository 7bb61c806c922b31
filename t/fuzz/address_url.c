/* SPDX-License-Identifier: ISC */
/* Addresses of other services, as the environment gives them: of a cache, and of an error tracker.
 * If one is accepted it is complete; if not, a message says what was expected. */
#include "access/cache.h"
#include "config/environment/dsn.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

static void check_cache(const char *text)
{
	struct cache_url url;
	const char *expected = cache_url_parse(&url, text);
	if (expected) {
		require(*expected && !url.host && !url.path && !url.user && !url.password);
		return;
	}
	require(!url.host != !url.path);
	require(!url.host || (url.port > 0 && url.port < 65536 && url.database >= 0));
	cache_url_release(&url);
}

static void check_tracker(const char *text)
{
	struct dsn dsn;
	if (!dsn_parse(text, &dsn))
		return;
	require(!strncmp(dsn.url, "http", 4) && *dsn.key && !strpbrk(dsn.url, "\r\n"));
	dsn_release(&dsn);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	check_cache(text);
	check_tracker(text);
	free(text);
	return 0;
}
