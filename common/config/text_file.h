/* Small text files read whole, and paths made absolute. */
#ifndef AGENTGRAPH_CONFIG_TEXT_FILE_H
#define AGENTGRAPH_CONFIG_TEXT_FILE_H

#include <stddef.h>

#define TEXT_FILE_MAX (4u << 20) /* bytes; a longer file is a mistake, not a configuration */

/*
 * The file's bytes without a leading byte order mark, malloc'd and NUL-terminated.  NULL with errno
 * set when it cannot be read; EFBIG when it is over TEXT_FILE_MAX.
 */
char *text_file_read(const char *path, size_t *len);

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
