/* SPDX-License-Identifier: ISC */
/*
 * Texts on their way to the log.  The first line of the input is a secret, the second stands before
 * it, and the third after it: whatever they are, UTF-8 stays UTF-8, no line grows without bound,
 * and a secret that is marked as one is gone.
 */
#include "base/log/redact.h"
#include "base/utf8.h"
#include "replay.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void redact_text(struct buf *out, const char *text)
{
	buf_reset(out);
	redact(out, text);
	require(!utf8_valid(text, strlen(text)) || utf8_valid(buf_str(out), out->len));
	require(out->len <= 20 * strlen(text) + 64);
}

/* Whether secret is letters and digits that occur nowhere else, and in no word of the forms. */
static bool is_secret(const char *text, const char *before, const char *behind)
{
	size_t len = strlen(text);
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]))
			return false;
	return len >= 8 && strpbrk(text, "0123456789") && !strstr(before, text) &&
	    !strstr(behind, text);
}

static void hide(const char *secret, const char *before, const char *behind)
{
	static const char *const forms[] = {
	    "%s password=%s %s", "%s {\"api_key\": \"%s\"} %s", "%s Bearer %s %s"};
	struct buf text = {0}, out = {0};
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		buf_reset(&text);
		/* put together here, as a format must be constant */
		const char *hole = strstr(forms[i] + 2, "%s");
		buf_puts(&text, before);
		buf_add(&text, forms[i] + 2, (size_t)(hole - forms[i] - 2));
		buf_puts(&text, secret);
		buf_add(&text, hole + 2, strlen(hole) - 4);
		buf_puts(&text, behind);
		redact_text(&out, buf_str(&text));
		if (is_secret(secret, before, behind))
			require(!strstr(buf_str(&out), secret));
	}
	buf_release(&text);
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), *rest = text;
	struct buf out = {0};
	redact_text(&out, text);
	char *secret = strsep(&rest, "\n"), *before = strsep(&rest, "\n");
	if (before)
		hide(secret, before, rest ? rest : "");
	buf_release(&out);
	free(text);
	return 0;
}
