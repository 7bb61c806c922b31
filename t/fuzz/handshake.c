/* SPDX-License-Identifier: ISC */
/* Heads of HTTP: whatever the bytes, they are refused, or the parts taken from them are text
 * without line ends. */
#include "base/http/http_head.h"
#include "replay.h"
#include "ws-bridge/relay/relay_handshake.h"

#include <stdlib.h>
#include <string.h>

static void check_text(const char *text)
{
	require(!strpbrk(text, "\r\n"));
}

static void check_request(char *head, size_t len)
{
	struct handshake handshake;
	if (handshake_parse(head, len, &handshake) != HANDSHAKE_OK)
		return;
	check_text(handshake.path);
	check_text(handshake.key);
	require(handshake.path[0] == '/' && strlen(handshake.key) == HANDSHAKE_KEY_SIZE - 1);
	if (handshake.ticket)
		check_text(handshake.ticket);
}

/* Copies into a block without spare room, so that a read beyond the head is noticed. */
static char *copied(const uint8_t *data, size_t len)
{
	char *head = malloc(len ? len : 1);
	if (len)
		memcpy(head, data, len);
	return head;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t end = http_head_length((const char *)data, size);
	size_t len = end ? end : size;
	bool good;
	char *head = copied(data, len);
	check_request(head, len);
	free(head);
	head = copied(data, len);
	require(handshake_answer(head, len, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", &good) == 101 || !good);
	free(head);
	return 0;
}
