/* SPDX-License-Identifier: ISC */
/*
 * Small text files read whole, and paths made absolute.
 *
 * A service goes on with the files that it was found good with, also in processes that start when
 * these have been changed: they can be noted while they are read, and given to others.
 */
#ifndef AGENTGRAPH_CONFIG_TEXT_FILE_H
#define AGENTGRAPH_CONFIG_TEXT_FILE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#define TEXT_FILE_MAX (4u << 20) /* bytes; a longer file is a mistake, not a configuration */

/*
 * The file's bytes without a leading byte order mark, malloc'd and NUL-terminated.  NULL with errno
 * set when it cannot be read; EFBIG when it is over TEXT_FILE_MAX.
 */
char *text_file_read(const char *path, size_t *len);

/* Whether text_file_read finds something there, be it good or bad. */
bool text_file_exists(const char *path);

/* The JSON of a file that the service itself writes, of any size, which the caller deletes; NULL
 * when there is none. */
cJSON *text_file_json(const char *path);

/* Adds the files that are read from now on to an object, absolute path and text, which is borrowed
 * until a call with NULL.  Not for threads. */
void text_files_note(cJSON *files);

/* From now on the files of such an object, which is in the file path, are read in the place of
 * those on disk.  False with errno set when it cannot be read; then none are.  Not for threads. */
bool text_files_take(const char *path);

/* The number, from 1, of the first line that is not valid UTF-8 or holds a NUL; 0 when all are
 * fine. */
size_t text_bad_line(const char *text, size_t len);

/* The number, from 1, of the line that at points into. */
size_t text_line_of(const char *text, const char *at);

/*
 * path below dir unless it is absolute, without "./" in front and slashes behind; malloc'd.  A NULL
 * dir stands for the current directory; when that is unreadable, path comes back as it is.
 */
char *path_absolute(const char *dir, const char *path);

/* The absolute directory that the file path lies in, malloc'd. */
char *path_directory(const char *path);

#endif
