/* SPDX-License-Identifier: ISC */
/* Answers of a bucket's server: what is taken from them is a part of their text, and plain. */
#include "replay.h"
#include "storage/blob/s3_call.h"

#include <stdlib.h>
#include <string.h>

static void check(const char *xml, const char *name)
{
	char *value = s3_element(xml, name);
	if (value)
		require(!strpbrk(value, "<&") && strstr(xml, value));
	free(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *xml = strndup((const char *)data, size);
	check(xml, "Code");
	for (const char *at = strstr(xml, "<Upload>"); at; at = strstr(at + 1, "<Upload>"))
		check(at, "UploadId");
	free(xml);
	return 0;
}
