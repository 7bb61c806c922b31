/* SPDX-License-Identifier: ISC */
/* Filling in type, size, digest and name of the files that blocks name. */
#include "service/files/media.h"

#include "base/json/json.h"
#include "service/files/files.h"

#include <string.h>

/* The latest record is kept: many blocks of one message may name the same file. */
struct resolving {
	struct call *call;
	struct file_record record; /* file_id NULL: none yet */
};

/* media may be NULL, or null where a thumbnail is. */
static bool files_media_resolve(struct resolving *r, cJSON *media)
{
	struct error *err = &r->call->error;
	const char *file_id = json_str(media, "file_id");
	if (!file_id)
		return true;
	if ((!r->record.file_id || strcmp(r->record.file_id, file_id) != 0) &&
	    !file_find(r->call, file_id, &r->record)) {
		if (err->kind != ERR_RESOURCE_NOT_FOUND)
			return false;
		error_release(err);
		return error_set(err, ERR_INVALID_INPUT, "File not found: %s", file_id);
	}
	json_set(media, "mime_type", cJSON_CreateString(r->record.mime_type));
	json_set(media, "size_bytes", json_new_int(r->record.size));
	json_set(media, "sha256", cJSON_CreateString(r->record.sha256));
	json_set(media, "filename", cJSON_CreateString(r->record.filename));
	return true;
}

bool files_resolve(struct call *call, cJSON *messages)
{
	struct resolving r = {.call = call};
	cJSON *message, *block;
	cJSON_ArrayForEach(message, messages) {
		cJSON_ArrayForEach(block, json_get(message, "content")) {
			cJSON *media = json_get(block, "media");
			if (!files_media_resolve(&r, media) ||
			    !files_media_resolve(&r, json_get(block, "thumbnail")))
				return false;
			if (json_str(media, "file_id"))
				json_set(block, "mime_type",
				    cJSON_CreateString(json_str(media, "mime_type")));
		}
	}
	return true;
}

static const char *files_media_foreign(struct call *call, const cJSON *media)
{
	const char *file_id = json_str(media, "file_id");
	return file_id && !file_allowed(call, file_id) ? file_id : NULL;
}

const char *files_foreign(struct call *call, const cJSON *message)
{
	const cJSON *block;
	const char *foreign = NULL;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		foreign = files_media_foreign(call, json_get(block, "media"));
		if (!foreign)
			foreign = files_media_foreign(call, json_get(block, "thumbnail"));
		if (foreign || error_is_set(&call->error))
			break;
	}
	return error_is_set(&call->error) ? NULL : foreign;
}
