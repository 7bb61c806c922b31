/* SPDX-License-Identifier: ISC */
/*
 * Small text files, read as a whole, and paths, made absolute.
 *
 * A service goes on with the files with which it was examined, even if they are changed before some
 * of its processes start.  So files can be noted while they are read, and given to other processes.
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

/* Whether there is anything that text_file_read could read or complain about. */
bool text_file_exists(const char *path);

/* The JSON of a file that the service itself has written, of any size; the caller deletes it.  NULL
 * when there is no such file. */
cJSON *text_file_json(const char *path);

/* From now on adds each file that is read to an object, its text under its absolute path.  The
 * object is borrowed until a call with NULL.  Not for threads. */
void text_files_note(cJSON *files);

/* From now on gives the files of such an object, which the file path has, in the place of those on
 * disk. False with errno set when it cannot be read; then files are read from disk.  Not for
 * threads. */
bool text_files_take(const char *path);

/* The number, from 1, of the first line that is not valid UTF-8 or holds a NUL; 0 when all are
 * fine. */
size_t text_bad_line(const char *text, size_t len);

/* The number, from 1, of the line that at points into. */
size_t text_line_of(const char *text, const char *at);

/*
 * The path, malloc'd: below dir unless it is absolute, without "./" in front and slashes at its
 * end.  A dir that is NULL stands for the current directory; if that cannot be read path stays
 * relative.
 */
char *path_absolute(const char *dir, const char *path);

/* The absolute directory that the file path lies in, malloc'd. */
char *path_directory(const char *path);

#endif
