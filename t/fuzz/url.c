/* SPDX-License-Identifier: ISC */
/* Addresses of webhooks: an accepted one has nothing in it that readers of addresses take in
 * different ways, and normalising it again changes nothing. */
#include "base/http/url.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), *normal = url_normal(text);
	if (normal) {
		char *again = url_normal(normal);
		require(again && strcmp(again, normal) == 0);
		require(!strpbrk(normal, "\\ #\r\n\t\"<>"));
		normal[strcspn(normal, "?")] = '\0';
		require(!strstr(normal, "/../"));
		free(again);
	}
	free(normal);
	free(text);
	return 0;
}
