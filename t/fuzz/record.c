/* SPDX-License-Identifier: ISC */
/* Records of the bridge: whatever the line, it is refused, or its contents can be written again and
 * read as the same. */
#include "ws-bridge/record.h"
#include "base/utf8.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

static void write_again(struct buf *out, const struct record *record)
{
	if (record->kind == RECORD_TEXT)
		record_text(out, record->data, record->len);
	else
		record_binary(out, record->data, record->len);
}

static void check_same(const struct record *record)
{
	struct buf out = {0};
	struct record again;
	write_again(&out, record);
	require(!memchr(out.data, '\n', out.len) && !memchr(out.data, '\r', out.len));
	require(record_parse(out.data, out.len, &again) && again.kind == record->kind);
	require(again.len == record->len && memcmp(again.data, record->data, again.len) == 0);
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line = malloc(size ? size : 1);
	struct record record;
	if (size)
		memcpy(line, data, size);
	if (record_parse(line, size, &record) &&
	    (record.kind == RECORD_TEXT || record.kind == RECORD_BINARY))
		check_same(&record);
	free(line);
	return 0;
}
