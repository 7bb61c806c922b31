/* SPDX-License-Identifier: ISC */
/* Heads of HTTP answers: the value of a header has no line end in it, and Retry-After becomes a
 * time that one can wait. */
#include "base/http/http.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

static void check_header(const struct http_response *response, const char *name)
{
	char *value = http_response_header(response, name);
	require(!value || strlen(value) < response->head.len);
	require(!value || !strchr(value, '\n'));
	free(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_response response = {0};
	buf_add(&response.head, (const char *)data, size);
	check_header(&response, "Content-Type");
	check_header(&response, "Mcp-Session-Id");
	require(http_retry_after_ms(&response) >= -1);
	http_response_release(&response);
	return 0;
}
