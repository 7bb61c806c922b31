/* SPDX-License-Identifier: ISC */
/* Saying how a child ended. */
#include "base/os/process/process.h"
#include "base/utf8.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

char *process_clean(char *text)
{
	utf8_repair(text);
	for (char *p = text; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	}
	return text;
}

static const char *const ends[] = {
    [PROCESS_TIMED_OUT] = "timed out",
    [PROCESS_REFUSED] = "wrote output that is not understood",
    [PROCESS_LINE_TOO_LONG] = "wrote a line that is too long",
    [PROCESS_TOO_MUCH_OUTPUT] = "wrote too much output",
};

char *process_describe(const struct process_result *result, char *out, size_t size)
{
	const char *name = sigdescr_np(result->code);
	if (result->end == PROCESS_EXITED)
		snprintf(out, size, "exited with status %d", result->code);
	else if (result->end == PROCESS_SIGNALLED)
		snprintf(out, size, "died of signal %d (%s)", result->code, name ? name : "?");
	else if (result->end == PROCESS_NOT_STARTED)
		snprintf(out, size, "could not be started: %s", result->tail);
	else
		snprintf(out, size, "%s", ends[result->end]);
	return process_clean(out);
}

/* The last line of text that is not empty; false when there is none. */
static bool process_text_last_line(const char *text, char *out, size_t size)
{
	size_t end = strlen(text);
	while (end > 0 && strchr(" \t\r\n", text[end - 1]))
		end--;
	size_t begin = end;
	while (begin > 0 && text[begin - 1] != '\n')
		begin--;
	size_t len = utf8_cut(text + begin, end - begin < size ? end - begin : size - 1);
	memcpy(out, text + begin, len);
	out[len] = '\0';
	return len > 0;
}

char *process_complaint(const struct process_result *result, char *out, size_t size)
{
	if (result->end == PROCESS_EXITED && process_text_last_line(result->tail, out, size))
		return process_clean(out);
	if (result->end == PROCESS_NOT_STARTED) {
		snprintf(out, size, "could not be started");
		return out;
	}
	return process_describe(result, out, size);
}
