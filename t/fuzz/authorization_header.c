/* SPDX-License-Identifier: ISC */
/* Authorization headers: the credential is a part of the header, without blanks around it or
 * control characters in it. */
#include "fcgi/request/credential.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *value = strndup((const char *)data, size);
	struct arena *arena = arena_new();
	const char *token = credential_bearer(value, arena);
	if (token) {
		size_t len = strlen(token);
		require(len > 0 && strstr(value, token));
		require(!strchr(" \t", token[0]) && !strchr(" \t", token[len - 1]));
		require(!strpbrk(token, "\r\n\x01\x1f\x7f"));
	}
	arena_free(arena);
	free(value);
	return 0;
}
