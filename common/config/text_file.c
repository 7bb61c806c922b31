#include "config/text_file.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Appends the rest of fd to out; false with errno set. */
static bool read_all(int fd, struct buf *out)
{
	for (;;) {
		ssize_t n = read(fd, buf_reserve(out, 8192), 8192);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0;
		out->len += (size_t)n;
		out->data[out->len] = '\0';
		if (out->len > TEXT_FILE_MAX) {
			errno = EFBIG;
			return false;
		}
	}
}

/* Some editors put a byte order mark first; nothing else may know of it. */
static void drop_byte_order_mark(struct buf *text)
{
	if (text->len < 3 || memcmp(text->data, "\xEF\xBB\xBF", 3) != 0)
		return;
	text->len -= 3;
	memmove(text->data, text->data + 3, text->len + 1);
}

char *text_file_read(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	struct buf text = {0};
	bool ok = read_all(fd, &text);
	int cause = errno;
	close(fd);
	if (!ok) {
		buf_release(&text);
		errno = cause;
		return NULL;
	}
	drop_byte_order_mark(&text);
	*len = text.len;
	return buf_detach(&text);
}

size_t text_bad_line(const char *text, size_t len)
{
	const char *end = text + len;
	for (size_t line = 1; text < end; line++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *next = newline ? newline + 1 : end;
		/* A newline is never part of a longer character, so lines can be judged alone. */
		if (!utf8_valid(text, (size_t)(next - text)))
			return line;
		text = next;
	}
	return 0;
}

size_t text_line_of(const char *text, const char *at)
{
	size_t line = 1;
	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

static void drop_slashes_behind(char *path)
{
	size_t len = strlen(path);
	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
}

char *path_absolute(const char *dir, const char *path)
{
	char *cwd = NULL;
	while (path[0] == '.' && path[1] == '/')
		path += 2 + strspn(path + 2, "/");
	if (path[0] != '/' && !dir)
		dir = cwd = getcwd(NULL, 0);
	struct buf out = {0};
	if (path[0] != '/' && dir)
		buf_printf(&out, "%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/");
	buf_puts(&out, path);
	free(cwd);
	char *result = buf_detach(&out);
	drop_slashes_behind(result);
	return result;
}

char *path_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *part = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup("./");
	char *real = realpath(part, NULL);
	char *result = real ? real : path_absolute(NULL, part);
	free(part);
	return result;
}
