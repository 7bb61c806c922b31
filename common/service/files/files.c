/* SPDX-License-Identifier: ISC */
/* Finding files that the caller may read, and what is told of one: names, URLs, details. */
#include "service/files/files.h"

#include "base/buf.h"
#include "base/http/percent.h"
#include "base/json/json.h"
#include "base/os/clock.h"
#include "base/utf8.h"
#include "service/files/media_type.h"

#include <stdlib.h>
#include <string.h>

/* ---- finding ---- */

/* Whether the caller may read a file (the table of doc/protocol-access.md#ownership).  A
 * file without an owner is everybody's, unless that is forbidden. */
static bool files_may_read(const struct call *call, const struct file_record *record)
{
	const struct config *config = call->service->config;
	if (!record->owner)
		return !config->env.media_require_owner;
	return config->auth == AUTH_NONE || strcmp(record->owner, call->user_id) == 0;
}

bool file_find(struct call *call, const char *file_id, struct file_record *record)
{
	struct files *files = call->service->files;
	bool found = blob_id_valid(file_id) &&
	    files_get(files, &call->ctx, call->arena, file_id, record, &call->error) &&
	    files_may_read(call, record);
	/* Bytes in memory go with the service that had them.  Bytes that are missing in a directory
	 * are a fault instead, which is reported. */
	if (found && strcmp(record->backend, BLOBS_MEMORY) == 0)
		found = files_here(files, record);
	if (found)
		files_touch(files, &call->ctx, record);
	else if (!error_is_set(&call->error))
		error_set(&call->error, ERR_RESOURCE_NOT_FOUND, "File not found");
	return found;
}

bool file_allowed(struct call *call, const char *file_id)
{
	struct file_record record;
	if (!blob_id_valid(file_id) ||
	    !files_get(
		call->service->files, &call->ctx, call->arena, file_id, &record, &call->error))
		return !error_is_set(&call->error);
	return files_may_read(call, &record);
}

struct blob *file_open(struct call *call, const struct file_record *record)
{
	struct blobs *blobs = files_store_of(call->service->files, record, &call->error);
	return blobs ? blobs->ops->open(blobs, record->key, &call->error) : NULL;
}

/* ---- what is shown ---- */

static const char *files_api_path(struct call *call, const struct file_record *record)
{
	return arena_printf(call->arena, "/v1/files/%s", record->file_id);
}

/* RFC 6266: the name in ASCII, and once more as it is. */
const char *file_disposition(struct arena *arena, const struct file_record *record)
{
	struct buf text = {0};
	if (media_type_is_shown(media_type_essence(arena, record->mime_type)))
		return "inline";
	buf_puts(&text, "attachment; filename=\"");
	size_t len;
	for (const char *c = record->filename; *c; c += len) {
		bool plain = utf8_decode(c, &len) < 0x80 && *c != '"' && *c != '\\' && *c != '%';
		buf_putc(&text, plain ? *c : '_');
	}
	buf_puts(&text, "\"; filename*=UTF-8''");
	percent_add(&text, record->filename, "!#$&+^`|");
	return arena_take(arena, &text);
}

/* A URL that goes to the store itself, until *expires; NULL where there is none. */
static const char *files_direct_url(
    struct call *call, const struct file_record *record, int64_t *expires)
{
	struct error ignored = {0};
	struct blobs *blobs = files_store_of(call->service->files, record, &ignored);
	error_release(&ignored);
	if (!blobs || !blobs->ops->sign)
		return NULL;
	const struct blob_answer as = {record->mime_type, file_disposition(call->arena, record)};
	return blobs->ops->sign(blobs, record->key, &as, call->arena, expires);
}

static void files_add_direct_url(cJSON *data, struct call *call, const struct file_record *record)
{
	int64_t expires = 0;
	const char *url = files_direct_url(call, record, &expires);
	json_add_str(data, "direct_url", url);
	if (url)
		json_add_int(data, "direct_url_expires_at", expires);
	else
		cJSON_AddNullToObject(data, "direct_url_expires_at");
}

cJSON *file_upload_data(struct call *call, const struct file_record *record)
{
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	json_add_str(data, "file_id", record->file_id);
	json_add_str(data, "mime_type", record->mime_type);
	json_add_int(data, "size_bytes", record->size);
	json_add_str(data, "filename", record->filename);
	json_add_str(data, "extracted_text", record->text);
	json_add_str(data, "url", files_api_path(call, record));
	files_add_direct_url(data, call, record);
	return data;
}

cJSON *file_info(struct call *call, const char *file_id)
{
	struct file_record record;
	char created[ISO_TIME_SIZE];
	if (!file_find(call, file_id, &record))
		return NULL;
	char *text = files_text(call->service->files, &call->ctx, file_id, &call->error);
	if (error_is_set(&call->error)) {
		free(text);
		return NULL;
	}
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	json_add_str(data, "file_id", record.file_id);
	json_add_str(data, "filename", record.filename);
	json_add_str(data, "mime_type", record.mime_type);
	json_add_str(data, "content_type", record.mime_type);
	json_add_int(data, "size_bytes", record.size);
	json_add_str(data, "created_at", clock_iso(record.created_at, created));
	json_add_str(data, "extracted_text", text);
	files_add_direct_url(data, call, &record);
	free(text);
	return data;
}

cJSON *file_url(struct call *call, const char *file_id)
{
	struct file_record record;
	int64_t expires = 0;
	if (!file_find(call, file_id, &record))
		return NULL;
	const char *direct = files_direct_url(call, &record, &expires);
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	json_add_str(data, "file_id", record.file_id);
	json_add_str(data, "url", direct ? direct : files_api_path(call, &record));
	if (direct)
		json_add_int(data, "expires_at", expires * 1000);
	else
		cJSON_AddNullToObject(data, "expires_at");
	json_add_str(data, "mime_type", record.mime_type);
	return data;
}

cJSON *multimodal_info(struct call *call)
{
	const struct environment *env = &call->service->config->env;
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	json_add_str(data, "media_storage_type", env->media_storage_type);
	cJSON_AddItemToObject(data, "media_max_size_mb", json_new_double(env->media_max_size_mb));
	json_add_str(data, "document_handling", env->document_handling);
	return data;
}
