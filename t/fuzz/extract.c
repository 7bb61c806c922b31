/* SPDX-License-Identifier: ISC */
/* Documents of every type that the service's own program reads: whatever the bytes, the text is
 * UTF-8 and bounded. */
#include "base/utf8.h"
#include "extract/charset.h"
#include "extract/document.h"
#include "replay.h"

#include <string.h>

static document_reader *const packages[] = {
    document_docx, document_pptx, document_xlsx, document_odt};
static document_reader *const texts[] = {document_html, document_xml, document_plain};

static void check(const struct prose *out)
{
	const char *text = buf_str(&out->out);
	size_t characters = 0;
	for (size_t at = 0; at < out->out.len; characters++) {
		size_t len = utf8_sequence(text + at, out->out.len - at);
		require(len > 0);
		at += len;
	}
	require(characters <= PROSE_CHARACTERS);
}

static void read_package(document_reader *reader, const char *data, size_t size)
{
	struct prose out = {0};
	reader(&out, data, size);
	check(&out);
	prose_release(&out);
}

static void read_text(document_reader *reader, const char *data, size_t size)
{
	struct prose out = {0};
	struct buf text = {0};
	struct charset charset = charset_open(data, size, reader != document_plain);
	charset_convert(&charset, data, size, &text);
	reader(&out, buf_str(&text), text.len);
	check(&out);
	if (charset.converter != CHARSET_NONE)
		iconv_close(charset.converter);
	buf_release(&text);
	prose_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	if (size >= 2 && memcmp(bytes, "PK", 2) == 0)
		for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++)
			read_package(packages[i], bytes, size);
	else
		for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
			read_text(texts[i], bytes, size);
	return 0;
}
