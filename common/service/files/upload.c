/* SPDX-License-Identifier: ISC */
/* An upload on its way to the store: name, type, size, digest, and its text. */
#include "base/json/json.h"
#include "base/os/clock.h"
#include "base/utf8.h"
#include "service/files/extract.h"
#include "service/files/files.h"
#include "service/files/media_type.h"

#include <assert.h>
#include <openssl/evp.h>
#include <string.h>
#include <unistd.h>

#define MEGABYTE (1 << 20)
#define NAME_BYTES 255
#define BODY_ROOM 65536 /* what an upload's body may have beside the file itself */

struct upload {
	struct call *call;
	struct file_record record; /* what is known so far */
	char file_id[HEX_ID_SIZE];
	char key[BLOB_KEY_SIZE];
	struct blobs *blobs;
	struct blob_upload *blob; /* NULL once it is ended */
	EVP_MD_CTX *hash;
	int64_t max;
};

/* ---- limits ---- */

int64_t upload_max_file(const struct config *config)
{
	return (int64_t)(config->env.media_max_size_mb * MEGABYTE);
}

int64_t upload_max_body(const struct config *config)
{
	return upload_max_file(config) + BODY_ROOM;
}

bool upload_too_large(struct call *call)
{
	cJSON *number =
	    arena_json(call->arena, json_new_double(call->service->config->env.media_max_size_mb));
	char *text = json_print(number);
	error_set(&call->error, ERR_FILE_TOO_LARGE, "File exceeds maximum %s%sMB", text,
	    strpbrk(text, ".eE") ? "" : ".0");
	cJSON_free(text);
	return false;
}

/* ---- the name ---- */

/* The name alone, as text of a bounded length; NULL when nothing is left. */
static const char *upload_clean_name(struct arena *arena, const char *filename)
{
	char *name = arena_strdup(arena, filename ? filename : "");
	utf8_repair(name);
	for (char *c = name; *c; c++) /* what follows the last slash or backslash */
		if (*c == '/' || *c == '\\')
			name = c + 1;
	char *to = name;
	size_t len;
	for (const char *from = name; *from; from += len) {
		uint32_t c = utf8_decode(from, &len);
		if (c < 0x20 || (c >= 0x7f && c < 0xa0)) /* a control character */
			continue;
		memmove(to, from, len);
		to += len;
	}
	*to = '\0';
	if (strlen(name) > NAME_BYTES)
		name[utf8_cut(name, NAME_BYTES)] = '\0';
	return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 ? name : NULL;
}

/* ---- the type ---- */

static bool upload_type_allowed(struct upload *u)
{
	struct call *call = u->call;
	const struct string_list *allowed = &call->service->config->env.media_allowed_types;
	const char *type = u->record.mime_type;
	if (!allowed->count || media_type_among(media_type_essence(call->arena, type), allowed))
		return true;
	return error_set(
	    &call->error, ERR_UNSUPPORTED_MEDIA_TYPE, "Content type not allowed: %s", type);
}

/* Finds the type by the bytes that came so far, where nothing else tells it. */
static bool upload_tell_type(struct upload *u)
{
	if (u->record.mime_type)
		return true;
	char *prefix = arena_alloc(u->call->arena, MEDIA_TYPE_PREFIX);
	ssize_t len = pread(u->blob->fd, prefix, MEDIA_TYPE_PREFIX, 0);
	u->record.mime_type =
	    media_type_of_bytes(u->call->arena, prefix, len > 0 ? (size_t)len : 0);
	return upload_type_allowed(u);
}

/* ---- the life of an upload ---- */

static void upload_end_blob(struct upload *u, bool keep)
{
	if (u->blob)
		u->blobs->ops->end(u->blob, keep);
	u->blob = NULL;
}

/* Ends the upload; bytes that no record names are removed. */
static void upload_release(void *arg)
{
	struct upload *u = arg;
	upload_end_blob(u, false);
	EVP_MD_CTX_free(u->hash);
}

struct upload *upload_begin(struct call *call, const char *filename, const char *content_type)
{
	struct upload *u = arena_alloc(call->arena, sizeof(*u));
	u->call = call;
	u->max = upload_max_file(call->service->config);
	u->record.filename = upload_clean_name(call->arena, filename);
	if (!u->record.filename) {
		error_set(&call->error, ERR_BAD_REQUEST, "filename is required");
		return NULL;
	}
	if (content_type && media_type_valid(content_type))
		u->record.mime_type = arena_strdup(call->arena, content_type);
	else
		u->record.mime_type = media_type_of_name(u->record.filename);
	if (u->record.mime_type && !upload_type_allowed(u))
		return NULL;
	u->blobs = files_store(call->service->files, &call->ctx, &call->error);
	if (u->blobs)
		u->blob = u->blobs->ops->begin(u->blobs, hex_id(u->file_id), &call->error);
	if (!u->blob)
		return NULL;
	u->hash = EVP_MD_CTX_new();
	arena_defer(call->arena, upload_release, u);
	int started = EVP_DigestInit_ex(u->hash, EVP_sha256(), NULL);
	assert(started);
	return u;
}

bool upload_write(struct upload *u, const void *data, size_t len)
{
	struct error *err = &u->call->error;
	int64_t room = u->max - u->record.size;
	/* A wrong type is told before a wrong size (doc/protocol-files.md#upload), so the bytes
	 * that there is room for may have to be written first. */
	if ((int64_t)len > room)
		return (u->record.mime_type ||
			   u->blobs->ops->write(u->blob, data, (size_t)room, err)) &&
		    upload_tell_type(u) && upload_too_large(u->call);
	if (!u->blobs->ops->write(u->blob, data, len, err))
		return false;
	EVP_DigestUpdate(u->hash, data, len);
	u->record.size += (int64_t)len;
	return u->record.size < MEDIA_TYPE_PREFIX || upload_tell_type(u);
}

/* Extracts the text where DOCUMENT_HANDLING says so; if that fails, the file is stored without it.
 * The text of the same bytes, uploaded before, is used again. */
static void upload_extract(struct upload *u)
{
	struct arena *arena = u->call->arena;
	const char *essence = media_type_essence(arena, u->record.mime_type);
	const char *handling = u->call->service->config->env.document_handling;
	if (strcmp(handling, "extract_text") != 0 || !media_type_has_text(essence))
		return;
	char *text = files_same_text(
	    u->call->service->files, &u->call->ctx, u->record.sha256, u->record.mime_type);
	if (!text)
		text = extract_text(u->blob->fd, essence);
	if (text)
		arena_defer(arena, cJSON_free, text);
	u->record.text = text;
	u->record.text_state = text ? TEXT_EXTRACTED : TEXT_FAILED;
}

const cJSON *upload_finish(struct upload *u)
{
	struct call *call = u->call;
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	if (!upload_tell_type(u))
		return NULL;
	if (u->record.size == 0) {
		error_set(&call->error, ERR_BAD_REQUEST, "Empty file");
		return NULL;
	}
	EVP_DigestFinal_ex(u->hash, digest, &len);
	u->record.sha256 = hex_text(digest, len, arena_alloc(call->arena, 2 * (size_t)len + 1));
	upload_extract(u);

	struct file_record *r = &u->record;
	r->file_id = u->file_id;
	r->owner = call->user_id;
	r->created_at = clock_now();
	r->backend = u->blobs->ops->name;
	r->key = u->key;
	if (!u->blobs->ops->publish(u->blob, r->created_at, u->key, &call->error))
		return NULL;
	bool added = files_add(call->service->files, &call->ctx, r, &call->error);
	upload_end_blob(u, added);
	return added ? file_upload_data(call, r) : NULL;
}
