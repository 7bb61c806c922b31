/* SPDX-License-Identifier: ISC */
/* Telling URLs of this service's files and data: URLs from others, and decoding the latter. */
#include "graph/message/media_url.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/http/percent.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *media_root = "";

void media_url_below(const char *root_path)
{
	media_root = root_path;
}

/* What follows the prefix, or NULL. */
static const char *media_url_behind(const char *url, const char *prefix)
{
	size_t len = strlen(prefix);
	return strncasecmp(url, prefix, len) == 0 ? url + len : NULL;
}

/* The id that the URL of a file of this service ends with, or NULL. */
static const char *media_url_file_of(const char *url)
{
	static const char *const forms[] = {"agentflow://media/", "graph://media/", "/v1/files/"};
	size_t root = strlen(media_root);
	if (root && strncmp(url, media_root, root) == 0 && url[root] == '/')
		url += root;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		const char *id = media_url_behind(url, forms[i]);
		if (id && *id && !strpbrk(id, "/?#"))
			return id;
	}
	return NULL;
}

/* The bytes as base64; they can be large, and mostly are that already. */
static cJSON *media_url_data_base64(const char *data, bool is_base64)
{
	struct buf plain = {0};
	if (is_base64 && !strchr(data, '%'))
		return cJSON_CreateString(data);
	for (const char *p = data; *p; p++) {
		int byte = *p == '%' ? percent_byte(p + 1) : -1;
		buf_putc(&plain, byte < 0 ? *p : (char)byte);
		p += byte < 0 ? 0 : 2;
	}
	char *text = is_base64 ? NULL : base64_encode(buf_str(&plain), plain.len);
	cJSON *item = cJSON_CreateString(text ? text : buf_str(&plain));
	free(text);
	buf_release(&plain);
	return item;
}

/* RFC 2397: data:[type][;parameter=value]…[;base64],data.  What follows the comma, or NULL. */
static const char *media_url_data_split(const char *head, bool *is_base64)
{
	const char *comma = strchr(head, ',');
	*is_base64 = comma && comma - head >= 7 && strncasecmp(comma - 7, ";base64", 7) == 0;
	return comma ? comma + 1 : NULL;
}

/* Parameters are left out: who looks at media goes by the type. */
static cJSON *media_url_data_of(const char *head)
{
	bool is_base64;
	const char *data = media_url_data_split(head, &is_base64);
	struct buf type = {0};
	if (!data)
		return NULL;
	size_t bare = strcspn(head, ";,");
	buf_add(&type, head, bare);
	cJSON *out = cJSON_CreateObject();
	cJSON_AddItemToObject(out, "data_base64", media_url_data_base64(data, is_base64));
	cJSON_AddStringToObject(out, "mime_type", bare ? buf_str(&type) : "text/plain");
	buf_release(&type);
	return out;
}

cJSON *media_url_read(const char *url)
{
	const char *data = media_url_behind(url, "data:"), *id = media_url_file_of(url);
	if (data)
		return media_url_data_of(data);
	if (!id)
		return NULL;
	cJSON *out = cJSON_CreateObject();
	cJSON_AddStringToObject(out, "file_id", id);
	return out;
}

bool media_base64_valid(const char *s)
{
	size_t len = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
	size_t pad = strspn(s + len, "=");
	return s[len + pad] == '\0' && pad <= 2 && (len + pad) % 4 == 0;
}

bool media_url_is_http(const char *url)
{
	return strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0;
}

/* As media_url_read understands it, but without a copy of what can be large. */
bool media_url_valid(const char *url)
{
	const char *head = media_url_behind(url, "data:");
	bool is_base64;
	if (!head)
		return media_url_file_of(url) || media_url_is_http(url);
	const char *data = media_url_data_split(head, &is_base64);
	if (!data || !is_base64)
		return data;
	if (!strchr(data, '%'))
		return media_base64_valid(data);
	cJSON *plain = media_url_data_base64(data, true);
	bool ok = media_base64_valid(plain->valuestring);
	cJSON_Delete(plain);
	return ok;
}
