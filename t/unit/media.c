/* SPDX-License-Identifier: ISC */
/* The bytes that a message carries itself (agentgraph.h), and which media types are some; those of
 * files are t/api/6050-media.t's and 6030-file-types.t's. */
#include "agentgraph.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "service/files/media_type.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What ag_media_data makes of JSON: the bytes, or "(none)"; static. */
static const char *bytes_of(const char *json, size_t max)
{
	static char text[64];
	size_t len = 77;
	cJSON *media = json_parse(json, strlen(json), JSON_REQUEST_DEPTH, NULL);
	char *data = ag_media_data(NULL, media, max, &len);
	snprintf(text, sizeof(text), "%s", data ? data : "(none)");
	CU_ASSERT_EQUAL(len, data ? strlen(text) : 0);
	free(data);
	cJSON_Delete(media);
	return text;
}

#define MEDIA "{\"kind\":\"data\",\"mime_type\":\"image/png\",\"data_base64\":\"aGVsbG8=\"}"

static void a_block_and_its_media_are_the_same(void)
{
	CU_ASSERT_STRING_EQUAL(bytes_of(MEDIA, 100), "hello");
	CU_ASSERT_STRING_EQUAL(bytes_of("{\"type\":\"image\",\"media\":" MEDIA "}", 100), "hello");
}

static void no_more_than_is_asked_for_is_given(void)
{
	CU_ASSERT_STRING_EQUAL(bytes_of(MEDIA, 5), "hello");
	CU_ASSERT_STRING_EQUAL(bytes_of(MEDIA, 4), "(none)");
	CU_ASSERT_STRING_EQUAL(bytes_of(MEDIA, 0), "(none)");
}

static void what_is_elsewhere_or_no_base64_has_none(void)
{
	CU_ASSERT_STRING_EQUAL(
	    bytes_of("{\"kind\":\"url\",\"url\":\"https://e/i.png\"}", 9), "(none)");
	CU_ASSERT_STRING_EQUAL(bytes_of("{\"data_base64\":\"a\"}", 9), "(none)");
	CU_ASSERT_STRING_EQUAL(bytes_of("{}", 9), "(none)");
}

static void parameters_are_printable_ascii(void)
{
	char quoted[] = "text/plain;x=\"?\"", token[] = "text/plain;x=?";
	CU_ASSERT_TRUE(media_type_valid(quoted));
	for (int c = 1; c < 0x100; c++) {
		quoted[sizeof(quoted) - 3] = token[sizeof(token) - 2] = (char)c;
		if (c < ' ' || c > '~') {
			CU_ASSERT_FALSE(media_type_valid(quoted));
			CU_ASSERT_FALSE(media_type_valid(token));
		}
	}
}

static const struct unit_test tests[] = {
    {"a block and its media are the same", a_block_and_its_media_are_the_same},
    {"no more than is asked for is given", no_more_than_is_asked_for_is_given},
    {"what is elsewhere or no base64 has none", what_is_elsewhere_or_no_base64_has_none},
    {"parameters of a media type are printable ASCII", parameters_are_printable_ascii},
};

int main(void)
{
	memory_init();
	return unit_main("media", tests, UNIT_COUNT(tests));
}
