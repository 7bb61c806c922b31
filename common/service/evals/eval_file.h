/* SPDX-License-Identifier: ISC */
/*
 * Files of the report directory.
 *
 * Only regular files in the directory itself count: a link could lead anywhere, and reading a pipe
 * could take for ever.  A file that is not a JSON object in UTF-8 is silently no report.
 */
#ifndef AGENTGRAPH_SERVICE_EVALS_EVAL_FILE_H
#define AGENTGRAPH_SERVICE_EVALS_EVAL_FILE_H

#include "base/json/json_skim.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#define EVAL_FILE_MAX (64 << 20) /* bytes; a longer file is no report */
#define EVAL_SUFFIX ".json"

struct eval_file {
	char *text; /* owned */
	struct json_span root;
};

/* Whether a file of this name and kind can be a report at all. */
bool eval_file_counts(const char *name, const struct stat *st);

/* Reads the file name in the directory dir; false, with nothing to release, when it is no report.
 * *st describes the file as it was opened. */
bool eval_file_read(struct eval_file *file, int dir, const char *name, struct stat *st);
void eval_file_release(struct eval_file *file);

/*
 * Replaces, in place, what makers of reports write beyond JSON: bare NaN and Infinity, and numbers
 * that no double can hold, become 0; U+0000 and lone surrogates in strings become U+FFFD.
 */
void eval_text_mend(char *text, size_t len);

#endif
