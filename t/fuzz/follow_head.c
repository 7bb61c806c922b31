/* SPDX-License-Identifier: ISC */
/* Heads of requests to agentgraph-follow: whatever the bytes, they are refused, or the parts taken
 * from them are text without line ends. */
#include "runner/follow_head.h"
#include "base/http/http_head.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

static void check_text(const char *text)
{
	if (text)
		require(!strpbrk(text, "\n"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t end = http_head_length((const char *)data, size);
	size_t len = end ? end : size;
	struct follow_head parsed;
	char *head = malloc(len ? len : 1); /* without spare room, so that a read beyond is seen */
	if (len)
		memcpy(head, data, len);
	if (follow_head_parse(head, len, &parsed)) {
		check_text(parsed.ticket);
		check_text(parsed.waited);
	}
	free(head);
	return 0;
}
