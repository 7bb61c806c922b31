/* SPDX-License-Identifier: ISC */
/* The syntax of media types, matching them, and the lists by which files are treated. */
#include "service/files/media_type.h"

#include "base/http/http_head.h"
#include "base/texts.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define LONGEST 255 /* bytes of a type with its parameters */

/* What an extension stands for.  Several of one type: the first is the usual one. */
static const struct {
	const char *extension, *type;
} names[] = {
    {"txt", "text/plain"},
    {"text", "text/plain"},
    {"log", "text/plain"},
    {"md", "text/markdown"},
    {"markdown", "text/markdown"},
    {"csv", "text/csv"},
    {"html", "text/html"},
    {"htm", "text/html"},
    {"css", "text/css"},
    {"js", "text/javascript"},
    {"mjs", "text/javascript"},
    {"json", "application/json"},
    {"xml", "application/xml"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"ics", "text/calendar"},
    {"pdf", "application/pdf"},
    {"rtf", "application/rtf"},
    {"doc", "application/msword"},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"xls", "application/vnd.ms-excel"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"ppt", "application/vnd.ms-powerpoint"},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"odt", "application/vnd.oasis.opendocument.text"},
    {"ods", "application/vnd.oasis.opendocument.spreadsheet"},
    {"odp", "application/vnd.oasis.opendocument.presentation"},
    {"epub", "application/epub+zip"},
    {"png", "image/png"},
    {"jpg", "image/jpeg"},
    {"jpeg", "image/jpeg"},
    {"gif", "image/gif"},
    {"webp", "image/webp"},
    {"avif", "image/avif"},
    {"bmp", "image/bmp"},
    {"svg", "image/svg+xml"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"ico", "image/vnd.microsoft.icon"},
    {"heic", "image/heic"},
    {"mp3", "audio/mpeg"},
    {"wav", "audio/wav"},
    {"ogg", "audio/ogg"},
    {"oga", "audio/ogg"},
    {"opus", "audio/opus"},
    {"flac", "audio/flac"},
    {"m4a", "audio/mp4"},
    {"aac", "audio/aac"},
    {"weba", "audio/webm"},
    {"mp4", "video/mp4"},
    {"m4v", "video/mp4"},
    {"webm", "video/webm"},
    {"ogv", "video/ogg"},
    {"mov", "video/quicktime"},
    {"avi", "video/x-msvideo"},
    {"mkv", "video/x-matroska"},
    {"mpeg", "video/mpeg"},
    {"mpg", "video/mpeg"},
    {"zip", "application/zip"},
    {"gz", "application/gzip"},
    {"tar", "application/x-tar"},
    {"7z", "application/x-7z-compressed"},
};

static const char *const shown[] = {"image/png", "image/jpeg", "image/gif", "image/webp",
    "image/avif", "image/bmp", "application/pdf", "text/plain", NULL};

static const char *const with_text[] = {"application/pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "application/msword",
    "text/html", "text/xml", "application/xml", "text/markdown", "text/csv", "application/json",
    "text/plain", "application/rtf", "application/vnd.oasis.opendocument.text",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", NULL};

/* A quoted string of printable ASCII with its quotes; 0 when it is none. */
static size_t media_type_quoted_length(const char *text)
{
	size_t len = 1;
	if (*text != '"')
		return 0;
	for (; text[len] != '"'; len++) {
		if (text[len] == '\\')
			len++;
		unsigned char c = (unsigned char)text[len];
		if (c < ' ' || c > '~' || c == ',')
			return 0;
	}
	return len + 1;
}

/* Skips ";name=value" with blanks around the semicolon; NULL when it is not that. */
static const char *media_type_skip_parameter(const char *text)
{
	text += strspn(text, " \t");
	if (*text != ';')
		return NULL;
	text++;
	text += strspn(text, " \t");
	size_t name = http_token_length(text);
	if (name == 0 || text[name] != '=')
		return NULL;
	text += name + 1;
	size_t value = *text == '"' ? media_type_quoted_length(text) : http_token_length(text);
	return value ? text + value : NULL;
}

bool media_type_valid(const char *text)
{
	size_t top = http_token_length(text);
	if (strlen(text) > LONGEST || top == 0 || text[top] != '/')
		return false;
	size_t sub = http_token_length(text + top + 1);
	if (sub == 0)
		return false;
	for (text += top + 1 + sub; text && *text;)
		text = media_type_skip_parameter(text);
	return text != NULL;
}

const char *media_type_essence(struct arena *arena, const char *type)
{
	char *essence = arena_strndup(arena, type, strcspn(type, "; \t"));
	for (char *c = essence; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return essence;
}

static bool media_type_fits(const char *essence, const char *pattern)
{
	size_t len = strcspn(pattern, "; \t"), top = strcspn(pattern, "/");
	if (len == 3 && strncmp(pattern, "*/*", len) == 0)
		return true;
	if (len == top + 2 && pattern[top + 1] == '*')
		return strncasecmp(essence, pattern, top + 1) == 0;
	return strlen(essence) == len && strncasecmp(essence, pattern, len) == 0;
}

bool media_type_among(const char *essence, const struct string_list *patterns)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (media_type_fits(essence, patterns->items[i]))
			return true;
	return false;
}

const char *media_type_of_name(const char *filename)
{
	const char *dot = strrchr(filename, '.');
	for (size_t i = 0; dot && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcasecmp(dot + 1, names[i].extension) == 0)
			return names[i].type;
	return NULL;
}

bool media_type_is_shown(const char *essence)
{
	return strncmp(essence, "audio/", 6) == 0 || strncmp(essence, "video/", 6) == 0 ||
	    texts_has(shown, essence);
}

bool media_type_has_text(const char *essence)
{
	return texts_has(with_text, essence);
}

const char *media_type_block(const char *mime_type)
{
	static const char *const types[] = {"image", "audio", "video"};
	for (size_t i = 0; i < 3; i++) {
		size_t len = strlen(types[i]);
		if (strncasecmp(mime_type, types[i], len) == 0 && mime_type[len] == '/')
			return types[i];
	}
	return "document";
}
