/* SPDX-License-Identifier: ISC */
/* One record as a line of text or of JSON, without secrets and control characters. */
#include "base/log/log.h"

#include "base/buf.h"
#include "base/json/json_quote.h"
#include "base/log/redact.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define LONGEST_LINE 8192 /* with its newline */
#define JSON_MESSAGE 1024 /* bytes, each of which may become six */

static char logger[LOG_NAME_SIZE] = "agentgraph-cli";
static _Atomic enum log_level threshold = LOG_INFO;
static _Atomic enum log_format form = LOG_PLAIN;
static _Thread_local const char *request, *run;

static const char *const level_names[] = {
    [LOG_DEBUG] = "DEBUG", [LOG_INFO] = "INFO", [LOG_WARNING] = "WARNING", [LOG_ERROR] = "ERROR"};

void log_init(const char *name, enum log_level level)
{
	snprintf(logger, sizeof(logger), "%s", name);
	threshold = level;
}

void log_set_level(enum log_level level)
{
	threshold = level;
}

bool log_level_parse(const char *text, enum log_level *level)
{
	static const struct {
		const char *name;
		enum log_level level;
	} known[] = {{"DEBUG", LOG_DEBUG}, {"INFO", LOG_INFO}, {"WARNING", LOG_WARNING},
	    {"WARN", LOG_WARNING}, {"ERROR", LOG_ERROR}, {"CRITICAL", LOG_ERROR}};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcasecmp(text, known[i].name) == 0) {
			*level = known[i].level;
			return true;
		}
	}
	return false;
}

void log_set_format(enum log_format format)
{
	form = format;
}

void log_request(const char *id)
{
	request = id;
}

void log_run(const char *id)
{
	run = id;
}

struct log_ids log_ids(void)
{
	return (struct log_ids){request, run};
}

/* Control characters, those beyond ASCII too, could forge lines or drive a terminal. */
static void log_put_escaped(struct buf *out, const char *s)
{
	for (size_t len; *s; s += len) {
		uint32_t c = utf8_decode(s, &len);
		if (c == '\n')
			buf_puts(out, "\\n");
		else if (c == '\r')
			buf_puts(out, "\\r");
		else if (c == '\t')
			buf_puts(out, "\\t");
		else if (c < 0x20 || (c >= 0x7F && c <= 0x9F))
			buf_printf(out, "\\u%04x", (unsigned)c);
		else
			buf_add(out, s, len);
	}
}

static void log_put_plain(struct buf *line, enum log_level level, const char *text)
{
	char time[ISO_TIME_SIZE];
	buf_printf(line, "%s %s %s[%ld] ", clock_iso(clock_now(), time), level_names[level], logger,
	    (long)getpid());
	if (request)
		buf_printf(line, "request_id=%s ", request);
	if (run) {
		buf_puts(line, "run_id=");
		log_put_escaped(line, run);
		buf_putc(line, ' ');
	}
	log_put_escaped(line, text);
}

static void log_put_member(struct buf *line, const char *key, const char *text)
{
	buf_printf(line, ",\"%s\":", key);
	json_quote(line, text);
}

/* A line that is cut would be no JSON, so the message is. */
static void log_put_json(struct buf *line, enum log_level level, const char *text)
{
	char time[ISO_TIME_SIZE];
	size_t len = strlen(text);
	char *message = xstrndup(text, utf8_cut(text, len < JSON_MESSAGE ? len : JSON_MESSAGE));
	buf_printf(line, "{\"time\":\"%s\",\"level\":\"%s\"", clock_iso(clock_now(), time),
	    level_names[level]);
	log_put_member(line, "logger", logger);
	buf_printf(line, ",\"pid\":%ld", (long)getpid());
	if (request)
		log_put_member(line, "request_id", request);
	if (run)
		log_put_member(line, "run_id", run);
	log_put_member(line, "message", message);
	buf_putc(line, '}');
	free(message);
}

void log_at(enum log_level level, const char *fmt, ...)
{
	if (level < threshold)
		return;
	int saved = errno;
	struct buf line = {0};
	va_list args;
	va_start(args, fmt);
	char *text = xvasprintf(fmt, args);
	va_end(args);
	struct buf clean = {0};
	utf8_repair(text);
	redact(&clean, text); /* fit to be seen: valid, and without secrets */
	free(text);
	(form == LOG_JSON ? log_put_json : log_put_plain)(&line, level, buf_str(&clean));
	if (line.len >= LONGEST_LINE)
		line.len = utf8_cut(line.data, LONGEST_LINE - 1);
	line.data[line.len++] = '\n'; /* in the place of the NUL */
	ssize_t written;
	do
		written = write(STDERR_FILENO, line.data, line.len);
	while (written < 0 && errno == EINTR); /* other failures have nowhere to be told */
	buf_release(&clean);
	buf_release(&line);
	errno = saved;
}
