/* SPDX-License-Identifier: ISC */
/* Normalising an address part by part; what a part does not allow refuses the whole. */
#include "base/http/url.h"

#include "base/buf.h"
#include "base/http/percent.h"
#include "base/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
#define PORT_DIGITS 5

static const struct {
	const char *prefix, *port;
} schemes[] = {{"http://", "80"}, {"https://", "443"}};

/* Appends the scheme and its slashes; returns what follows them, or NULL. */
static const char *url_scheme(const char *text, const char **port, struct buf *out)
{
	for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++) {
		size_t len = strlen(schemes[i].prefix);
		if (strncasecmp(text, schemes[i].prefix, len) == 0) {
			buf_puts(out, schemes[i].prefix);
			*port = schemes[i].port;
			return text + len;
		}
	}
	return NULL;
}

/* Appends the port, unless it is the usual one; false when there is no such port. */
static bool url_port(const char *digits, size_t len, const char *usual, struct buf *out)
{
	while (len > 1 && *digits == '0')
		digits++, len--;
	if (strspn(digits, "0123456789") < len || len > PORT_DIGITS ||
	    (len && (*digits == '0' || atol(digits) > 65535)))
		return false;
	if (len && !(strlen(usual) == len && strncmp(usual, digits, len) == 0)) {
		buf_putc(out, ':');
		buf_add(out, digits, len);
	}
	return true;
}

/* The length of a name; 0 where a label is missing, unless it is the one behind the last point. */
static size_t url_name(const char *text)
{
	size_t len = strspn(text, LETTERS "-._");
	for (size_t i = 0; i < len; i++)
		if (text[i] == '.' && (i == 0 || text[i - 1] == '.'))
			return 0;
	return len;
}

/* Appends a name or an address, and perhaps a port; an '@' is valid in none of them. */
static bool url_authority(const char *text, size_t len, const char *usual, struct buf *out)
{
	size_t host =
	    *text == '[' ? strspn(text + 1, "0123456789ABCDEFabcdef:.") + 2 : url_name(text);
	if (host > len || host == 0 || (*text == '[' && (host == 2 || text[host - 1] != ']')))
		return false;
	for (size_t i = 0; i < host; i++)
		buf_putc(out, (char)tolower((unsigned char)text[i]));
	if (host == len)
		return true;
	return text[host] == ':' && url_port(text + host + 1, len - host - 1, usual, out);
}

/* Appends text, in which escapes that are not needed are undone; false when it is not valid. */
static bool url_escapes(const char *text, size_t len, struct buf *out)
{
	static const char plain[] = LETTERS "-._~", fits[] = LETTERS "-._~!$&'()*+,;=:@/?";
	for (size_t i = 0; i < len; i++) {
		int byte = text[i] == '%' ? percent_byte(text + i + 1) : text[i];
		if (byte < 0 || (text[i] != '%' && !strchr(fits, byte)))
			return false;
		if (text[i] != '%' || (byte && strchr(plain, byte)))
			buf_putc(out, (char)byte);
		else
			buf_printf(out, "%%%02X", (unsigned)byte);
		i += text[i] == '%' ? 2 : 0;
	}
	return true;
}

/* Appends the path without segments that only go around (RFC 3986 5.2.4). */
static void url_path(const char *path, size_t len, struct buf *out)
{
	size_t root = out->len;
	const char *end = path + len;
	while (path < end) {
		const char *next = memchr(path + 1, '/', (size_t)(end - path - 1));
		size_t size = (size_t)((next ? next : end) - path);
		bool up = size == 3 && memcmp(path, "/..", 3) == 0;
		bool here = size == 2 && memcmp(path, "/.", 2) == 0;
		while (up && out->len > root && out->data[--out->len] != '/')
			;
		if (!up && !here)
			buf_add(out, path, size);
		else if (!next)
			buf_putc(out, '/');
		path += size;
	}
	if (out->len == root)
		buf_putc(out, '/');
}

char *url_normal(const char *text)
{
	struct buf out = {0}, rest = {0};
	const char *port = NULL, *at = url_scheme(text, &port, &out);
	size_t host = at ? strcspn(at, "/?#") : 0;
	bool ok = at && url_authority(at, host, port, &out) &&
	    url_escapes(at + host, strcspn(at + host, "#"), &rest);
	if (ok) {
		size_t path = strcspn(buf_str(&rest), "?");
		url_path(buf_str(&rest), path, &out);
		buf_puts(&out, buf_str(&rest) + path);
	}
	buf_release(&rest);
	if (!ok)
		buf_release(&out);
	return ok ? buf_detach(&out) : NULL;
}

/* How many bytes here stand for a slash, or for the backslash that some servers take for one; 0:
 * another character. */
static size_t url_slash(const char *at)
{
	if (*at == '/')
		return 1;
	int byte = *at == '%' ? percent_byte(at + 1) : -1;
	return byte == '/' || byte == '\\' ? 3 : 0;
}

/* "%2F" becomes a slash when somebody decodes it, and for some servers a segment ends at ";". */
bool url_climbs(const char *text)
{
	const char *at = text + strcspn(text, "/");
	at += strspn(at, "/");
	at += strcspn(at, "/?");
	const char *end = at + strcspn(at, "?");
	for (; at < end; at++) {
		size_t slash = url_slash(at);
		const char *behind = at + slash + strspn(at + slash, ".");
		size_t dots = (size_t)(behind - at) - slash;
		if (slash && (dots == 1 || dots == 2) &&
		    (behind == end || *behind == ';' || url_slash(behind)))
			return true;
	}
	return false;
}

char *url_site(const char *text)
{
	char *site = url_normal(text);
	if (site)
		*strchr(strstr(site, "://") + 3, '/') = '\0';
	return site;
}

char *url_base(const char *text)
{
	size_t len = strlen(text);
	while (len > 0 && text[len - 1] == '/')
		len--;
	return xstrndup(text, len);
}

bool url_valid(const char *text)
{
	char *normal = url_normal(text);
	free(normal);
	return normal;
}
