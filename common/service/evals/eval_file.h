/* SPDX-License-Identifier: ISC */
/*
 * Files of the report directory.
 *
 * Only regular files that lie in it count: a link could lead anywhere, and reading a pipe could
 * take for ever.  What is no JSON object in UTF-8 is no report, and nobody is told.
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

/* Reads the file name of the directory dir; false, with nothing to release, when it is no report.
 * st is then what the file was when it was opened. */
bool eval_file_read(struct eval_file *file, int dir, const char *name, struct stat *st);
void eval_file_release(struct eval_file *file);

/*
 * What makers of reports write beyond JSON is replaced in place: bare NaN and Infinity, and numbers
 * that no double can hold, by 0; U+0000 and lone surrogates in strings by U+FFFD.
 */
void eval_text_mend(char *text, size_t len);

#endif
