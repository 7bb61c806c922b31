/* SPDX-License-Identifier: ISC */
/*
 * The log: one line a record on standard error, with time, level, logger name, process, and the
 * request and run ids where there are any. Lines are written with one write(2) each, so processes
 * can share a file.
 */
#ifndef AGENTGRAPH_BASE_LOG_LOG_H
#define AGENTGRAPH_BASE_LOG_LOG_H

#include <stdbool.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR };

/* name is LOGGER_NAME, of which LOG_NAME_SIZE - 1 bytes are kept.  This is for the start, before
 * there are threads: the name is read without a lock. */
#define LOG_NAME_SIZE 128
void log_init(const char *name, enum log_level level);

/* Records of lower levels are left out from now on. */
void log_set_level(enum log_level level);

/* DEBUG, INFO, WARNING (or WARN), ERROR, CRITICAL (as ERROR), case does not matter; false when
 * unknown. */
bool log_level_parse(const char *text, enum log_level *level);

/* How a record looks: a line for people, or a JSON object for machines. */
enum log_format { LOG_PLAIN, LOG_JSON };
void log_set_format(enum log_format format);

/* Ties the calling thread's records to a request id; NULL ends that.
 * id must stay valid meanwhile. */
void log_request(const char *id);

/* The same for the run that the thread is busy with. */
void log_run(const char *id);

/* What the calling thread's records are tied to, for a thread that helps it. */
struct log_ids {
	const char *request, *run; /* or NULL */
};
struct log_ids log_ids(void);

/* Control characters in the text are escaped; secrets are redacted as doc/protocol.md#logs says. */
void log_at(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_debug(...) log_at(LOG_DEBUG, __VA_ARGS__)
#define log_info(...) log_at(LOG_INFO, __VA_ARGS__)
#define log_warning(...) log_at(LOG_WARNING, __VA_ARGS__)
#define log_error(...) log_at(LOG_ERROR, __VA_ARGS__)

#endif
