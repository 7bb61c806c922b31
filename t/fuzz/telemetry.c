/* SPDX-License-Identifier: ISC */
/* What comes from outside about traces and failures: the header traceparent, the address of an
 * error tracker and its answers, and texts that are scrubbed.  All of them read the same input. */
#include "base/http/traceparent.h"
#include "base/utf8.h"
#include "config/environment/dsn.h"
#include "replay.h"
#include "telemetry/tracker.h"

#include <stdlib.h>
#include <string.h>

static void read_header(const char *text)
{
	struct trace_context context, again;
	char written[TRACEPARENT_SIZE];
	if (!traceparent_parse(text, &context))
		return;
	require(traceparent_parse(traceparent_format(&context, written), &again));
	require(!strcmp(context.trace_id, again.trace_id) && context.sampled == again.sampled);
}

static void read_address(const char *text)
{
	struct dsn dsn;
	if (!dsn_parse(text, &dsn))
		return;
	require(strncmp(dsn.url, "http", 4) == 0 && strstr(dsn.url, "/api/"));
	require(!strpbrk(dsn.url, " \r\n\"@") && *dsn.key);
	dsn_release(&dsn);
}

static void read_limits(const char *text)
{
	int64_t pause_ms[2] = {0};
	tracker_limits(text, pause_ms);
	require(pause_ms[0] >= 0 && pause_ms[1] >= 0);
}

static void read_text(char *text)
{
	struct buf out = {0};
	utf8_repair(text);
	scrub(&out, text);
	require(utf8_valid(buf_str(&out), out.len));
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	read_header(text);
	read_address(text);
	read_limits(text);
	read_text(text);
	free(text);
	return 0;
}
