/* SPDX-License-Identifier: ISC */
/* Reading files as text, remembering what was read, and counting lines in it. */
#include "config/text_file.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static cJSON *noted, *given; /* see text_files_note, text_files_take */

static bool text_file_slurp(const char *path, struct buf *text, size_t most)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool ok = descriptor_read_all(fd, text, most);
	int cause = errno;
	close(fd);
	if (!ok)
		buf_release(text);
	errno = cause;
	return ok;
}

cJSON *text_file_json(const char *path)
{
	struct buf text = {0};
	if (!text_file_slurp(path, &text, SIZE_MAX))
		return NULL;
	cJSON *tree = json_parse(buf_str(&text), text.len, JSON_TRUSTED_DEPTH, NULL);
	buf_release(&text);
	return tree;
}

static const char *text_file_given(const char *path)
{
	char *absolute = path_absolute(NULL, path);
	const char *text = json_str(given, absolute);
	free(absolute);
	return text;
}

char *text_file_read(const char *path, size_t *len)
{
	struct buf text = {0};
	const char *kept = text_file_given(path);
	if (kept)
		buf_puts(&text, kept);
	else if (!text_file_slurp(path, &text, TEXT_FILE_MAX))
		return NULL;
	/* some editors put a byte order mark first; nothing else may know of it */
	if (text.len >= 3 && memcmp(text.data, "\xEF\xBB\xBF", 3) == 0) {
		text.len -= 3;
		memmove(text.data, text.data + 3, text.len + 1);
	}
	/* a file that is no text is refused by its reader, and could not be put into JSON */
	if (noted && strlen(buf_str(&text)) == text.len && utf8_valid(text.data, text.len)) {
		char *absolute = path_absolute(NULL, path);
		json_set(noted, absolute, cJSON_CreateString(buf_str(&text)));
		free(absolute);
	}
	*len = text.len;
	return buf_detach(&text);
}

bool text_file_exists(const char *path)
{
	return given ? text_file_given(path) != NULL : access(path, F_OK) == 0 || errno != ENOENT;
}

void text_files_note(cJSON *files)
{
	noted = files;
}

bool text_files_take(const char *path)
{
	struct buf text = {0};
	cJSON_Delete(given);
	given = NULL;
	if (!text_file_slurp(path, &text, SIZE_MAX - 1))
		return false;
	given = json_parse(buf_str(&text), text.len, JSON_TRUSTED_DEPTH, NULL);
	buf_release(&text);
	errno = EINVAL;
	return given;
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
	while (out.len > 1 && out.data[out.len - 1] == '/')
		out.data[--out.len] = '\0';
	return buf_detach(&out);
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
